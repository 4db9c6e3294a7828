#!/bin/sh
# Configuration files and command lines: winjoin's verdicts beside those of upstream's kubeadm.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/native/winjoin
EVERY="${EVERY:-$(part 3 1)}" exec python3 -B tests/configuration/verdicts.py "$@" 2>&1
