"""Faults of one node that were written down, with the cause that an expert would name, before any of them was tried:
twelve, six after the rules had been changed for what they missed of these, and again ten, and six. docs/design/diag.md counts them;
causes.py plays one by its name. Two that were missed are in sampled.py.

From what people report: kubernetes/kubernetes#130963, #74766, microsoft/Windows-Containers#631, #439,
kubernetes-sigs/sig-windows-tools#89, Azure/AKS#808, #4518, rancher/rke2#1541, and from what administrators do.
"""
import sys
import time

import break_cluster as cluster
import break_hns as hns
import break_node as node
import fabric as fabrics
import netns
from fault import BRIDGE, FROM_PODS, OVERLAY, Fault, after, obeyed
from policy_agent import acl


def moved(stage):
    """DHCP gives the node another address."""
    index = node.node_index(stage)
    stage.host.net("address-del %s %s" % (index, stage.host.address))
    stage.host.net("address-add %s 10.0.0.88 24" % index)
    stage.host.net("route-add %s 0.0.0.0 0 %s" % (index, fabrics.ROUTER))


def moved_home(stage):
    index = node.node_index(stage)
    stage.host.net("address-del %s 10.0.0.88" % index)
    stage.host.net("address-add %s %s 24" % (index, stage.host.address))
    stage.host.net("route-add %s 0.0.0.0 0 %s" % (index, fabrics.ROUTER))


def port_taken(stage):
    """Another program has the kubelet's port when that starts again."""
    node.stop("kubelet")(stage)
    stage.fabric.daemon("thief", stage.host.ns, [
        sys.executable, "-c", "import socket, time; s = socket.create_server(('', 10250)); time.sleep(9999)"])
    fabrics.listens(stage.host.ns, stage.host.address, 10250)
    stage.host.run(["sc", "start", "kubelet"])
    node.await_state(stage, "kubelet", "STOPPED")


def port_free(stage):
    stage.fabric.daemon("thief", stage.host.ns, ["true"])
    node.start("kubelet")(stage)


def dns_refuses(stage):
    """The DNS server outside refuses whoever asks."""
    stage.fabric.daemon("outside-dns", stage.fabric.ns("outside"), fabrics.dnsmasq(
        stage.fabric.folder, "outside-dns", fabrics.EXTERNAL_DNS, []))


def dns_answers(stage):
    stage.fabric.daemon("outside-dns", stage.fabric.ns("outside"), fabrics.dnsmasq(
        stage.fabric.folder, "outside-dns", fabrics.EXTERNAL_DNS,
        ["host-record=%s,%s" % (fabrics.EXTERNAL_NAME, fabrics.EXTERNAL_IP)]))


COMPANY_DNS, OLD_SLICE = "192.0.2.54", cluster.SLICE + "-old"


def company_dns(stage):
    """The cluster's DNS asks a server that knows the company's names alone."""
    ns = stage.fabric.ns("outside")
    netns.ip(ns, "addr add %s/32 dev lo" % COMPANY_DNS)
    stage.fabric.daemon("company-dns", ns, fabrics.dnsmasq(stage.fabric.folder, "company-dns", COMPANY_DNS, ["local=/#/"]))
    cluster.dns_says("server=" + fabrics.EXTERNAL_DNS, "server=" + COMPANY_DNS)[0](stage)


def no_company_dns(stage):
    stage.fabric.cluster_dns()
    netns.stop(stage.fabric.children.pop("company-dns", None))
    netns.ip(stage.fabric.ns("outside"), "addr del %s/32 dev lo" % COMPANY_DNS)


def old_slice(stage):
    """A second EndpointSlice of the DNS, which nobody manages any more, has a pod that is gone."""
    old = stage.cluster.call("GET", cluster.SLICE)
    for key in ("resourceVersion", "uid", "creationTimestamp", "managedFields", "generation"):
        old["metadata"].pop(key, None)
    old["metadata"]["name"] = OLD_SLICE.rsplit("/", 1)[1]
    old["endpoints"] = [{**cluster.ENDPOINT, "addresses": ["10.244.0.57"]}]
    stage.cluster.call("POST", OLD_SLICE.rsplit("/", 1)[0], old)
    time.sleep(1.5)  # kube-proxy hears of it


