"""Whole joins by winjoin.exe: real kubelet, kube-proxy, flanneld and CNI plugins, real packets."""
import contextlib
import os
import re
import shutil
import time
from dataclasses import dataclass

import admin
import fabric as fabrics
import netns
import objects
import policy_agent
import snapshot
from joins import LIVING
from node_stage import NodeStage
from scenario import expect, expect_equal, expect_in, scenario

# What upstream's programs keep while they run.
RUNNING = ("files: ~ var\\lib\\kubelet\\", "files: + var\\lib\\kubelet\\")
CI, NODES = ("ci", "nodes"), ("nodes",)
OVERLAY = {"on": NodeStage, "mode": "overlay"}
L2BRIDGE = {"on": NodeStage, "mode": "l2bridge"}


def expect_known_fields(stage):
    """What winjoin wrote was read strictly: upstream's programs say so when they must be lenient."""
    for name in ("kubelet", "kube-proxy"):
        folder = stage.node.host.path(r"C:\var\log\%s" % name)
        logs = [leaf for leaf in os.listdir(folder) if leaf.endswith(".log")]
        expect(logs, "no log of " + name)
        for leaf in logs:
            with open(os.path.join(folder, leaf), encoding="utf-8", errors="replace") as f:
                said = [line for line in f if "strict decoding" in line or "lenient" in line]
            expect(not said, "%s does not know what winjoin wrote" % name, *said)


def whole(stage):
    """A join that is proved, seen by kubectl, counted in the audit log, and taken back."""
    result, _ = stage.join()
    stage.expect_proved(result)
    stage.expect_condition("True")
    expect_known_fields(stage)
    info = stage.expect_ready()["status"]["nodeInfo"]
    expect_equal(info["kubeletVersion"], stage.cluster.version, "kubelet of another version")
    expect_equal(info["operatingSystem"], "windows", "no Windows node")
    made = stage.made("winjoin")
    expect_equal([r["objectRef"]["resource"] for r in made], ["certificatesigningrequests"], "winjoin makes other objects")
    described = stage.cluster.kubectl("describe", "node", stage.node.node_name)
    for event in ("Joined", "PodNetworkProved"):
        expect_in(event, described, "the event is not where kubectl looks for it")
    code, status = stage.node.document("status")
    expect_equal((code, status["joined"]), (0, True), repr(status))
    expect(status["certificate"]["subject"].startswith("CN=system:node:" + stage.node.node_name),
           repr(status["certificate"]))
    stage.reset()


@scenario("token-overlay", "vxlan: flanneld.exe, win-overlay.exe, kube-proxy.exe; 9 of 9 flows", CI,
          **OVERLAY)
def token_overlay(stage):
    whole(stage)


@scenario("token-l2bridge", "host-gw: flanneld.exe, win-bridge.exe, kube-proxy.exe; 9 of 9 flows", CI,
          **L2BRIDGE)
def token_l2bridge(stage):
    whole(stage)


@scenario("flanneld-ends", "flanneld.exe ends at its start, once and always: started again, told with its log",
          NODES, **OVERLAY)
def flanneld_ends(stage):
    host = stage.node.host
    rule = {"op": "rule", "fn": "HNSCall", "contains": "/globals/version", "hr": "0x800706b5"}
    for more, code, says in (({"count": 1}, 0, "flanneld ended with exit code 1: restarted after 5 s"),
                             ({}, 1, "keep flanneld running: it ended 4 times, the last time with exit code 1")):
        join = stage.follow("--verify", "node")
        expect(join.until(lambda line: line["phase"] == "flanneld"), "flanneld is not reached", join.said())
        host.control({**rule, **more})
        try:
            expect_equal(join.wait(), code, join.said())
        finally:
            host.control({"op": "norules"})
        expect_in(says, join.said())
        if code:
            expect_in("hint: its last message: E", join.said())
        stage.reset()


def expect_no_agent(stage):
    said = stage.node.winjoin("status").stdout
    expect("kube-proxy" in said and "flanneld" not in said, "an agent runs", said)


@scenario("no-agent-overlay", "win-overlay without flanneld: the routes to other nodes are winjoin's",
          NODES, **OVERLAY)
