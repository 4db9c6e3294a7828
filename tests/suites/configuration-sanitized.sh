#!/bin/sh
# The cases of configuration.sh with winjoin under the address and undefined-behaviour sanitizers.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/asan/winjoin
EVERY="${EVERY:-$(part 6 1)}" KUBEADM=none WINJOIN="$PWD/build/asan/winjoin" exec python3 -B tests/configuration/verdicts.py 2>&1
