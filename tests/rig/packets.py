"""What the documents ask for, as facts of the node's network (made and unmade one by one) and as
one nftables rule set. Pure: nothing is touched here.

The shape: every pod hangs on a routed veth, not on a bridge, so that each of its packets passes the
node's rules; its neighbours (other endpoints, the gateway, if they exist) are answered for one by
one. Nothing is forwarded that no document allows."""
import ipaddress
import zlib
from dataclasses import dataclass, field

ROUTER_MAC = "00:15:5d:ff:ff:01"


@dataclass(frozen=True)
class Fact:
    """One thing in one namespace: how it is made and unmade. tool: ip or bridge."""
    key: str
    ns: str
    make: tuple
    unmake: tuple = ()
    tool: str = "ip"


@dataclass
class Host:
    """The node as the rules need it."""
    ns: str
    uplink: str  # the device that carries the node's address
    address: str  # "" while it has none
    mtu: int
    forwarding: dict = field(default_factory=dict)  # device -> bool
    pods: dict = field(default_factory=dict)  # HNS namespace -> network namespace
    address6: str = ""
    forwarding6: dict = field(default_factory=dict)
    gateways6: dict = field(default_factory=dict)  # network -> addresses of the host in it


def short(guid):
    return guid.replace("-", "")[:8]


def device(kind, guid):
    return "%s%08x" % (kind, zlib.crc32(guid.encode()))


def local(state, host):
    """The endpoints that have a wire: not remote, in a namespace that a sandbox holds."""
    return [e for e in state.endpoints if not e.remote and not e.on_host and e.addresses
            and e.namespace in host.pods]


def on_segment(net, host):
    """Azure's pods have addresses of the node's own subnet: its network answers for them, the switch knows
    the way to the node, and with loopback DSR to load balancers (inferred: no policy leads there)."""
    return net.kind in ("L2Bridge", "L2Tunnel") and bool(host.address) and any(
        ipaddress.ip_address(host.address) in s for s in net.subnets)


def facts(state, host):
    out = []
    for end in state.endpoints:
        if end.on_host:
            host.gateways6.setdefault(end.network.id, []).extend(
                a for a, _ in end.addresses if ":" in a)
    pods = local(state, host)
    for net in state.networks:
        out += _network(net, host)
    for end in state.endpoints:
        if end.on_host:
            out += _host_endpoint(end, host)
    slots = {}
    for end in pods:
        slot = slots[end.namespace] = slots.get(end.namespace, -1) + 1
        out += _pod(end, host, "eth%d" % slot)
    for end in pods:
        out += _neighbours(end, pods, host)
    return out


def _network(net, host):
    gate, out = device("gw", net.id), []
    if net.kind in ("Overlay", "NAT"):
        out.append(Fact("gate " + net.id, host.ns,
                        ("link add %s type bridge" % gate, "link set %s up" % gate),
                        ("link del %s" % gate,)))
        out += [Fact("gateway %s %s" % (net.id, g), host.ns,
                     ("addr add %s/32 dev %s" % (g, gate),),
                     ("addr del %s/32 dev %s" % (g, gate),)) for g in net.gateways if ":" not in g]
    if net.kind == "Overlay" and net.vni:
        out += _vxlan(net, host)
    return out


def _vxlan(net, host):
    dev = device("vx", net.id)
    make = ("link add %s type vxlan id %d dstport %d nolearning dev %s"
            % (dev, net.vni, net.port, host.uplink),
            "link set %s %s mtu %d up" % (dev, "address " + net.mac if net.mac else "",
                                          host.mtu - 50))
    out = [Fact("vxlan %s" % net.id, host.ns, make, ("link del %s" % dev,))]
    for r in net.remotes:
        # made again when the device is
        hop, key = r.subnet.split("/")[0], "%s %d %d %s %s" % (net.id, net.vni, net.port, net.mac, r.subnet)
        other = " vni %d" % r.vni if r.vni and r.vni != net.vni else ""
        out += [Fact("fdb " + key, host.ns, ("fdb append %s dev %s dst %s%s"
                                             % (r.mac, dev, r.host, other),),
                     ("fdb del %s dev %s dst %s%s" % (r.mac, dev, r.host, other),), "bridge"),
                Fact("arp " + key, host.ns,
                     ("neigh replace %s lladdr %s dev %s nud permanent" % (hop, r.mac, dev),),
                     ("neigh del %s dev %s" % (hop, dev),)),
                Fact("route " + key, host.ns,
                     ("route replace %s via %s dev %s onlink proto 250 metric 1"
                      % (r.subnet, hop, dev),),
                     ("route del %s dev %s proto 250" % (r.subnet, dev),))]
    return out


