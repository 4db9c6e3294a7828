"""Faults written down, with their cause, before any was tried; those that teach something move to faults.py."""
import json
import os
import signal
import sys

import break_cluster as cluster
import break_node as node
import fabric as fabrics
import netns
from faults import BOTH, BRIDGE, DNS, OVERLAY, WRONG_MAC, Fault, after, obeyed
from policy_agent import acl


def twin_of_dns(stage):
    """Another pod of the Linux node takes the DNS pod's address."""
    echo = stage.fabric.ns("l1-echo")
    netns.ip(echo, "addr add %s/32 dev eth0" % fabrics.DNS_POD)
    netns.ip(stage.fabric.ns("l1"), "neigh replace %s lladdr %s dev cni0 nud permanent" % (
        fabrics.DNS_POD, netns.mac(echo, "eth0").replace("-", ":")))


def no_twin_of_dns(stage):
    netns.ip(stage.fabric.ns("l1-echo"), "addr del %s/32 dev eth0" % fabrics.DNS_POD)
    netns.ip(stage.fabric.ns("l1"), "neigh del %s dev cni0" % fabrics.DNS_POD)


def narrow_remote(verb):
    def each(stage):
        old = [p for p in node.network(stage.host)["Policies"] if p["Type"] == "RemoteSubnetRoute"][0]
        node.change_network(stage.host, verb, [dict(old, Settings={
            **old["Settings"], "DestinationPrefix": "10.244.0.32/27", "ProviderAddress": "10.0.0.99",
            "DistributedRouterMacAddress": "00:15:5d:00:00:77"})])
    return each


def used_addresses(stage):
    with open(node.cni(stage), encoding="utf-8") as f:
        doc = json.load(f)
    folder = stage.host.path("C:" + doc["ipam"].get("dataDir", "/var/lib/cni/networks").replace("C:", "")) \
        + "/" + doc["name"]
    prefix = stage.node(stage.node_name)["spec"]["podCIDR"].rsplit(".", 1)[0]
    stage.written = []
    for n in range(2, 255):
        path = "%s/%s.%d" % (folder, prefix, n)
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as f:
                f.write("%064x\r\neth0" % n)
            stage.written.append(path)


def free_addresses(stage):
    for path in stage.written:
        os.unlink(path)


def other_cni(stage):
    with open(os.path.dirname(node.cni(stage)) + "/05-calico.conflist", "w", encoding="utf-8") as f:
        json.dump({"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": [{"type": "calico"}]}, f)


def no_other_cni(stage):
    os.unlink(os.path.dirname(node.cni(stage)) + "/05-calico.conflist")


def left_network(stage):
    stage.left = node.make(stage, "Network", {"Name": "nat", "Type": "NAT", "Ipams": [{"Subnets": [{
        "IpAddressPrefix": "172.20.0.0/20", "Routes": [{"NextHop": "172.20.0.1", "DestinationPrefix": "0.0.0.0/0"}]}]}]})


def twin_balancer(stage):
    """A load balancer that nobody knows has the DNS' address and port, and was made first."""
    old = node.balancer(stage, DNS, 17)
    stage.host.hns("HcnDeleteLoadBalancer", "go", old.pop("ID"))
    old.pop("Health", None)
    twin = json.loads(json.dumps(old))
    node.stale_backend(stage, twin)
    node.make(stage, "LoadBalancer", twin)
    node.make(stage, "LoadBalancer", old)


def late_outside(stage):
    ns = stage.fabric.ns("outside")
    stage.fabric.daemon("late-outside", ns, [sys.executable, fabrics.HERE + "/late.py", "5300", fabrics.EXTERNAL_DNS, "4"])
    fabrics.listens(ns, fabrics.EXTERNAL_DNS, 5300)
    netns.nft(ns, "table ip late {\n chain late {\n  type nat hook prerouting priority -100;\n"
              '  iifname "eth0" meta l4proto { tcp, udp } th dport 53 redirect to :5300\n }\n}\n')


def outside_in_time(stage):
    netns.run(netns.command(stage.fabric.ns("outside"), ["nft", "delete", "table", "ip", "late"]), check=False)
    netns.stop(stage.fabric.children.pop("late-outside", None))


