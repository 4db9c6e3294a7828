"""hnsd as its callers see it: frames, the data plane's turn, control, the record, its end."""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import hnsctl  # noqa: E402  (beside this file)

HNSD = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "native", "hnsd")
QUERY = '{"SchemaVersion":{"Major":2,"Minor":0}}'
ZERO = "00000000-0000-0000-0000-000000000000"
BRIDGE = json.dumps({
    "SchemaVersion": {"Major": 2, "Minor": 0}, "Name": "cbr0", "Type": "L2Bridge",
    "Ipams": [{"Type": "Static", "Subnets": [{
        "IpAddressPrefix": "10.244.1.0/24",
        "Routes": [{"NextHop": "10.244.1.1", "DestinationPrefix": "0.0.0.0/0"}]}]}]})
SET = {"adapters": [{"alias": "Ethernet", "mac": "00-15-5D-01-02-03", "dhcp": False,
                     "addresses": ["10.200.0.11/24"]}], "version": [13, 2], "outageMs": 400}
# Writes what it is told to a file, says yes but to "refuse", and is slow.
CHILD = r"""
import json, sys, time
log = open(sys.argv[1], "w")
for line in sys.stdin:
    told = json.loads(line)
    time.sleep(0.05)
    log.write(line)
    log.flush()
    print(json.dumps({"ok": told.get("op") != "refuse", "op": told.get("op", "")}), flush=True)
log.write('{"ended":true}\n')
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@unittest.skipUnless(os.access(HNSD, os.X_OK), "build/native/hnsd is not built")
class Hnsd(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        self.told = os.path.join(self.folder.name, "told")
        child = os.path.join(self.folder.name, "child.py")
        with open(child, "w", encoding="utf-8") as f:
            f.write(CHILD)
        self.daemon = subprocess.Popen(
            [HNSD, "--port", str(self.port), "--set", json.dumps(SET),
             "--apply", "exec %s %s %s" % (sys.executable, child, self.told)],
            stderr=subprocess.PIPE, text=True)
        for _ in range(500):
            try:
                self.control(op="dump")  # answered once the first state has been told
                return
            except OSError:
                time.sleep(0.02)
        self.fail("hnsd does not listen")

    def tearDown(self):
        if self.daemon.poll() is None:
            self.daemon.terminate()
            self.daemon.wait(20)
        self.daemon.stderr.close()
        self.folder.cleanup()

    def call(self, *args, **more):
        return hnsctl.call(*args, port=self.port, **more)

    def control(self, **request):
        return hnsctl.control(request, port=self.port)

    def lines(self):
        with open(self.told, encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def test_a_call_is_answered_after_its_packets_are_made(self):
        hresult, outputs = self.call("HcnCreateNetwork", "gsHo", ZERO, BRIDGE)
        self.assertEqual((hresult, outputs[1]), (0, None))
        self.assertEqual([n["Name"] for n in self.lines()[-1]["networks"]], ["cbr0"])
        hresult, outputs = self.call("HcnQueryNetworkProperties", "hsoo", outputs[0], QUERY)
        self.assertEqual((hresult, json.loads(outputs[0])["Name"]), (0, "cbr0"))

    def test_what_changes_nothing_writes_nothing(self):
        before = len(self.lines())
        hresult, outputs = self.call("HcnEnumerateNetworks", "soo", QUERY)
        self.assertEqual((hresult, outputs), (0, ["[]", None]))
        hresult, outputs = self.call("HcnCreateNetwork", "gsHo", ZERO, '{"Nome":1}')
        self.assertEqual((hresult, outputs[0]), (0x803b001b, None))
        self.assertIn("Nome: unknown member", json.loads(outputs[1])["Error"])
        self.assertEqual(len(self.lines()), before)

    def test_outputs_fit_the_signature(self):
        self.assertEqual(self.call("HcnCloseNetwork", "h", "1008"), (0, []))
        self.assertEqual(self.call("HcsModifyServiceSettings", "so", "{}")[0], 0x80004001)
        self.assertEqual(len(self.call("HNSCall", "ssso", "GET", "/networks/", "")[1]), 1)

    def test_null_and_unicode_go_through(self):
        self.assertEqual(self.call("HcnEnumerateNetworks", "soo", None)[1][0], "[]")
        name = json.dumps({"SchemaVersion": {"Major": 2}, "Name": "nät"}, ensure_ascii=False)
        handle = self.call("HcnCreateNetwork", "gsHo", ZERO, name)[1][0]
        told = self.call("HcnQueryNetworkProperties", "hsoo", handle, QUERY)[1][0]
        self.assertEqual(json.loads(told)["Name"], "nät")

    def test_nonsense_on_the_wire_ends_only_its_own_connection(self):
        for junk in (b"", b"\x01", struct.pack("<I", 0xffffffff), struct.pack("<I", 3) + b"abc",
                     struct.pack("<II", 4, 99), struct.pack("<III", 8, 0xffffffff, 0xffffffff),
                     struct.pack("<I", 8) + struct.pack("<I", 2) + b"abc"):
            with socket.create_connection(("127.0.0.1", self.port), 5) as conn:
                conn.sendall(junk)
                conn.shutdown(socket.SHUT_WR)
                self.assertEqual(conn.recv(16), b"")
        self.assertEqual(self.call("HcnEnumerateNetworks", "soo", QUERY)[0], 0)

    def test_the_uplink_goes_away_and_comes_back_by_itself(self):
        self.call("HcnCreateNetwork", "gsHo", ZERO, BRIDGE)
        self.assertTrue(self.control(op="dump")["adapters"][0]["away"])
        time.sleep(0.8)
        adapter = self.lines()[-1]["adapters"][0]
        self.assertEqual((adapter["away"], adapter["staticLost"]), (False, True))

    def test_what_the_data_plane_says_itself_is_not_told_back(self):
        before = len(self.lines())
        request = json.dumps({"op": "adapter", "alias": "Ethernet", "addresses": ["10.200.0.9/24"]})
        self.call("ctl", "so", request, exe="dataplane")
        self.assertEqual(len(self.lines()), before)
        self.assertEqual(self.control(op="dump")["adapters"][0]["addresses"], ["10.200.0.9/24"])

    def test_unknown_operations_are_the_data_planes(self):
        self.assertEqual(self.control(op="exec", namespace="x"), {"ok": True, "op": "exec"})
        self.assertEqual(self.lines()[-1], {"op": "exec", "namespace": "x"})
        self.assertFalse(json.loads(self.call("ctl", "so", '{"op":"refuse"}')[1][0])["ok"])
        with self.assertRaises(RuntimeError):
            hnsctl.control({}, port=self.port)

    def test_a_delay_holds_only_its_own_caller_up(self):
        self.control(op="rule", fn="HcnEnumerateNetworks", delay=1.0)
        slow = subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.path.insert(0, %r); import hnsctl; hnsctl.call("
             "'HcnEnumerateNetworks', 'soo', None, port=%d)" % (HERE, self.port)])
        time.sleep(0.3)
        start = time.monotonic()
        self.call("HcnEnumerateEndpoints", "soo", QUERY)
        self.assertLess(time.monotonic() - start, 0.5)
        self.assertIsNone(slow.poll())
        self.assertEqual(slow.wait(10), 0)

    def test_many_callers_at_once(self):
        code = ("import sys, json; sys.path.insert(0, %r); import hnsctl\n"
                "for i in range(10):\n"
                "    d = json.dumps({'SchemaVersion': {'Major': 2}, 'Name': sys.argv[1] + str(i)})\n"
                "    assert hnsctl.call('HcnCreateNetwork', 'gsHo', %r, d, port=%d)[0] == 0\n"
                % (HERE, ZERO, self.port))
        runs = [subprocess.Popen([sys.executable, "-c", code, who]) for who in "abcd"]
        self.assertEqual([run.wait(60) for run in runs], [0] * 4)
        self.assertEqual(len(self.lines()[-1]["networks"]), 40)
        sizes = [len(line["networks"]) for line in self.lines()]
        self.assertEqual(sizes, sorted(sizes))  # never an older state after a newer one

    def test_the_record(self):
        path = os.path.join(self.folder.name, "calls.jsonl")
        self.control(op="record", file=path)
        handle = self.call("HcnCreateNetwork", "gsHo", ZERO, BRIDGE, dll="computenetwork")[1][0]
        self.control(op="mark", text="here")
        self.call("HcnQueryNetworkProperties", "hsoo", handle, QUERY)
        self.control(op="record")
        self.call("HcnEnumerateNetworks", "soo", QUERY)
        with open(path, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[0]["args"], {"Id": ZERO, "Document": BRIDGE})
        self.assertEqual((lines[0]["n"], lines[0]["fn"], lines[0]["hr"], lines[0]["out"]),
                         (1, "HcnCreateNetwork", "0x00000000", [handle, None]))
        self.assertEqual(lines[1]["mark"], "here")
        self.assertTrue(lines[2]["object"].startswith("Network "))
        self.assertEqual(list(lines[2]["args"]), ["Handle", "Query"])

    def test_a_document_is_rewritten_and_nobody_sees_it(self):
        self.control(op="rewrite", fn="HcnCreateNetwork", find="10.244.1.0/24",
                     replace="10.244.9.0/24")
        document = BRIDGE.replace("10.244.1.1", "10.244.9.1")
        handle = self.call("HcnCreateNetwork", "gsHo", ZERO, document)[1][0]
        kept = self.lines()[-1]["networks"][0]["Ipams"][0]["Subnets"][0]["IpAddressPrefix"]
        self.assertEqual(kept, "10.244.9.0/24")
        told = self.call("HcnQueryNetworkProperties", "hsoo", handle, QUERY)[1][0]
        self.assertIn('"10.244.1.0/24"', told)
        self.control(op="rewrite")
        told = self.call("HcnQueryNetworkProperties", "hsoo", handle, QUERY)[1][0]
        self.assertIn('"10.244.9.0/24"', told)

    def test_a_document_is_rewritten_and_seen(self):
        self.control(op="rewrite", fn="HcnCreateNetwork", find="10.244.1.", replace="10.244.9.",
                     seen=True)
        handle = self.call("HcnCreateNetwork", "gsHo", ZERO, BRIDGE)[1][0]
        told = self.call("HcnQueryNetworkProperties", "hsoo", handle, QUERY)[1][0]
        self.assertIn('"10.244.9.0/24"', told)

    def test_a_call_is_lost(self):
        handle = self.call("HcnCreateNetwork", "gsHo", ZERO, BRIDGE)[1][0]
        before = len(self.lines())
        self.control(op="rewrite", fn="HcnModifyNetwork", find="NetAdapterName", replace="-",
                     lost=True)
        result, _ = self.call("HcnModifyNetwork", "hso", handle, '{"NetAdapterName":"no document"}')
        self.assertEqual((result, len(self.lines())), (0, before))

    def test_a_signal_ends_it_and_the_data_plane(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.daemon.send_signal(number)
            self.assertEqual(self.daemon.wait(10), 0)
            self.assertEqual(self.lines()[-1], {"ended": True})
            if number == signal.SIGTERM:
                self.tearDown()
                self.setUp()


@unittest.skipUnless(os.access(HNSD, os.X_OK), "build/native/hnsd is not built")
class CommandLine(unittest.TestCase):
    def run_hnsd(self, *words):
        return subprocess.run([HNSD, *words], capture_output=True, text=True, timeout=20,
                              check=False)

    def test_refusals(self):
        for words, code, says in (
                (["--ports", "1"], 3, "usage"), (["--port"], 3, "usage"),
                (["--port", "0"], 3, "usage"), (["--port", "1x"], 3, "usage"),
                (["--set", "x"], 1, "not a JSON object"),
                (["--set", '{"adapters":[{}]}'], 1, "needs an alias"),
                (["--record", "/nowhere/x"], 1, "cannot write '/nowhere/x'")):
            done = self.run_hnsd(*words)
            self.assertEqual(done.returncode, code, words)
            self.assertIn(says, done.stderr)

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = self.run_hnsd("--port", str(taken.getsockname()[1]))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot listen on 127.0.0.1", done.stderr)


if __name__ == "__main__":
    unittest.main()