def _nodad(address):
    """Nobody waits here for the check that an IPv6 address is free."""
    return " nodad" if ":" in address else ""


def _host_endpoint(end, host):
    """The host's own end of a bridge network: the pods' gateway, base + 2."""
    dev = device("he", end.id)
    out = [Fact("host " + end.id, host.ns,
                ("link add %s type bridge" % dev, "link set %s address %s up"
                 % (dev, end.mac or ROUTER_MAC)), ("link del %s" % dev,))]
    out += [Fact("host %s %s %s" % (end.id, end.mac, a), host.ns,  # made again when the device is
                 ("addr add %s/%d dev %s noprefixroute%s" % (a, n, dev, _nodad(a)),),
                 ("addr del %s/%d dev %s" % (a, n, dev),)) for a, n in end.addresses]
    return out


def _pod(end, host, inner):
    if end.network.kind == "Transparent":
        return _bridged_pod(end, host, inner)
    wire, pod = device("ep", end.id), host.pods[end.namespace]
    mtu = end.mtu or (host.mtu - 50 if end.network.kind == "Overlay" else host.mtu)
    out = [Fact("wire " + end.id, host.ns,
                ("link add %s address %s type veth peer name %s netns %s"
                 % (wire, ROUTER_MAC, inner, pod), "link set %s mtu %d up" % (wire, mtu)),
                ("link del %s" % wire,)),
           Fact("proxy " + end.id, host.ns, ("net/ipv4/neigh/%s/proxy_delay=0" % wire,), (),
                "sysctl")]
    if any(":" in a for a, _ in end.addresses):
        out.append(Fact("proxy6 " + end.id, host.ns, (
            "net/ipv6/neigh/%s/proxy_delay=0" % wire, "net/ipv6/conf/%s/proxy_ndp=1" % wire), (),
            "sysctl"))
    if on_segment(end.network, host):
        out.append(Fact("segment " + end.id, host.ns, (
            "net/ipv4/conf/%s/proxy_arp=1" % wire, "net/ipv4/neigh/%s/proxy_delay=0" % host.uplink), (),
            "sysctl"))
        out += [Fact("here %s %s" % (end.id, a), host.ns, ("neigh add proxy %s dev %s" % (a, host.uplink),),
                     ("neigh del proxy %s dev %s" % (a, host.uplink),)) for a in _v4(end)]
    out += _inside(end, pod, inner, mtu)
    for a, _ in end.addresses:
        own = host.address6 if ":" in a else host.address
        out.append(Fact("reach %s %s" % (end.id, a), host.ns,
                        ("route replace %s dev %s proto 250 metric 1%s"
                         % (a, wire, " src " + own if own else ""),),
                        ("route del %s dev %s proto 250" % (a, wire),)))
    return out


def _inside(end, pod, inner, mtu):
    mac = "address %s " % end.mac if end.mac else ""
    out = [Fact("inner " + end.id, pod, ("link set %s %smtu %d up" % (inner, mac, mtu),))]
    out += [Fact("address %s %s" % (end.id, a), pod, ("addr add %s/%d dev %s%s" % (a, n, inner, _nodad(a)),),
                 ("addr del %s/%d dev %s" % (a, n, inner),)) for a, n in end.addresses]
    out += [Fact("out %s %s" % (end.id, d), pod,
                 ("route replace %s via %s dev %s" % (d, h, inner),),
                 ("route del %s via %s dev %s" % (d, h, inner),))
            for d, h in end.routes if h]
    return out


def _bridged_pod(end, host, inner):
    wire, pod = device("ep", end.id), host.pods[end.namespace]
    return [Fact("wire " + end.id, host.ns,
                 ("link add %s type veth peer name %s netns %s" % (wire, inner, pod),
                  "link set %s master %s up" % (wire, host.uplink)),
                 ("link del %s" % wire,))] + _inside(end, pod, inner, host.mtu)


def _proxied(end, pods, host):
    """The addresses that the node answers for. For IPv6 these are its own, too: the kernel says
    whose they are on their own interface only."""
    others = [a for other in pods if other is not end and other.network is end.network
              for a, _ in other.addresses]
    return others + [g for g in host.gateways6.get(end.network.id, [])
                     if any(":" in a for a, _ in end.addresses)]


