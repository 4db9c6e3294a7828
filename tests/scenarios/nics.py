"""A join on each kind of network adapter: all that was set on it is there while the node runs, after a kill in the
outage, after reset; what is beside it stays as it is."""
import json

import scene
from killed import Watched
from scene import adapter_kinds, stage

LAB = "5f2c61a4-0000-4000-8000-000000000014"


class Kind(Watched):
    more = scene.FAST

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.adapter.network:
            cls.other_network(*cls.adapter.network)
            cls.bare = cls.stage.snapshot()

    @classmethod
    def other_network(cls, kind, subnet):
        """Somebody else's, there before. What it costs a static address, the administrator set again: here DHCP."""
        base = subnet.rsplit(".", 1)[0]
        result, out = cls.stage.host.hns("HcnCreateNetwork", "gsHo", LAB, json.dumps({
            "SchemaVersion": {"Major": 2, "Minor": 0}, "Name": "Lab", "Type": kind,
            "Ipams": [{"Type": "Static", "Subnets": [{"IpAddressPrefix": subnet, "Routes": [
                {"NextHop": base + ".1", "DestinationPrefix": "0.0.0.0/0"}]}]}]}))
        if result:
            raise RuntimeError("HcnCreateNetwork: 0x%08x %s" % (result & 0xffffffff, out))
        scene.wait_until(lambda: cls.settings()["addresses"], 15, "the adapter did not come back")

    @classmethod
    def settings(cls):
        """What is set on the node's own adapter, whichever interface has it now."""
        names = (cls.adapter.alias, "vEthernet (%s)" % cls.adapter.alias)
        rows = cls.stage.host.net("adapters")
        own = [r for r in rows if r[0] == "adapter" and r[2] in names and r[11] == "1"][0]
        mine = [r for r in rows if r[0] != "adapter" and r[1] == own[1]]
        return {"addresses": {tuple(r[2:4]) for r in mine if r[0] == "address" and not r[2].startswith("169.254.")},
                "routes": {tuple(r[2:6]) for r in cls.stage.host.net("routes") if r[1] == own[1]},
                "dns": [r[2] for r in mine if r[0] == "dns"],
                "adapter": {"mac": own[3], "mtu": own[4], "up": own[5], "metrics": (own[8], own[13])}}

    @classmethod
    def others(cls):
        """The other adapters, whole."""
        rows = cls.stage.host.net("adapters") + cls.stage.host.net("routes")
        names = [other.alias for other in cls.adapter.others]
        index = {r[1] for r in rows if r[0] == "adapter" and r[2] in names}
        return sorted(r for r in rows if r[1] in index)

    def lost(self):
        """What was set before and is not now; routes and addresses may have come."""
        now = self.settings()
        return {key: now[key] for key in ("dns", "adapter") if now[key] != self.before[key]} | {
            key: self.before[key] - now[key] for key in ("addresses", "routes") if self.before[key] - now[key]}

    def kill_in_the_outage(self):
        watchdogs = set(self.watchdogs())
        join = self.follow(*self.more, *self.adapter.words)
        self.assertTrue(join.until(lambda line: line["phase"] == "vswitch" and line["state"] == "waiting"), join.said())
        join.kill()
        self.assertTrue(self.lost())
        self.assertTrue(set(self.watchdogs()) - watchdogs)
        scene.wait_until(lambda: not self.lost(), 30, lambda: "not restored: %s" % self.lost())
        scene.wait_until(lambda: not set(self.watchdogs()) - watchdogs, 60, "the watchdog goes on")
        self.assertEqual(self.lost(), {})

    def test_adapter_is_as_it_was(self):
        self.before, others = self.settings(), self.others()
        self.assertIn((self.stage.host.address, "24"), self.before["addresses"])
        if self.adapter.network[:1] != ("L2Bridge",):  # its switch is there: no outage
            self.kill_in_the_outage()
        self.assert_joins(*self.more, *self.adapter.words)
        self.assertEqual((self.lost(), self.others()), ({}, others))
        self.assertEqual(self.ready(), ["True"])
        addresses = [a["address"] for a in self.stage.node(stage.NODE)["status"]["addresses"]
                     if a["type"] == "InternalIP"]
        self.assertEqual(addresses[0], self.stage.host.address)
        self.reset()
        self.assert_bare()
        self.assertEqual((self.lost(), self.others()), ({}, others))


for _kind, _adapter in adapter_kinds.KINDS.items():
    _origin = "dhcp" if _adapter.network[:1] == ("L2Bridge",) else "static"
    globals()["Nic" + _kind] = type("Nic" + _kind, (Kind,), {
        "adapter": _adapter, "mode": _adapter.mode, "dual": _adapter.dual, "origin": _origin, "__module__": __name__})
