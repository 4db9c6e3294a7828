# The tests' own programs; none of them is shipped.
#   tests/hns/hns_*.c          the model of HNS              -> build/<flavour>/libhns.a
#   tests/hns/hnsd*.c          the model behind a port       -> build/native/hnsd
#   tests/hns/replay*.c        recordings against the model -> build/native/hns-replay
#   tests/wine/dll_NAME.c      what Wine lacks               -> build/windows/rig/NAME.dll
#                              (with NAME_*.c, and RIG_DLL_COMMON, which every Windows program needs)
#   tests/wine/tool_NAME.c     programs the rig runs there   -> build/windows/rig/NAME.exe
#   tests/standins/NAME.c      small kubelet, containerd ... -> build/windows/standins/NAME.exe
#   tests/standins/lib/*.c     what the stand-ins share      -> build/windows/libstandins.a

RIG_DLL_COMMON := $(patsubst %,build/windows/tests/wine/%.o,exports machine_link recovery reparse symlink udp_bind)
RIG_DLLS     := $(patsubst tests/wine/dll_%.c,build/windows/rig/%.dll,$(wildcard tests/wine/dll_*.c))
RIG_STANDINS := $(patsubst tests/standins/%.c,build/windows/standins/%.exe,$(wildcard tests/standins/*.c))
RIG_TOOLS    := $(patsubst tests/wine/tool_%.c,build/windows/rig/%.exe,$(wildcard tests/wine/tool_*.c))
RIG_NATIVE   := $(if $(wildcard tests/hns/hnsd.c),build/native/hnsd build/native/hns-replay)

.PHONY: rig
rig: $(RIG_NATIVE) $(RIG_DLLS) $(RIG_TOOLS) $(RIG_STANDINS) ## the test rig's own programs (HNS model, gap DLLs, stand-ins)

build/native/hnsd: $(patsubst %.c,build/native/%.o,$(wildcard tests/hns/hnsd*.c)) build/native/libhns.a build/native/libwinjoin.a
	$(call link,native)

# The parts of a DLL that has several files.
$(foreach dll,$(RIG_DLLS),$(eval $(dll): $(patsubst %.c,build/windows/%.o,\
    $(wildcard tests/wine/$(basename $(notdir $(dll)))_*.c))))

build/native/hns-replay: $(patsubst %.c,build/native/%.o,$(wildcard tests/hns/replay*.c)) build/native/libhns.a
	$(call link,native)

build/windows/rig/%.dll: build/windows/tests/wine/dll_%.o $(RIG_DLL_COMMON) $(if $(HNS_SRCS),build/windows/libhns.a) build/windows/libwinjoin.a
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'LD $@')
	$(Q)$(CC_windows) -shared -static -static-libgcc -Wl,--gc-sections $(filter %.o,$^) \
	    $(wildcard tests/wine/dll_$*.def) $(filter %.a,$^) $(LIBS_windows) -lole32 -loleaut32 -o $@

build/windows/rig/machine.exe: LIBS_windows += -lwinhttp
build/windows/rig/%.exe: build/windows/tests/wine/tool_%.o build/windows/libwinjoin.a
	$(call link,windows,-municode)

build/windows/libstandins.a: $(patsubst %.c,build/windows/%.o,$(wildcard tests/standins/lib/*.c))
	$(archive)

# The parts of a stand-in that has several files: NAME/*.c beside NAME.c.
$(foreach exe,$(RIG_STANDINS),$(eval $(exe): $(patsubst %.c,build/windows/%.o,\
    $(wildcard tests/standins/$(basename $(notdir $(exe)))/*.c))))

build/windows/standins/%.exe: build/windows/tests/standins/%.o build/windows/libstandins.a $(if $(HNS_SRCS),build/windows/libhns.a) build/windows/libwinjoin.a
	$(call link,windows)
