"""More faults of a whole cluster (cluster_faults.py says how they are told), as people report them of Windows nodes.

Each of these lists was written before any of it was played. What several causes say as well is in `or_else`.
"""
import datetime
import random
import threading
import time

from . import probes, resources
from .cluster_faults import OUTSIDE, REFUSED, NO_ROUTE, Fault, lost, pods, resolves

WINDOWS, LINUX = ("win-000", "win-001", "win-002"), ("lin-000", "lin-001")
LEASE = resources.named("leases")
BY_SERVICE = ("service", "short", "full")
RACK_A, RACK_B = tuple("win-%03d" % i for i in range(10)), tuple("lin-%03d" % i for i in range(10))
MIXED_A, MIXED_B = tuple("win-%03d" % i for i in range(0, 16, 2)), tuple("win-%03d" % i for i in range(1, 16, 2))
NO_PORT = "dial tcp %s: connectex: Only one usage of each socket address (protocol/network address/port) is normally permitted."


def chance(seed):
    """As many chances as are asked for; the same ones each time."""
    numbers = random.Random(seed)
    return lambda share: numbers.random() < share


STALE, FOREIGN, DNS, PORTS, TWINS = (chance(70 + i) for i in range(5))


EARLY, LATE = 60, 160  # of the questions of four nodes: all have answered some; most are answered


def across(d, one, other):
    return bool(d.node) and d.place not in ("node", "node-port") and (
        d.source in one and d.node in other or d.source in other and d.node in one)


def evict(case):
    """The disk of win-001 is full: its kubelet says so, and takes no pod."""
    why = "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 812Mi."
    case.model.evicted = {"win-001": why}
    case.change_node("win-001", lambda n: n["status"]["conditions"].append(
        {"type": "DiskPressure", "status": "True", "reason": "KubeletHasDiskPressure", "message": "kubelet has disk pressure"}))


def evict_later(case):
    """Its pod runs at first, and is evicted while the others ask it."""
    case.model.leaves = {"win-001": (EARLY, lambda: case.model.evict("win-001"))}


def not_ready(case):
    case.change_node("win-002", lambda n: n["status"]["conditions"][0].update(status="Unknown"))


def no_proxy_to(node):
    """The API server does not reach pods of that node by their address."""
    def change(case):
        proxy = case.cluster.api.pod_proxy
        case.cluster.api.pod_proxy = lambda pod, path, query: case.model.unreached(pod) \
            if case.model.pods.get(pod, ("",))[0] == node else proxy(pod, path, query)
    return change


def same_mac(case):
    for name in ("win-001", "win-002"):
        case.change_node(name, lambda node: node["metadata"]["annotations"].update(
            {"flannel.alpha.coreos.com/backend-data": '{"VNI":4096,"VtepMAC":"00:15:5d:2a:11:07"}'}))


def unready(case):
    case.model.unready = {"win-001"}


def large_segments(case):
    """Of win-001 what it sends by TCP in large segments; UDP is not cut into pieces by an adapter."""
    case.model.large = lambda source, target, udp, echo: not udp and (source == "win-001" != target or target == "win-001" != source and echo)


def late_server(case):
    numbers = random.Random(77)
    case.cluster.api.late = lambda: numbers.uniform(0.5, 2)


class Restarts:
    """HNS of win-001 is restarted when its pods have been asked for a moment: nothing there for six seconds."""

    def __init__(self):
        self.began = None

    def __call__(self, d):
        if "win-001" not in (d.source, d.node, d.target) or d.place == "localhost":
            return None
        self.began = self.began or time.monotonic()
        return REFUSED if time.monotonic() < self.began + 4 else None


