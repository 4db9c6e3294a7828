"""Every single change of a healthy joined node: name -> (apply, lift), functions of a stage (stage.py), for sweep.py.
Each HNS object taken away, each field of it, of the node's files and of the cluster's objects changed, each route,
neighbor and service, each kind of packet dropped or rejected."""
import contextlib
import json
import os
import re
import time

import break_cluster as cluster
import break_hns as hns
import break_node as node
import fabric as fabrics
import sampled

# ---- a value becomes another plausible one -------------------------------------------------------------

# Members that no HNS and no API server would take with another value, and values that differ each time.
FIXED = ("ID", "Type", "type", "Owner", "Flags", "HostComputeNetwork", "PrefixLength", "Adapter", "name", "kind",
         "Protocol", "protocol", "podCIDRs", "terminating", "serving", "ipFamilyPolicy", "sessionAffinity")
GUID, MAC = r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}", r"([0-9a-fA-F]{2}[-:]){5}[0-9a-fA-F]{2}"
CHANCE = "%s|%s|.*VtepMAC.*" % (GUID, MAC)


def other(value):
    """Another value of the same kind, or None where no other is plausible."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if not isinstance(value, str) or re.fullmatch(GUID, value):
        return None
    if re.fullmatch(MAC, value):
        return value[:-2] + "9e"
    if "VtepMAC" in value:
        return value.replace("4096", "4097")
    if value == "0.0.0.0/0":
        return "0.0.0.0/1"
    if prefix := re.fullmatch(r"(\d+\.\d+\.)\d+(\.\d+/\d+)", value):
        return prefix[1] + "97" + prefix[2]
    if address := re.fullmatch(r"(\d+\.\d+\.\d+\.)\d+", value):
        return address[1] + "97"
    return value + "x" if value else None


def leaves(at, path=()):
    """(path, value) of each text, number and truth value; of a list's item the path has its number."""
    if isinstance(at, (dict, list)):
        for key, value in (at.items() if isinstance(at, dict) else enumerate(at)):
            yield from leaves(value, (*path, key))
    else:
        yield path, at


def edits(document, loose=False):
    """(what, another document): each leaf changed, each policy and item of a list gone; loose: leaves gone, too."""
    def without(path, value=None):
        new = json.loads(json.dumps(document))
        at = new
        for key in path[:-1]:
            at = at[key]
        if value is None:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        return new

    def said(path):
        at, words = document, []
        for key in path:
            at = at[key]
            inner = at.get("value", at) if isinstance(at, dict) and isinstance(key, int) else {}
            words.append(str(inner.get("Type") or inner.get("type") or key))
        if isinstance(at, (dict, list)) or re.fullmatch(CHANCE, str(at)):
            return ".".join(words)
        return ".".join(words) + "=%s" % at
    items = {path[:n] for path, _ in leaves(document) for n in range(1, len(path)) if isinstance(path[n - 1], int)}
    for path in sorted(items, key=str):
        yield said(path) + " gone", without(path)
    for path, value in leaves(document):
        if path[-1] in FIXED or "podCIDRs" in path or path[0] in ("Health", "SchemaVersion", "MacPool", "Attached"):
            continue
        if not isinstance(path[-1], int) and (loose or path[-1] == "SourceVIP"):
            yield said(path) + " gone", without(path)
        if (new := other(value)) is not None:
            how = "another" if re.fullmatch(CHANCE, str(value)) else str(new)
            yield said(path) + " is " + how, without(path, new)


# ---- the changes: name -> (apply, lift) -----------------------------------------------------------------

def swap(kind, of, change):
    """Another document in the place of the HNS object that of(dump) finds; change(document) -> document or None."""
    def apply(s):
        there = of(s.host.control({"op": "dump"}))
        key = there["ID"].strip("{}").lower()
        s.was = {"op": "swap", "kind": kind, "id": key}
        s.was |= s.host.control({**s.was, "doc": None})
        doc = change(there)
        if doc is not None:
            own = {k: v for k, v in s.was["doc"].items() if k[0] == "_"}
            shown = {k: v for k, v in doc.items() if k not in ("Attached", "Adapter")}
            s.host.control({**s.was, "doc": {**shown, **own}})
    return apply, lambda s: s.host.control(s.was)


