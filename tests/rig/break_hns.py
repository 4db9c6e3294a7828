"""What may be broken in HNS on a Windows node of a stage (stage.py), and how it is made right there. Each function
takes a stage, or answers functions of one: faults.py."""
import ipaddress
import json
import threading
import time
import uuid

import fabric as fabrics
from break_node import cni, start, stop


def network(host):
    """The pod network's document: the one whose name the CNI configuration has, or the last."""
    return host.control({"op": "dump"})["networks"][-1]


def change_network(host, request, policies):
    net = network(host)
    _, out = host.hns("HcnOpenNetwork", "gHo", net["ID"])
    result, more = host.hns("HcnModifyNetwork", "hso", out[0], json.dumps(
        {"ResourceType": "Policy", "RequestType": request, "Settings": {"Policies": policies}}))
    if result:
        raise RuntimeError("HcnModifyNetwork: %s" % more[-1])


def make(stage, kind, document, **more):
    return stage.host.control({"op": "create", "kind": kind, "doc": document, **more})


def rewritten(function, find, replace):
    """What programs send to HNS from now on is another text; and the end of that."""
    return (lambda stage: stage.host.control({"op": "rewrite", "fn": function, "find": find, "replace": replace,
                                              "seen": True}),
            lambda stage: stage.host.control({"op": "rewrite"}))


# ---- HNS itself ---------------------------------------------------------------------------------

def slow_hns(seconds):
    """Each call of HNS takes so long."""
    return lambda stage: stage.host.control({"op": "rule", "fn": "H", "delay": seconds})


def hns_in_time(stage):
    stage.host.control({"op": "norules"})


def hns_again(stage):
    """HNS ends and is started again; winjoin-network and kube-proxy make what it has lost."""
    stage.host.restart_hns()
    balancers_are_back(stage)


# ---- endpoints of pods that are gone -----------------------------------------------------------

def local_endpoints(stage):
    """Those of pods, by their id."""
    return {e["ID"]: e for e in stage.host.control({"op": "dump"})["endpoints"]
            if not int(e.get("Flags", 0)) & 1 and e.get("HostComputeNamespace")}


def _twin(stage, space, skip):
    """A thread's: each endpoint that is made has a twin at once; the first ones do not."""
    known = set(local_endpoints(stage))
    while not stage.enough.is_set():
        for ident, end in local_endpoints(stage).items():
            if ident in known:
                continue
            known.add(ident)
            skip -= 1
            if skip < 0:
                stage.twins.append(str(uuid.uuid4()))
                twin = {**end, "ID": stage.twins[-1], "Name": "left", "HostComputeNamespace": space}
                stage.host.control({"op": "swap", "kind": "Endpoint", "id": stage.twins[-1], "doc": twin})
                known.add(stage.twins[-1])
        time.sleep(0.02)


def twins(skip):
    """A pair of functions: HNS has a second endpoint, of a pod that is gone, with the address of each new pod but the
    first ones; and none any more."""
    def apply(stage):
        stage.space = make(stage, "Namespace", {"Type": "Host"})["ID"]
        stage.host.pod(stage.space)
        stage.twins, stage.enough = [], threading.Event()
        stage.step = threading.Thread(target=_twin, args=(stage, stage.space, skip))
        stage.step.start()

    def lift(stage):
        stage.enough.set()
        stage.step.join()
        for ident in stage.twins:
            stage.host.control({"op": "swap", "kind": "Endpoint", "id": ident})
        stage.host.ask({"op": "sandbox", "namespace": stage.space, "remove": True})
        stage.host.control({"op": "delete", "kind": "Namespace", "id": stage.space})
    return apply, lift