def _neighbours(end, pods, host):
    """Who a pod finds by ARP beside the host's own addresses: the other pods of its network."""
    if end.network.kind == "Transparent":
        return []
    wire = device("ep", end.id)
    return [Fact("neighbour %s %s" % (end.id, a), host.ns,
                 ("neigh add proxy %s dev %s" % (a, wire),),
                 ("neigh del proxy %s dev %s" % (a, wire),))
            for a in _proxied(end, pods, host)]


# ---- the rules ---------------------------------------------------------------------------------

def rules(state, host):
    """The text for `nft -f`: the whole table again."""
    pods = [e for e in local(state, host) if e.network.kind != "Transparent"]
    text = "table inet hns\ndelete table inet hns\ntable inet hns {\n"
    for name, hook, words in (
            ("acl_out", "type filter hook forward priority -11", ("Out",)),
            ("acl_in", "type filter hook forward priority -10", ("In",)),
            ("acl_to_host", "type filter hook input priority -10", ("Out", True)),
            ("acl_of_host", "type route hook output priority -10", ("In", True))):
        text += _chain(name, hook, _acls(pods, *words))
    text += _chain("forward", "type filter hook forward priority 0",
                   _forward(state, host, pods))
    text += _chain("input", "type filter hook input priority 0", _input(host, pods))
    text += _chain("output", "type route hook output priority 0", _output(host, pods, state))
    text += _chain("translate", "type nat hook prerouting priority -100",
                   _translate(state, host, pods))
    text += _chain("source", "type nat hook postrouting priority 100",
                   _source(state, host, pods))
    return text + "}\n"


def _chain(name, hook, lines):
    body = "".join("  %s\n" % line for line in lines)
    return " chain %s {\n  %s\n%s }\n" % (name, hook, body)


def _set(words):
    return "{ %s }" % ", ".join(str(w) for w in words)


def _wires(pods):
    return _set('"%s"' % device("ep", e.id) for e in pods)


def _v4(end):
    return [a for a, _ in end.addresses if ":" not in a]


def _acls(pods, direction, of_host=False):
    """The rules of one direction by priority; VFP keeps flows, so answers pass whatever it is."""
    out = []
    for end in pods:
        for acl in sorted(end.acls, key=lambda a: int(_of(a, "Priority", 0) or 0)):
            mine = of_host or str(_of(acl, "RuleType", "")).lower() != "host"
            if mine and str(_of(acl, "Direction", "")).lower() == direction.lower():
                out.append(_acl(end, acl, of_host and direction == "In"))
    return ["ct state established,related accept", *out] if out else []


def _of(doc, name, default=None):
    low = {k.lower(): v for k, v in doc.items()}
    return low.get(name.lower(), default)


def _acl(end, acl, own=False):
    """One rule; the node's own packets are lost on the way, not refused to their sender."""
    into = str(_of(acl, "Direction", "")).lower() == "in"
    words = ['oifname "%s"' % device("ep", end.id)] if into else [
        'iifname "%s"' % device("ep", end.id)]
    near, far = ("d", "s") if into else ("s", "d")
    for field_, side in (("LocalAddresses", near), ("RemoteAddresses", far)):
        if _of(acl, field_):
            words.append("ip %saddr %s" % (side, _set(_of(acl, field_).split(","))))
    protocols = [p for p in str(_of(acl, "Protocols", "")).split(",") if p and p != "256"]
    if protocols:
        words.append("meta l4proto " + _set(protocols))
    for field_, side in (("LocalPorts", near), ("RemotePorts", far)):
        if _of(acl, field_):
            words.append("th %sport %s" % (side, _set(_of(acl, field_).split(","))))
    block = "meta mark set %d accept" % SINK if own else "drop"
    return "%s %s" % (" ".join(words), block if _of(acl, "Action", "") == "Block" else "accept")


