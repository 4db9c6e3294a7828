#!/bin/sh
# Odd ConfigMaps of a cluster: winjoin's verdicts beside those of upstream's kubeadm.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/native/winjoin build/windows/standins/kubelet.exe
EVERY="${EVERY:-$(part 4 1)}" exec python3 -B tests/configuration/cluster.py 2>&1
