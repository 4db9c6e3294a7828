"""The kubelet renews the certificate that winjoin got for it."""
import admin
from node_stage import NodeStage
from scenario import expect, expect_equal, scenario

SHORT = ("--cluster-signing-duration=150s",)


@scenario("certificate-rotation", "the kubelet takes over winjoin's certificate and renews it in time",
          ("rotation",), on=NodeStage, kcm_flags=SHORT)
def rotation(stage):
    """Up to the renewed certificate in the kubelet's hands: it would not store it here, because a
    symbolic link to a file is a copy under Wine, and kubelet-client-current.pem must be one."""
    stage.join("--verify", "none")
    user = "system:node:" + stage.node.node_name

    def renewed():
        return [r for r in admin.requests(stage.cluster) if r["spec"]["username"] == user
                and r.get("status", {}).get("certificate")]
    request = stage.cluster.wait_for(renewed, 180, every=2, what_for="renewed certificate")[0]
    expect_equal(request["spec"]["signerName"], "kubernetes.io/kube-apiserver-client-kubelet", "signer")
    expect("AutoApproved" in [c["reason"] for c in request["status"]["conditions"]],
           "approved by somebody", request["status"])
    stage.expect_ready()
    stage.reset()
