"""Each right that `winjoin config cluster` grants is taken away alone: who needs it must be refused, and say so. Thus a right
that nobody misses is seen, and one without a row below, too."""
import contextlib
import json
import os
import re
import time
from dataclasses import dataclass

import netns
import objects
import patience
import programs
import stages
from scenario import expect, expect_in, scenario

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
DEFAULTS_MAP = "/api/v1/namespaces/kube-system/configmaps/winjoin"
FLANNEL = "/api/v1/namespaces/kube-flannel/configmaps"
KUBELET = "/api/v1/namespaces/kube-system/configmaps/kubelet-config"
NODE = "win-rights"
SECONDS = 20  # for upstream's programs to say it
TOKENS, NODES = "system:bootstrappers:kubeadm:default-node-token", "system:nodes"
USERS = {TOKENS: "system:bootstrap:abcdef", NODES: "system:node:" + NODE}
PROXIER = "system:node-proxier"  # kube-proxy's own role, Kubernetes' to change


# ---- the runs: what they said; `says` is what they say without the right ------------------------


def token(stage, *_):
    """A join reads the cluster."""
    return stage.winjoin(*stage.rehearse("win-new", "configuration"), "-v", "1").said


def node(stage, *_):
    """So does a node, joined again or upgraded."""
    return stage.winjoin("join", "phase", "configuration", "--node-name", NODE, "--rootfs", os.path.join(stage.scratch, NODE),
                         "--progress", "plain", "-v", "1").said


def kube_proxy(stage, says, granted):
    ready = '"Caches are synced" controller="endpoint slice config"'
    return upstream(stage, [says, *granted * [ready]], "kube-proxy", "--kubeconfig=" + conf(stage), "--proxy-mode=nftables",
                    "--hostname-override=" + NODE, "--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0",
                    "--conntrack-tcp-timeout-close-wait=0")


def flanneld(stage, says, granted):
    """What it asks for, without a network: lease/main.go."""
    settings = os.path.join(stage.scratch, "net-conf.json")
    with open(settings, "w", encoding="utf-8") as f:
        f.write(stage.cluster.call("GET", FLANNEL + "/kube-flannel-cfg")["data"]["net-conf.json"])
    return upstream(stage, [says, *granted * ["registered"]], "lease", conf(stage), settings)


def conf(stage):
    return os.path.join(stage.scratch, NODE, "etc", "kubernetes", "kubelet.conf")


def upstream(stage, until, program, *words):
    """Runs the program of Linux with the node's identity until it says one of these; its log."""
    log = os.path.join(stage.scratch, program + ".log")
    open(log, "w", encoding="utf-8").close()
    child = netns.daemon(stage.client, ["env", "NODE_NAME=" + NODE, programs.ensure([program])[program], *words], log)
    end = time.monotonic() + SECONDS * patience.factor()
    try:
        while True:
            with open(log, encoding="utf-8", errors="replace") as f:
                said = f.read().replace('\\"', '"')  # klog quotes what it was told
            if any(text in said for text in until):
                return said
            expect(time.monotonic() < end, "%s says none of %s" % (program, until), said)
            time.sleep(0.1)
    finally:
        netns.stop(child)
        netns.nft(stage.client, "table ip kube-proxy {}\ndelete table ip kube-proxy\n")


# ---- the table --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Right:
    role: str  # or the binding, of a role that is Kubernetes' own
    right: str
    says: tuple  # (group, run, what it says without it)
    cluster: tuple = ()  # what is otherwise in it: a DaemonSet, NO_FLANNEL, PROXIER without Nodes
    example: str = ""  # one right of that role


def both(says, token_says=None):
    return (TOKENS, token, token_says or says), (NODES, node, says)


