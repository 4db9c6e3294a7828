# Compilers and flags of each flavour. Every object depends on this file: a change rebuilds.

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
            -Wformat=2 -Wvla -Wundef -Wwrite-strings -Wimplicit-fallthrough
CFLAGS_all := -std=gnu11 -I. -g -fno-strict-aliasing $(WARNINGS)
LIBS_posix := -lcurl -lssl -lcrypto -larchive -lyaml -ljansson -lnghttp2 -lz -lresolv -lpthread

# native: what `make` builds for this machine
CC_native     := gcc
CFLAGS_native := $(CFLAGS_all) -O2 -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
LD_native     := -pie -Wl,-z,relro,-z,now

# static: one file for any Linux, with the libraries of winjoin.exe; what make bench measures
CC_static     := gcc
CFLAGS_static := $(CFLAGS_all) -O2 -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
                 -ffunction-sections -fdata-sections -fno-pie -DCURL_STATICLIB -DLIBARCHIVE_STATIC \
                 -isystem build/static/libs/include
# The linker warns of getaddrinfo: names come from files and DNS, which glibc has inside. A build id is made of the debug
# information, too, and so of the folder in which it was built.
LD_static     := -static -no-pie -Wl,--gc-sections,-z,relro,-z,now,--no-warnings,--build-id=none
LIBS_static   := -Lbuild/static/libs/lib -lcurl -lssl -lcrypto -larchive -lyaml -ljansson -lnghttp2 -lz -lzstd -lresolv -lpthread

# windows: what is shipped. _GNU_SOURCE is left out: the C library is Microsoft's msvcrt.
CC_windows     := x86_64-w64-mingw32-gcc
CFLAGS_windows := $(CFLAGS_all) -Os -fstack-protector-strong \
                  -D__USE_MINGW_ANSI_STDIO=1 -D_WIN32_WINNT=0x0A00 -DWINVER=0x0A00 -DWIN32_LEAN_AND_MEAN \
                  -DCURL_STATICLIB -DLIBARCHIVE_STATIC -DYAML_DECLARE_STATIC -DNGHTTP2_STATICLIB \
                  -isystem build/windows/libs/include
# The linker and strip would write the clock's time into a program's header.
STRIP_windows  := SOURCE_DATE_EPOCH=0 x86_64-w64-mingw32-strip
LD_windows     := -static -Wl,--no-insert-timestamp,--nxcompat,--dynamicbase,--high-entropy-va,--gc-sections
LIBS_windows   := -Lbuild/windows/libs/lib -lcurl -lssl -lcrypto -larchive -lyaml -ljansson -lnghttp2 -lz -lzstd \
                  -lws2_32 -liphlpapi -ldnsapi -lbcrypt -lcrypt32 -lsecur32 -ladvapi32 -lole32 -loleaut32 -lgdi32 \
                  -lssp

# asan: native under the address and undefined-behaviour sanitizers
CC_asan     := gcc
CFLAGS_asan := $(CFLAGS_all) -O1 -D_GNU_SOURCE -fPIC -fno-omit-frame-pointer \
               -fsanitize=address,undefined -fno-sanitize-recover=all
LD_asan     := -fsanitize=address,undefined

# coverage: native, counting which lines ran
CC_coverage     := gcc
CFLAGS_coverage := $(CFLAGS_all) -O0 -D_GNU_SOURCE --coverage
LD_coverage     := --coverage

# fuzz: clang's libFuzzer with both sanitizers
CC_fuzz     := clang
CFLAGS_fuzz := $(CFLAGS_all) -O1 -D_GNU_SOURCE -fno-omit-frame-pointer -Wno-missing-field-initializers \
               -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
               -Wno-unknown-warning-option -Dgnu_printf=printf -Wno-format-nonliteral -Wno-string-plus-int \
               -Wno-c2x-extensions
LD_fuzz     := -fsanitize=fuzzer,address,undefined
