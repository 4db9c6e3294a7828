"""What may be broken outside the Windows node of a stage (stage.py): the network between the
machines, the Linux node, the API server and what it says. Each function takes a stage, or answers
functions of one: faults.py."""
import json
import sys
import time

import fabric as fabrics
import linux_agent
import netns
from break_hns import network
from break_node import phase, restart

FLANNEL = "flannel.alpha.coreos.com/"
MERGE = "application/merge-patch+json"


# ---- between the machines ----------------------------------------------------------------------

def linux_vni(stage, vni):
    """The Linux node's flannel runs with another VNI, and says so."""
    stage.fabric.overlay_vni(vni)
    if stage.cluster:
        data = json.dumps({"VNI": vni, "VtepMAC": fabrics.L1_MAC})
        stage.cluster.call("PATCH", "/api/v1/nodes/l1",
                           {"metadata": {"annotations": {FLANNEL + "backend-data": data}}},
                           MERGE)


def filtered(where, rule, family="inet", hook="forward", kind="filter"):
    """A pair of functions: a packet filter in one of the fabric's namespaces, and its end."""
    def apply(stage):
        netns.nft(stage.fabric.ns(where), "table %s fault {\n chain fault {\n"
                  "  type %s hook %s priority %d;\n  %s\n }\n}\n" % (
                      family, kind, hook, -110 if kind == "nat" else -50,
                      rule(stage) if callable(rule) else rule))

    def lift(stage):
        netns.run(netns.command(stage.fabric.ns(where), ["nft", "delete", "table", family,
                                                         "fault"]), check=False)
    return apply, lift


def wired(where, there, back):
    """A pair of functions: lines for ip(8) in one of the fabric's namespaces, and what undoes them."""
    return (lambda stage: netns.ip_batch(stage.fabric.ns(where), there),
            lambda stage: netns.ip_batch(stage.fabric.ns(where), back, force=True))


def ended(name, where):
    """A pair of functions: one of the fabric's servers ends, and starts again."""
    kept = {}

    def apply(stage):
        kept[name] = stage.fabric.children.pop(name)
        netns.stop(kept[name])

    def lift(stage):
        stage.fabric.daemon(name, stage.fabric.ns(where), kept[name].args[4:])
    return apply, lift


def dns_says(find, replace):
    """The cluster's DNS has another text in its configuration."""
    def apply(stage):
        path = stage.fabric.folder + "/dns.conf"
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if find not in text:
            raise RuntimeError("no %s in %s" % (find, path))
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(find, replace))
        stage.fabric.daemon("dns", stage.fabric.ns("l1-dns"), ["dnsmasq", "--conf-file=" + path])
        fabrics.listens(stage.fabric.ns("l1-dns"), fabrics.DNS_POD, 53)
    return apply, lambda stage: stage.fabric.cluster_dns()


def imposter(stage):
    """Another program has the DNS' port: it takes connections, and says nothing."""
    stage.fabric.daemon("dns", stage.fabric.ns("l1-dns"), [
        sys.executable, "-c", "import socket, time; s = socket.create_server(('', 53)); time.sleep(9999)"])
    fabrics.listens(stage.fabric.ns("l1-dns"), fabrics.DNS_POD, 53)


def taken_address(name, address):
    """A pair of functions: another machine has a machine's address, all others send to it; and its end."""
    def each(stage, line):
        for other in {"cp": "eth0", "l1": "eth0", "w1": "vsw0", "fabric": "lan"}.items():
            if other[0] != name:
                netns.ip(stage.fabric.ns(other[0]), line % other[1])

    def apply(stage):
        twin = stage.fabric.host("twin", address)
        each(stage, "neigh replace %s lladdr %s dev %%s nud permanent" % (
            address, netns.mac(twin, "eth0").replace("-", ":")))

    def lift(stage):
        netns.delete(stage.fabric.ns("twin"))
        each(stage, "neigh del %s dev %%s" % address)
    return apply, lift


def no_overlay_back(stage):
    """The Linux node's routes through its overlay are gone."""
    netns.ip_batch(stage.fabric.ns("l1"), ["route del %s dev vx" % subnet for subnet in stage.fabric.peers])


def moved_back(stage):
    """The Linux node sends what is for this node's pods to another address."""
    for mac, _ in stage.fabric.peers.values():
        netns.run(["bridge", "-n", stage.fabric.ns("l1"), "fdb", "replace", mac, "dev", "vx", "dst", "10.0.0.99"])


def moved_there(stage):
    for mac, host in stage.fabric.peers.values():
        netns.run(["bridge", "-n", stage.fabric.ns("l1"), "fdb", "replace", mac, "dev", "vx", "dst", host])


