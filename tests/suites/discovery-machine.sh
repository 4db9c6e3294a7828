#!/bin/sh
# What winjoin.exe takes from the machine: its store of roots, its WinHTTP proxy; under Wine.
set -eu
cd "$(dirname "$0")/../.."
wine=/usr/lib/wine/wine64
program=build/windows/winjoin.exe
tool=build/windows/rig/machine.exe
. tests/suites/need
need "$wine" "$program" "$tool"
export WINEPREFIX="$PWD/build/wine-machine" HOME="$PWD/build/wine-machine" WINEARCH=win64 \
    WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" DISPLAY=
rm -rf "$WINEPREFIX"
mkdir -p "$WINEPREFIX"
trap '"${wine%64}server64" -k || true' EXIT
"$wine" "$program" version >/dev/null 2>&1
python3 -B tests/discovery/machine.py "$wine" "$program" "$tool"
