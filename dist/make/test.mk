# Tests. tests/run runs groups of them, counts, and ends with `N passed, N failed, N skipped`.

.PHONY: test test-full test-built fuzz fuzz-coverage coverage
test: ## every kind of test, of the long ones a part; some ten minutes; installs what it lacks
	$(Q)$(INSTALL) native windows rig lint dist
	$(Q)$(MAKE) test-built
	$(Q)./tests/run part $(ONLY)
test-full: ## all tests but those beside upstream's programs (make conformance, make e2e)
	$(Q)$(INSTALL) native windows rig lint dist
	$(Q)$(MAKE) test-built
	$(Q)./tests/run full $(ONLY)

REPLAYS := $(FUZZERS:%=build/asan/fuzz/%)
test-built: native windows rig acceptance man build/asan/winjoin $(UNIT_asan) $(UNIT_windows) $(REPLAYS)
test-built: build/native/growth build/native/follow # of make bench, that they do not rot

build/windows/tests/test_sockets.exe: LIBS_windows += -lpthread # its other side is a thread

# Without the fuzzer: each target over its corpus, under the sanitizers
build/asan/fuzz/%: build/asan/tests/fuzz/%.o build/asan/tests/fuzz/replay.o | build/asan/libwinjoin.so
	$(call link,asan,$(SHARED_asan))

# ONLY=part: the targets whose name holds it
FUZZ_SECONDS ?= 10
FUZZED := $(if $(ONLY),$(strip $(foreach f,$(FUZZERS),$(if $(findstring $(ONLY),$f),$f))),$(FUZZERS))
build/fuzz/fuzz/%: build/fuzz/tests/fuzz/%.o build/fuzz/libhns.a build/fuzz/libmemory.a build/fuzz/libwinjoin.a
	$(call link,fuzz)
fuzz: $(FUZZED:%=build/fuzz/fuzz/%) ## every parser against libFuzzer, FUZZ_SECONDS=10 each; ONLY=part of a name
	$(if $(FUZZED),,$(error no fuzz target is called '$(ONLY)'))
	$(Q)./tests/fuzz/run $(FUZZ_SECONDS) $^

# What an input adds in base/ counts for base's own targets alone: else each target that reads YAML or JSON
# would keep the errors of those parsers once more. Patches have no target of their own.
CC_merge     := $(CC_fuzz)
CFLAGS_merge := $(subst fuzzer-no-link$(comma),,$(CFLAGS_fuzz))
OWN_BASE     := fuzz_values fuzz_yaml
build/fuzz/uncounted/%.o: %.c dist/make/flags.mk
	$(call compile,merge,$<)
build/fuzz/merge/%: build/fuzz/tests/fuzz/%.o $(patsubst %.c,build/fuzz/uncounted/%.o,$(filter-out base/json_patch.c,$(wildcard base/*.c))) \
                    build/fuzz/libhns.a build/fuzz/libmemory.a build/fuzz/libwinjoin.a
	$(call link,fuzz)
MERGED := $(OWN_BASE:%=build/fuzz/fuzz/%) $(patsubst %,build/fuzz/merge/%,$(filter-out $(OWN_BASE),$(FUZZERS)))
.PHONY: fuzz-merge
fuzz-merge: $(MERGED) $(FUZZERS:%=build/coverage/fuzz/%) ## leaves in the tree's corpora what adds coverage; the rest goes to the cache
	$(Q)./tests/fuzz/merge $(MERGED)
	$(Q)./tests/fuzz/thin.py $(FUZZERS:%=build/coverage/fuzz/%)

build/coverage/fuzz/%: build/coverage/tests/fuzz/%.o build/coverage/tests/fuzz/replay.o build/coverage/libhns.a build/coverage/libmemory.a build/coverage/libwinjoin.a
	$(call link,coverage)
fuzz-coverage: $(FUZZERS:%=build/coverage/fuzz/%) ## what the fuzz targets' corpora reach: build/coverage/fuzz.txt and functions never called
	$(Q)./tests/fuzz/reach $^

coverage: $(UNIT_coverage) ## the unit tests' line coverage: summary and build/coverage/index.html
	$(Q)find build/coverage -name '*.gcda' -delete
	$(Q)./tests/run coverage
	$(Q)gcovr --root . --exclude 'tests/.*' --exclude 'build/.*' build/coverage \
	    --html-details build/coverage/index.html --print-summary --txt build/coverage/summary.txt