def cordon(value):
    return lambda s: s.cluster.call("PATCH", "/api/v1/nodes/" + s.node_name, {"spec": {"unschedulable": value}},
                                    cluster.MERGE)


TO_L1, TO_W1 = "ip daddr %s " % fabrics.L1_SUBNET, "ip saddr %s " % fabrics.L1_SUBNET

UNSEEN = {
    # ---- overlay
    "l1-docker": Fault("Docker on the DNS pods' node lets nothing be forwarded", "SVC-EP0",
                       *cluster.filtered("l1", "drop"), OVERLAY),
    "dns-pod-twin": Fault("another pod has taken the address of the DNS pod", "SVC-EP0",
                          twin_of_dns, no_twin_of_dns, OVERLAY),
    "vxlan-sum": Fault("this node's adapter writes wrong checksums of VXLAN", "OVL-UDP", *cluster.filtered(
        "fabric", 'iifname "p-w1" udp dport 4789 udp checksum set 0x1234', "bridge"), OVERLAY),
    "api-503": after("the API server is overloaded: 503 for what the node asks", "API-DOWN", cluster.control(
        op="fault", user="system:node:.*", code=503, reason="ServiceUnavailable"), cluster.control(op="clear"), OVERLAY),
    "api-expired": after("the API server's own certificate has expired", "API-REFUSED",
                         cluster.control(op="named", name="expired-certificate"), cluster.control(op="clear"), OVERLAY),
    "api-inspected": after("a firewall resets connections to the API server once something is said", "API-DOWN",
                           *cluster.filtered("cp", "tcp dport 6443 tcp flags & psh == psh reject with tcp reset",
                                             hook="input"), OVERLAY),
    "vip-node": after("the DNS' load balancer has the node's address as its source", "SVC-VIP", node.other_balancer(
        DNS, 17, lambda s, lb: lb.update(SourceVIP=s.host.address)), node.restart("kube-proxy"), OVERLAY),
    # or ROUTE-STALE
    "remote-narrow": after("HNS has another route for a part of the DNS pods' node, to an address that is gone",
                           "OVL-PEER", narrow_remote("Add"), narrow_remote("Remove"), OVERLAY),
    "dns-two": after("pods get a DNS server outside before the cluster's", "DNS-SRV", *node.rewritten(
        "HcnCreateEndpoint", '"ServerList":["%s"]' % DNS, '"ServerList":["%s","%s"]' % (fabrics.EXTERNAL_DNS, DNS)),
        OVERLAY),
    "acl-subnet": obeyed("an ACL before one that allows all blocks the DNS pods' node", [
        acl("Block", "Out", 200, RemoteAddresses=fabrics.L1_SUBNET), acl("Allow", "Out", 1000),
        acl("Allow", "In", 1000)], OVERLAY),
    # or POD-SBX
    "addresses-used": after("all addresses of the node are reserved, by containers that are gone", "HNS-LEFT",
                            used_addresses, free_addresses, OVERLAY),
    "portal": Fault("the cluster's DNS gives one address for all names outside", "EXT-DNS", *cluster.dns_says(
        "server=" + fabrics.EXTERNAL_DNS, "address=/#/10.0.0.99"), OVERLAY),
    "nat-left": after("a NAT network of Docker is left over", "", left_network,
                      lambda s: s.host.hns("HcnDeleteNetwork", "go", s.left["ID"]), OVERLAY),

    # ---- bridge
    "l1-arp-pod": Fault("the DNS pods' node has a wrong MAC for the DNS pod", "SVC-EP0", *cluster.wired(
        "l1", [WRONG_MAC % (fabrics.DNS_POD, "cni0")], ["neigh del %s dev cni0" % fabrics.DNS_POD]), BRIDGE),
    # or NODE-CHANGED
    "cni-first": after("another plugin's CNI configuration comes first", "POD-SBX", other_cni, no_other_cni, BRIDGE),
    "nodes-apart": after("the switch keeps this node and the DNS pods' node apart", "PEER-DOWN", *cluster.wired(
        "fabric", ["link set %s type bridge_slave isolated on" % p for p in ("p-w1", "p-l1")],
        ["link set %s type bridge_slave isolated off" % p for p in ("p-w1", "p-l1")]), BRIDGE),
    "l1-syn-ack": Fault("a firewall between the nodes drops answers to connections that it did not see", "TCP-LOST",
                        *cluster.filtered("l1", TO_W1 + "tcp flags & (syn | ack) == syn | ack drop"), BRIDGE),
    "out-dns-only": Fault("the data center lets nothing out by TCP", "EXT-NODE", *cluster.filtered(
        "fabric", 'oifname "wan" meta l4proto tcp drop', "ip"), BRIDGE),
    "slow-upstream": Fault("the DNS server outside takes four seconds", "EXT-DNS", late_outside, outside_in_time, BRIDGE),
    "proxy-deleted": after("somebody deleted the service kube-proxy", "SVC-DOWN", node.both(
        node.stop("kube-proxy"), lambda s: s.host.run(["sc", "delete", "kube-proxy"])), node.phase("kube-proxy"), BRIDGE),
    "policy-route": Fault("the DNS pods' node sends what its pods say by another gateway", "L2-ROUTE", *cluster.wired(
        "l1", ["rule add from %s lookup 100" % fabrics.L1_SUBNET, "route add default via %s table 100" % fabrics.ROUTER],
        ["rule del from %s lookup 100" % fabrics.L1_SUBNET, "route flush table 100"]), BRIDGE),
    "narrow-route": after("a route leads half of the DNS pods' node by the control plane", "L2-ROUTE",
                          *node.more_routes("10.244.0.0 25 " + fabrics.CP), BRIDGE),
    # or DNS-WRONG
    "dns-unknown": Fault("the cluster's DNS does not know the Service kubernetes", "DNS-ZONE", *cluster.dns_says(
        "host-record=kubernetes.default", "#"), BRIDGE),
    "lb-twin": after("a load balancer of nobody has the DNS' address and port", "SVC-STALE",
                     twin_balancer, node.restart("kube-proxy"), BRIDGE),
    "dns-none": after("pods get no DNS server", "DNS-SRV", *node.rewritten(
        "HcnCreateEndpoint", '"ServerList":["%s"]' % DNS, '"ServerList":[]'), BRIDGE),
    "cordoned": after("the node is cordoned", "", cordon(True), cordon(None), BRIDGE),
}


