#!/usr/bin/env python3
"""The acceptance kit on played Windows hosts: as far as Wine goes all is well, and what is planted is found."""
import json
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fabric  # noqa: E402
import netns  # noqa: E402
import stage  # noqa: E402
import winhost  # noqa: E402

BUILD = os.path.join(winhost.ROOT, "build", "windows")
REPLAY = os.path.join(winhost.ROOT, "build", "native", "hns-replay")
UNITS = sorted(os.listdir(os.path.join(BUILD, "acceptance", "units"))) if os.path.isdir(os.path.join(
    BUILD, "acceptance", "units")) else []
# What a played server without a cluster cannot answer.
SKIPPED = {"link", "share", "service-recovery", "firewall", "event-log", "join", "join-again", "join-adapters", "node-services",
           "node-secrets", "node-folders", "node-link", "node-firewall", "node-status", "node-diag", "certs-renew", "reset",
           "reset-state"}
PART = os.environ.get("TESTS_PART") == "part"  # make test: without the modes that need an adapter, and the join
MODES = {"hns-overlay", "hns-l2bridge", "hns-l2tunnel", "hns-transparent", "hns-nat"}


def documented():
    """The rows that docs/on-real-windows.md names."""
    with open(os.path.join(winhost.ROOT, "docs", "on-real-windows.md"), encoding="utf-8") as f:
        return set(re.findall(r"`([a-z0-9-]+)`", f.read().split("## By one command")[1].split("\n## ")[0]))


def load_tests(loader, _tests, _pattern):
    cases = [Kit] if PART else [Kit, Node]
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


def setUpModule():
    try:
        netns.require()
    except netns.Missing as why:
        raise unittest.SkipTest(str(why)) from why


class Case(unittest.TestCase):
    def carry(self, host):
        """Puts the kit onto a host."""
        self.host = host
        self.host.put(os.path.join(BUILD, "acceptance", "acceptance.exe"), r"C:\kit\acceptance.exe")
        self.host.put(os.path.join(BUILD, "winjoin.exe"), r"C:\kit\winjoin.exe")
        for name in UNITS:
            self.host.put(os.path.join(BUILD, "acceptance", "units", name), "C:\\kit\\units\\" + name)

    def check(self, *words):
        """Exit code, rows by id, and what was printed."""
        done = self.host.run([r"C:\kit\acceptance.exe", *words], timeout=240)
        with open(self.host.path(r"C:\kit\report.json"), encoding="utf-8") as f:
            report = json.load(f)
        rows = {row["id"]: row for row in report["rows"]}
        self.assertEqual(len(rows), len(report["rows"]), "an id twice")
        for word in ("pass", "fail", "skip"):
            count = sum(row["outcome"] == word for row in rows.values())
            self.assertEqual(count, report[{"pass": "passed", "fail": "failed", "skip": "skipped"}[word]])
        return done.returncode, rows, done.stdout + done.stderr

    def by(self, rows, outcome):
        return {name for name, row in rows.items() if row["outcome"] == outcome}


class Kit(Case):
    def setUp(self):
        lan = self.enterContext(fabric.Fabric("overlay"))
        self.carry(self.enterContext(winhost.Host(lan, outage_ms=200)))

    def test_a_server_without_a_cluster(self):
        before = self.host.control({"op": "dump"})
        played = {"hns-nat"} if PART else MODES
        code, rows, said = self.check(*(() if PART else ("--adapter", "Ethernet")))
        self.assertEqual(self.by(rows, "fail"), set(), said)
        self.assertEqual(self.by(rows, "skip"), SKIPPED | MODES - played, said)
        self.assertEqual(code, 0, said)
        self.assertEqual(documented(), {name for name in rows if not name.startswith("unit-")})
        self.assertLessEqual(played | {"unit-" + name[:-len(".exe")] for name in UNITS}, self.by(rows, "pass"))
        self.assertEqual({name: rows[name]["differences"] for name in played}, {name: [] for name in played})
        replayed = subprocess.run([REPLAY, self.host.path(r"C:\kit\hns.jsonl")], capture_output=True, text=True, check=False)
        self.assertEqual(replayed.returncode, 0, replayed.stdout)
        after = self.host.control({"op": "dump"})
        for kind in ("networks", "endpoints", "adapters"):
            self.assertEqual(before[kind], after[kind])

    def test_hns_that_answers_otherwise(self):
        self.host.control({"op": "rule", "fn": "HcnCreateNetwork", "contains": "winjoin-acceptance",
                           "hr": "0x803b001b", "count": 1})
        code, rows, said = self.check("--only", "hns-nat")
        self.assertNotIn("version", rows)
        self.assertEqual((code, self.by(rows, "fail")), (1, {"hns-nat"}), said)
        self.assertIn("0x803b001b", rows["hns-nat"]["found"])

    def test_hns_that_keeps_another_value(self):
        self.host.control({"op": "rewrite", "fn": "HcnCreateNetwork", "find": '"Type":"Static"', "replace": '"Type":"DHCP"',
                           "seen": True})
        _, rows, said = self.check("--only", "hns-nat")
        self.assertEqual(rows["hns-nat"]["differences"], [
            {"path": "network.Ipams.0.Type", "real": "Dhcp", "model": "Static"}], said)


