"""What can be broken from outside the product, and the cause that diag must name for it.

Each fault works on a stage (stage.py: .fabric, .cluster, .host); `cause` is the id of the decision
table (diag/causes/causes.c), "" where the table has no row for it and the red cells alone tell.
"""
import datetime
import json
import os
import sys
import time
from dataclasses import dataclass

import fabric as fabrics
import netns
import policy_agent

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from controlplane import pki  # noqa: E402

BOTH = ("overlay", "l2bridge")
ANNOTATION = "flannel.alpha.coreos.com/backend-data"


@dataclass(frozen=True)
class Fault:
    title: str
    cause: str
    apply: object  # function of the stage
    lift: object
    modes: tuple = BOTH
    after_join: bool = False  # undone by the join itself if made before it
    breaks: bool = True  # flows that must work do not
    # seen only where no service was started within two minutes: what is missing may be on its way
    quiet: bool = False


# ---- between the machines ----------------------------------------------------------------------

def _linux_vni(stage, vni):
    """The Linux node's flannel runs with another VNI, and says so."""
    stage.fabric.overlay_vni(vni)
    if stage.cluster:
        data = json.dumps({"VNI": vni, "VtepMAC": fabrics.L1_MAC})
        stage.cluster.call("PATCH", "/api/v1/nodes/l1",
                           {"metadata": {"annotations": {ANNOTATION: data}}},
                           "application/merge-patch+json")


def _filter(where, rule, family="inet", hook="forward"):
    """A pair of functions: a packet filter in one of the fabric's namespaces, and its end."""
    def apply(stage):
        netns.nft(stage.fabric.ns(where), "table %s fault {\n chain fault {\n"
                  "  type filter hook %s priority -50;\n  %s\n }\n}\n" % (family, hook, rule))

    def lift(stage):
        netns.run(netns.command(stage.fabric.ns(where), ["nft", "delete", "table", family,
                                                         "fault"]), check=False)
    return apply, lift


# ---- on the node, manually: what an administrator or another program may do ----------------------

def _network(host):
    """The pod network's document: the one whose name the CNI configuration has, or the last."""
    return host.control({"op": "dump"})["networks"][-1]


def _change_network(host, request, policies):
    net = _network(host)
    _, out = host.hns("HcnOpenNetwork", "gHo", net["ID"])
    result, more = host.hns("HcnModifyNetwork", "hso", out[0], json.dumps(
        {"ResourceType": "Policy", "RequestType": request, "Settings": {"Policies": policies}}))
    if result:
        raise RuntimeError("HcnModifyNetwork: %s" % more[-1])


def _drop_remotes(stage):
    remotes = [p for p in _network(stage.host)["Policies"] if p["Type"] == "RemoteSubnetRoute"]
    if not remotes:
        raise RuntimeError("the pod network knows no other node")
    for policy in remotes:
        _change_network(stage.host, "Remove", [policy])


def _drop_balancers(stage):
    stage.host.run(["sc", "stop", "kube-proxy"])
    for lb in stage.host.control({"op": "dump"})["loadBalancers"]:
        stage.host.hns("HcnDeleteLoadBalancer", "go", lb["ID"])


# What diag's hints have an administrator do: with it a fault is gone, or the hint is wrong.

def _phase(name):
    def lift(stage):
        done = stage.winjoin("join", "phase", name)
        if done.returncode:
            raise RuntimeError("join phase %s: %s" % (name, done.stdout + done.stderr))
    return lift


def _await_state(stage, service, state):
    for _ in range(50):
        if state in stage.host.run(["sc", "query", service]).stdout:
            return
        time.sleep(0.2)
    raise RuntimeError("%s is not %s" % (service, state))


def _stop(service):
    def apply(stage):
        stage.host.run(["sc", "stop", service])
        _await_state(stage, service, "STOPPED")
    return apply


