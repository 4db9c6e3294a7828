#!/usr/bin/env python3
"""What upstream's programs sent to HNS, packed: recordings.py unpack DIR | pack FILE...

recordings.jsonl.xz holds one recording behind the other, each behind a line {"recording": NAME}.
`pack` writes it from the files that hnsd wrote, without times and process numbers: one call is
then often the same as another, and eight megabytes become a fifth of one.
"""

import json
import lzma
import pathlib
import sys

PACKED = pathlib.Path(__file__).with_name("recordings.jsonl.xz")
LEFT_OUT = ("t", "pid", "tid")


def compact(line):
    call = {key: value for key, value in json.loads(line).items() if key not in LEFT_OUT}
    return "" if call.get("dll") == "exec" else json.dumps(call, separators=(",", ":")) + "\n"


def pack(paths):
    text = ""
    for path in sorted(map(pathlib.Path, paths)):
        text += json.dumps({"recording": path.stem}) + "\n"
        text += "".join(compact(line) for line in path.read_text().splitlines())
    PACKED.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def unpack(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.jsonl"):
        old.unlink()
    out = None
    for line in lzma.decompress(PACKED.read_bytes()).decode().splitlines(keepends=True):
        head = json.loads(line)
        if "recording" in head:
            if out:
                out.close()
            out = open(folder / (head["recording"] + ".jsonl"), "w", encoding="utf-8")
        else:
            out.write(line)
    out.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["pack"] and sys.argv[2:]:
        pack(sys.argv[2:])
    elif sys.argv[1:2] == ["unpack"] and len(sys.argv) == 3:
        unpack(pathlib.Path(sys.argv[2]))
    else:
        sys.exit(__doc__)
