#!/usr/bin/python3
"""Many joins at once against one API server that refuses what is too much (429, Retry-After).

Every node is a process of its own (`winjoin join --rootfs`): discovery, configuration, certificate,
files. All of them begin in the same moment. Says how long it took and what the server had to bear.

    tests/bench/load.py --nodes 500 --rate 200      the last line is `N passed, N failed, N skipped`
"""
import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import crowd

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WINJOIN = ROOT / "build/native/winjoin"
STILL = ROOT / "build/native/still.so"
TOKEN = "abcdef.0123456789abcdef"
# What needs Windows or the kubelet; what is left is everything that is said to the control plane.
SKIPPED = "artifacts,vswitch,containerd,kubelet,node,pod-network,flanneld,kube-proxy,ready,verify"
GATE = 'read -r go <&0; exec "$@" </dev/null'  # released by the end of the pipe, all in one moment
SPREAD = "10s"  # what a machine does by itself that was just switched on (join/found/need.h)
PATIENCE = 300  # seconds; a join that is not done by then has failed
SETTLED = 2
# Of a join, four of them for the network agents' DaemonSets (docs/benchmarks.md, "What is asked, and why"), one of them
# the watch of its certificate, one its Event; later ones take 20 s and more (kube/watch.c).
REQUESTS, WATCH = 10, 20
SERVED_MAX = 1000  # more than for so many nodes the tests' server does not serve on two processors
# TLS connections of a join, and how many more in 100 there may be above SERVED_MAX: a request whose time is up at a busy
# server has a new one.
CONNECTIONS, REPEATED = 3, 10


class Server:
    """The test API server as a process of its own."""

    def __init__(self, folder, *words):
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-B", str(ROOT / "tests/controlplane/run"), "--state", folder, "--print-join", *words],
            stdout=subprocess.PIPE, text=True)
        self.facts, self.before = json.loads(self.process.stdout.readline()), 0

    def ask(self, **message):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.facts["control"])
            s.sendall(json.dumps(message).encode() + b"\n")
            with s.makefile() as answers:
                return json.loads(answers.readline())

    def cpu(self):
        """Seconds of CPU until now."""
        fields = pathlib.Path("/proc/%d/stat" % self.process.pid).read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def begin(self):
        """Everything is counted from here."""
        self.ask(op="traffic", clear=True)
        self.before = self.cpu()

    def seen(self):
        return {**self.ask(op="traffic"), "serverCpuSeconds": self.cpu() - self.before}

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()


def command(facts, node, rootfs, spread):
    return [str(WINJOIN), "join", facts["endpoint"], "--token", TOKEN, "--discovery-token-ca-cert-hash",
            facts["caCertHash"], "--node-name", node, "--rootfs", str(rootfs), "--skip-phases", SKIPPED,
            "--progress", "none", "--start-spread", spread]


def start(facts, count, folder, still, spread):
    """The joins, waiting for the pipe that is returned to end."""
    gate, release = os.pipe()
    env = dict(os.environ, LD_PRELOAD=str(STILL)) if still else None
    joins = []
    for i in range(count):
        rootfs = pathlib.Path(folder, "node-%d" % i)
        rootfs.mkdir()
        with open(rootfs.with_suffix(".err"), "wb") as said:
            joins.append((rootfs, subprocess.Popen(
                ["/bin/sh", "-c", GATE, "gate", *command(facts, "node-%d" % i, rootfs, spread)], stdin=gate,
                stdout=subprocess.DEVNULL, stderr=said, env=env)))
    os.close(gate)
    return joins, release


