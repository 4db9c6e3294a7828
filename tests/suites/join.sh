#!/bin/sh
# Whole joins by winjoin.exe on played Windows hosts: right ones, killed ones, refused ones.
set -eu
cd "$(dirname "$0")/../.."
exec python3 -B tests/scenarios/main.py "$@"
