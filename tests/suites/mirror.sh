#!/bin/sh
# Programs fetched from mirrors over HTTPS, right ones and hostile ones; by the Linux build.
set -eu
cd "$(dirname "$0")/../.."
exec python3 -B tests/mirror/mirror.py
