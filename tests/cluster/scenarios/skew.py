"""Kubelets of other minors than the control plane: up to three older ones join, a newer one may not."""
import programs
from node_stage import NodeStage
from scenario import Skip, expect, expect_equal, expect_in, scenario

SKEW = ("skew",)
SECTIONS = ("kubelet-1.36", "kubelet-1.35", "kubelet-1.34")


def older(stage):
    """A whole join: every flag and every field that is written must be one that this kubelet knows."""
    wanted = programs.versions()[stage.kubelet]["version"]
    minors = programs.numbers(stage.cluster.version)[1] - programs.numbers(wanted)[1]
    if not 0 < minors <= len(SECTIONS):  # somebody has exchanged a version
        raise Skip("kubelet %s is not up to three minors older than %s" % (wanted, stage.cluster.version))
    result, _ = stage.join()
    stage.expect_proved(result)
    info = stage.expect_ready()["status"]["nodeInfo"]
    expect_equal(info["kubeletVersion"], wanted, "kubelet of another version")
    stage.reset()


for minors, section in enumerate(SECTIONS, 1):
    scenario("skew-%d-older" % minors, "the kubelet is %d minor%s older than the server"
             % (minors, "s"[:minors - 1]), SKEW, on=NodeStage, kubelet=section)(older)


@scenario("skew-newer", "a kubelet newer than the server is refused before the network is touched", SKEW,
          on=NodeStage, kubelet="kubelet-newer")
def newer(stage):
    _, said = stage.join(code=2)
    expect_in("kubelet v1.38.0, control plane " + stage.cluster.version, said)
    expect("vSwitch" not in said, "the network is touched", said)
    stage.reset()
    expect(not stage.made("winjoin"), "something is made")
