#!/bin/sh
# The cases of configuration.sh with winjoin under the address and undefined-behaviour sanitizers.
set -eu
cd "$(dirname "$0")/../.."
if [ ! -x build/asan/winjoin ]; then
    echo "skipped: build/asan/winjoin is not built"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
KUBEADM=none WINJOIN=build/asan/winjoin exec python3 -B tests/configuration/verdicts.py 2>&1
