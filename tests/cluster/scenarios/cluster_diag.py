"""winjoin diag --kubeconfig against a real API server, CoreDNS, kube-proxy and agnhost, with packets."""
import contextlib
import json
import os
import signal
import subprocess
import time

import beside_kubectl
import fabric as fabrics
import netns
import objects
import patience
import slow_way
from played_nodes import PlayedStage
from scenario import expect, expect_equal, expect_in, scenario

GROUPS = ("cluster-diag",)
RBAC = "/apis/rbac.authorization.k8s.io/v1"
RIGHTS = [("list", "nodes"), ("create", "namespaces"), ("list", "namespaces"), ("delete", "namespaces"),
          ("create", "pods"), ("list", "pods"), ("watch", "pods"), ("get", "pods/proxy"), ("create", "services")]
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: c
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "https://{cp}:6443", certificate-authority: "{ca}"}}}}]
users: [{{name: u, user: {{token: "{token}"}}}}]
"""


def cells(report, outcome):
    return ["%s %s %s -> %s (%s): %s" % (f["id"], f["protocol"], f["from"], f["to"], f.get("toNode", ""),
                                         f.get("reason", ""))
            for f in report["flows"] if f["outcome"] == outcome]


def expect_causes(stage, *wanted, code=5, words=()):
    """The causes of a run, (id, the nodes it names); nothing stays in the cluster."""
    report, done = stage.diag("-o", "json", *words)
    expect(report, "no report", done.said)
    seen = [(c["id"], c["message"].partition(":")[0]) for c in report["causes"]]
    expect_equal(seen, list(wanted), "causes\n" + "\n".join(cells(report, "fail") + cells(report, "not-run")))
    expect_equal(done.code, code, done.err)
    expect_equal(stage.left(), [], "namespaces that stay")
    return report


@contextlib.contextmanager
def dropped(ns, *rules):
    """Packets that a machine drops while they pass through it, or are its own."""
    netns.nft(ns, "table ip broken {\n chain f {\n  type filter hook forward priority -300;\n%s }\n"
              " chain i {\n  type filter hook input priority -300;\n%s }\n"
              " chain o {\n  type filter hook output priority -300;\n%s }\n}\n" % (("".join(
                  "  %s drop\n" % r for r in rules),) * 3))
    try:
        yield
    finally:
        netns.nft(ns, "delete table ip broken\n")


@scenario("cluster-diag", "nodes of three kinds: every cell is green, nothing stays", GROUPS, on=PlayedStage)
def healthy(stage):
    report = expect_causes(stage, code=0)
    expect_equal(cells(report, "slow"), [], "cells that were asked too early")
    expect_equal({n["name"] for n in report["nodes"]}, {"cp", "l1", "l2", "w1", "w2"}, "nodes")
    for node in report["nodes"]:
        expect_equal(node["dnsServers"], fabrics.DNS_VIP, "DNS inside the pod of " + node["name"])
        expect(node["clientIPSeen"] == node["podIP"] and node["sessionAffinity"], "what is seen", node)
    expect(report["startSeconds"] + report["durationSeconds"] < 15, "it took longer", report["durationSeconds"])


# What asks the probes: the API server, from the control plane's own addresses in the pod network.
BRIDGES_OF_CP = "10.244.1.0, 10.244.1.1"


@scenario("cluster-diag-node", "a node whose pod network is cut in both directions: CL-NODE", GROUPS, on=PlayedStage)
def node(stage):
    w1 = stage.node("w1")
    with dropped(stage.fabric.ns("w1"), "ip saddr %s ip daddr %s ip saddr != {%s} ip daddr != {%s}" % (
            fabrics.POD_RANGE, fabrics.POD_RANGE, BRIDGES_OF_CP, BRIDGES_OF_CP), "ip saddr %s udp dport 53" % w1.subnet):
        expect_causes(stage, ("CL-NODE", "w1"))


@scenario("cluster-diag-exec", "the API server does not reach a node's pods: asked by exec, all is green; CL-API-POD", GROUPS,
          on=PlayedStage)
def by_exec(stage):
    w1 = stage.node("w1")
    with dropped(stage.fabric.ns("cp"), "ip saddr %s ip daddr %s" % (fabrics.CP, w1.subnet)):
        report = expect_causes(stage, ("CL-API-POD", "w1"))
    expect_equal(cells(report, "fail") + cells(report, "not-run"), [], "red cells")
    expect_equal([n["name"] for n in report["nodes"] if n.get("askedByExec")], ["w1"], "asked by exec")
    expect(any(f["from"] == "w1" and f["evidence"]["responder"] == "probe-4" for f in report["flows"] if "evidence" in f),
           "no answer of another pod")


@scenario("cluster-diag-pair", "the route from one node to another's pods is gone: CL-PAIR", GROUPS, on=PlayedStage)
def pair(stage):
    w1, w2 = stage.node("w1"), stage.node("w2")
    netns.ip(stage.fabric.ns("w1"), "route replace blackhole", w2.subnet)
    try:
        expect_causes(stage, ("CL-PAIR", "w1 to w2, w2 to w1"))
    finally:
        netns.ip(stage.fabric.ns("w1"), "route del blackhole", w2.subnet)
        stage.route("w1", w2)


@scenario("cluster-diag-dns", "no DNS pod answers: CL-DNS", GROUPS, on=PlayedStage)
def dns(stage):
    with dropped(stage.fabric.ns("l1"), "ip daddr %s udp dport 53" % fabrics.DNS_POD, "ip daddr %s tcp dport 53" % fabrics.DNS_POD):
        expect_causes(stage, ("CL-DNS", "all nodes"))


@scenario("cluster-diag-udp", "a firewall on one node lets TCP pass alone: CL-UDP-NODE", GROUPS, on=PlayedStage)
def udp(stage):
    with dropped(stage.fabric.ns("w1"), "udp dport 8081", "udp sport 8081"):
        expect_causes(stage, ("CL-UDP-NODE", "w1"))


@scenario("cluster-diag-mtu", "what a node's pods send is lost above 1300 bytes: CL-MTU-NODE, and which way", GROUPS, on=PlayedStage)
def mtu(stage):
    w1 = stage.node("w1")
    with dropped(stage.fabric.ns("w1"), "ip saddr %s ip daddr %s meta length > 1300" % (w1.subnet, fabrics.POD_RANGE)):
        report = expect_causes(stage, ("CL-MTU-NODE", "w1"))
    lost = {(f["from"] == "w1", f["protocol"], f["largePackets"]) for f in report["flows"] if f["outcome"] == "fail"}
    expect_equal(lost, {(True, "TCP", "lost-there"), (True, "UDP", "lost-there"), (False, "TCP", "lost-back"),
                        (False, "UDP", "lost-back")}, "which large packets are lost")
    with dropped(stage.fabric.ns("l1"), "ip saddr %s ip daddr %s meta length > 1300" % (fabrics.POD_RANGE, w1.subnet)):
        report = expect_causes(stage, ("CL-MTU-PAIR", "l1 to w1, w1 to l1"))
    expect_equal({(f["from"], f["largePackets"]) for f in report["flows"] if f["outcome"] == "fail"},
                 {("l1", "lost-there"), ("w1", "lost-back")}, "a pair's")


@scenario("cluster-diag-loss", "a third of the datagrams to and from a node's pods is lost: CL-LOSS-NODE, in percent", GROUPS,
          on=PlayedStage)
def loss(stage):
    with dropped(stage.fabric.ns("w1"), "udp dport 8081 numgen random mod 3 == 0"):
        report = expect_causes(stage, ("CL-LOSS-NODE", "w1"), words=("--count", "30"))
    lossy = [f for f in report["flows"] if f.get("lossPercent")]
    expect(all(f["protocol"] == "UDP" for f in lossy), "TCP loses some, too", lossy)
    straight = [f for f in lossy if f["id"] in ("pod-to-pod-ip", "pod-to-pod-name")]  # Services choose any pod
    expect(all("w1" in (f["from"], f["toNode"]) for f in straight), "others lose some, too", straight)
    lost = sum(f["attempts"] - f["succeeded"] for f in straight) / sum(f["attempts"] for f in straight)
    expect(0.2 < lost < 0.47, "the share of a third is %.2f" % lost, straight)


@scenario("cluster-diag-latency", "20 ms on the way from one node to another: its cells' latency, and nobody else's", GROUPS,
          on=PlayedStage)
def latency(stage):
    with slow_way.delayed(stage.fabric.ns("w1"), "cni0", stage.node("w2").subnet, 0.02):
        report = expect_causes(stage, code=0, words=("--count", "25"))
    times = {(f["protocol"], f["from"], f["toNode"]): f["latencyMs"] for f in report["flows"] if f["id"] == "pod-to-pod-ip"}
    slack = 5 * patience.factor()
    for key, seen in sorted(times.items()):
        # a question by TCP goes that way twice, to connect and to ask; so does what w1's pod answers to w2's
        wanted = (40 if key[0] == "TCP" else 20) if {*key[1:]} == {"w1", "w2"} else 0
        print("      %s %s -> %s: %s" % (*key, seen), flush=True)
        expect(abs(seen["median"] - wanted) <= slack, "the median of %s" % (key,), seen)


@scenario("cluster-diag-nodeport", "a node's ports of Services are closed: CL-NODEPORT-NODE", GROUPS, on=PlayedStage)
def nodeport(stage):
    netns.nft(stage.fabric.ns("w1"), "table ip broken {\n chain p {\n  type filter hook prerouting priority -300;\n"
              "  ip daddr 10.0.0.21 tcp dport 30000-32767 drop\n  ip daddr 10.0.0.21 udp dport 30000-32767 drop\n }\n}\n")
    try:
        expect_causes(stage, ("CL-NODEPORT-NODE", "w1"), code=0)
    finally:
        netns.nft(stage.fabric.ns("w1"), "delete table ip broken\n")


@scenario("cluster-diag-kubelet", "a node's port 10250 is closed: CL-KUBELET; for some nodes alone: CL-TARGET-PAIR", GROUPS, on=PlayedStage)
def kubelet(stage):
    with dropped(stage.fabric.ns("w1"), "ip daddr 10.0.0.21 tcp dport 10250"):
        expect_causes(stage, ("CL-KUBELET", "w1"))
    with dropped(stage.fabric.ns("w1"), "ip saddr != 10.0.0.10 ip daddr 10.0.0.21 tcp dport 10250"):
        expect_causes(stage, ("CL-TARGET-PAIR", "w1 (l2 to w1, l1 to w1, w2 to w1)"))


@scenario("cluster-diag-service", "a node's kube-proxy is stopped before the Services are made: CL-SVC-NODE", GROUPS,
          on=PlayedStage)
def service(stage):
    child = stage.node("w1").children[0]
    os.killpg(child.pid, signal.SIGSTOP)
    try:
        expect_causes(stage, ("CL-SVC-NODE", "w1"))
    finally:
        os.killpg(child.pid, signal.SIGCONT)


# ---- what a node says of itself ----


class OwnReport:
    """A node's own identity, as the kubelet has it, with which winjoin publishes the annotation."""

    def __init__(self, stage, node):
        self.cluster, self.node = stage.cluster, node
        self.conf = os.path.join(stage.scratch, node + ".conf")
        with open(self.conf, "w", encoding="utf-8") as f:
            f.write(stage.cluster.kubeadm("kubeconfig", "user", "--client-name", "system:node:" + node, "--org",
                                          "system:nodes", "--config", stage.cluster.path("kubeadm.yaml"), secret=True))

    def publish(self, ago=0, drift=None, node=None):
        report = {"version": 1, "mode": "l2bridge", "dsr": "on", "loadBalancers": 7, "drift": drift or {},
                  "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago))}
        return self.patch(json.dumps(report), node)

    def patch(self, text, node=None):
        """What kubectl says of it."""
        patch = {"metadata": {"annotations": {"winjoin.io/network-report": text}}}
        done = subprocess.run(netns.command(self.cluster.ns, [
            self.cluster.programs["kubectl"], "--kubeconfig", self.conf, "patch", "node", node or self.node, "--type",
            "merge", "-p", json.dumps(patch)]), text=True, capture_output=True, check=False)
        return done.stdout + done.stderr


@scenario("cluster-diag-own-report", "a node's identity publishes that HNS lacks a Service: CL-HNS, sure where its Services are red",
          GROUPS, on=PlayedStage)
def own_report(stage):
    own = OwnReport(stage, "w1")
    lacks = {"servicesWithoutLoadBalancer": {"count": 1, "first": ["default/kubernetes 10.96.0.1:443/TCP"]}}
    expect_in("is not allowed to modify node", own.publish(node="w2"))  # NodeRestriction
    expect_in("node/w1 patched", own.publish(drift=lacks))
    report = expect_causes(stage, ("CL-HNS", "w1"), code=0)
    expect_equal(report["causes"][0]["confidence"], "likely", "confidence where all works")
    [ours] = [n for n in report["nodes"] if "ownReport" in n]
    expect_equal((ours["name"], ours["ownReport"]["drift"], ours["ownReport"]["dsr"]), ("w1", lacks, "on"), "its own report")
    child = stage.node("w1").children[0]
    os.killpg(child.pid, signal.SIGSTOP)
    try:
        for ago, confidence in ((60, "confirmed"), (7200, "likely")):
            own.publish(ago, lacks)
            report = expect_causes(stage, ("CL-HNS", "w1"))
            expect_equal(report["causes"][0]["confidence"], confidence, "confidence, %d s old" % ago)
        expect_in("its own report, 2 h old: 1 Services without a load balancer", report["causes"][0]["evidence"][0])
        own.patch("<script>" * 2000)
        expect_causes(stage, ("CL-SVC-NODE", "w1"))
        done = stage.diag(code=5)[1]
        expect_in("its own report cannot be read: it is longer than 4096 bytes", done.out)
    finally:
        os.killpg(child.pid, signal.SIGCONT)
        stage.cluster.kubectl("annotate", "node", "w1", "winjoin.io/network-report-")


@scenario("cluster-diag-image", "an image that a node cannot fetch: CL-NOPOD", GROUPS, on=PlayedStage)
def image(stage):
    report = expect_causes(stage, ("CL-NOPOD", "cp, l1, l2, w1, w2"), words=("--image", "registry.invalid/agnhost:1"))
    expect_equal({c["confidence"] for c in report["causes"]}, {"confirmed"}, "confidence")


# ---- rights, interruptions ----


def user(stage, rights):
    """A kubeconfig of a ServiceAccount that has these rights alone."""
    cluster = stage.cluster
    rules = [{"verbs": [verb], "apiGroups": [""], "resources": [what]} for verb, what in rights]
    objects.create(cluster, "/api/v1/namespaces/default/serviceaccounts", "ServiceAccount", "jane")
    for path in ("/clusterroles/jane", "/clusterrolebindings/jane"):
        with contextlib.suppress(Exception):
            cluster.call("DELETE", RBAC + path)
    objects.create(cluster, RBAC + "/clusterroles", "ClusterRole", "jane", "rbac.authorization.k8s.io/v1", rules=rules)
    objects.create(cluster, RBAC + "/clusterrolebindings", "ClusterRoleBinding", "jane", "rbac.authorization.k8s.io/v1",
                   roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "jane"},
                   subjects=[{"kind": "ServiceAccount", "namespace": "default", "name": "jane"}])
    made = cluster.call("POST", "/api/v1/namespaces/default/serviceaccounts/jane/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}})
    path = os.path.join(stage.scratch, "jane.conf")
    with open(path, "w", encoding="utf-8") as f:
        f.write(KUBECONFIG.format(cp=fabrics.CP, ca=cluster.facts["ca"], token=made["status"]["token"]))
    return path


def run(stage, kubeconfig, *words):
    return stage.winjoin("diag", "--kubeconfig", kubeconfig, *words, timeout=60)


@scenario("cluster-diag-rights", "each right taken away is named, nothing is made; the printed manifest is enough", GROUPS,
          on=PlayedStage)
def rights(stage):
    for right in RIGHTS:
        done = run(stage, user(stage, [r for r in RIGHTS if r != right]))
        expect_equal(done.code, 1, "exit code without %s %s: %s" % (*right, done.said))
        expect_in("is not allowed to: %s %s\n" % right, done.err)
        expect_equal(stage.left(), [], "made without %s %s" % right)
    done = run(stage, user(stage, []))
    for right in RIGHTS:
        expect_in("%s %s" % right, done.err)
    kubeconfig = user(stage, [])
    stage.cluster.kubectl("apply", "-f", "-", stdin=done.out)
    try:
        time.sleep(1)  # the authorizer hears of it
        done = run(stage, kubeconfig)
        expect_equal(done.code, 0, done.said)
    finally:
        stage.cluster.kubectl("delete", "clusterrole,clusterrolebinding", "winjoin-diag", check=False)
    expect_equal(stage.left(), [], "namespaces that stay")


@scenario("cluster-diag-ctrl-c", "Ctrl-C while probes are asked: the namespace goes at once", GROUPS, on=PlayedStage)
def ctrl_c(stage):
    with dropped(stage.fabric.ns("w1"), "udp dport 8081"):  # so that it takes a while
        proc = stage.start("diag", "--kubeconfig", stage.cluster.kubeconfig)
        stage.cluster.wait_for(lambda: stage.requests("winjoin") and any("/proxy/" in r["requestURI"] for r in stage.requests("winjoin")),
                               20, what_for="question to a probe")
        expect_equal(len(stage.left()), 1, "its namespace")
        proc.send_signal(signal.SIGINT)
        begin = time.monotonic()
        done = stage.finish(proc, 20)
    expect_equal(done.code, 130, done.said)
    expect(time.monotonic() - begin < 10, "its end took %.1f s" % (time.monotonic() - begin))
    expect_equal(stage.left(), [], "namespaces that stay")


@scenario("cluster-diag-cut", "the laptop's connection is cut in the middle for 8 s: the namespace goes all the same", GROUPS,
          on=PlayedStage)
def cut(stage):
    proc = stage.start("diag", "--kubeconfig", stage.cluster.kubeconfig)
    stage.cluster.wait_for(stage.left, 20, every=0.02, what_for="namespace")
    netns.ip(stage.client, "link set eth0 down")
    time.sleep(8)
    netns.ip_batch(stage.client, ["link set eth0 up", "route replace default via " + fabrics.ROUTER])
    done = stage.finish(proc, 120)
    expect(done.code in (0, 1, 5), "exit code %d" % done.code, done.said)
    expect_equal(stage.left(), [], "namespaces that stay: " + done.said)


@scenario("cluster-diag-gone", "the API server goes in the middle and stays away: the end says what is left", GROUPS,
          on=PlayedStage)
def gone(stage):
    proc = stage.start("diag", "--kubeconfig", stage.cluster.kubeconfig)
    stage.cluster.wait_for(stage.left, 20, every=0.02, what_for="namespace")
    [name] = stage.left()
    netns.ip(stage.client, "link set eth0 down")
    try:
        done = stage.finish(proc, 180)
    finally:
        netns.ip_batch(stage.client, ["link set eth0 up", "route replace default via " + fabrics.ROUTER])
    expect(done.code not in (0, 130), "exit code %d" % done.code, done.said)
    expect_in("kubectl delete namespace " + name, done.err.replace("\n", " "))
    stage.cluster.call("DELETE", "/api/v1/namespaces/" + name)


# ---- beside a peer ----


@scenario("cluster-diag-peer", "the time of the same cells by kubectl exec and agnhost connect in a loop", GROUPS,
          on=PlayedStage)
def peer(stage):
    [report], [(seconds, count)] = beside_kubectl.measured(stage, 1)
    ours, cells_of_ours = report["durationSeconds"], len(report["flows"])
    theirs = seconds * cells_of_ours
    print("      %d cells of %d nodes: winjoin %.2f s, the pods' start %.1f s; kubectl exec and agnhost connect in a loop "
          "%.2f s a cell (%d cells), so %.1f s: 1/%.0f" % (cells_of_ours, len(report["nodes"]), ours, report["startSeconds"],
                                                          seconds, count, theirs, theirs / ours), flush=True)
    expect(ours < theirs / 5, "winjoin takes %.1f s, the loop %.1f s" % (ours, theirs))