def _start(*services):
    def lift(stage):
        for service in services:
            stage.host.run(["sc", "start", service])
            _await_state(stage, service, "RUNNING")
    return lift


def _restart(service):
    def lift(stage):
        _stop(service)(stage)
        _start(service)(stage)
    return lift


# ---- what an operator meets at 3 a.m. -----------------------------------------------------------

PROXY_CONFIG = "C:\\k\\kube-proxy.conf"
CLIENT_CERTIFICATE = "C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem"


def _spoil(path, text):
    """Other content for a file of the node; what was there is kept for _repair()."""
    def apply(stage):
        with open(stage.host.path(path), "r+b") as f:
            stage.kept = f.read()
            f.seek(0)
            f.truncate()
            f.write(text(stage) if callable(text) else text)
    return apply


def _repair(path):
    def lift(stage):
        with open(stage.host.path(path), "wb") as f:
            f.write(stage.kept)
    return lift


def _crash_proxy(stage):
    """Somebody edits its configuration; at the next start it ends."""
    _stop("kube-proxy")(stage)
    _spoil(PROXY_CONFIG, b"kind: KubeProxyConfiguration\nfoo: [\n")(stage)
    stage.host.run(["sc", "start", "kube-proxy"])
    _await_state(stage, "kube-proxy", "STOPPED")


def _repair_proxy(stage):
    _repair(PROXY_CONFIG)(stage)
    _start("kube-proxy")(stage)


def _expired(stage):
    """A client certificate of this node by the cluster's CA, which ended an hour ago."""
    authority = pki.Authority.load_or_create(os.path.join(stage.cluster.state, "pki"))
    hour = datetime.timedelta(hours=1)
    pair = authority.issue_client("system:node:" + stage.node_name, ["system:nodes"],
                                  pki.now() - 48 * hour, pki.now() - hour)
    return b"".join(pair)


def _drop_source_vip(stage):
    state = stage.host.control({"op": "dump"})
    vips = {lb.get("SourceVIP") for lb in state["loadBalancers"]}
    for end in state["endpoints"]:
        if any(c.get("IpAddress") in vips for c in end.get("IpConfigurations", [])):
            stage.host.hns("HcnDeleteEndpoint", "go", end["ID"])


def _without_nat(stage):
    """The CNI configuration loses its address translation, for pods that are made from now on."""
    path = _cni(stage)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        json.dump(_strip(json.loads(text)), f, indent=2)


def _strip(value):
    """Without whatever mentions OutBoundNAT; ipMasq would put it back."""
    if isinstance(value, list):
        return [_strip(v) for v in value
                if not (isinstance(v, dict) and '"OutBoundNAT"' in json.dumps(v)
                        and "policies" not in v and "delegate" not in v)]
    if isinstance(value, dict):
        return {k: _strip(v) for k, v in value.items() if k not in ("ipMasq", "ipMasqNetwork")}
    return value


def _cni(stage):
    folder = stage.host.path("C:\\etc\\cni\\net.d")
    return folder + "/" + sorted(n for n in netns.run(["ls", folder]).split()
                                 if n.endswith((".conf", ".conflist")))[0]


def _no_forwarding(stage):
    for row in stage.host.net("adapters"):
        if row[0] == "adapter" and row[2].startswith("vEthernet"):
            stage.host.net("interface %s forwarding=0" % row[1])


def _misled_agent(stage):
    """A network policy agent whose ACL that lets packets in has the wrong direction."""
    stage.agent = policy_agent.Agent(stage.host, [dict(a, Settings=dict(
        a["Settings"], Direction="Out" if a["Settings"]["Action"] == "Allow"
        else a["Settings"]["Direction"])) for a in policy_agent.ACLS]).__enter__()


def _agent_with(stage, acls):
    stage.agent = policy_agent.Agent(stage.host, acls).__enter__()


def _no_agent(stage):
    stage.agent.__exit__()


def _no_way_back(stage):
    stage.way = stage.fabric.routes()
    for subnet in stage.way:
        stage.fabric.peer_del(subnet)


