#!/usr/bin/env python3
"""Takes out of the tree's corpora what reaches no line and no branch of the product that no other seed reaches, of
whichever target: thin.py PROGRAM... (built for coverage). Seeds with a name that says something stay; what goes is put
into the cache, where `make fuzz` finds it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

OBJECTS = pathlib.Path("build/coverage")
CORPORA = pathlib.Path("tests/fuzz/corpus")
CACHE = pathlib.Path(os.environ.get("WINJOIN_CACHE") or pathlib.Path.home() / ".cache/winjoin") / "corpora"


def reached(program, seed):
    """{(file, line)} and {(file, line, branch)} of one seed."""
    for old in OBJECTS.rglob("*.gcda"):
        old.unlink()
    subprocess.run([program, seed], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    counts = [str(p) for p in OBJECTS.rglob("*.gcda") if p.relative_to(OBJECTS).parts[0] not in ("tests", "gen")]
    said = subprocess.run(["gcov", "-b", "-j", "-t", *counts], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout
    found = set()
    for row in (row for line in said.splitlines() if line for row in json.loads(line)["files"]):
        for line in row["lines"] if not row["file"].startswith("/") else []:
            place = (row["file"], line["line_number"])
            found.update([place] if line["count"] else [])
            found.update((*place, n) for n, branch in enumerate(line["branches"]) if branch["count"])
    return found


def main():
    seeds, have = {}, set()
    for program in sys.argv[1:]:
        for seed in sorted(CORPORA.joinpath(pathlib.Path(program).name.removeprefix("fuzz_")).glob("*")):
            seeds[seed] = reached(program, seed)
            if not re.fullmatch("[0-9a-f]{40}", seed.name):
                have |= seeds.pop(seed)
    # The seed that adds most stays first, as long as one adds something.
    while seeds:
        best = max(sorted(seeds), key=lambda seed: len(seeds[seed] - have))
        if seeds[best] <= have:
            break
        have |= seeds.pop(best)
    for seed in seeds:
        CACHE.joinpath(seed.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.move(seed, CACHE / seed.parent.name / seed.name)
    print("THIN   %d seeds of %d stay" % (sum(1 for _ in CORPORA.glob("*/*")), sum(1 for _ in CORPORA.glob("*/*")) + len(seeds)))


if __name__ == "__main__":
    main()