# ---- a second list, written down after the rules were changed for the first ------------------------------------

def outside_says_no(stage):
    """The DNS server outside knows example.com, and says of all else that it does not exist."""
    stage.fabric.daemon("outside-dns", stage.fabric.ns("outside"), fabrics.dnsmasq(
        stage.fabric.folder, "outside-dns", fabrics.EXTERNAL_DNS,
        ["host-record=%s,%s" % (fabrics.EXTERNAL_NAME, fabrics.EXTERNAL_IP), "local=/local/"]))
    fabrics.listens(stage.fabric.ns("outside"), fabrics.EXTERNAL_DNS, 53)


def dns_moves(stage):
    """kube-proxy hangs, and the DNS pod is made again with another address."""
    node.frozen("kube-proxy.exe")(stage)
    netns.ip(stage.fabric.ns("l1-dns"), "addr add 10.244.0.54/32 dev eth0")
    stage.fabric.cluster_dns()
    GONE[0](stage)
    cluster.dns_endpoints([{**cluster.ENDPOINT, "addresses": ["10.244.0.54"]}])(stage)


def dns_is_back(stage):
    GONE[1](stage)
    netns.ip(stage.fabric.ns("l1-dns"), "addr del 10.244.0.54/32 dev eth0")
    stage.fabric.cluster_dns()
    cluster.dns_endpoints([cluster.ENDPOINT])(stage)
    for pid in stage.frozen:
        os.kill(pid, signal.SIGCONT)


GONE = cluster.filtered("l1", "ip daddr %s drop" % fabrics.DNS_POD)


def renamed(name):
    path = "C:\\opt\\cni\\bin\\" + name
    return (lambda s: os.rename(s.host.path(path), s.host.path(path) + ".kept"),
            lambda s: os.replace(s.host.path(path) + ".kept", s.host.path(path)))