def objects(dump):
    """HNS' objects by what they are for: name -> (kind, function that finds it in a dump)."""
    def balancer(vip, protocol):
        return lambda d: next(b for b in d["loadBalancers"] if vip in b["FrontendVIPs"]
                              and b["PortMappings"][0]["Protocol"] == protocol)

    def behind(lb):
        return lambda d: next(e for e in d["endpoints"] if e["ID"] in lb(d)["HostComputeEndpoints"])
    dns, api = balancer(fabrics.DNS_VIP, 17), balancer(fabrics.API_VIP, 6)
    found = {"network": ("Network", lambda d: d["networks"][-1]),
             "lb-dns-udp": ("LoadBalancer", dns), "lb-dns-tcp": ("LoadBalancer", balancer(fabrics.DNS_VIP, 6)),
             "lb-api": ("LoadBalancer", api), "behind-dns": ("Endpoint", behind(dns)),
             "behind-api": ("Endpoint", behind(api)),
             "source-vip": ("Endpoint", lambda d: next(e for e in d["endpoints"] if dns(d).get("SourceVIP") in [
                 c["IpAddress"] for c in e["IpConfigurations"]])),
             "host-endpoint": ("Endpoint", lambda d: next(e for e in d["endpoints"]
                                                          if e.get("Attached", {}).get("SystemType") == "Host"))}
    for name, (kind, of) in found.items():
        try:
            yield name, kind, of, of(dump)
        except StopIteration:
            pass


def hns_changes(s):
    dump = s.host.control({"op": "dump"})
    for name, kind, of, document in objects(dump):
        yield "hns %s gone" % name, swap(kind, of, lambda doc: None)
        for n, (what, _) in enumerate(edits(document)):
            yield "hns %s %s" % (name, what), swap(kind, of, lambda doc, n=n: list(edits(doc))[n][1])


def cni_changes(s):
    with open(node.cni(s), encoding="utf-8") as f:
        text = f.read()

    def written(content):
        def write(stage):
            with open(node.cni(stage), "w", encoding="utf-8") as f:
                f.write(content)
        return write
    for what, doc in edits(json.loads(text), True):
        yield "cni " + what, (written(json.dumps(doc)), written(text))


def pod_changes(s):
    """What is made of HcnCreateEndpoint for a pod: of each call that was recorded at the last diag."""
    with open(os.path.join(s.fabric.folder, s.host.name + "-calls.jsonl"), encoding="utf-8") as f:
        calls = [json.loads(line) for line in f if '"HcnCreateEndpoint"' in line]
    texts = [t for t in (call["args"].get("Document") or "" for call in calls) if '"OutBoundNAT"' in t]
    if not texts:
        return
    for path, value in leaves(json.loads(texts[-1])):
        new, key = other(value), path[-1]
        if new is None or path[0] == "SchemaVersion" or key in FIXED or not isinstance(key, str):
            continue
        find, put = json.dumps(value), json.dumps(new)
        words = '"%s":%s' % (key, find)
        if words in texts[-1]:
            how = "another" if key in ("IpAddress", "Name", "MacAddress") else new
            yield "pod %s is %s" % (".".join(map(str, path)), how), hns.rewritten(
                "HcnCreateEndpoint", words, '"%s":%s' % (key, put))


