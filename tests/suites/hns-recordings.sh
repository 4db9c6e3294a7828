#!/bin/sh
# Replays what upstream's Windows programs really sent to HNS (tests/hns/recordings.py) against our
# model of it.
set -eu
cd "$(dirname "$0")/../.."

make -s build/native/hns-replay >/dev/null
./tests/hns/recordings.py unpack build/native/hns-recordings
./build/native/hns-replay build/native/hns-recordings/*.jsonl
