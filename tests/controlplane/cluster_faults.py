"""Faults of a whole cluster, each with what an expert would name and on which nodes; nothing here was written with the
table of causes in sight. Three Windows nodes and two Linux nodes, every pair of which is asked.

The first time diag named six of the fifteen, and one surely that was another; of SECOND three of the twelve, and one
surely that was another; of THIRD nine of the twelve; of FOURTH nine of the ten, and one surely at more nodes; of FIFTH
sixteen of the 25, and one surely at fewer nodes. `answer` of a fault is given each dial of a probe (probes.Dial) and answers the words of an
error, probes.SLOW, who answers (probes.Instead, Turns, Says), or None.
"""
import dataclasses
import random
import typing

from . import probes

WINDOWS, LINUX = ("win-000", "win-001", "win-002"), ("lin-000", "lin-001")
REFUSED, NO_ROUTE = "connect: connection refused", "dial tcp: connect: no route to host"


@dataclasses.dataclass
class Fault:
    """One fault."""
    name: str
    expert: str             # the cause, in an expert's words
    cause: str              # the cause that diag must name, and its nodes; "" = none
    where: str
    answer: typing.Callable
    words: tuple = ()       # more words of the call
    dns: tuple = ()         # (node, suffixes and servers inside its pods)
    dual: bool = False      # pods and Services have IPv6 addresses, too
    builds: tuple = ("20348",) * 3  # of the Windows nodes
    windows: tuple = WINDOWS
    linux: tuple = LINUX
    spread: bool = False    # a Service leads to any of its pods
    change: typing.Callable = None  # of the case, before diag is called: Nodes, pods, the API server
    or_else: tuple = ()     # (cause, nodes) that say it as well
    also: tuple = ()        # causes that must be named, too


def pods(d):
    return d.place in ("pod", "pod-name")


def resolves(d):
    return d.place in ("pod-name", "short", "full", "alias", "external-name")


def lost(d):
    return "lookup %s: i/o timeout" % d.host if resolves(d) else probes.SLOW


def behind(d, node):
    """The pod that a Service leads to is one of that node."""
    return d.place in ("service", "short", "full", "node-port") and d.node == node


