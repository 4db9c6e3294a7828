"""The kubelet renews the certificate that winjoin got for it, and `certs renew` renews the node's certificates."""
import base64
import hashlib
import os
import shutil
import ssl

import admin
import netns
from node_stage import NodeStage
from scenario import expect, expect_equal, expect_in, scenario

SHORT = ("--cluster-signing-duration=150s",)
STORE = r"C:\var\lib\kubelet\pki"
CURRENT = STORE + r"\kubelet-client-current.pem"
SERVING = STORE + r"\kubelet-server-current.pem"
SERVING_SIGNER = "kubernetes.io/kubelet-serving"
USED = "authentication.kubernetes.io/credential-id"  # the audit log's, of a client certificate


def current(stage, node=None, link=CURRENT):
    """(file that the link leads to, first certificate in it as PEM) of the kubelet's store."""
    path = (node or stage.node).host.path(link)
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


def undecided(stage):
    """Requests for serving certificates that wait for a person."""
    return [r["metadata"]["name"] for r in admin.requests(stage.cluster)
            if r["spec"]["signerName"] == SERVING_SIGNER and not r.get("status", {}).get("conditions")]


def served(stage):
    """The certificate that the kubelet shows."""
    host = stage.node.host
    return netns.within(host.ns, ssl.get_server_certificate, (host.address, 10250), timeout=5).strip()


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


@scenario("certs-renew", "certs renew asks for a serving certificate, too, where the cluster signs it: the kubelet "
          "serves the new one once somebody approved it", ("rotation",), on=NodeStage)
def renew(stage):
    patches = stage.node.host.path(r"C:\patches")
    os.mkdir(patches)
    with open(os.path.join(patches, "kubeletconfiguration+merge.yaml"), "w", encoding="ascii") as f:
        f.write("serverTLSBootstrap: true\n")
    stage.join("--verify", "none", "--patches", r"C:\patches")
    first = stage.cluster.wait_for(lambda: undecided(stage), 60, what_for="the kubelet's request")[0]
    stage.cluster.kubectl("certificate", "approve", first)
    path = stage.node.host.path(SERVING)
    stage.cluster.wait_for(lambda: os.path.islink(path), 60, what_for="the kubelet's serving certificate")
    client, (file, pem) = current(stage)[1], current(stage, link=SERVING)
    stage.cluster.wait_for(lambda: served(stage) == pem, 30, what_for="kubelet that serves it")

    late = stage.node.winjoin("certs", "renew", "--timeout", "5s")
    expect_equal(late.returncode, 1, late.stdout + late.stderr)
    (name,) = undecided(stage)
    expect_in("hint: kubectl certificate approve " + name, late.stderr)
    expect(current(stage)[1] != client, "the client certificate is the old one")
    expect_equal(current(stage, link=SERVING), (file, pem), "changed before anybody approved")

    stage.cluster.kubectl("certificate", "approve", name)
    done = stage.node.winjoin("certs", "renew")
    expect_equal(done.returncode, 0, done.stdout + done.stderr)
    expect_equal(undecided(stage), [], "asked again")
    new_file, new = current(stage, link=SERVING)
    expect(new != pem and os.path.exists(os.path.join(os.path.dirname(path), file)), "over the old one", new_file)
    stage.cluster.wait_for(lambda: served(stage) == new, 60, what_for="kubelet that serves the new one")
    stage.expect_ready()
    stage.reset(compare=False)
    shutil.rmtree(patches)
    stage.expect_bare()
