"""Whole joins by winjoin.exe: real kubelet, kube-proxy, flanneld and CNI plugins, real packets."""
from node_stage import NodeStage
from scenario import expect, expect_equal, scenario

CI, NODES = ("ci", "nodes"), ("nodes",)
OVERLAY = {"on": NodeStage, "mode": "overlay"}
L2BRIDGE = {"on": NodeStage, "mode": "l2bridge"}


def whole(stage):
    """A join that is proved, seen by kubectl, counted in the audit log, and taken back."""
    result, _ = stage.join()
    stage.expect_proved(result)
    info = stage.expect_ready()["status"]["nodeInfo"]
    expect_equal(info["kubeletVersion"], stage.cluster.version, "kubelet of another version")
    expect_equal(info["operatingSystem"], "windows", "no Windows node")
    made = [r for r in stage.requests("winjoin") if r["verb"] == "create"]
    expect_equal([r["objectRef"]["resource"] for r in made], ["certificatesigningrequests"],
                 "winjoin makes other objects")
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
