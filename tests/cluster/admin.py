"""What an administrator does to the cluster while nodes join, through kubeadm, kubectl and the API."""
import base64
import contextlib
import re
import signal
import threading

import objects

BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
APPROVAL = "kubeadm:node-autoapprove-bootstrap"  # the binding by which requests are approved
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


def token(cluster, ttl="24h"):
    """A new token by `kubeadm token create`, once cluster-info is signed for it."""
    made = cluster.kubeadm("token", "create", "--ttl", ttl, "--kubeconfig", cluster.kubeconfig,
                           log="tokens", secret=True).strip()
    cluster.wait_for(lambda: made[:6] in cluster.signatures(), 30, every=0.05,
                     what_for="signature for a new token")
    return made


def wait_unsigned(cluster, made):
    """Until the token is gone from cluster-info: it expired, or was deleted."""
    cluster.wait_for(lambda: made[:6] not in cluster.signatures(), 60, every=0.1,
                     what_for="end of a token")


def delete_token(cluster, made):
    cluster.kubeadm("token", "delete", made[:6], "--kubeconfig", cluster.kubeconfig, log="tokens")
    wait_unsigned(cluster, made)


def requests(cluster):
    """The certificate signing requests, oldest first."""
    items = cluster.call("GET", CSRS)["items"]
    return sorted(items, key=lambda item: item["metadata"]["creationTimestamp"])


def request_of(cluster, node, seconds=30):
    """The name of the newest request for a node's client certificate that nobody has decided."""
    def look():
        for item in reversed(requests(cluster)):
            if not item.get("status", {}).get("conditions") and asks_for(item, node):
                return item["metadata"]["name"]
        return None
    return cluster.wait_for(look, seconds, what_for="certificate signing request of " + node)


def asks_for(item, node):
    """The subject is in the request as UTF-8: enough to tell nodes apart."""
    pem = base64.b64decode(item["spec"]["request"]).decode()
    der = base64.b64decode(re.sub(r"-----[^-]+-----|\s", "", pem))
    return b"system:node:" + node.encode() in der


def clear_requests(cluster):
    cluster.call("DELETE", CSRS)


@contextlib.contextmanager
def approval_by_hand(cluster):
    """As an administrator does it who wants to see each request: without kubeadm's binding."""
    before = cluster.call("GET", BINDINGS + "/" + APPROVAL)
    cluster.call("DELETE", BINDINGS + "/" + APPROVAL)
    try:
        yield
    finally:
        before["metadata"] = {"name": APPROVAL}
        objects.create(cluster, BINDINGS, "ClusterRoleBinding", APPROVAL, before["apiVersion"],
                       roleRef=before["roleRef"], subjects=before["subjects"])


@contextlib.contextmanager
def no_signer(cluster):
    """A controller manager that has no key of the CA."""
    cluster.signer = False
    cluster.start_controllers()
    try:
        yield
    finally:
        cluster.signer = True
        cluster.start_controllers()


@contextlib.contextmanager
def hanging(cluster, name):
    """A program that does not answer for a while, its port still open."""
    cluster.send_signal(name, signal.SIGSTOP)
    try:
        yield
    finally:
        cluster.send_signal(name, signal.SIGCONT)


@contextlib.contextmanager
def slow_etcd(cluster, stopped=0.35, running=0.05):
    """etcd works only a part of the time, as on a bad disk."""
    over = threading.Event()

    def drag():
        while not over.is_set():
            cluster.send_signal("etcd", signal.SIGSTOP)
            over.wait(stopped)
            cluster.send_signal("etcd", signal.SIGCONT)
            over.wait(running)

    thread = threading.Thread(target=drag, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
