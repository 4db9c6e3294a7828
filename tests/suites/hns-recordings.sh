#!/bin/sh
# Replays what upstream Windows programs really sent to HNS against our model of it. The extract in
# tests/hns/recordings is always replayed; the whole recordings where they lie beside the checkout
# (WINJOIN_RECORDINGS names another folder), else they count as skipped.
set -eu
cd "$(dirname "$0")/../.."

make -s build/native/hns-replay >/dev/null
whole=${WINJOIN_RECORDINGS:-../shared/recordings/hns}
set -- tests/hns/recordings/*.jsonl
skipped=1
if [ -d "$whole" ]; then
    set -- "$@" "$whole"/*.jsonl
    skipped=0
else
    echo "no recordings in $whole"
fi
out=build/native/hns-recordings.txt
code=0
./build/native/hns-replay "$@" >"$out" || code=$?
sed "\$s/0 skipped/$skipped skipped/" "$out"
exit "$code"
