# The acceptance kit for a real Windows Server: tests/acceptance, the unit tests, winjoin.exe and check.cmd.
ACCEPTANCE := build/windows/acceptance
.PHONY: acceptance
acceptance: $(ACCEPTANCE)/acceptance.exe ## the acceptance kit, in build/windows/acceptance (make dist packs it)

$(ACCEPTANCE)/acceptance.debug.exe: $(patsubst %.c,build/windows/%.o,$(wildcard tests/acceptance/*.c)) \
                                    build/windows/libhns.a build/windows/libmemory.a build/windows/libwinjoin.a
	$(call link,windows)