def no_agent_overlay(stage):
    stage.join("--network-plugin", "win-overlay")
    stage.expect_ready()
    expect_no_agent(stage)
    stage.reset()


@scenario("no-agent-l2bridge", "win-bridge without flanneld: winjoin's routes, and the one it asks for",
          NODES, **L2BRIDGE)
def no_agent_l2bridge(stage):
    result, _ = stage.join("--network-plugin", "win-bridge", "--verify", "none")
    expect_no_agent(stage)
    pods = stage.expect_ready()["spec"]["podCIDR"]
    expect_in("other nodes (or the fabric) need the route %s via %s" % (pods, stage.node.host.address),
              repr(result["next"]))
    stage.fabric.peer_add(pods, stage.node.host.address, "")
    control_plane = stage.fabric.ns("cp")
    netns.ip(control_plane, "route replace", pods, "via", stage.node.host.address)
    code, report = stage.node.document("diag")
    expect_equal((code, report["causes"]), (0, []), repr(report["flows"]))
    stage.fabric.peer_del(pods)
    netns.ip(control_plane, "route del", pods)
    stage.reset()


@scenario("second-join", "the same join again: nothing changes, nothing is asked for", NODES,
          **OVERLAY)
def second_join(stage):
    stage.join("--verify", "none")
    stage.await_services(stage.node)
    before, asked = stage.node.snapshot(), admin.requests(stage.cluster)
    stage.join("--verify", "none")
    stage.expect_ready()
    changed = [line for line in snapshot.compare(before, stage.node.snapshot())
               if not line.startswith((*LIVING, *RUNNING))]
    expect(not changed, "the second join changes things", *changed)
    expect_equal(len(admin.requests(stage.cluster)), len(asked), "requests")
    stage.reset()


@scenario("reset-and-join-again", "after a reset the same command joins the same node again", NODES,
          **OVERLAY)
def join_again(stage):
    stage.join("--verify", "none")
    stage.reset()
    result, _ = stage.join()
    stage.expect_proved(result)
    stage.reset()


@scenario("reset-with-pods", "a reset ends the pods that run: no process, no namespace of them stays",
          NODES, **OVERLAY)
def reset_with_pods(stage):
    stage.join("--verify", "none")
    names = ["stays-a", "stays-b"]
    for name in names:
        stage.run_pod(stage.node, name)
    said = stage.reset(compare=False)
    for name in names:
        expect_in("pod default/%s: ended" % name, said)
    expect_equal(stage.sandboxes(stage.node), {}, "sandboxes are left")
    stage.delete_pods(stage.node, *names)
    stage.expect_bare()


@scenario("prepared", "a server is prepared, with an image, before it knows a cluster; then it joins, and is reset",
          NODES, **OVERLAY)
def prepared(stage):
    node, image = stage.node, "a.example/first:1"
    words = ["--network-plugin", "flannel", *node.join_words[-4:]]  # with the bundle
    code, error = node.document("prepare", *words, "--images", "no.invalid/x:1")
    expect_equal(code, 1, repr(error))
    expect_in("pull image 'no.invalid/x:1'", error["error"]["message"])
    code, result = node.document("prepare", *words, "--images", image)
    expect_equal((code, result["kind"], result["changed"]), (0, "PrepareResult", True), repr(result))
    drive = node.host.path("C:\\")
    for folder, _, leaves in os.walk(drive):
        for leaf in leaves:
            expect(not leaf.endswith((".pem", ".key", "kubelet.conf")), os.path.join(folder, leaf))
    code, again = node.document("prepare", *words, "--images", image)
    expect_equal((code, again["changed"]), (0, False), repr(again))
    code, status = node.document("status")
    expect_equal((code, status["state"], status["prepared"]["images"]), (1, "prepared", [image]), repr(status))
    result, said = stage.join("--images", "a.example/second:1")
    expect_in(" 0 installed", said)
    expect_in("1 of 1 image pulled", said)
    stage.expect_proved(result)
    stage.reset()


@scenario("discovery-file", "joined with a kubeconfig file and a token for the TLS bootstrap", NODES,
          **OVERLAY)
