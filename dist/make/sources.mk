# Which sources make which program. Platform code is picked here, never by #ifdef.

MODULES     := base host host/curl host/model pki kube \
               netsetup netsetup/agents netsetup/hns netsetup/modes netsetup/nic netsetup/plan netsetup/plugins netsetup/routes \
               services services/artifacts services/rows cmd cmd/verbs \
               node node/keeper diag diag/causes diag/cluster diag/cluster/causes diag/cluster/probes diag/collection \
               diag/drift diag/flows diag/probe diag/reports diag/ask \
               join join/configuration join/discovery join/wanted join/found join/kubelet join/phases \
               join/plan join/preflight join/prepare join/programs join/progress join/services join/undo join/upgrade
COMMON_SRCS := $(filter-out cmd/main_% cmd/probe_main_%,$(wildcard $(MODULES:%=%/*.c)))
TEMPLATES   := $(filter-out %.h,$(wildcard templates/*))

# libwinjoin.a: everything but the main files
LIB_SRCS_posix := $(COMMON_SRCS) $(wildcard host/posix/*.c)
LIB_SRCS_win32 := $(COMMON_SRCS) $(wildcard host/win32/*.c)

# winjoin-probe: runs inside pods, so it carries nothing but the probe itself
PROBE_COMMON     := $(wildcard diag/probe/*.c host/socket*.c base/error.c base/redact.c base/text.c base/memory.c)
PROBE_SRCS_posix := $(wildcard cmd/probe_main_posix.c) $(PROBE_COMMON) $(wildcard host/posix/socket.c)
PROBE_SRCS_win32 := $(wildcard cmd/probe_main_win32.c) $(PROBE_COMMON) $(wildcard host/win32/socket.c host/win32/library.c host/win32/load_config.c)

# The tests' own libraries: the model of HNS; a host and HTTP in memory
HNS_SRCS   := $(wildcard tests/hns/hns_*.c)
MEMORY_SRCS := $(filter-out tests/memory/test_%,$(wildcard tests/memory/*.c))
UNIT_SRCS  := $(wildcard tests/unit/*/test_*.c tests/hns/test_*.c tests/memory/test_*.c)
UNIT_TESTS := $(basename $(notdir $(UNIT_SRCS)))
FUZZERS    := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