FAULTS = [
    Fault("route-to-one", "no other node has a route to the pods of win-001",
          "CL-NODE", "win-001",
          lambda d: NO_ROUTE if (pods(d) or behind(d, "win-001")) and d.node == "win-001" != d.source else
          probes.SLOW if pods(d) and d.source == "win-001" != d.node else None),
    Fault("route-of-a-pair", "win-000 has no route to the pods of win-001",
          "CL-PAIR", "win-000 to win-001, win-001 to win-000",
          lambda d: NO_ROUTE if pods(d) and (d.source, d.node) == ("win-000", "win-001") else
          probes.SLOW if pods(d) and (d.source, d.node) == ("win-001", "win-000") else None),
    Fault("same-subnet", "win-001 and win-002 have the same pod CIDR: pods of win-001 answer for those of win-002",
          "CL-SUBNET", "win-002",
          lambda d: probes.Instead("win-001") if pods(d) and d.node == "win-002" != d.source else None),
    Fault("no-kube-proxy", "kube-proxy does not work on win-002",
          "CL-SVC-NODE", "win-002",
          lambda d: lost(d) if d.source == "win-002" and (d.place in ("service",) or resolves(d)) else
          REFUSED if d.place == "node-port" and d.target == "win-002" else None),
    Fault("no-forwarder", "the cluster's DNS does not resolve names outside of the cluster",
          "CL-OUT-NAME", "all nodes",
          lambda d: "lookup %s on 10.96.0.10:53: server misbehaving" % d.host if d.place == "external-name" else None,
          words=("--external-ip", "192.0.2.1:443", "--external-name", "example.com:443")),
    Fault("no-suffixes", "the pods of win-001 have no DNS suffixes",
          "CL-DNS-SHORT", "win-001",
          lambda d: "lookup backend: no such host" if d.place == "short" and d.source == "win-001" else None,
          dns=("win-001", "\n\n10.96.0.10\n")),
    Fault("dns-from-windows", "no pod of a Windows node reaches the cluster's DNS",
          "CL-DNS-NODE", "windows nodes",
          lambda d: lost(d) if resolves(d) and d.source in WINDOWS else None),
    Fault("node-ports-closed", "the firewall of win-002 keeps node ports closed",
          "CL-NODEPORT-NODE", "win-002",
          lambda d: probes.SLOW if d.place == "node-port" and d.target == "win-002" != d.source else None),
    Fault("mtu-between-systems", "large packets between Linux and Windows nodes are lost: the MTU",
          "CL-MTU-SYSTEMS", "linux to windows nodes, windows to linux nodes",
          lambda d: probes.SLOW if d.large and d.node and (d.source in WINDOWS) != (d.node in WINDOWS) else None),
    Fault("no-api-from-one", "the pods of win-001 do not reach the API server",
          "CL-API-NODE", "win-001",
          lambda d: probes.SLOW if d.place == "alias" and d.source == "win-001" else None),
    Fault("acl-in", "an ACL or a network policy of win-001 lets nothing in to its pods",
          "CL-NODE-IN", "win-001",
          lambda d: probes.SLOW if (pods(d) or behind(d, "win-001")) and d.node == "win-001" != d.source else None),
    Fault("other-name", "kube-proxy of win-000 takes itself for another node: it knows no local endpoint",
          "CL-LOCAL", "win-000",
          lambda d: REFUSED if d.service == "self" and d.source == "win-000" or
          d.service == "local" and d.target == "win-000" else None),
    Fault("no-nat-out", "what the pods of win-002 send beyond the pod network has no address that others can answer",
          "CL-BEYOND", "win-002",
          lambda d: probes.SLOW if d.source == "win-002" and (
              d.place in ("external", "external-name", "alias") or d.place in ("node", "node-port") and d.target != "win-002") else None,
          words=("--external-ip", "192.0.2.1:443")),
    Fault("udp-one-way", "UDP from Linux nodes to pods of Windows nodes is lost, as with a broken checksum offload",
          "CL-UDP-SYSTEMS", "linux to windows nodes",
          lambda d: probes.SLOW if d.udp and d.source in LINUX and d.node in WINDOWS and d.place != "node" else None),
    Fault("udp-node-ports", "UDP to node ports is lost between all nodes: a cloud's firewall lets TCP alone pass",
          "CL-NODEPORT-UDP", "all nodes",
          lambda d: probes.SLOW if d.udp and d.place == "node-port" and d.target != d.source else None),
]

OLD = ("win-001", "win-002")
NO_NAME = "lookup %s on 10.96.0.10:53: no such host"
CHANCE = random.Random(1)