def discovery_file(stage):
    published = stage.cluster.call("GET", objects.CLUSTER_INFO)["data"]["kubeconfig"]
    path = stage.node.host.path(r"C:\cluster-info.conf")
    with open(path, "w", encoding="utf-8") as f:
        f.write(published)
    words = stage.node.join_words
    words[2:7] = ["--discovery-file", r"C:\cluster-info.conf", "--tls-bootstrap-token",
                  stage.cluster.facts["token"]]
    stage.join("--verify", "none", words=words)
    stage.expect_ready()
    stage.reset(compare=False)
    netns.run(["rm", path])
    stage.expect_bare()


@scenario("server-restarts", "the API server is started again in the middle of a join", NODES,
          **OVERLAY)
def server_restarts(stage):
    for phase in ("certificate", "node"):
        join = stage.follow("--verify", "none")
        expect(join.until(lambda line, p=phase: line["phase"] == p), phase + " is not reached",
               join.said())
        stage.cluster.stop_api()
        time.sleep(1)
        stage.cluster.start_api()
        expect_equal(join.wait(), 0, join.said())
        stage.cluster.wait_for(lambda: stage.expect_ready(), 30, what_for="Ready node")
        stage.reset()


@scenario("slow-etcd", "etcd answers an eighth of the time during a whole join", NODES, **OVERLAY)
def slow_etcd(stage):
    with admin.slow_etcd(stage.cluster):
        stage.join("--verify", "none", timeout=400)
    stage.expect_ready()
    stage.reset()


@scenario("psa", "kube-system enforces the restricted pod security standard", NODES, **OVERLAY)
def psa(stage):
    label = "pod-security.kubernetes.io/enforce"
    stage.cluster.kubectl("label", "namespace", "kube-system", label + "=restricted")
    try:
        result, _ = stage.join()
        stage.expect_proved(result)
    finally:
        stage.cluster.kubectl("label", "namespace", "kube-system", label + "-")
    stage.reset()


@scenario("restricted-label", "a label that NodeRestriction keeps for administrators is refused",
          NODES, **OVERLAY)
def restricted_label(stage):
    _, said = stage.join("--node-labels", "node-restriction.kubernetes.io/zone=a", code=3)
    expect_in("node-restriction.kubernetes.io/zone", said)
    stage.expect_bare()


@scenario("kubelet-objects", "what this kubelet.exe alone knows to be wrong is refused in its words, and nothing is "
          "touched", NODES, **OVERLAY)
def kubelet_objects(stage):
    folder = stage.node.host.path(r"C:\patches")
    os.makedirs(folder)
    with open(os.path.join(folder, "kubeletconfiguration.yaml"), "w", encoding="utf-8") as f:
        f.write("featureGates: {NoSuchGate: true}\n")
    try:
        _, said = stage.join("--patches", r"C:\patches", code=3)
    finally:
        shutil.rmtree(folder)
    expect_in("kubelet: unrecognized feature gate: NoSuchGate", said)
    stage.expect_bare()


# ---- a wrong document makes a join red ---------------------------------------------------------

@dataclass(frozen=True)
class Wrong:
    """A document that arrives at HNS otherwise than it was sent, and what winjoin says of it."""
    what: str
    function: str
    find: str
    replace: str
    says: str  # a pattern of the join's hint
    seen: bool = True  # HNS shows what arrived; otherwise what was sent, and the probes alone tell
    lost: bool = False  # it never arrives
    agent: bool = False  # sent by a played network policy agent
    mode: str = "overlay"

    def rewrite(self):
        return {"op": "rewrite", "fn": self.function, "find": self.find, "replace": self.replace,
                "seen": self.seen, "lost": self.lost}


