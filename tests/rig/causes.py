"""For each fault of faults.py: diag on a joined node names its cause first, and nothing once the hint
was followed. For each pair of PAIRS both are named, or the wider and then, when it is gone, the other.

    causes.py [--mode overlay|l2bridge] [--keep FOLDER] [FAULT|FAULT+FAULT...]

Run by tests/suites/causes.sh. One join a mode; the faults follow each other on that node. What was named
is printed as the table of docs/diag.md, and held to it. --keep: each report, for diag --replay.
"""
import argparse
import datetime
import json
import os
import sys
import time

import faults
import netns
import stage

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "diag.md")
HEAD = "| injected | network mode | cause | named first |\n|---|---|---|---|\n"
keep = None  # a folder for reports


def rows():
    """Of the table in docs/diag.md: (title, mode) -> (cause, what is named first)."""
    with open(DOCUMENT, encoding="utf-8") as f:
        text = f.read().partition(HEAD)[2].partition("\n\n")[0]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines()]
    return {(title, mode): (cause, first) for title, mode, cause, first in cells}


def row_text(title, mode, cause, first):
    return "| %s | %s | %s | %s |" % (title, mode, cause, first)


def seen(s, name=None):
    """What diag says: exit code, causes, and the flows that fail."""
    for _ in range(3):
        code, report = s.document("diag", timeout=240)  # where no pod starts, two minutes
        flows = report.get("flows", [])
        if not any("did not answer" in f.get("reason", "") for f in flows):
            break  # else the machine was too busy for the probe
    if keep and name:
        with open(os.path.join(keep, "%s-%s.json" % (s.mode, name)), "w", encoding="utf-8") as f:
            json.dump(report, f)
    failed = ["%s/%s" % (f["id"], f["protocol"]) for f in flows if f["outcome"] in ("fail", "slow")]
    causes = [(c["id"], c["confidence"], c["message"]) for c in report.get("causes", [])]
    return code, causes, failed


def well(s, seconds=40):
    """Waits until diag finds nothing wrong any more."""
    end = time.monotonic() + seconds
    while (last := seen(s))[0] != 0 and time.monotonic() < end:
        time.sleep(1)
    return last


def complaint(fault, code, causes, failed):
    """What is wrong with diag's answer to this fault; "" when nothing is."""
    names = [c[0] for c in causes]
    wrong = [c for c in causes if c[1] == "confirmed" and c[0] not in (fault.cause, *fault.also)]
    if code != 5:
        return "exit code %d, failed flows %s: the fault was not seen" % (code, failed)
    if names[:1] != [fault.cause]:
        return "diag names %s, not %s first; failed: %s" % (causes, fault.cause, failed)
    return "wrongly confirmed: %s" % wrong if wrong else ""


def quiet(s):
    """Waits until no service of the node has been started within a minute."""
    def age(service):
        since = datetime.datetime.strptime(service["since"], "%Y-%m-%dT%H:%M:%SZ")
        return (datetime.datetime.utcnow() - since).total_seconds()
    while True:
        services = s.document("status")[1]["services"]
        youngest = min([age(x) for x in services if x["state"] == "running" and "since" in x] or [999])
        if youngest > 61:
            return
        time.sleep(62 - youngest)


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
    first = "%s, %s" % causes[0][:2] if causes else "-"
    fault.lift(s)
    after = well(s)
    if not wrong and after[0] != 0:
        wrong = "lifted, diag still ends with %d: %s %s" % after
    tell(wrong, name, fault.cause, failed, causes, begin)
    return not wrong, (fault.title, s.mode, fault.cause, first)


def pair(s, name):
    """Two faults at once: both are named, or one of them and, once that is gone, the other."""
    begin, two = time.monotonic(), [faults.FAULTS[n] for n in name.split("+")]
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
    if names[:1] != [first.cause] or then[1][:1] == [] or then[1][0][0] != other.cause:
        wrong = wrong or "first %s, then %s" % (causes, then[1])
    other.lift(s)
    after = well(s)
    if not wrong and after[0] != 0:
        wrong = "lifted, diag still ends with %d: %s %s" % after
    tell(wrong, name, first.cause, failed, causes, begin)
    return not wrong, ("%s; %s" % (two[0].title, two[1].title), s.mode,
                       "%s, %s" % (two[0].cause, two[1].cause), "%s, %s" % (names[0] if names else "-", how))


def tell(wrong, name, cause, failed, causes, begin):
    print("%-4s %-14s %-9s %d flows, %s  (%.0f s)%s" % (
        "FAIL" if wrong else "ok", name, cause or "-", len(failed),
        ", ".join("%s %s" % c[:2] for c in causes) or "no cause",
        time.monotonic() - begin, "\n     %s" % wrong if wrong else ""), flush=True)


def play(mode, names):
    """What came of each fault and pair of this mode."""
    results = []
    with stage.Stage(mode, outage_ms=500) as s:
        joined = s.join()
        if joined.returncode != 0:
            print("FAIL join in mode %s: exit code %d\n%s%s" % (
                mode, joined.returncode, joined.stdout, joined.stderr))
            return [(False, None)]
        for name, fault in faults.FAULTS.items():
            if mode in fault.modes and (not names or name in names):
                results.append(one(s, name, fault))
        for name, modes in faults.PAIRS.items():
            if mode in modes and (not names or name in names):
                results.append(pair(s, name))
    return results


def documented(results):
    """Prints the table, and what of it docs/diag.md has otherwise; the number of such rows."""
    known, others = rows(), 0
    print(HEAD, end="")
    for _, row in results:
        print(row_text(*row))
    for _, row in results:
        if known and known.get(row[:2]) != row[2:]:
            print("docs/diag.md has another row of '%s', %s: %s" % (*row[:2], known.get(row[:2])))
            others += 1
    return others


def main():
    global keep
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=faults.BOTH, action="append")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("faults", nargs="*")
    args = parser.parse_args()
    keep = args.keep
    try:
        results = [r for mode in args.mode or faults.BOTH for r in play(mode, args.faults)]
    except netns.Missing as why:
        print("cannot make the machines: %s" % why)
        print("0 passed, 0 failed, 1 skipped")
        return 0
    played = [r for r in results if r[1]]
    others = documented(played)
    single = [r for r in played if ";" not in r[1][0]]
    right = sum(r[1][3].split(",")[0] == r[1][2] for r in single)
    print("%d of %d faults named first" % (right, len(single)))
    passed = [r[0] for r in results].count(True)
    failed = len(results) - passed + (1 if others else 0)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
