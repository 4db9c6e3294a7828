#!/usr/bin/env python3
"""The machines of a cluster as network namespaces: underlay, outside, control plane, nodes.

    fabric.py up [--mode MODE] [--state FILE]   runs until it is interrupted
    fabric.py sweep                                         removes what dead runs left behind

Addresses are fixed (see the constants); names of namespaces begin with the run's own mark, so
that several runs can stand on one machine.
"""
import argparse
import itertools
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time

import netns

HERE = os.path.dirname(os.path.abspath(__file__))
ROUTER, CP, L1 = "10.0.0.1", "10.0.0.10", "10.0.0.31"
WINDOWS = {"node-w%d" % i: "10.0.0.%d" % (20 + i) for i in range(1, 5)}
EXTERNAL_IP, EXTERNAL_DNS, EXTERNAL_NAME = "192.0.2.1", "192.0.2.53", "example.com"
POD_RANGE, SERVICE_RANGE, DOMAIN = "10.244.0.0/16", "10.96.0.0/12", "cluster.local"
API_VIP, DNS_VIP = "10.96.0.1", "10.96.0.10"
L1_SUBNET, L1_GATEWAY = "10.244.0.0/24", "10.244.0.1"
DNS_POD, ECHO_POD = "10.244.0.53", "10.244.0.7"
ECHO_PORTS = ("7", "80", "443", "8080")
VNI, VXLAN_PORT, L1_MAC = 4096, 4789, "00:15:5d:00:00:31"
# A fabric with dual=True has these beside them: the last number of an IPv4 address is that of IPv6.
ROUTER6, PREFIX6 = "fd00:200::1", "fd00:200::%s"
POD_RANGE6, SERVICE_RANGE6 = "fd00:10:244::/56", "fd00:10:96::/112"
L1_SUBNET6, L1_GATEWAY6, ECHO_POD6 = "fd00:10:244::/64", "fd00:10:244::1", "fd00:10:244::7"
DNS_POD6, DNS_VIP6 = "fd00:10:244::53", "fd00:10:96::a"
# A bridge without an address of its own takes its lowest port's: it would change as machines come.
ROUTER_MAC, GATEWAY_MAC = "02:00:0a:00:00:01", "02:00:0a:f4:00:01"
POD_ZONES = ("default", "kube-system", "winjoin", "winjoin-verify")
_runs = itertools.count()


def six(address):
    """The IPv6 address of a machine of the underlay."""
    return PREFIX6 % address.rsplit(".", 1)[1]


def _mark():
    """The run's mark: the owner's process id and a letter for each fabric it makes."""
    return "wj%d%s-" % (os.getpid(), "abcdefghijklmnopqrstuvwxyz"[next(_runs) % 26])


