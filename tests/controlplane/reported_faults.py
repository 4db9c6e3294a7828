"""More faults of a whole cluster that people reported (cluster_faults.py says how they are told).

ELEVENTH was written, each with the cause that is expected, before any of it was played: nine of the ten were named first.
TWELFTH was written after the rules were changed for it, and before any of it was played: seven of the eight were named
first. Nothing wrong was confirmed of either.
"""
from . import probes
from .cluster_faults import NO_ROUTE, OUTSIDE, REFUSED, WINDOWS, Fault, lost, pods, resolves
from .field_faults import BY_SERVICE, chance, evict, no_proxy_to
from .thread_faults import OF_TEN, SIX, TEN, between_pods

NAT, HALF, FIFTH = (chance(110 + i) for i in range(3))
RESTARTED = ("win-002", "win-005")
FAILED_NAME = "lookup %s: getaddrinfow: This is usually a temporary error during hostname resolution."


def same_public_ip(case):
    """As Vagrant's machines, each of which has the same address on its first adapter."""
    for name in SIX + ("lin-000", "lin-001"):
        case.change_node(name, lambda node: node["metadata"]["annotations"].update({"flannel.alpha.coreos.com/public-ip": "10.0.2.15"}))


def same_pod_subnet(case):
    for name in ("lin-000", "lin-001"):
        case.change_node(name, lambda node: node["spec"].update(podCIDR="10.250.0.0/16"))


def same_machine(case):
    for name in ("lin-000", "lin-001"):
        case.change_node(name, lambda node: node["status"]["nodeInfo"].update(machineID="5f1c9e0b7a2d4c46a3d1b0c9e8f7a6b5"))


ELEVENTH = [
    Fault("public-ip-of-nat", "flannel of every node announces the address of the adapter that all machines have alike (Vagrant's NAT): nothing "
          "passes between nodes (flannel-io/flannel#764)", "CL-TWINS", ", ".join(("lin-000", "lin-001") + SIX),
          lambda d: lost(d) if resolves(d) and d.source != "lin-000" else probes.SLOW if between_pods(d) else None,
          windows=SIX, change=same_public_ip, spread=True, or_else=(("CL-NONE", "all nodes"),)),
    Fault("patched-subnet", "the Linux nodes were patched to one pod subnet; what is for the pods of one comes to the other's "
          "(flannel-io/flannel#1549)", "CL-SUBNET", "lin-000, lin-001",
          lambda d: probes.Instead("lin-001") if between_pods(d) and d.node == "lin-000" and d.place.startswith("pod") else None,
          change=same_pod_subnet, spread=True, or_else=(("CL-SUBNET", "lin-000"),)),
    Fault("duplicate-endpoints", "win-002 has two endpoints of one address in HNS: its pods neither reach anybody nor are reached, but by their own "
          "node (Azure/AKS#5653)", "CL-NODE", "win-002",
          lambda d: lost(d) if d.source == "win-002" and resolves(d) else
          probes.SLOW if between_pods(d) and "win-002" in (d.source, d.node) or d.source == "win-002" and d.place in
          ("node", "node-port", "external") else None, words=OUTSIDE, spread=True, or_else=(("CL-NODE-IN", "win-002"),)),
    Fault("no-cluster-inside", "pods of the only Windows node get outside by address, and to nothing in the cluster: neither pods nor Services nor "
          "names (rancher/rke2#4320)", "CL-NODE", "win-000",
          lambda d: FAILED_NAME % d.host if d.source == "win-000" and resolves(d) else
          probes.SLOW if d.source == "win-000" and d.place in ("pod", "service", "node-port") and d.node != "win-000" or between_pods(d)
          and d.node == "win-000" else None, windows=("win-000",), words=("--external-ip", "192.0.2.1:443"), spread=True,
          or_else=(("CL-PAIR", "win-000"), ("CL-NODE-IN", "win-000"))),
    Fault("no-outside-of-calico", "pods of Windows nodes reach pods and Services, but nothing outside: no OutBoundNAT (projectcalico/calico#7594)",
          "CL-OUT-NODE", "windows nodes",
          lambda d: probes.SLOW if d.source in WINDOWS and d.place in ("external", "external-name") else None, words=OUTSIDE, spread=True,
          or_else=(("CL-OUT", "windows nodes"),)),
    Fault("policy-of-load-balancers", "network policies of pods let nothing in that another node's NodePort forwards; what comes to the pod's own "
          "node does (Azure/azure-container-networking#1322)", "CL-NODEPORT-SOME", "all nodes",
          lambda d: probes.SLOW if d.place == "node-port" and d.service == "backend" and d.node != d.target != d.source else None, spread=True,
          or_else=(("CL-NODEPORT", "all nodes"), ("CL-NODEPORT-SOME", "lin-000, lin-001, win-000, win-001, win-002"))),
    Fault("late-load-balancers", "after HNS of win-003 lost all load balancers they come back slowly: that of the DNS is there, others are not "
          "(kubernetes/kubernetes#110849)", "CL-SVC-NODE", "win-003",
          lambda d: probes.SLOW if d.source == "win-003" and d.place in BY_SERVICE + ("alias",) and d.service != "self" else
          REFUSED if d.place == "node-port" and d.target == "win-003" else None,
          windows=TEN[0], linux=TEN[1], words=OF_TEN, spread=True),
    Fault("snat-ports", "the cloud's address translation has few ports left for win-001: each third connection outside fails",
          "CL-OUT-SOME", "win-001",
          lambda d: probes.SLOW if d.place == "external" and d.source == "win-001" and NAT(1 / 3) else None,
          words=("--external-ip", "192.0.2.1:443"), spread=True),
    Fault("eviction-and-dns", "two at once: the disk of win-001 is full, and pods of win-002 have a wrong DNS server",
          "CL-PRESSURE", "win-001",
          lambda d: "lookup %s on 10.0.0.10:53: read udp 10.244.0.9:3053->10.0.0.10:53: i/o timeout" % d.host
          if d.source == "win-002" and resolves(d) else None,
          dns=("win-002", "x.svc.cluster.local,svc.cluster.local,cluster.local\n\n10.0.0.10\n"), change=evict, also=("CL-DNS-NODE",),
          or_else=(("CL-NOPOD", "win-001"),), spread=True),
    Fault("tunnel-and-udp", "two at once: the control plane does not reach pods of lin-001, and UDP between the Windows nodes and win-000 is lost",
          "CL-API-POD", "lin-001",
          lambda d: probes.SLOW if d.udp and pods(d) and "win-000" in (d.source, d.node) and d.source != d.node else None,
          change=no_proxy_to("lin-001"), also=("CL-UDP-NODE",), spread=True, or_else=(("CL-UDP-NODE", "win-000"),)),
]


