#!/bin/sh
# A played Windows host: what Wine and the gap DLLs show to the product's own Windows code.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/windows/rig/hostcheck.exe
exec python3 -B tests/wine/played.py
