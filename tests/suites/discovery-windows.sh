#!/bin/sh
# A part of the cases of discovery.sh with winjoin.exe under Wine: its own OpenSSL, libcurl and standard output.
set -eu
cd "$(dirname "$0")/../.."
wine=/usr/lib/wine/wine64
program=build/windows/winjoin.exe
. tests/suites/need
if [ ! -x "$wine" ] || [ ! -f "$program" ]; then
    program=/nonexistent # all cases count as skipped
    wine=
fi
export WINEPREFIX="$PWD/build/wine-discovery" HOME="$PWD/build/wine-discovery" WINEARCH=win64 \
    WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" DISPLAY=
mkdir -p "$WINEPREFIX"
if [ -n "$wine" ]; then
    # One server for all calls: two first starts at a time wait for each other.
    "${wine%64}server64" -p 2>/dev/null || true
    trap '"${wine%64}server64" -k || true' EXIT
    "$wine" "$program" version >/dev/null 2>&1
fi
JOBS=2 PATIENCE="${PATIENCE:-$(python3 -B tests/patience.py 5)}" EVERY="${EVERY:-$(part 25 5)}" WINJOIN="${wine:+$wine }$program" python3 -B tests/discovery/cases.py