# Of problems that people reported: the numbers are of their threads.
SEVENTH = [
    Fault("udp-way-back", "a bridge; a filter before win-001 keeps no state and drops the answers to what its pods ask by UDP",
          "CL-UDP-NODE", "win-001",
          lambda d: lost(d) if d.source == "win-001" and (resolves(d) or d.udp and (d.node not in ("", "win-001") or d.place == "node-port"))
          else None, spread=True),
    Fault("udp-way-back-of-dns", "a bridge; the same before lin-000, where the only DNS pods are: all that they answer by UDP is dropped",
          "CL-UDP-NODE", "lin-000",
          lambda d: lost(d) if resolves(d) and d.source != "lin-000" or d.udp and d.node == "lin-000" != d.source and d.place != "node-port"
          else None, spread=True),
    Fault("endpoint-without-pod", "one of six addresses behind each Service is that of no pod (kubernetes/kubernetes#131387)",
          "CL-SVC-SOME", "all nodes",
          lambda d: probes.SLOW if d.service == "backend" and STALE(1 / 6) else None, spread=True),
    Fault("recycled-address", "each fifth connection of pods of win-001 to a Service reaches a program that has the address of a gone pod now "
          "(microsoft/Windows-Containers#631)", "CL-WRONG", "win-001",
          lambda d: probes.Says("<html>IIS Windows Server") if d.source == "win-001" and d.place in BY_SERVICE and d.service == "backend"
          and not d.udp and FOREIGN(1 / 5) else None, spread=True, or_else=(("CL-SVC-SOME", "win-001"),)),
    Fault("half-of-dns", "one of the two DNS pods that win-001 sends to is gone (kubernetes-sigs/sig-windows-tools#380): half of the names",
          "CL-DNS-SOME", "win-001",
          lambda d: lost(d) if d.source == "win-001" and resolves(d) and DNS(1 / 2) else None, spread=True,
          or_else=(("CL-DNS-HALF", "win-001"),)),
    Fault("own-pods-of-a-node-port", "the node port of lin-001 answers where the chosen pod is its own: it forwards nothing "
          "(kubernetes/kubernetes#70222)", "CL-NODEPORT-SOME", "lin-001",
          lambda d: probes.SLOW if d.service == "backend" and d.place == "node-port" and d.target == "lin-001" not in (d.source, d.node)
          else None, spread=True, or_else=(("CL-NODEPORT-NODE", "lin-001"),)),
    Fault("two-racks", "ten Windows nodes in one rack, ten Linux nodes in the other: nothing between these",
          "CL-SYSTEMS", "linux to windows nodes, windows to linux nodes",
          lambda d: lost(d) if resolves(d) and d.source in RACK_A else probes.SLOW if across(d, RACK_A, RACK_B) else None,
          windows=RACK_A, linux=RACK_B, words=("--nodes", ",".join(RACK_A + RACK_B)), spread=True),
    Fault("two-racks-by-turns", "eight Windows nodes in each of two racks, every second one in the other: nothing between these",
          "CL-PAIR", "win-000, win-002, win-004, win-006, win-008, win-010, win-012, win-014 and the other nodes",
          lambda d: probes.SLOW if across(d, MIXED_A, MIXED_B) else None, windows=MIXED_A + MIXED_B, linux=(), spread=True,
          or_else=(("CL-PAIR", "win-001, win-003, win-005, win-007, win-009, win-011, win-013, win-015 and the other nodes"),)),
    Fault("two-racks-of-windows", "ten Windows nodes in each of two rows of racks, one after the other: nothing between these",
          "CL-PAIR", "win-000, win-001, win-002, win-003, win-004, win-005, win-006, win-007, 2 more and the other nodes",
          lambda d: probes.SLOW if across(d, tuple("win-%03d" % i for i in range(10)), tuple("win-%03d" % i for i in range(10, 20))) else None,
          windows=tuple("win-%03d" % i for i in range(20)), linux=(), spread=True,
          or_else=(("CL-PAIR", "win-010, win-011, win-012, win-013, win-014, win-015, win-016, win-017, 2 more and the other nodes"),)),
    Fault("full-disk", "the disk of win-001 is full: the kubelet evicts each pod there",
          "CL-PRESSURE", "win-001", lambda d: None, change=evict, or_else=(("CL-NOPOD", "win-001"),), spread=True),
    Fault("evicted-meanwhile", "the pod of win-001 is evicted while it is asked",
          "CL-NOPOD", "win-001", lambda d: None, change=evict_later, or_else=(("CL-PRESSURE", "win-001"),), spread=True),
    Fault("route-of-a-gone-node", "lin-001 has the pod subnet of a node that is gone: the Windows nodes still send it to that one's address",
          "CL-PAIR", "lin-001", lambda d: probes.SLOW if across(d, WINDOWS, ("lin-001",)) else None, spread=True),
    Fault("own-pods", "the host of win-001 does not reach its pods; all others do (its address in the pod network is gone)",
          "CL-READY", "win-001", lambda d: None, change=unready, spread=True),
    Fault("no-tunnel-to-one", "the control plane does not reach pods of win-002 by their address: no agent of its tunnel runs there",
          "CL-API-POD", "win-002", lambda d: None, change=no_proxy_to("win-002"), spread=True),
    Fault("segments-of-one", "the adapter of win-001 spoils the large TCP segments that it cuts itself (large send offload)",
          "CL-MTU-NODE", "win-001", lambda d: None, change=large_segments, spread=True),
    Fault("ports-run-out", "win-000 has nearly no free ports (excluded ranges): half of the TCP that its pods begin fails at once (Azure/AKS#1375)",
          "CL-LOSS-NODE", "win-000",
          lambda d: NO_PORT % d.host if d.source == "win-000" and not d.udp and d.place != "localhost" and PORTS(1 / 2) else None,
          words=("--count", "20"), spread=True, or_else=(("CL-TCP-NODE", "win-000"),)),
    Fault("cloned-nodes", "win-001 and win-002 were cloned and have one MAC: half of what is for the pods of either goes to the other",
          "CL-LOSS-NODE", "win-001, win-002",
          lambda d: probes.SLOW if d.node and d.place not in ("node", "node-port", "localhost") and d.source != d.node
          and ({d.source, d.node} & {"win-001", "win-002"}) and TWINS(1 / 2) else None, words=("--count", "10"), spread=True, change=same_mac,
          or_else=(("CL-NODE", "win-001, win-002"), ("CL-TWINS", "win-001, win-002"))),
    Fault("restart-of-hns", "HNS of win-001 is restarted: nothing works there for four seconds, then all",
          "", "", Restarts(), spread=True),
    Fault("two-at-once", "win-002 is not Ready, and kube-proxy does not run on win-000",
          "CL-NOTREADY", "win-002",
          lambda d: lost(d) if d.source == "win-000" and (d.place == "service" or resolves(d)) else
          REFUSED if d.place == "node-port" and d.target == "win-000" else None, change=not_ready, also=("CL-SVC-NODE",), spread=True),
    Fault("old-build-udp", "of eight Windows nodes four have another build, and UDP from there to Linux nodes is lost",
          "CL-UDP-PAIR", "windows 10.0.17763 v1.37 flannel vxlan to linux v1.37 flannel vxlan nodes",
          lambda d: probes.SLOW if d.udp and d.source in ("win-001", "win-003", "win-005", "win-007") and d.node.startswith("lin")
          and d.place != "node-port" else None, windows=tuple("win-%03d" % i for i in range(8)), linux=tuple("lin-%03d" % i for i in range(4)),
          builds=("20348", "17763"), words=("--nodes", ",".join(["win-%03d" % i for i in range(8)] + ["lin-%03d" % i for i in range(4)])),
          spread=True, or_else=(("CL-UDP-SYSTEMS", "windows 10.0.17763 v1.37 flannel vxlan to linux v1.37 flannel vxlan nodes"),)),
    Fault("no-node-addresses-at-all", "a policy of the cluster keeps all pods from the addresses of nodes; outside is open",
          "CL-TARGET", "all nodes",
          lambda d: probes.SLOW if d.place in ("node", "node-port") and d.source != d.target else None, words=OUTSIDE, spread=True,
          or_else=(("CL-TARGET-ALL", "all nodes"), ("CL-BEYOND", "all nodes"))),
    Fault("dns-behind-a-node", "of twelve nodes lin-000, where the only DNS pods are, has another VNI",
          "CL-NODE", "lin-000",
          lambda d: lost(d) if resolves(d) and d.source != "lin-000" or d.node and d.place not in ("node", "node-port") and d.source != d.node
          and "lin-000" in (d.source, d.node) else None,
          windows=tuple("win-%03d" % i for i in range(9)), linux=tuple("lin-%03d" % i for i in range(3)),
          words=("--nodes", ",".join(["win-%03d" % i for i in range(9)] + ["lin-%03d" % i for i in range(3)])), spread=True),
    Fault("large-from-one", "of twelve nodes: large packets that win-004 sends are lost; those it gets arrive",
          "CL-MTU-NODE", "win-004", lambda d: None,
          change=lambda case: setattr(case.model, "large", lambda source, target, udp, echo: source == "win-004" != target
                                      or target == "win-004" != source and echo),
          windows=tuple("win-%03d" % i for i in range(9)), linux=tuple("lin-%03d" % i for i in range(3)), spread=True),
    Fault("late-server", "an API server that takes up to two seconds for an answer, and no kube-proxy on win-001",
          "CL-SVC-NODE", "win-001",
          lambda d: lost(d) if d.source == "win-001" and (d.place == "service" or resolves(d)) else
          REFUSED if d.place == "node-port" and d.target == "win-001" else None, change=late_server, spread=True),
    Fault("gateway-of-pods", "NO_ROUTE from all pods of win-002 to whatever is not on it: their default route is gone",
          "CL-NODE-OUT", "win-002",
          lambda d: "lookup %s on 10.96.0.10:53: dial udp 10.96.0.10:53: connect: network is unreachable" % d.host
          if d.source == "win-002" and resolves(d) else
          NO_ROUTE if d.source == "win-002" and d.place not in ("localhost",) and d.node != "win-002" else None, words=OUTSIDE, spread=True),
]


