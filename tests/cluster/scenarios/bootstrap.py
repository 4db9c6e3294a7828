"""--tls-bootstrap kubelet: the real kubelet.exe gets its certificate itself from the file that winjoin writes,
and that file, which holds the token, is gone on every way out."""
import os

import admin
import stages
from node_stage import NodeStage, scene
from scenario import expect, expect_equal, expect_in, scenario

BOOTSTRAP = {"groups": ("bootstrap",), "on": NodeStage, "mode": "overlay"}
CHOSEN = ("--tls-bootstrap", "kubelet", "--verify", "none")
FOLDER = "C:\\etc\\kubernetes\\"
CONF, KUBELET_CONF = FOLDER + "bootstrap-kubelet.conf", FOLDER + "kubelet.conf"


def there(stage, windows):
    return os.path.exists(stage.node.host.path(windows))


def expect_no_token(stage):
    """The file is gone, and its secret is nowhere else on the host."""
    expect(not there(stage, CONF), "the file with the token is still there")
    held = scene.holders(stage.node.host.drive, stages.SECRET)
    expect(not held, "the token is kept", *held)


def waiting(stage, *more):
    """A join that waits for the kubelet's request, and the name of that request."""
    admin.clear_requests(stage.cluster)  # of a scenario before, which nobody decided
    join = stage.follow(*CHOSEN, *more)
    name = admin.request_of(stage.cluster, stage.node.node_name, 120)
    with open(stage.node.host.path(CONF), encoding="utf-8") as f:
        expect_in(stages.SECRET, f.read(), "nothing to begin with")
    return join, name


def stopped(stage):
    """The kubelet does not go on asking for ever."""
    said = stage.node.host.run(["sc", "query", "kubelet"]).stdout
    expect("STOPPED" in said or "STOP_PENDING" in said, "the kubelet still runs", said)


def made(stage):
    """User agents of those who sent certificate signing requests in this scenario."""
    return {r["userAgent"].partition("/")[0] for r in stage.requests() if r["verb"] == "create"
            and r["objectRef"]["resource"] == "certificatesigningrequests"
            and r["user"]["username"].startswith("system:bootstrap:")}


def expect_joined(stage):
    stage.expect_ready()
    expect_no_token(stage)
    with open(stage.node.host.path(KUBELET_CONF), encoding="utf-8") as f:
        conf = f.read()
    expect_in("client-certificate: C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem", conf)
    expect_in("name: default-auth", conf, "not the kubelet's own file")
    current = stage.node.host.path("C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem")
    expect(os.path.islink(current), "no link: " + current)


@scenario("bootstrap-kubelet", "kubelet.exe asks for its certificate itself; winjoin notices and takes the "
          "token away", **BOOTSTRAP)
def whole(stage):
    result, said = stage.join(*CHOSEN)
    expect_in("has its own certificate", said)
    expect_equal({p["outcome"] for p in result["phases"]}, {"done"}, repr(result["phases"]))
    expect_joined(stage)
    expect_equal(made(stage), {"kubelet.exe"}, "who asked")
    _, said = stage.join(*CHOSEN)
    expect("has its own certificate" not in said, "it begins again", said)
    expect_joined(stage)
    stage.reset()


@scenario("bootstrap-by-hand", "the kubelet's request is approved after a while; winjoin says by what command",
          **BOOTSTRAP)
def by_hand(stage):
    with admin.approval_by_hand(stage.cluster):
        join, name = waiting(stage)
        hint = "kubectl certificate approve " + name
        expect(join.until(lambda line: hint in line.get("hint", ""), 30), "no hint", join.said())
        stage.cluster.kubectl("certificate", "approve", name)
        expect_equal(join.wait(), 0, join.said())
    expect_joined(stage)
    stage.reset()


@scenario("bootstrap-denied", "the kubelet's request is denied: said at once, the token is gone, the kubelet "
          "stopped; the next join works", **BOOTSTRAP)
def denied(stage):
    with admin.approval_by_hand(stage.cluster):
        join, name = waiting(stage)
        stage.cluster.kubectl("certificate", "deny", name)
        expect_equal(join.wait(90), 1, join.said())
    expect_in(name, join.said())
    expect_in("is denied", join.said())
    expect_no_token(stage)
    stopped(stage)
    stage.join(*CHOSEN)
    expect_joined(stage)
    stage.reset()


@scenario("bootstrap-late", "nobody approves the kubelet's request: the wait ends, and nothing is left of the "
          "token", **BOOTSTRAP)
def late(stage):
    with admin.approval_by_hand(stage.cluster):
        join, _ = waiting(stage, "--timeout", "25s")
        expect_equal(join.wait(150), 1, join.said())
        expect_in("wait for the kubelet's TLS bootstrap: waited 25 s", join.said())
        expect_in("kubectl certificate approve csr-", join.said())
        expect_no_token(stage)
        stopped(stage)
    stage.reset()


@scenario("bootstrap-killed", "winjoin is killed while it waits: the next join, or a reset, takes the token away",
          **BOOTSTRAP)
def killed(stage):
    with admin.approval_by_hand(stage.cluster):
        join, _ = waiting(stage)
        join.kill()
        expect(there(stage, CONF), "what a killed program left is not what is looked at")
        stage.reset(compare=False)
        expect_no_token(stage)
        stage.expect_bare()
        join, _ = waiting(stage)
        join.kill()
    stage.join(*CHOSEN)
    expect_joined(stage)
    stage.reset()
