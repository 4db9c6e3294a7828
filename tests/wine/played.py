"""A played host looks to the product's Windows code as a Windows Server does, and obeys it.

Run by tests/suites/wine.sh; the operations are those of host/host.h, by hostcheck.exe."""
import json
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "rig"))
import fabric as fabrics  # noqa: E402
import netns  # noqa: E402
import snapshot  # noqa: E402
import winhost  # noqa: E402

HOSTCHECK = os.path.join(winhost.prefixes.DLLS, "hostcheck.exe")
WINJOIN = os.path.join(HERE, "..", "..", "build", "windows", "winjoin.exe")
NETWORK = json.dumps({
    "SchemaVersion": {"Major": 2, "Minor": 0}, "Name": "n", "Type": "L2Bridge",
    "Ipams": [{"Type": "Static", "Subnets": [{
        "IpAddressPrefix": "10.244.1.0/24",
        "Routes": [{"NextHop": "10.244.1.1", "DestinationPrefix": "0.0.0.0/0"}]}]}]})


class Played(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.fabric = cls.enterClassContext(fabrics.Fabric())
        except netns.Missing as why:
            raise unittest.SkipTest(str(why))
        cls.host = cls.enterClassContext(winhost.Host(cls.fabric, outage_ms=300))
        cls.host.put(HOSTCHECK, "C:\\hostcheck.exe")
        cls.before = snapshot.take(cls.host)

    def ask(self, *words):
        done = self.host.run(["C:\\hostcheck.exe", *words])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def refuse(self, why, *words):
        done = self.host.run(["C:\\hostcheck.exe", *words])
        self.assertEqual(done.returncode, 1, (words, done.stdout, done.stderr))
        self.assertIn(why, done.stdout, words)

    def listed(self, folder):
        """What is below a folder, as relative paths of the machine below, in order."""
        top = self.host.path(folder)
        return sorted(os.path.relpath(os.path.join(at, name), top)
                      for at, folders, files in os.walk(top) for name in folders + files)

    def test_1_it_is_a_server(self):
        self.assertEqual(self.ask("facts"), [
            "Windows Server 2022 Datacenter|Server|10.0.20348.2340|containers 1|elevated"])

    def test_1_hns_answers_through_the_dll(self):
        self.assertEqual(self.ask("hns", "/globals/version"),
                         ['{"Success":true,"Output":{"Major":13,"Minor":2}}'])

    def test_2_adapter_as_it_was_set_up(self):
        self.assertIn("Ethernet|up|mtu 1500|static|addresses 10.0.0.21/24|gateways 10.0.0.1|"
                      "dns 192.0.2.53", self.ask("adapters"))
        self.assertIn("0.0.0.0/0 via 10.0.0.1", self.ask("routes"))

    def test_3_routes_come_and_go(self):
        words = ("Ethernet", "10.244.7.0/24", "10.0.0.31")
        for _ in range(2):  # there already is success
            self.ask("route-add", *words)
        self.assertIn("10.244.7.0/24 via 10.0.0.31", self.ask("routes"))
        self.assertIn("10.244.7.0/24 via 10.0.0.31 dev nic0", netns.ip(self.host.ns, "route"))
        for _ in range(2):
            self.ask("route-remove", *words)
        self.assertNotIn("10.244.7.0/24", netns.ip(self.host.ns, "route"))

    def test_3_powershell_sets_routes_as_flannel_asks(self):
        def shell(command, code=0):
            done = self.host.run(["powershell.exe", "-NoLogo", "-NoProfile", "-NonInteractive",
                                  "-Command", "try { %s } catch { }" % command])
            self.assertEqual(done.returncode, code, done.stdout)
            return done.stdout
        index = json.loads(shell("ConvertTo-Json (Get-NetRoute | Where { $_.DestinationPrefix -eq"
                                 " '0.0.0.0/0' } | Select-Object -Property ifIndex)"))[0]["IfIndex"]
        at = "-InterfaceIndex %d -DestinationPrefix 10.244.8.0/24" % index
        shell("Get-NetRoute " + at, 1)
        shell("New-NetRoute %s -NextHop  10.0.0.31" % at)
        shell("New-NetRoute %s -NextHop  10.0.0.31" % at, 1)
        self.assertIn("10.244.8.0/24 via 10.0.0.31 dev nic0", netns.ip(self.host.ns, "route"))
        self.assertIn('"NextHop":"10.0.0.31"', shell("ConvertTo-Json (@(Get-NetRoute %s))" % at))
        shell("Remove-NetRoute %s -NextHop 10.0.0.31 -Verbose -Confirm:$false" % at)
        self.assertNotIn("10.244.8.0/24", netns.ip(self.host.ns, "route"))
        shell("Set-NetIPInterface -ifIndex %d -AddressFamily IPv4 -Forwarding Enabled" % index)
        self.assertEqual(self.ask("forwarding", "Ethernet", "?"), ["on"])
        self.ask("forwarding", "Ethernet", "off")

    def test_3_forwarding(self):
        self.assertEqual(self.ask("forwarding", "Ethernet", "?"), ["off"])
        self.assertEqual(self.ask("forwarding", "Ethernet", "on"), ["on"])
        self.assertEqual(self.ask("forwarding", "Ethernet", "off"), ["off"])

    def test_3_dns_servers(self):
        self.ask("dns-set", "Ethernet", "192.0.2.7,192.0.2.53")
        self.assertIn("dns 192.0.2.7,192.0.2.53", "\n".join(self.ask("adapters")))
        self.ask("dns-set", "Ethernet", "192.0.2.53")

    def test_3_firewall_rules(self):
        self.assertEqual(self.ask("firewall", "a rule"), ["there", "gone"])

    def test_3_event_log(self):
        self.ask("event", "something happened")

    def test_3_event_source(self):
        before = snapshot.take(self.host)
        self.host.put(WINJOIN, "C:\\k\\winjoin.exe")
        self.assertEqual(self.ask("event-source", "C:\\k\\winjoin.exe"), ["C:\\k\\winjoin.exe"])
        for code in (0, 1, 2, 3, 4, 5, 6, 130):
            said = self.ask("event-text", "C:\\k\\winjoin.exe", str(1000 + code), "said %1")
            self.assertEqual("".join(said), "said %1")
        done = self.host.run(["C:\\hostcheck.exe", "event-text", "C:\\k\\winjoin.exe", "1007", "x"])
        self.assertNotEqual(done.returncode, 0)
        for _ in range(2):
            self.assertEqual(self.ask("event-source", "-"), ["none"])
        self.ask("remove", "C:\\k")
        self.assertEqual(snapshot.compare(before, snapshot.take(self.host)), [])

    def test_3_machine_path(self):
        before = snapshot.take(self.host)
        kind, old = self.ask("machine-path", "-C:\\none")
        self.assertEqual(kind, "REG_EXPAND_SZ")
        self.assertIn("%", old)
        for _ in range(2):
            self.assertEqual(self.ask("machine-path", "+C:\\k"), [kind, old + ";C:\\k"])
        self.assertEqual(self.ask("machine-path", "-c:\\K"), [kind, old])
        self.assertEqual(snapshot.compare(before, snapshot.take(self.host)), [])

    def test_3_links(self):
        os.makedirs(self.host.path("C:\\links\\folder"))
        for name in ("C:\\links\\file", "C:\\links\\folder\\inner"):
            with open(self.host.path(name), "w", encoding="ascii") as f:
                f.write("content")
        for name, target, kind in (("to-file", "file", "link"), ("to-folder", "C:\\links\\folder", "link"),
                                   ("whole", "C:\\links\\file", "link")):
            self.assertEqual(self.ask("link", "C:\\links\\" + name, target), [kind])
        for name in ("to-file", "to-folder\\inner", "whole"):
            with open(self.host.path("C:\\links\\" + name), encoding="ascii") as f:
                self.assertEqual(f.read(), "content")
        # Put in the place of the old one, not of what that leads to.
        self.ask("link", "C:\\links\\whole", "C:\\links\\folder\\inner")
        self.assertEqual(os.path.basename(os.readlink(self.host.path("C:\\links\\whole"))), "inner")
        self.assertTrue(os.path.isfile(self.host.path("C:\\links\\file")))
        # Removed as links, also those whose target went first.
        self.ask("remove", "C:\\links\\to-folder")
        self.assertTrue(os.path.isfile(self.host.path("C:\\links\\folder\\inner")))
        self.ask("remove", "C:\\links\\file")
        self.ask("remove", "C:\\links")
        self.assertFalse(os.path.lexists(self.host.path("C:\\links")))

    def test_3_what_a_stranger_owns_is_not_used(self):
        """Wine knows two owners: who runs it, and all others."""
        theirs = "'C:\\locks\\theirs' belongs to NT AUTHORITY\\ANONYMOUS LOGON"
        os.makedirs(self.host.path("C:\\locks\\theirs\\below"))
        for name in ("C:\\locks\\file", "C:\\locks\\theirs\\below\\file"):
            with open(self.host.path(name), "w", encoding="ascii") as f:
                f.write("as it was")
        self.assertEqual(self.ask("stranger", "C:\\locks\\theirs\\below"), ["nothing"])
        for name in ("C:\\locks\\theirs", "C:\\locks\\file"):
            os.chown(self.host.path(name), 4321, 4321)
        below = "C:\\locks\\theirs\\below"
        for words in (("write", below + "\\new", "x"), ("write", below + "\\file", "x"),
                      ("write-part", below + "\\file", "x"), ("make-folder", below + "\\folder"),
                      ("rename", below + "\\file", "C:\\locks\\moved"), ("rename", "C:\\locks\\file", below + "\\in"),
                      ("make-link", below + "\\link", "file"), ("access-set", below + "\\file", "D:P(A;;FA;;;SY)"),
                      ("remove-one", below + "\\file"), ("remove-tree", below)):
            self.refuse(theirs, *words)
        self.assertEqual(self.ask("stranger", below), [theirs])
        self.assertEqual(self.ask("stranger", "C:\\locks\\file"), [theirs.replace("theirs", "file")])
        self.assertEqual(self.listed("C:\\locks"), ["file", "theirs", "theirs/below", "theirs/below/file"])
        with open(self.host.path(below + "\\file"), encoding="ascii") as f:
            self.assertEqual(f.read(), "as it was")
        self.ask("remove", "C:\\locks")  # what is its own goes with all that is in it
        self.assertFalse(os.path.lexists(self.host.path("C:\\locks")))

    def test_3_what_a_link_leads_to_is_not_used(self):
        os.makedirs(self.host.path("C:\\aims\\folder"))
        with open(self.host.path("C:\\aims\\folder\\file"), "w", encoding="ascii") as f:
            f.write("as it was")
        os.chmod(self.host.path("C:\\aims\\folder"), 0o755)
        self.ask("link", "C:\\locks\\link", "C:\\aims\\folder")
        self.ask("link", "C:\\locks\\to-file", "C:\\aims\\folder\\file")
        link, why = "C:\\locks\\link", "'C:\\locks\\link' is a junction or a link"
        for words in (("write", link + "\\new", "x"), ("write-part", link + "\\file", "x"),
                      ("make-folder", link + "\\new"), ("rename", link + "\\file", "C:\\locks\\moved"),
                      ("access-set", link + "\\file", "D:P(A;;FA;;;SY)"), ("remove-one", link + "\\file"),
                      ("remove-tree", link + "\\file"), ("make-link", link + "\\new", "file")):
            self.refuse(why, *words)
        self.refuse("'C:\\locks\\link': it is a junction or a link", "make-folder", link)
        self.assertEqual(self.ask("stranger", link + "\\file"), [why])
        self.assertEqual(self.ask("stranger", link), ["nothing"])
        # The link itself is written over, not what it leads to.
        for verb in ("write-part", "write"):
            self.ask(verb, "C:\\locks\\to-file", "new")
            self.assertFalse(os.path.islink(self.host.path("C:\\locks\\to-file")))
            with open(self.host.path("C:\\locks\\to-file"), encoding="ascii") as f:
                self.assertEqual(f.read(), "new")
            self.ask("link", "C:\\locks\\to-file", "C:\\aims\\folder\\file")
        self.ask("remove", "C:\\locks")
        self.assertEqual(self.listed("C:\\aims"), ["folder", "folder/file"])
        with open(self.host.path("C:\\aims\\folder\\file"), encoding="ascii") as f:
            self.assertEqual(f.read(), "as it was")
        self.assertEqual(os.stat(self.host.path("C:\\aims\\folder")).st_mode & 0o777, 0o755)
        self.ask("remove", "C:\\aims")

    def test_4_services_live_in_the_nodes_network_and_restart_with_it(self):
        done = self.host.run(["sc", "create", "held", "binPath=", "C:\\none.exe",
                              "start=", "demand"])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("System\\CurrentControlSet\\Services\\held",
                      " ".join(snapshot.compare(self.before, snapshot.take(self.host))))
        self.host.reboot()
        self.assertEqual(self.host.run(["sc", "query", "held"]).returncode, 0)
        self.assertEqual(self.host.run(["sc", "delete", "held"]).returncode, 0)

    def test_5_the_switch_takes_the_address_and_it_is_set_again(self):
        result, out = self.host.hns("HcnCreateNetwork", "gsHo",
                                    "00000000-0000-0000-0000-000000000000", NETWORK)
        self.assertEqual(result, 0, out)
        alias, end = "vEthernet (Ethernet)", time.monotonic() + 10
        while "169.254" not in "".join(self.ask("adapters")) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertNotIn("10.0.0.21", "".join(self.ask("adapters")))
        self.ask("address-add", alias, "10.0.0.21/24")
        self.ask("route-add", alias, "0.0.0.0/0", "10.0.0.1")
        self.ask("dns-set", alias, "192.0.2.53")
        self.assertIn(alias + "|up|mtu 1500|static|addresses 10.0.0.21/24|gateways 10.0.0.1|"
                      "dns 192.0.2.53", self.ask("adapters"))
        ident = self.host.control({"op": "dump"})["networks"][0]["ID"]
        self.assertEqual(self.host.hns("HcnDeleteNetwork", "go", ident)[0], 0)

    def test_6_nothing_is_left(self):
        end = time.monotonic() + 10
        while (left := snapshot.compare(self.before, snapshot.take(self.host))) \
                and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(left, [])


def main():
    result = unittest.main(exit=False, verbosity=2).result
    bad, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    passed = max(result.testsRun - bad - skipped, 0)
    print("%d passed, %d failed, %d skipped" % (passed, bad, skipped))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
