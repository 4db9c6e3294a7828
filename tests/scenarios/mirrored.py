"""winjoin.exe fetches the node's programs from a mirror beside the control plane: a whole join, and
servers that must not be believed."""
import os
import shutil
import subprocess
import sys
import time
import zipfile

import scene
from scene import netns, snapshot, stage

sys.path += [os.path.join(scene.ROOT, "tests", folder) for folder in ("discovery", "mirror")]
import odd  # noqa: E402
import releases  # noqa: E402

MACHINE = os.path.join(scene.ROOT, "build", "windows", "rig", "machine.exe")
CTR = os.path.join(scene.ROOT, "build", "windows", "rig", "ctr.exe")  # tests/wine/tool_ctr.c
ADDRESS = "10.0.0.10"  # the control plane's machine
FOLDER = "/winjoin"
KUBELET = FOLDER + "/bin/kubelet.exe"
UPSTREAM = releases.K8S + "kubelet.exe"


class Mirrored(scene.Scene):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stage.host.put(MACHINE, r"C:\machine.exe")
        cls.stage.host.put(odd.write(cls.stage.fabric.folder, "roots.crt", odd.shared().pem), r"C:\roots.crt")
        made = cls.stage.host.run([r"C:\machine.exe", "root", r"C:\roots.crt"])
        assert made.returncode == 0, made.stdout + made.stderr
        cls.bare = cls.stage.snapshot()

    def mirror(self, changes=None, ca=odd.shared):
        """A server with the bundle's files; `changes`: path -> what it answers instead. Its URL."""
        self.asked, answers = [], {}
        with zipfile.ZipFile(self.stage.host.path(stage.BUNDLE)) as bundle:
            for name in bundle.namelist():
                answers["%s/%s" % (FOLDER, name)] = odd.http(bundle.read(name))
        return self.serve({**answers, **(changes or {})}, ca) + FOLDER

    def releases(self):
        """The bundle's programs as upstream has them: path -> content."""
        with zipfile.ZipFile(self.stage.host.path(stage.BUNDLE)) as bundle:
            return releases.releases({os.path.basename(name): bundle.read(name) for name in bundle.namelist()})

    def upstream(self, changes=None):
        """A proxy of upstream's hosts; `changes`: path -> what it answers instead. Its URL."""
        self.asked = []
        files = {path: odd.http(data) for path, data in self.releases().items()}
        return self.serve({"/up/" + path: what for path, what in {**files, **(changes or {})}.items()}) + "/up"

    def serve(self, answers, ca=odd.shared):
        paths = {path: self.answer(path, what) for path, what in answers.items()}
        server = netns.within(self.stage.fabric.ns("cp"), odd.Server, odd.Odd(
            ca=ca, leaf=lambda by: odd.issue(by, names=(ADDRESS,)), host=ADDRESS, paths=paths))
        self.addCleanup(server.stop)
        return "https://%s" % server.endpoint

    def answer(self, path, what):
        def give(_server):
            self.asked.append(path)
            return what() if callable(what) else what
        return give

    def from_mirror(self, url, flag="--mirror"):
        return [*self.words(bundle=None), flag, url, *scene.FAST]

    def assert_refused(self, url, code, says, flag="--mirror"):
        done = self.stage.host.run(self.from_mirror(url, flag), timeout=120)
        self.assert_code(done, code)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertRegex(errors[0], says)
        self.assertEqual(snapshot.compare(self.bare, self.stage.snapshot()), [])

    def test_join_and_reset(self):
        url = self.mirror()
        done = self.stage.host.run(self.from_mirror(url), timeout=180)
        self.assert_code(done, 0)
        self.assertEqual(self.ready(), ["True"])
        self.assertEqual(len(self.asked), len(set(self.asked)), self.asked)
        self.assertIn(KUBELET, self.asked)
        self.asked.clear()
        done = self.stage.host.run(self.from_mirror(url), timeout=180)
        self.assert_code(done, 0)
        self.assertEqual(self.asked, [FOLDER + "/winjoin.lock"])
        self.reset()
        self.assert_bare()

    def test_join_from_upstream(self):
        base = self.upstream()
        done = self.stage.host.run(self.from_mirror(base, "--source-base"), timeout=180)
        self.assert_code(done, 0)
        self.assertEqual(self.ready(), ["True"])
        self.assertEqual(len(self.asked), len(set(self.asked)), self.asked)
        self.assertTrue([path for path in self.asked if path.endswith("containerd-2.4.2-windows-amd64.tar.gz")])
        self.asked.clear()
        done = self.stage.host.run(self.from_mirror(base, "--source-base"), timeout=180)
        self.assert_code(done, 0)
        self.assertEqual(self.asked, [])
        self.reset()
        self.assert_bare()

    def test_changed_program(self):
        self.assert_refused(self.mirror({KUBELET: odd.http(b"MZ")}), 4, "artifact 'kubelet': it has 2 bytes")

    def test_misbehaving_mirrors(self):
        """Whatever one does, the host is as it was, and one sentence says why."""
        with zipfile.ZipFile(self.stage.host.path(stage.BUNDLE)) as bundle:
            data = bundle.read("bin/kubelet.exe")
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data)

        def moved(to):
            return odd.http(b"", "302 Found", "Location: " + to)
        for what, changes, code, says in (
                ("lies", {KUBELET: odd.http(data[:-1] + b"?")}, 4, "artifact 'kubelet': its SHA-256 is"),
                ("goes to another host", {KUBELET: moved("https://10.0.0.99/kubelet.exe")}, 1, "answers 302"),
                ("goes on without encryption", {KUBELET: moved("http://%s%s" % (ADDRESS, KUBELET))}, 1, "answers 302"),
                ("goes in a circle", {KUBELET: moved(KUBELET)}, 1, "answers 302"),
                ("goes away after 60 %", {KUBELET: lambda: iter((head + data[:len(data) * 6 // 10],))}, 1,
                 "artifact 'kubelet': GET")):
            with self.subTest(what):
                self.assert_refused(self.mirror(changes), code, says)

    def test_misbehaving_releases(self):
        """The same of upstream's hosts, which a join without a bundle asks."""
        data = self.releases()[UPSTREAM]
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data)
        around = odd.http(b"", "302 Found", "Location: /up/" + UPSTREAM)
        old = releases.sha256(self.releases()[releases.CONTAINERD]).encode() + b"  containerd-2.4.1-windows-amd64.tar.gz\n"
        for what, changes, code, says in (
                ("lies", {UPSTREAM: odd.http(data[:-1] + b"?")}, 4, "kubelet.*its SHA-256 is .* the published one is"),
                ("redirects in a circle", {UPSTREAM: around}, 1, "artifact 'kubelet'.*redirect"),
                ("has no such version", {UPSTREAM + ".sha256": odd.http(b"", "404 Not Found")}, 1, "404: no such file"),
                ("serves an old version", {releases.CONTAINERD + ".sha256sum": odd.http(old)}, 1, "no SHA-256 of"),
                ("goes away after 60 %", {UPSTREAM: lambda: iter((head + data[:len(data) * 6 // 10],))}, 1,
                 "artifact 'kubelet': GET")):
            with self.subTest(what):
                self.assert_refused(self.upstream(changes), code, says, "--source-base")

    def test_join_from_releases_that_come_with_difficulty(self):
        """One breaks off after 60 % and comes back, one is redirected, one server is busy, one is slow."""
        files = self.releases()
        kubelet, plugins = files[UPSTREAM], files[releases.PLUGINS]
        cut = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(kubelet)
        broken, busy = [cut + kubelet[:len(kubelet) * 6 // 10]], [odd.http(b"", "503 Service Unavailable")]

        def slowly():
            yield b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(plugins)
            for at in range(0, len(plugins), len(plugins) // 10 + 1):
                time.sleep(0.2)
                yield plugins[at:at + len(plugins) // 10 + 1]
        base = self.upstream({
            UPSTREAM: lambda: broken.pop() if broken else odd.http(kubelet), releases.PLUGINS: slowly,
            releases.CONTAINERD: odd.http(b"", "302 Found", "Location: /up/elsewhere"),
            "elsewhere": lambda: busy.pop() if busy else odd.http(files[releases.CONTAINERD])})
        done = self.stage.host.run(self.from_mirror(base, "--source-base"), timeout=180)
        self.assert_code(done, 0)
        self.assertEqual(self.ready(), ["True"])
        self.assertEqual(self.asked.count("/up/" + UPSTREAM), 2)
        self.reset()
        self.assert_bare()

    def test_a_bundle_is_the_same_as_on_linux(self):
        words = ["bundle", "create", "--kubernetes-version", "v1.37.1", "--network-plugin", "flannel", "--source-base"]
        base = self.upstream()
        done = self.stage.host.run([stage.PROGRAM, *words, base, r"C:\made.zip"], timeout=120)
        self.assert_code(done, 0)
        made = self.stage.host.path(r"C:\made.zip")
        self.addCleanup(os.remove, made)
        there = os.path.join(self.stage.fabric.folder, "made.zip")
        roots = odd.write(self.stage.fabric.folder, "roots.crt", odd.shared().pem)
        linux = subprocess.run(netns.command(self.stage.fabric.ns("cp"), [stage.NATIVE, *words, base, there]),
                               env={**os.environ, "SSL_CERT_FILE": roots}, capture_output=True, text=True, check=False)
        self.assertEqual(linux.returncode, 0, linux.stderr)
        with open(made, "rb") as a, open(there, "rb") as b:
            self.assertEqual(releases.sha256(a.read()), releases.sha256(b.read()))

    # --- images of one's own

    MADE = r"C:\made"
    ARCHIVE = MADE + r"\images\r.test_own_app_7.tar"
    IMPORTED = r"C:\ProgramData\containerd\imported.txt"

    def registry(self, layer, first=None, **more):
        """Releases with ctr, and a registry with an image of this layer; its URL and what the layer was asked for.
        first: what is answered to the first who asks for the layer."""
        parts, asked = releases.own(odd.http, layer, **more)
        if first:
            blob, once = next(path for path in parts if path.endswith(releases.sha256(layer))), [first]
            parts[blob] = lambda server, give=parts[blob]: once.pop() if once else give(server)
        with zipfile.ZipFile(self.stage.host.path(stage.BUNDLE)) as bundle:
            programs = {os.path.basename(name): bundle.read(name) for name in bundle.namelist()}
        with open(CTR, "rb") as f:
            programs["ctr.exe"] = f.read()
        files = {path: odd.http(data) for path, data in releases.releases(programs).items()}
        server = netns.within(self.stage.fabric.ns("cp"), odd.Server, odd.Odd(
            leaf=lambda by: odd.issue(by, names=(ADDRESS,)), host=ADDRESS,
            paths={"/up/" + path: what if callable(what) else lambda _, w=what: w
                   for path, what in {**files, **parts}.items()}))
        self.addCleanup(server.stop)
        return "https://%s/up" % server.endpoint, asked

    def create_words(self, url, to, *more):
        return ["bundle", "create", "--kubernetes-version", "v1.37.1", "--network-plugin", "flannel", "--source-base", url,
                "--image", releases.OWN, *more, to]

    def create(self, url, *more):
        self.addCleanup(shutil.rmtree, self.stage.host.path(self.MADE), True)
        return self.stage.host.run([stage.PROGRAM, *self.create_words(url, self.MADE, *more)], timeout=120)

    def run_with_images(self, *words):
        return self.stage.host.run([*words, "--bundle", self.MADE], timeout=240)

    def test_images_of_ones_own_are_made_joined_with_and_prepared(self):
        layer = os.urandom(9 << 20)
        url, asked = self.registry(layer)
        self.assert_code(self.create(url, "--windows-build", "20348"), 0)
        archive = self.stage.host.path(self.ARCHIVE)
        with open(archive, "rb") as f:
            whole = f.read()
        there = os.path.join(self.stage.fabric.folder, "made")
        roots = odd.write(self.stage.fabric.folder, "roots.crt", odd.shared().pem)
        linux = subprocess.run(netns.command(self.stage.fabric.ns("cp"),
                                             [stage.NATIVE, *self.create_words(url, there, "--windows-build", "20348")]),
                               env={**os.environ, "SSL_CERT_FILE": roots}, capture_output=True, text=True, check=False)
        self.assertEqual(linux.returncode, 0, linux.stderr)
        with open(os.path.join(there, "images", os.path.basename(archive)), "rb") as f:
            self.assertEqual(releases.sha256(f.read()), releases.sha256(whole))
        for cut in (len(whole) // 2, 0, 100, len(whole) - 600):  # of a run that was ended there
            asked.clear()
            with open(archive, "wb") as f:
                f.write(whole[:cut])
            self.assert_code(self.create(url, "--windows-build", "20348"), 0)
            with open(archive, "rb") as f:
                self.assertTrue(f.read() == whole, "cut at %d" % cut)
            self.assertEqual([bool(begin) for begin in asked], [cut > 1000] if cut < len(layer) else [])
        self.assert_code(self.stage.host.run([stage.PROGRAM, "bundle", "verify", self.MADE], timeout=60), 0)
        self.joins_with_them()
        self.prepares_with_them()
        with open(archive, "r+b") as f:
            f.seek(len(whole) // 2)
            f.write(b"another")
        done = self.run_with_images(*self.words(bundle=None), *scene.FAST)
        self.assert_code(done, 4)
        self.assertIn("image 'r.test/own/app:7': it is not what the lock says", done.stderr)
        self.reset()  # a join that fails keeps what it did, and other tests begin with a bare machine

    def assert_imported(self):
        with open(self.stage.host.path(self.IMPORTED), encoding="ascii") as f:
            self.assertEqual(f.read(), releases.OWN + "\n")
        self.assertFalse(os.path.exists(self.stage.host.path(r"C:\ProgramData\winjoin\image.tar")))

    def joins_with_them(self):
        for _ in range(2):  # what is there is not imported again
            done = self.run_with_images(*self.words(bundle=None), *scene.FAST)
            self.assert_code(done, 0)
            self.assertIn("1 image of the bundle there", done.stdout + done.stderr)
            self.assert_imported()
        self.assertEqual(self.ready(), ["True"])
        self.reset()

    def prepare_words(self):
        return [stage.PROGRAM, "prepare", "--network-mode", self.stage.mode, "--network-plugin", "flannel",
                "--ignore-preflight-errors", stage.IGNORED]

    def prepares_with_them(self):
        for _ in range(2):
            self.assert_code(self.run_with_images(*self.prepare_words()), 0)
            self.assert_imported()
        self.assert_code(self.stage.winjoin("reset", "--force"), 0)

    def test_a_preparation_that_is_killed_in_each_phase_goes_on(self):
        url, _ = self.registry(os.urandom(9 << 20))
        self.assert_code(self.create(url, "--windows-build", "20348"), 0)
        before = self.stage.snapshot()
        for phase in ("preflight", "programs", "folders", "containerd", "record"):
            killed = scene.Following(self.stage, [*self.prepare_words(), "--bundle", self.MADE])
            self.addCleanup(killed.kill)
            killed.until(lambda line, p=phase: line["phase"] == p and line["state"] == "started")
            time.sleep(0.2)
            killed.kill()
        self.assert_code(self.run_with_images(*self.prepare_words()), 0)
        self.assert_imported()
        self.assert_code(self.stage.winjoin("reset", "--force"), 0)
        self.assertEqual(snapshot.compare(before, self.stage.snapshot()), [])

    def test_a_bundle_that_is_ended_while_it_is_made_goes_on(self):
        layer = os.urandom(9 << 20)
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(layer)
        url, asked = self.registry(layer, odd.endless(head + layer[:6 << 20], layer[6 << 20:(6 << 20) + 1], 0.2)(None, 1))
        self.addCleanup(shutil.rmtree, self.stage.host.path(self.MADE), True)
        archive = self.stage.host.path(self.ARCHIVE)
        making = self.stage.host.spawn([stage.PROGRAM, *self.create_words(url, self.MADE, "--windows-build", "20348")],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(making.kill)
        scene.wait_until(lambda: os.path.exists(archive) and os.path.getsize(archive) > 4 << 20, 60, "no part was written")
        making.kill()
        making.wait()
        self.assertFalse(os.path.exists(self.stage.host.path(self.MADE + r"\winjoin.lock")))
        self.assert_code(self.create(url, "--windows-build", "20348"), 0)
        self.assertEqual([begin >= 4 << 20 for begin in asked], [True])
        self.assert_code(self.stage.host.run([stage.PROGRAM, "bundle", "verify", self.MADE], timeout=60), 0)

    def test_images_of_another_build_are_refused_before_a_change(self):
        url, _ = self.registry(b"layer", build="10.0.17763.1")
        done = self.create(url, "--windows-build", "20348")
        self.assert_code(done, 1)
        self.assertIn("r.test/own/app:7 is not for build 20348 of Windows, but for 10.0.17763.1", done.stderr)
        self.assert_code(self.create(url), 0)
        before = self.stage.snapshot()
        done = self.run_with_images(*self.words(bundle=None), *scene.FAST)
        self.assert_code(done, 2)
        self.assertIn("the bundle's image r.test/own/app:7 is not for build 20348 of Windows, but for 10.0.17763.1", done.stderr)
        self.assertIn("winjoin bundle create --windows-build 20348 --image r.test/own/app:7", done.stderr)
        self.assertEqual(snapshot.compare(before, self.stage.snapshot()), [])

    def test_unknown_authority(self):
        self.assert_refused(self.mirror(ca=odd.stranger), 4, "certificate")

    def test_killed_while_it_fetches(self):
        drips = odd.endless(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x", 0.2)
        join = scene.Following(self.stage, self.from_mirror(self.mirror({KUBELET: lambda: drips(None, 1)})))
        self.addCleanup(join.kill)
        end = time.monotonic() + 60
        while KUBELET not in self.asked and time.monotonic() < end:
            time.sleep(0.05)
        join.kill()
        self.assertIn(KUBELET, self.asked, join.said())
        self.assert_bare()