def host_changes(s):
    rows = s.host.net("adapters")
    for _, index, net, length, hop, metric, origin in [r for r in s.host.net("routes") if r[5:] and r[-1] == "static"]:
        old = "%s %s %s %s %s" % (index, net, length, hop, metric)
        lost, back = (lambda st, o=old: st.host.net("route-del " + o.rsplit(" ", 1)[0]),
                      lambda st, o=old: st.host.net("route-add " + o))
        yield "route %s/%s by %s gone" % (net, length, hop), (lost, back)
        if hop != "0.0.0.0":
            new = "%s %s %s 10.0.0.97" % (index, net, length)
            yield "route %s/%s by 10.0.0.97" % (net, length), (
                node.both(lost, lambda st, n=new: st.host.net("route-add " + n)),
                node.both(lambda st, n=new: st.host.net("route-del " + n), back))
    for where, dev in (("w1", "vsw0"), ("l1", "eth0"), ("cp", "eth0"), ("fabric", "lan")):
        for whose, ip in (("w1", s.host.address), ("l1", fabrics.L1), ("cp", fabrics.CP), ("fabric", fabrics.ROUTER)):
            if whose != where and "w1" in (where, whose):
                yield "mac %s of %s" % (where, whose), cluster.wired(
                    where, [sampled.WRONG_MAC % (ip, dev)], ["neigh del %s dev %s" % (ip, dev)])
    for _, index, alias, _, mtu, *more in [r for r in rows if r[0] == "adapter" and r[2].startswith("vEthernet")]:
        for key, now, new in (("forwarding", more[4], "0"), ("mtu", mtu, "1300"), ("mtu", mtu, "576")):
            if now != new:
                yield "adapter %s %s is %s" % (alias, key, new), tuple(
                    (lambda st, i=index, k=key, v=v: st.host.net("interface %s %s=%s" % (i, k, v))) for v in (new, now))
        for _, _, ip, length, *_ in [r for r in rows if r[0] == "address" and r[1] == index]:
            lost, back = ["address-%s %s %s %s" % (verb, index, ip, length) for verb in ("del", "add")]
            moved = ["address-%s %s %s %s" % (verb, index, other(ip), length) for verb in ("add", "del")]
            routes = ["route-add %s %s %s %s %s" % (r[1], *r[2:6]) for r in s.host.net("routes")
                      if r[1] == index and r[-1] == "static"]
            yield "adapter %s address gone" % alias, (asked(lost), asked(back, *routes))
            yield "adapter %s address is %s" % (alias, other(ip)), (asked(lost, moved[0], *routes), asked(
                moved[1], back, *routes))
        yield "adapter %s dns is 10.0.0.97" % alias, (asked("dns %s 10.0.0.97" % index),
                                                      asked("dns %s %s" % (index, fabrics.EXTERNAL_DNS)))


def asked(*lines):
    def ask(s):
        for n, line in enumerate(lines):
            try:
                s.host.net(line)
            except RuntimeError:
                if n == 0:
                    raise
    return ask


# key, quote, value, end of a line of YAML, TOML or JSON.
LINE = re.compile(r'(\s*-?\s*"?[\w.]+"?\s*[:=]\s*)(["\']?)([^"\'\[{,][^"\',]*)(["\',]*)$')


def file_changes(s):
    for name in [x["name"] for x in s.document("status")[1]["services"]]:
        yield "service %s stopped" % name, (node.stop(name), node.start(name))
    files = {"kubelet": ["var/lib/kubelet/config.yaml", "etc/kubernetes/kubelet.conf"],
             "kube-proxy": ["k/kube-proxy.kubeconfig", "k/kube-proxy/config.conf"],
             "containerd": ["Program Files/containerd/config.toml"], "flanneld": ["etc/kube-flannel/net-conf.json"]}
    files["kube-proxy"][1] = node.PROXY_CONFIG.replace("\\", "/")[3:]
    for service, paths in files.items():
        for path in paths:
            try:
                with open(s.host.path("C:/" + path), encoding="utf-8") as f:
                    lines = f.read().splitlines()
            except OSError:
                continue
            yield "file %s gone" % path, other_file(path, service, lambda old: "")
            for n, line in enumerate(lines):
                if not (pair := LINE.match(line)):
                    continue
                value = pair[3] if not pair[3].strip().isdigit() else int(pair[3])
                new = str(other({"true": True, "false": False}.get(value, value)))
                for what, text in ((" is " + new, pair[1] + pair[2] + new.lower() * (new in ("True", "False"))
                                    + new * (new not in ("True", "False")) + pair[4]), (" gone", None)):
                    yield "file %s %s%s" % (path, line.strip()[:60], what), other_file(
                        path, service, lambda old, n=n, t=text: "\n".join(
                            [*old.splitlines()[:n], *([t] if t is not None else []), *old.splitlines()[n + 1:]]))


def other_file(path, service, change):
    """The file has other content when its service starts again, which may fail."""
    path = "C:\\" + path.replace("/", "\\")

    def apply(s):
        with open(s.host.path(path), encoding="utf-8") as f:
            new = change(f.read())
        node.stop(service)(s)
        node.spoil(path, new.encode())(s)
        s.host.run(["sc", "start", service])
        time.sleep(3)

    def lift(s):
        node.stop(service)(s)
        node.repair(path)(s)
        node.start(service)(s)
    return apply, lift


