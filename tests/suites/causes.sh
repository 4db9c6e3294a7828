#!/bin/sh
# One fault of each kind: winjoin diag on a joined node names its cause, and nothing once it is lifted.
# All of them: python3 tests/rig/causes.py
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/windows/winjoin.exe build/native/winjoin
# shellcheck disable=SC2046 # words
exec python3 -B tests/rig/causes.py --mode overlay $(part vni "vni no-egress no-nat")
