#!/bin/sh
# The node's client certificate over real TLS: approved, approved manually, refused, interrupted.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/native/winjoin
exec python3 -B tests/discovery/bootstrap.py 2>&1
