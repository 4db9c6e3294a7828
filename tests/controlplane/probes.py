"""Nodes whose pods start at once, and agnhost's netexec in them, as the API server's pod proxy shows it.

    model = probes.Model(cluster.api, windows=2, linux=2); model.broken = lambda source, target, udp: None

Used for `winjoin diag --kubeconfig` on many nodes: no packet moves here. `broken` answers the words of
an error for a dialed target (a node's name, or a Service's), None where it works; "slow" waits as long as netexec.
"""
import dataclasses
import json
import threading
import time
import urllib.parse

from . import resources, status

NODE, POD, SERVICE = (resources.named(n) for n in ("nodes", "pods", "services"))
NAMESPACE = resources.named("namespaces")
TIMEOUT = 5.0  # netexec's own
SLOW = "slow"
SETTINGS = "8084"  # the port of the container that says the pod's DNS settings; here also the path of a question to it
VERSION = "v1.37.1"


def node(name, os="linux", build="20348", version=VERSION, ready=True):
    kernel = "10.0.%s.2340" % build if os == "windows" else "6.1.0"
    group = name.rstrip("0123456789")
    return {"metadata": {"name": name, "labels": {"kubernetes.io/os": os},
                         "annotations": {"flannel.alpha.coreos.com/backend-type": "vxlan"}},
            "spec": {}, "status": {
                "addresses": [{"type": "InternalIP", "address": "10.0.%d.%d" % (sum(map(ord, group)) % 250, int(name[len(group):] or 0) % 250 + 1)}],
                "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
                "nodeInfo": {"operatingSystem": os, "kernelVersion": kernel, "kubeletVersion": version}}}


@dataclasses.dataclass
class Dial:
    """A question of a probe."""
    source: str       # the node that asks
    place: str        # pod, pod-name, localhost, node, node-port, service, short, full, alias, external, external-name
    node: str         # whose pod is to answer, also behind a Service (any: the source's own); "" = none
    target: str       # the node whose address is dialed, or ""
    service: str      # the Service, or ""
    host: str
    udp: bool
    large: bool


class Instead(str):
    """The pod of this node answers."""


class Turns(tuple):
    """The pods of these nodes answer in turn."""


class Says(str):
    """A program that is no probe answers so."""


class After(float):
    """It works, so many seconds later."""


def six(ip):
    """The IPv6 address of a pod that has this one."""
    return "fd00:10:244::" + ip.split(".", 2)[2].replace(".", ":")


