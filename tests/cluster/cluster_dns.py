"""The cluster's DNS by upstream's CoreDNS: in the Linux node's DNS pod, with kubeadm's own Corefile."""
import http.client
import os
import re
import time

import fabric as fabrics
import netns
import programs

POD = "l1-dns"
TOKEN = "/api/v1/namespaces/kube-system/serviceaccounts/coredns/token"
COREFILE = "/api/v1/namespaces/kube-system/configmaps/coredns"
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters:
- name: c
  cluster: {{server: "https://{address}:{port}", certificate-authority: "{ca}"}}
users:
- name: u
  user: {{token: "{token}"}}
contexts:
- name: c
  context: {{cluster: c, user: u}}
current-context: c
"""


def start(cluster, port):
    """Takes the place of the fabric's own DNS server; the fabric ends it."""
    program = programs.ensure(["coredns"])["coredns"]
    made = cluster.call("POST", TOKEN, {"apiVersion": "authentication.k8s.io/v1",
                                        "kind": "TokenRequest", "spec": {"expirationSeconds": 86400}})
    config = _write(cluster, "coredns.conf", KUBECONFIG.format(
        address=fabrics.CP, port=port, ca=cluster.facts["ca"], token=made["status"]["token"]))
    text = cluster.call("GET", COREFILE)["data"]["Corefile"]
    # A pod finds the server by its environment and a mounted token; this one has neither.
    text, found = re.subn(r"(?m)^(\s*)(kubernetes .*\{)$", r"\1\2\n\1   kubeconfig %s c" % config, text)
    if found != 1:
        raise RuntimeError("kubeadm's Corefile has no kubernetes block:\n" + text)
    ns = cluster.fabric.ns(POD)
    netns.resolv(ns, [fabrics.EXTERNAL_DNS])
    cluster.fabric.no_dns()
    cluster.fabric.children["dns"] = netns.daemon(
        ns, [program, "-conf", _write(cluster, "Corefile", text)], cluster.log("coredns"))
    if not (netns.within(ns, _becomes_ready) and fabrics.listens(ns, fabrics.DNS_POD, 53)):
        raise RuntimeError("CoreDNS does not start: see " + cluster.log("coredns"))


def _becomes_ready(seconds=20):
    """Its plugin ready says no until the others, kubernetes above all, know enough to answer; it says yes a
    moment before the server takes questions."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ask = http.client.HTTPConnection(fabrics.DNS_POD, 8181, timeout=1)
        try:
            ask.request("GET", "/ready")
            if ask.getresponse().status == 200:
                return True
        except OSError:
            pass  # not yet listening
        finally:
            ask.close()
        time.sleep(0.02)
    return False


def _write(cluster, name, text):
    path = cluster.path(name)
    with open(path, "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, 0o600)) as f:
        f.write(text)
    return path
