"""For each fault of faults.py: diag on a joined node names its cause, and nothing once it is lifted.

    causes.py [--mode overlay|l2bridge] [FAULT...]

Run by tests/suites/causes.sh. One join a mode; the faults follow each other on that node.
"""
import argparse
import datetime
import sys
import time

import faults
import netns
import stage


NAMED = []  # (title, mode, cause, named first, confidence) of each fault that was made


def seen(s):
    """What diag says: exit code, causes, and the flows that fail."""
    code, report = s.document("diag")
    failed = ["%s/%s" % (f["id"], f["protocol"]) for f in report.get("flows", [])
              if f["outcome"] in ("fail", "slow")]
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
    if code != 5:
        return "exit code %d, failed flows %s: the fault was not seen" % (code, failed)
    if fault.cause and names[:1] != [fault.cause]:
        return "diag names %s, not %s first; failed: %s" % (causes, fault.cause, failed)
    return ""


def quiet(s):
    """Waits until no service of the node has been started within two minutes."""
    def age(service):
        since = datetime.datetime.strptime(service["since"], "%Y-%m-%dT%H:%M:%SZ")
        return (datetime.datetime.utcnow() - since).total_seconds()
    while True:
        services = s.document("status")[1]["services"]
        youngest = min([age(x) for x in services if x["state"] == "running" and "since" in x] or [999])
        if youngest > 121:
            return
        time.sleep(122 - youngest)


def one(s, name, fault):
    begin = time.monotonic()
    if fault.quiet:
        quiet(s)
    try:
        fault.apply(s)
        code, causes, failed = seen(s)
        wrong = complaint(fault, code, causes, failed)
    except RuntimeError as why:
        code, causes, failed, wrong = 1, [], [], "cannot be made: %s" % why
    NAMED.append((fault.title, s.mode, fault.cause, causes[0][0] if causes else "-",
                  causes[0][1] if causes else ""))
    fault.lift(s)
    after = well(s)
    if not wrong and after[0] != 0:
        wrong = "lifted, diag still ends with %d: %s %s" % after
    print("%-4s %-14s %-9s %d flows, %s  (%.0f s)%s" % (
        "FAIL" if wrong else "ok", name, fault.cause or "-", len(failed),
        ", ".join("%s %s" % c[:2] for c in causes) or "no cause",
        time.monotonic() - begin, "\n     " + wrong if wrong else ""), flush=True)
    return not wrong


def play(mode, names):
    results = []
    with stage.Stage(mode, outage_ms=500) as s:
        joined = s.join()
        if joined.returncode != 0:
            print("FAIL join in mode %s: exit code %d\n%s%s" % (
                mode, joined.returncode, joined.stdout, joined.stderr))
            return [False]
        for name, fault in faults.FAULTS.items():
            if mode in fault.modes and (not names or name in names):
                results.append(one(s, name, fault))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=faults.BOTH, action="append")
    parser.add_argument("faults", nargs="*")
    args = parser.parse_args()
    try:
        results = [r for mode in args.mode or faults.BOTH for r in play(mode, args.faults)]
    except netns.Missing as why:
        print("cannot make the machines: %s" % why)
        print("0 passed, 0 failed, 1 skipped")
        return 0
    print("| fault | mode | cause | named first |\n|---|---|---|---|")
    for row in NAMED:
        print("| %s | %s | %s | %s, %s |" % row)
    print("%d passed, %d failed, 0 skipped" % (results.count(True), results.count(False)))
    return 1 if False in results else 0


if __name__ == "__main__":
    sys.exit(main())
