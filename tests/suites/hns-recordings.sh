#!/bin/sh
# Replays what upstream's Windows programs really sent to HNS (tests/hns/recordings.py) against our
# model of it, as it was sent and as other programs, clusters and versions would have sent it
# (tests/hns/vary.py).
set -eu
cd "$(dirname "$0")/../.."
. tests/suites/need

folder=build/native/hns-recordings
make -s build/native/hns-replay >/dev/null
./tests/hns/recordings.py unpack "$folder"
# in a part, kinds that change what the model looks at, not how it reads
# shellcheck disable=SC2046 # words
./tests/hns/vary.py "$folder" build/native/hns-varied $(part "names missing" "")
./build/native/hns-replay "$folder"/*.jsonl build/native/hns-varied/*.jsonl
