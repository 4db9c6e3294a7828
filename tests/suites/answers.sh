#!/bin/sh
# What a server may answer after discovery that is broken, in an upgrade, behind a bad balancer, or hostile.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/native/winjoin
EVERY="${EVERY:-$(part 6 1)}" PATIENCE="${PATIENCE:-$(python3 -B tests/patience.py)}" exec python3 -B tests/answers/run.py "$@" 2>&1
