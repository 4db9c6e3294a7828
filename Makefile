# winjoin: one Makefile. `make help` lists the targets, V=1 shows the commands.
#
# Sources are found by wildcard: put a .c file into its folder and it is built. Objects go to
# build/<flavour>/, one flavour a set of flags (dist/make/flags.mk).

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
SHELL := /bin/bash
JOBS := $(shell nproc)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
MAKEFLAGS += --no-print-directory --no-builtin-rules
Q := $(if $(V),,@)

# What a machine without the tools asks for first: the list is dist/packages.txt.
INSTALL = ./dist/install-packages.sh

include dist/make/flags.mk
include dist/make/sources.mk
include dist/make/windows-libs.mk
include dist/make/flavour.mk
include dist/make/windows.mk
include dist/make/rig.mk
include dist/make/acceptance.mk
include dist/make/test.mk
include dist/make/mutants.mk
include dist/make/bench.mk

.PHONY: soak
soak: build/asan/tests/test_soak ## months of winjoin-network in a minute: memory and descriptors stay flat; SOAK=
	$(Q)SOAK=$(or $(SOAK),5000) $<
include dist/make/lint.mk
include dist/make/e2e.mk
include dist/make/dist.mk

.PHONY: all native static windows quick install-deps clean help demo picture format sbom man docs site
all: native windows          ## both programs: build/native/winjoin and build/windows/winjoin.exe
native: build/native/libwinjoin.a $(PROGRAMS_native)   ## the Linux build (rehearsal, discover, bundle, config)
static: build/static/winjoin ## the Linux build as one file, with the libraries of winjoin.exe (built once)
windows: build/windows/libwinjoin.a $(PROGRAMS_windows) build/windows/winjoin.sbom.json ## winjoin.exe and winjoin-probe.exe

quick: build/native/libwinjoin.a build/windows/libwinjoin.a $(PROGRAMS_native) $(UNIT_asan) $(FUZZERS:%=build/asan/tests/fuzz/%.o) ## the fast check before a change lands: build, includes, house rules, format, unit tests
	$(Q)./tests/run quick
	$(Q)! command -v clang-format >/dev/null || \
	    printf '%s\n' $(LINT_SRCS) $(TEST_SRCS) | xargs -P 2 -n 300 clang-format --dry-run -Werror || \
	    { echo "not formatted: run 'make format'"; exit 1; }

man: build/native/man-pages ## the manual pages, made of the same tables as --help: build/man
	$(Q)mkdir -p build/man
	$(Q)./build/native/man-pages build/man

docs: build/native/winjoin build/native/reference-page ## the pages that are made of the program's tables: docs/reference
	$(Q)rm -rf docs/reference; mkdir -p docs/reference/schema
	$(Q)for page in $$(build/native/reference-page); do build/native/reference-page $$page >docs/reference/$$page.md || exit 1; done
	$(Q)python3 -B dist/man/metrics.py >docs/reference/metrics.md
	$(Q)$< config print schema | while read -r name of; do $< config print schema $$name >docs/reference/schema/$$name.json || exit 1; done

site: ## the documents as a static site with search: build/site
	$(Q)python3 -B dist/site/make.py build/site

install-deps: ## install the Debian packages that are missing
	$(Q)$(INSTALL) native windows rig lint dist

demo: ## a bare Windows host joins a cluster, is proved, is reset; FAULT=vni and others break something
	$(Q)$(INSTALL) native windows rig
	$(Q)$(MAKE) native windows rig
	$(Q)./tests/demo/run $(if $(FAULT),FAULT=$(FAULT))

picture: ## docs/pictures/join.svg, of what the demo prints
	$(Q)$(INSTALL) native windows rig
	$(Q)$(MAKE) native windows rig
	$(Q)set -o pipefail; ./tests/demo/run | tee /dev/stderr | python3 -B tests/demo/picture.py >build/join.svg
	$(Q)mv build/join.svg docs/pictures/join.svg

clean: ## remove build/; the cache of the Windows libraries stays
	$(Q)rm -rf build

help: ## this list
	$(Q)awk -F ' *## *' '/^[a-z-]+:.*##/ { split($$1, t, ":"); printf "  make %-14s %s\n", t[1], $$2 }' \
	    $(MAKEFILE_LIST) | sort -u
