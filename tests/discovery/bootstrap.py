"""Drives `winjoin join phase certificate` in a rehearsal against the test API server."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import cases

ROOT = cases.ROOT
KC = ROOT / "tests/controlplane/kc"
NODE = "win-9"


class Bootstrap(unittest.TestCase):
    """One server and one empty host for each test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = cases.Server(os.path.join(self.folder.name, "server"))
        self.rootfs = os.path.join(self.folder.name, "host")
        os.mkdir(self.rootfs)
        self.pki = pathlib.Path(self.rootfs, "var/lib/kubelet/pki")

    def tearDown(self):
        self.server.stop()
        self.folder.cleanup()

    def start(self):
        facts = self.server.facts
        return subprocess.Popen(
            [ROOT / "build/native/winjoin", "join", "phase", "certificate", facts["endpoint"],
             "--token", cases.TOKEN, "--discovery-token-ca-cert-hash", facts["caCertHash"],
             "--node-name", NODE, "--rootfs", self.rootfs, "--progress", "plain"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def end(self, process, code):
        """What it said, after it ended as it should."""
        said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, code, said)
        self.assertNotIn(cases.SECRET, said)
        return said

    def run_it(self, code=0):
        return self.end(self.start(), code)

    def kc(self, *words):
        return subprocess.run([KC, "--kubeconfig", self.server.facts["kubeconfig"], *words],
                              capture_output=True, text=True, timeout=30, check=True).stdout

    def requests(self):
        return [item["metadata"]["name"]
                for item in json.loads(self.kc("get", "csr", "-o", "json"))["items"]]

    def wait_for_request(self):
        for _ in range(100):
            if self.requests():
                return self.requests()[0]
            time.sleep(0.1)
        self.fail("no certificate signing request came")

    def assert_stored(self):
        """The kubelet's own layout; the certificate is this node's and its key is beside it."""
        current = self.pki / "kubelet-client-current.pem"
        self.assertTrue(current.is_symlink())
        text = current.read_text()
        self.assertLess(text.index("BEGIN CERTIFICATE"), text.index("BEGIN EC PRIVATE KEY"))
        self.assertEqual(os.stat(current).st_mode & 0o077, 0, "others may read the key")
        said = subprocess.run(["openssl", "x509", "-noout", "-subject", "-in", current],
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("O = system:nodes, CN = system:node:" + NODE, said)
        keys = [subprocess.run(["openssl", *words, "-in", current], capture_output=True,
                               check=True).stdout
                for words in (("x509", "-noout", "-pubkey"), ("pkey", "-pubout"))]
        self.assertEqual(keys[0], keys[1])
        self.assertEqual([p.name for p in self.pki.iterdir() if p.name.endswith(".tmp")], [])

    def test_approved_at_once_and_kept(self):
        self.run_it()
        self.assert_stored()
        self.assertIn("is kept", self.run_it())
        self.assertEqual(len(self.requests()), 1)

    def test_the_token_is_nowhere_on_disk(self):
        self.run_it()
        for path in pathlib.Path(self.rootfs).rglob("*"):
            if path.is_file():
                self.assertNotIn(cases.SECRET.encode(), path.read_bytes(), path)

    def test_approved_by_hand(self):
        self.server.ask(op="csr", mode="manual")
        process = self.start()
        name = self.wait_for_request()
        time.sleep(4)
        self.kc("approve", name)
        self.assertIn("kubectl certificate approve " + name, self.end(process, 0))
        self.assert_stored()

    def test_denied_and_failed(self):
        self.server.ask(op="csr", mode="deny")
        self.assertIn("is denied, reason: DeniedByTest", self.run_it(1))
        self.server.ask(op="csr", mode="fail")
        self.assertIn("failed, reason: SignerValidationFailure", self.run_it(1))
        self.server.ask(op="csr", mode="auto")
        self.run_it()
        self.assert_stored()
        self.assertEqual(len(self.requests()), 3)

    def test_killed_while_it_waits(self):
        self.server.ask(op="csr", mode="manual")
        process = self.start()
        name = self.wait_for_request()
        time.sleep(0.5)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.kc("approve", name)
        self.run_it()
        self.assert_stored()
        self.assertEqual(self.requests(), [name])

    def test_interrupted(self):
        self.server.ask(op="csr", mode="manual")
        process = self.start()
        self.wait_for_request()
        process.send_signal(signal.SIGINT)
        self.end(process, 130)

    def test_watches_that_drop(self):
        self.server.ask(op="csr", mode="manual")
        process = self.start()
        name = self.wait_for_request()
        for _ in range(3):
            self.server.ask(op="restart-watches")
            time.sleep(0.4)
        self.kc("approve", name)
        self.end(process, 0)
        self.assert_stored()

    def test_watch_is_not_granted(self):
        self.server.ask(op="csr", mode="manual")
        self.server.ask(op="fault", path=".*/certificatesigningrequests", method="GET", skip=1,
                        count=1, code=403, reason="Forbidden", user="system:bootstrap:")
        process = self.start()
        name = self.wait_for_request()
        self.kc("approve", name)
        self.end(process, 0)
        self.assert_stored()


if __name__ == "__main__":
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(Bootstrap))
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print("%d passed, %d failed, %d skipped" % (result.testsRun - failed - skipped, failed, skipped))
    sys.exit(1 if failed else 0)
