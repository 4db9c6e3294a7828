#!/bin/sh
# The cases of discovery.sh with winjoin.exe under Wine: its own OpenSSL, libcurl and standard output.
set -eu
cd "$(dirname "$0")/../.."
wine=/usr/lib/wine/wine64
program=build/windows/winjoin.exe
if [ ! -x "$wine" ] || [ ! -f "$program" ]; then
    program=/nonexistent # all cases count as skipped
    wine=
fi
export WINEPREFIX="$PWD/build/wine-unit" HOME="$PWD/build/wine-unit" WINEARCH=win64 \
    WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" DISPLAY=
mkdir -p "$WINEPREFIX"
if [ -n "$wine" ]; then
    # the prefix's first start is no matter of any case
    "$wine" "$program" version >/dev/null 2>&1
fi
export JOBS=2 PATIENCE=5
WINJOIN="${wine:+$wine }$program" exec python3 -B tests/discovery/cases.py
