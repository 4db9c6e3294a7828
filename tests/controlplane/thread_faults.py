"""Faults of a whole cluster that people reported in public threads (named in each row); cluster_faults.py says how they are told.

NINTH was written, each with the cause that is expected, before any of it was played: ten of the fourteen were named first.
TENTH was written after the rules were changed for it, and before any of it was played: five of the eight were named first.
Nothing wrong was confirmed of either.
"""
from . import probes
from .cluster_faults import OUTSIDE, REFUSED, WINDOWS, Fault, lost, pods, resolves
from .field_faults import BY_SERVICE, Later, across, chance, no_proxy_to

TEN = tuple("win-%03d" % i for i in range(7)), tuple("lin-%03d" % i for i in range(3))
OF_TEN = ("--nodes", ",".join(TEN[0] + TEN[1]))
OLD_OF_TEN = ("win-001", "win-003", "win-005")
SIX = tuple("win-%03d" % i for i in range(6))
NEW_OF_SIX = ("win-001", "win-004")
SERVER_2025 = ("20348", "26100", "20348", "20348", "26100", "20348")
OF_2025 = "windows 10.0.26100 v1.37 flannel vxlan nodes"
THIRTY = tuple("win-%03d" % i for i in range(24)), tuple("lin-%03d" % i for i in range(6))
OF_THIRTY = ("--nodes", ",".join(THIRTY[0] + THIRTY[1]))
TWENTY = tuple("win-%03d" % i for i in range(16)), tuple("lin-%03d" % i for i in range(4))
OF_TWENTY = ("--nodes", ",".join(TWENTY[0] + TWENTY[1]))
NO_UDP = ("win-003", "win-007", "win-012")
TWINS = {"win-004": "win-009", "win-009": "win-004"}
OUT, THIRD, TWIN = (chance(90 + i) for i in range(3))
HYPERVISOR = ("win-010", "win-011", "win-012", "win-013")


def same_subnet(case):
    for name in TWINS:
        case.change_node(name, lambda node: node["spec"].update(podCIDR="10.250.9.0/24"))


def between_pods(d):
    """Of another node's pod, also behind a Service."""
    return bool(d.node) and d.node != d.source and d.place not in ("node", "node-port", "localhost")


