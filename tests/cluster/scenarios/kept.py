"""HNS is restarted on a joined node: winjoin-network restores what upstream's own programs stand on."""
import time

import patience
from node_stage import NodeStage
from scenario import expect, expect_equal, expect_in, scenario

LOG = r"C:\var\log\winjoin-network\winjoin-network.log"
SECONDS = 90


def stands(stage, name):
    state = stage.node.host.control({"op": "dump"})
    return name in [n["Name"] for n in state["networks"]] and state["loadBalancers"]


def until(holds, what):
    end = time.monotonic() + SECONDS * patience.factor()
    while not holds():
        expect(time.monotonic() < end, what)
        time.sleep(0.2)


def kept(stage, name, said):
    """A join, a restart of HNS, and all flows are green again without anybody's help."""
    stage.join("--verify", "none")
    stage.node.host.restart_hns()
    until(lambda: stands(stage, name), "nothing came back")
    code, report = stage.node.document("diag", timeout=240)
    expect_equal((code, report["causes"]), (0, []), "the flows after a restart of HNS")
    with open(stage.node.host.path(LOG), encoding="utf-8") as f:
        expect_in(said, f.read())
    proved_again(stage)
    stage.reset()


def proved_again(stage):
    """What kubectl sees of one more restart: in doubt, and True again once HNS has what Kubernetes has."""
    stage.expect_condition("True")
    stage.node.host.restart_hns()
    until(lambda: stage.proved()["status"] == "Unknown", "the restart of HNS is not seen in the cluster")
    expect_equal(stage.proved()["reason"], "NetworkRestored", "why it is in doubt")
    stage.expect_condition("True")
    seen = stage.cluster.kubectl("get", "events", "--field-selector", "involvedObject.kind=Node,source=winjoin",
                                 "--sort-by", ".metadata.creationTimestamp", "-o", "jsonpath={.items[*].reason}")
    proofs = [reason for reason in seen.split() if reason.startswith("PodNetwork")]
    expect_equal(proofs[-3:], ["PodNetworkProved", "PodNetworkNotProved", "PodNetworkProved"], "events")
    expect("HNSRestarted" in seen and "NetworkRestored" in seen, "no event of the restart", seen)


@scenario("hns-restart-overlay", "HNS restarts: flanneld.exe and kube-proxy.exe are restarted, 9 of 9 flows",
          ("nodes",), on=NodeStage, mode="overlay")
def hns_restart_overlay(stage):
    kept(stage, "flannel.4096", "made the HNS network flannel.4096 again, restarted flanneld, restarted kube-proxy")


@scenario("hns-restart-l2bridge", "HNS restarts: kube-proxy.exe programs its load balancers again, 9 of 9 flows",
          ("nodes",), on=NodeStage, mode="l2bridge")
def hns_restart_l2bridge(stage):
    kept(stage, "cbr0", "restarted kube-proxy")