def next_addresses_held(count):
    """A pair of functions: endpoints of pods that are gone have the addresses that the CNI plugin gives next; and are
    deleted."""
    def apply(stage):
        net = network(stage.host)
        with open(cni(stage), encoding="utf-8") as f:
            state = stage.host.path("C:\\var\\lib\\cni\\networks\\" + json.load(f)["name"])
        with open(state + "/last_reserved_ip.0", encoding="utf-8") as f:
            last = ipaddress.ip_address(f.read().strip())
        stage.held = [make(stage, "Endpoint", {"IpConfigurations": [{"IpAddress": str(last + n)}]},
                           net=net["ID"])["ID"] for n in range(1, count + 1)]

    def lift(stage):
        for ident in stage.held:
            stage.host.hns("HcnDeleteEndpoint", "go", ident)
    return apply, lift


def all_addresses_held(flags):
    """A pair of functions: endpoints of HNS that no pod has hold all addresses that pods could get."""
    def apply(stage):
        net = network(stage.host)
        taken = {c["IpAddress"] for e in stage.host.control({"op": "dump"})["endpoints"]
                 for c in e.get("IpConfigurations", [])}
        prefix = ipaddress.ip_network(stage.node(stage.node_name)["spec"]["podCIDR"])
        stage.held = [make(stage, "Endpoint", {"Flags": flags, "IpConfigurations": [{"IpAddress": str(a)}]},
                               net=net["ID"])["ID"] for a in list(prefix.hosts())[2:] if str(a) not in taken]

    def lift(stage):
        for ident in stage.held:
            stage.host.hns("HcnDeleteEndpoint", "go", ident)
    return apply, lift


# ---- load balancers -----------------------------------------------------------------------------

def lose_balancers(stage):
    for lb in stage.host.control({"op": "dump"})["loadBalancers"]:
        stage.host.hns("HcnDeleteLoadBalancer", "go", lb["ID"])


def balancers_are_back(stage):
    """Nobody does anything: winjoin-network starts kube-proxy again where HNS has had none for two minutes."""
    end = time.monotonic() + 180
    while not stage.host.control({"op": "dump"})["loadBalancers"]:
        if time.monotonic() > end:
            raise RuntimeError("HNS has no load balancer after three minutes")
        time.sleep(1)


def drop_balancers(stage):
    stage.host.run(["sc", "stop", "kube-proxy"])
    lose_balancers(stage)


# What diag's hints have an administrator do: with it a fault is gone, or the hint is wrong.


def drop_source_vip(stage):
    state = stage.host.control({"op": "dump"})
    vips = {lb.get("SourceVIP") for lb in state["loadBalancers"]}
    for end in state["endpoints"]:
        if any(c.get("IpAddress") in vips for c in end.get("IpConfigurations", [])):
            stage.host.hns("HcnDeleteEndpoint", "go", end["ID"])


def balancer(stage, vip, protocol):
    for lb in stage.host.control({"op": "dump"})["loadBalancers"]:
        if vip in lb.get("FrontendVIPs", []) and lb["PortMappings"][0]["Protocol"] == protocol:
            return lb
    raise RuntimeError("HNS has no load balancer of " + vip)


def lose_balancer(vip, protocol):
    def apply(stage):
        stage.host.hns("HcnDeleteLoadBalancer", "go", balancer(stage, vip, protocol)["ID"])
    return apply


def other_balancer(vip, protocol, change):
    """The load balancer is another one: change(stage, document) changes it."""
    def apply(stage):
        old = balancer(stage, vip, protocol)
        stage.host.hns("HcnDeleteLoadBalancer", "go", old.pop("ID"))
        old.pop("Health", None)
        change(stage, old)
        make(stage, "LoadBalancer", old)
    return apply


def stale_backend(stage, document):
    """It sends to the address of a pod that is gone."""
    gone = make(stage, "Endpoint", {
        "IpConfigurations": [{"IpAddress": "10.244.0.99", "PrefixLength": 32}], "Flags": 1,
        "MacAddress": "02-11-0A-F4-00-63", "Policies": [
            {"Type": "ProviderAddress", "Settings": {"ProviderAddress": fabrics.L1}}]
        if stage.mode == "overlay" else []}, net=network(stage.host)["ID"])
    document["HostComputeEndpoints"] = [gone["ID"]]