def _forward(state, host, pods):
    out = []
    for net in state.networks:
        mine = [e for e in pods if e.network is net]
        if not mine:
            continue
        wires = _wires(mine)
        out.append("iifname %s oifname %s accept" % (wires, wires))
        if net.kind == "Overlay":
            vx = device("vx", net.id)
            # What is translated leaves by the node's own way, where no host knows pods' addresses. Not so in
            # OVN-Kubernetes' network, as OpenShift's nodes run with exceptions for Services alone (inferred).
            out += ["iifname \"%s\" oifname \"%s\" %s drop" % (device("ep", e.id), vx, clause)
                    for e in mine for clause in ([] if net.automatic_dns else _natted(e))]
            out += ["iifname %s oifname \"%s\" ct status dnat ct mark 0x5d drop" % (wires, vx),
                    "iifname %s oifname \"%s\" accept" % (wires, vx),
                    "iifname \"%s\" oifname %s accept" % (vx, wires)]
        for family, flags in (("ipv4", host.forwarding), ("ipv6", host.forwarding6)):
            if net.kind in ("L2Bridge", "L2Tunnel") and _forwards(state, net, host, flags):
                out += ["meta nfproto %s iifname %s oifname \"%s\" accept" % (family, wires, host.uplink),
                        "meta nfproto %s iifname \"%s\" oifname %s accept" % (family, host.uplink, wires)]
    for end in pods:
        wire = device("ep", end.id)
        if end.network.kind in ("Overlay", "NAT"):
            out += ["iifname \"%s\" oifname \"%s\" %s accept" % (wire, host.uplink, clause)
                    for clause in _natted(end)]
    if not host.forwarding.get(host.uplink, False):
        out.append("iifname \"%s\" oifname \"%s\" drop" % (host.uplink, host.uplink))
    if pods:
        wires = _wires(pods)
        out += ["oifname %s ct state established,related accept" % wires,
                "iifname %s ct state established,related accept" % wires,
                "oifname %s ct status dnat accept" % wires,
                "iifname %s drop" % wires, "oifname %s drop" % wires]
    return out


def _forwards(state, net, host, flags):
    """A bridge's host routes for its pods once its endpoint is there and both ends forward."""
    if on_segment(net, host):
        return True
    ends = [e for e in state.endpoints if e.network is net and e.on_host]
    return bool(ends) and flags.get(host.uplink, False) and all(
        flags.get(device("he", e.id), False) for e in ends)


def _natted(end):
    """Matches of the destinations for which an endpoint's packets get the node's address."""
    if end.network.kind == "NAT":
        return [""]
    out = []
    for nat in end.nat:
        for ip, some in _by_family(nat.destinations):
            out.append("%s daddr %s" % (ip, _set(some)))
    if any(not n.destinations for n in end.nat):
        keep = dict(_by_family(x.strip() for n in end.nat if not n.destinations
                               for x in n.exceptions))
        out.append("ip daddr != " + _set(_networks(keep["ip"])) if "ip" in keep
                   else "ip daddr 0.0.0.0/0")
        if "ip6" in keep:  # one of a family's own
            out.append("ip6 daddr != " + _set(_networks(keep["ip6"])))
    return out


def _by_family(texts):
    """(nftables' word, those of the family), where there are any."""
    found = {}
    for text in texts:
        found.setdefault("ip6" if ":" in text else "ip", []).append(text)
    return found.items()


def _networks(texts):
    return [str(n) for n in ipaddress.collapse_addresses(
        ipaddress.ip_network(x, strict=False) for x in texts)]


def _input(host, pods):
    """A pod and its own node: through the address translation, or the bridge's host endpoint."""
    out = ["iifname \"vx*\" drop"]
    for end in pods:
        wire = device("ep", end.id)
        for ip, own in (("ip", host.address), ("ip6", host.address6)):
            if _has_no_way_to(end, own, host):
                out += ["iifname \"%s\" %s daddr %s %s" % (wire, ip, own, words)
                        for words in ("ct state established,related accept", "drop")]
        if end.network.kind == "Overlay":
            out += ["iifname \"%s\" %s accept" % (wire, c) for c in _natted(end)]
            out.append("iifname \"%s\" ct state established,related accept" % wire)
            out.append("iifname \"%s\" drop" % wire)
    return out


def _has_no_way_to(end, node, host):
    """Pods of a bridge get to their own node by the load balancers' way: flannel's and Calico's
    configurations give each endpoint a route of its own for it."""
    return end.network.kind in ("L2Bridge", "L2Tunnel") and node and not (
        on_segment(end.network, host) or _routed(end, node, host))


SINK = 77  # packets of the node itself that no document lets reach a pod leave by the default route


def sink(host, gateway):
    """Where they leave: as on Windows they are lost in the network, not refused."""
    if not host.address:
        return []
    return [Fact("sink", host.ns, ("route replace default via %s dev %s onlink table %d"
                                   % (gateway, host.uplink, SINK),),
                 ("route flush table %d" % SINK,)),
            Fact("sink rule", host.ns, ("rule add fwmark %d lookup %d" % (SINK, SINK),),
                 ("rule del fwmark %d lookup %d" % (SINK, SINK),))]


