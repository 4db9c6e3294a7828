"""What `winjoin config cluster` prints, given to the real API server by kubectl: a cluster as kubeadm and
flannel leave it, without and with it."""
import json
import os

import fabric as fabrics
import objects
import stages
from node_stage import NodeStage
from scenario import expect, expect_equal, expect_in, scenario
from stage import BUNDLE, IGNORED, PROGRAM

MANIFEST = ("manifest",)
BARE = {"on": NodeStage, "mode": "overlay", "defaults": "", "agents": False}
VERIFY = ("--external-ip", fabrics.EXTERNAL_IP + ":443", "--external-name",
          fabrics.EXTERNAL_NAME + ":443", "--external-dns", fabrics.EXTERNAL_DNS)
WORD = "winjoin config cluster"
FLANNEL = "/api/v1/namespaces/kube-flannel/configmaps"
NOBODY = """apiVersion: v1
kind: Config
clusters:
- {name: c, cluster: {server: "https://%s", certificate-authority: %s}}
contexts:
- {name: c, context: {cluster: c, user: u}}
current-context: c
users:
- {name: u, user: {token: %s}}
"""


def manifest(stage, *flags, kubeconfig=None):
    """The manifest as it is printed on a machine that has the administrator's kubeconfig."""
    done = stage.winjoin("config", "cluster", "--kubeconfig", kubeconfig or stage.cluster.kubeconfig,
                         *flags, code=0)
    expect_equal(done.err, "", "more is said")
    return done.out


def told(stage, *ignored):
    """What a machine with a bootstrap token learns of the cluster's defaults: a dry run's network."""
    done = stage.node.host.run([*short_words(stage, *ignored), "--dry-run", "-o", "json"], timeout=120)
    expect_equal(done.returncode, 0, done.stdout + done.stderr)
    return json.loads(done.stdout)["network"]


def short_words(stage, *ignored):
    """kubeadm's line and what is this machine's own: nothing of the network."""
    return [PROGRAM, "join", *stage.trust(), "--node-name", stage.node.node_name, "--bundle", BUNDLE,
            "--ignore-preflight-errors", ",".join((IGNORED, *ignored))]


def asked(stage, name):
    """The answers when a bootstrap token asked for a ConfigMap in this scenario, in order."""
    return [r["responseStatus"]["code"] for r in stage.requests("winjoin")
            if r["requestURI"].endswith("/configmaps/" + name)
            and r["user"]["username"].startswith("system:bootstrap:")]


@scenario("manifest-missing", "a cluster that nobody prepared: the join says what is missing, and works "
          "without kube-proxy", MANIFEST, **BARE)
def missing(stage):
    _, said = stage.join("--verify", "none", code=2)
    expect_in("error: configuration: [ClusterRights] this cluster has not granted Windows nodes their rights: ", said)
    expect_in("and kube-proxy would be refused", said)
    expect_in(WORD + " --kubeconfig admin.conf | kubectl apply -f -", said)
    stage.expect_bare()
    _, said = stage.join("--verify", "none", "--ignore-preflight-errors", IGNORED + ",ClusterRights", code=1)
    expect_in("error: kube-proxy: wait for kube-proxy: ", said)
    expect_in('User "system:node:%s" cannot list resource "endpointslices"' % stage.node.node_name, said)
    expect_in("hint: it needs rights that a cluster administrator grants once", said)
    expect_in(WORD + " --kubeconfig admin.conf | kubectl apply -f -", said)
    expect_equal(asked(stage, "winjoin"), [403, 403], "the defaults")
    expect_equal(asked(stage, "kube-flannel-cfg"), [], "asked for what is forbidden, too")
    result, said = stage.join("--verify", "none", "--kube-proxy", "none")
    expect_equal({p["outcome"] for p in result["phases"]}, {"done"}, repr(result["phases"]))
    expect_in("(%s grants the right)" % WORD, " ".join(result["warnings"]))
    stage.expect_ready()
    stage.reset()


@scenario("manifest-applied", "config cluster --kubeconfig | kubectl apply: kubeadm's own line is enough, "
          "9 of 9 flows", MANIFEST, **BARE)
def applied(stage):
    plain = told(stage, "ClusterRights")
    text = manifest(stage, "--network-mode", "overlay", *VERIFY)
    try:
        for word in ("created", "unchanged"):
            lines = stage.cluster.kubectl("apply", "-f", "-", stdin=text).splitlines()
            expect_equal({line.rpartition(" ")[2] for line in lines}, {word}, "kubectl apply")
            expect_equal(len(lines), text.count("\nkind: "), "objects: %s" % lines)
        network = told(stage)
        expect_equal((network["mode"], network["plugin"]), ("overlay", "flannel"), "defaults are not taken")
        expect(plain["plugin"] != "flannel", "the same without the defaults", plain)
        result, said = stage.join(words=short_words(stage))
        expect_equal(asked(stage, "winjoin"), [403, 200, 200], "the defaults: before, dry run, join")
        expect(WORD not in said, "something is missing still", said)
        stage.expect_proved(result)
        stage.reset()
    finally:
        stage.cluster.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=text)


@scenario("manifest-kubeconfig", "config cluster --kubeconfig asks the real API server, and says why it "
          "cannot", ("ci", "manifest"))
def kubeconfig(stage):
    text = manifest(stage)
    expect_in("plugin: flannel", text, "flannel is not found")
    expect_in("- kube-flannel-cfg\n", text, "flannel's ConfigMap stays closed")
    expect_equal({r["verb"] for r in stage.requests("winjoin")}, {"get", "list"}, "more than reading")
    stage.cluster.kubectl("apply", "--dry-run=server", "-f", "-", stdin=text)
    flannel = stage.cluster.call("GET", FLANNEL + "/kube-flannel-cfg")
    stage.cluster.call("DELETE", FLANNEL + "/kube-flannel-cfg")
    try:
        text = manifest(stage, "--network-mode", "overlay")
    finally:
        objects.create(stage.cluster, FLANNEL, "ConfigMap", "kube-flannel-cfg", data=flannel["data"])
    expect("plugin: flannel" not in text, "flannel without flannel", text)


@scenario("manifest-refused", "config cluster --kubeconfig with a stranger's token, and with a dead server",
          MANIFEST)
def refused(stage):
    path = os.path.join(stage.scratch, "stranger.conf")
    for server, token, word in (
            (stage.cluster.endpoint, "no-such", "401 Unauthorized"),
            (stages.DEAD + ":6443", "no-such", stages.DEAD)):
        with open(path, "w", encoding="utf-8") as f:
            f.write(NOBODY % (server, stage.cluster.facts["ca"], token))
        done = stage.winjoin("config", "cluster", "--kubeconfig", path, code=1, timeout=90)
        expect_in(word, done.err)
        expect_equal(done.out, "", "half a manifest is printed")
