"""What kube-controller-manager does for a join: sign cluster-info, approve and sign CSRs,
hand out pod subnets, clean tokens, mark silent nodes."""

import base64
import datetime
import ipaddress
import threading
import time

from . import access, pki, resources, status, tokens
from .store import timestamp

CONFIGMAP, SECRET = resources.named("configmaps"), resources.named("secrets")
CSR, NODE = resources.named("certificatesigningrequests"), resources.named("nodes")
LEASE, POD = resources.named("leases"), resources.named("pods")
SERVICE, SLICE = resources.named("services"), resources.named("endpointslices")
API_SIGNER = "kubernetes.io/kube-apiserver-client"  # whose requests nobody approves by itself
CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER = "kubernetes.io/kubelet-serving"
GRACE_SECONDS = 40  # a node silent for this long is marked Unknown

# How CSRs are treated: --csr NAME, changed at run time through the control socket.
CSR_MODES = {"auto": "approve and sign as kubeadm's cluster does",
             "manual": "wait for an administrator", "deny": "deny each",
             "unsigned": "approve, never sign (a controller manager without ca.key)",
             "fail": "approve, then fail in signing"}


class Controllers(threading.Thread):
    """One thread that looks at the store after each change and once a second."""

    def __init__(self, store, authority, setup):
        super().__init__(name="controllers", daemon=True)
        self.store, self.authority, self.setup = store, authority, setup
        self.stopped = threading.Event()

    def run(self):
        version = 0
        while not self.stopped.is_set():
            self.sync()
            try:
                version = self.store.events_after(version, None, 1.0)[1]
            except status.ApiError:
                version = self.store.version

    def sync(self):
        """One round of every controller."""
        self._clean_tokens()
        self._sign_cluster_info()
        for item in self.store.list(CSR, wanted=lambda csr: not condition(csr, "Approved", "Denied"))[0]:
            self._approve(item)
        for item in self.store.list(CSR, wanted=lambda csr: not csr.get("status", {}).get("certificate"))[0]:
            self._sign(item)
        if self.setup.pod_cidrs:
            self._allocate_pod_cidrs()
        self._mark_silent_nodes()
        self._sweep_after_nodes()
        for service in self.store.list(SERVICE)[0]:
            if service["spec"].get("selector"):
                self._follow_pods(service)

    def _clean_tokens(self):
        for secret in self.store.list(SECRET, "kube-system")[0]:
            if secret.get("type") == tokens.SECRET_TYPE and tokens.expired(secret) \
                    and not self.setup.keep_expired:
                self._quietly(self.store.delete, SECRET, "kube-system", secret["metadata"]["name"])

    @staticmethod
    def _quietly(act, *args):
        """Somebody else may have been faster: not found and conflict are nobody's fault."""
        try:
            return act(*args)
        except status.ApiError:
            return None

    def _sign_cluster_info(self):
        secrets = self.store.list(SECRET, "kube-system")[0]
        signers = tokens.signing_pairs(secrets)

        def change(item):
            data = {k: v for k, v in item.get("data", {}).items()
                    if not k.startswith("jws-kubeconfig-")}
            for token_id, secret in signers if "kubeconfig" in data else ():
                data["jws-kubeconfig-" + token_id] = tokens.detached_jws(
                    token_id, secret, data["kubeconfig"])
            item["data"] = data
            return item
        self._quietly(self.store.modify, CONFIGMAP, "kube-public", "cluster-info", change)

    def _old_enough(self, item):
        made = datetime.datetime.strptime(item["metadata"]["creationTimestamp"],
                                          "%Y-%m-%dT%H:%M:%SZ")
        age = (datetime.datetime.utcnow() - made).total_seconds()
        return self.setup.csr_delay == 0 or age >= self.setup.csr_delay

    def _approve(self, item):
        spec = item["spec"]
        if condition(item, "Approved", "Denied") or spec["signerName"] != CLIENT_SIGNER \
                or not self._old_enough(item):
            return
        name = item["metadata"]["name"]
        if self.setup.csr_mode == "deny":
            self._quietly(decide, self.store, name, "Denied", "DeniedByTest",
                          "This node is not welcome.")
            return
        if self.setup.csr_mode == "manual":
            return
        common_name = pki.subject_of(pki.parse_request(base64.b64decode(spec["request"])))[0]
        kind = "selfnodeclient" if spec["username"] == common_name else "nodeclient"
        if access.may(self.store, spec["username"], spec.get("groups", []), "create",
                      CSR.plural, kind):
            self._quietly(decide, self.store, name, "Approved", "AutoApproved",
                          "Auto approving kubelet client certificate after SubjectAccessReview.")

    def _sign(self, item):
        if not condition(item, "Approved") or condition(item, "Failed", "Denied") \
                or item.get("status", {}).get("certificate") \
                or self.setup.csr_mode == "unsigned":
            return
        spec, name = item["spec"], item["metadata"]["name"]
        request = pki.parse_request(base64.b64decode(spec["request"]))
        why = "the signer was told to fail" if self.setup.csr_mode == "fail" \
            else refusal(spec, request)
        if why:
            self._quietly(decide, self.store, name, "Failed", "SignerValidationFailure", why)
            return
        pem = self.authority.sign_request(request, spec["usages"], spec.get("expirationSeconds"))

        def change(csr):
            csr.setdefault("status", {})["certificate"] = base64.b64encode(pem).decode()
            return csr
        self._quietly(self.store.modify, CSR, "", name, change)

    def _allocate_pod_cidrs(self):
        nodes = self.store.list(NODE)[0]
        used = {n.get("spec", {}).get("podCIDR") for n in nodes}
        prefixes = [ipaddress.ip_network(p) for p in self.setup.pods.split(",")]
        each = zip(*(map(str, p.subnets(new_prefix=24 if p.version == 4 else 64)) for p in prefixes))
        free = (subnets for subnets in each if subnets[0] not in used)
        for node in nodes:
            if not node.get("spec", {}).get("podCIDR"):
                subnets = next(free)

                def change(item, subnets=subnets):
                    item.setdefault("spec", {}).update(podCIDR=subnets[0], podCIDRs=list(subnets))
                    return item
                self._quietly(self.store.modify, NODE, "", node["metadata"]["name"], change)

    def _mark_silent_nodes(self):
        for lease in self.store.list(LEASE, "kube-node-lease")[0]:
            renewed = (lease.get("spec") or {}).get("renewTime", "")[:19]
            try:
                last = datetime.datetime.strptime(renewed, "%Y-%m-%dT%H:%M:%S")
            except ValueError:
                continue
            if (datetime.datetime.utcnow() - last).total_seconds() > GRACE_SECONDS:
                self._quietly(self.store.modify, NODE, "", lease["metadata"]["name"], unknown)

    def _sweep_after_nodes(self):
        """Pods and leases of a Node that was deleted go with it."""
        nodes = {n["metadata"]["name"] for n in self.store.list(NODE)[0]}
        for pod in self.store.list(POD)[0]:
            if pod.get("spec", {}).get("nodeName", "") not in nodes | {""}:
                self._quietly(self.store.delete, POD, pod["metadata"]["namespace"],
                              pod["metadata"]["name"])
        for lease in self.store.list(LEASE, "kube-node-lease")[0]:
            owners = lease["metadata"].get("ownerReferences") or ()
            if any(o["kind"] == "Node" and o["name"] not in nodes for o in owners):
                self._quietly(self.store.delete, LEASE, "kube-node-lease",
                              lease["metadata"]["name"])

    def _follow_pods(self, service):
        """Keeps the EndpointSlice of a Service with a selector."""
        meta = service["metadata"]
        namespace, name = meta["namespace"], meta["name"]
        pods = [p for p in self.store.list(POD, namespace)[0]
                if p.get("status", {}).get("podIP") and service["spec"]["selector"].items()
                <= (p["metadata"].get("labels") or {}).items()]
        wanted = {"addressType": "IPv4",
                  "endpoints": [endpoint_of(p) for p in pods],
                  "ports": [{"name": p.get("name", ""), "protocol": p["protocol"],
                             "port": p["targetPort"]} for p in service["spec"].get("ports", ())
                            if isinstance(p["targetPort"], int)]}
        if self.store.find(SLICE, namespace, name + "-pods") is None:
            self._quietly(self.store.create, SLICE, namespace, {"metadata": {
                "name": name + "-pods", "labels": {"kubernetes.io/service-name": name}}, **wanted})
        self._quietly(self.store.modify, SLICE, namespace, name + "-pods",
                      lambda item: {**item, **wanted})

    def stop(self):
        self.stopped.set()


