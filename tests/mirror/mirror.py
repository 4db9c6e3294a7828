"""Programs fetched from a mirror by `winjoin join phase artifacts`, rehearsed on this machine against
HTTPS servers that are right, slow, broken or hostile. What is refused leaves the host as it was."""
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tests/discovery"), str(ROOT / "tests/controlplane")]
import cases  # noqa: E402
import odd  # noqa: E402

WINJOIN = ROOT / "build/native/winjoin"
FOLDER = "/winjoin"  # of the mirror
PROGRAMS = {"kubelet": "k/kubelet.exe", "kube-proxy": "k/kube-proxy.exe",
            "containerd": "Program Files/containerd/containerd.exe",
            "containerd-shim-runhcs-v1": "Program Files/containerd/containerd-shim-runhcs-v1.exe",
            "win-overlay": "opt/cni/bin/win-overlay.exe", "host-local": "opt/cni/bin/host-local.exe"}
CONTENT = {name: (name.encode() + b"\n") * 20000 for name in PROGRAMS}
SHORT = "3s"  # for how long failures that may pass are tolerated


def path_of(name):
    return "bin/" + os.path.basename(PROGRAMS[name])


def item(program, **changes):
    data = CONTENT[program]
    return {"name": program, "version": "v1.37.1", "sha256": hashlib.sha256(data).hexdigest(),
            "size": len(data), "path": path_of(program), **changes}


def lock_of(items):
    return json.dumps({"apiVersion": "winjoin.io/v1alpha1", "kind": "BundleLock",
                       "artifacts": items}).encode()


LOCK = lock_of([item(name) for name in PROGRAMS])


class Mirror:
    """An HTTPS server with all programs; `changes`: path below the folder -> what it answers instead."""

    def __init__(self, changes=None, **more):
        answers = {"winjoin.lock": odd.http(LOCK), **{path_of(n): odd.http(CONTENT[n]) for n in PROGRAMS},
                   **(changes or {})}
        self.asked = []
        self.server = odd.Server(odd.Odd(paths={
            "%s/%s" % (FOLDER, path): self.answer(path, what) for path, what in answers.items()}, **more))
        self.url = "https://%s%s" % (self.server.endpoint, FOLDER)

    def answer(self, path, what):
        def give(_server):
            self.asked.append(path)
            return what() if callable(what) else what
        return give


