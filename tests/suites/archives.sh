#!/bin/sh
# Hostile archives, each refused with its reason: as upstream's .tar.gz or .tar.zst and as a bundle; by the Linux build.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/native/winjoin
EVERY=$(part 4 1) exec python3 -B tests/mirror/hostile.py