UNREAD = "no right to read the DaemonSets or ConfigMaps of network agents (403)"
UNKNOWN = "which network agent the cluster runs is not known"
NO_FLANNEL, NODE_LOCAL_DNS = "no flannel", "NodeLocal DNS"
AGENTS, DEFAULTS, CALICO, ANTREA = "winjoin:network-agents", "kube-system/winjoin", "calico-node-windows", "antrea-agent-windows"
ROWS = (
    Right(DEFAULTS, "get configmaps/winjoin", both(UNREAD, "has not granted Windows nodes their rights")),
    Right(DEFAULTS + ":dns", "list services", ((TOKENS, token, "the cluster's DNS Service, which pods on Windows must ask"),),
          (NODE_LOCAL_DNS,)),
    Right(AGENTS, "get configmaps/kube-flannel-cfg", both(UNKNOWN)),
    Right(AGENTS, "list daemonsets", both(UNREAD)),
    Right(AGENTS, "get ipamconfigs/default", both(UNREAD), (CALICO,)),
    Right(AGENTS, "get configmaps/calico-windows-config", both(UNREAD), (CALICO,)),
    Right(AGENTS, "get configmaps/antrea-windows-config", both(UNREAD), (ANTREA,)),
    Right(AGENTS, "get configmaps/antrea-config", both(UNREAD), (ANTREA,)),
    Right("winjoin:kube-proxy", PROXIER, (
        (NODES, node, "[ClusterRights] this node is not allowed to list endpointslices"),
        (NODES, kube_proxy, "endpointslices.discovery.k8s.io is forbidden")), example="list endpointslices"),
    Right("winjoin:flannel", "list nodes", (
        (NODES, node, "[ClusterRights] this node is not allowed to list nodes"),
        (NODES, flanneld, 'cannot list resource "nodes"')), (PROXIER,)),
    Right("winjoin:flannel", "watch nodes", (
        (NODES, node, "[ClusterRights] this node is not allowed to watch nodes"),
        (NODES, flanneld, 'cannot watch resource "nodes"')), (PROXIER,)),
)


# ---- what is granted --------------------------------------------------------------------------


def name_of(item):
    return "/".join(filter(None, (item["metadata"].get("namespace"), item["metadata"]["name"])))


def single(role):
    """Its rules, each with one right: {right: rule}."""
    return {"%s %s%s" % (verb, what, name and "/" + name): {
        "apiGroups": rule["apiGroups"], "resources": [what], "verbs": [verb], **({"resourceNames": [name]} if name else {})}
        for rule in role["rules"] for verb in rule["verbs"] for what in rule["resources"]
        for name in rule.get("resourceNames", [""])}


def all_rights(items):
    """(role, right, group) for everything that the manifest grants."""
    roles = {name_of(i): single(i) for i in items if i["kind"].endswith("Role")}
    return {(name_of(i), right, subject["name"]) for i in items if i["kind"].endswith("Binding")
            for right in roles.get(name_of(i), [i["roleRef"]["name"]]) for subject in i["subjects"]}


def may(stage, row, group):
    """What the API server itself says."""
    verb, what = (row.example or row.right).partition("/")[0].split()
    api = {"daemonsets": "apps", "endpointslices": "discovery.k8s.io", "ipamconfigs": "crd.projectcalico.org"}.get(what, "")
    return stage.cluster.call("POST", REVIEWS, {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
            "user": USERS[group], "groups": [group], "resourceAttributes": {
                "verb": verb, "group": api, "resource": what, "namespace": row.role.rpartition("/")[0],
                "name": row.right.partition("/")[2]}}})["status"]["allowed"]


def path_of(item):
    space = item["metadata"].get("namespace")
    return "%s%s/%ss/%s" % (RBAC, space and "/namespaces/" + space or "", item["kind"].lower(), item["metadata"]["name"])


@contextlib.contextmanager
def changed(stage, path, **fields):
    """An object that is otherwise for a while."""
    before = stage.cluster.call("GET", path)
    stage.cluster.call("PATCH", path, fields, "application/merge-patch+json")
    try:
        yield
    finally:
        stage.cluster.call("PATCH", path, {k: before[k] for k in fields}, "application/merge-patch+json")