class Fabric:
    """Use as a context manager: whatever happens inside, everything is removed at its end."""

    def __init__(self, mode="overlay", folder=None, dual=False):
        self.mode, self.dual = mode, dual
        self.mark = _mark()
        self._own = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix=self.mark)
        self.children = {}
        self.peers = {}

    def ns(self, name):
        return self.mark + name

    def __enter__(self):
        netns.require()
        netns.sweep()
        try:
            self._underlay()
            self._outside()
            self.host("cp", CP)
            self._linux_node()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for proc in self.children.values():
            netns.stop(proc)
        self.children.clear()
        for line in netns.run(["ip", "netns", "list"]).splitlines():
            if line.startswith(self.mark):
                netns.delete(line.split()[0])
        if self._own:
            shutil.rmtree(self.folder, ignore_errors=True)

    def log(self, name):
        return os.path.join(self.folder, name + ".log")

    def daemon(self, name, ns, argv):
        """Starts (again) a server of the fabric, known by its name."""
        netns.stop(self.children.pop(name, None))
        self.children[name] = netns.daemon(ns, argv, self.log(name))

    # ---- the wires -----------------------------------------------------------------------

    def _underlay(self):
        ns = self.ns("fabric")
        netns.add(ns)
        netns.ip_batch(ns, ["link add lan address %s type bridge" % ROUTER_MAC,
                            "addr add %s/24 dev lan" % ROUTER, "link set lan up"])
        netns.sysctl(ns, {"net/ipv4/ip_forward": 1})
        if self.dual:
            netns.sysctl(ns, {"net/ipv6/conf/all/forwarding": 1})
            netns.ip(ns, "addr add %s/64 dev lan nodad" % ROUTER6)
        netns.ip(ns, "route add blackhole default")
        # Beyond the first hop nobody has a way back to a pod's address.
        netns.nft(ns, "table ip fabric {\n chain edge {\n"
                  "  type filter hook forward priority 0; policy accept;\n"
                  '  iifname "lan" oifname "wan" ip saddr != 10.0.0.0/24 drop\n }\n}\n')

    def host(self, name, address, device="eth0", configure=True):
        """A machine on the underlay; its cable in the fabric is called p-NAME."""
        ns, lan = self.ns(name), self.ns("fabric")
        netns.add(ns)
        netns.veth(ns, device, lan, "p-" + name)
        netns.ip_batch(lan, ["link set p-%s master lan" % name, "link set p-%s up" % name])
        netns.ip(ns, "link set", device, "up")
        if configure:
            netns.ip_batch(ns, ["addr add %s/24 dev %s" % (address, device),
                                "route add default via %s" % ROUTER])
        if configure and self.dual:
            netns.ip_batch(ns, ["addr add %s/64 dev %s nodad" % (six(address), device),
                                "route add default via %s" % ROUTER6])
        netns.resolv(ns, [EXTERNAL_DNS])
        return ns

    def _outside(self):
        ns, lan = self.ns("outside"), self.ns("fabric")
        netns.add(ns)
        netns.veth(lan, "wan", ns, "eth0")
        netns.ip_batch(lan, ["addr add 198.51.100.1/30 dev wan", "link set wan up",
                             "route add 192.0.2.0/24 via 198.51.100.2"])
        netns.ip_batch(ns, ["addr add 198.51.100.2/30 dev eth0", "link set eth0 up",
                            "addr add %s/32 dev lo" % EXTERNAL_IP,
                            "addr add %s/32 dev lo" % EXTERNAL_DNS,
                            "route add default via 198.51.100.1"])
        self.daemon("outside-echo", ns, [sys.executable, HERE + "/echo.py", "--bind", EXTERNAL_IP,
                                         *ECHO_PORTS])
        self.daemon("outside-dns", ns, dnsmasq(
            self.folder, "outside-dns", EXTERNAL_DNS,
            ["host-record=%s,%s" % (EXTERNAL_NAME, EXTERNAL_IP)]))

    # ---- the Linux node: a pod with the cluster's DNS and one that echoes -----------------

    def _linux_node(self):
        ns = self.host("l1", L1)
        lines = ["link add cni0 address %s type bridge" % GATEWAY_MAC,
                 "addr add %s/24 dev cni0" % L1_GATEWAY, "link set cni0 up"]
        if self.mode == "overlay":
            lines += _vxlan(VNI)
        netns.ip_batch(ns, lines)
        netns.sysctl(ns, {"net/ipv4/ip_forward": 1})
        if self.dual:
            netns.ip(ns, "addr add %s/64 dev cni0 nodad" % L1_GATEWAY6)
            netns.sysctl(ns, {"net/ipv6/conf/all/forwarding": 1})
        netns.nft(ns, "table ip l1 {\n chain out {\n"
                  "  type nat hook postrouting priority 100;\n"
                  "  ip saddr %s ip daddr != { %s, 224.0.0.0/4 } masquerade\n }\n}\n"
                  % (L1_SUBNET, POD_RANGE))
        dns, echo = self._linux_pod("l1-dns", DNS_POD), self._linux_pod("l1-echo", ECHO_POD)
        if self.dual:
            for pod, address in ((dns, DNS_POD6), (echo, ECHO_POD6)):
                netns.ip_batch(pod, ["addr add %s/64 dev eth0 nodad" % address,
                                     "route add default via %s" % L1_GATEWAY6])
        self.cluster_dns()
        self.daemon("dns-metrics", dns, [sys.executable, HERE + "/metrics.py", DNS_POD, "9153"])
        self.daemon("l1-echo", echo, [sys.executable, HERE + "/echo.py", "--name", "l1-echo",
                                      *ECHO_PORTS])
        return dns

    def _linux_pod(self, name, address):
        node, ns = self.ns("l1"), self.ns(name)
        netns.add(ns)
        netns.veth(node, "p-" + name, ns, "eth0")
        netns.ip_batch(node, ["link set p-%s master cni0 up" % name])
        mtu = 1450 if self.mode == "overlay" else 1500
        netns.ip_batch(ns, ["addr add %s/24 dev eth0" % address, "link set eth0 mtu %d up" % mtu,
                            "route add default via %s" % L1_GATEWAY])
        return ns

    def cluster_dns(self, lies=False, zone=DOMAIN, knows=True):
        """(Re)starts the cluster's DNS server; with lies every name leads to a dead end. It answers
        for the zone, and says of all else below the cluster's domain that it is not there. One that
        knows nothing and nobody answers each question with an error."""
        api = "203.0.113.66" if lies else API_VIP
        dns = "203.0.113.66" if lies else DNS_VIP
        svc = ".svc." + zone
        lines = ["local=/%s/" % DOMAIN, "server=" + EXTERNAL_DNS,
                 "host-record=kubernetes.default%s,%s" % (svc, api),
                 "host-record=kube-dns.kube-system%s,%s" % (svc, ",".join(
                     [dns] + [DNS_VIP6] * (self.dual and not lies))),
                 "host-record=echo.default%s,%s" % (svc, ECHO_POD)]
        if lies:
            lines.append("address=/%s/203.0.113.66" % EXTERNAL_NAME)
        else:
            # of IPv6, which dnsmasq takes a /64 at a time, those of the first nodes
            ranges = [POD_RANGE, *(POD_RANGE6.replace("::/56", ":%d::/64" % n) for n in range(1, 8 * self.dual))]
            lines += ["synth-domain=%s.pod.%s,%s" % (z, zone, r) for z in POD_ZONES for r in ranges]
        self.daemon("dns", self.ns("l1-dns"), dnsmasq(self.folder, "dns", None, lines if knows else []))
        if not listens(self.ns("l1-dns"), DNS_POD, 53):
            raise RuntimeError("the cluster's DNS server does not start: see " + self.log("dns"))

    def no_dns(self):
        netns.stop(self.children.pop("dns", None))

    def peer_add(self, subnet, host, vtep_mac, vni=None):
        """What the Linux node's agent does when it hears of another node."""
        node, base = self.ns("l1"), subnet.split("/")[0]
        self.peer_del(subnet)
        if self.mode != "overlay":
            netns.ip(node, "route replace", subnet, "via", host)
        else:
            mac = vtep_mac.replace("-", ":").lower()
            more = " vni %d" % vni if vni else ""
            self.peers[subnet] = (mac, host)
            netns.ip_batch(node, ["neigh replace %s lladdr %s dev vx nud permanent" % (base, mac),
                                  "route replace %s via %s dev vx onlink" % (subnet, base)])
            netns.bridge_batch(node, ["fdb append %s dev vx dst %s%s" % (mac, host, more)])
        return self

    def segment(self, gateway):
        """What a router's administrator does for pods that are on its segment: an address among
        them, the way to the other pods, no complaint about packets that turn around."""
        lan = self.ns("fabric")
        netns.sysctl(lan, {"net/ipv4/conf/lan/send_redirects": 0, "net/ipv4/conf/all/send_redirects": 0})
        netns.ip_batch(lan, ["addr replace %s dev lan" % gateway,
                             "route replace %s via %s" % (L1_SUBNET, L1)])
        netns.nft(lan, "table ip segment {\n chain out {\n  type nat hook postrouting priority 100;\n"
                  '  oifname "wan" ip saddr %s masquerade\n }\n}\n'
                  "flush chain ip fabric edge\n" % POD_RANGE)

    def route_services(self):
        """The router sends Services' addresses to the Linux node, whose kube-proxy serves them."""
        netns.ip(self.ns("fabric"), "route replace", SERVICE_RANGE, "via", L1)
        netns.nft(self.ns("l1"), "table ip services {\n chain to {\n"
                  "  type nat hook prerouting priority -100;\n"
                  "  ip daddr %s meta l4proto { tcp, udp } th dport 53 dnat to %s\n"
                  "  ip daddr %s tcp dport 443 dnat to %s:6443\n }\n"
                  " chain back {\n  type nat hook postrouting priority 90;\n"
                  "  ct status dnat masquerade\n }\n}\n" % (DNS_VIP, DNS_POD, API_VIP, CP))

    def overlay_vni(self, vni, port=VXLAN_PORT):
        """The Linux node's overlay starts again with that VNI and port; it keeps its peers."""
        node, peers = self.ns("l1"), dict(self.peers)
        for subnet in peers:
            self.peer_del(subnet)
        netns.ip_batch(node, ["link del vx"] + _vxlan(vni, port))
        for subnet, (mac, host) in peers.items():
            self.peer_add(subnet, host, mac)

    def routes(self):
        """Subnet -> host of what the Linux node reaches by plain routes."""
        return {r["dst"]: r["gateway"] for r in json.loads(netns.run(
            ["ip", "-n", self.ns("l1"), "-j", "route"]))
            if r["dst"].startswith("10.244.") and "gateway" in r}

    def peer_del(self, subnet):
        node = self.ns("l1")
        netns.ip(node, "route del", subnet, check=False)
        if subnet in self.peers:
            mac, host = self.peers.pop(subnet)
            netns.run(["bridge", "-n", node, "fdb", "del", mac, "dev", "vx", "dst", host],
                      check=False)
            netns.ip(node, "neigh del", subnet.split("/")[0], "dev vx", check=False)

    def describe(self):
        """What others need to know to find their way."""
        return {"mark": self.mark, "mode": self.mode, "folder": self.folder, "pid": os.getpid(),
                "namespaces": [n.split()[0] for n in
                               netns.run(["ip", "netns", "list"]).splitlines()
                               if n.startswith(self.mark)]}