def no_old_slice(stage):
    stage.cluster.call("DELETE", OLD_SLICE)
    time.sleep(1.5)


FAULTS = {
    "flannel-vni": after("flannel's configuration on this node has another VNI", "HNS-NET", *node.edited(
        "C:\\etc\\kube-flannel\\net-conf.json", r'("VNI": *)4096', r"\g<1>4097", "flanneld"), OVERLAY),
    "sinkhole": after("the cluster's DNS sends the name outside to a machine that is not there", "EXT-DNS",
                      *cluster.dns_says("server=", "address=/%s/203.0.113.9\nserver=" % fabrics.EXTERNAL_NAME), BRIDGE),
    "no-way-in": Fault("the node's switch hands nothing to pods that comes from other machines", "POD-GW",
                       *cluster.filtered("w1", 'iifname { "vsw0", "vx*" } oifname "ep*" drop'), OVERLAY),
    "dhcp": after("DHCP gave the node another address", "NIC-WRONG", moved, moved_home, BRIDGE),
    "proxy-forbidden": after("kube-proxy may not list Services any more, and was started again", "SVC-ALL", node.both(
        cluster.control(op="fault", method="GET", path="/api/v1/services", code=403, reason="Forbidden"),
        hns.drop_balancers, node.start("kube-proxy")),
                             node.both(cluster.control(op="clear"), node.restart("kube-proxy")), OVERLAY),
    "dns-refused": after("the DNS server outside refuses this cluster", "EXT-NODE", dns_refuses, dns_answers, BRIDGE),
    "ecmp": Fault("one of two lines between the nodes is dead: half of the connections' VXLAN packets", "LOSS",
                  *cluster.filtered("fabric", "udp dport 4789 jhash udp sport mod 2 == 0 drop", "bridge"), OVERLAY),
    "manifests": after("the kubelet's configuration names another folder of static pods", "NODE-CHANGED", *node.edited(
        "C:\\var\\lib\\kubelet\\config.yaml", r"(staticPodPath:).*", r"\1 C:\\other", "kubelet"), BRIDGE),
    "kubelet-thief": after("another program has the kubelet's port when that starts again", "SVC-DOWN",
                           port_taken, port_free, OVERLAY),
    "egress-deny": obeyed("a policy agent lets pods ask the DNS and nothing else", [
        acl("Allow", "Out", 100, Protocols="17", RemotePorts="53"), acl("Block", "Out", 200)], BRIDGE),
}

# Written down after the rules had been changed for what they had missed of those.
FAULTS |= {
    "missed-node": after("flanneld was stopped, and the DNS pods' node was made again with another MAC since", "SVC-DOWN",
                         node.both(node.stop("flanneld"), cluster.wired(
                             "l1", ["link set vx address 00:15:5d:00:00:77"], [])[0], cluster.annotate(
                                 "l1", "backend-data", '{"VNI":%d,"VtepMAC":"00:15:5d:00:00:77"}' % fabrics.VNI)),
                         node.both(node.start("flanneld"), lambda s: s.fabric.overlay_vni(fabrics.VNI), cluster.annotate(
                             "l1", "backend-data", '{"VNI":%d,"VtepMAC":"%s"}' % (fabrics.VNI, fabrics.L1_MAC))), OVERLAY),
    "few-new": Fault("the node's switch lets four new connections a second of its pods pass", "LOSS", *cluster.filtered(
        "w1", FROM_PODS + "ct state new limit rate over 4/second burst 4 packets drop"), OVERLAY),
    "slice-nowhere": after("the EndpointSlice of the DNS has an address of no node's pods", "SVC-EP0",
                           cluster.dns_endpoints([{**cluster.ENDPOINT, "addresses": ["10.244.9.9"]}]),
                           cluster.dns_endpoints([cluster.ENDPOINT]), OVERLAY),
    "dead-server": after("a dead DNS server comes before the cluster's in pods", "DNS-SRV", *hns.rewritten(
        "HcnCreateEndpoint", '"ServerList":["%s"]' % fabrics.DNS_VIP, '"ServerList":["10.0.0.2","%s"]' % fabrics.DNS_VIP),
                         BRIDGE),
    "slice-node": after("the EndpointSlice of the DNS has the address of a node that has no DNS", "SVC-EP0",
                        cluster.dns_endpoints([{**cluster.ENDPOINT, "addresses": [fabrics.L1]}]),
                        cluster.dns_endpoints([cluster.ENDPOINT]), BRIDGE),
    "pods-rejected": Fault("the node's firewall rejects what its pods send outside", "EXT-PODS", *cluster.filtered(
        "w1", FROM_PODS + "ip daddr 192.0.2.0/24 reject with icmp type admin-prohibited", "ip"), BRIDGE),
}

