#!/bin/sh
# One fault of each kind: winjoin diag on a joined node names its cause, and nothing once it is lifted.
# All of them, in both network modes: the confusion table of docs/design/faults.md.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/windows/winjoin.exe build/native/winjoin
# shellcheck disable=SC2046 # words
exec python3 -B tests/rig/causes.py $(part "--mode overlay vni no-egress no-nat" "")
