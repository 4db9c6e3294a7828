"""Programs fetched from upstream's releases by `winjoin join phase artifacts`, rehearsed on this machine:
a proxy of upstream's hosts serves their layout, is slow, lies, redirects, breaks off or goes away. What
is refused leaves the host as it was."""
import io
import json
import os
import subprocess
import tarfile
import time
import unittest
import zipfile

import mirror
from mirror import CONTENT, PROGRAMS, cases, odd
import proxy_cases
from releases import (CONTAINERD, FILES, FOLDER, K8S, PLUGINS, RELEASE, RUNTIME, packed, pause, released, releases, sha256,
                      zipped)


class Published(unittest.TestCase):
    setUpClass = classmethod(mirror.Fetched.setUpClass.__func__)
    setUp, end, left, installed, assert_installed = (mirror.Fetched.setUp, mirror.Fetched.end, mirror.Fetched.left,
                                                     mirror.Fetched.installed, mirror.Fetched.assert_installed)

    def serve(self, changes=None, **more):
        """path -> bytes (a good answer), or what the server sends, or a function of the byte asked for."""
        self.asked, self.begins, answers = [], [], {}
        for path, what in {**FILES, **(changes or {})}.items():
            if isinstance(what, bytes) and not what.startswith(b"HTTP/"):
                what = odd.http(what)
            answers["%s/%s" % (FOLDER, path)] = self.answer(path, what)
        self.server = odd.Server(odd.Odd(paths=answers, **more))
        self.addCleanup(self.server.stop)
        return "https://%s%s" % (self.server.endpoint, FOLDER)

    def answer(self, path, what):
        def give(server):
            self.asked.append(path)
            self.begins.append(server.request.begin)
            return what(server.request.begin) if callable(what) else what
        return give

    def command(self, base, *more):
        facts = self.cluster.facts
        return [mirror.WINJOIN, *more, facts["endpoint"], "--token", cases.TOKEN,
                "--discovery-token-ca-cert-hash", facts["caCertHash"], "--node-name", "win-9", "--rootfs",
                self.host, "--network-mode", "overlay", "--network-plugin", "win-overlay", *(["--source-base", base] if base else [])]

    def run_it(self, base, code, *more, timeout=mirror.SHORT, **environment):
        return self.end(subprocess.Popen(
            [*self.command(base, "join", "phase", "artifacts"), "--progress", "plain", "--timeout", timeout, *more],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "SSL_CERT_FILE": self.roots, **environment}), code)

    def assert_refused(self, changes, code, says, **more):
        said = self.run_it(self.serve(changes), code, **more)
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, said)
        self.assertRegex(errors[0], says)
        self.assertEqual(self.left(), [])

    # --- right ones

    def test_what_is_missing_is_fetched_once(self):
        base = self.serve()
        self.assertIn("6 installed", self.run_it(base, 0))
        self.assert_installed()
        self.assertEqual(sorted(self.asked), sorted(FILES))
        self.asked.clear()
        self.assertIn("all installed already", self.run_it(base, 0))
        self.assertEqual(self.asked, [])
        (self.host / PROGRAMS["kubelet"]).unlink()
        self.assertIn("1 of 1 verified, 1 installed", self.run_it(base, 0))
        self.assertEqual(sorted(self.asked), [K8S + "kubelet.exe", K8S + "kubelet.exe.sha256"])

    def test_the_variable_names_the_proxy(self):
        self.assertIn("6 installed", self.run_it(None, 0, WINJOIN_SOURCE_BASE=self.serve()))

    def test_it_goes_through_the_machines_proxy(self):
        """To a host that nothing else knows; a proxy that refuses is named, and nothing is left."""
        base = self.serve(leaf=lambda by: odd.issue(by, names=("up.test",))).replace("127.0.0.1", "up.test")
        heads = []

        def through(client, head, port):
            heads.append(head.split(b"\r\n")[0])
            proxy_cases.through(client, head, port)
        for serve, code, says in ((proxy_cases.answers(b"HTTP/1.1 403 Forbidden\r\n\r\n"), 1, "hint: the request went through the proxy"),
                                  (through, 0, "6 installed")):
            proxy = cases.Forward(serve, int(base.split(":")[2].split("/")[0]))
            self.addCleanup(proxy.socket.close)
            said = self.run_it(base, code, HTTPS_PROXY="http://127.0.0.1:%d" % proxy.port, NO_PROXY="127.0.0.1")
            self.assertRegex(said, says)
            if code:
                self.assertEqual(self.left(), [])
        self.assertEqual(set(heads), {b"CONNECT %s HTTP/1.1" % base.split("/")[2].encode()})

    def test_flanneld_is_held_to_the_release(self):
        program = b"flanneld" * 1000
        more = released(program)
        self.run_it(self.serve(more), 0, "--network-plugin", "flannel", "--vni", "4096")
        self.assertEqual((self.host / "k/flanneld.exe").read_bytes(), program)
        (self.host / "k/flanneld.exe").unlink()
        said = self.run_it(self.serve({**more, RELEASE: b'{"assets":[{"name":"flanneld.exe"}]}'}), 1,
                           "--network-plugin", "flannel", "--vni", "4096")
        self.assertIn("no SHA-256 of 'flanneld.exe' is published", said)

    def test_what_is_installed_is_compared(self):
        """In the version that its file says; a server that answers nothing is waited for once, and not for long."""
        image = mirror.ROOT / "build/windows/winjoin.exe"
        if not image.is_file():
            self.skipTest("no Windows program is built")
        exe, words = image.read_bytes(), ("--network-plugin", "flannel", "--vni", "4096")
        version = json.loads(subprocess.run([mirror.WINJOIN, "version", "-o", "json"], capture_output=True,
                                            check=True, timeout=60).stdout)["version"]
        self.run_it(self.serve(released(b"flanneld")), 0, *words)
        installed = self.host / "k/flanneld.exe"
        for data, what, says in (
                (exe, released(exe)[RELEASE], "all installed already, by administrators; not compared with a digest: "
                                              "containerd, kubelet, kube-proxy, containerd-shim"),
                (exe, odd.http(b"", "404 Not Found"), "not compared with a digest: containerd, .*flanneld"),
                (exe, lambda _begin: time.sleep(90) or b"", "not compared with a digest: containerd, .*flanneld"),
                (exe + b".", released(exe)[RELEASE], "1 of 1 verified, 1 installed.* 'C:.k.flanneld.exe' is not "
                                                     "what upstream publishes as %s: it is downloaded again" % version)):
            with self.subTest(says):
                installed.write_bytes(data)
                begin = time.monotonic()
                own = RELEASE.replace("v0.28.4", "v" + version)
                said = self.run_it(self.serve({**released(b"flanneld"), own: what}), 0, *words)
                self.assertRegex(said.replace("\n", " "), says)
                self.assertLess(time.monotonic() - begin, 60)
                self.assertEqual(self.asked[0], own)
                self.assertEqual(len(self.asked), 1 if data == exe else 3)
                self.assertEqual(installed.read_bytes(), exe if data == exe else b"flanneld")

    def test_a_catalog_moves_the_addresses(self):
        own = subprocess.run([mirror.WINJOIN, "config", "print", "catalog"], capture_output=True, text=True,
                             check=True, timeout=60).stdout
        moved = odd.write(self.folder.name, "catalog.yaml", own.replace("dl.k8s.io/", "k8s.test:8443/"))
        files = {path.replace("dl.k8s.io/", "k8s.test:8443/"): data for path, data in FILES.items()}
        self.assertIn("6 installed", self.run_it(self.serve(files), 0, "--catalog", moved))
        self.assertEqual([path for path in self.asked if path.startswith("dl.k8s.io")], [])
        for text, says in ((own.replace("digest:", "digets:"), "catalog.*line 14 column 5: unknown field"),
                           ("&a [*a]", "catalog.*line 1 column 1: anchors are not allowed"),
                           ("", "catalog.*it must be one document"),
                           (own.replace("dl.k8s.io/release", "http://x/release"), "releases.0. kubernetes: path must")):
            self.setUp()
            odd.write(self.folder.name, "catalog.yaml", text)
            self.assertRegex(self.run_it(self.serve(), 3, "--catalog", moved), says)
            self.assertEqual(self.asked, [])

    def test_the_lock_of_one_machine_pins_the_next(self):
        self.run_it(self.serve(), 0)
        lock = (self.host / "ProgramData/winjoin/winjoin.lock").read_bytes()
        found = {a["name"]: a for a in json.loads(lock)["artifacts"]}
        self.assertEqual(set(found), set(PROGRAMS))
        for name, artifact in found.items():
            self.assertEqual((artifact["sha256"], artifact["size"]), (sha256(CONTENT[name]), len(CONTENT[name])))
        facts = self.cluster.facts
        pinned = odd.write(self.folder.name, "pinned.lock", lock)
        other = CONTENT["kubelet"] + b"!"  # upstream's own digest agrees: the lock does not
        for changes, code in (({}, 0), ({K8S + "kubelet.exe": other,
                                         K8S + "kubelet.exe.sha256": sha256(other).encode()}, 4)):
            self.setUp()
            config = odd.write(self.folder.name, "pinned.yaml", (
                "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration: {name: win-9}\n"
                "discovery:\n  bootstrapToken:\n    token: %s\n    apiServerEndpoint: %s\n"
                "    caCertHashes: [%s]\n---\napiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n"
                "artifacts: {lock: %s, sourceBase: '%s'}\nnetwork: {mode: overlay, plugin: win-overlay}\n"
                % (cases.TOKEN, facts["endpoint"], facts["caCertHash"], pinned, self.serve(changes))))
            said = self.end(subprocess.Popen(
                [mirror.WINJOIN, "join", "phase", "artifacts", "--config", config, "--rootfs", self.host],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                # The file says where from: tests/run's WINJOIN_SOURCE_BASE would win over it.
                env={**{k: v for k, v in os.environ.items() if k != "WINJOIN_SOURCE_BASE"},
                     "SSL_CERT_FILE": self.roots}), code)
            self.assertEqual(self.installed(), {*PROGRAMS.values()} if code == 0 else set(), said)
            self.assertEqual([path for path in self.asked if "sha256" in path], [], said)

    def test_redirects_are_followed(self):
        base = self.serve({K8S + "kubelet.exe": b"HTTP/1.1 302 Found\r\nLocation: /up/cdn/kubelet\r\n"
                           b"Content-Length: 0\r\n\r\n", "cdn/kubelet": CONTENT["kubelet"]})
        self.run_it(base, 0)
        self.assert_installed()
        self.assertIn("cdn/kubelet", self.asked)

    def test_the_plan_names_urls_and_fetches_digests_alone(self):
        base = self.serve()
        done = subprocess.run([*self.command(base, "join"), "--dry-run", "-o", "json",
                               "--ignore-preflight-errors", "all"], capture_output=True, text=True, timeout=60,
                              check=False, env={**os.environ, "SSL_CERT_FILE": self.roots})
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {a["name"]: a for a in json.loads(done.stdout)["artifacts"]}
        self.assertEqual(found["containerd"]["url"], "%s/%s" % (base, CONTAINERD))
        self.assertNotIn("sha256", found["containerd"])
        self.assertEqual([path for path in self.asked if "sha256" not in path], [])
        self.assertEqual(self.installed(), set())

    def test_nothing_is_fetched_when_it_must_not(self):
        said = self.run_it("none", 3)
        self.assertIn("required programs are missing: containerd, kubelet, kube-proxy", said)
        self.assertEqual(self.installed(), set())

    def test_what_nobody_publishes(self):
        """The origin of the program is named; an own catalog that has it is enough."""
        self.cluster.ask(op="fault", path="/api/v1/namespaces/kube-flannel/configmaps/kube-flannel-cfg", code=404)
        self.addCleanup(self.cluster.ask, op="clear")
        words = ("--network-plugin", "ovn-kubernetes")
        said = self.run_it(self.serve(), 3, *words)
        self.assertRegex(said, r"error: .*required programs are missing: hybrid-overlay-node\n")
        self.assertRegex(said, "hint: hybrid-overlay-node.exe: no release of it is published: build it")
        self.assertEqual(self.left(), [])
        program = b"hybrid-overlay-node" * 1000
        own = subprocess.run([mirror.WINJOIN, "config", "print", "catalog"], capture_output=True, text=True,
                             check=True, timeout=60).stdout
        more = odd.write(self.folder.name, "more.yaml", own + (
            "  - {name: ovn, version: v1.0.0, path: 'm.test/{v}/{name}.exe', digest: m.test/sums,\n"
            "     programs: [hybrid-overlay-node]}\n"))
        base = self.serve({"m.test/v1.0.0/hybrid-overlay-node.exe": program,
                           "m.test/sums": b"%s *hybrid-overlay-node.exe\n" % sha256(program).encode()})
        self.assertIn("7 installed", self.run_it(base, 0, *words, "--catalog", more))
        self.assertEqual((self.host / "k/hybrid-overlay-node.exe").read_bytes(), program)

    def test_a_wrong_address_is_a_mistake_of_the_call(self):
        self.assertIn("http://x", self.run_it("http://x", 3))

    # --- bundles

    def test_bundles_are_compared(self):
        image = mirror.ROOT / "build/windows/winjoin.exe"
        if not image.is_file():
            self.skipTest("no Windows program is built")
        exe = image.read_bytes()
        programs = {os.path.basename(path): exe for path in PROGRAMS.values()} | {"flanneld.exe": exe}
        to = self.create(self.serve(releases(programs)), 0)[1]
        old = to.rename(self.host / "old.zip")
        to = self.create(self.serve(releases({**programs, "kubelet.exe": exe + b"."})), 0)[1]

        def diff(a, b, code):
            done = subprocess.run([mirror.WINJOIN, "bundle", "diff", a, b, "-o", "json"], capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            return json.loads(done.stdout)["differences"]

        self.assertEqual(diff(old, old, 0), [])
        found = diff(old, to, 1)
        self.assertEqual([(d["name"], d["from"]["sha256"], d["to"]["sha256"]) for d in found],
                         [("kubelet", sha256(exe), sha256(exe + b"."))])

    def create(self, base, code, *more):
        to = self.host / "bundle.zip"
        done = subprocess.run([mirror.WINJOIN, "bundle", "create", "--kubernetes-version", "v1.37.1",
                               "--network-plugin", "win-overlay", "--source-base", base, *more, str(to)],
                              capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "SSL_CERT_FILE": self.roots})
        self.assertEqual(done.returncode, code, done.stderr)
        return done, to

    def test_a_bundle_of_releases(self):
        image = (mirror.ROOT / "build/windows/winjoin.exe")
        if not image.is_file():
            self.skipTest("no Windows program is built")
        exe = image.read_bytes()
        base = self.serve(releases({os.path.basename(path): exe for path in PROGRAMS.values()} | {
            "flanneld.exe": exe}))
        done, to = self.create(base, 0, "-o", "json")
        self.assertEqual(len(self.asked), len(set(self.asked)), self.asked)  # an archive once for all its programs
        found = {a["name"]: a for a in json.loads(done.stdout)["artifacts"]}
        self.assertEqual(set(found), set(PROGRAMS))
        self.assertEqual((found["kubelet"]["version"], found["containerd"]["version"]), ("v1.37.1", "v2.4.2"))
        self.assertEqual({a["sha256"] for a in found.values()}, {sha256(exe)})
        first = to.read_bytes()
        self.assertEqual(self.create(base, 0)[1].read_bytes(), first)
        self.assertEqual(zipped(to), first)
        verified = subprocess.run([mirror.WINJOIN, "bundle", "verify", str(to)], capture_output=True, text=True,
                                  timeout=60, check=False)
        self.assertEqual((verified.returncode, verified.stdout), (0, "ok\n"), verified.stderr)

    def test_a_bundle_with_the_sandbox_image(self):
        image = (mirror.ROOT / "build/windows/winjoin.exe")
        if not image.is_file():
            self.skipTest("no Windows program is built")
        exe = image.read_bytes()
        programs = releases({name: exe for name in [os.path.basename(path) for path in PROGRAMS.values()] +
                             ["flanneld.exe", "ctr.exe"]})
        parts = pause({"10.0.20348.1": b"of 2022", "10.0.26100.1": b"of 2025"})
        done, to = self.create(self.serve({**programs, **parts}), 0, "--images", "--windows-build", "26100",
                               "-o", "json")
        found = {a["name"]: a for a in json.loads(done.stdout)["artifacts"]}
        self.assertEqual((found["pause"]["version"], found["pause"]["path"]), ("3.10.2", "C:\\k\\pause.tar"))
        self.assertIn("ctr", found)
        with zipfile.ZipFile(to) as bundle:
            with tarfile.open(fileobj=io.BytesIO(bundle.read("bin/pause.tar"))) as tar:
                held = {member.name: tar.extractfile(member).read() for member in tar}
        self.assertIn(b"of 2025", held.values())
        self.assertNotIn(b"of 2022", held.values())
        for name, data in held.items():
            if name.startswith("blobs/"):
                self.assertEqual(name, "blobs/sha256/" + sha256(data))
        to.unlink()
        blob = next(path for path, data in parts.items() if data == b"of 2025")
        done, to = self.create(self.serve({**programs, **parts, blob: b"of 2026"}), 4, "--images")
        self.assertRegex(done.stderr, "error: fetch image 'registry.k8s.io/pause:3.10.2': .*another digest")
        self.assertFalse(to.exists())

    def test_no_bundle_of_what_is_refused(self):
        done, to = self.create(self.serve(), 1)  # no Windows programs
        self.assertRegex(done.stderr, "error: artifact '.*': ")
        self.assertFalse(to.exists())
        done, to = self.create(self.serve({CONTAINERD + ".sha256sum": sha256(b"").encode()}), 4)
        self.assertFalse(to.exists())
        self.assertIn("forbids", self.create("none", 3)[0].stderr)

    # --- interruptions

    def test_what_breaks_off_is_resumed(self):
        data = CONTENT["kubelet"]
        cut = len(data) * 6 // 10

        def part(begin, body, first=None):
            return odd.http(body, "206 Partial Content", "Content-Range: bytes %d-%d/%d" % (
                begin if first is None else first, len(data) - 1, len(data)))

        for name, then, asked in (
                ("resumed", lambda begin: part(begin, data[begin:]), [None, cut]),
                ("Range is ignored", lambda begin: odd.http(data), [None, cut]),
                ("another part", lambda begin: part(begin, data, 0) if begin else odd.http(data), [None, cut, None]),
                ("no such part", lambda begin: odd.http(b"", "416 Range Not Satisfiable") if begin
                 else odd.http(data), [None, cut, None]),
                ("changed", lambda begin: part(begin, b"?" * (len(data) - begin)) if begin else odd.http(data),
                 [None, cut, None]),
                ("longer", lambda begin: part(begin, data) if begin else odd.http(data), [None, cut, None])):
            with self.subTest(name):
                self.setUp()
                broken = [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(data)
                          + data[:cut]]
                base = self.serve({K8S + "kubelet.exe":
                                   lambda begin, b=broken, t=then: b.pop() if b else t(begin)})
                self.run_it(base, 0, timeout="30s")
                self.assert_installed()
                self.assertEqual([begin for path, begin in zip(self.asked, self.begins)
                                  if path == K8S + "kubelet.exe"], asked)

    def test_it_disappears_after_60_percent(self):
        data = CONTENT["kubelet"]
        half = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(data) + \
            data[:len(data) * 6 // 10]
        self.assert_refused({K8S + "kubelet.exe": half}, 1, "artifact 'kubelet'.*bytes remaining")
        for answer, says in ((odd.http(b"", "404 Not Found"), "404: no such file"),
                             (odd.http(b"", "403 Forbidden"), "403")):
            broken = [half]
            self.assert_refused({K8S + "kubelet.exe": lambda begin, b=broken, a=answer: b.pop() if b else a},
                                1, "artifact 'kubelet'.*" + says, timeout="30s")

    def test_it_comes_back(self):
        """Gone after 60 %, for three tries; then only the rest is asked for."""
        data = CONTENT["kubelet"]
        cut = len(data) * 6 // 10
        left = [iter((b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data) + data[:cut],)),
                iter(()), odd.http(b"", "502 Bad Gateway"), iter(())]

        def rest(begin):
            return odd.http(data[begin:], "206 Partial Content",
                            "Content-Range: bytes %d-%d/%d" % (begin, len(data) - 1, len(data)))
        self.run_it(self.serve({K8S + "kubelet.exe": lambda begin: left.pop(0) if left else rest(begin)}), 0,
                    timeout="60s")
        self.assert_installed()
        self.assertEqual([begin for path, begin in zip(self.asked, self.begins) if path == K8S + "kubelet.exe"],
                         [None, cut, cut, cut, cut])

    def test_endless_files(self):
        body = odd.endless(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x" * 65536)
        self.assert_refused({K8S + "kubelet.exe.sha256": lambda begin: body(None, 1)}, 4, "longer than 1048576")
        long = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nMZ"
        self.assert_refused({K8S + "kubelet.exe": long}, 4, "artifact 'kubelet': .*longer than 536870912")

    def test_one_that_is_refused_ends_the_others(self):
        drips = odd.endless(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x", 0.5)
        begin = time.monotonic()
        self.assert_refused({CONTAINERD: lambda begin: drips(None, 1),
                             K8S + "kubelet.exe": odd.http(b"", "404 Not Found")}, 1, "404: no such file")
        self.assertLess(time.monotonic() - begin, 15)

    # --- broken and hostile ones

    def test_another_content_or_digest(self):
        self.assert_refused({K8S + "kubelet.exe": b"MZ other"}, 4, "kubelet.*its SHA-256 is .* the published one is")
        self.assert_refused({CONTAINERD + ".sha256sum": sha256(b"").encode()}, 4, "containerd.*the published one is")
        self.assert_refused({CONTAINERD: packed({**RUNTIME, "bin/ctr.exe": b"other"})}, 4, "the published one is")

    def test_an_older_version_is_served(self):
        old = b"%s  containerd-2.4.1-windows-amd64.tar.gz\n" % sha256(FILES[CONTAINERD]).encode()
        self.assert_refused({CONTAINERD + ".sha256sum": old}, 1, "no SHA-256 of 'containerd-2.4.2-windows-amd64")

    def test_no_digest(self):
        self.assert_refused({K8S + "kubelet.exe.sha256": odd.http(b"", "404 Not Found")}, 1, "answers 404")
        self.assert_refused({K8S + "kubelet.exe.sha256": b"<html></html>"}, 1, "does not contain a SHA-256")

    def test_it_goes_away_on_the_way(self):
        self.assert_refused({PLUGINS: odd.http(b"", "503 Service Unavailable")}, 1, "answers 503")
        half = b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\nConnection: close\r\n\r\nhalf"
        self.assert_refused({CONTAINERD: half}, 1, "artifact 'containerd'")

    def test_redirects_that_are_refused(self):
        around = b"HTTP/1.1 302 Found\r\nLocation: /up/" + (K8S + "kubelet.exe").encode() + \
            b"\r\nContent-Length: 0\r\n\r\n"
        self.assert_refused({K8S + "kubelet.exe": around}, 1, "redirect")
        plain = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/x\r\nContent-Length: 0\r\n\r\n"
        self.assert_refused({K8S + "kubelet.exe": plain}, 1, "artifact 'kubelet'")


if __name__ == "__main__":
    mirror.run_counted()