class Node(Case):
    def test_a_join_a_planted_fault_and_reset(self):
        scene = self.enterContext(stage.Stage("l2bridge", outage_ms=200))
        self.carry(scene.host)
        join = [*scene.join_words[2:], "--verify", "node"]
        code, rows, said = self.check("--only", "join", "--join", *join)
        self.assertEqual((code, self.by(rows, "pass")), (0, {"join", "join-again", "join-adapters"}), said)
        self.before_says('"dnsServers":{', '"dnsServers":{"192.0.2.99":true,')
        code, rows, said = self.check("--only", "join-adapters", "--join", *join)
        self.assertEqual(rows["join-adapters"]["found"], "dnsServers 192.0.2.99 of Ethernet is on no adapter", said)
        self.before_says('"192.0.2.99":true,', "")
        code, rows, said = self.check("--only", "node-f")
        self.assertEqual((code, self.by(rows, "pass")), (0, {"node-folders"}), said)
        os.chmod(self.host.path(r"C:\k"), 0o777)
        code, rows, said = self.check("--only", "node-folders")
        self.assertEqual((code, self.by(rows, "fail")), (1, {"node-folders"}), said)
        os.chmod(self.host.path(r"C:\k"), 0o755)
        code, rows, said = self.check("--only", "node-link")
        self.assertEqual((code, self.by(rows, "pass")), (0, {"node-link"}), said)
        link = self.host.path(r"C:\var\lib\kubelet\pki\kubelet-client-current.pem")
        leads = os.readlink(link)
        os.rename(link, link + ".kept")
        code, rows, said = self.check("--only", "node-link")
        self.assertEqual((code, rows["node-link"]["found"].endswith("absent")), (1, True), said)
        os.rename(link + ".kept", link)
        self.assertEqual(os.readlink(link), leads)
        code, rows, said = self.check("--only", "node-s")
        self.assertEqual((code, self.by(rows, "pass")), (0, {"node-secrets", "node-status"}), said)
        os.chmod(self.host.path(r"C:\etc\kubernetes\kubelet.conf"), 0o644)  # what Wine shows as a wrong list
        code, rows, said = self.check("--only", "node-secrets")
        self.assertEqual((code, self.by(rows, "fail")), (1, {"node-secrets"}), said)
        self.assertIn(r"C:\etc\kubernetes\kubelet.conf: D:", rows["node-secrets"]["found"])
        code, rows, said = self.check("--only", "certs-renew", "--join", *join)
        self.assertEqual((code, self.by(rows, "pass")), (0, {"certs-renew"}), said)
        code, rows, said = self.check("--only", "reset", "--join", *join)
        self.assertEqual((code, self.by(rows, "pass")), (0, {"reset", "reset-state"}), said)
        os.mkdir(self.host.path(r"C:\k"))
        self.before_says('"dnsServers":{', '"dnsServers":{"192.0.2.99":true,')
        code, rows, said = self.check("--only", "reset-state", "--join", *join)
        self.assertEqual((code, self.by(rows, "fail")), (1, {"reset-state"}), said)
        self.assertIn(r"folders C:\k was not there", rows["reset-state"]["found"])
        self.assertIn("adapters Ethernet dnsServers 192.0.2.99 is gone", rows["reset-state"]["found"])

    def before_says(self, old, new):
        """What the kit keeps of the server before its join."""
        path = self.host.path(r"C:\kit\before.json")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.assertIn(old, text)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new, 1))


if __name__ == "__main__":
    unittest.main()