SECOND = [
    Fault("old-build", "kube-proxy of the nodes with Windows build 17763 writes no load balancers",
          "CL-SVC-NODE", "windows 10.0.17763 v1.37 flannel vxlan nodes",
          lambda d: lost(d) if d.source in OLD and (d.place == "service" or resolves(d)) else
          REFUSED if d.place == "node-port" and d.target in OLD else None,
          builds=("20348", "17763", "17763")),
    Fault("stale-proxy", "kube-proxy of win-001 has lost its watch: Services of before work there (DNS, the API server), new ones do not",
          "CL-SVC-NODE", "win-001",
          lambda d: probes.SLOW if d.source == "win-001" and d.place in ("service", "short", "full") else
          REFUSED if d.place == "node-port" and d.target == "win-001" else None),
    Fault("local-policy", "win-002 does not answer at the node ports of Services with externalTrafficPolicy Local",
          "CL-NODEPORT-LOCAL", "win-002",
          lambda d: probes.SLOW if d.service == "local" and d.target == "win-002" != d.source else None),
    Fault("no-affinity", "the load balancers of win-000 do not keep a client at one pod (sessionAffinity)",
          "CL-AFFINITY", "win-000",
          lambda d: probes.Turns(WINDOWS + LINUX) if d.service == "sticky" and d.source == "win-000" else None),
    Fault("no-alias", "pods of win-002 do not follow the name of an ExternalName (CNAME)",
          "CL-DNS-SOME", "win-002",
          lambda d: NO_NAME % d.host if d.place == "alias" and d.source == "win-002" else None),
    Fault("ipv6-in", "win-001 lets no IPv6 in to its pods; out it goes, as does IPv4",
          "CL-IPV6-NODE", "win-001",
          lambda d: probes.SLOW if pods(d) and ":" in d.host and d.node == "win-001" != d.source else None, dual=True),
    Fault("stranger-at-node-port", "another program of win-002 answers at the node port of a Service",
          "CL-NODEPORT-TAKEN", "win-002",
          lambda d: probes.Says("404 page not found") if d.place == "node-port" and d.target == "win-002" and not d.udp
          and d.service != "local" else None),
    Fault("no-kubelets-from-one", "what lin-001 lets out does not reach the kubelets' port of other nodes",
          "CL-TARGET-PAIR", "lin-001",
          lambda d: probes.SLOW if d.place == "node" and d.source == "lin-001" != d.target else None),
    Fault("node-dns", "pods of lin-001 ask the DNS server of the node instead of the cluster's",
          "CL-DNS-NODE", "lin-001",
          lambda d: "lookup %s on 10.0.0.2:53: no such host" % d.host if d.source == "lin-001" and resolves(d)
          and d.place != "external-name" else None,
          words=("--external-ip", "192.0.2.1:443", "--external-name", "example.com:443"),
          dns=("lin-001", "corp.example\n\n10.0.0.2\n")),
    Fault("no-windows-from-one", "win-002 and the other Windows nodes have no route to each other's pods, those to Linux nodes are there",
          "CL-PAIR", "win-002",
          lambda d: probes.SLOW if pods(d) and d.node != d.source and "win-002" in (d.node, d.source)
          and {d.node, d.source} <= set(WINDOWS) else None),
    Fault("loss-of-one", "a third of what win-001 sends gets lost",
          "CL-LOSS-NODE", "win-001",
          lambda d: probes.SLOW if d.udp and not d.large and pods(d) and d.node != d.source
          and "win-001" in (d.node, d.source) and CHANCE.random() < 1 / 3 else None,
          words=("--count", "20")),
    Fault("no-hairpin", "a pod of lin-001 does not reach itself through its own Service (hairpin)",
          "CL-HAIRPIN", "lin-001",
          lambda d: probes.SLOW if d.service == "self" and d.source == "lin-001" else None),
]

OUTSIDE = ("--external-ip", "192.0.2.1:443", "--external-name", "example.com:443")
UNNATTED = ("win-000", "win-002")
FULL = random.Random(2)