UDP_STALE, ALL_DNS, THIRD, PORT, PART = (chance(80 + i) for i in range(5))
TWELVE = tuple("win-%03d" % i for i in range(9)), tuple("lin-%03d" % i for i in range(3))
OF_TWELVE = ("--nodes", ",".join(TWELVE[0] + TWELVE[1]))
BUILDS = ("20348", "17763")
OLD_OF_EIGHT = ("win-001", "win-003", "win-005", "win-007")


class Later:
    """From the first dial on: before so many seconds have passed, or behind them."""

    def __init__(self, seconds, before, behind):
        self.seconds, self.before, self.behind, self.began = seconds, before, behind, None

    def __call__(self, d):
        self.began = self.began or time.monotonic()
        return (self.before if time.monotonic() < self.began + self.seconds else self.behind)(d)


def not_started(*names):
    def change(case):
        case.model.not_started = dict.fromkeys(names, "ImagePullBackOff")
    return change


def goes(name, then=lambda case: None, questions=EARLY):
    """After so many questions its pods say nothing any more, nor does the node; two seconds later the cluster knows it."""
    def change(case):
        timer = threading.Timer(2, then, [case])
        case.model.leaves = {name: (questions, timer.start)}
        case.model.fault = lambda d: probes.SLOW if name in case.model.gone and d.source != name in (d.node, d.target) else None
        case.addCleanup(timer.cancel)
    return change


