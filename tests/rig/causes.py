"""For each fault of faults.py, and for those of written_down.py that are named: diag on a joined node
names its cause first, and nothing once the hint was followed; no cause where nothing is wrong. For
each pair of PAIRS both are named, or the wider and then, when it is gone, the other.

    causes.py [--mode overlay|l2bridge] [--times N] [--keep FOLDER] [FAULT|FAULT+FAULT...]

Run by tests/suites/causes.sh. One join a mode, both at the same time; the faults follow each other on
that node. What was named is printed as the table of docs/design/faults.md, and held to it. --times: each is
played so often. --keep: each report, for diag --replay.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import statistics
import sys
import time
from collections import namedtuple

import faults
import netns
import stage
import written_down
from fault import BOTH

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "design", "faults.md")
HEAD = "| injected | network mode | cause | named first |\n|---|---|---|---|\n"
FAULTS, PAIRS = {**faults.FAULTS, **written_down.FAULTS}, {**faults.PAIRS, **written_down.PAIRS}
keep = None  # a folder for reports
# A time-out of a probe and half a second: a diag whose flows take longer is listed.
AIM = 2.5
YOUNG = 60  # a service that was started within so many seconds: what fails is asked again for 20 s
times = []  # of each diag: (what was played, exit code, seconds from both probes up to the result, age of a service)
Seen = namedtuple("Seen", "code causes failed")


def rows():
    """Of the table in docs/design/faults.md: (title, mode) -> (cause, what is named first)."""
    with open(DOCUMENT, encoding="utf-8") as f:
        text = f.read().partition(HEAD)[2].partition("\n\n")[0]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines()]
    return {(title, mode): (cause, first) for title, modes, cause, first in cells
            for mode in (BOTH if modes == "both" else [modes])}


def table(played):
    """The lines of such rows: one where both modes have the same."""
    modes = {}
    for title, mode, cause, first in played:
        modes.setdefault((title, cause, first), set()).add(mode)
    return ["| %s | %s | %s | %s |" % (title, "both" if len(where) > 1 else min(where), cause, first)
            for (title, cause, first), where in modes.items()]


def seen(s, name, kept=True):
    """What diag says: exit code, causes, and the flows that fail."""
    for _ in range(3):
        code, report = s.document("diag", timeout=240)  # where no pod starts, two minutes
        flows = report.get("flows", [])
        if not any("did not answer" in f.get("reason", "") for f in flows):
            break  # else the machine was too busy for the probe
    if "measuredSeconds" in report:
        times.append((name, code, report["measuredSeconds"], youngest(report.get("evidence", {}).get("look", {}))))
    if keep and kept:
        with open(os.path.join(keep, "%s-%s.json" % (s.mode, name)), "w", encoding="utf-8") as f:
            json.dump(report, f)
    failed = ["%s/%s" % (f["id"], f["protocol"]) for f in flows if f["outcome"] in ("fail", "slow")]
    causes = [(c["id"], c["confidence"], c["message"]) for c in report.get("causes", [])]
    return Seen(code, causes, failed)


def well(s, name, seconds=40):
    """Waits until diag finds nothing wrong any more."""
    end = time.monotonic() + seconds
    while (last := seen(s, name, kept=False)).code != 0 and time.monotonic() < end:
        time.sleep(1)
    return last


def complaint(fault, code, causes, failed):
    """What is wrong with diag's answer to this fault; "" when nothing is."""
    names = [c[0] for c in causes]
    wrong = [c for c in causes if c[1] == "confirmed" and c[0] not in (fault.cause, *fault.also)]
    if not fault.cause:
        return "diag ends with %d: %s %s" % (code, causes, failed) if code or causes else ""
    if code != 5:
        return "exit code %d, failed flows %s: the fault was not seen" % (code, failed)
    if names[:1] != [fault.cause]:
        return "diag names %s, not %s first; failed: %s" % (causes, fault.cause, failed)
    return "wrongly confirmed: %s" % wrong if wrong else ""


def youngest(document):
    """The seconds since a service of the node was started last, from diag's first look or from status."""
    def at(text):
        return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    now = at(document["time"]) if "time" in document else datetime.datetime.utcnow()
    return min([(now - at(x["since"])).total_seconds() for x in document.get("services", [])
                if x["state"] == "running" and "since" in x] or [999])


def quiet(s):
    """Waits until no service of the node has been started within a minute."""
    while (age := youngest({"services": s.document("status")[1]["services"]})) <= YOUNG + 1:
        time.sleep(YOUNG + 2 - age)


def one(s, name, fault):
    """Plays a fault: (right, its row of the table)."""
    begin, code, causes, failed = time.monotonic(), 1, [], []
    if fault.quiet:
        quiet(s)
    try:
        fault.apply(s)
        code, causes, failed = seen(s, name)
        wrong = complaint(fault, code, causes, failed)
    except RuntimeError as why:
        wrong = "cannot be made: %s" % why
    first = ", ".join(causes[0][:1 if fault.chance else 2]) if causes else "-"
    after = lifted(s, name, fault)
    wrong = wrong or after
    tell(wrong, s.mode, name, fault.cause, failed, causes, begin)
    return not wrong, (fault.title, s.mode, fault.cause or "-", first)