class Fetched(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.cluster = cases.Server(os.path.join(cls.folder.name, "server"))
        cls.addClassCleanup(cls.cluster.stop)
        cls.roots = odd.write(cls.folder.name, "roots.pem", odd.shared().pem)

    def setUp(self):
        self.host = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name))

    def mirror(self, changes=None, **more):
        mirror = Mirror(changes, **more)
        self.addCleanup(mirror.server.stop)
        return mirror

    def start(self, url, *more, timeout=SHORT, **environment):
        facts = self.cluster.facts
        return subprocess.Popen(
            [WINJOIN, "join", "phase", "artifacts", facts["endpoint"], "--token", cases.TOKEN,
             "--discovery-token-ca-cert-hash", facts["caCertHash"], "--node-name", "win-9", "--rootfs",
             self.host, "--mirror", url, "--network-mode", "overlay", "--network-plugin", "win-overlay",
             "--progress", "plain", "--timeout", timeout, *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "SSL_CERT_FILE": self.roots, **environment})

    def end(self, process, code):
        said = process.communicate(timeout=120)[0]
        self.assertEqual(process.returncode, code, said)
        return said

    def installed(self):
        """The programs on the host."""
        return {str(p.relative_to(self.host)) for p in self.host.rglob("*.exe")
                if "ProgramData" not in p.parts and p.name != "winjoin.exe"}

    def left(self):
        """All that is on the host, but for what the rehearsal itself notes."""
        return sorted(str(p.relative_to(self.host)) for p in self.host.rglob("*")
                      if ".winjoin-host" not in p.relative_to(self.host).parts)

    def assert_installed(self):
        for name, path in PROGRAMS.items():
            self.assertEqual((self.host / path).read_bytes(), CONTENT[name], name)

    def assert_refused(self, mirror, code, says, *more, seconds=20, **how):
        """One line says so, in that time; nothing was installed."""
        begin = time.monotonic()
        said = self.end(self.start(mirror.url, *more, **how), code)
        self.assertLess(time.monotonic() - begin, seconds)
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, said)
        self.assertRegex(errors[0], says)
        self.assertEqual(self.left(), [])
        return said

    # --- right ones

    def test_all_is_fetched_once(self):
        both = threading.Barrier(2, timeout=20)  # one is answered when the other is asked for, too

        def held(name):
            return lambda: both.wait() < 2 and odd.http(CONTENT[name])
        mirror = self.mirror({path_of(name): held(name) for name in ("kubelet", "kube-proxy")})
        said = self.end(self.start(mirror.url), 0)
        self.assertIn("6 of 6 verified, 6 installed", said)
        self.assert_installed()
        self.assertEqual(sorted(mirror.asked), sorted(["winjoin.lock", *map(path_of, PROGRAMS)]))
        self.assertLessEqual(mirror.server.connections, len(PROGRAMS))
        mirror.asked.clear()
        self.assertIn("6 of 6 verified, 0 installed", self.end(self.start(mirror.url + "/"), 0))
        self.assertEqual(mirror.asked, ["winjoin.lock"])

    def test_only_what_is_otherwise_is_fetched(self):
        mirror = self.mirror()
        self.end(self.start(mirror.url), 0)
        mirror.asked.clear()
        (self.host / PROGRAMS["kubelet"]).write_bytes(b"another")
        self.assertIn("6 of 6 verified, 1 installed", self.end(self.start(mirror.url), 0))
        self.assertEqual(mirror.asked, ["winjoin.lock", path_of("kubelet")])
        self.assert_installed()

    def test_lock_of_this_machine(self):
        mirror = self.mirror({"winjoin.lock": odd.http(b"", "404 Not Found")})
        lock = odd.write(self.folder.name, "own.lock", LOCK)
        facts = self.cluster.facts
        config = odd.write(self.folder.name, "node.yaml", (
            "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration: {name: win-9}\n"
            "discovery:\n  bootstrapToken:\n    token: %s\n    apiServerEndpoint: %s\n    caCertHashes: [%s]\n"
            "---\napiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nartifacts: {lock: %s}\n"
            % (cases.TOKEN, facts["endpoint"], facts["caCertHash"], lock)))
        for text, code in ((LOCK, 0), (LOCK.replace(b'"size": ', b'"size": 1'), 4)):
            odd.write(self.folder.name, "own.lock", text)
            self.setUp()
            process = subprocess.Popen(
                [WINJOIN, "join", "phase", "artifacts", "--config", config, "--rootfs", self.host,
                 "--mirror", mirror.url, "--network-plugin", "win-overlay"], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**os.environ, "SSL_CERT_FILE": self.roots})
            said = self.end(process, code)
            self.assertEqual(self.installed(), {*PROGRAMS.values()} if code == 0 else set(), said)
        self.assertNotIn("winjoin.lock", mirror.asked)

    def test_busy_server_is_tolerated(self):
        left = [odd.http(b"", "503 Service Unavailable", "Retry-After: 1"),
                odd.http(b"", "429 Too Many Requests"), b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
                b"Content-Length: %d\r\n\r\nhalf" % len(CONTENT["kubelet"])]
        mirror = self.mirror({path_of("kubelet"):
                              lambda: left.pop(0) if left else odd.http(CONTENT["kubelet"])})
        self.end(self.start(mirror.url, timeout="60s"), 0)
        self.assertEqual(mirror.asked.count(path_of("kubelet")), 4)
        self.assert_installed()

    def test_plan_names_urls(self):
        mirror = self.mirror()
        facts = self.cluster.facts
        done = subprocess.run(
            [WINJOIN, "join", facts["endpoint"], "--token", cases.TOKEN, "--discovery-token-ca-cert-hash",
             facts["caCertHash"], "--rootfs", self.host, "--mirror", mirror.url, "--network-plugin",
             "win-overlay", "--dry-run", "-o", "json", "--ignore-preflight-errors", "all"],
            capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "SSL_CERT_FILE": self.roots})
        self.assertEqual(done.returncode, 0, done.stderr)
        urls = {a["name"]: a["url"] for a in json.loads(done.stdout)["artifacts"]}
        self.assertEqual(urls["kubelet"], mirror.url + "/bin/kubelet.exe")
        self.assertEqual(mirror.asked, ["winjoin.lock"])
        self.assertEqual(self.installed(), set())

    # --- broken and hostile ones

    def test_changed_file(self):
        data = bytearray(CONTENT["containerd"])
        data[1000] ^= 1
        self.assert_refused(self.mirror({path_of("containerd"): odd.http(bytes(data))}), 4,
                            "artifact 'containerd': its SHA-256 is")

    def test_shorter_and_longer_file(self):
        data = CONTENT["kubelet"]
        self.assert_refused(self.mirror({path_of("kubelet"): odd.http(data[:-1])}), 4, "bytes, the lock says")
        self.assert_refused(self.mirror({path_of("kubelet"): odd.http(data + b".")}), 4, "longer than")

    def test_truncated_file(self):
        half = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\nhalf" % len(CONTENT["kubelet"])
        self.assert_refused(self.mirror({path_of("kubelet"): half}), 1, "kubelet.exe': ")

    def test_body_without_end(self):
        body = odd.endless(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x" * 65536)
        self.assert_refused(self.mirror({path_of("kubelet"): lambda: body(None, 1)}), 4, "longer than")
        self.assert_refused(self.mirror({"winjoin.lock": lambda: body(None, 1)}), 4, "longer than")

    def test_slow_servers(self):
        """One drips, one says nothing at all."""
        drips = odd.endless(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x", 0.5)
        silent = odd.endless(b"", b"", 0.5)
        begin, both = time.monotonic(), []
        for answer in (drips, silent):
            both.append(self.start(self.mirror({"winjoin.lock": lambda a=answer: a(None, 1)}).url))
            self.setUp()  # a host of its own each
        for process in both:
            self.assertRegex(self.end(process, 1), "error: .*fewer than 30720 bytes received in 30 s")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(self.installed(), set())

    def test_refused_file(self):
        for status, says in (("404 Not Found", "404: no such file"), ("403 Forbidden", "403"),
                             ("500 Internal Server Error", "500")):
            with self.subTest(status):
                self.assert_refused(self.mirror({path_of("kubelet"): odd.http(b"<html>", status)}), 1, says)

    def test_no_redirect(self):
        other = self.mirror()
        to = odd.http(b"", "302 Found", "Location: %s/winjoin.lock" % other.url)
        said = self.assert_refused(self.mirror({"winjoin.lock": to}), 1, "answers 302")
        self.assertIn("hint: redirects are not followed", said)
        self.assertEqual(other.asked, [])

    def test_redirects_of_a_program(self):
        """To another host, without encryption, in a circle, to a file: none is followed."""
        other = self.mirror()
        for to in (other.url + "/bin/kubelet.exe", other.url.replace("https:", "http:"), "kubelet.exe",
                   "file:///etc/passwd", "//127.0.0.1/x", ""):
            with self.subTest(to):
                self.setUp()
                mirror = self.mirror({path_of("kubelet"): odd.http(b"", "302 Found", "Location: " + to)})
                self.assert_refused(mirror, 1, "artifact 'kubelet': .*answers 302")
        self.assertEqual(other.asked, [])

    def test_an_old_version(self):
        """Of the lock, of the programs, of both."""
        old = lock_of([item(n, version="v1.30.0") for n in PROGRAMS])
        self.assert_refused(self.mirror({"winjoin.lock": odd.http(old)}), 2, "kubelet.*v1.30.0")
        self.assert_refused(self.mirror({"winjoin.lock": odd.http(
            lock_of([item(n, version="v1.36.2") for n in PROGRAMS]))}), 3, "v1.36.2",
            "--kubernetes-version", "v1.37.1")
        self.assert_refused(self.mirror({path_of("kubelet"): odd.http(CONTENT["kubelet"].replace(b"k", b"K"))}), 4,
                            "artifact 'kubelet': its SHA-256 is")
        self.assert_refused(self.mirror({"winjoin.lock": odd.http(lock_of(
            [item(n, sha256="0" * 64) for n in PROGRAMS]))}), 4, "its SHA-256 is")

    def test_a_slow_server_is_waited_for(self):
        data = CONTENT["kubelet"]
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(data)

        def slowly():
            yield head
            for at in range(0, len(data), len(data) // 20):
                time.sleep(0.1)
                yield data[at:at + len(data) // 20]
        self.end(self.start(self.mirror({path_of("kubelet"): slowly}).url), 0)
        self.assert_installed()

    def test_it_goes_away_after_60_percent(self):
        """An error says so, and the host is as it was; the same call again starts over."""
        sent, mirror = [], None

        def until_60_percent(name):
            sent.append(name)
            if len(sent) * 10 <= len(PROGRAMS) * 6:
                return odd.http(CONTENT[name])
            mirror.server.stop()
            return iter((b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\nMZ" % len(CONTENT[name]),))
        mirror = self.mirror({path_of(n): lambda n=n: until_60_percent(n) for n in PROGRAMS})
        self.assert_refused(mirror, 1, "artifact '.*GET 'https://.*': ", seconds=40)
        self.end(self.start(self.mirror().url), 0)
        self.assert_installed()

    def test_hostile_locks(self):
        for change, code, says in (
                ({"path": "../../etc/passwd"}, 4, "leads out of the bundle"),
                ({"path": "/etc/passwd"}, 4, "leads out of the bundle"),
                ({"path": "C:\\windows\\x"}, 4, "leads out of the bundle"),
                ({"target": "C:\\Windows\\System32\\cmd.exe"}, 4, "outside winjoin's program folders"),
                ({"target": "C:\\k\\..\\Windows\\cmd.exe"}, 4, "outside winjoin's program folders"),
                ({"size": 1 << 40}, 1, "is not in 0"), ({"size": -1}, 1, "is not in 0"),
                ({"sha256": "00"}, 1, "hex digits"), ({"mode": "0777"}, 1, "unknown key")):
            items = [item(n, **(change if n == "kubelet" else {})) for n in PROGRAMS]
            with self.subTest(change):
                mirror = self.mirror({"winjoin.lock": odd.http(lock_of(items))})
                self.assert_refused(mirror, code, says)
                self.assertEqual(mirror.asked, ["winjoin.lock"])

    def test_lock_that_would_fill_the_memory(self):
        items = [item("kubelet", name="n%d" % i, path="p%d" % i, target="C:\\k\\%d.exe" % i, size=1 << 29)
                 for i in range(3)]
        self.assert_refused(self.mirror({"winjoin.lock": odd.http(lock_of(items))}), 1, "have more than")

    def test_no_lock(self):
        for body in (b"", b"<html>It works!</html>", b"{", b"\0" * 1000):
            with self.subTest(body):
                self.assert_refused(self.mirror({"winjoin.lock": odd.http(body)}), 1, "lock")

    def test_untrusted_servers(self):
        self.assert_refused(self.mirror(ca=odd.stranger), 4, "certificate")
        self.assert_refused(self.mirror(leaf=lambda ca: odd.issue(ca, names=("else.test",))), 4, "mismatch")
        self.assert_refused(self.mirror(leaf=lambda ca: odd.issue(ca, names=odd.NAMES, days=(-9, -2))), 4,
                            "expired")

    def test_nobody_answers(self):
        mirror = self.mirror()
        mirror.server.stop()
        mirror.url = "https://127.0.0.1:%d/winjoin" % self.cluster.closed
        self.assert_refused(mirror, 1, "connection refused")

    def test_no_address_of_a_mirror(self):
        for url in ("http://127.0.0.1/winjoin", "https://", "https://me:hidden@m.test/w", "https://m.test/?a",
                    "https://m.test/a b", "file:///etc", "m.test"):
            with self.subTest(url):
                said = self.end(self.start(url), 3)
                self.assertRegex(said, "error: --mirror '")
                self.assertNotIn("hidden", said)

    # --- ends in the middle

    def test_killed_and_run_again(self):
        drips = odd.endless(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(CONTENT["kube-proxy"]),
                            b"x", 0.1)
        calm = []
        mirror = self.mirror({path_of("kube-proxy"):
                              lambda: odd.http(CONTENT["kube-proxy"]) if calm else drips(None, 1)})
        for number, code in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
            process = self.start(mirror.url)
            while path_of("kube-proxy") not in mirror.asked and process.poll() is None:
                time.sleep(0.05)
            process.send_signal(number)
            self.end(process, code)
            self.assertEqual(self.installed(), set())
            mirror.asked.clear()
        calm.append(True)
        self.end(self.start(mirror.url), 0)
        self.assert_installed()

    def test_full_disk(self):
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.host],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("no mounts on this machine")
        self.addCleanup(subprocess.run, ["umount", self.host], check=True)
        state = self.host / ".winjoin-host/state.json"
        state.parent.mkdir()
        state.write_text('{"drives": {"C": 1000000}}')
        mirror = self.mirror()
        said = self.end(self.start(mirror.url), 1)
        self.assertRegex(said, "error: .*install the programs: 1.6 MB are needed on C:, 1.0 MB are free")
        self.assertEqual(self.installed(), set())
        reset = subprocess.run([WINJOIN, "reset", "--force", "--rootfs", self.host], capture_output=True,
                               text=True, timeout=60, check=False)
        self.assertEqual(reset.returncode, 0, reset.stderr)
        self.assertEqual(self.installed(), set())


def run_counted():
    """The main of a file of tests: the last line is their count."""
    result = unittest.main(exit=False, verbosity=1, argv=sys.argv).result
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print("%d passed, %d failed, %d skipped" % (result.testsRun - failed - skipped, failed, skipped))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    run_counted()
