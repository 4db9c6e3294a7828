#!/bin/sh
# The Windows programs import system DLLs alone, the probe only those that Nano Server has, and both
# carry the hardening flags; winjoin.exe has its manifest and nothing of the machine that built it.
set -eu
cd "$(dirname "$0")/../.."

passed=0 failed=0 skipped=0
probe_may='kernel32.dll|msvcrt.dll|ws2_32.dll|iphlpapi.dll|dnsapi.dll'
winjoin_may="$probe_may|advapi32.dll|bcrypt.dll|crypt32.dll|secur32.dll|user32.dll|gdi32.dll|shell32.dll|ole32.dll|oleaut32.dll|netapi32.dll|userenv.dll|wtsapi32.dll|version.dll"

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
}

work=$(mktemp)
trap 'rm -f "$work"' EXIT
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
