# make mutants: does some test see a broken line? (tests/mutants). The product as a shared library, which
# each unit test, fuzz target and program is linked with, so that a break costs one object and one link.

CC_mutants       := gcc
CFLAGS_mutants   := $(filter-out -W% -g,$(CFLAGS_all)) -g1 -w -O1 -D_GNU_SOURCE -fPIC -fno-omit-frame-pointer \
                    -fsanitize=address,undefined -fno-sanitize-recover=all
# Each function tells that it was entered (tests/mutants/trace.c): a break is shown to those tests alone.
TRACED           := -finstrument-functions -falign-functions=16
LD_mutants       := -fsanitize=address,undefined
PLATFORM_mutants := posix
LIBS_mutants     := $(LIBS_posix)
$(eval $(call flavour,mutants))

comma := ,
MUTANTS_LIB  := build/mutants/libwinjoin.so
MUTANTS_OBJS := $(LIB_SRCS_posix:%.c=build/mutants/%.o) $(HNS_SRCS:%.c=build/mutants/%.o) \
                $(patsubst %,build/mutants/gen/%.o,templates build_info no-commit)
$(LIB_SRCS_posix:%.c=build/mutants/%.o): CFLAGS_mutants += $(TRACED)
$(MUTANTS_LIB): $(MUTANTS_OBJS) build/mutants/tests/mutants/trace.o dist/make/mutants.mk
	$(Q)$(CC_mutants) -shared -Wl$(comma)-soname$(comma)libwinjoin.so $(LD_mutants) $(filter %.o,$^) $(LIBS_mutants) -o $@
build/mutants/unit/%: build/mutants/tests/unit/%.o $(MUTANTS_LIB)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC_mutants) $(LD_mutants) -Wl,--export-dynamic $^ -lcmocka $(LIBS_mutants) -o $@
build/mutants/fuzz/%: build/mutants/tests/fuzz/%.o build/mutants/tests/fuzz/replay.o $(MUTANTS_LIB)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC_mutants) $(LD_mutants) -Wl,--export-dynamic $^ $(LIBS_mutants) -o $@
build/mutants/winjoin: build/mutants/cmd/main_posix.o build/mutants/gen/commit.o $(MUTANTS_LIB)
	$(Q)$(CC_mutants) $(LD_mutants) -Wl,--export-dynamic $^ $(LIBS_mutants) -o $@

.PHONY: mutants mutants-built mutants-words
mutants: ## breaks N=60 lines of the product, one at a time, and names the breaks that no test sees; SEED=, FOLDERS=
	$(Q)$(INSTALL) native rig lint
	$(Q)python3 -B tests/mutants/run.py --count $(or $(N),60) --seed '$(or $(SEED),1)' $(if $(KEEP),--keep '$(KEEP)') $(FOLDERS)
mutants-built: $(UNIT_TESTS:%=build/mutants/unit/%) $(FUZZERS:%=build/mutants/fuzz/%) build/mutants/winjoin
mutants-words: # what run.py asks: how an object is compiled, how the library is linked, which folders there are
	@echo 'compile $(CC_mutants) $(CFLAGS_mutants) $(TRACED)'
	@echo 'link $(CC_mutants) -shared -Wl$(comma)-soname$(comma)libwinjoin.so $(LD_mutants)'
	@echo 'objects $(MUTANTS_OBJS) build/mutants/tests/mutants/trace.o'
	@echo 'libraries $(LIBS_mutants)'
	@echo 'folders $(MODULES) host/posix'
