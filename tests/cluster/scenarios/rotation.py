"""The kubelet renews the certificate that winjoin got for it."""
import base64
import hashlib
import os
import ssl

import admin
from node_stage import NodeStage
from scenario import expect, expect_equal, scenario

SHORT = ("--cluster-signing-duration=150s",)
STORE = r"C:\var\lib\kubelet\pki"
CURRENT = STORE + r"\kubelet-client-current.pem"
USED = "authentication.kubernetes.io/credential-id"  # the audit log's, of a client certificate


def current(stage, node=None):
    """(file that the link leads to, first certificate in it as PEM) of the kubelet's store."""
    path = (node or stage.node).host.path(CURRENT)
    expect(os.path.islink(path), "no symbolic link: " + path)
    with open(path, encoding="ascii") as f:
        pem = f.read()
    end = "-----END CERTIFICATE-----"
    return os.path.basename(os.readlink(path)), pem[:pem.index(end) + len(end)]


def credential(pem):
    """A certificate as the API server's audit log names it."""
    return "X509SHA256=" + hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


def used_by_kubelet(stage, pem):
    """The kubelet's requests in this scenario that were made with that certificate."""
    return [r for r in stage.requests("kubelet")
            if credential(pem) in r["user"].get("extra", {}).get(USED, [])]


@scenario("certificate-rotation", "the kubelet takes over winjoin's certificate, renews it in time, stores "
          "and uses the new one", ("rotation",), on=NodeStage, kcm_flags=SHORT)
def rotation(stage):
    stage.join("--verify", "none")
    user = "system:node:" + stage.node.node_name
    old_file, old = current(stage)

    def renewed():
        return [r for r in admin.requests(stage.cluster) if r["spec"]["username"] == user
                and r.get("status", {}).get("certificate")]
    request = stage.cluster.wait_for(renewed, 180, every=2, what_for="renewed certificate")[0]
    expect_equal(request["spec"]["signerName"], "kubernetes.io/kube-apiserver-client-kubelet", "signer")
    expect("AutoApproved" in [c["reason"] for c in request["status"]["conditions"]],
           "approved by somebody", request["status"])
    issued = base64.b64decode(request["status"]["certificate"]).decode().strip()
    stage.cluster.wait_for(lambda: current(stage)[1] == issued, 30, what_for="stored certificate")
    expect(current(stage)[0] != old_file, "stored over winjoin's own file", old_file)
    expect(used_by_kubelet(stage, old), "winjoin's certificate was never used")
    stage.cluster.wait_for(lambda: used_by_kubelet(stage, issued), 60,
                           what_for="request with the new certificate")
    code, status = stage.node.document("status")
    expect_equal((code, status["joined"]), (0, True), repr(status))
    stage.expect_ready()
    stage.join("--verify", "none")
    expect_equal(current(stage)[1], issued, "a second join writes another certificate")
    stage.reset()
