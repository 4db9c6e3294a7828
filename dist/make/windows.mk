# The shipped programs: winjoin.exe with winjoin-probe.exe inside it, and the bill of materials.

PROBE_EXE        := $(if $(wildcard cmd/probe_main_win32.c),build/windows/winjoin-probe.exe)
PROGRAMS_windows := $(if $(wildcard cmd/main_win32.c),build/windows/winjoin.exe) $(PROBE_EXE)

# Windows looks for a DLL that a program imports in the program's own folder first, unless it is one of
# the "known" ones (HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\KnownDLLs). The four that are
# not are loaded at their first call, from System32 (host/win32/library.c): import libraries for that, with
# the functions that mingw's own have. The load configuration says the same to Windows' loader.
DELAYED := bcrypt crypt32 dnsapi iphlpapi
build/windows/delayed/lib%.a: dist/make/windows.mk
	$(Q)mkdir -p $(@D)
	$(Q){ echo EXPORTS; x86_64-w64-mingw32-nm $$($(CC_windows) -print-file-name=lib$*.a) 2>/dev/null | \
	    awk '$$2 == "T" { print $$3 }' | sort -u; } >$(@D)/$*.def
	$(Q)x86_64-w64-mingw32-dlltool -d $(@D)/$*.def -D $*.dll -y $@
DELAYED_LIBS := $(DELAYED:%=build/windows/delayed/lib%.a)
LD_system32  := -Wl,-u,__pfnDliNotifyHook2,-u,_load_config_used

# The probe finds little inside Nano Server: no library but Windows' own, and few of those.
build/windows/winjoin-probe.debug.exe: $(PROBE_SRCS_win32:%.c=build/windows/%.o) dist/make/load_config.py | $(DELAYED_LIBS)
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'LD $@')
	$(Q)$(CC_windows) $(LD_windows) -municode $(LD_system32) $(filter %.o,$^) -Lbuild/windows/delayed -lws2_32 -liphlpapi -ldnsapi -o $@
	$(Q)./dist/make/load_config.py enter $@

# The texts of the event log: a message table with its own small script.
build/windows/gen/events.rc: dist/windows/events.mc
	$(Q)mkdir -p $(@D)
	$(Q)x86_64-w64-mingw32-windmc -h $(@D) -r $(@D) $<

build/windows/gen/winjoin.res.o: dist/windows/winjoin.rc dist/windows/winjoin.manifest build/windows/gen/events.rc dist/version $(PROBE_EXE)
	$(Q)mkdir -p $(@D)
	$(if $(V),,@echo 'RC $<')
	$(Q)v=$$(cat dist/version); x86_64-w64-mingw32-windres -I dist/windows -I build/windows \
	    -I build/windows/gen \
	    -DVERSION_TEXT=\\\"$$v\\\" -DVERSION_NUMBERS=$${v//./,},0 $(if $(PROBE_EXE),-DWITH_PROBE) $< $@

build/windows/winjoin.debug.exe: LIBS_windows := -Lbuild/windows/delayed $(LIBS_windows)
build/windows/winjoin.debug.exe: build/windows/cmd/main_win32.o build/windows/gen/commit.o build/windows/gen/winjoin.res.o build/windows/libwinjoin.a dist/make/load_config.py | $(DELAYED_LIBS)
	$(call link,windows,-municode $(LD_system32))
	$(Q)./dist/make/load_config.py enter $@

build/windows/%.exe: build/windows/%.debug.exe
	$(Q)$(STRIP_windows) -o $@ $<

sbom: build/windows/winjoin.sbom.json ## the bill of materials of winjoin.exe (SPDX JSON)
build/windows/winjoin.sbom.json: dist/windows-libs/sbom.py dist/version $(WINDOWS_LIBS) $(filter %winjoin.exe,$(PROGRAMS_windows))
	$(Q)./dist/windows-libs/sbom.py build/windows/libs/built.json $@ $(filter %.exe,$^)