def listens(ns, address, port, seconds=10):
    """Waits until somebody takes TCP connections there; False when nobody does."""
    def talk():
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with socket.socket() as sock:
                sock.settimeout(1)
                if sock.connect_ex((address, port)) == 0:
                    return True
            time.sleep(0.02)
        return False
    return netns.within(ns, talk)


def _vxlan(vni, port=VXLAN_PORT):
    return ["link add vx type vxlan id %d dstport %d nolearning local %s dev eth0"
            % (vni, port, L1), "link set vx address %s mtu 1450 up" % L1_MAC,
            "addr add 10.244.0.0/32 dev vx"]


def dnsmasq(folder, name, address, lines):
    """The command line of a DNS server whose whole configuration is one file."""
    path = os.path.join(folder, name + ".conf")
    head = ["port=53", "no-resolv", "no-hosts", "keep-in-foreground", "user=root", "pid-file=",
            "bind-interfaces", "log-facility=-", "cache-size=0", "local-ttl=1"]
    if address:
        head += ["listen-address=" + address]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(head + lines) + "\n")
    return ["dnsmasq", "--conf-file=" + path]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("up", "sweep"))
    parser.add_argument("--mode", default="overlay", choices=("overlay", "l2bridge", "l2tunnel", "transparent", "nat"))
    parser.add_argument("--state", help="write where things are into this file")
    args = parser.parse_args()
    if args.verb == "sweep":
        print("\n".join(netns.sweep()))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with Fabric(args.mode) as fabric:
            text = json.dumps(fabric.describe(), indent=2)
            if args.state:
                with open(args.state, "w", encoding="utf-8") as f:
                    f.write(text)
            print(text, flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except netns.Missing as why:
        print("error: cannot make the fabric: %s" % why, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
