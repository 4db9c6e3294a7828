#!/usr/bin/env python3
"""Breaks single lines of the product and names the breaks that no test sees: run.py [FOLDER...]

    --count N      breaks that are judged, evenly over the folders (60)
    --seed TEXT    another seed, other breaks
    --jobs N       at a time (one a core)
    --keep FOLDER  where the copy of the tree is kept for the next call (else a temporary one, removed)

A break is a negated condition, < for <=, && for ||, a dropped call, a constant by one, success for failure,
true for false (breaks.py). One that does not compile, or makes the same optimized code, is not counted. The
judges are the unit tests and the fuzz targets' corpora, under the sanitizers: those that enter the broken
function, the quickest first. Tests run in namespaces of their own, on a file system that they cannot write to.
"""
import argparse
import collections
import concurrent.futures
import difflib
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import time

import breaks

ROOT = breaks.ROOT
LIBRARY = "build/mutants/libwinjoin.so"


class Worker:
    """A process that judges, alone with a read-only file system, a /tmp and a network of its own."""

    def __init__(self, tree, number, isolated):
        here = tree.parent / ("worker-%d" % number)
        (here / "tmp").mkdir(parents=True, exist_ok=True)
        words = [sys.executable, "-B", str(tree / "tests/mutants/worker.py"), str(here), str(tree / "build/mutants/words")]
        if isolated:
            # /dev is a file system of its own: a broken rename would put a file in the place of /dev/full.
            steps = ["ip link set lo up", "mount --bind {top} {top}", "mount -o remount,bind,ro /",
                     "mount --rbind /dev /dev", "mount -o remount,bind,ro /dev", "mount --bind {here}/tmp /tmp",
                     'exec "$@"']
            words = [*isolated, "sh", "-c", " && ".join(steps).format(top=tree.parent, here=here), "sh", *words]
        self.process = subprocess.Popen(words, cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, row):
        self.process.stdin.write(json.dumps(row) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("a worker ended")
        return json.loads(answer)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def isolation():
    """What makes namespaces here; nothing where that is forbidden."""
    words = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    words += [] if os.geteuid() == 0 else ["--map-root-user"]
    if subprocess.run([*words, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return words
    print("no namespaces on this machine: broken programs run among your files")
    return []


def copy_tree(tree):
    """The files of the checkout as they stand, changed ones too."""
    tree.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True,
                           stdout=subprocess.PIPE, check=True).stdout.split("\0")
    names = {name for name in names if name and (ROOT / name).is_file()}
    for old in [p for p in tree.rglob("*") if p.is_file() and p.relative_to(tree).parts[0] != "build"]:
        if old.relative_to(tree).as_posix() not in names:
            old.unlink()
    for name in names:
        new = tree / name
        if not new.exists() or new.read_bytes() != (ROOT / name).read_bytes():
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, new)


def build(tree):
    # The whole make, not a part of one that may be running: its variables are not for this tree.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    subprocess.run(["make", "-s", "mutants-built"], cwd=tree, env=environment, stdout=subprocess.DEVNULL, check=True)
    words = subprocess.run(["make", "-s", "mutants-words"], cwd=tree, env=environment, stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    (tree / "build/mutants/words").write_text(words, encoding="utf-8")
    return dict(line.split(" ", 1) for line in words.splitlines())


def all_tests(tree):
    for path in sorted((tree / "tests").glob("*/**/test_*.c")):
        yield {"name": path.stem, "words": ["build/mutants/tests/" + path.stem]}
    for path in sorted((tree / "tests/fuzz").glob("fuzz_*.c")):
        seeds = (tree / "tests/fuzz/corpus" / path.stem.removeprefix("fuzz_")).glob("*")
        yield {"name": path.stem, "words": ["build/mutants/fuzz/" + path.stem, *sorted(map(str, seeds))]}


def names_of(tree, offsets, sources):
    """offset -> (file, function), by the library's line table."""
    offsets = sorted(offsets)
    said = subprocess.run(["addr2line", "-f", "-e", LIBRARY], cwd=tree, input="\n".join(offsets), text=True,
                          stdout=subprocess.PIPE, check=True).stdout.splitlines()
    found = {}
    for offset, function, place in zip(offsets, said[::2], said[1::2]):
        path = place.rsplit(":", 1)[0]
        # Objects may come from another checkout's cache: the end of the path counts.
        parts = pathlib.PurePath(path).parts
        name = next((n for n in ("/".join(parts[i:]) for i in range(len(parts))) if n in sources), path)
        found[offset] = (name, function.split(".")[0])
    return found


def measured(tree, pool, tests):
    """The tests that pass on the unbroken library, the quickest first, each with the functions it enters."""
    good = []
    for test, answer in zip(tests, pool.map(tests)):
        if answer["code"] == 0:
            good.append({**test, **answer})
        else:
            print("left out, it fails without a break: %s\n%s" % (test["name"], answer["said"]))
    sources = {p.relative_to(tree).as_posix() for p in tree.rglob("*.c")}
    names = names_of(tree, {offset for test in good for offset in test["entered"]}, sources)
    for test in good:
        test["entered"] = {names[offset] for offset in test["entered"]}
    return sorted(good, key=lambda test: test["cpu"] + test["seconds"])


def tests_for(broken, tests):
    """Those that enter the function, the one with the file's name first. Of a table, and of a function that only
    a forked child runs, which leaves no trace: those that enter the file."""
    entering = [t for t in tests if (broken.file, broken.function) in t["entered"]]
    if not entering:
        entering = [t for t in tests if any(file == broken.file for file, _ in t["entered"])]
    if not entering and not broken.function:
        entering = tests
    stem = pathlib.PurePath(broken.file).stem
    return sorted(entering, key=lambda t: (stem not in t["name"] or t["seconds"] > 2))


class Pool:
    """Workers, each with a thread that waits for it."""

    def __init__(self, tree, jobs):
        isolated = isolation()
        self.free = queue.Queue()
        self.workers = [Worker(tree, number, isolated) for number in range(jobs)]
        for worker in self.workers:
            self.free.put(worker)
        self.threads = concurrent.futures.ThreadPoolExecutor(jobs)

    def ask(self, row):
        worker = self.free.get()
        try:
            return worker.ask(row)
        finally:
            self.free.put(worker)

    def map(self, rows):
        return self.threads.map(self.ask, rows)

    def end(self):
        self.threads.shutdown(cancel_futures=True)
        for worker in self.workers:
            worker.end()


def show(broken, tests):
    entered = "%d tests enter %s()" % (len(tests), broken.function) if broken.function else "in a table"
    print("\n%s:%d: %s; %s" % (broken.file, broken.line, broken.kind, entered))
    for line in difflib.ndiff([broken.old], [broken.new]):
        if not line.startswith("?"):
            print("  " + line)
    sys.stdout.flush()


class Folder:
    """Breaks of one folder: those to come, and how those that were judged ended."""

    def __init__(self, tree, name, seed, wanted):
        self.rows, self.wanted, self.running = breaks.endless(tree, name, seed), wanted, 0
        self.counts = collections.Counter()

    def next(self):
        """The next break, or None when there are none or enough are judged or on their way."""
        if self.counts["caught"] + self.counts["survived"] + self.running >= self.wanted:
            return None
        self.running += 1
        broken = next(self.rows, None)
        if broken is None:
            self.wanted = 0
            self.running -= 1
        return broken

    def ended(self, broken, chosen, answer):
        self.running -= 1
        self.counts[answer["outcome"]] += 1
        if answer["outcome"] == "survived":
            show(broken, chosen)
        elif os.environ.get("SHOW"):
            print(answer["outcome"], answer.get("by", ""), "%s:%d" % broken[:2], broken.new.strip(), flush=True)


def judge_all(folders, pool, tests):
    def judge(broken):
        chosen = tests_for(broken, tests)
        lean = [{key: test[key] for key in ("name", "words", "cpu", "seconds")} for test in chosen]
        return broken, chosen, pool.ask({**broken._asdict(), "tests": lean})
    running = {}
    while True:
        for folder in sorted(folders, key=lambda f: f.running):
            broken = folder.next() if len(running) < len(pool.workers) else None
            if broken:
                running[pool.threads.submit(judge, broken)] = folder
        if not running:
            return
        done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            running.pop(future).ended(*future.result())


def print_counts(judged):
    """How many breaks of each folder were caught, as far as they were judged."""
    print("\n%-22s %6s %6s" % ("folder", "caught", "of"))
    counts = {name: folder.counts for name, folder in judged.items()}
    for folder, some in [*counts.items(), ("all", sum(counts.values(), collections.Counter()))]:
        of = some["caught"] + some["survived"]
        print("%-22s %6d %6d   %3d %%   (not counted: %d equivalent, %d not C)" % (
            folder, some["caught"], of, 100 * some["caught"] // max(of, 1), some["equivalent"], some["invalid"]))


def play(options, tree):
    start = time.monotonic()
    words = build(tree)
    folders = options.folders or [f for f in words["folders"].split() if list((tree / f).glob("*.c"))]
    pool, judged = Pool(tree, options.jobs), {}
    try:
        tests = measured(tree, pool, list(all_tests(tree)))
        print("%d tests, measured after %d s; %d breaks in %d folders" % (len(tests), time.monotonic() - start,
                                                                        options.count, len(folders)), flush=True)
        for number, name in enumerate(folders):
            wanted = options.count // len(folders) + (number < options.count % len(folders))
            judged[name] = Folder(tree, name, options.seed, wanted)
        judge_all(list(judged.values()), pool, tests)
    finally:  # also when it is interrupted
        print_counts(judged)
        pool.end()
    print("%d s" % (time.monotonic() - start))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    # Not below /tmp, which each worker has for itself.
    top = options.keep.resolve() if options.keep else pathlib.Path(tempfile.mkdtemp(prefix="winjoin-mutants-", dir="/var/tmp"))
    try:
        copy_tree(top / "tree")
        play(options, top / "tree")
    finally:
        if not options.keep:
            shutil.rmtree(top)
    return 0


if __name__ == "__main__":
    sys.exit(main())
