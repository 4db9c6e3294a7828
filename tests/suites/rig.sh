#!/bin/sh
# The rig itself: a wrong HNS document makes a flow fail, a right one makes it pass.
set -eu
cd "$(dirname "$0")/../.."
[ -x build/native/hnsd ] || make -s build/native/hnsd
exec python3 -B tests/rig/flows.py