LINUX_PODS = '"DestinationPrefix":"%s"' % fabrics.L1_SUBNET
WRONG = {
    "wrong-vni": Wrong("the network's VNI", "HcnCreateNetwork", '"IsolationId":4096',
                       '"IsolationId":4097', r"OVL-(VNI|UDP): ", seen=False),
    "wrong-remote-subnet": Wrong(
        "the route to the Linux node's pods", "HcnModifyNetwork", LINUX_PODS,
        '"DestinationPrefix":"10.244.99.0/24"',
        r"OVL-PEER: .*no RemoteSubnetRoute for %s" % fabrics.L1_SUBNET),
    "missing-remote-subnet": Wrong(
        "the route to the Linux node's pods, which is lost", "HcnModifyNetwork", LINUX_PODS, "-",
        r"OVL-PEER: .*no RemoteSubnetRoute for %s" % fabrics.L1_SUBNET, lost=True),
    "wrong-source-vip": Wrong("the source VIP of load balancers", "HcnCreateLoadBalancer",
                              '"SourceVIP":"10.244.', '"SourceVIP":"10.245.', r"SVC-VIP: ",
                              seen=False),
    "wrong-source-vip-seen": Wrong("the source VIP of load balancers, which HNS shows",
                                   "HcnCreateLoadBalancer", '"SourceVIP":"10.244.',
                                   '"SourceVIP":"10.245.', r"SVC-VIP: .*SourceVIP 10\.245\."),
    "wrong-service-route": Wrong("the endpoints' route to Services", "HcnCreateEndpoint",
                                 '"DestinationPrefix":"10.96.0.0/12"',
                                 '"DestinationPrefix":"10.112.0.0/12"',
                                 r"SVC-ROUTE: .*lead to 10\.112\.0\.0/12, not to 10\.96\.0\.1"),
    "wrong-own-route": Wrong("the endpoints' route to their own node", "HcnCreateEndpoint",
                             '"DestinationPrefix":"10.0.0.21/32"',
                             '"DestinationPrefix":"10.0.0.99/32"',
                             r"L2-NODE: .*10\.0\.0\.99/32, not to 10\.0\.0\.21", mode="l2bridge"),
    "wrong-nat-exceptions": Wrong("the exceptions of the endpoints' address translation",
                                  "HcnCreateEndpoint", '"Exceptions":["%s"' % fabrics.POD_RANGE,
                                  '"Exceptions":["10.64.0.0/16"', r"NAT-EXC: "),
    "wrong-acl-direction": Wrong(
        "the direction of a policy agent's ACL that lets in", "HcnModifyEndpoint",
        '"Action":"Allow","Direction":"In"', '"Action":"Allow","Direction":"Out"',
        r"CNI-POLICY: .*endpoint [0-9A-Fa-f-]+ \(winjoin-probe-b\): ACL Block In, priority 65500",
        agent=True),
    "wrong-acl-priority": Wrong(
        "the priority of a policy agent's ACL that lets in, now behind the one that blocks", "HcnModifyEndpoint",
        '"Direction":"In","Protocols":"256","RuleType":"Switch","Priority":1000',
        '"Direction":"In","Protocols":"256","RuleType":"Switch","Priority":65501',
        r"CNI-POLICY: .*endpoint [0-9A-Fa-f-]+ \(winjoin-probe-b\): ACL Block In, priority 65500",
        agent=True),
}


def _wrong(wrong):
    def play(stage):
        host = stage.node.host
        host.control(wrong.rewrite())
        try:
            with policy_agent.Agent(host) if wrong.agent else contextlib.nullcontext():
                _, said = stage.join(code=5, timeout=400)
        finally:
            host.control({"op": "rewrite"})
        expect(re.search("hint: " + wrong.says, said), "another cause is named: " + wrong.what, said)
        stage.reset()
    return play


for _name, _row in WRONG.items():
    scenario(_name, "%s arrives wrong at HNS: the join ends with 5 and names it" % _row.what,
             ("wrong-document",), on=NodeStage, mode=_row.mode)(_wrong(_row))


@scenario("right-acls", "a network policy agent lets in and out by priority, whatever the list's order: 9 of 9 flows",
          ("wrong-document",), **OVERLAY)
def right_acls(stage):
    with policy_agent.Agent(stage.node.host, policy_agent.ACLS[::-1]) as agent:
        result, _ = stage.join()
    stage.expect_proved(result)
    expect(agent.done, "the agent wrote no ACL")
    stage.reset()
