"""Drives `winjoin join phase certificate` in a rehearsal against the test API server."""
import base64
import datetime
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
sys.path.append(str(ROOT / "tests"))
from controlplane import pki  # noqa: E402
from controlplane.client import Client  # noqa: E402
from cryptography import x509  # noqa: E402
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402

CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests/"
KC = ROOT / "tests/controlplane/kc"
NODE = "win-9"


class Bootstrap(unittest.TestCase):
    """One server and one empty host for each test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.server = cases.Server(os.path.join(self.folder.name, "server"))
        self.rootfs = os.path.join(self.folder.name, "host")
        os.mkdir(self.rootfs)
        self.answered = []  # names of requests that were given a status
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
        self.assertIn("keeping the stored certificate", self.run_it())
        self.assertEqual(len(self.requests()), 1)

    def test_the_token_is_nowhere_on_disk(self):
        self.run_it()
        for path in pathlib.Path(self.rootfs).rglob("*"):
            if path.is_file():
                self.assertNotIn(cases.SECRET.encode(), path.read_bytes(), path)

    def test_approved_by_hand(self):
        self.server.ask(op="csr", mode="manual")
        process = self.start()
        name, said = self.wait_for_request(), ""
        while "kubectl certificate approve " + name not in said:
            line = process.stdout.readline()
            self.assertTrue(line, said)
            said += line
        self.kc("approve", name)
        self.end(process, 0)
        self.assertNotIn(cases.SECRET, said)
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

    def authority(self):
        """The cluster's own, with its key."""
        key = next(pathlib.Path(self.folder.name).rglob("ca.key"))
        return pki.Authority(serialization.load_pem_private_key(key.read_bytes(), None),
                             x509.load_pem_x509_certificate(key.with_suffix(".crt").read_bytes()))

    def issue(self, admin, name, status):
        """Puts this status into the request."""
        item = json.loads(admin.send("GET", CSRS + name)[1].read())
        item["status"] = {"conditions": [{"type": kind, "status": "True", "reason": "Odd"}
                                         for kind in status.pop("conditions", ("Approved",))], **status}
        for part in ("/status", "/approval"):
            answer = admin.send("PUT", CSRS + name + part, item)[1]
            self.assertEqual(answer.status, 200)
            item["metadata"] = json.loads(answer.read())["metadata"]

    def test_odd_certificates(self):
        """What a signer may make of the request: none of it is stored, and the next join sends a new request."""
        self.server.ask(op="csr", mode="manual")
        admin, own = Client.of_kubeconfig(self.server.facts["kubeconfig"]), self.authority()
        key = pki.new_ec_key()

        def signed(public, authority=own, node=NODE, organizations=("system:nodes",), days=(-1, 9), usage="client auth"):
            made = (x509.CertificateBuilder().subject_name(pki.name_of("system:node:" + node, organizations))
                    .issuer_name(authority.cert.subject).public_key(public).serial_number(5)
                    .not_valid_before(pki.now() + datetime.timedelta(days=days[0]))
                    .not_valid_after(pki.now() + datetime.timedelta(days=days[1]))
                    .add_extension(x509.ExtendedKeyUsage([pki.EXTENDED_USAGES[usage]]), False)
                    .sign(authority.key, hashes.SHA256()))
            return {"certificate": base64.b64encode(pki.cert_pem(made)).decode()}

        def text(data):
            return {"certificate": base64.b64encode(data).decode()}

        odd = (
            (4, "unable to get local issuer", lambda p: signed(p, pki.Authority.create("another"))),
            (4, "does not match this node's key", lambda p: signed(key.public_key())),
            (4, 'is for "CN=system:node:other,O=system:nodes"', lambda p: signed(p, node="other")),
            (4, 'is for "CN=system:node:win-9", not for', lambda p: signed(p, organizations=())),
            (4, "is after", lambda p: signed(p, days=(-9, -1))),
            (4, "is before", lambda p: signed(p, days=(5, 9))),
            (4, "unsuitable certificate purpose", lambda p: signed(p, usage="server auth")),
            (4, 'is for "CN=kubernetes", not for', lambda p: text(pki.cert_pem(own.cert))),
            (1, "any valid RSA or ECDSA certificates", lambda p: text(b"rubbish")),
            (1, "read a certificate", lambda p: text(b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")),
            (1, "is not base64 text", lambda p: {"certificate": "!"}),
            (1, "is not base64 text", lambda p: text(b"a\0b")),
            (1, "is denied, reason: Odd", lambda p: {**signed(p), "conditions": ("Approved", "Denied")}),
        )
        for number, (code, says, make) in enumerate(odd, 1):
            self.played(admin, number, make, code, says)
            self.assertFalse((self.pki / "kubelet-client-current.pem").exists(), says)

        def with_more(public):
            pem = base64.b64decode(signed(public)["certificate"])
            return text(b"words\n" + pki.key_pem(key) + pem.replace(b"\n", b"\r\n") + b"more words\n")
        self.played(admin, len(odd) + 1, with_more, 0, "approved (Odd)")
        self.assert_stored()

    def played(self, admin, number, make, code, says):
        """One run whose request, the number-th of all, gets the status that make() makes of its key."""
        process = self.start()
        for _ in range(100):
            there = [n for n in self.requests() if n not in self.answered]
            if there:
                break
            time.sleep(0.1)
        self.assertEqual(len(there), 1, "request %d: %s" % (number, says))
        self.answered.append(there[0])
        item = json.loads(admin.send("GET", CSRS + there[0])[1].read())
        request = x509.load_pem_x509_csr(base64.b64decode(item["spec"]["request"]))
        self.issue(admin, there[0], make(request.public_key()))
        self.assertIn(says, self.end(process, code))

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

    def interrupt(self, number):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)  # nohup ignores one
        self.server.ask(op="csr", mode="manual")
        process = self.start()
        self.wait_for_request()
        process.send_signal(number)
        self.end(process, 130)

    def test_interrupted(self):
        self.interrupt(signal.SIGINT)

    def test_terminated(self):
        self.interrupt(signal.SIGTERM)

    def test_terminal_closed(self):
        self.interrupt(signal.SIGHUP)

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
