"""Kinds of network adapters that Windows servers have: how the node's own is set, and what else is there."""
from dataclasses import dataclass

import fabric as fabrics
import netns

LINK_LOCAL = "fe80::1"  # of the router that advertises


@dataclass(frozen=True)
class Other:
    """An adapter beside the node's own. IP is not bound to a member of a team."""
    alias: str
    addresses: tuple = ()
    gateway: str = ""
    bound: bool = True
    same_mac: bool = False


@dataclass(frozen=True)
class Adapter:
    alias: str = "Ethernet"
    addresses: tuple = ()  # beside the node's own
    dns: tuple = ()  # beside the fabric's own
    metrics: tuple = (25, 25)  # of IPv4 and of IPv6
    routes: tuple = ()  # words for `ip route add`
    advertised: bool = False  # IPv6 by the router
    others: tuple = ()
    network: tuple = ()  # type and subnet of an HNS network that is there before
    dual: bool = False
    mode: str = "overlay"
    words: tuple = ()  # of a join


PLAIN = Adapter()
KINDS = {
    "Several": Adapter(alias="Ethernet 3", words=("--node-ip", fabrics.WINDOWS["node-w1"]), others=(
        Other("Ethernet", ("10.50.0.21/24",), "10.50.0.1"), Other("Ethernet 2", ("10.60.0.21/24",)))),
    "Team": Adapter(alias="Team 1", others=(Other("Ethernet 1", bound=False, same_mac=True),
                                         Other("Ethernet 2", bound=False, same_mac=True))),
    "Vlan": Adapter(alias="Team 1 - VLAN 20", others=(
        Other("Ethernet 1", bound=False, same_mac=True),
        Other("Team 1", ("10.70.0.21/24",), same_mac=True))),
    "Named": Adapter(alias="Réseau № 2 – Büro (Ω)"),
    "Switched": Adapter(mode="l2bridge", network=("L2Bridge", "192.168.200.0/24"),
                     words=("--network-plugin", "win-bridge")),
    "BesideNat": Adapter(network=("NAT", "172.20.0.0/16")),
    "Tuned": Adapter(addresses=("10.0.0.121/24",), metrics=(15, 35),
                  dns=("192.0.2.54", "192.0.2.55", "2001:db8::53")),
    "Ipv6": Adapter(dual=True, mode="l2bridge", addresses=("fd00:300::21/64",),
                 routes=("fd00:400::/64 via fd00:300::1 metric 77",),
                 words=("--network-plugin", "sdnbridge")),
    "Advertised": Adapter(dual=True, mode="l2bridge", advertised=True,
                       words=("--network-plugin", "sdnbridge")),
    "Routed": Adapter(routes=("10.99.0.0/16 via 10.0.0.1 metric 7", "10.98.0.0/24 via 10.0.0.254",
                           "203.0.113.9/32 via 10.0.0.10 metric 300")),
}


def plug_in(fabric, node):
    """Makes the adapter of a node what its kind says; answers its other adapters for the data plane."""
    adapter, ns, lan = node.adapter, node.ns, fabric.ns("fabric")
    netns.ip_batch(ns, ["addr add %s dev nic0%s" % (a, " nodad" if ":" in a else "")
                        for a in adapter.addresses] + ["route add %s dev nic0" % r for r in adapter.routes])
    if adapter.advertised:
        netns.ip_batch(ns, ["route del default via " + fabrics.ROUTER6,
                            "route add default via %s dev nic0" % LINK_LOCAL])
        netns.ip(lan, "addr replace %s/64 dev lan nodad" % LINK_LOCAL)
    made = []
    for number, other in enumerate(adapter.others, 1):
        dev = "nic%d" % number
        netns.veth(ns, dev, lan, "p-%s-%d" % (node.name.replace("node-", ""), number))
        if other.same_mac:
            netns.ip(ns, "link set", dev, "address", netns.mac(ns, "nic0").replace("-", ":"))
        netns.ip(lan, "link set p-%s-%d up" % (node.name.replace("node-", ""), number))
        netns.ip_batch(ns, ["link set %s up" % dev] + ["addr add %s dev %s" % (a, dev) for a in other.addresses]
                       + (["route add default via %s dev %s metric 900" % (other.gateway, dev)]
                          if other.gateway else []))
        made.append({"nic": dev, "alias": other.alias, "bound": other.bound})
    return made
