#!/bin/sh
# Odd ConfigMaps of a cluster: winjoin's verdicts beside those of upstream's kubeadm.
set -eu
cd "$(dirname "$0")/../.."
if [ ! -x build/native/winjoin ]; then
    echo "skipped: build/native/winjoin is not built"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
exec python3 -B tests/configuration/cluster.py 2>&1