NINTH = [
    Fault("lost-load-balancers", "HNS of win-001 lost all load balancers; kube-proxy makes those of new Services only, not the DNS' and the API "
          "server's (kubernetes/kubernetes#110849)", "CL-DNS-NODE", "win-001",
          lambda d: lost(d) if d.source == "win-001" and resolves(d) else None, spread=True),
    Fault("no-decap-of-old-build", "after HNS was started again, nodes with build 17763 reach Services only where the chosen pod is their own "
          "(microsoft/Windows-Containers#61)", "CL-SVC-NODE", "windows 10.0.17763 v1.37 flannel vxlan nodes",
          lambda d: lost(d) if d.source in OLD_OF_TEN and resolves(d) else
          probes.SLOW if d.source in OLD_OF_TEN and d.place == "service" and d.node != d.source else None,
          windows=TEN[0], linux=TEN[1], builds=("20348", "17763"), words=OF_TEN, spread=True,
          or_else=(("CL-SVC-SOME", "windows 10.0.17763 v1.37 flannel vxlan nodes"),)),
    Fault("answers-without-vxlan", "of ten nodes: pods of win-000 answer without VXLAN; what they begin has it (flannel-io/flannel#1394)",
          "CL-NODE-IN", "win-000", lambda d: probes.SLOW if between_pods(d) and d.node == "win-000" else None,
          windows=TEN[0], linux=TEN[1], words=OF_TEN, spread=True),
    Fault("not-the-local-network", "pods of Windows nodes get outside, but to no host of the nodes' own network: nodes, the API server "
          "(kubernetes-sigs/sig-windows-tools#141)", "CL-HOSTS", "windows nodes",
          lambda d: probes.SLOW if d.source in WINDOWS and (d.place == "alias" or d.place in ("node", "node-port") and d.target != d.source)
          else None, words=OUTSIDE, spread=True),
    Fault("node-ports-of-windows", "no Windows node answers at any NodePort; the Linux nodes do (projectcalico/calico#7305)",
          "CL-NODEPORT-NODE", "windows nodes",
          lambda d: probes.SLOW if d.place == "node-port" and d.target in WINDOWS and d.target != d.source else None, spread=True),
    Fault("overlay-of-2025", "two of six Windows nodes have Server 2025, whose overlay passes nothing (rancher/rancher#50915)",
          "CL-NODE", OF_2025,
          lambda d: lost(d) if d.source in NEW_OF_SIX and resolves(d) or between_pods(d) and {d.source, d.node} & set(NEW_OF_SIX) else None,
          windows=SIX, builds=SERVER_2025, spread=True),
    Fault("acl-of-2025", "of six Windows nodes the two with Server 2025 let nothing in to their pods (microsoft/Windows-Containers#616)",
          "CL-NODE-IN", OF_2025, lambda d: probes.SLOW if between_pods(d) and d.node in NEW_OF_SIX else None,
          windows=SIX, builds=SERVER_2025, spread=True),
    Fault("no-routes-by-bgp", "win-001 and win-003 have lost the routes that BGP brings of the Linux nodes; those between Windows nodes are there "
          "(projectcalico/calico#4664)", "CL-PAIR",
          ", ".join("%s to %s, %s to %s" % (w, x, x, w) for w in ("win-001", "win-003") for x in ("lin-000", "lin-001")),
          lambda d: lost(d) if d.source in ("win-001", "win-003") and resolves(d) else
          probes.SLOW if across(d, ("win-001", "win-003"), ("lin-000", "lin-001")) else None, windows=SIX, spread=True),
    Fault("short-names-of-windows", "pods of Windows nodes know names of Services only in full (Azure/acs-engine#4188)",
          "CL-DNS-SHORT", "windows nodes",
          lambda d: "lookup backend: no such host" if d.place == "short" and d.source.startswith("win") else None,
          windows=TEN[0], linux=TEN[1], words=OF_TEN, spread=True),
    Fault("port-exists", "an orphaned policy of win-002 holds the NodePort for TCP: HNS refuses kube-proxy's (kubernetes/kubernetes#137530)",
          "CL-NODEPORT-TCP", "win-002",
          lambda d: REFUSED if d.place == "node-port" and d.service == "backend" and not d.udp and d.target == "win-002" else None, spread=True),
    Fault("slow-names", "pods of Windows nodes get each name two seconds late, as the first of their servers is silent: no fault "
          "(Azure/acs-engine#558)", "", "",
          lambda d: probes.After(2) if resolves(d) and d.source in WINDOWS else None, spread=True),
    Fault("small-packets-of-a-hypervisor", "of thirty nodes four are on a hypervisor whose switch takes no large packets from or to other machines "
          "(rancher/rke2#6307)", "CL-MTU-PAIR", "win-010, win-011, win-012, win-013 and the other nodes",
          lambda d: probes.SLOW if d.large and pods(d) and (d.source in HYPERVISOR) != (d.node in HYPERVISOR) else None,
          windows=THIRTY[0], linux=THIRTY[1], words=OF_THIRTY, spread=True,
          or_else=(("CL-MTU-NODE", "win-010, win-011, win-012, win-013"),)),
    Fault("stale-remote-endpoint", "win-000 and win-004 have a remote endpoint of the pod of lin-000 with another's address "
          "(kubernetes/kubernetes#135170)", "CL-PAIR", "lin-000",
          lambda d: probes.SLOW if between_pods(d) and d.source in ("win-000", "win-004") and d.node == "lin-000" else None,
          windows=SIX, spread=True),
    Fault("no-source-vip", "the source VIP of Windows nodes is not valid: Services lead to pods, but not to the API server, which is a host "
          "(kubernetes/kubernetes#123014)", "CL-API-NODE", "windows nodes",
          lambda d: probes.SLOW if d.place == "alias" and d.source in WINDOWS else None, spread=True),
]


