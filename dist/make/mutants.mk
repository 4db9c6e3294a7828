# make mutants: does some test see a broken line? (tests/mutants). Tests and programs are linked with the
# product as a shared library, so that a break costs one object and one link.

CC_mutants       := gcc
CFLAGS_mutants   := $(filter-out -W% -g,$(CFLAGS_all)) -g1 -w -O1 -D_GNU_SOURCE -fPIC -fno-omit-frame-pointer \
                    -fsanitize=address,undefined -fno-sanitize-recover=all
# Each function tells that it was entered (tests/mutants/trace.c): a break is shown to those tests alone.
TRACED           := -finstrument-functions -falign-functions=16
LD_mutants       := -fsanitize=address,undefined
PLATFORM_mutants := posix
LIBS_mutants     := $(LIBS_posix)
SHARED_mutants   := -Lbuild/mutants $(SHARED)
SHARED_OBJS_mutants := build/mutants/tests/mutants/trace.o
$(eval $(call flavour,mutants))
$(LIB_SRCS_posix:%.c=build/mutants/%.o): CFLAGS_mutants += $(TRACED)

build/mutants/fuzz/%: build/mutants/tests/fuzz/%.o build/mutants/tests/fuzz/replay.o | build/mutants/libwinjoin.so
	$(call link,mutants,$(SHARED_mutants))
build/mutants/winjoin: build/mutants/cmd/main_posix.o | build/mutants/libwinjoin.so
	$(call link,mutants,$(SHARED_mutants))

.PHONY: mutants mutants-built mutants-words
mutants: ## breaks N=60 lines of the product, one at a time, and names the breaks that no test sees; SEED=, FOLDERS=
	$(Q)$(INSTALL) native rig lint
	$(Q)python3 -B tests/mutants/run.py --count $(or $(N),60) --seed '$(or $(SEED),1)' $(if $(KEEP),--keep '$(KEEP)') $(FOLDERS)
mutants-built: $(UNIT_mutants) $(FUZZERS:%=build/mutants/fuzz/%) build/mutants/winjoin
mutants-words: # what run.py asks: how an object is compiled, how the library is linked, which folders there are
	@echo 'compile $(CC_mutants) $(CFLAGS_mutants) $(TRACED)'
	@echo 'link $(CC_mutants) $(LD_mutants) -shared -Wl$(comma)-soname$(comma)libwinjoin.so'
	@echo 'objects $(sort $(patsubst %.c,build/mutants/%.o,$(LIB_SRCS_posix) $(HNS_SRCS) $(MEMORY_SRCS)) \
	    build/mutants/gen/templates.o build/mutants/gen/build_info.o build/mutants/gen/no-commit.o $(SHARED_OBJS_mutants))'
	@echo 'libraries $(LIBS_mutants)'
	@echo 'folders $(MODULES) host/posix'