THIRD = [
    Fault("closed-to-linux", "a security group lets Linux nodes reach neither kubelets nor node ports of Windows nodes",
          "CL-TARGET-PAIR", "linux to windows nodes",
          lambda d: probes.SLOW if d.place in ("node", "node-port") and d.source in LINUX and d.target in WINDOWS else None),
    Fault("no-dns-questions", "a policy of win-001 drops what its pods send to UDP 53",
          "CL-DNS-NODE", "win-001",
          lambda d: lost(d) if resolves(d) and d.source == "win-001" else None, words=OUTSIDE),
    Fault("scanner", "a filter driver of win-000 drops TCP that comes in for pods; UDP passes",
          "CL-TCP-NODE", "win-000",
          lambda d: probes.SLOW if not d.udp and (pods(d) or behind(d, "win-000")) and d.node == "win-000" != d.source else None),
    Fault("full-table", "the connection table of lin-000 is full: a fifth of the UDP that comes in is dropped",
          "CL-LOSS-NODE", "lin-000",
          lambda d: probes.SLOW if d.udp and not d.large and pods(d) and d.node == "lin-000" != d.source
          and FULL.random() < 1 / 5 else None,
          words=("--count", "20")),
    Fault("two-without-nat", "win-000 and win-002 do not translate what their pods send beyond the pod network",
          "CL-BEYOND", "win-000, win-002",
          lambda d: probes.SLOW if d.source in UNNATTED and (
              d.place in ("external", "external-name", "alias") or d.place in ("node", "node-port") and d.target != d.source)
          else None, words=OUTSIDE),
    Fault("mtu-of-one", "the adapter of lin-001 has a smaller MTU than the others",
          "CL-MTU-NODE", "lin-001",
          lambda d: probes.SLOW if d.large and d.node and d.node != d.source and "lin-001" in (d.node, d.source) else None),
    Fault("services-encapsulated", "the CNI files of all Windows nodes lack the prefix of Services: no cluster IP answers there",
          "CL-SVC-NODE", "windows nodes",
          lambda d: lost(d) if d.source in WINDOWS and (d.place == "service" or resolves(d)) else None),
    Fault("old-endpoint", "win-002 has an endpoint of an old pod of its own with the address of the pod of lin-001",
          "CL-WRONG", "win-002 to lin-001",
          lambda d: probes.Instead("win-002") if pods(d) and (d.source, d.node) == ("win-002", "lin-001") else None),
    Fault("second-container", "the second container of pods of win-001 does not listen",
          "CL-LOCALHOST", "win-001",
          lambda d: REFUSED if d.place == "localhost" and d.source == "win-001" else None),
    Fault("ipv6-to-windows", "IPv6 from Linux nodes does not reach pods of Windows nodes",
          "CL-IPV6-NODE", "linux to windows nodes",
          lambda d: probes.SLOW if pods(d) and ":" in d.host and d.source in LINUX and d.node in WINDOWS else None, dual=True),
    Fault("services-without-udp", "kube-proxy of lin-000 writes no rules for UDP",
          "CL-SVC-UDP", "lin-000",
          lambda d: lost(d) if d.source == "lin-000" and (d.udp and d.place == "service" or resolves(d)) else
          REFUSED if d.udp and d.place == "node-port" and d.target == "lin-000" else None),
    Fault("reverse-path", "lin-001 drops TCP that Windows nodes send to its node ports: its reverse path filter",
          "CL-NODEPORT-TCP", "lin-001",
          lambda d: probes.SLOW if not d.udp and d.place == "node-port" and d.source in WINDOWS and d.target == "lin-001" else None),
]

FOURTH_LOSS = random.Random(4)

# Since each of at most five nodes is asked to reach each.
FOURTH = [
    Fault("node-port-addresses", "kube-proxy of lin-000 opens node ports at another address only (nodePortAddresses)",
          "CL-NODEPORT-NODE", "lin-000",
          lambda d: REFUSED if d.place == "node-port" and d.target == "lin-000" else None),
    Fault("no-checksums", "TCP that win-002 sends to pods of other nodes has wrong checksums",
          "CL-TCP-NODE", "win-002",
          lambda d: probes.SLOW if not d.udp and (pods(d) or d.place in ("service", "short", "full"))
          and d.node != d.source and "win-002" in (d.node, d.source) else None),
    Fault("no-nat-on-windows", "what pods of Windows nodes send outside of the data center is dropped there",
          "CL-OUT-NODE", "windows nodes",
          lambda d: probes.SLOW if d.source in WINDOWS and d.place in ("external", "external-name") else None, words=OUTSIDE),
    Fault("no-api-on-linux", "a policy keeps pods of Linux nodes from the API server",
          "CL-API-NODE", "linux nodes",
          lambda d: probes.SLOW if d.source in LINUX and d.place == "alias" else None),
    Fault("one-way", "lin-000 has no route to the pods of win-000; win-000 has one to those of lin-000, and a gateway back",
          "CL-PAIR", "lin-000 to win-000",
          lambda d: NO_ROUTE if pods(d) and (d.source, d.node) == ("lin-000", "win-000") else None),
    Fault("no-loopback-dsr", "the CNI files of all Windows nodes lack loopbackDSR",
          "CL-HAIRPIN", "windows nodes",
          lambda d: probes.SLOW if d.service == "self" and d.source in WINDOWS else None),
    Fault("no-headless", "the cluster's DNS knows no names of pods behind headless Services",
          "CL-DNS-SOME", "all nodes",
          lambda d: NO_NAME % d.host if d.place == "pod-name" else None),
    Fault("no-ipv6-services", "no kube-proxy writes the IPv6 addresses of Services",
          "CL-IPV6", "all nodes",
          lambda d: probes.SLOW if d.place == "service" and ":" in d.host else None, dual=True),
    Fault("closed-kubelets", "the firewall of all Windows nodes keeps the kubelet's port closed",
          "CL-KUBELET", "windows nodes",
          lambda d: probes.SLOW if d.place == "node" and d.target in WINDOWS and d.source != d.target else None),
    Fault("loss-between-systems", "a fifth of the UDP between Linux and Windows nodes is lost",
          "CL-LOSS-SYSTEMS", "linux to windows nodes, windows to linux nodes",
          lambda d: probes.SLOW if d.udp and not d.large and pods(d) and (d.source in WINDOWS) != (d.node in WINDOWS)
          and FOURTH_LOSS.random() < 1 / 5 else None,
          words=("--count", "20")),
]