def broken_cni(stage):
    stage.cni = node.cni(stage)
    with open(stage.cni, encoding="utf-8") as f:
        stage.kept = f.read()
    with open(stage.cni, "w", encoding="utf-8") as f:
        f.write(stage.kept[:len(stage.kept) // 2])


def whole_cni(stage):
    with open(stage.cni, "w", encoding="utf-8") as f:
        f.write(stage.kept)


SECOND = {
    # ---- overlay
    "dns-two-nx": after("pods ask a DNS server outside first, which knows no Service", "DNS-SRV", node.both(
        outside_says_no, node.rewritten("HcnCreateEndpoint", '"ServerList":["%s"]' % DNS,
                                        '"ServerList":["%s","%s"]' % (fabrics.EXTERNAL_DNS, DNS))[0]),
                        lambda s: s.host.control({"op": "rewrite"}), OVERLAY),
    "api-cut-short": after("a proxy cuts the API server's answers", "API-DOWN", cluster.control(
        op="fault", user="system:node:.*", truncate=40), cluster.control(op="clear"), OVERLAY),
    "proxy-stuck": after("kube-proxy hangs, and the DNS pod got another address", "SVC-STALE",
                         dns_moves, dns_is_back, OVERLAY),
    "pppoe": Fault("the line to the DNS pods' node takes 1492 bytes", "MTU-NODES", *cluster.wired(
        "fabric", ["link set p-l1 mtu 1492"], ["link set p-l1 mtu 1500"]), OVERLAY),
    "acl-api": obeyed("an ACL keeps pods from the API server", [acl(
        "Block", "Out", 100, Protocols="6", RemoteAddresses=fabrics.CP, RemotePorts="6443")], OVERLAY),
    # or POD-SBX
    "cni-broken": after("the CNI configuration is cut off in the middle", "NODE-CHANGED", broken_cni, whole_cni, OVERLAY),
    "masquerade-all": Fault("the DNS pods' node translates what comes from pods, too", "", *cluster.filtered(
        "l1", 'oifname "cni0" masquerade', "ip", "postrouting", "nat"), OVERLAY),
    "l1-unready": after("the DNS pods' node is not Ready, and works", "",
                        lambda s: cluster.ready(s, "False", "container runtime is down"),
                        lambda s: cluster.ready(s, "True", "kubelet is posting ready status"), OVERLAY),

    # ---- bridge
    "containerd-hung": after("containerd hangs", "SVC-DOWN", node.frozen("containerd.exe"), node.ended("containerd"),
                             BRIDGE),
    "cni0-down": Fault("the bridge of the DNS pods' node is down", "SVC-EP0", *cluster.wired(
        "l1", ["link set cni0 down"], ["link set cni0 up"]), BRIDGE),
    "dns-two-answers": Fault("the cluster's DNS has a second, dead address for the API server", "DNS-WRONG",
                             *cluster.dns_says("host-record=kubernetes.default", "host-record=kubernetes.default"
                                               ".svc.cluster.local,10.96.0.99\nhost-record=kubernetes.default"), BRIDGE),
    # or POD-SBX
    "host-local-gone": after("the program that gives addresses is gone", "NODE-CHANGED", *renamed("host-local.exe"),
                             BRIDGE),
    "udp-sum": Fault("this node's adapter writes wrong checksums of UDP", "UDP-LOST", *cluster.filtered(
        "fabric", 'iifname "p-w1" oifname "p-l1" meta l4proto udp udp checksum set 0x1234', "bridge"), BRIDGE),
    "dns-other-source": Fault("the DNS' answers by UDP come from its node's address", "DNS-PROTO", *cluster.filtered(
        "fabric", "ip saddr %s udp sport 53 ip saddr set %s" % (fabrics.DNS_POD, fabrics.L1), "bridge"), BRIDGE),
    "dns-pod-mtu": Fault("the DNS pod has an MTU of 576", "", *cluster.wired(
        "l1-dns", ["link set eth0 mtu 576"], ["link set eth0 mtu 1500"]), BRIDGE),
}
