"""The sandbox image of `winjoin bundle create --images` from a registry that wants an anonymous token: where it
is got, who sees it, and what is refused. What is refused leaves no file."""
import json
import os
import subprocess
import tarfile
import time
import unittest

import mirror
import published
import releases
from mirror import PROGRAMS, odd

PAUSE = releases.PAUSE
TOKEN = "abc.DEF-123"


def wants(realm):
    return odd.http(b"", "401 Unauthorized", 'WWW-Authenticate: Basic realm="no"',
                    'WWW-Authenticate: Bearer realm="%s",service="registry",scope="repository:pause:pull"' % realm)


def to(url):
    return odd.http(b"", "307 Temporary Redirect", "Location: " + url)


class Registry(unittest.TestCase):
    setUpClass = classmethod(mirror.Fetched.setUpClass.__func__)
    setUp, create = mirror.Fetched.setUp, published.Published.create

    def serve(self, answers):
        """path -> answer, or a function of the server that makes one."""
        server = odd.Server(odd.Odd(paths={
            path: what if callable(what) else lambda _, w=what: w for path, what in answers.items()}))
        self.addCleanup(server.stop)
        return server

    def registry(self, realm, parts):
        """The base of one whose manifests and blobs want a token; the programs beside it want none."""
        exe = (mirror.ROOT / "build/windows/winjoin-probe.exe").read_bytes()
        programs = releases.releases({name: exe for name in [os.path.basename(path) for path in PROGRAMS.values()] +
                                       ["flanneld.exe", "ctr.exe"]})
        answers = {"/" + path: odd.http(data) for path, data in programs.items()}
        for path, what in parts.items():
            answers["/" + path] = lambda server, w=what: w if server.request.authorized else wants(realm)
        server = self.serve(answers)
        return server, "https://" + server.endpoint

    def parts(self):
        return {path: odd.http(data) for path, data in releases.pause({"10.0.20348.1": b"of 2022"}).items()}

    def tokens(self, answer):
        server = self.serve({"/token": answer})
        return server, "https://%s/token" % server.endpoint

    def test_the_token_is_for_the_registry_alone(self):
        tokens, realm = self.tokens(odd.http(json.dumps({"token": TOKEN, "expires_in": 60}).encode()))
        parts = self.parts()
        blobs = self.serve({"/" + path: what for path, what in parts.items()})
        moved = {path: to("https://%s/%s" % (blobs.endpoint, path)) if "/blobs/" in path else what
                 for path, what in parts.items()}
        registry, base = self.registry(realm, moved)
        done, file = self.create(base, 0, "--images")
        self.assertTrue(file.exists())
        self.assertEqual(set(registry.authorized), {b"authorization: bearer " + TOKEN.lower().encode()})
        self.assertEqual((tokens.connections, tokens.authorized), (1, []))
        self.assertEqual((blobs.connections > 0, blobs.authorized), (True, []))
        self.assertNotIn(TOKEN, done.stdout + done.stderr)

    def assert_refused(self, realm, code, says, parts=None):
        begin = time.monotonic()
        registry, base = self.registry(realm, parts or self.parts())
        done, file = self.create(base, code, "--images")
        self.assertLess(time.monotonic() - begin, 40)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertRegex(errors[0], "fetch image 'registry.k8s.io/pause:3.10.2': .*" + says)
        self.assertFalse(file.exists())
        return registry

    def test_addresses_that_are_refused(self):
        plain = self.tokens(odd.http(b'{"token":"x"}'))[1].replace("https:", "http:")
        for realm in (plain, "file:///etc/passwd", "//127.0.0.1/token", "ftp://127.0.0.1/token", ""):
            with self.subTest(realm):
                self.setUp()
                self.assertEqual(self.assert_refused(realm, 4, "is not got by https").authorized, [])

    def test_answers_that_are_refused(self):
        around = self.serve({"/token": odd.http(b'{"token":"x"}')})
        for answer, code, says in (
                (odd.http(b"", "403 Forbidden"), 1, "403: it gives no token without credentials"),
                (to("https://%s/token" % around.endpoint), 1, "answers 307"),
                (odd.http(b"<html>"), 1, "get a token from"),
                (odd.http(b'{"token":"' + b"x" * 1000000 + b'"}'), 1, "longer than 65536 bytes"),
                (odd.http(b'{"token":"a\\r\\nX-Y: z"}'), 1, "no usable token"),
                (lambda server: odd.endless(b"HTTP/1.1 200 OK\r\n\r\n", b" " * 65536)(None, 1), 1, "longer than 65536")):
            with self.subTest(says):
                self.setUp()
                tokens, realm = self.tokens(answer)
                self.assert_refused(realm, code, says)
                self.assertEqual(tokens.authorized, [])
        self.assertEqual(around.connections, 0)

    def test_a_server_that_is_redirected_to_has_no_say(self):
        """What it asks for is not followed: the registry's own word counts."""
        tokens, realm = self.tokens(odd.http(b'{"token":"x"}'))
        other = self.serve({"/" + PAUSE + "manifests/3.10.2": wants(realm)})
        index = to("https://%s/%smanifests/3.10.2" % (other.endpoint, PAUSE))
        registry, base = self.registry(None, {})
        registry.odd.paths["/" + PAUSE + "manifests/3.10.2"] = lambda _: index
        done, file = self.create(base, 1, "--images")
        self.assertRegex(done.stderr, "error: fetch image .*401: access requires credentials")
        self.assertFalse(file.exists())
        self.assertEqual(tokens.connections, 0)

    def test_a_token_that_is_not_enough(self):
        """Asked for once more, then told."""
        tokens, realm = self.tokens(odd.http(json.dumps({"token": TOKEN}).encode()))
        parts = {path: wants(realm) for path in self.parts()}
        self.assert_refused(realm, 1, "401: access requires credentials", parts)
        self.assertEqual(tokens.connections, 1)

    # --- images of one's own

    def create_own(self, parts, code, *more, within=()):
        exe = (mirror.ROOT / "build/windows/winjoin-probe.exe").read_bytes()
        programs = releases.releases({name: exe for name in [os.path.basename(path) for path in PROGRAMS.values()] +
                                       ["flanneld.exe", "ctr.exe"]})
        server = self.serve({"/" + path: what for path, what in
                             {**{path: odd.http(data) for path, data in programs.items()}, **parts}.items()})
        to = self.host / "own"
        done = subprocess.run([*within, mirror.WINJOIN, "bundle", "create", "--kubernetes-version", "v1.37.1", "--network-plugin",
                               "win-overlay", "--source-base", "https://" + server.endpoint, "--image", releases.OWN, *more, str(to)],
                              capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "SSL_CERT_FILE": self.roots})
        self.assertEqual(done.returncode, code, done.stderr)
        return done, to

    def verify(self, folder, code):
        done = subprocess.run([mirror.WINJOIN, "bundle", "verify", str(folder)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_an_image_of_ones_own(self):
        layer = os.urandom(9 << 20)
        parts, asked = releases.own(odd.http, layer)
        done, folder = self.create_own(parts, 0, "--windows-build", "20348", "-o", "json")
        self.assertEqual([image["name"] for image in json.loads(done.stdout)["images"]], [releases.OWN])
        archive = folder / "images/r.test_own_app_7.tar"
        with tarfile.open(archive) as tar:
            names = json.load(tar.extractfile("index.json"))["manifests"][0]["annotations"]
            self.assertEqual(names["io.containerd.image.name"], releases.OWN)
            self.assertEqual(tar.extractfile("blobs/sha256/" + releases.sha256(layer)).read(), layer)
        self.verify(folder, 0)
        whole = archive.read_bytes()
        for cut in (len(whole) // 2, 0, 100):  # of a run that was ended there
            asked.clear()
            archive.write_bytes(whole[:cut])
            self.create_own(parts, 0, "--windows-build", "20348")
            self.assertEqual(archive.read_bytes(), whole)
            self.assertEqual([bool(begin) for begin in asked], [cut > 1000])
        archive.write_bytes(whole[:-2000] + b"x" + whole[-1999:])
        self.assertIn("it is not what the lock says", self.verify(folder, 4))

    def test_one_that_does_not_come_whole_makes_no_bundle(self):
        layer = os.urandom(1 << 20)
        parts, _ = releases.own(odd.http, layer)
        blob = "r.test/v2/own/app/blobs/sha256:" + releases.sha256(layer)
        for what, code, says in ((odd.http(os.urandom(1 << 20)), 4, "has another digest or size"),
                                 (odd.http(b"", "404 Not Found"), 1, "no such file"),
                                 (odd.http(layer + b"x"), 4, "longer than")):
            with self.subTest(says):
                done, folder = self.create_own({**parts, blob: what}, code)
                self.assertRegex(done.stderr, "error: fetch image 'r.test/own/app:7': .*" + says)
                self.assertFalse((folder / "winjoin.lock").exists())

    def test_a_full_disk_is_told(self):
        if os.getuid():
            self.skipTest("a small disk is root's to mount")
        full = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=6m tmpfs "$1" && shift && exec "$@"', "sh", str(self.host))
        parts, _ = releases.own(odd.http, os.urandom(9 << 20))
        done, _ = self.create_own(parts, 1, "--windows-build", "20348", within=full)
        self.assertRegex(done.stderr, "error: fetch image 'r.test/own/app:7': .*write '.*r.test_own_app_7.tar': No space left")

    def test_one_of_another_build(self):
        parts, _ = releases.own(odd.http, b"layer", "10.0.17763.1")
        done, folder = self.create_own(parts, 1, "--windows-build", "20348")
        self.assertIn("error: r.test/own/app:7 is not for build 20348 of Windows, but for 10.0.17763.1", done.stderr)
        self.assertFalse((folder / "winjoin.lock").exists())


if __name__ == "__main__":
    mirror.run_counted()
