"""computenetwork.dll and vmcompute.dll under Wine: what goes in and comes out of their exports."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import hnsctl  # noqa: E402  (beside this file)

ROOT = os.path.dirname(os.path.dirname(HERE))
RIG = os.path.join(ROOT, "build", "windows", "rig")
HNSD = os.path.join(ROOT, "build", "native", "hnsd")
WINE, WINESERVER = "/usr/lib/wine/wine64", "/usr/lib/wine/wineserver64"
QUERY = '{"SchemaVersion":{"Major":2,"Minor":0}}'
ZERO = "00000000-0000-0000-0000-000000000000"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


PORT = free_port()
CHOSEN = "11111111-2222-3333-4444-555555555555"
NEEDED = [HNSD, WINE] + [os.path.join(RIG, n) for n in ("computenetwork.dll", "vmcompute.dll",
                                                        "hnscall.exe")]


@unittest.skipUnless(all(os.path.exists(p) for p in NEEDED), "Wine or the rig's programs are missing")
class Dlls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        prefix = os.path.join(cls.folder, "wine")
        subprocess.run([sys.executable, os.path.join(ROOT, "tests", "wine", "prefix.py"), "copy",
                        prefix, "--dlls", RIG], check=True, capture_output=True)
        cls.environment = dict(os.environ, WINEPREFIX=prefix, WINEDEBUG="-all", WINEARCH="win64",
                               WINEDLLOVERRIDES="mscoree,mshtml=", HNS_PORT=str(PORT), DISPLAY="")

    @classmethod
    def tearDownClass(cls):
        subprocess.run([WINESERVER, "-k"], env=cls.environment, check=False)
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.daemon = None

    def tearDown(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait(20)

    def start(self):
        self.daemon = subprocess.Popen([HNSD], env=self.environment)
        for _ in range(500):
            try:
                hnsctl.control({"op": "dump"}, port=PORT)
                return
            except OSError:
                time.sleep(0.02)
        self.fail("hnsd does not listen")

    def call(self, export, signature, *inputs, dll="computenetwork"):
        """(HRESULT, [outputs])."""
        done = subprocess.run([WINE, os.path.join(RIG, "hnscall.exe"),
                               os.path.join(RIG, dll + ".dll").replace("/", "\\"), export,
                               signature, *inputs], env=self.environment, capture_output=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, *rest = done.stdout.decode().splitlines()
        return int(first, 16), rest

    def v1(self, *inputs):
        return self.call("HNSCall", "ssso", *inputs, dll="vmcompute")

    def test_without_hnsd(self):
        self.assertEqual(self.call("HcnEnumerateNetworks", "soo", QUERY),
                         (0x800706b5, ["NULL", "NULL"]))
        self.assertEqual(self.v1("GET", "/globals/version", ""), (0x800706b5, ["NULL"]))

    def test_a_network(self):
        self.start()
        name = json.dumps({"SchemaVersion": {"Major": 2}, "Name": "nät"}, ensure_ascii=False)
        hresult, (handle, record) = self.call("HcnCreateNetwork", "gsHo", CHOSEN, name)
        self.assertEqual((hresult, record), (0, "NULL"))
        self.assertEqual(self.call("HcnEnumerateNetworks", "soo", "-"),
                         (0, ['["%s"]' % CHOSEN, "NULL"]))
        hresult, (found, _) = self.call("HcnQueryNetworkProperties", "hsoo", handle, QUERY)
        self.assertEqual((hresult, json.loads(found)["Name"]), (0, "nät"))
        self.assertEqual(self.call("HcnCloseNetwork", "h", handle), (0, []))
        self.assertEqual(self.call("HcnDeleteNetwork", "go", CHOSEN), (0, ["NULL"]))

    def test_refusals(self):
        self.start()
        hresult, (handle, record) = self.call("HcnCreateNetwork", "gsHo", ZERO, '{"Nome":1}')
        self.assertEqual((hresult, handle), (0x803b001b, "0"))
        self.assertIn("Nome: unknown member", json.loads(record)["Error"])
        hresult, (envelope,) = self.v1("GET", "/endpoints/" + CHOSEN, "")
        self.assertEqual(hresult, 0x803b0002)
        self.assertFalse(json.loads(envelope)["Success"])
        self.assertEqual(self.call("HcsOpenComputeSystem", "sHo", "c1", dll="vmcompute")[0],
                         0xc037010e)

    def test_every_documented_export_is_there(self):
        wanted = {"HcnEnumerate%ss", "HcnCreate%s", "HcnOpen%s", "HcnModify%s", "HcnDelete%s",
                  "HcnQuery%sProperties", "HcnClose%s"}
        kinds = ("Network", "Endpoint", "Namespace", "LoadBalancer", "SdnRoute")
        names = {w % kind for w in wanted for kind in kinds} | {
            "HcnRegisterServiceCallback", "HcnUnregisterServiceCallback"}
        for name in names:
            self.assertIn(name.encode(), self.exports("computenetwork"))
        self.assertIn(b"HNSCall", self.exports("vmcompute"))

    def exports(self, dll):
        with open(os.path.join(RIG, dll + ".dll"), "rb") as f:
            return f.read().split(b"\0")


if __name__ == "__main__":
    unittest.main()