def _way_back(stage):
    for subnet, host in stage.way.items():
        stage.fabric.peer_add(subnet, host, "")


# ---- what the cluster says of nodes and pods ------------------------------------------------------

def _annotate(node, key, value):
    return lambda stage: stage.cluster.call(
        "PATCH", "/api/v1/nodes/" + (node or stage.node_name),
        {"metadata": {"annotations": {"flannel.alpha.coreos.com/" + key: value}}},
        "application/merge-patch+json")


def _both(*steps):
    def run(stage):
        for step in steps:
            step(stage)
    return run


def _own_address(stage):
    _annotate("", "public-ip", stage.host.address)(stage)


def _create(collection, document):
    def apply(stage):
        text = json.dumps(document).replace("NODE", stage.node_name).replace(
            "ADDRESS", stage.host.address)
        stage.cluster.call("POST", collection, json.loads(text))
    return apply


def _delete(*paths):
    def lift(stage):
        for path in paths:
            stage.cluster.call("DELETE", path)
    return lift


def _pod(name, spec, ip):
    """A pod of this node that has run for long."""
    document = {"metadata": {"name": name, "namespace": "default"},
                "spec": {"nodeName": "NODE", **spec},
                "status": {"phase": "Running", "podIP": ip, "startTime": "2026-01-01T00:00:00Z"}}
    return (_create("/api/v1/namespaces/default/pods", document),
            _delete("/api/v1/namespaces/default/pods/%s?gracePeriodSeconds=0" % name))


UDP_4789 = _filter("fabric", "udp dport 4789 drop", "bridge")


