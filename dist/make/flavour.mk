# For each flavour: objects, generated sources, libwinjoin.a, libhns.a, libmemory.a, the programs and unit tests.

PLATFORM_native   := posix
PLATFORM_asan     := posix
PLATFORM_coverage := posix
PLATFORM_fuzz     := posix
PLATFORM_static   := posix
PLATFORM_windows  := win32
LIBS_native       := $(LIBS_posix)
LIBS_asan         := $(LIBS_posix)
LIBS_coverage     := $(LIBS_posix) -lm
LIBS_fuzz         := $(LIBS_posix)
EXE_windows       := .exe
NEEDS_windows     := $(WINDOWS_LIBS)
NEEDS_static      := $(LINUX_LIBS)

# What links a test with the shared library of its flavour, from build/FLAVOUR/tests and its like
comma       := ,
SHARED      := -lwinjoin -Wl,--enable-new-dtags,-rpath,'$$ORIGIN:$$ORIGIN/..',--export-dynamic
SHARED_asan := -Lbuild/asan $(SHARED)

.PHONY: FORCE
FORCE:

# Where ccache is installed it is used: worktrees of one tree then share their objects.
CCACHE := $(shell command -v ccache)
export CCACHE_NOHASHDIR := 1

# $(call compile,flavour,source): one object, its header dependencies beside it
define compile
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'CC $(if $(filter-out native,$(1)),$(1) )$(2)')
	$(Q)$(CCACHE) $(CC_$(1)) $(CFLAGS_$(1)) $(if $(filter tests/%,$(2)),-Wno-missing-prototypes) -MMD -MP -c $(2) -o $@
endef

# $(call archive): the prerequisites into one static library
define archive
	$(if $(V),,@echo 'AR $@')
	$(Q)rm -f $@
	$(Q)ar rcs $@ $(filter %.o,$^)
endef

# $(call link,flavour,extra flags): the prerequisites into one program
define link
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'LD $@')
	$(Q)$(CC_$(1)) $(LD_$(1)) $(filter %.o,$^) $(filter %.a,$^) $(2) $(LIBS_$(1)) -o $@
endef

define flavour
build/$(1)/%.o: %.c dist/make/flags.mk | $$(NEEDS_$(1))
	$$(call compile,$(1),$$<)
build/$(1)/gen/%.o: build/$(1)/gen/%.c dist/make/flags.mk | $$(NEEDS_$(1))
	$$(call compile,$(1),$$<)

build/$(1)/gen/templates.c: dist/make/embed.py $$(TEMPLATES) build/$(1)/gen/templates.list
	$$(Q)./dist/make/embed.py $$@ $$(TEMPLATES)
build/$(1)/gen/build_info.c: FORCE dist/make/build_info.py dist/version | $$(NEEDS_$(1))
	$$(Q)./dist/make/build_info.py info $$@ $$(if $$(NEEDS_$(1)),build/$(1)/libs/built.json)
# The shipped programs link gen/commit.o; whoever does not, finds gen/no-commit.o in the archive, so
# that a commit alone does not link every test again.
build/$(1)/gen/commit.c: FORCE dist/make/build_info.py
	$$(Q)./dist/make/build_info.py commit $$@
build/$(1)/gen/no-commit.c: dist/make/build_info.py
	$$(Q)./dist/make/build_info.py no-commit $$@
# A file that left the tree must leave the archive too: the lists change when the set changes.
build/$(1)/gen/templates.list: FORCE
	$$(Q)mkdir -p $$(@D); echo '$$(TEMPLATES)' | cmp -s - $$@ || echo '$$(TEMPLATES)' > $$@
build/$(1)/gen/sources.list: FORCE
	$$(Q)mkdir -p $$(@D); echo '$$(LIB_SRCS_$(PLATFORM_$(1)))' | cmp -s - $$@ || \
	    echo '$$(LIB_SRCS_$(PLATFORM_$(1)))' > $$@

build/$(1)/libwinjoin.a: $$(LIB_SRCS_$(PLATFORM_$(1)):%.c=build/$(1)/%.o) build/$(1)/gen/templates.o \
                         build/$(1)/gen/build_info.o build/$(1)/gen/no-commit.o build/$(1)/gen/sources.list
	$$(archive)
build/$(1)/libhns.a: $$(HNS_SRCS:%.c=build/$(1)/%.o)
	$$(archive)
build/$(1)/libmemory.a: $$(MEMORY_SRCS:%.c=build/$(1)/%.o)
	$$(archive)

# Flavours with tests alone have all of it in one shared library: a change links that, and no test again.
build/$(1)/libwinjoin.so: $$(LIB_SRCS_$(PLATFORM_$(1)):%.c=build/$(1)/%.o) $$(HNS_SRCS:%.c=build/$(1)/%.o) \
                          $$(MEMORY_SRCS:%.c=build/$(1)/%.o) $$(SHARED_OBJS_$(1)) build/$(1)/gen/templates.o build/$(1)/gen/build_info.o \
                          build/$(1)/gen/no-commit.o build/$(1)/gen/sources.list
	$$(call link,$(1),-shared -Wl$$(comma)-soname$$(comma)libwinjoin.so)
LIBRARY_$(1) := $(if $(SHARED_$(1)),| build/$(1)/libwinjoin.so,build/$(1)/libhns.a build/$(1)/libmemory.a build/$(1)/libwinjoin.a)

UNIT_$(1) := $$(UNIT_TESTS:%=build/$(1)/tests/%$$(EXE_$(1)))
$$(foreach t,$$(UNIT_SRCS),$$(eval build/$(1)/tests/$$(basename $$(notdir $$t))$$(EXE_$(1)): build/$(1)/$$(t:.c=.o)))
$$(UNIT_$(1)): $$(LIBRARY_$(1))
	$$(call link,$(1),-lcmocka $$(SHARED_$(1)))

-include $$(shell find build/$(1) -name '*.d' 2>/dev/null)
endef

$(foreach f,native static windows asan coverage fuzz,$(eval $(call flavour,$(f))))
# Objects are kept, whether or not a rule made them on the way.
.SECONDARY:

PROGRAMS_native := $(if $(wildcard cmd/main_posix.c),build/native/winjoin) \
                   $(if $(wildcard cmd/probe_main_posix.c),build/native/winjoin-probe) build/native/reference-page
build/native/winjoin: build/native/cmd/main_posix.o build/native/gen/commit.o build/native/libwinjoin.a
	$(call link,native)
# Installed without its symbols, as winjoin.exe is: they stay in winjoin.debug, for valgrind and perf.
build/static/winjoin.debug: build/static/cmd/main_posix.o build/static/gen/commit.o build/static/libwinjoin.a
	$(call link,static)
build/static/winjoin: build/static/winjoin.debug
	$(Q)install --strip $< $@
build/asan/winjoin: build/asan/cmd/main_posix.o | build/asan/libwinjoin.so
	$(call link,asan,$(SHARED_asan))
build/native/reference-page: build/native/dist/man/reference.o build/native/libwinjoin.a
	$(call link,native)
build/native/man-pages: build/native/dist/man/man_pages.o build/native/libwinjoin.a
	$(call link,native)
build/native/winjoin-probe: $(PROBE_SRCS_posix:%.c=build/native/%.o)
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'LD $@')
	$(Q)$(CC_native) $(LD_native) $^ -lresolv -lpthread -o $@
