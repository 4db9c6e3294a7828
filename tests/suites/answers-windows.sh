#!/bin/sh
# A part of the cases of answers.sh with winjoin.exe under Wine: its own libcurl, OpenSSL and standard error.
set -eu
cd "$(dirname "$0")/../.."
wine=/usr/lib/wine/wine64
. tests/suites/need
need "$wine" build/native/hnsd build/windows/winjoin.exe build/windows/rig/iphlpapi.dll
prefix="$PWD/build/wine-answers"
rm -rf "$prefix"
python3 -B tests/wine/prefix.py copy "$prefix" >/dev/null # with the links that plain Wine has not
export WINEPREFIX="$prefix" HOME="$prefix" WINEARCH=win64 \
    WINEDEBUG=-all WINEDLLOVERRIDES="bcryptprimitives,pdh,iphlpapi,dismapi,hnetcfg=n,b;mscoree,mshtml=" DISPLAY='' LC_ALL=C.UTF-8
# One server for all calls: two first starts at a time wait for each other.
"${wine%64}server64" -p 2>/dev/null || true
# The phase node asks HNS for its version, so the model of it answers.
HNS_PORT=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
export HNS_PORT
build/native/hnsd &
hnsd=$!
trap 'kill "$hnsd" || true; "${wine%64}server64" -k || true' EXIT
"$wine" build/windows/winjoin.exe version >/dev/null
EVERY="${EVERY:-$(part 40 10)}" PATIENCE="${PATIENCE:-$(python3 -B tests/patience.py 4)}" WINJOIN="$wine $PWD/build/windows/winjoin.exe" python3 -B tests/answers/run.py "$@" 2>&1
