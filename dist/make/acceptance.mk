# The acceptance kit for a real Windows Server, in build/windows/acceptance: its program, check.cmd, and those unit
# tests that ask Windows itself (the others see nothing but memory, and pass under Wine as they would there).
ACCEPTANCE := build/windows/acceptance
KIT_UNITS  := $(patsubst %,test_%,cidr host_calls host_contract host_programs http_environment log path probe \
                probe_serve service_log sockets terminal text token)
.PHONY: acceptance
acceptance: $(ACCEPTANCE)/acceptance.exe $(ACCEPTANCE)/check.cmd $(KIT_UNITS:%=$(ACCEPTANCE)/units/%.exe) ## the acceptance kit (make dist packs it)

$(ACCEPTANCE)/acceptance.debug.exe: $(patsubst %.c,build/windows/%.o,$(wildcard tests/acceptance/*.c)) \
                                    build/windows/libhns.a build/windows/libmemory.a build/windows/libwinjoin.a
	$(call link,windows)
$(ACCEPTANCE)/acceptance.debug.exe: LIBS_windows += -lnetapi32
$(ACCEPTANCE)/units/%.exe: build/windows/tests/%.exe
	$(Q)mkdir -p $(@D)
	$(Q)$(STRIP_windows) -o $@ $<
$(ACCEPTANCE)/check.cmd: tests/acceptance/check.cmd
	$(Q)mkdir -p $(@D)
	$(Q)sed 's/$$/\r/' $< > $@