def other_port(_stage, document):
    """It sends to a port that the pods do not have."""
    document["PortMappings"][0]["InternalPort"] = 5353


def stale_beside(stage, document):
    """Beside those that it has."""
    there = document["HostComputeEndpoints"]
    stale_backend(stage, document)
    document["HostComputeEndpoints"] += there


def others_pod(address):
    """It sends to a pod (or machine) of another Service."""
    def change(stage, document):
        other = make(stage, "Endpoint", {
            "IpConfigurations": [{"IpAddress": address, "PrefixLength": 32}], "Flags": 1,
            "MacAddress": "02-11-0A-F4-00-64", "Policies": [
                {"Type": "ProviderAddress", "Settings": {"ProviderAddress": fabrics.L1}}]
            if stage.mode == "overlay" else []}, net=network(stage.host)["ID"])
        document["HostComputeEndpoints"] = [other["ID"]]
    return change


def no_members(vip, protocol):
    """HNS lost the endpoints behind a load balancer."""
    def apply(stage):
        for name in balancer(stage, vip, protocol)["HostComputeEndpoints"]:
            stage.host.hns("HcnDeleteEndpoint", "go", name)
    return apply


def orphan(stage):
    """After a crash of kube-proxy a load balancer that it no longer knows holds the DNS' port."""
    lose_balancer(fabrics.DNS_VIP, 17)(stage)
    other = balancer(stage, fabrics.DNS_VIP, 6)
    other = {k: v for k, v in other.items() if k not in ("ID", "Health")}
    make(stage, "LoadBalancer", {**other, "FrontendVIPs": ["10.96.8.8"], "PortMappings": [
        {"Protocol": 17, "InternalPort": 53, "ExternalPort": 53}]})


def no_orphan(stage):
    stop("kube-proxy")(stage)
    stage.host.hns("HcnDeleteLoadBalancer", "go", balancer(stage, "10.96.8.8", 17)["ID"])
    start("kube-proxy")(stage)


# ---- the pods' network --------------------------------------------------------------------------

def drop_remotes(stage):
    remotes = [p for p in network(stage.host)["Policies"] if p["Type"] == "RemoteSubnetRoute"]
    if not remotes:
        raise RuntimeError("the pod network knows no other node")
    for policy in remotes:
        change_network(stage.host, "Remove", [policy])


def other_remote(**changes):
    """The route to the other node has other settings than the node announces."""
    def apply(stage):
        old = [p for p in network(stage.host)["Policies"] if p["Type"] == "RemoteSubnetRoute"][0]
        change_network(stage.host, "Remove", [old])
        change_network(stage.host, "Add", [dict(old, Settings={**old["Settings"], **changes})])
    return apply


def no_policy(kind):
    """A pair of functions: the network loses its policies of a type, and gets them again."""
    def apply(stage):
        stage.lost = [p for p in network(stage.host)["Policies"] if p["Type"] == kind]
        if not stage.lost:
            raise RuntimeError("the pod network has no " + kind)
        change_network(stage.host, "Remove", stage.lost)
    return apply, lambda stage: change_network(stage.host, "Add", stage.lost)


def no_host_endpoint(stage):
    """The node's own endpoint of a bridge, the pods' gateway, is deleted."""
    mine = [e for e in stage.host.control({"op": "dump"})["endpoints"]
            if e.get("Attached", {}).get("SystemType") == "Host"]
    if not mine:
        raise RuntimeError("the pod network has no endpoint of the host")
    for end in mine:
        stage.host.hns("HcnDeleteEndpoint", "go", end["ID"])


def other_policy(kind, **settings):
    """A pair of functions: the network's policy of a type has other settings, and those that it had."""
    def swap(stage, policies):
        old = [p for p in network(stage.host)["Policies"] if p["Type"] == kind]
        if old:
            change_network(stage.host, "Remove", old)
        if policies:
            change_network(stage.host, "Add", policies)
        return old

    def apply(stage):
        stage.lost = swap(stage, [{"Type": kind, "Settings": settings}])
    return apply, lambda stage: swap(stage, stage.lost)