def late(where, server, seconds):
    """A pair of functions: a DNS server of the fabric takes so long for each answer; and answers in time again."""
    name = "late-" + where

    def apply(stage):
        ns = stage.fabric.ns(where)
        stage.fabric.daemon(name, ns, [sys.executable, fabrics.HERE + "/late.py", "5300", server, str(seconds)])
        if not fabrics.listens(ns, server, 5300):
            raise RuntimeError("late.py does not start: see " + stage.fabric.log(name))
        netns.nft(ns, "table ip late {\n chain late {\n  type nat hook prerouting priority -100;\n"
                  "  ip daddr %s meta l4proto { tcp, udp } th dport 53 redirect to :5300\n }\n}\n" % server)

    def lift(stage):
        netns.run(netns.command(stage.fabric.ns(where), ["nft", "delete", "table", "ip", "late"]), check=False)
        netns.stop(stage.fabric.children.pop(name, None))
    return apply, lift


def no_way_back(stage):
    stage.way = stage.fabric.routes()
    for subnet in stage.way:
        stage.fabric.peer_del(subnet)


def way_back(stage):
    for subnet, host in stage.way.items():
        stage.fabric.peer_add(subnet, host, "")


def old_way_back(address):
    """The other nodes send to another address what is for this node's pods."""
    def apply(stage):
        stage.way = stage.fabric.routes()
        for subnet in stage.way:
            stage.fabric.peer_add(subnet, address, "")
    return apply


def cable(name, state):
    return lambda stage: netns.ip(stage.fabric.ns("fabric"), "link set", "p-" + name, state)


def slow_cable(name, seconds):
    """What a machine sends and gets arrives so late, as over a far or crowded line; and the end of that."""
    port = "p-" + name

    def apply(stage):
        lan = stage.fabric.ns("fabric")
        netns.veth(lan, "slow0", lan, "slow1")
        netns.ip_batch(lan, ["link set slow1 master lan up", "link set slow0 up", "link set %s nomaster" % port])
        netns.sysctl(lan, {"net/ipv4/conf/%s/arp_ignore" % d: 1 for d in (port, "slow0")})
        stage.fabric.daemon("slow-cable", lan, [sys.executable, fabrics.HERE + "/delay.py", port, "slow0",
                                                str(seconds)])

    def lift(stage):
        lan = stage.fabric.ns("fabric")
        netns.stop(stage.fabric.children.pop("slow-cable", None))
        netns.ip_batch(lan, ["link del slow0", "link set %s master lan" % port], force=True)
    return apply, lift


# ---- what the cluster says of nodes and pods ------------------------------------------------------

def annotate(node, key, value):
    return lambda stage: stage.cluster.call(
        "PATCH", "/api/v1/nodes/" + (node or stage.node_name),
        {"metadata": {"annotations": {FLANNEL + key: value}}},
        MERGE)


def own_address(stage):
    annotate("", "public-ip", stage.host.address)(stage)


def create(collection, document):
    def apply(stage):
        text = json.dumps(document).replace("NODE", stage.node_name).replace(
            "ADDRESS", stage.host.address)
        stage.cluster.call("POST", collection, json.loads(text))
    return apply


def delete(*paths):
    def lift(stage):
        for path in paths:
            stage.cluster.call("DELETE", path)
    return lift


def pod(name, spec, ip):
    """A pod of this node that has run for long."""
    document = {"metadata": {"name": name, "namespace": "default"},
                "spec": {"nodeName": "NODE", **spec},
                "status": {"phase": "Running", "podIP": ip, "startTime": "2026-01-01T00:00:00Z"}}
    return (create("/api/v1/namespaces/default/pods", document),
            delete("/api/v1/namespaces/default/pods/%s?gracePeriodSeconds=0" % name))


# ---- other machines ----------------------------------------------------------------------------

def twin_switches(stage):
    """The Linux node is a clone whose overlay has the MAC of the Windows node's."""
    mac = next(p["Settings"]["Address"] for p in network(stage.host)["Policies"]
               if p["Type"] == "DrMacAddress").replace("-", ":").lower()
    netns.ip(stage.fabric.ns("l1"), "link set vx address", mac)
    _announce(stage, mac)


def no_twin(stage):
    stage.fabric.overlay_vni(fabrics.VNI)
    _announce(stage, fabrics.L1_MAC)


def _announce(stage, mac):
    annotate("l1", "backend-data", json.dumps({"VNI": fabrics.VNI, "VtepMAC": mac}))(stage)
    time.sleep(2)  # flanneld hears of it


def node_down(stage):
    """The node of the DNS pods has no power; the control plane has noticed."""
    netns.ip(stage.fabric.ns("fabric"), "link set p-l1 down")
    ready(stage, "Unknown", "Kubelet stopped posting node status.")


