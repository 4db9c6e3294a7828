#!/bin/sh
# A part of the cases of configuration.sh with winjoin.exe under Wine: its own libyaml, its own argv.
set -eu
cd "$(dirname "$0")/../.."
wine=/usr/lib/wine/wine64
. tests/suites/need
need "$wine" build/windows/winjoin.exe
export WINEPREFIX="$PWD/build/wine-configuration" HOME="$PWD/build/wine-configuration" WINEARCH=win64 \
    WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" DISPLAY='' LC_ALL=C.UTF-8
mkdir -p "$WINEPREFIX"
# One server for all calls: two first starts at a time wait for each other.
"${wine%64}server64" -p 2>/dev/null || true
trap '"${wine%64}server64" -k || true' EXIT
"$wine" build/windows/winjoin.exe version >/dev/null 2>&1
EVERY="${EVERY:-$(part 25 5)}" KUBEADM=none WINJOIN="$wine $PWD/build/windows/winjoin.exe" \
    python3 -B tests/configuration/verdicts.py 2>&1