def between(d, one, other):
    """Pods of two groups of nodes, in either direction, also behind Services; where the DNS is in the other group, names, too."""
    return bool(d.node) and d.place not in ("node", "node-port") and (
        d.source in one and d.node in other or d.source in other and d.node in one)


RACK, HYPERVISOR = ("win-002", "lin-001"), ("win-000", "win-001")
RACK_TCP, STALE = random.Random(5), random.Random(6)
NO_PORT = "dial tcp %s: connectex: Only one usage of each socket address (protocol/network address/port) is normally permitted."
MANY_WINDOWS, MANY_LINUX = tuple("win-%03d" % i for i in range(7)), tuple("lin-%03d" % i for i in range(3))


def late_by_loss(chance, share):
    """TCP of which a share of the packets is lost: a first packet is sent again after one second, and after two more."""
    seconds, lost_in_row = 0.0, 0
    while lost_in_row < 3 and chance.random() < share:
        seconds += 2.0 ** lost_in_row
        lost_in_row += 1
    return probes.After(seconds) if lost_in_row < 3 and seconds else probes.SLOW if lost_in_row == 3 else None


# A Service leads to any of its pods; some of other shapes.
FIFTH = [
    Fault("one-way-firewall", "a firewall between the networks of both systems lets nothing through that Windows nodes begin; the DNS is on Linux",
          "CL-SYSTEMS", "windows to linux nodes",
          lambda d: lost(d) if d.source in WINDOWS and (
              resolves(d) or d.node in LINUX and d.place != "node-port" or d.place in ("node", "node-port") and d.target in LINUX)
          else None, spread=True),
    Fault("mtu-of-a-rack", "the switch before the rack of win-002 and lin-001 takes smaller packets than the others",
          "CL-MTU-PAIR", "lin-001, win-002 and the other nodes",
          lambda d: probes.SLOW if d.large and d.node and (d.source in RACK) != (d.node in RACK) else None, spread=True),
    Fault("hypervisor-takes-vxlan", "the hypervisor's switch of win-000 and win-001 drops VXLAN that leaves its machine",
          "CL-PAIR", "win-000, win-001 and the other nodes",
          lambda d: lost(d) if between(d, HYPERVISOR, set(WINDOWS + LINUX) - set(HYPERVISOR)) or resolves(d) and d.source in HYPERVISOR
          else None, spread=True),
    Fault("old-endpoint-of-a-service", "kube-proxy of win-000 still leads to a pod that is gone: each fifth connection to the Service fails",
          "CL-SVC-SOME", "win-000",
          lambda d: probes.SLOW if d.source == "win-000" and d.place in ("service", "short", "full") and STALE.random() < 1 / 5 else None,
          words=("--count", "20"), spread=True),
    Fault("large-ipv6", "large IPv6 packets between Linux and Windows nodes are lost: ICMPv6 is dropped; IPv4's arrive",
          "CL-MTU-SYSTEMS", "linux to windows nodes, windows to linux nodes",
          lambda d: probes.SLOW if d.large and pods(d) and ":" in d.host and (d.source in WINDOWS) != (d.node in WINDOWS) else None,
          dual=True, spread=True),
    Fault("silent-forwarder", "the server that the cluster's DNS asks for names outside does not answer",
          "CL-OUT-NAME", "all nodes",
          lambda d: "lookup %s on 10.96.0.10:53: read udp 10.244.0.9:3053->10.96.0.10:53: i/o timeout" % d.host
          if d.place == "external-name" else None, words=OUTSIDE, spread=True),
    Fault("node-local-dns", "the DNS cache of node lin-001 (NodeLocal DNSCache) has ended, and pods there ask it",
          "CL-DNS-NODE", "lin-001",
          lambda d: "lookup %s on 169.254.20.10:53: read udp 10.244.0.9:3053->169.254.20.10:53: read: connection refused" % d.host
          if d.source == "lin-001" and resolves(d) else None,
          dns=("lin-001", "x.svc.cluster.local,svc.cluster.local,cluster.local\n\n169.254.20.10\n"), words=OUTSIDE, spread=True),
    Fault("default-deny", "each namespace gets a policy that lets nothing in; only the Linux nodes' network keeps to policies",
          "CL-NODE-IN", "linux nodes",
          lambda d: probes.SLOW if d.node in LINUX and d.node != d.source and d.place != "node" else None, spread=True),
    Fault("behind-nat", "win-002 is behind a NAT: what it begins gets out, nobody reaches it, and VXLAN does not come back",
          "CL-NODE", "win-002",
          lambda d: probes.SLOW if d.target == "win-002" != d.source or between(d, ("win-002",), set(WINDOWS + LINUX) - {"win-002"})
          else lost(d) if resolves(d) and d.source == "win-002" else None, spread=True),
    Fault("local-policy-of-windows", "no Windows node answers at node ports of Services with externalTrafficPolicy Local",
          "CL-NODEPORT-LOCAL", "win-000, win-001, win-002",
          lambda d: probes.SLOW if d.service == "local" and d.target in WINDOWS and d.target != d.source else None, spread=True),
    Fault("no-node-addresses", "an ACL of win-001 keeps its pods from the addresses of all nodes; other pods, Services and outside are open",
          "CL-TARGET-PAIR", "win-001",
          lambda d: probes.SLOW if d.source == "win-001" and d.place in ("node", "node-port") else None, words=OUTSIDE, spread=True),
    Fault("kubelet-at-loopback", "the kubelet of lin-000 listens at 127.0.0.1 only",
          "CL-KUBELET", "lin-000",
          lambda d: REFUSED if d.place == "node" and d.target == "lin-000" else None, spread=True),
    Fault("tcp-loss", "a third of the TCP that win-001 sends and gets is lost, of UDP nothing",
          "CL-LOSS-NODE", "win-001",
          lambda d: late_by_loss(RACK_TCP, 1 / 3) if not d.udp and pods(d) and d.node != d.source and "win-001" in (d.node, d.source)
          else None, words=("--count", "20"), spread=True),
    Fault("node-port-of-other-pods", "the node port of win-001 answers only where the chosen pod is its own: answers of others go back another way",
          "CL-NODEPORT-NODE", "win-001",
          lambda d: probes.SLOW if d.service == "backend" and d.target == "win-001" != d.source and d.node != "win-001" else None, spread=True,
          or_else=(("CL-NODEPORT-SOME", "win-001"),)),
    Fault("no-ipv6-kube-proxy", "kube-proxy of win-001 writes IPv4 alone",
          "CL-IPV6-NODE", "win-001",
          lambda d: probes.SLOW if d.place == "service" and ":" in d.host and d.source == "win-001" else None, dual=True, spread=True),
    Fault("ports-used-up", "win-000 has no free ports for connections that its pods begin",
          "CL-TCP-NODE", "win-000",
          lambda d: NO_PORT % d.host if d.source == "win-000" and not d.udp else None, spread=True),
    Fault("own-pods-of-services", "on Windows nodes a Service does not lead to a pod of the same node",
          "CL-HAIRPIN", "windows nodes",
          lambda d: probes.SLOW if d.source in WINDOWS and d.node == d.source and d.place in ("service", "short", "full") else None, spread=True),
    Fault("proxy-answers", "a security program on win-002 takes all TCP of its pods to a proxy of its own, which answers with an error",
          "CL-TCP-NODE", "win-002",
          lambda d: probes.Says("<html>502 Bad Gateway") if d.source == "win-002" and not d.udp and d.place != "localhost" else None, spread=True),
    Fault("no-names-outside-on-windows", "Windows nodes drop questions for names outside of the cluster",
          "CL-OUT-NAME", "windows nodes",
          lambda d: NO_NAME % d.host if d.place == "external-name" and d.source in WINDOWS else None, words=OUTSIDE, spread=True),
    Fault("two-nodes-udp", "of one Windows and one Linux node: UDP of the Linux node does not reach pods of the other",
          "CL-UDP-PAIR", "lin-000 to win-000",
          lambda d: probes.SLOW if d.udp and d.source == "lin-000" and d.node == "win-000" and d.place != "node-port" else None,
          windows=("win-000",), linux=("lin-000",), spread=True),
    Fault("two-nodes-no-kube-proxy", "of one Windows and one Linux node: kube-proxy does not run on the Windows node",
          "CL-SVC-NODE", "win-000",
          lambda d: lost(d) if d.source == "win-000" and (d.place == "service" or resolves(d)) else
          REFUSED if d.place == "node-port" and d.target == "win-000" else None,
          windows=("win-000",), linux=("lin-000",), spread=True),
    Fault("three-nodes-other-vni", "of two Windows nodes and a Linux node: the Linux node has another VNI",
          "CL-NODE", "lin-000",
          lambda d: lost(d) if between(d, ("lin-000",), ("win-000", "win-001")) or resolves(d) and d.source in WINDOWS else None,
          windows=("win-000", "win-001"), linux=("lin-000",), spread=True),
    Fault("ten-nodes-no-kube-proxy", "of ten nodes: kube-proxy does not run on three Windows nodes",
          "CL-SVC-NODE", "win-001, win-003, win-006",
          lambda d: lost(d) if d.source in ("win-001", "win-003", "win-006") and (d.place == "service" or resolves(d)) else
          REFUSED if d.place == "node-port" and d.target in ("win-001", "win-003", "win-006") else None,
          windows=MANY_WINDOWS, linux=MANY_LINUX, spread=True),
    Fault("ten-nodes-udp-in", "of ten nodes: win-003 lets no UDP in to its pods",
          "CL-UDP-NODE", "win-003",
          lambda d: probes.SLOW if d.udp and d.node == "win-003" != d.source and d.place != "node-port" else None,
          windows=MANY_WINDOWS, linux=MANY_LINUX, spread=True),
    Fault("ten-nodes-rack", "of ten nodes: large packets between the rack of win-004, win-005 and lin-002 and the others are lost",
          "CL-MTU-PAIR", "lin-002, win-004, win-005 and the other nodes",
          lambda d: probes.SLOW if d.large and d.node and (d.source in ("win-004", "win-005", "lin-002")) !=
          (d.node in ("win-004", "win-005", "lin-002")) else None,
          windows=MANY_WINDOWS, linux=MANY_LINUX, words=("--nodes", ",".join(MANY_WINDOWS + MANY_LINUX)), spread=True),
]

