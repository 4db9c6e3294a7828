#!/bin/sh
# Discovery by the real program over real TLS: the right case and every lie of the test API server.
set -eu
cd "$(dirname "$0")/../.."
exec python3 -B tests/discovery/cases.py
