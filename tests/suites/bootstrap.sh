#!/bin/sh
# The node's client certificate over real TLS: approved, approved by hand, refused, interrupted.
set -eu
cd "$(dirname "$0")/../.."
if [ ! -x build/native/winjoin ]; then
    echo "skipped: build/native/winjoin is not built"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
exec python3 -B tests/discovery/bootstrap.py 2>&1