def node_up(stage):
    netns.ip(stage.fabric.ns("fabric"), "link set p-l1 up")
    ready(stage, "True", "kubelet is posting ready status")


def ready(stage, status, message):
    stage.cluster.call("PATCH", "/api/v1/nodes/l1/status", {"status": {"conditions": [
        {"type": "Ready", "status": status, "reason": "x", "message": message}]}}, MERGE)


def forwarding(name, value):
    return lambda stage: netns.sysctl(stage.fabric.ns(name), {"net/ipv4/ip_forward": value})


def no_pod_route(stage):
    """The control plane's machine has lost its route to the pods."""
    stage.subnet = stage.node(stage.node_name)["spec"]["podCIDR"]
    netns.ip(stage.fabric.ns("cp"), "route del", stage.subnet)


def pod_route(stage):
    netns.ip(stage.fabric.ns("cp"), "route replace", stage.subnet, "via", stage.host.address)


def strict_path(stage):
    """The Linux node sends to the Windows pods another way than they come, and filters by that."""
    node, stage.way = stage.fabric.ns("l1"), stage.fabric.routes()
    netns.ip_batch(node, ["link add other0 type bridge", "link set other0 up"]
                   + ["route replace %s dev other0" % subnet for subnet in stage.way])
    netns.sysctl(node, {"net/ipv4/conf/all/rp_filter": 1, "net/ipv4/conf/eth0/rp_filter": 1})


def loose_path(stage):
    node = stage.fabric.ns("l1")
    netns.sysctl(node, {"net/ipv4/conf/all/rp_filter": 0, "net/ipv4/conf/eth0/rp_filter": 0})
    netns.ip_batch(node, ["route replace %s via %s" % way for way in stage.way.items()]
                   + ["link del other0"])


# ---- what the cluster says ---------------------------------------------------------------------

ENDPOINT = {"addresses": [fabrics.DNS_POD], "nodeName": "l1",
            "conditions": {"ready": True, "serving": True, "terminating": False}}
SLICE = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices/kube-dns"


def dns_endpoints(endpoints):
    def apply(stage):
        stage.cluster.call("PATCH", SLICE, {"endpoints": endpoints}, MERGE)
        time.sleep(1.5)  # kube-proxy hears of it
    return apply


def dns_service(change):
    """A pair of functions: the DNS' Service is deleted and made again otherwise (change(spec)); and as it was."""
    path = "/api/v1/namespaces/kube-system/services"

    def made(stage, service):
        stage.cluster.call("DELETE", path + "/kube-dns")
        for key in ("resourceVersion", "uid", "creationTimestamp", "managedFields"):
            service["metadata"].pop(key, None)
        stage.cluster.call("POST", path, service)
        time.sleep(1.5)  # kube-proxy hears of it

    def apply(stage):
        stage.service = stage.cluster.call("GET", path + "/kube-dns")
        other = json.loads(json.dumps(stage.service))
        change(other["spec"])
        made(stage, other)
    return apply, lambda stage: made(stage, stage.service)


def api_endpoint(*addresses):
    """What the API servers write of themselves, by their --advertise-address."""
    def apply(stage):
        stage.cluster.call("PATCH", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes",
                           {"endpoints": [{"addresses": [a], "conditions": {"ready": True}} for a in addresses]}, MERGE)
        time.sleep(1.5)  # kube-proxy hears of it
    return apply


def api_port(number):
    """The EndpointSlice of the API server has another port."""
    def apply(stage):
        stage.cluster.call("PATCH", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes",
                           {"ports": [{"name": "https", "port": number, "protocol": "TCP"}]}, MERGE)
        time.sleep(1.5)  # kube-proxy hears of it
    return apply


def dns_port(number, name="dns"):
    """The EndpointSlice of the DNS has another port, or another name of it."""
    def apply(stage):
        stage.cluster.call("PATCH", SLICE, {"ports": [
            {"name": name, "port": number, "protocol": "UDP"},
            {"name": name + "-tcp", "port": number, "protocol": "TCP"}]}, MERGE)
        time.sleep(1.5)  # kube-proxy hears of it
    return apply


def no_node(name):
    """The Node object of the Linux node, or of this one, is deleted."""
    def apply(stage):
        stage.gone = stage.node(name or stage.node_name)
        stage.cluster.call("DELETE", "/api/v1/nodes/" + (name or stage.node_name))
        time.sleep(1.5)  # flanneld hears of it
    return apply


def node_again(stage):
    for key in ("resourceVersion", "uid", "creationTimestamp", "managedFields"):
        stage.gone["metadata"].pop(key, None)
    stage.cluster.call("POST", "/api/v1/nodes", stage.gone)
    time.sleep(1.5)