def old_lease(case):
    case.cluster.store.create(LEASE, "kube-node-lease", {"metadata": {"name": "win-001"}, "spec": {
        "renewTime": datetime.datetime.utcfromtimestamp(time.time() - 25).strftime("%Y-%m-%dT%H:%M:%S.000000Z")}})


def silent_kubelet(case):
    """The cluster hears nothing of win-002's kubelet; pods run on."""
    def later():
        case.change_node("win-002", lambda n: n["status"]["conditions"][0].update(
            status="Unknown", reason="NodeStatusUnknown", message="Kubelet stopped posting node status."))
    timer = threading.Timer(3, later)
    timer.start()
    case.addCleanup(timer.cancel)


def drain(case):
    for pod in case.cluster.store.list(probes.POD)[0]:
        if pod["spec"].get("nodeName") == "lin-001":
            case.cluster.store.delete(probes.POD, pod["metadata"]["namespace"], pod["metadata"]["name"])


def evict_two(case):
    case.model.evicted = {n: "The node had condition: [MemoryPressure]." for n in ("win-002", "win-006")}


# After the rules were changed for SEVENTH.
EIGHTH = [
    Fault("stale-udp-on-linux", "kube-proxy of the Linux nodes keeps old entries of connections (conntrack): a quarter of UDP to Services is lost",
          "CL-SVC-SOME", "linux nodes",
          lambda d: probes.SLOW if d.udp and d.source in LINUX and d.place in BY_SERVICE and d.service == "backend" and UDP_STALE(1 / 4)
          else None, spread=True),
    Fault("one-dns-pod-hangs", "one of the two DNS pods hangs: half of all questions have no answer",
          "CL-DNS-HALF", "all nodes", lambda d: lost(d) if resolves(d) and ALL_DNS(1 / 2) else None, spread=True),
    Fault("node-port-half", "the load balancer of win-002's node port has one address twice, of which one is gone: a third fails",
          "CL-NODEPORT-SOME", "win-002",
          lambda d: probes.SLOW if d.place == "node-port" and d.service == "backend" and d.target == "win-002" != d.source and PORT(1 / 3)
          else None, spread=True),
    Fault("dies-meanwhile", "win-002 is switched off a second after its pods began to answer; the cluster does not know it yet",
          "CL-GONE", "win-002", lambda d: None, change=goes("win-002"), spread=True),
    Fault("refused-outside", "the server outside refuses what its name leads to, from all nodes",
          "CL-OUT-NAME", "all nodes", lambda d: REFUSED if d.place == "external-name" else None, words=OUTSIDE, spread=True),
    Fault("large-to-old-build", "large packets to pods of the nodes with the older build are lost",
          "CL-MTU-NODE", "windows 10.0.17763 v1.37 flannel vxlan nodes",
          lambda d: None, change=lambda case: setattr(case.model, "large", lambda source, target, udp, echo: target in OLD_OF_EIGHT
                                                      and source != target or source in OLD_OF_EIGHT and source != target and echo
                                                      and target not in OLD_OF_EIGHT),
          windows=tuple("win-%03d" % i for i in range(8)), builds=BUILDS, spread=True),
    Fault("firewall-of-one", "the firewall of lin-000 closes the kubelet's port and node ports; pods are reached",
          "CL-TARGET", "lin-000", lambda d: probes.SLOW if d.place in ("node", "node-port") and d.target == "lin-000" != d.source else None,
          spread=True),
    Fault("no-image-on-windows", "no Windows node can fetch the image",
          "CL-NOPOD", "win-000, win-001, win-002", lambda d: None, change=not_started(*WINDOWS), spread=True),
    Fault("two-of-twelve-no-udp-in", "of twelve nodes win-002 and win-007 let no UDP in to their pods",
          "CL-UDP-NODE", "win-002, win-007",
          lambda d: probes.SLOW if d.udp and d.node in ("win-002", "win-007") and d.node != d.source and d.place != "node-port" else None,
          windows=TWELVE[0], linux=TWELVE[1], words=OF_TWELVE, spread=True, or_else=(("CL-UDP-NODE", "win-002"),)),  # "win-002 (to there), win-007 (to there)"
    Fault("stale-of-twelve", "of twelve nodes kube-proxy of win-005 leads to a pod that is gone in each third connection",
          "CL-SVC-SOME", "win-005",
          lambda d: probes.SLOW if d.source == "win-005" and d.place in BY_SERVICE and d.service == "backend" and THIRD(1 / 3) else None,
          windows=TWELVE[0], linux=TWELVE[1], words=OF_TWELVE, spread=True),
    Fault("two-evict", "of twelve nodes win-002 and win-006 have no memory left, and take no pods",
          "CL-PRESSURE", "win-002, win-006", lambda d: None, change=evict_two, windows=TWELVE[0], linux=TWELVE[1], words=OF_TWELVE, spread=True),
    Fault("late-kube-proxy", "kube-proxy of lin-001 takes five seconds to write new Services: no fault",
          "", "", Later(5, lambda d: REFUSED if d.source == "lin-001" and d.place in BY_SERVICE or d.place == "node-port" and
                        d.target == "lin-001" else None, lambda d: None), spread=True),
    Fault("loss-everywhere", "a tenth of all packets between nodes is lost: TCP's are sent again, datagrams are not",
          "CL-LOSS", "all nodes", lambda d: probes.SLOW if d.udp and d.node and d.node != d.source and not d.large and PART(1 / 10) else None,
          words=("--count", "30"), spread=True),
    Fault("three-racks", "of twelve nodes in three racks of four, win-000 to win-003, win-004 to win-007 and the others: nothing between the first "
          "and all others", "CL-PAIR", "win-000, win-001, win-002, win-003 and the other nodes",
          lambda d: probes.SLOW if across(d, TWELVE[0][:4], TWELVE[0][4:] + TWELVE[1]) else None,
          windows=TWELVE[0], linux=TWELVE[1], words=OF_TWELVE, spread=True),
]

# Nodes that go away while they are asked.
MEANWHILE = [
    Fault("dies-unnoticed", "win-001 is switched off: its Lease is not renewed, and the Node is Ready still",
          "CL-GONE", "win-001", lambda d: None, change=goes("win-001", old_lease), spread=True),
    Fault("dies-when-all-works", "win-001 is switched off when the pods have reached each other, and names are being asked",
          "CL-GONE", "win-001", lambda d: None, change=goes("win-001", questions=LATE), spread=True),
    Fault("kubelet-ends", "the kubelet of win-002 ends while it is asked, and the Node is not Ready any more; its pods run on",
          "CL-GONE", "win-002", lambda d: REFUSED if d.place == "node" and d.target == "win-002" else None, change=silent_kubelet, spread=True),
    Fault("drained", "lin-001 is drained while it is asked: its pods are deleted",
          "CL-GONE", "lin-001", lambda d: None, change=goes("lin-001", drain, LATE), spread=True),
    Fault("network-of-one-ends", "the network of win-000 ends while it is asked: nobody reaches its pods; the kubelet goes on",
          "CL-GONE", "win-000", lambda d: None, change=goes("win-000", questions=LATE), spread=True),
]
