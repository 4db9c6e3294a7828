#!/bin/sh
# What winjoin makes of odd KubeletConfigurations, before upstream's kubelet.exe: a part of them (EVERY=1: all).
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/native/winjoin build/windows/standins/kubelet.exe build/windows/rig/hold.exe
EVERY="${EVERY:-3}" exec python3 -B tests/configuration/kubelet.py 2>&1