FAULTS = {
    "pod-noep": Fault("a pod's sandbox is older than the network", "POD-NOEP",
                      *_pod("early", {"containers": [{"name": "c", "image": "i"}]}, "10.244.1.99"),
                      after_join=True, quiet=True),
    "two-proxies": Fault("a DaemonSet runs kube-proxy, too", "PROXY-TWO",
                         *_pod("kube-proxy-windows-x", {"hostNetwork": True, "containers": [
                             {"name": "c", "image": "sigwindowstools/kube-proxy:v1"}]}, "10.0.0.21"),
                         after_join=True, quiet=True),
    "dns-udp": Fault("UDP 53 is dropped before the cluster's DNS", "DNS-PROTO",
                     *_filter("l1", "ip daddr %s udp dport 53 drop" % fabrics.DNS_POD)),
    "dns-tcp": Fault("TCP 53 is dropped before the cluster's DNS", "DNS-PROTO",
                     *_filter("l1", "ip daddr %s tcp dport 53 drop" % fabrics.DNS_POD)),
    "dns-zone": Fault("the cluster's DNS serves another zone", "DNS-ZONE",
                      lambda s: s.fabric.cluster_dns(zone="other.local"),
                      lambda s: s.fabric.cluster_dns()),
    "api-pods": Fault("a firewall lets the node to the API server, and not its pods", "API-PODS",
                      *_filter("w1", 'iifname "ep*" tcp dport 6443 drop'), modes=("overlay",)),
    "node-udp": Fault("the node's firewall drops what pods send by UDP", "FW-IN",
                      *_filter("w1", 'iifname "ep*" udp dport 18081 drop', hook="input")),
    "acl-all": Fault("an ACL blocks every source", "CNI-POLICY",
                     lambda s: _agent_with(s, [policy_agent.acl("Block", "In", 1)]),
                     lambda s: _no_agent(s), after_join=True),
    "other-backend": Fault("another node's flannel uses host-gw", "FLANNEL-TYPE",
                           _both(UDP_4789[0], _annotate("l1", "backend-type", "host-gw")),
                           _both(UDP_4789[1], _annotate("l1", "backend-type", "vxlan")),
                           ("overlay",), after_join=True),
    "wrong-nic": Fault("flannel announces the address of another adapter", "NIC-WRONG",
                       _both(UDP_4789[0], _annotate("", "public-ip", "192.168.56.2")),
                       _both(UDP_4789[1], lambda s: _own_address(s)), ("overlay",), after_join=True),
    "vni": Fault("the Linux node's overlay uses VNI 1", "OVL-VNI",
                 lambda s: _linux_vni(s, 1), lambda s: _linux_vni(s, fabrics.VNI), ("overlay",)),
    "udp-4789": Fault("the network between the nodes drops UDP 4789", "OVL-UDP",
                      *_filter("fabric", "udp dport 4789 drop", "bridge"), modes=("overlay",)),
    "mtu": Fault("the node's switch loses packets above 1300 bytes", "MTU",
                 *_filter("w1", "meta length > 1300 drop")),
    "no-egress": Fault("nothing leaves the data centre", "EXT-NODE",
                       *_filter("fabric", 'oifname "wan" drop', "ip")),
    "kubelet-port": Fault("the node's firewall drops the kubelet's port for pods", "FW-IN",
                          *_filter("w1", 'iifname "ep*" tcp dport 10250 drop', hook="input")),
    "dns-forward": Fault("the cluster's DNS cannot ask anybody outside", "EXT-DNS",
                         *_filter("l1", "ip saddr %s ip daddr %s drop"
                                  % (fabrics.DNS_POD, fabrics.EXTERNAL_DNS))),
    "dns-down": Fault("the cluster's DNS server has ended", "SVC-EP0",
                      lambda s: s.fabric.no_dns(), lambda s: s.fabric.cluster_dns()),
    "dns-lies": Fault("the cluster's DNS gives wrong addresses", "DNS-WRONG",
                      lambda s: s.fabric.cluster_dns(lies=True), lambda s: s.fabric.cluster_dns()),
    "no-nat": Fault("the CNI configuration has lost its OutBoundNAT policy", "NAT-NONE",
                    _without_nat, _phase("pod-network"), after_join=True),
    "no-peer": Fault("the pod network has lost the routes to other nodes", "OVL-PEER",
                     _drop_remotes, _restart("flanneld"), ("overlay",), after_join=True),
    "kubelet-down": Fault("the kubelet was stopped", "SVC-DOWN", _stop("kubelet"),
                          _start("kubelet"), after_join=True),
    "containerd-down": Fault("containerd was stopped", "SVC-DOWN", _stop("containerd"),
                             _start("containerd"), after_join=True),
    "proxy-crash": Fault("kube-proxy ends at its start: its configuration is broken", "SVC-DOWN",
                         _crash_proxy, _repair_proxy, after_join=True),
    "api-down": Fault("the API server has ended", "API-DOWN", lambda s: s.cluster.stop(),
                      lambda s: s.cluster.start(), after_join=True),
    "cert-expired": Fault("the node's client certificate has expired", "CERT-EXPIRED",
                          _spoil(CLIENT_CERTIFICATE, _expired), _repair(CLIENT_CERTIFICATE),
                          after_join=True),
    "no-services": Fault("kube-proxy has stopped and its load balancers are gone", "SVC-DOWN",
                         _drop_balancers, _phase("kube-proxy"), after_join=True),
    "source-vip": Fault("the endpoint of the source VIP was deleted", "SVC-VIP",
                        _drop_source_vip, _restart("kube-proxy"), ("overlay",), after_join=True),
    "acl": Fault("a policy agent's ACL that lets in has the wrong direction", "CNI-POLICY",
                 _misled_agent, _no_agent, after_join=True),
    "no-forwarding": Fault("somebody turned IP forwarding off", "L2-FWD",
                           _no_forwarding, _phase("pod-network"), ("l2bridge",), after_join=True),
    "no-way-back": Fault("the other nodes have no route to this node's pods", "L2-ROUTE",
                         _no_way_back, _way_back, ("l2bridge",), after_join=True),
}
