"""Discovery by a kubeconfig file that upstream's kubeadm wrote."""
import base64
import contextlib
import os
import re

import objects
import stages
from scenario import expect, expect_equal, expect_in, scenario

FILE = ("file",)


def user(stage, name="joiner", group="system:bootstrappers:kubeadm:default-node-token"):
    """A kubeconfig with a client certificate, by `kubeadm kubeconfig user`."""
    words = ["kubeconfig", "user", "--client-name", name, "--org", group, "--config",
             stage.cluster.path("kubeadm.yaml")]
    return write(stage, "user.conf", stage.cluster.kubeadm(*words, log="users", secret=True))


def write(stage, name, text):
    path = os.path.join(stage.scratch, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def by_file(stage, path, *more, code=0):
    return stage.winjoin("discover", "--discovery-file", path, "--timeout", "3s", *more, code=code)


@scenario("file-client-certificate", "a file with a client certificate is enough", ("ci",) + FILE)
def client_certificate(stage):
    by_file(stage, user(stage))
    seen = {(r["user"]["username"], r["requestURI"].partition("?")[0]) for r in
            stage.requests("winjoin")}
    expect_equal(seen, {("joiner", objects.CLUSTER_INFO)}, "asked as somebody else")


@scenario("file-and-token", "cluster-info's own kubeconfig and a token for the bootstrap", FILE)
def file_and_token(stage):
    text = stage.cluster.call("GET", objects.CLUSTER_INFO)["data"]["kubeconfig"]
    by_file(stage, write(stage, "public.conf", text), "--tls-bootstrap-token", stages.TOKEN)


@scenario("file-other-ca", "a file that trusts another CA: untrusted", FILE)
def other_ca(stage):
    with open(stage.cluster.path("pki", "front-proxy-ca.crt"), "rb") as f:
        other = base64.b64encode(f.read()).decode()
    with open(user(stage), encoding="utf-8") as f:
        text = re.sub(r"(certificate-authority-data: )\S+", r"\g<1>" + other, f.read())
    done = by_file(stage, write(stage, "other.conf", text), code=4)
    expect_in("not signed by the cluster's CA", done.err)


@contextlib.contextmanager
def without_anonymous(stage):
    """cluster-info is published to nobody but the bootstrap tokens' group."""
    at = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public/rolebindings"
    name = "kubeadm:bootstrap-signer-clusterinfo"
    before = stage.cluster.call("GET", "%s/%s" % (at, name))
    stage.cluster.call("DELETE", "%s/%s" % (at, name))
    try:
        yield
    finally:
        objects.create(stage.cluster, at, "RoleBinding", name, before["apiVersion"],
                       roleRef=before["roleRef"], subjects=before["subjects"])


@scenario("file-may-not-read", "a user who may not read cluster-info: warned, the file is taken", FILE)
def may_not_read(stage):
    with without_anonymous(stage):
        done = by_file(stage, user(stage, "nobody", "no-group"))
    expect("cluster-info" in done.err, "no warning", done.said)