# After the rules were changed for ELEVENTH.
TWELFTH = [
    Fault("udp-of-services-to-others", "UDP to a Service is lost where the chosen pod is another node's, as with spoiled checksums; straight to pods "
          "it arrives, and TCP as well (rancher/rke2#1541)", "CL-SVC-SOME", "all nodes",
          lambda d: probes.SLOW if d.udp and d.place in BY_SERVICE and d.service == "backend" and d.node != d.source else
          lost(d) if resolves(d) and d.source != "lin-000" and HALF(1 / 2) else None, spread=True,
          or_else=(("CL-SVC-UDP", "all nodes"), ("CL-DNS-HALF", "all nodes"))),
    Fault("stale-dns-on-one", "win-001 sends the DNS' packets to the address of a DNS pod that is gone (k3s-io/k3s#10901)",
          "CL-DNS-NODE", "win-001",
          lambda d: "lookup %s: getaddrinfow: No such host is known. timeout" % d.host if d.source == "win-001" and resolves(d) else None,
          spread=True),
    Fault("nothing-comes-in", "pods of win-002 send, and no answer or connection from another machine comes in to them "
          "(projectcalico/calico#7875)", "CL-NODE", "win-002",
          lambda d: lost(d) if d.source == "win-002" and resolves(d) else
          probes.SLOW if d.source == "win-002" and (d.place in ("external", "node-port", "node") and d.target != "win-002"
                                                    or between_pods(d)) or between_pods(d) and d.node == "win-002" else None,
          words=OUTSIDE, spread=True),
    Fault("restarted-flannel", "of ten nodes flannel was restarted on win-002 and win-005 (host-gw): their routes to others are gone, those to "
          "them are there, but for answers (flannel-io/flannel#1208)", "CL-NODE", "win-002, win-005",
          lambda d: lost(d) if d.source in RESTARTED and resolves(d) else NO_ROUTE if between_pods(d) and d.source in RESTARTED else
          probes.SLOW if between_pods(d) and d.node in RESTARTED else None,
          windows=TEN[0], linux=TEN[1], words=OF_TEN, spread=True),
    Fault("half-of-answers", "lin-001 drops one in two UDP answers to names from its pods (kubernetes/kubernetes#56706)",
          "CL-DNS-HALF", "lin-001",
          lambda d: lost(d) if d.source == "lin-001" and resolves(d) and HALF(1 / 2) else None, spread=True),
    Fault("loss-and-kubelet", "two at once: a fifth of the UDP from and to win-000 is lost, and the kubelet's port of win-002 is closed",
          "CL-LOSS-NODE", "win-000",
          lambda d: REFUSED if d.place == "node" and d.target == "win-002" else
          probes.SLOW if d.udp and pods(d) and not d.large and "win-000" in (d.source, d.node) and d.source != d.node and FIFTH(1 / 5) else None,
          words=("--count", "20"), also=("CL-KUBELET",), spread=True),
    Fault("proxy-and-mtu", "two at once: no kube-proxy on win-001, and large packets from and to lin-000 are lost",
          "CL-MTU-NODE", "lin-000",
          lambda d: probes.SLOW if d.large and pods(d) and d.source != d.node and "lin-000" in (d.source, d.node) else
          lost(d) if d.source == "win-001" and (d.place == "service" or resolves(d)) else
          REFUSED if d.place == "node-port" and d.target == "win-001" else None, also=("CL-SVC-NODE",), spread=True),
    Fault("cloned-linux", "lin-000 and lin-001 have the same machine ID, as one was cloned, and all flows still work (reported, not a failure)",
          "CL-TWINS", "lin-000, lin-001", lambda d: None, change=same_machine, spread=True),
]
