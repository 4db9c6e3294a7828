#!/usr/bin/env python3
"""The acceptance kit on played Windows hosts: as far as Wine goes all is well, and what is planted is found."""
import ctypes
import json
import os
import re
import struct
import subprocess
import sys
import traceback
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import fabric  # noqa: E402
import netns  # noqa: E402
import patience  # noqa: E402
import stage  # noqa: E402
import winhost  # noqa: E402

BUILD = os.path.join(winhost.ROOT, "build", "windows")
REPLAY = os.path.join(winhost.ROOT, "build", "native", "hns-replay")
UNITS = sorted(os.listdir(os.path.join(BUILD, "acceptance", "units"))) if os.path.isdir(os.path.join(
    BUILD, "acceptance", "units")) else []
# What a played server without a cluster cannot answer.
SKIPPED = {"link", "probe-acl", "containers-feature", "defender", "page-file", "service-dependents",
           "event-log", "join", "join-again", "join-fixes", "join-adapters", "node-services", "node-secrets", "node-folders",
           "node-link", "node-firewall", "node-status", "node-diag", "node-collect", "cluster-diag", "node-kubelet-stop",
           "node-hns-restart", "certs-renew", "reset", "reset-state", "junction", "stranger", "stranger-folders", "node-stranger",
           "node-stranger-pipe"}
PART = os.environ.get("TESTS_PART") == "part"  # make test: without the modes that need an adapter, and the join
MODES = {"hns-overlay", "hns-overlay-port", "hns-l2bridge", "hns-l2bridge-dual", "hns-l2tunnel", "hns-transparent", "hns-nat"}


PAGE = os.path.join(winhost.ROOT, "docs", "on-real-windows.md")


def documented():
    """The rows that docs/on-real-windows.md names."""
    with open(PAGE, encoding="utf-8") as f:
        return set(re.findall(r"`([a-z0-9-]+)`", f.read().split("## By one command")[1].split("\n## ")[0]))


def load_tests(loader, _tests, _pattern):
    cases = [Kit] if PART else [Kit, Node]
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


def setUpModule():
    try:
        netns.require()
    except netns.Missing as why:
        raise unittest.SkipTest(str(why)) from why


def keeps_no_access_list(call):
    """What the call answers, JSON, where the programs it starts change no file's mode: a system call that succeeds, and does
    nothing, as on a file system without access lists."""
    load, equal, answer = 0x20, 0x15, 0x06
    system_calls = {"x86_64": (90, 91, 268)}[os.uname().machine]  # chmod, fchmod, fchmodat
    rules = [(load, 0, 0, 0)]
    for i, number in enumerate(system_calls):
        rules.append((equal, len(system_calls) - i, 0, number))
    rules += [(answer, 0, 0, 0x7fff0000), (answer, 0, 0, 0x00050000)]  # allowed; 0 without being done
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code_of = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
            program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code_of)))
            if ctypes.CDLL(None, use_errno=True).prctl(22, 2, ctypes.byref(program), 0, 0):  # PR_SET_SECCOMP, filter
                raise OSError(ctypes.get_errno(), "prctl")
            os.write(writes, json.dumps(call()).encode())
            code = 0
        except BaseException:  # pylint: disable=broad-except
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writes)
    with os.fdopen(reads, "rb") as f:
        said = f.read()
    os.waitpid(child, 0)
    return json.loads(said)


class Case(unittest.TestCase):
    def carry(self, host):
        """Puts the kit onto a host, whose drive is its own share C$."""
        self.host = host
        self.share = os.path.join(host.prefix, "dosdevices", "unc", "localhost", "C$")
        os.makedirs(os.path.dirname(self.share))
        os.symlink(host.drive, self.share)
        self.host.put(PAGE, r"C:\kit\on-real-windows.md")
        self.host.put(os.path.join(BUILD, "acceptance", "acceptance.exe"), r"C:\kit\acceptance.exe")
        self.host.put(os.path.join(BUILD, "winjoin.exe"), r"C:\kit\winjoin.exe")
        for name in UNITS:
            self.host.put(os.path.join(BUILD, "acceptance", "units", name), "C:\\kit\\units\\" + name)

    def check(self, *words):
        """Exit code, rows by id, and what was printed."""
        done = self.host.run([r"C:\kit\acceptance.exe", *words], timeout=300 * patience.factor())
        with open(self.host.path(r"C:\kit\report.json"), encoding="utf-8") as f:
            report = json.load(f)
        rows = {row["id"]: row for row in report["rows"]}
        self.assertEqual(len(rows), len(report["rows"]), "an id twice")
        for word in ("pass", "fail", "skip"):
            count = sum(row["outcome"] == word for row in rows.values())
            self.assertEqual(count, report[{"pass": "passed", "fail": "failed", "skip": "skipped"}[word]])
        self.page = {row["row"]: row for row in report["documented"]}
        return done.returncode, rows, done.stdout + done.stderr

    def by(self, rows, outcome):
        return {name for name, row in rows.items() if row["outcome"] == outcome}