def endpoint_of(pod):
    ready = any(c["type"] == "Ready" and c["status"] == "True"
                for c in pod["status"].get("conditions", ()))
    return {"addresses": [pod["status"]["podIP"]], "nodeName": pod["spec"].get("nodeName", ""),
            "conditions": {"ready": ready, "serving": ready, "terminating": False},
            "targetRef": {"kind": "Pod", "name": pod["metadata"]["name"],
                          "namespace": pod["metadata"]["namespace"]}}


def unknown(node):
    """A Node whose kubelet stopped posting."""
    for entry in node.get("status", {}).get("conditions", []):
        if entry["status"] != "Unknown":
            entry.update(status="Unknown", reason="NodeStatusUnknown",
                         message="Kubelet stopped posting node status.",
                         lastTransitionTime=timestamp())
    return node


def condition(csr, *kinds):
    return any(c["type"] in kinds for c in csr.get("status", {}).get("conditions", []))


def decide(store, name, kind, reason, message):
    """Adds a condition Approved, Denied or Failed to a CSR."""
    def change(csr):
        if condition(csr, kind):
            return csr
        when = timestamp()
        csr.setdefault("status", {}).setdefault("conditions", []).append(
            {"type": kind, "status": "True", "reason": reason, "message": message,
             "lastUpdateTime": when, "lastTransitionTime": when})
        return csr
    return store.modify(CSR, "", name, change)


def refusal(spec, request):
    """Why the kubelet client signer refuses a request ('' = it does not)."""
    common_name, organizations, others = pki.subject_of(request)
    usages = set(spec["usages"])
    if spec["signerName"] == API_SIGNER:
        return "" if "client auth" in usages else "client auth is not among the usages"
    if organizations != ["system:nodes"] or others:
        return "subject organization is not system:nodes"
    if not common_name.startswith(access.NODE_PREFIX):
        return "subject common name does not begin with system:node: "
    if spec["signerName"] == CLIENT_SIGNER:
        if pki.alt_names_of(request):
            return "DNS SANs, IP SANs, email SANs and URI SANs are not allowed"
        wanted = {"digital signature", "client auth"}
    else:
        wanted = {"digital signature", "server auth"}
    if usages not in (wanted, wanted | {"key encipherment"}):
        return "usages did not match %s" % sorted(wanted)
    return ""


def wait_for(predicate, seconds):
    """Polls until predicate() or the time is over; what predicate gave last."""
    end = time.monotonic() + seconds
    while True:
        found = predicate()
        if found or time.monotonic() > end:
            return found
        time.sleep(0.02)
