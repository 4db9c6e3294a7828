"""What the scenarios share: one stage a class, a join that can be followed, killed and compared."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [os.path.join(ROOT, "tests", "rig"), os.path.join(ROOT, "tests")]
import adapter_kinds  # noqa: E402
import document_schemas  # noqa: E402
import netns  # noqa: E402
import patience  # noqa: E402
import snapshot  # noqa: E402
import stage  # noqa: E402
import winhost  # noqa: E402
from controlplane.client import Refused  # noqa: E402

SECRET = "s3cr3t7q9z2w5x8v"  # in no program by chance
TOKEN = "abcdef." + SECRET
WITH_TOKEN = ("--token", TOKEN)
NODE = "/api/v1/nodes/" + stage.NODE
FAST = ("--verify", "none")


def missing():
    """Why no scenario can be played on this machine ('' = they can)."""
    for path in (winhost.prefixes.WINE, stage.WINJOIN, stage.NATIVE, winhost.HNSD, stage.STANDINS,
                 snapshot.SAVEREG):
        if not os.path.exists(path):
            return "'%s' is not there" % path
    try:
        netns.require()
    except netns.Missing as why:
        return str(why)
    return ""


def wait_until(found, seconds, what):
    """what: the words of a failure, or a function that knows them."""
    end = time.monotonic() + seconds * patience.factor()
    while not found():
        if time.monotonic() > end:
            raise AssertionError(what() if callable(what) else what)
        time.sleep(0.1)


class Following:
    """A winjoin that runs with --progress json; its lines are read as they come, but for the last, its result."""

    def __init__(self, s, words):
        # Files, not pipes: Wine's own processes inherit them and would hold a pipe open.
        self.out, self.err = (tempfile.TemporaryFile("w+b") for _ in range(2))
        self.proc = s.host.spawn([*words, "--progress", "json"], stdin=subprocess.DEVNULL,
                                 stdout=self.out, stderr=self.err)
        self.lines, self.rest, self.seen = [], b"", 0

    def _read(self):
        data = os.pread(self.err.fileno(), 1 << 20, self.seen)
        self.seen += len(data)
        *whole, self.rest = (self.rest + data).split(b"\n")
        for line in whole:
            if line.startswith(b"{"):
                event = document_schemas.check(json.loads(line))
                if "result" not in event:
                    self.lines.append(event)

    def until(self, found, seconds=120):
        """The first line for which found(line); None when the program ends without it."""
        end, looked = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            ended = self.proc.poll() is not None
            self._read()
            for line in self.lines[looked:]:
                looked += 1
                if found(line):
                    return line
            if ended:
                return None
            time.sleep(0.005)
        self.kill()
        raise AssertionError("not seen after %d s\n%s" % (seconds, self.said()))

    def kill(self):
        """As a power failure for this one program: no handler runs. Its services go on."""
        self.proc.kill()
        self.proc.wait()

    def wait(self, seconds=180):
        self.until(lambda line: False, seconds)
        return self.proc.returncode

    def said(self):
        return "".join(os.pread(f.fileno(), 1 << 20, 0).decode(errors="replace")
                       for f in (self.out, self.err))


class Scene(unittest.TestCase):
    """One stage for all tests of a class; each leaves the host as it was found."""
    mode, options, dual, origin, adapter = "overlay", WITH_TOKEN, False, "static", adapter_kinds.PLAIN
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if missing():
            raise unittest.SkipTest(missing())
        cls.stage = stage.Stage(cls.mode, options=cls.options, dual=cls.dual, origin=cls.origin, adapter=cls.adapter)
        cls.enterClassContext(cls.stage)
        cls.bare = cls.stage.snapshot()

    def follow(self, *more):
        following = Following(self.stage, [*self.stage.join_words, *more])
        self.addCleanup(following.kill)
        return following

    def words(self, **changes):
        """The words of the join, some flags with another value (None: left out)."""
        words = list(self.stage.join_words)
        for name, value in changes.items():
            at = words.index("--" + name.replace("_", "-"))
            words[at:at + 2] = [words[at], value] if value is not None else []
        return words

    def assert_code(self, done, code):
        self.assertEqual(done.returncode, code, "%s\n%s" % (done.stdout[-3000:], done.stderr))

    def assert_joins(self, *more):
        self.assert_code(self.stage.join(*more), 0)

    def assert_bare(self):
        self.assertEqual(snapshot.compare(self.bare, self.stage.snapshot()), [])

    def reset(self):
        """Takes the join back, as a person does: the Node object too."""
        done = self.stage.winjoin("reset", "--force")
        self.delete_node()
        self.assert_code(done, 0)
        return done

    def delete_node(self):
        try:
            self.stage.cluster.call("DELETE", NODE)
        except Refused:
            pass  # the join did not come so far

    def ready_node(self, address):
        """A Ready Node of our name with that address, until the test ends."""
        self.stage.cluster.call("POST", os.path.dirname(NODE), {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": stage.NODE}})
        self.addCleanup(self.delete_node)
        self.set_ready("True", address)

    def hns_fails_flanneld(self, **times):
        """flanneld asks for HNS' version first, and ends when it gets none; `count`: how often."""
        self.stage.host.control({"op": "rule", "fn": "HNSCall", "contains": "/globals/version",
                                 "hr": "0x800706b5", **times})
        self.addCleanup(self.hns_is_well)

    def hns_is_well(self):
        self.stage.host.control({"op": "norules"})

    def follow_flanneld(self, words, **times):
        """A join that is in the phase in which flanneld ends so often."""
        join = self.follow(*words)
        self.assertTrue(join.until(lambda line: line["phase"] == "flanneld"), join.said())
        self.hns_fails_flanneld(**times)
        return join

    def set_ready(self, status, address):
        """As the node controller, or a kubelet, writes it."""
        node = self.stage.node(stage.NODE)
        node["status"] = {"conditions": [{"type": "Ready", "status": status}],
                          "addresses": [{"type": "InternalIP", "address": address}]}
        self.stage.cluster.call("PUT", NODE + "/status", node)

    def ready(self):
        """The status of the Node's condition Ready in the API server."""
        conditions = self.stage.node(stage.NODE)["status"].get("conditions", [])
        return [c["status"] for c in conditions if c["type"] == "Ready"]

    def network_condition(self, kind="NetworkUnavailable"):
        conditions = self.stage.node(stage.NODE)["status"].get("conditions", [])
        return [c["status"] for c in conditions if c["type"] == kind]


def holders(folder, secret, left_out=""):
    """The files below a folder that hold a secret, in UTF-8 or UTF-16; only what is new there."""
    out = []
    for at, _, leaves in os.walk(folder):
        for name in leaves:
            path = os.path.join(at, name)
            short = os.path.relpath(path, folder)
            if os.path.islink(path) or not os.path.isfile(path) or os.stat(path).st_nlink > 1 \
                    or (left_out and re.match(left_out, short)):
                continue
            with open(path, "rb") as f:
                data = f.read()
            if secret.encode() in data or secret.encode("utf-16-le") in data:
                out.append(short)
    return out