def lifted(s, name, fault):
    """Follows the hint: what is wrong still, or ""."""
    try:
        fault.lift(s)
    except RuntimeError as why:
        return "cannot be lifted: %s" % why
    after = well(s, name)
    return "lifted, diag still ends with %d: %s %s" % after if after.code else ""


def pair(s, name):
    """Two faults at once: both are named, or one of them and, once that is gone, the other."""
    begin, two = time.monotonic(), [FAULTS[n] for n in name.split("+")]
    for fault in two:
        fault.apply(s)
    _, causes, failed = seen(s, name)
    names = [c[0] for c in causes]
    wrong = [c[:2] for c in causes if c[1] == "confirmed" and c[0] not in [f.cause for f in two]]
    first = next((f for f in two if names[:1] == [f.cause]), two[0])
    other = two[1 - two.index(first)]
    how = "both are named" if other.cause in names else "then the other"
    first.lift(s)
    then = seen(s, name + "-then")
    if names[:1] != [first.cause] or not then.causes or then.causes[0][0] != other.cause:
        wrong = wrong or "first %s, then %s" % (causes, then.causes)
    after = lifted(s, name, other)
    wrong = wrong or after
    tell(wrong, s.mode, name, first.cause, failed, causes, begin)
    return not wrong, ("%s; %s" % (two[0].title, two[1].title), s.mode,
                       "%s, %s" % (two[0].cause, two[1].cause), "%s, %s" % (names[0] if names else "-", how))


def tell(wrong, mode, name, cause, failed, causes, begin):
    print("%-4s %-8s %-16s %-12s %d flows, %s  (%.0f s)%s" % (
        "FAIL" if wrong else "ok", mode, name, cause or "-", len(failed),
        ", ".join("%s %s" % c[:2] for c in causes) or "no cause",
        time.monotonic() - begin, "\n     %s" % wrong if wrong else ""), flush=True)


def play(mode, names, again=1):
    """What came of each fault and pair of this mode, each so many times, and how long diag took."""
    results = []
    with stage.Stage(mode, outage_ms=500) as s:
        joined = s.join()
        if joined.returncode != 0:
            print("FAIL join in mode %s: exit code %d\n%s%s" % (
                mode, joined.returncode, joined.stdout, joined.stderr))
            return [(False, None)], []
        for name, fault in FAULTS.items():
            if mode in fault.modes and (name in names if names else name in faults.FAULTS):
                results += [one(s, name, fault) for _ in range(again)]
        for name, modes in PAIRS.items():
            if mode in modes and name in (names or faults.PAIRS):
                results += [pair(s, name) for _ in range(again)]
    return results, times


def documented(results):
    """Prints the table, and what of it docs/design/faults.md has otherwise; the number of such rows."""
    known, others = rows(), 0
    listed = {f.title for f in faults.FAULTS.values()}
    print(HEAD + "\n".join(table(row for _, row in results)))
    for _, row in results:
        if known and (row[0] in listed or row[:2] in known) and known.get(row[:2]) != row[2:]:
            print("docs/design/faults.md has another row of '%s', %s: %s" % (*row[:2], known.get(row[:2])))
            others += 1
    return others


def timed():
    """Prints how long the flows took, and which took longer than they should."""
    for what, group in (("green", [t for t in times if t[1] == 0]),
                        ("red", [t for t in times if t[1] and t[3] >= YOUNG]),
                        ("red, a service was started within a minute", [t for t in times if t[1] and t[3] < YOUNG])):
        if group:
            seconds = sorted(t[2] for t in group)
            print("%s: %d times, %.2f s at the median, %.2f s at most" % (
                what, len(group), statistics.median(seconds), seconds[-1]))
    for name, code, seconds, age in sorted(times, key=lambda t: -t[2]):
        if seconds > AIM:
            print("longer than %.1f s: %.2f s, %s (exit code %d%s)" % (
                AIM, seconds, name, code, ", a service was started %d s before" % age if age < YOUNG else ""))


def main():
    global keep
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=BOTH, action="append")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("faults", nargs="*")
    args = parser.parse_args()
    keep = args.keep
    try:
        modes = args.mode or BOTH
        with concurrent.futures.ProcessPoolExecutor(len(modes)) as pool:  # they wait for time-outs, mostly
            played = [p.result() for p in [pool.submit(play, m, args.faults, args.times) for m in modes]]
        results = [r for of_mode, _ in played for r in of_mode]
        times[:] = [t for _, of_mode in played for t in of_mode]
    except netns.Missing as why:
        print("cannot make the machines: %s" % why)
        print("0 passed, 0 failed, 1 skipped")
        return 0
    played = [r for r in results if r[1]]
    others = documented(played)
    timed()
    single = [r for r in played if ";" not in r[1][0]]
    right = sum(r[1][3].split(",")[0] == r[1][2] for r in single)
    print("%d of %d faults named first" % (right, len(single)))
    passed = [r[0] for r in results].count(True)
    failed = len(results) - passed + (1 if others else 0)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
