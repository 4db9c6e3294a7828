# Lint: each tool over the sources it is for; what passed is not looked at again until it changes.

LINT_SRCS   := $(sort $(wildcard $(MODULES:%=%/*.[ch]) host/win32/*.[ch] host/posix/*.[ch] templates/*.h))
TEST_SRCS   := $(sort $(wildcard tests/*/*.[ch] tests/unit/*/*.c dist/man/*.c))
SHELL_FILES  = $(shell git ls-files --cached --others --exclude-standard | \
                 xargs -r grep -lE -m1 '^\#!/bin/(ba)?sh|^\#!/usr/bin/env (ba)?sh')

.PHONY: messages lint lint-built lint-includes lint-house lint-powershell lint-format lint-shell lint-cppcheck lint-tidy lint-analyzer
lint: ## includes, house rules, format, shellcheck, cppcheck, clang-tidy, gcc's analyzer
	$(Q)$(INSTALL) native windows lint
	$(Q)$(MAKE) lint-built
lint-built: lint-includes lint-house lint-powershell lint-format lint-shell lint-cppcheck lint-tidy lint-analyzer
	$(Q)echo "lint: clean"

lint-includes:
	$(if $(V),,@echo 'LINT includes')
	$(Q)python3 -B tests/lint/includes.py
lint-house:
	$(if $(V),,@echo 'LINT house')
	$(Q)python3 -B tests/lint/house.py
	$(Q)python3 -B tests/lint/messages.py --words
lint-powershell:
	$(if $(V),,@echo 'LINT powershell')
	$(Q)python3 -B tests/lint/powershell.py
lint-format:
	$(if $(V),,@echo 'LINT format')
	$(Q)clang-format --dry-run -Werror $(LINT_SRCS) $(TEST_SRCS)
lint-shell:
	$(if $(V),,@echo 'LINT shell')
	$(Q)shellcheck -x $(SHELL_FILES)

# The platform's half of the tree is parsed as that platform's compiler would.
CPPCHECK := cppcheck --quiet --inline-suppr --error-exitcode=1 --std=c11 --library=posix -I. \
            --enable=warning,portability,performance --suppressions-list=tests/lint/cppcheck.txt \
            --include=tests/lint/cppcheck.h
lint-cppcheck:
	$(if $(V),,@echo 'LINT cppcheck')
	$(Q)mkdir -p build/lint/cppcheck
	$(Q)$(CPPCHECK) --cppcheck-build-dir=build/lint/cppcheck $(filter %.c,$(LINT_SRCS))

lint-tidy: $(LIB_SRCS_posix:%.c=build/lint/%.tidy) $(patsubst %.c,build/lint/%.tidy,$(wildcard host/win32/*.c cmd/*main_*.c))
# base/error.c defines what the header for the analyzers describes.
ANALYZERS_H = $(if $(filter base/error.c,$(1)),,-include tests/lint/analyzers.h)
TIDY_posix := -std=gnu11 -I. -Wunused -D_GNU_SOURCE -Dgnu_printf=printf
TIDY_win32 := --target=x86_64-w64-mingw32 $(filter -std=% -I% -D% -isystem build/%,$(CFLAGS_windows))
build/lint/host/win32/%.tidy: host/win32/%.c .clang-tidy build/windows/host/win32/%.o
	$(call tidy,$<,$(TIDY_win32))
build/lint/cmd/%_win32.tidy: cmd/%_win32.c .clang-tidy build/windows/cmd/%_win32.o
	$(call tidy,$<,$(TIDY_win32))
build/lint/%.tidy: %.c .clang-tidy build/native/%.o
	$(call tidy,$<,$(TIDY_posix))
define tidy
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'TIDY $(1)')
	$(Q)clang-tidy --quiet $(1) -- $(2) $(ANALYZERS_H) >$@.log 2>&1 || { grep -v 'warnings generated' $@.log; exit 1; }
	$(Q)touch $@
endef

# gcc's analyzer, where bytes from outside are taken apart and documents are made.
lint-analyzer: $(patsubst %.c,build/analyzer/%.o,$(wildcard pki/*.c node/*.c netsetup/*.c netsetup/hns/*.c netsetup/nic/*.c netsetup/plan/*.c netsetup/routes/*.c))
build/analyzer/%.o: %.c build/native/%.o
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'ANALYZE $<')
	$(Q)gcc $(CFLAGS_native) -include tests/lint/analyzers.h -fanalyzer -c $< -o $@

messages: ## every message, hint, help line and check of the product, with its place
	$(Q)python3 -B tests/lint/messages.py

format: ## clang-format over everything
	$(Q)clang-format -i $(LINT_SRCS) $(TEST_SRCS)
