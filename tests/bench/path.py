"""The critical path of a whole join with packets: what each phase waits for, and what bounds it."""
import json
import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(os.path.dirname(HERE), "rig")]
import figures  # noqa: E402
import stage  # noqa: E402

# What bounds each phase, from its first moment to its last. The start of a service is part of it.
BOUNDS = {"discovery": "API round trips", "configuration": "API round trips", "certificate": "API round trips",
          "artifacts": "download line, or the disk", "vswitch": "HNS' outage", "containerd": "service start",
          "kubelet": "service start", "node": "the kubelet's Node", "pod-network": "HNS",
          "flanneld": "service start, its routes", "kube-proxy": "service start, its first Service",
          "ready": "the kubelet's word"}
# Of verify by the words with which it says what it waits for.
PROOF = (("to start", "probe pods"), ("starting", "probe pods"), ("measur", "questions, the pods' end"))
VERSION = "v1.37.1"  # of the stand-ins and of the played cluster
OWN = 1.5


def cpu_of(session):
    """Seconds of CPU that winjoin.exe has used, of the processes of that session."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as f:
                name, words = f.read().rpartition(")")[::2]
        except OSError:
            continue  # it has ended meanwhile
        words = words.split()
        if int(words[3]) == session and name.endswith("(winjoin.exe"):
            return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return None


def listen(process, heard):
    for line in process.stderr:
        heard.append((time.monotonic(), cpu_of(process.pid), line))


def prepare(s):
    """What a fleet bakes into its image: all that needs no cluster."""
    done = s.winjoin("prepare", "--bundle", stage.BUNDLE, "--network-mode", s.mode, "--network-plugin", "flannel",
                     "--kubernetes-version", VERSION,
                     "--ignore-preflight-errors", s.ignored, timeout=300)
    if done.returncode:
        raise RuntimeError("prepare: " + done.stderr)


def join_once(mode, prepared=False):
    """[(moment, event)] of a join, as --progress json tells it, and its report."""
    heard = []
    with stage.Stage(mode) as s:
        if prepared:
            prepare(s)
        begin = time.monotonic()
        process = s.host.spawn([*s.join_words, "-o", "json", "--output-file", r"C:\report.json", "--progress", "json"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # a thread: Wine's own processes keep the pipe open
        threading.Thread(target=listen, args=(process, heard), daemon=True).start()
        if process.wait(300):
            raise RuntimeError("the join failed: " + "".join(line for *_, line in heard[-5:]))
        end = time.monotonic()
    events = [(moment - begin, cpu, json.loads(line)) for moment, cpu, line in heard if line.startswith("{")]
    return [e for e in events if e[2].get("phase")], end - begin


def segments(events):
    """[(phase, what it waited for or None, seconds, seconds of CPU)]: from each word of a phase to the next."""
    made, last, waiting = [], None, None
    for moment, cpu, event in events:
        if event["state"] != "started":
            made.append((event["phase"], waiting, moment - last[0], (cpu or 0) - (last[1] or 0) if cpu else 0))
        waiting = event["message"] if event["state"] == "waiting" else None
        last = (moment, cpu)
    return made


def bound_of(phase, waiting):
    """None: nothing but winjoin."""
    if phase == "verify":
        return next((bound for word, bound in PROOF if word in (waiting or "")), None)
    return BOUNDS.get(phase)


def rows_of(parts):
    """[(phase, seconds, {what bounds it: seconds}, own seconds, seconds of CPU)] in the order of the phases."""
    phases = {}
    for phase, waiting, seconds, cpu in parts:
        row, used = phases.setdefault(phase, ({}, []))
        bound = bound_of(phase, waiting)
        row[bound] = row.get(bound, 0) + seconds
        used.append(cpu)
    return [(phase, sum(row.values()), {b: s for b, s in row.items() if b}, row.get(None, 0), sum(used))
            for phase, (row, used) in phases.items()]


def play(rounds, prepared, mode="overlay"):
    """The rows of the quickest of several joins, and its wall time."""
    events, wall = min((join_once(mode, prepared) for _ in range(rounds)), key=lambda found: found[1])
    return rows_of(segments(events)), wall


def figures_of(title, rows, wall):
    own, cpu = sum(row[3] for row in rows), sum(row[4] for row in rows)
    return [figures.row(title + ": wall", "s", [wall], []),
            figures.row(title + ": above its bounds", "s", [own], [], ("at most", OWN)),
            figures.row(title + ": winjoin's CPU", "s", [cpu], [])]


def table(rows):
    lines = ["| phase | wall | bound by | above | winjoin's CPU |", "|---|---|---|---|---|"]
    for phase, seconds, bounds, own, cpu in rows:
        lines.append("| %s | %s | %s | %s | %s |" % (
            phase, figures.shown(seconds, "s"),
            "; ".join("%s %s" % (bound, figures.shown(s, "s")) for bound, s in bounds.items()),
            figures.shown(own, "s") if own else "", figures.shown(cpu, "s")))
    return "\n".join(lines)
