"""A prepared server cloned ten times under other names: each joins, and has nothing of another one."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / folder) for folder in ("tests/provision", "tests/bench", "tests")]
import load  # noqa: E402
import rehearsed  # noqa: E402

CLONES = 10
GOLDEN = {"hostName": "WIN-GOLDEN", "address": "10.0.0.200", "mac": "00-15-5D-7E-51-C3"}
# What is one machine's or one run's own, wherever it stands: a key or certificate, a UUID.
PEM = re.compile(rb"-----BEGIN ([A-Z ]+)-----\s+([A-Za-z0-9+/=\s\\n]+?)-----END")
UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


def machine(hostName, address, mac):  # pylint: disable=invalid-name
    return {"facts": {"hostName": hostName},
            "adapters": [{"alias": "Ethernet", "description": "NIC", "mac": mac, "luid": 1689399632855040, "index": 4, "mtu": 1500,
                          "up": True, "dhcp": True, "addresses": [address + "/24"], "gateways": ["10.0.0.1"],
                          "dnsServers": ["10.0.0.2"]}]}


def things(rootfs):
    """Path and bytes of each file but winjoin itself; of the machine's own state what programs wrote into it."""
    for path in sorted(rootfs.rglob("*")):
        if path.is_file() and path.name != "winjoin.exe":
            data = path.read_bytes()
            if path.name == "state.json":
                state = json.loads(data)
                for name in ("facts", "adapters", "routes"):
                    state.pop(name, None)
                data = json.dumps(state).encode()
            yield str(path.relative_to(rootfs)), data


def secrets(rootfs):
    """Keys, certificates and UUIDs, each with a file that has it."""
    found = {}
    for path, data in things(rootfs):
        for kind, body in PEM.findall(data):
            found[kind + b" " + re.sub(rb"\s|\\n", b"", body)] = path
        for uuid in UUID.findall(data):
            found[uuid.lower()] = path
    return found


def traces(rootfs, who):
    """Where something of this machine stands: its name (whole, in any case), its address, its adapter."""
    words = [re.escape(who["hostName"]).encode(), re.escape(who["address"]).encode() + rb"(?!\d)",
             re.escape(who["mac"]).replace(r"\-", "[:-]").encode()]
    wanted = re.compile(rb"(?<![\w.-])(?:%s)(?![\w])" % b"|".join(words), re.IGNORECASE)
    return [(path, hit.group(0).decode()) for path, data in things(rootfs)
            for hit in [wanted.search(path.encode()) or wanted.search(data)] if hit]


class Clones(unittest.TestCase):
    def setUp(self):
        if not load.WINJOIN.exists():
            self.skipTest("winjoin is not built")
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_winjoin(self, verb, rootfs, *words):
        done = subprocess.run([load.WINJOIN, verb, "--rootfs", rootfs, *words], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def prepared(self):
        golden = rehearsed.server(self.folder / "golden", **machine(**GOLDEN))
        bundle = rehearsed.bundle(self.folder / "bundle", (*rehearsed.PROGRAMS, "kube-proxy"))
        self.run_winjoin("prepare", golden, "--kubernetes-version", "v1.37.1", "--bundle", str(bundle))
        return golden

    def clone(self, golden, number):
        who = {"hostName": "WIN-CLONE-%c" % (ord("A") + number), "address": "10.0.0.%d" % (31 + number),
               "mac": "00-15-5D-00-00-%02X" % (0x31 + number)}
        rootfs = shutil.copytree(golden, self.folder / who["hostName"], symlinks=True)
        state = json.loads((rootfs / ".winjoin-host/state.json").read_text())
        state.update(machine(**who))
        (rootfs / ".winjoin-host/state.json").write_text(json.dumps(state))
        return rootfs, who

    def test_ten_clones_join_and_have_nothing_of_each_other(self):
        golden = self.prepared()
        self.assertEqual(traces(golden, GOLDEN), [])
        self.assertEqual(secrets(golden), {})
        server = load.Server(str(self.folder / "server"))
        self.addCleanup(server.stop)
        patches = rehearsed.healthy_kubelet(self, self.folder / "patches")
        clones = [self.clone(golden, number) for number in range(CLONES)]
        for rootfs, who in clones:
            said = self.run_winjoin("join", rootfs, server.facts["endpoint"], "--token", load.TOKEN, "--discovery-token-ca-cert-hash",
                                    server.facts["caCertHash"], "--patches", str(patches), "--kube-proxy", "none", "--source-base",
                                    "none", "--skip-phases", rehearsed.NOT_PLAYED, "--start-spread", "0s")
            self.assertTrue(load.joined(rootfs, who["hostName"].lower()), said)
            self.assertTrue(traces(rootfs, who))  # the search finds what is there
        shared = set.intersection(*(set(secrets(rootfs)) for rootfs, _ in clones))
        self.assertEqual(len(shared), 1, shared)  # the cluster's CA
        self.assertTrue(shared.pop().startswith(b"CERTIFICATE "))
        owners = {}
        for rootfs, who in clones:
            own = secrets(rootfs)
            self.assertTrue(any(b"PRIVATE KEY" in secret for secret in own))
            for secret, path in own.items():
                owners.setdefault(secret, []).append((who["hostName"], path))
            for other in [GOLDEN] + [other for _, other in clones if other != who]:
                self.assertEqual(traces(rootfs, other), [])
            for path, data in things(rootfs):
                self.assertNotIn(load.TOKEN.encode(), data, path)
        self.assertEqual([found for found in owners.values() if 1 < len(found) < CLONES], [])

    def test_what_is_left_behind_is_found(self):
        golden = self.prepared()
        (golden / "left.txt").write_text("joined as win-golden\n")
        (golden / "left.key").write_text("-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----\n")
        self.assertEqual(traces(golden, GOLDEN), [("left.txt", "win-golden")])
        self.assertEqual(list(secrets(golden).values()), ["left.key"])


if __name__ == "__main__":
    unittest.main()
