# The third-party libraries of the Windows build: build/windows/libs links to the cached prefix.

WINDOWS_LIBS := build/windows/libs.stamp

# The cache may have been emptied behind our back: then the link dangles and the stamp lies.
ifeq ($(wildcard build/windows/libs/built.json),)
.PHONY: $(WINDOWS_LIBS)
endif

$(WINDOWS_LIBS): dist/windows-libs/libraries.ini dist/windows-libs/build.py
	$(Q)mkdir -p $(@D)
	$(Q)./dist/windows-libs/build.py --link build/windows/libs
	$(Q)touch $@

# The same libraries for the static Linux build: build/static/libs.
LINUX_LIBS := build/static/libs.stamp

ifeq ($(wildcard build/static/libs/built.json),)
.PHONY: $(LINUX_LIBS)
endif

$(LINUX_LIBS): dist/windows-libs/libraries.ini dist/windows-libs/linux.py
	$(Q)mkdir -p $(@D)
	$(Q)./dist/windows-libs/linux.py --link build/static/libs
	$(Q)touch $@