class Kit(Case):
    def setUp(self):
        lan = self.enterContext(fabric.Fabric("overlay", dual=True))
        self.carry(self.enterContext(winhost.Host(lan, outage_ms=200)))

    def test_a_server_without_a_cluster(self):
        before = self.host.control({"op": "dump"})
        played = {"hns-nat"} if PART else MODES
        code, rows, said = self.check(*(() if PART else ("--adapter", "Ethernet")))
        self.assertEqual(self.by(rows, "fail"), set(), said)
        self.assertEqual(self.by(rows, "skip"), SKIPPED | MODES - played, said)
        self.assertEqual(code, 0, said)
        self.every_row_of_the_page(rows, said)
        self.assertEqual(documented(), {name for name in rows if not name.startswith("unit-")})
        self.assertLessEqual(played | {"unit-" + name[:-len(".exe")] for name in UNITS}, self.by(rows, "pass"))
        self.assertEqual({name: rows[name]["differences"] for name in played}, {name: [] for name in played})
        replayed = subprocess.run([REPLAY, self.host.path(r"C:\kit\hns.jsonl")], capture_output=True, text=True, check=False)
        self.assertEqual(replayed.returncode, 0, replayed.stdout)
        after = self.host.control({"op": "dump"})
        for kind in ("networks", "endpoints", "adapters"):
            self.assertEqual(before[kind], after[kind])

    def every_row_of_the_page(self, rows, said):
        with open(PAGE, encoding="utf-8") as f:
            numbers = re.findall(r"^\| (\d+) \|", f.read(), re.M)
        self.assertEqual(numbers, list(self.page))
        for number, row in self.page.items():
            with self.subTest(row=number):
                named = re.findall(r"`([^`]*)`", row["by"])
                self.assertTrue(named or row["by"].startswith("by hand: "), row["by"])
                self.assertLessEqual(set(named), set(rows))
                found = {rows[name]["outcome"] for name in named}
                self.assertEqual(row["outcome"], "by hand" if row["by"].startswith("by hand") else
                                 "pass" if "pass" in found else "skip")
        settled = sum(row["outcome"] == "pass" for row in self.page.values())
        self.assertIn("of %d rows of on-real-windows.md: %d settled, " % (len(numbers), settled), said)

    def test_files_without_access_lists(self):
        """And a server that has no share, and a firewall that keeps no rule."""
        for folder in ("folder", "kept"):
            os.makedirs(self.host.path("C:\\winjoin-acceptance\\" + folder))
            os.chmod(self.host.path("C:\\winjoin-acceptance\\" + folder), 0o777)
        self.host.shut_down()

        def looked():
            self.host.boot()
            try:
                return self.check("--only", "programs-acl")
            finally:
                self.host.shut_down()
        code, rows, said = keeps_no_access_list(looked)
        self.host.boot()
        self.assertEqual((code, self.by(rows, "fail")), (1, {"programs-acl"}), said)
        self.assertIn(r"C:\winjoin-acceptance\folder: D:", rows["programs-acl"]["found"])
        os.mkdir(self.host.path(r"C:\open"))
        done = self.host.run([r"C:\kit\acceptance.exe", "--attack", r"C:\open"])
        self.assertEqual((done.returncode, done.stdout.count(r"C:\open: "), "error" in done.stdout), (1, 8, False), done.stdout)
        self.assertEqual(set(os.listdir(self.host.path(r"C:\open"))), {"winjoin-acceptance", "winjoin-acceptance.dll"})
        os.chown(self.host.path(r"C:\ProgramData"), 65534, -1)
        code, rows, said = self.check("--only", "owners")
        os.chown(self.host.path(r"C:\ProgramData"), 0, -1)
        self.assertEqual((code, self.by(rows, "fail")), (1, {"owners"}), said)
        self.assertIn(r"'C:\ProgramData' belongs to ", rows["owners"]["found"])
        os.remove(self.share)
        code, rows, said = self.check("--only", "share")
        self.assertEqual((code, self.by(rows, "fail")), (1, {"share"}), said)
        self.assertIn(r"\\localhost\C$\winjoin-acceptance\node.yaml: exit code 3", rows["share"]["found"])
        self.host.put(self.host.path(r"C:\windows\system32\rundll32.exe"), r"C:\windows\system32\hnetcfg.dll")
        code, rows, said = self.check("--only", "firewall")
        self.assertIn("firewall", self.by(rows, "fail"), said)

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


    def test_hns_that_does_not_delete(self):
        """It says that it did."""
        self.host.control({"op": "rewrite", "fn": "HcnDeleteNetwork", "find": "-", "replace": "", "lost": True})
        code, rows, said = self.check("--only", "hns-nat")
        self.assertEqual((code, self.by(rows, "fail")), (1, {"hns-nat"}), said)
        self.assertIn("not taken back: network 'winjoin-acceptance' is still there", rows["hns-nat"]["found"])


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
        self.assertEqual((code, self.by(rows, "pass")), (0, {"node-folders", "node-firewall"}), said)
        rules = r"HKLM\SYSTEM\CurrentControlSet\Services\SharedAccess\Parameters\FirewallPolicy\FirewallRules"
        done = self.host.run(["reg", "query", rules])
        value, text = re.search(r"(\{[^}]*\}) +REG_SZ +(.*Name=winjoin kubelet.*)", done.stdout).groups()
        self.host.run(["reg", "add", rules, "/v", value, "/d", text.strip().replace("LPort=10250", "LPort=10251"), "/f"])
        code, rows, said = self.check("--only", "node-firewall")
        self.assertIn("not |LPort=10250|: ", rows["node-firewall"]["found"], said)
        self.host.run(["reg", "delete", rules, "/v", value, "/f"])
        code, rows, said = self.check("--only", "node-firewall")
        self.assertEqual(rows["node-firewall"]["found"], "no rule `winjoin kubelet`", said)
        self.host.run(["reg", "add", rules, "/v", value, "/d", text.strip(), "/f"])
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
        self.assertEqual((code, self.by(rows, "pass")), (0, {"node-services", "node-secrets", "node-status"}), said)
        self.services_without_recovery()
        settings = self.host.path(r"C:\ProgramData\winjoin\services\kubelet.json")
        os.chmod(settings, 0o666)  # who writes there has LocalSystem run his program
        code, rows, said = self.check("--only", "node-secrets")
        self.assertEqual((code, self.by(rows, "fail")), (1, {"node-secrets"}), said)
        self.assertIn(r"C:\ProgramData\winjoin\services\kubelet.json: D:", rows["node-secrets"]["found"])
        os.chmod(settings, 0o600)
        journal = self.host.path(r"C:\ProgramData\winjoin\journal")
        os.chown(journal, 65534, -1)  # whoever made it could have reset remove anything
        done = self.host.run([r"C:\kit\winjoin.exe", "reset", "--force"])
        self.assertEqual(done.returncode, 1)
        self.assertIn(r"'C:\ProgramData\winjoin\journal' belongs to a user who is not an administrator", done.stderr)
        os.chown(journal, 0, -1)
        os.chmod(self.host.path(r"C:\etc\kubernetes\kubelet.conf"), 0o644)  # what Wine shows as a wrong list
        code, rows, said = self.check("--only", "node-secrets")
        self.assertEqual((code, self.by(rows, "fail")), (1, {"node-secrets"}), said)
        self.assertIn(r"C:\etc\kubernetes\kubelet.conf: D:", rows["node-secrets"]["found"])
        config = self.host.path(r"C:\etc\kubernetes\kubelet.conf")
        os.rename(config, config + ".kept")
        code, rows, said = self.check("--only", "certs-renew", "--join", *join)
        self.assertEqual((code, self.by(rows, "fail")), (1, {"certs-renew"}), said)
        self.assertIn("kubelet.conf", rows["certs-renew"]["found"])
        os.rename(config + ".kept", config)
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

    def services_without_recovery(self):
        """Somebody has registered the kubelet again, and kube-proxy's restarts are for crashes alone."""
        key = "HKLM\\SYSTEM\\CurrentControlSet\\Services\\"
        said = self.host.run(["reg", "query", key + "kubelet", "/v", "FailureActions"]).stdout
        actions = re.search("REG_BINARY +([0-9A-F]+)", said).group(1)
        crashes = ["reg", "add", key + "kube-proxy", "/v", "FailureActionsOnNonCrashFailures", "/t", "REG_DWORD", "/f", "/d"]
        self.host.run(["reg", "delete", key + "kubelet", "/v", "FailureActions", "/f"])
        self.host.run([*crashes, "0"])
        code, rows, said = self.check("--only", "node-services")
        self.assertEqual((code, self.by(rows, "fail")), (1, {"node-services"}), said)
        self.assertIn("kubelet: 0 restarts", rows["node-services"]["found"])
        self.assertIn("kube-proxy: not after an exit that is no crash", rows["node-services"]["found"])
        self.host.run(["reg", "add", key + "kubelet", "/v", "FailureActions", "/t", "REG_BINARY", "/d", actions, "/f"])
        self.host.run([*crashes, "1"])

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
