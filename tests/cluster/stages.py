"""The stages on which scenarios play; each is a context manager that e2e.py opens and closes."""
import os
import re
import shutil
import subprocess
import tempfile

import control_plane
import fabric as fabrics
import netns
from scenario import Skip, expect

ROOT = os.path.dirname(control_plane.TESTS)
WINJOIN = os.path.join(ROOT, "build", "native", "winjoin")
SECRET = "s3cr3t7q9z2w5x8v"  # in no program by chance
TOKEN = "abcdef." + SECRET
CLIENT = "10.0.0.41"
NAME, OTHER_NAME = "cluster.test", "other.test"
DEAD = "10.0.0.40"  # nobody is there; nearer to the client than cp, so it is tried first


class Done:
    """A finished program: its exit code and everything it said."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err, self.said = code, out, err, out + err


class Stage:
    """The real control plane and a machine `client` beside it, on which winjoin for Linux runs."""

    def __init__(self, folder, mode="overlay", **cluster):
        self.folder, self.mode, self.keywords = folder, mode, cluster
        self.fabric = fabrics.Fabric(mode)
        self.cluster = self.scratch = None
        self.running = []

    def __enter__(self):
        if not os.path.exists(WINJOIN):
            raise Skip("'%s' is not built" % WINJOIN)
        os.makedirs(self.folder, exist_ok=True)
        self.fabric.__enter__()
        try:
            self.cluster = control_plane.ControlPlane(
                self.fabric, self.folder, **{"token": TOKEN, "names": [NAME], **self.keywords})
            self.cluster.__enter__()
            self.client = self.fabric.host("client", CLIENT)
            self.hosts([(fabrics.CP, NAME), (fabrics.CP, OTHER_NAME)])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.cluster:
            self.cluster.__exit__()
        self.fabric.close()

    def describe(self):
        return "control plane %s up in %.1f s; manually: %s get nodes -o wide" % (
            self.cluster.version, self.cluster.seconds["up"], self.cluster.by_hand())

    def hosts(self, rows):
        """What names mean on the client: [(address, name)], in the order they are tried."""
        netns.resolv(self.client, [fabrics.EXTERNAL_DNS], hosts=rows)

    # ---- around each scenario ------------------------------------------------------------

    def begin(self):
        self.scratch = tempfile.mkdtemp(prefix="scenario-", dir=self.fabric.folder)
        self.audit_from = os.path.getsize(self.cluster.audit)

    def end(self):
        for proc in self.running:
            netns.stop(proc)
        self.running.clear()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def keep(self, folder):
        """Everything that is needed to understand a failure, into one folder."""
        for place in (self.fabric.folder, self.folder):
            for leaf in os.listdir(place):
                if leaf.endswith(".log"):
                    shutil.copy(os.path.join(place, leaf), folder)
        if self.scratch and os.path.isdir(self.scratch):
            shutil.copytree(self.scratch, os.path.join(folder, "scenario"), symlinks=True,
                            dirs_exist_ok=True)
        with open(self.cluster.audit, "rb") as f, \
                open(os.path.join(folder, "audit-of-scenario.log"), "wb") as out:
            f.seek(self.audit_from)
            out.write(f.read())
        with open(os.path.join(folder, "cluster.txt"), "w", encoding="utf-8") as f:
            for words in ("get nodes -o wide", "get csr", "get events -A", "get pods -A -o wide"):
                f.write("$ kubectl %s\n%s\n" % (words, self.cluster.kubectl(*words.split(),
                                                                            check=False)))
        for ns in (self.fabric.ns("cp"), self.client):
            with open(os.path.join(folder, "network-%s.txt" % ns.rpartition("-")[2]), "w",
                      encoding="utf-8") as f:
                for what in ("addr", "route", "neigh"):
                    f.write(netns.run(["ip", "-n", ns, what], check=False) + "\n")

    def requests(self, program=None):
        """The audit log's lines since the scenario began, of one program (by User-Agent)."""
        lines = self.cluster.requests(since=self.audit_from)
        return [r for r in lines if not program or r.get("userAgent", "").startswith(program)]

    def made(self, program):
        """Those of them that make an object; a review is a question, and an Event only tells."""
        return [r for r in self.requests(program)
                if r["verb"] == "create" and not r["objectRef"]["resource"].endswith(("reviews", "events"))]

    # ---- winjoin on the client -----------------------------------------------------------

    def start(self, *words):
        """Starts winjoin on the client; its words are kept out of every log."""
        out, err = (tempfile.TemporaryFile("w+") for _ in range(2))
        proc = subprocess.Popen(netns.command(self.client, [WINJOIN, *words]), stdout=out,
                                stderr=err, stdin=subprocess.DEVNULL, start_new_session=True,
                                env=plain_environment())
        proc.files = out, err
        self.running.append(proc)
        return proc

    def finish(self, proc, timeout=60):
        """Waits for it; the secret of the token must be in nothing that it said."""
        try:
            proc.wait(timeout)
        except subprocess.TimeoutExpired:
            proc.kill()
            proc.wait()
            raise AssertionError("no end after %d s\n%s" % (timeout, said(proc)[1])) from None
        self.running.remove(proc)
        out, err = said(proc)
        with open(os.path.join(self.scratch, "said.txt"), "a", encoding="utf-8") as f:
            f.write(out + err)
        expect(SECRET not in out + err, "the token's secret is printed", out, err)
        return Done(proc.returncode, out, err)

    def winjoin(self, *words, timeout=60, code=None):
        done = self.finish(self.start(*words), timeout)
        expect(code is None or done.code == code, "exit code %s, not %s" % (done.code, code), done.said)
        return done

    def trust(self, endpoint=None, token=TOKEN, pin=None):
        """The words that say which cluster is meant."""
        return [endpoint or self.cluster.facts["endpoint"], "--token", token,
                "--discovery-token-ca-cert-hash", pin or self.cluster.facts["caCertHash"]]

    def discover(self, *more, code=0, timeout="3s", **trust):
        return self.winjoin("discover", *self.trust(**trust), "--timeout", timeout, *more, code=code)

    def rehearse(self, node, *words):
        """The words of a phase played on the folder `node`."""
        rootfs = os.path.join(self.scratch, node)
        os.makedirs(rootfs, exist_ok=True)
        return ["join", "phase", *words, *self.trust(), "--node-name", node, "--rootfs", rootfs,
                "--progress", "plain"]


def plain_environment():
    """Ours without what could change a program's mind."""
    return {k: v for k, v in os.environ.items()
            if not re.match(r"(?i)(winjoin_|kube|.*_proxy$)", k)}


def said(proc):
    return [os.pread(f.fileno(), 1 << 20, 0).decode(errors="replace") for f in proc.files]