SIXTH_TCP = random.Random(8)

# After the rules were changed for FIFTH.
SIXTH = [
    Fault("large-ipv6-of-one", "lin-001 drops ICMPv6, so that large IPv6 packets to and from its pods are lost; IPv4's arrive",
          "CL-MTU-NODE", "lin-001",
          lambda d: probes.SLOW if d.large and pods(d) and ":" in d.host and d.node != d.source and "lin-001" in (d.node, d.source) else None,
          dual=True, spread=True),
    Fault("dns-cache-of-windows", "the Windows nodes' pods have the address of a DNS server that refuses",
          "CL-DNS-NODE", "windows nodes",
          lambda d: "lookup %s: dial udp 10.0.0.53:53: connectex: No connection could be made because the target machine actively refused it."
          % d.host if d.source in WINDOWS and resolves(d) else None, words=OUTSIDE, spread=True),
    Fault("tcp-loss-of-a-way", "a quarter of the TCP from win-002 to lin-000 and back is lost",
          "CL-LOSS-PAIR", "lin-000 to win-002, win-002 to lin-000",
          lambda d: late_by_loss(SIXTH_TCP, 1 / 4) if not d.udp and pods(d) and {d.source, d.node} == {"win-002", "lin-000"} else None,
          words=("--count", "30"), spread=True, or_else=(("CL-LOSS-PAIR", "win-002 to lin-000, lin-000 to win-002"),)),
    Fault("hairpin-udp", "on Linux nodes a pod does not reach itself through its own Service by UDP",
          "CL-HAIRPIN", "linux nodes",
          lambda d: probes.SLOW if d.service == "self" and d.udp and d.source in LINUX else None, spread=True),
    Fault("kubelets-of-linux", "a policy of the Linux nodes lets nobody to their kubelets; node ports are open",
          "CL-KUBELET", "linux nodes",
          lambda d: REFUSED if d.place == "node" and d.target in LINUX and d.source != d.target else None, spread=True),
    Fault("no-internet-of-one", "win-001 has no default gateway: its pods get nowhere outside; nodes and the API server are in its own subnet",
          "CL-OUT-NODE", "win-001",
          lambda d: NO_ROUTE if d.source == "win-001" and d.place in ("external", "external-name") else None, words=OUTSIDE, spread=True),
    Fault("udp-node-port-of-one", "the firewall of win-000 lets TCP alone to node ports",
          "CL-NODEPORT-UDP", "win-000",
          lambda d: probes.SLOW if d.udp and d.place == "node-port" and d.target == "win-000" != d.source else None, spread=True),
    Fault("services-of-tcp", "kube-proxy of win-001 has no load balancers for TCP: another program of HNS holds the ports",
          "CL-SVC-TCP", "win-001",
          lambda d: probes.SLOW if not d.udp and d.source == "win-001" and d.place in ("service", "short", "full") else
          REFUSED if not d.udp and d.place == "node-port" and d.target == "win-001" else None, spread=True),
    Fault("cut-one-way", "what win-000 sends to pods of win-002 is dropped, both protocols; the way back is open for what win-002 begins",
          "CL-PAIR", "win-000 to win-002",
          lambda d: probes.SLOW if d.source == "win-000" and d.node == "win-002" and d.place != "node-port" else None, spread=True),
    Fault("two-windows-only", "of two Windows nodes and no Linux node: UDP between them is lost",
          "CL-UDP", "all nodes",
          lambda d: probes.SLOW if d.udp and d.node and d.node != d.source and d.place != "node-port" else None,
          windows=("win-000", "win-001"), linux=(), spread=True),
    Fault("ten-nodes-dns", "of ten nodes: pods of lin-001 and win-005 have the wrong DNS server",
          "CL-DNS-NODE", "lin-001, win-005",
          lambda d: lost(d) if d.source in ("lin-001", "win-005") and resolves(d) else None,
          windows=MANY_WINDOWS, linux=MANY_LINUX, spread=True),
    Fault("ten-nodes-mtu", "of ten nodes: the adapter of win-002 has a smaller MTU",
          "CL-MTU-NODE", "win-002",
          lambda d: probes.SLOW if d.large and d.node and d.node != d.source and "win-002" in (d.node, d.source) else None,
          windows=MANY_WINDOWS, linux=MANY_LINUX, spread=True),
]