def registered(stage):
    """The kubelet starts again and registers the node, which may get other addresses for its pods; flanneld announces
    it again."""
    restart("kubelet")(stage)
    for _ in range(50):
        time.sleep(0.2)
        there = stage.cluster.call("GET", "/api/v1/nodes")["items"]
        prefix = [n["spec"].get("podCIDR") for n in there if n["metadata"]["name"] == stage.node_name]
        if prefix and prefix[0]:
            break
    if prefix != [stage.gone["spec"]["podCIDR"]]:
        phase("pod-network")(stage)
        phase("kube-proxy")(stage)
    restart("flanneld")(stage)


def unannounced_peer(stage):
    """The Linux node's flannel annotations are gone."""
    stage.notes = {k: v for k, v in stage.node("l1")["metadata"]["annotations"].items() if k.startswith(FLANNEL)}
    stage.cluster.call("PATCH", "/api/v1/nodes/l1", {"metadata": {"annotations": dict.fromkeys(stage.notes)}}, MERGE)
    time.sleep(1.5)  # flanneld hears of it


def announced_peer(stage):
    stage.cluster.call("PATCH", "/api/v1/nodes/l1", {"metadata": {"annotations": stage.notes}}, MERGE)
    time.sleep(1.5)


def peer_says(key, value):
    """The Linux node announces something else; and what it did before."""
    def apply(stage):
        stage.notes = stage.node("l1")["metadata"]["annotations"]
        annotate("l1", key, value)(stage)
        time.sleep(1.5)  # flanneld hears of it

    def lift(stage):
        annotate("l1", key, stage.notes[FLANNEL + key])(stage)
        time.sleep(1.5)
    return apply, lift


def pod_cidr(prefix):
    """The Node has another prefix of pods; None: the one that it had."""
    def apply(stage):
        spec = stage.node(stage.node_name)["spec"]
        stage.subnet = spec["podCIDR"] if prefix else stage.subnet
        other = prefix or stage.subnet
        stage.cluster.call("PATCH", "/api/v1/nodes/" + stage.node_name,
                           {"spec": {"podCIDR": other, "podCIDRs": [other]}}, MERGE)
        time.sleep(1.5)  # the other nodes hear of it
    return apply


def unannounced(stage):
    """The node's flannel annotations are gone, as when the Node object was made again."""
    for key in ("public-ip", "backend-data", "backend-type", "kube-subnet-manager"):
        annotate("", key, None)(stage)
    time.sleep(1)  # the other nodes hear of it


def twin_node(stage):
    """The host has joined under another name before, with the same pods' prefix."""
    cidr = stage.node(stage.node_name)["spec"]["podCIDR"]
    notes = {"public-ip": stage.host.address, "backend-type": "vxlan", "kube-subnet-manager": "true",
             "backend-data": json.dumps({"VNI": fabrics.VNI, "VtepMAC": "00:15:5d:de:ad:01"})}
    stage.cluster.call("POST", "/api/v1/nodes", {
        "metadata": {"name": "win-7k2-long-nam", "labels": {"kubernetes.io/os": "windows"},
                     "annotations": {FLANNEL + k: v for k, v in notes.items()}},
        "spec": {"podCIDR": cidr, "podCIDRs": [cidr]},
        "status": {"addresses": [{"type": "InternalIP", "address": stage.host.address}]}})
    time.sleep(1)  # the other nodes hear of it


def same_prefix(stage):
    """Another machine's Node got the same pods' prefix: a cluster was restored from a backup."""
    cidr = stage.node(stage.node_name)["spec"]["podCIDR"]
    notes = {"public-ip": "10.0.0.77", "kube-subnet-manager": "true",
             "backend-type": "vxlan" if stage.mode == "overlay" else "host-gw",
             "backend-data": json.dumps({"VNI": fabrics.VNI, "VtepMAC": "00:15:5d:de:ad:77"})}
    stage.cluster.call("POST", "/api/v1/nodes", {
        "metadata": {"name": "win-7k2-long-nam", "labels": {"kubernetes.io/os": "windows"},
                     "annotations": {FLANNEL + k: v for k, v in notes.items()}},
        "spec": {"podCIDR": cidr, "podCIDRs": [cidr]},
        "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.77"}]}})
    time.sleep(2)  # the other nodes hear of it


def no_twin_node(stage):
    stage.cluster.call("DELETE", "/api/v1/nodes/win-7k2-long-nam")
    time.sleep(1)
    restart_agent(stage)


def restart_agent(stage):
    """flannel on the Linux machines starts again."""
    stage.cluster.agent.stop()
    time.sleep(1)
    stage.cluster.agent = linux_agent.LinuxAgent(stage.fabric, stage.cluster._nodes)
    stage.cluster.agent.start()
    time.sleep(1)


def control(**message):
    """One operation of the API server's control socket, which lists them."""
    return lambda stage: stage.cluster.control(**message)
