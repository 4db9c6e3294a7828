#!/bin/sh
# Forty joins at once against a server that refuses what is too much; `make bench` plays five hundred.
set -eu
cd "$(dirname "$0")/../.."
exec python3 -B tests/bench/load.py --nodes 40 --rate 60 --burst 30 --backlog 16 --spread 0s
