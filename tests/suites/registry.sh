#!/bin/sh
# The sandbox image fetched from registries that want a token, right ones and hostile ones; by the Linux build.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/native/winjoin build/windows/winjoin-probe.exe
exec python3 -B tests/mirror/registry.py