@contextlib.contextmanager
def without(stage, row, item):
    """The cluster without that right, as soon as it is refused; and with it again."""
    def settled(wanted):
        stage.cluster.wait_for(lambda: {may(stage, row, group) for group, _, _ in row.says} == {wanted}, 20,
                               every=0.05, what_for="%s of %s" % ("grant" if wanted else "refusal", row.right))
    rules = [rule for right, rule in single(item).items() if right != row.right] if "rules" in item else None
    settled(True)
    left = {"subjects": []} if rules is None else {"rules": rules}  # of a binding, or of a role
    with changed(stage, path_of(item), **left):
        settled(False)
        yield
    settled(True)


@contextlib.contextmanager
def cluster_with(stage, what):
    """Something that a row wants to find."""
    if what == PROXIER:
        role = RBAC + "/clusterroles/" + PROXIER
        rules = stage.cluster.call("GET", role)["rules"]
        with changed(stage, role, rules=[r for r in rules if "nodes" not in r["resources"]]):
            yield
    elif what == NODE_LOCAL_DNS:
        said = stage.cluster.call("GET", KUBELET)["data"]["kubelet"]
        local = re.sub(r"(clusterDNS:\n\s*- ).*", r"\g<1>169.254.20.10", said)
        expect(local != said, "the kubelet's settings have no clusterDNS", said)
        with changed(stage, KUBELET, data={"kubelet": local}):
            yield
    elif what == NO_FLANNEL:
        flannel = stage.cluster.call("GET", FLANNEL + "/kube-flannel-cfg")
        stage.cluster.call("DELETE", FLANNEL + "/kube-flannel-cfg")
        try:
            yield
        finally:
            objects.create(stage.cluster, FLANNEL, "ConfigMap", "kube-flannel-cfg", data=flannel["data"])
    else:
        objects.daemon_set(stage.cluster, what)
        try:
            yield
        finally:
            stage.cluster.call("DELETE", objects.SETS + "/" + what)


def play(stage, row, items):
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        for what in row.cluster:
            stack.enter_context(cluster_with(stage, what))
        for _, run, says in row.says:
            said = run(stage, says, True)
            expect(says not in said, "%s: said although it is granted: %s" % (row.right, says), said)
        with without(stage, row, items[row.role]):
            for _, run, says in row.says:
                expect_in(says, run(stage, says, False), "%s %s is not missed by %s" % (row.role, row.right, run.__name__))
    print("      %-24s %-52s %4.1f s" % (row.role, row.right, time.monotonic() - begin), flush=True)


@scenario("rights", "each right of config cluster, taken away alone, is missed: by a token's join, a node, kube-proxy, flanneld",
          ("manifest",), agents=False)
def rights(stage):
    cluster = stage.cluster
    done = stage.winjoin("config", "cluster", "--kubeconfig", cluster.kubeconfig, "-o", "json", code=0)
    manifest = json.loads(done.out)["items"]
    odd = all_rights(manifest) ^ {(row.role, row.right, group) for row in ROWS for group, _, _ in row.says}
    expect(not odd, "rights without a row, or rows without a right", *sorted(odd))
    items = {name_of(i): i for i in manifest if i["kind"].endswith("Binding")}
    items.update({name_of(i): i for i in manifest if i["kind"].endswith("Role")})
    objects.create(cluster, "/api/v1/nodes", "Node", NODE)
    cluster.call("PATCH", "/api/v1/nodes/%s/status" % NODE, {"status": {"addresses": [
        {"type": "InternalIP", "address": stages.CLIENT}]}}, "application/merge-patch+json")  # kube-proxy waits for it
    os.makedirs(os.path.dirname(conf(stage)))
    with open(conf(stage), "w", encoding="utf-8") as f:
        f.write(cluster.kubeadm("kubeconfig", "user", "--client-name", USERS[NODES], "--org", NODES, "--config",
                                cluster.path("kubeadm.yaml"), secret=True))
    try:
        cluster.kubectl("apply", "-f", "-", stdin=done.out)
        cluster.call("PATCH", DEFAULTS_MAP, {"data": {"NodeConfiguration": ""}}, "application/merge-patch+json")
        for row in ROWS:
            play(stage, row, items)
    finally:
        cluster.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=done.out)
        cluster.call("DELETE", "/api/v1/nodes/" + NODE)