# Of other kinds than all before, and two pairs.
FAULTS |= {
    "old-slice": after("a second EndpointSlice of the DNS, which nobody manages any more, has a pod that is gone",
                       "SVC-HALF", old_slice, no_old_slice, OVERLAY),
    "vxlan-in": Fault("the node's own firewall drops VXLAN that comes in", "OVL-UDP", *cluster.filtered(
        "w1", "udp dport 4789 drop", hook="input"), OVERLAY),
    "vip-udp": after("UDP from the source VIP is lost on its way to the DNS pods", "SVC-VIP", *cluster.filtered(
        "l1", lambda s: "ip saddr %s meta l4proto udp drop" % hns.balancer(s, fabrics.DNS_VIP, 17)["SourceVIP"]), OVERLAY),
    "dns-company": after("the cluster's DNS asks a server that knows the company's names alone", "EXT-DNS",
                         company_dns, no_company_dns, OVERLAY),
    "udr-gone": Fault("the cloud's route table has lost its routes to pods", "L2-ROUTE", *cluster.filtered(
        "fabric", "ip daddr %s drop" % fabrics.POD_RANGE, "bridge"), BRIDGE),
    "snat-used": Fault("three of four new connections to what is outside find no port for their translation", "LOSS",
                       *cluster.filtered("fabric", 'oifname "wan" ct state new numgen inc mod 4 != 0 drop', "ip"), BRIDGE,
                       chance=True),
    "api-busy": after("the API server has too many requests to answer this node's", "API-DOWN", cluster.control(
        op="fault", user="system:node:.*", code=429, reason="TooManyRequests"), cluster.control(op="clear"), BRIDGE),
    # not by the cable's MTU, which lets a packet pass that the sender's adapter is to cut
    "own-cable-mtu": Fault("the node's cable takes 1400 bytes", "MTU-NODES", *cluster.filtered(
        "fabric", 'iifname "p-w1" meta length > 1400 drop\n  oifname "p-w1" meta length > 1400 drop', "bridge"), BRIDGE),
}
PAIRS = {
    "own-node+slice-port": OVERLAY,
    "no-forwarding+api-half": BRIDGE,
}

# Written down after the rules had been changed for what they had missed of those.
FAULTS |= {
    # SVC-LB was written down, but load balancers come before it
    "agent-443": Fault("a security agent of the node resets its pods' connections to port 443", "EXT-PODS",
                       *cluster.filtered("w1", FROM_PODS + "tcp dport 443 reject with tcp reset", hook="prerouting"),
                       OVERLAY),
    "vxlan-rate": Fault("the cloud lets twenty VXLAN packets a second pass", "LOSS", *cluster.filtered(
        "fabric", "udp dport 4789 limit rate over 20/second burst 5 packets drop", "bridge"), OVERLAY, chance=True),
    "api-resets": Fault("a load balancer before the API server takes connections and resets them", "API-DOWN",
                        *cluster.filtered("cp", "tcp dport 6443 ct state established reject with tcp reset", hook="input"),
                        BRIDGE),
    "slice-names": after("the EndpointSlice of the DNS has other names of ports than the Service", "DNS-LB",
                         cluster.dns_port(53, "domain"), cluster.dns_port(53), BRIDGE),
}
PAIRS |= {
    "dns-company+kubelet-refuses": OVERLAY,
    "pod-suffix+api-slice-port": BRIDGE,
}
