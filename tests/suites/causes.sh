#!/bin/sh
# One fault of each kind: winjoin diag on a joined node names its cause, and nothing once it is lifted.
# All of them: python3 tests/rig/causes.py
set -eu
cd "$(dirname "$0")/../.."
if [ ! -x build/windows/winjoin.exe ] || [ ! -x build/native/winjoin ]; then
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
exec python3 -B tests/rig/causes.py --mode overlay vni no-egress no-nat
