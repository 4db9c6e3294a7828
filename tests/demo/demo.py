#!/usr/bin/env python3
"""The demo: winjoin.exe join, diag and reset on a played Windows Server, with real packets."""
import argparse
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rig"))
import faults  # noqa: E402
import netns  # noqa: E402
import snapshot  # noqa: E402
import stage  # noqa: E402


def say(text=""):
    print(text, flush=True)


def pass_on(pipe):
    while data := os.read(pipe, 65536):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def show(s, *words):
    """Runs winjoin.exe on the host and shows what it prints, as it comes; its exit code.

    By a pipe: Wine's console makes letters of the escape sequences that Windows' own takes, and knows no UTF-8."""
    line = " ".join(words)
    say("\nPS C:\\> winjoin " + line)
    reading, writing = os.pipe()
    proc = s.host.spawn([stage.PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=writing, stderr=writing)
    os.close(writing)
    passing = threading.Thread(target=pass_on, args=(reading,), daemon=True)
    passing.start()
    try:
        code = proc.wait(240)
        passing.join(2)  # Wine's own processes may hold the pipe open
        return code
    except subprocess.TimeoutExpired:
        proc.kill()
        raise RuntimeError("winjoin %s: no end after 240 s" % words[0]) from None


def show_nodes(s):
    say("\n$ kubectl get nodes")
    say("  %-12s %-9s %-16s %s" % ("NAME", "STATUS", "INTERNAL-IP", "OS"))
    for node in s.cluster.call("GET", "/api/v1/nodes")["items"]:
        ready = any(c["type"] == "Ready" and c["status"] == "True"
                    for c in node["status"].get("conditions", []))
        address = next((a["address"] for a in node["status"].get("addresses", [])
                        if a["type"] == "InternalIP"), "")
        say("  %-12s %-9s %-16s %s" % (node["metadata"]["name"], "Ready" if ready else "NotReady",
                                       address, node["status"].get("nodeInfo", {}).get("osImage")))


def compare(before, after):
    differences = snapshot.compare(before, after)
    say()
    if differences:
        say("the host is NOT as it was found:")
        say("\n".join("  " + line for line in differences))
        return 1
    say("the host before the join and after the reset: the same %s" % ", ".join(
        "%d %s" % (len(names), area) for area, names in before.items()))
    return 0


def apply(s, fault):
    say("\nfault made from outside: %s" % fault.title)
    fault.apply(s)


def play(s, fault):
    """Joins, looks, diagnoses, resets; every exit code is the expected one or the demo fails."""
    before, codes = s.snapshot(), []
    broken = 5 if fault else 0
    if fault and not fault.after_join:
        apply(s, fault)
    codes.append(("join", show(s, *s.join_words[1:]), 0 if fault and fault.after_join else broken))
    show_nodes(s)
    if fault and fault.after_join:
        apply(s, fault)
    codes.append(("diag", show(s, "diag"), broken))
    if fault:
        fault.lift(s)
    codes.append(("reset", show(s, "reset", "--force"), 0))
    result = compare(before, s.snapshot())
    for verb, code, wanted in codes:
        if code != wanted:
            say("winjoin %s ended with exit code %d, not %d" % (verb, code, wanted))
            result = 1
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=("overlay", "l2bridge"), default="overlay")
    parser.add_argument("--build", choices=("17763", "20348", "26100"), default="20348")
    parser.add_argument("--fault", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="the faults")
    args = parser.parse_args()
    if args.list:
        for name, fault in sorted(faults.FAULTS.items()):
            say("%-16s %-10s %s" % (name, fault.cause, fault.title))
        return 0
    if args.fault and args.fault not in faults.FAULTS:
        parser.error("unknown fault; --list names them")
    begin = time.monotonic()
    try:
        with stage.Stage(args.mode, args.build) as s:
            say("a cluster and a bare Windows host stand after %.1f s" % (time.monotonic() - begin))
            result = play(s, faults.FAULTS.get(args.fault))
    except netns.Missing as why:
        say("cannot make the machines of the demo: %s" % why)
        return 1
    say("\n%s after %.1f s" % ("done" if result == 0 else "FAILED", time.monotonic() - begin))
    return result


if __name__ == "__main__":
    sys.exit(main())
