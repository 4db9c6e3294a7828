"""Judges breaks, one at a time: worker.py, started by run.py in a copy of the tree, in namespaces of its own.

One JSON document a line on standard input, one answer a line: {"test": NAME, ...} plays one test on the
library as it is and answers how long it took and which functions it entered; {"break": ...} compiles the
broken line, links the library and plays the tests until one fails.
"""
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import time

TREE = pathlib.Path.cwd()
HERE = pathlib.Path(sys.argv[1])  # this worker's own folder: library, temporary files
WORDS = dict(line.split(" ", 1) for line in pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines())
LIBRARY = TREE / "build/mutants/libwinjoin.so"
ENVIRONMENT = {
    **os.environ, "HOME": str(HERE), "TMPDIR": "/tmp", "CMOCKA_MESSAGE_OUTPUT": "TAP", "TESTS_PART": "part",
    "ASAN_OPTIONS": "detect_leaks=1:hard_rss_limit_mb=2000:symbolize=0", "UBSAN_OPTIONS": "symbolize=0",
}


def limits(seconds):
    def set_them():
        # Processor time, not time: a machine that is busy is not a reason to call a break found.
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return set_them


def play(words, library, cpu, wall, trace=None):
    """The exit code (None: no end) and what was said."""
    environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": str(library), **({"WINJOIN_TRACE": str(trace)} if trace else {})}
    log = HERE / "log"
    with open(log, "wb") as out:
        process = subprocess.Popen(words, cwd=TREE, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                   start_new_session=True, preexec_fn=limits(cpu))
        try:
            code = process.wait(wall)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    return code, log.read_text(errors="replace")


def measure(row):
    """One test on the library as it is: its time, and the functions that it enters."""
    trace = HERE / "trace"
    trace.unlink(missing_ok=True)
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    code, said = play(row["words"], LIBRARY.parent, 600, 1200, trace)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"code": code, "said": said[-2000:] if code else "", "seconds": time.monotonic() - start,
            "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "entered": sorted(set(trace.read_text().split())) if trace.exists() else []}


def compiled(source, text, flags, out):
    """The text in the place of a source file; through standard input, so that its name is in no object."""
    words = [*shlex.split(WORDS["compile"]), *flags, "-iquote", str(pathlib.Path(source).parent), "-x", "c", "-", "-o", str(out)]
    return subprocess.run(words, input=text, cwd=TREE, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def optimized(source, text):
    """What the compiler makes of a text as it is shipped; None when it does not compile."""
    out = HERE / "optimized.s"
    plain = ["-fno-sanitize=all", "-fno-instrument-functions", "-g0", "-O2", "-S"]
    if not compiled(source, text, plain, out):
        return None
    return re.sub(r"^\t\.(?:file|loc|ident).*\n", "", out.read_text(), flags=re.M)


def judge(row):
    source = row["file"]
    text = (TREE / source).read_text(encoding="utf-8")
    lines = text.split("\n")
    lines[row["line"] - 1] = row["new"]
    broken = "\n".join(lines)
    code = optimized(source, broken)
    if code is None:
        return {"outcome": "invalid"}
    if code == optimized(source, text):
        return {"outcome": "equivalent"}
    folder = HERE / "library"
    folder.mkdir(exist_ok=True)
    if not compiled(source, broken, ["-g0", "-c"], folder / "broken.o"):
        return {"outcome": "invalid"}
    objects = [str(folder / "broken.o") if name == "build/mutants/%s.o" % source[:-2] else name for name in WORDS["objects"].split()]
    subprocess.run([*shlex.split(WORDS["link"]), *objects, *WORDS["libraries"].split(), "-o", str(folder / "libwinjoin.so")],
                   cwd=TREE, check=True)
    for test in row["tests"]:
        code, _ = play(test["words"], folder, 10 + 10 * test["cpu"], 60 + 10 * test["seconds"])
        if code != 0:
            return {"outcome": "caught", "by": test["name"]}
    return {"outcome": "survived"}


def main():
    for line in sys.stdin:
        row = json.loads(line)
        print(json.dumps(measure(row) if "words" in row else judge(row)), flush=True)


if __name__ == "__main__":
    main()