def end(joins, begin):
    """(seconds, exit code, words) of each, in the order of their ends."""
    left, ends = {process.pid: (rootfs, process) for rootfs, process in joins}, []
    while left:
        pid, status = os.wait()
        if pid not in left:
            continue
        rootfs, process = left.pop(pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        ends.append((time.monotonic() - begin, process.returncode, rootfs))
        if time.monotonic() - begin > PATIENCE:
            for _, late in left.values():
                late.kill()
    return ends


def joined(rootfs, node):
    """Does this host hold a certificate of its own name?"""
    current = rootfs / "var/lib/kubelet/pki/kubelet-client-current.pem"
    if not current.exists():
        return False
    said = subprocess.run(["openssl", "x509", "-noout", "-subject", "-in", str(current)], capture_output=True,
                          text=True, check=False).stdout
    return "CN = system:node:" + node in said


def counted(count, failed, words, times, traffic):
    return {"nodes": count, "joined": count - failed, "failed": failed, "words": words[:3],
            "medianSeconds": times[len(times) // 2], "lastSeconds": times[-1], **traffic}


def play(count, rate, burst, backlog, still=False, spread=SPREAD):
    """One load; a dictionary of what was seen."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(os.path.join(folder, "server"), "--rate", str(rate), "--burst", str(burst),
                        "--backlog", str(backlog))
        try:
            joins, release = start(server.facts, count, folder, still, spread)
            time.sleep(0.5)
            server.begin()
            begin = time.monotonic()
            os.close(release)
            ends = end(joins, begin)
            traffic = server.seen()
        finally:
            server.stop()
        good = [joined(rootfs, rootfs.name) for _, code, rootfs in ends if code == 0]
        words = [rootfs.with_suffix(".err").read_text(errors="replace") for _, code, rootfs in ends if code]
    return counted(count, count - sum(good), words, [seconds for seconds, _, _ in ends], traffic)


def play_kubeadm(count, rate, burst, backlog):
    """The same load by models of kubeadm."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(os.path.join(folder, "server"), "--rate", str(rate), "--burst", str(burst),
                        "--backlog", str(backlog))
        try:
            ends = crowd.play(server.facts, count, server.begin, PATIENCE)
            traffic = server.seen()
        finally:
            server.stop()
    words = [why for _, why in ends if why]
    return counted(count, len(words), words, [seconds for seconds, _ in ends], traffic)


def again(seen):
    """The densest quarter second when the first ones are served: requests/s of those who come again."""
    first = next((i for i, n in enumerate(seen["slots"]) if n), 0)
    later = seen["slots"][first + round(SETTLED / seen["slotSeconds"]):]
    return round(max(later, default=0) / seen["slotSeconds"])


def describe(seen):
    return ("%(joined)d of %(nodes)d joined; median %(medianSeconds).1f s, last %(lastSeconds).1f s; "
            "%(requests)d requests (%(refusedRequests)d refused) over %(tlsConnections)d TLS connections; at most "
            "%(peakConnections)d connections and %(peakRequestsPerSecond)d requests/s, " % seen
            + "%d requests/s of those who came again" % again(seen))


def judge(seen, rate):
    """What is wrong with it: a list of words."""
    wrong = list(seen["words"])
    if seen["failed"]:
        wrong.append("%d of %d nodes did not join" % (seen["failed"], seen["nodes"]))
    if not seen["refusedRequests"]:
        wrong.append("nothing was refused: the burst did not matter")
    repeated = REPEATED if seen["nodes"] > SERVED_MAX else 0
    if max(seen["peakConnections"], seen["tlsConnections"]) > CONNECTIONS * (1 + repeated / 100) * seen["nodes"]:
        wrong.append("more than %d TLS connections a join, and %d in 100 repeated" % (CONNECTIONS, repeated))
    if seen["requests"] - seen["refusedRequests"] > (REQUESTS + seen["lastSeconds"] / WATCH) * seen["nodes"]:
        wrong.append("more than %d served requests a join, and one for each %d s of it" % (REQUESTS, WATCH))
    ideal = (seen["requests"] - seen["refusedRequests"]) / rate if rate else 0
    if seen["lastSeconds"] > 5 * ideal + 60:
        wrong.append("the last join ended after %.0f s; the limit alone makes it %.0f s" % (seen["lastSeconds"], ideal))
    return wrong


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--nodes", type=int, default=500)
    p.add_argument("--rate", type=float, default=200)
    p.add_argument("--burst", type=int, default=100)
    p.add_argument("--backlog", type=int, default=64)
    p.add_argument("--spread", default=SPREAD, metavar="DURATION", help="winjoin's --start-spread")
    p.add_argument("--kubeadm", action="store_true", help="models of kubeadm instead of winjoin")
    p.add_argument("--still", action="store_true", help="without the randomness in winjoin's pauses")
    o = p.parse_args()
    if not WINJOIN.exists():
        print("skipped: build/native/winjoin is not built\n0 passed, 0 failed, 1 skipped")
        return 0
    limits = (o.nodes, o.rate, o.burst, o.backlog)
    seen = play_kubeadm(*limits) if o.kubeadm else play(*limits, o.still, o.spread)
    print(describe(seen))
    print("requests a quarter second: " + " ".join(map(str, seen["slots"])))
    wrong = judge(seen, o.rate)
    print("\n".join(wrong) + ("\n" if wrong else "") + "%d passed, %d failed, 0 skipped" % (not wrong, bool(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