class Model(threading.Thread):
    """Starts pods, empties deleted namespaces, answers the pod proxy."""

    def __init__(self, api, windows=2, linux=2, nodes=None, dual=False):
        super().__init__(name="probes", daemon=True)
        self.store, self.broken = api.store, lambda source, target, udp: None
        self.large = lambda source, target, udp, echo: False  # whether a large packet is lost; echo: its answer is, too
        self.fault, self.dns = None, {}  # cluster_faults.py; what is inside the pods of a node
        self.spread = None  # random.Random: a Service leads to any of its pods; None: to that of the node that asks
        self.not_started, self.over = {}, threading.Event()
        self.evicted, self.unready = {}, set()  # nodes: why; whose kubelet does not reach its pod
        self.gone, self.leaves = set(), {}  # nodes whose pod answers no more; that will be: after so many questions, and what then
        self.dials, self.lock, self.most, self.now = 0, threading.Lock(), 0, 0
        self.pods, self.started, self.dual = {}, 0, dual  # dual: pods have an IPv6 address, too
        names = nodes or ([node("win-%03d" % i, "windows") for i in range(windows)]
                          + [node("lin-%03d" % i) for i in range(linux)])
        for item in names:
            self.store.create(NODE, "", item)
        api.pod_proxy = self.proxy
        self.start()

    def run(self):
        version = self.store.version
        while not self.over.is_set():
            version = self.store.events_after(version, None, 0.2)[1]
            for item in self.store.list(POD)[0]:
                if "containerStatuses" not in item.get("status", {}):
                    self._start_pod(item)
            spaces = {n["metadata"]["name"] for n in self.store.list(NAMESPACE)[0]}
            for what in (POD, SERVICE):
                for item in self.store.list(what)[0]:
                    if item["metadata"]["namespace"] not in spaces:
                        self.store.delete(what, item["metadata"]["namespace"], item["metadata"]["name"])

    def _start_pod(self, item):
        name, on = item["metadata"]["name"], item["spec"].get("nodeName")
        self.started += 1
        number = self.started + 2
        ip = "10.244.%d.%d" % (number // 250, number % 250 + 1)
        why, evicted = self.not_started.get(on), self.evicted.get(on)

        def change(pod):
            if evicted:
                pod["status"] = {"phase": "Failed", "reason": "Evicted", "message": evicted, "containerStatuses": []}
            elif why:
                pod["status"] = {"phase": "Pending", "containerStatuses": [
                    {"name": "probe", "state": {"waiting": {"reason": why, "message": "of the model"}}}]}
            else:
                pod["status"] = {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}] + [{"ip": six(ip)}] * self.dual,
                                 "conditions": [{"type": "Ready", "status": "False" if on in self.unready else "True"}],
                                 "containerStatuses": [{"name": "probe", "ready": True, "state": {"running": {}}}]}
            return pod

        self.pods[name] = (on, ip)
        try:
            self.store.modify(POD, item["metadata"]["namespace"], name, change)
        except status.ApiError:
            pass  # deleted meanwhile

    def evict(self, on):
        """The kubelet ends that node's pod."""
        for item in self.store.list(POD)[0]:
            if item["spec"].get("nodeName") == on:
                self.store.modify(POD, item["metadata"]["namespace"], item["metadata"]["name"], lambda pod: {**pod, "status": {
                    **pod["status"], "phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory.",
                    "conditions": [], "containerStatuses": []}})

    # ---- the proxy ----

    def unreached(self, pod):
        """The API server's answer where it does not reach the address of a pod."""
        why = "error trying to reach service: dial tcp %s:8080: i/o timeout" % self.pods[pod][1]
        return 503, json.dumps(status.ApiError(503, "ServiceUnavailable", why).status).encode(), "application/json"

    def proxy(self, pod, path, query):
        """(code, bytes, content type) of a request to a pod's port 8080, or to SETTINGS."""
        source = self.pods.get(pod)
        if not source:
            return 404, json.dumps(status.ApiError(404, "NotFound", "no pod").status).encode(), "application/json"
        if source[0] in self.gone:
            return self.unreached(pod)
        if path == SETTINGS:
            text = self.dns.get(source[0], "x.svc.cluster.local,svc.cluster.local,cluster.local\n\n10.96.0.10\n")
            return 200, json.dumps({"output": text}).encode(), "text/plain"
        with self.lock:
            self.dials += 1
            self.now += 1
            self.most = max(self.most, self.now)
            left = [self.leaves.pop(n) for n, (count, _) in list(self.leaves.items()) if self.dials >= count and not self.gone.add(n)]
        for _, then in left:
            then()
        try:
            return self._dial(pod, source, query)
        finally:
            with self.lock:
                self.now -= 1

    def _dial(self, pod, source, query):
        host, udp = query["host"], query.get("protocol") == "udp"
        target = self.named(pod, host)
        dial = self.dialed(pod, query) if self.fault else None
        why = target in self.gone and SLOW or self.broken(source[0], target, udp) or (self.fault and self.fault(dial))
        turns, says = (dial.node if dial and dial.service else target,), why if isinstance(why, Says) else None
        if isinstance(why, After):
            time.sleep(why)
        if isinstance(why, (Instead, Turns)):
            turns = tuple(why) if isinstance(why, Turns) else (str(why),)
        if isinstance(why, (Instead, Turns, Says, After)):
            why = None
        if why == SLOW:
            time.sleep(TIMEOUT)
            why = "reading from udp connection failed. err:'read udp: i/o timeout'" if udp else \
                'Get "http://%s/": context deadline exceeded (Client.Timeout exceeded)' % host
        if why and why.startswith("lookup "):
            return 400, ("host and/or port param are invalid. " + why).encode(), "text/plain"
        if why:
            return 200, json.dumps({"errors": [why]}).encode(), "text/plain"
        request = query.get("request", "")
        large = len(request) > 1000
        if large and self.large(source[0], target, udp, request.startswith("echo")):
            time.sleep(TIMEOUT)
            return 200, json.dumps({"errors": ["i/o timeout"]}).encode(), "text/plain"
        tries, names = int(query.get("tries", 1)), {on: p for p, (on, _) in self.pods.items()}
        override = not udp and int(query["port"]) != 8080  # what Services lead to, and the neighbor: a name whatever is asked
        answers = [says] if says else [source[1] + ":40000"] if request == "clientip" and not override else \
            [request.partition(" " if udp else "=")[2]] if request.startswith("echo") and not override else \
            [names.get(on, pod) for on in turns]
        return 200, json.dumps({"responses": (answers * tries)[:tries]}).encode(), "text/plain"

    def dialed(self, pod, query):
        host, port, source = query["host"], int(query["port"]), self.pods[pod][0]
        services = [(s["metadata"]["name"], s["spec"]) for s in self.store.list(SERVICE)[0]]
        nodes = {n["status"]["addresses"][0]["address"]: n["metadata"]["name"] for n in self.store.list(NODE)[0]}
        place, node, target, service = "external" if host[0].isdigit() else "external-name", "", nodes.get(host, ""), ""
        to = self.named(pod, host)
        for name, spec in services:
            if host in spec.get("clusterIPs", [spec.get("clusterIP")]):
                place, service = "service", name
            if host in nodes and port in [p.get("nodePort") for p in spec.get("ports", [])]:
                place, service = "node-port", name
        if to in nodes.values():
            place, node = "localhost" if host in ("localhost", "127.0.0.1") else "pod" if host[0].isdigit() or ":" in host else "pod-name", to
        elif target and not service:
            place = "node"
        elif host.partition(".")[0] in dict(services):
            service = host.partition(".")[0]
            place = "alias" if "alias" in service else "full" if "." in host else "short"
        if service and service != "alias":
            node = source
            if self.spread and service in ("backend", "local"):
                node = target if service == "local" else self.spread.choice(sorted(on for on, _ in self.pods.values()))
        return Dial(source, place, node, target, service, host, query.get("protocol") == "udp", len(query.get("request", "")) > 1000)

    def named(self, pod, host):
        """The node whose pod, or whose address, is dialed; else the host as it is."""
        for name, (on, ip) in self.pods.items():
            if host in (ip, six(ip)) or host.startswith(name + "."):
                return on
        return self.pods[pod][0] if host in ("localhost", "127.0.0.1") else host


def split(path):
    """(namespace, pod, rest) of a path of the pod proxy, or None."""
    parts = urllib.parse.unquote(path).split("/", 8)
    if parts[1:4] != ["api", "v1", "namespaces"] or len(parts) < 8 or parts[5] != "pods" or parts[7] != "proxy":
        return None
    pod, _, port = parts[6].partition(":")
    return parts[4], pod, SETTINGS if port == SETTINGS else parts[8] if len(parts) > 8 else ""
