#!/bin/sh
# The Windows programs import "known" DLLs alone, which Windows never looks for beside a program, and what
# they load later comes from System32, whatever lies beside them; the probe imports what Nano Server has.
# Both carry the hardening flags; winjoin.exe has its manifest and nothing of the machine that built it.
set -eu
cd "$(dirname "$0")/../.."

passed=0 failed=0 skipped=0
probe_may='kernel32.dll|msvcrt.dll|ws2_32.dll'
# HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\KnownDLLs of Windows Server 2019 to 2025, those
# that a program may want.
winjoin_may='advapi32.dll|combase.dll|gdi32.dll|kernel32.dll|msvcrt.dll|ole32.dll|oleaut32.dll|rpcrt4.dll|sechost.dll|shell32.dll|user32.dll|ws2_32.dll'

check() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: %s, not %s\n' "$1" "$2" "$3"
    fi
}

look_at() {
    program=$1 may=$2
    if [ ! -f "$program" ]; then
        skipped=$((skipped + 1))
        echo "skipped: $program is not built"
        return
    fi
    x86_64-w64-mingw32-objdump -p "$program" >"$work"
    others=$(awk '$1 == "DLL" && $2 == "Name:" { print tolower($3) }' "$work" | grep -vxE "$may" | tr '\n' ' ' || true)
    check "$program imports" "${others:-nothing else}" "nothing else"
    flags=$(grep -cE 'HIGH_ENTROPY_VA|DYNAMIC_BASE|NX_COMPAT' "$work" || true)
    check "$program has ASLR and NX flags" "$flags" 3
    check "$program's header has no time of the build" "$(grep -c '^Time/Date.*1970' "$work" || true)" 1
    check "$program's imports come from System32 alone" "$(python3 -B dist/make/load_config.py flags "$program")" 0x800
}

# A DLL of a stranger's beside a program says so in a file when it is loaded; a program that imports it
# proves that it would be.
plant() {
    printf '%s\n' '#include <windows.h>' \
        'BOOL WINAPI DllMain(HINSTANCE dll, DWORD why, LPVOID unused) {' \
        '    (void)dll, (void)unused;' \
        '    if (why == DLL_PROCESS_ATTACH)' \
        '        CloseHandle(CreateFileA("C:\\loaded.txt", GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL));' \
        '    return TRUE;' \
        '}' '__declspec(dllexport) int planted(void) { return 0; }' >"$prefix/planted.c"
    printf '%s\n' '__declspec(dllimport) int planted(void);' 'int main(void) { return planted(); }' >"$prefix/imports.c"
    x86_64-w64-mingw32-gcc -shared -o "$folder/dnsapi.dll" "$prefix/planted.c"
    x86_64-w64-mingw32-gcc -o "$folder/imports.exe" "$prefix/imports.c" "$folder/dnsapi.dll"
    for name in bcrypt crypt32 iphlpapi secur32; do
        cp "$folder/dnsapi.dll" "$folder/$name.dll"
    done
    cp build/windows/winjoin.exe build/windows/winjoin-probe.exe "$folder"
}

# What was loaded of the planted DLLs while the program ran with these words.
loaded_by() {
    rm -f "$prefix/drive_c/loaded.txt"
    HOME=$prefix WINEPREFIX=$prefix WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=;dnsapi,bcrypt,crypt32,iphlpapi,secur32=n,b' \
        timeout 60 /usr/lib/wine/wine64 "$@" >/dev/null 2>&1 || true
    if [ -f "$prefix/drive_c/loaded.txt" ]; then echo one; else echo none; fi
}

look_at_planted() {
    if [ ! -f build/windows/winjoin.exe ] || [ ! -x /usr/lib/wine/wine64 ]; then
        skipped=$((skipped + 1))
        echo "skipped: no Wine, or winjoin.exe is not built"
        return
    fi
    prefix=$(mktemp -d) folder=$prefix/drive_c/tools
    mkdir -p "$folder"
    plant
    check "a planted DLL, by a program that imports it" "$(loaded_by 'C:\tools\imports.exe')" one
    for words in version capabilities 'preflight 127.0.0.1:1 --token abcdef.0123456789abcdef' 'config print defaults'; do
        # shellcheck disable=SC2086 # words
        check "a planted DLL, by winjoin $words" "$(loaded_by 'C:\tools\winjoin.exe' $words)" none
    done
    for words in 'resolve nobody.invalid' 'tcp 127.0.0.1:1 --attempts 1'; do
        # shellcheck disable=SC2086 # words
        check "a planted DLL, by winjoin-probe $words" "$(loaded_by 'C:\tools\winjoin-probe.exe' $words)" none
    done
    WINEPREFIX=$prefix /usr/lib/wine/wineserver64 -k || true
    rm -rf "$prefix"
}

work=$(mktemp)
trap 'rm -f "$work"' EXIT
look_at_planted
look_at build/windows/winjoin.exe "$winjoin_may"
look_at build/windows/winjoin-probe.exe "$probe_may"
if [ -f build/windows/winjoin.exe ]; then
    size=$(stat -c %s build/windows/winjoin.exe)
    for word in longPathAware activeCodePage asInvoker; do
        check "winjoin.exe's manifest says $word" "$(grep -ac "$word" build/windows/winjoin.exe || true)" 1
    done
    check "winjoin.exe names no folder of this machine" \
        "$(strings build/windows/winjoin.exe | grep -cF -e "$PWD" -e "$HOME/" -e .cache/winjoin || true)" 0
    check "winjoin.exe is within 6 MiB ($size bytes)" "$((size <= 6 * 1024 * 1024))" 1
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