def _output(host, pods, state):
    out = []
    for end in pods:
        net, wire = end.network, device("ep", end.id)
        on_host = any(e.network is net and e.on_host for e in state.endpoints)
        if not (net.host_route or on_host or net.kind == "NAT" or on_segment(net, host)):
            out += ["oifname \"%s\" ct state established,related accept" % wire,
                    "oifname \"%s\" meta mark set %d" % (wire, SINK)]
    out.append("oifname \"vx*\" meta mark set %d" % SINK)
    return out


def _translate(state, host, pods):
    out = []
    for lb in state.balancers:
        target, target6 = _targets(lb), _targets(lb, True)
        if not target and not target6:
            continue
        mark = "ct mark set 0x5d " if _dead_end(lb, state) else ""
        for vip in lb.vips:
            wires = [e for e in pods if _routed(e, vip, host)]
            ip, to = ("ip6", target6) if ":" in vip else ("ip", target)
            if wires and to:
                out.append("iifname %s %s daddr %s %s dport %d %s%s"
                           % (_wires(wires), ip, vip, lb.protocol, lb.port, mark, to))
        if not lb.vips and host.address and target:
            out.append("iifname \"%s\" ip daddr %s %s dport %d %s%s"
                       % (host.uplink, host.address, lb.protocol, lb.port, mark, target))
    for end in pods:
        out += _port_mappings(end, host)
    return out


def _routed(end, vip, host):
    """Packets for a VIP reach the balancer only where the endpoint has a route for it."""
    loopback = any(a in n.destinations for a, _ in end.addresses for n in end.nat)
    return loopback and on_segment(end.network, host) or any(ipaddress.ip_address(vip) in ipaddress.ip_network(p, strict=False)
               for p in end.sdn)


def _targets(lb, six=False):
    addresses = [a for e in lb.backends for a, _ in e.addresses if (":" in a) == six]
    if not addresses:
        return ""
    ip = "ip6" if six else "ip"
    pairs = ", ".join("%d : %s . %d" % (i, a, lb.inner) for i, a in enumerate(addresses))
    pick = "jhash %s saddr" % ip if lb.affinity else "numgen inc"
    return "dnat %s to %s mod %d map { %s }" % (ip, pick, len(addresses), pairs)


def _source_vip(lb, state):
    """The SourceVIP, if replies to it find their way: it must be an endpoint of this node."""
    mine = [a for e in state.endpoints if not e.remote for a in _v4(e)]
    return lb.source if lb.source in mine else ""


def _dead_end(lb, state):
    overlay = any(e.network.kind == "Overlay" for e in lb.backends)
    return overlay and not _source_vip(lb, state)


def _port_mappings(end, host):
    out = []
    for m in end.ports:
        proto = {6: "tcp", 17: "udp"}.get(int(_of(m, "Protocol", 0) or 0))
        vip = _of(m, "VIP") or host.address
        if proto and vip and _v4(end):
            out.append("iifname \"%s\" ip daddr %s %s dport %d dnat ip to %s:%d" % (
                host.uplink, vip, proto, int(_of(m, "ExternalPort", 0)), _v4(end)[0],
                int(_of(m, "InternalPort", 0))))
    return out


def _source(state, host, pods):
    out = []
    for lb in state.balancers:
        source = _source_vip(lb, state)
        remote = [a for e in lb.backends if e.remote and e.network.kind == "Overlay"
                  for a in _v4(e)]
        if source and remote:
            out.append("oifname \"vx*\" ct status dnat ip daddr %s %s dport %d snat ip to %s"
                       % (_set(remote), lb.protocol, lb.inner, source))
        if not lb.vips:
            away = [a for e in lb.backends if e.remote for a in _v4(e)]
            if away:
                out.append("oifname \"%s\" ct status dnat ip daddr %s %s dport %d masquerade"
                           % (host.uplink, _set(away), lb.protocol, lb.inner))
    for end in pods:
        for a, _ in end.addresses:
            ip = "ip6" if ":" in a else "ip"
            virtual = next(("snat ip to " + n.virtual for n in end.nat if n.virtual), "masquerade")
            out += ["%s saddr %s oifname \"%s\" %s %s" % (ip, a, host.uplink, clause, virtual)
                    for clause in _natted(end) if not clause or clause.split()[0] == ip]
            for nat in end.nat:
                if a in nat.destinations:  # a pod that meets itself behind a Service
                    out.append("%s saddr %s %s daddr %s masquerade" % (ip, a, ip, a))
    return out
