#!/bin/sh
# Tests by others that are meant for a real HNS (Microsoft's, kube-proxy's) against our model of it, under Wine, at three versions.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/native/hnsd build/windows/rig/computenetwork.dll build/windows/rig/vmcompute.dll build/windows/rig/hold.exe
exec python3 -B tests/hns/upstream.py