TENTH = [
    Fault("no-internal-policy", "of ten nodes: kube-proxy of win-001 and win-004 deletes the load balancers of Services with "
          "internalTrafficPolicy Local (kubernetes/kubernetes#133928)", "CL-HAIRPIN", "win-001, win-004",
          lambda d: probes.SLOW if d.service == "self" and d.source in ("win-001", "win-004") else None,
          windows=TEN[0], linux=TEN[1], words=OF_TEN, spread=True),
    Fault("outside-now-and-then", "every second connection of pods of Windows nodes to targets outside is lost: the answers are dropped "
          "(projectcalico/calico#7875)", "CL-OUT-SOME", "windows nodes",
          lambda d: probes.SLOW if d.place == "external" and d.source in WINDOWS and OUT(1 / 2) else None,
          words=("--external-ip", "192.0.2.1:443"), spread=True),
    Fault("isolated-node", "the network of win-001 was not made: neither the API server nor any pod reaches its pods "
          "(projectcalico/calico#10536)", "CL-NODE-IN", "win-001",
          lambda d: probes.SLOW if between_pods(d) and d.node == "win-001" else None, change=no_proxy_to("win-001"), spread=True,
          or_else=(("CL-API-POD", "win-001"), ("CL-NODE", "win-001"))),
    Fault("three-of-twenty-without-udp", "of twenty nodes three have no load balancers for UDP (Azure/AKS#2899)",
          "CL-SVC-UDP", "win-003, win-007, win-012",
          lambda d: lost(d) if d.source in NO_UDP and resolves(d) else
          probes.SLOW if d.udp and d.source in NO_UDP and d.place in BY_SERVICE else None,
          windows=TWENTY[0], linux=TWENTY[1], words=OF_TWENTY, spread=True),
    Fault("late-policy", "policies of the pods of win-001 are written four seconds late: no fault (projectcalico/calico#5164)",
          "", "", Later(4, lambda d: probes.SLOW if between_pods(d) and d.node == "win-001" else None, lambda d: None), spread=True),
    Fault("no-ipv6-between-systems", "IPv6 passes between nodes of one operating system alone, IPv4 between all",
          "CL-IPV6-NODE", "linux to windows nodes, windows to linux nodes",
          lambda d: probes.SLOW if pods(d) and ":" in d.host and (d.source in WINDOWS) != (d.node in WINDOWS) else None,
          dual=True, spread=True, or_else=(("CL-IPV6", "linux to windows nodes, windows to linux nodes"),)),
    Fault("third-of-names", "four of ten nodes do not reach one of three DNS pods: a third of all names (kubernetes/kubernetes#100126)",
          "CL-DNS-HALF", "win-000, win-001, win-002, win-003",
          lambda d: lost(d) if resolves(d) and d.source in TEN[0][:4] and THIRD(1 / 3) else None,
          windows=TEN[0], linux=TEN[1], words=OF_TEN, spread=True),
    Fault("twin-subnets", "of twenty nodes win-004 and win-009 have one pod subnet: half of what is for pods of either comes to the other "
          "(kubernetes/kubernetes#110674)", "CL-SUBNET", "win-004, win-009",
          lambda d: probes.Instead(TWINS[d.node]) if between_pods(d) and d.node in TWINS and d.source not in TWINS and TWIN(1 / 2) else None,
          windows=TWENTY[0], linux=TWENTY[1], words=OF_TWENTY, spread=True, change=same_subnet,
          or_else=(("CL-WRONG", "win-004, win-009"),)),
]
