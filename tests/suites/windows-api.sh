#!/bin/sh
# What the Windows programs import and look up, and what their sources declare, against Microsoft's metadata of Windows' API.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/windows/winjoin.debug.exe build/windows/winjoin-probe.debug.exe
exec python3 -B tests/metadata/windows_api.py