def object_changes(s):
    discovery = "/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices/%s"
    paths = {"l1": "/api/v1/nodes/l1", "w1": "/api/v1/nodes/" + s.node_name, "slice-dns": cluster.SLICE,
             "slice-api": discovery % ("default", "kubernetes"),
             "service-dns": "/api/v1/namespaces/kube-system/services/kube-dns",
             "service-api": "/api/v1/namespaces/default/services/kubernetes"}
    ours = re.compile(r"metadata\.annotations\.flannel|spec\.|status\.addresses|endpoints|ports|conditions")
    for name, path in paths.items():
        document = s.cluster.call("GET", path)
        yield "object %s gone" % name, made_again(path, lambda doc: None)
        for n, (what, _) in enumerate(edits(document, True)):
            if ours.match(what) and ("status." not in what or "addresses" in what):
                yield "object %s %s" % (name, what), made_again(path, lambda doc, n=n: list(edits(doc, True))[n][1])


def made_again(path, change):
    """The object is deleted and made otherwise: fields that cannot be changed are, too."""
    def put(s, document):
        for key in ("resourceVersion", "uid", "creationTimestamp", "managedFields"):
            document["metadata"].pop(key, None)
        if "podCIDR" in document.get("spec", {}):  # the server refuses two
            document["spec"]["podCIDRs"] = [document["spec"]["podCIDR"]]
        s.cluster.call("POST", path.rsplit("/", 1)[0], document)
        time.sleep(2)  # the agents hear of it

    def apply(s):
        s.was = s.cluster.call("GET", path)
        new = change(json.loads(json.dumps(s.was)))
        s.cluster.call("DELETE", path)
        if new:
            put(s, new)
        else:
            time.sleep(2)

    def lift(s):
        with contextlib.suppress(Exception):
            s.cluster.call("DELETE", path)
        put(s, s.was)
    return apply, lift


def packet_changes(s):
    pods, away = 'iifname "ep*" ', 'oifname "ep*" '
    to_l1, from_l1 = "ip daddr %s " % fabrics.L1_SUBNET, "ip saddr %s " % fabrics.L1_SUBNET
    pairs = {  # who: [(machine, family, hook, what is sent, what is answered)]
        "pod-pod": [("w1", "inet", "forward", pods + away, None)],
        "pod-node": [("w1", "inet", "input", pods, None), ("w1", "inet", "output", away, None)],
        "pod-dnspods": [("w1", "inet", "forward", pods + to_l1, away + from_l1),
                        ("l1", "inet", "forward", to_l1, from_l1)],
        "pod-api": [("w1", "inet", "forward", pods + "ip daddr %s " % fabrics.CP, away + "ip saddr %s " % fabrics.CP)],
        "pod-outside": [("w1", "inet", "forward", pods + "ip daddr 192.0.2.0/24 ", away + "ip saddr 192.0.2.0/24 ")],
        "nodes": [("fabric", "bridge", "forward", 'iifname "p-w1" oifname "p-l1" ', 'iifname "p-l1" oifname "p-w1" ')],
        "node-api": [("fabric", "bridge", "forward", 'iifname "p-w1" oifname "p-cp" ',
                      'iifname "p-cp" oifname "p-w1" ')],
        "node-outside": [("fabric", "ip", "forward", 'oifname "wan" ', 'iifname "wan" ')],
    }
    del s
    for who, places in pairs.items():
        for where, family, hook, sent, answered in places:
            for way, match in (("sent", sent), ("answers", answered)):
                for protocol in ("all", "tcp", "udp"):
                    for end in ["drop"] + ["reject"] * (family != "bridge"):
                        if match:
                            words = "" if protocol == "all" else "meta l4proto %s " % protocol
                            yield "packets %s %s at %s %s %s %s" % (who, way, where, hook, protocol, end), (
                                cluster.filtered(where, match + words + end, family, hook))


def of(s):
    found = {}
    for kind in (hns_changes, cni_changes, pod_changes, host_changes, file_changes, object_changes, packet_changes):
        found.update(kind(s))
    return found
