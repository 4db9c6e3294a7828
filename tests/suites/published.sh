#!/bin/sh
# Programs fetched from upstream's releases over HTTPS, right ones and hostile ones; by the Linux build.
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need
need build/native/winjoin
exec python3 -B tests/mirror/published.py
