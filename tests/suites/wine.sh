#!/bin/sh
# A played Windows host: what Wine and the gap DLLs show to the product's own Windows code.
set -eu
cd "$(dirname "$0")/../.."
if [ ! -x build/windows/rig/hostcheck.exe ]; then
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
exec python3 -B tests/wine/played.py
