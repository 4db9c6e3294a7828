"""Nodes of a real cluster that run the pods of the API server: a network namespace a node and a pod,
upstream's kube-proxy and agnhost, and a kubelet played here (upstream's wants cgroups of its own). Some
say that they are Windows nodes: nothing asks what only Windows could answer. A stage of e2e.py;
scenarios/cluster_diag.py plays on it."""
import concurrent.futures
import copy
import http.client
import json
import os
import shutil
import subprocess
import threading
import time

import fabric as fabrics
import netns
import objects
import programs
import stages
from controlplane import seed
from controlplane.client import Refused
from controlplane.settings import Settings

PAUSE = 0.25
KUBELET_PORT = 10250
POD_TEXT = "/api/v1/namespaces/%s/pods/%s"
# A container of the image agnhost: its own root, its own name.
START = """set -e
for d in usr proc dev; do mkdir -p "$1/$d"; mount --rbind /$d "$1/$d"; done
mkdir -p "$1/etc" "$1/tmp"; cp /etc/resolv.conf /etc/hosts "$1/etc/"; cp /etc/nsswitch.conf "$1/etc/" || :
for l in bin sbin lib lib64; do ln -sfn usr/$l "$1/$l"; done
echo "$2" >/proc/sys/kernel/hostname
root=$1; shift 2
exec chroot "$root" /agnhost "$@"
"""


class Node:
    """A machine with a pod subnet. os and build are what its Node object says."""

    def __init__(self, name, address, number, system="linux", kernel="6.1.0", version=None):
        self.name, self.address, self.os, self.kernel, self.version = name, address, system, kernel, version
        self.number = number
        self.subnet, self.gateway = "10.244.%d.0/24" % number, "10.244.%d.1" % number
        self.given, self.children = 9, []

    def document(self, cluster):
        node = seed.linux_node(Settings(host=fabrics.CP, version=self.version or cluster.version), self.name, self.address)
        node["metadata"]["labels"]["kubernetes.io/os"] = self.os
        node["metadata"]["annotations"] = {"flannel.alpha.coreos.com/backend-type": "host-gw"}
        if self.name == "cp":
            node["metadata"]["labels"]["node-role.kubernetes.io/control-plane"] = ""
        node["spec"] = {"podCIDR": self.subnet, "podCIDRs": [self.subnet]}
        node["status"]["nodeInfo"].update(operatingSystem=self.os, kernelVersion=self.kernel)
        node["status"]["daemonEndpoints"] = {"kubeletEndpoint": {"Port": KUBELET_PORT}}
        return node


class PlayedStage(stages.Stage):
    """The control plane's node, two Linux nodes, and two that say they are Windows, of two builds; and more like the first."""

    def __init__(self, folder, more=0, **cluster):
        super().__init__(folder, "l2bridge", **{"coredns": True, **cluster})
        self.nodes = [Node("l1", fabrics.L1, 0), Node("cp", fabrics.CP, 1), Node("l2", "10.0.0.32", 2),
                      Node("w1", "10.0.0.21", 3, "windows", "10.0.20348.2340"),
                      Node("w2", "10.0.0.22", 4, "windows", "10.0.26100.1742", "v1.36.4")]
        self.nodes += [Node("w%d" % i, "10.0.0.%d" % (40 + i), 2 + i, "windows", "10.0.20348.2340") for i in range(3, 3 + more)]
        self.upstream = {}
        self.over, self.pods, self.pool = threading.Event(), {}, None

    def __enter__(self):
        self.upstream = programs.ensure(["agnhost", "kube-proxy", "execd"])
        super().__enter__()
        try:
            self.pids = os.path.join(self.fabric.folder, "pids")
            os.makedirs(self.pids)
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                list(pool.map(self._machine, self.nodes))
            self._routes()
            self._through_gateway(self.fabric.ns("l1-dns"), fabrics.DNS_POD, fabrics.L1_GATEWAY)
            for node in self.nodes:
                netns.sysctl(self.fabric.ns(node.name), {"net/ipv4/conf/%s/send_redirects" % d: 0 for d in ("all", "cni0")})
                self._object(node)
                self._servers(node)
            self.pool = concurrent.futures.ThreadPoolExecutor(8)
            for what in (self._kubelets, self._beat):
                threading.Thread(target=what, daemon=True).start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.over.set()
        if self.pool:
            self.pool.shutdown()
        for pod in list(self.pods.values()):
            self._end(pod)
        for node in self.nodes:
            for child in node.children:
                netns.stop(child)
        super().__exit__()

    def node(self, name):
        return next(n for n in self.nodes if n.name == name)

    # ---- machines ------------------------------------------------------------------------------

    def _machine(self, node):
        """As the fabric makes l1, which stands already, as does the machine of cp."""
        if node.name == "l1":
            return
        ns = self.fabric.ns("cp") if node.name == "cp" else self.fabric.host(node.name, node.address)
        netns.ip_batch(ns, ["link add cni0 address 02:00:0a:f4:%02x:01 type bridge" % node.number,
                            "addr add %s/24 dev cni0" % node.gateway, "link set cni0 up"])
        netns.sysctl(ns, {"net/ipv4/ip_forward": 1})
        netns.nft(ns, "table ip node {\n chain out {\n  type nat hook postrouting priority 100;\n"
                  "  ip saddr %s ip daddr != { %s, 224.0.0.0/4 } masquerade\n }\n}\n"
                  % (node.subnet, fabrics.POD_RANGE))

    def _through_gateway(self, ns, ip, gateway):
        """Pods of one node meet through the node, never over its bridge alone: what kube-proxy translated
        must be translated back (as br_netfilter makes it on a real node)."""
        netns.ip_batch(ns, ["addr flush dev eth0", "addr add %s/32 dev eth0" % ip, "link set eth0 up",
                            "route replace %s dev eth0 scope link" % gateway, "route replace default via " + gateway])

    def _routes(self):
        for here in ["cp"] + [n.name for n in self.nodes]:
            for node in self.nodes:
                if node.name != here:
                    self.route(here, node)

    def route(self, machine, node):
        netns.ip(self.fabric.ns(machine), "route replace", node.subnet, "via", node.address)

    def _object(self, node):
        document = node.document(self.cluster)
        status = document.pop("status")
        objects.create(self.cluster, "/api/v1/nodes", "Node", node.name, metadata=document["metadata"],
                       spec=document["spec"])
        for path, part in (("", {"metadata": document["metadata"]}), ("/status", {"status": status})):
            self.cluster.call("PATCH", "/api/v1/nodes/%s%s" % (node.name, path), part, "application/merge-patch+json")
        objects.create(self.cluster, objects.LEASES, "Lease", node.name, "coordination.k8s.io/v1",
                       spec={"holderIdentity": node.name, "leaseDurationSeconds": 40})

    def _servers(self, node):
        ns = self.fabric.ns(node.name)
        for name, words in (
                ("kube-proxy", ["--kubeconfig=" + self.cluster.kubeconfig, "--proxy-mode=nftables",
                                "--hostname-override=" + node.name, "--cluster-cidr=" + fabrics.POD_RANGE,
                                "--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0",
                                "--conntrack-tcp-timeout-close-wait=0", "--nodeport-addresses=primary"]),
                ("execd", ["%s:%d" % (node.address, KUBELET_PORT), self.pids])):
            node.children.append(netns.daemon(ns, [self.upstream[name], *words],
                                              os.path.join(self.folder, "%s-%s.log" % (name, node.name))))

    def _beat(self):
        while not self.over.wait(8):
            now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
            for node in self.nodes[2:]:  # renew() has the first two
                try:
                    self.cluster.call("PATCH", objects.LEASES + "/" + node.name, {"spec": {"renewTime": now}},
                                      "application/merge-patch+json")
                except (OSError, Refused, ValueError):
                    pass  # the server is being started again

    # ---- what the kubelets do --------------------------------------------------------------------

    def _kubelets(self):
        client = netns.within(self.cluster.ns, self.cluster.client)
        names = {node.name: node for node in self.nodes}
        while not self.over.wait(PAUSE):
            try:
                items = netns.within(self.cluster.ns, client.call, "GET", "/api/v1/pods")["items"]
            except (OSError, Refused, ValueError):
                continue
            wanted = {pod["metadata"]["uid"]: pod for pod in items if pod["spec"].get("nodeName") in names
                      and not pod["metadata"].get("deletionTimestamp")}
            for uid in [u for u in self.pods if u not in wanted]:
                self._end(self.pods.pop(uid))
            for uid, pod in wanted.items():
                if self.over.is_set():
                    return
                if uid not in self.pods:
                    self.pods[uid] = run = {"pod": pod, "node": names[pod["spec"]["nodeName"]], "running": []}
                    self.pool.submit(self._start, run)
                elif self.pods[uid].get("ip"):
                    self.pool.submit(self._probe, self.pods[uid])

    def _start(self, run):
        try:
            self._run(run)
        except Exception as why:  # said where kubectl shows it
            self._tell(run, {"phase": "Pending", "containerStatuses": [
                {"name": c["name"], "image": c["image"], "imageID": "", "ready": False, "restartCount": 0,
                 "state": {"waiting": {"reason": "CreateContainerError", "message": str(why)}}}
                for c in run["pod"]["spec"]["containers"]]})

    def _run(self, run):
        pod, node = run["pod"], run["node"]
        if any(".invalid/" in c["image"] for c in pod["spec"]["containers"]):
            self._tell(run, {"phase": "Pending", "containerStatuses": [
                {"name": c["name"], "image": c["image"], "imageID": "", "ready": False, "restartCount": 0,
                 "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}}
                for c in pod["spec"]["containers"]]})
            return
        node.given += 1
        ip, ns = "10.244.%d.%d" % (node.number, node.given), self.fabric.ns("%s-p%d" % (node.name, node.given))
        run["ns"] = ns
        self._pod_network(node, ns, ip)
        self._resolv(ns, pod["metadata"]["namespace"])
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        for container in pod["spec"]["containers"]:
            self._container(run, ns, container)
        self._tell(run, {
            "phase": "Running", "hostIP": node.address, "podIP": ip, "podIPs": [{"ip": ip}], "startTime": started,
            "containerStatuses": [
                {"name": c["name"], "image": c["image"], "imageID": "rig", "ready": True, "restartCount": 0,
                 "containerID": "rig://" + c["name"], "started": True, "state": {"running": {"startedAt": started}}}
                for c in pod["spec"]["containers"]]})
        run["ip"] = ip

    def _pod_network(self, node, ns, ip):
        netns.add(ns)
        device = "p%d" % node.given
        netns.veth(self.fabric.ns(node.name), device, ns, "eth0")
        netns.ip_batch(self.fabric.ns(node.name), ["link set %s master cni0 up" % device])
        self._through_gateway(ns, ip, node.gateway)

    def _resolv(self, ns, space):
        netns.resolv(ns, [fabrics.DNS_VIP], ["%s.svc.%s" % (space, fabrics.DOMAIN), "svc." + fabrics.DOMAIN, fabrics.DOMAIN])

    def _container(self, run, ns, container):
        """hostname: the pod's; the program: agnhost, whatever the image is called."""
        pod = run["pod"]
        root = os.path.join(self.fabric.folder, ns, container["name"])
        os.makedirs(root)
        os.link(self.upstream["agnhost"], os.path.join(root, "agnhost")) \
            if os.stat(self.upstream["agnhost"]).st_dev == os.stat(root).st_dev \
            else shutil.copy(self.upstream["agnhost"], os.path.join(root, "agnhost"))
        words = netns.command(ns, ["unshare", "--uts", "--mount", "sh", "-c", START, "sh", root,
                                   pod["spec"].get("hostname") or pod["metadata"]["name"], *container.get("args", [])])
        with open(os.path.join(self.folder, "%s-%s.log" % (ns.rpartition("-")[2], container["name"])), "ab") as log:
            proc = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        run["running"].append(proc)
        name = "%s_%s_%s" % (pod["metadata"]["namespace"], pod["metadata"]["name"], container["name"])
        with open(os.path.join(self.pids, name), "w", encoding="utf-8") as f:
            f.write("%d\n" % proc.pid)

    def _probe(self, run):
        """The readiness probe of the first container, from the node itself."""
        probe = run["pod"]["spec"]["containers"][0].get("readinessProbe", {}).get("httpGet")
        now = time.monotonic()
        if run.get("probing") or now < run.get("next", 0):
            return
        run["probing"] = True
        ready = not probe or netns.within(self.fabric.ns(run["node"].name), self._answers, run["ip"], probe)
        run.update(probing=False, next=time.monotonic() + (2 if ready else 0.5))
        if ready != run.get("ready"):
            run["ready"] = ready
            self._tell(run, {"conditions": [{"type": t, "status": "True" if ready else "False"}
                                            for t in ("Ready", "ContainersReady")]})

    @staticmethod
    def _answers(ip, probe):
        ask = http.client.HTTPConnection(ip, probe["port"], timeout=1)
        try:
            ask.request("GET", probe["path"])
            return ask.getresponse().status == 200
        except OSError:
            return False
        finally:
            ask.close()

    def _tell(self, run, status):
        pod = run["pod"]["metadata"]
        try:
            self.cluster.call("PATCH", POD_TEXT % (pod["namespace"], pod["name"]) + "/status", {"status": copy.deepcopy(status)},
                              "application/strategic-merge-patch+json")
        except (OSError, Refused, ValueError):
            run.pop("ready", None)  # gone meanwhile, or told again

    def _end(self, run):
        for proc in run["running"]:
            netns.stop(proc)
        if "ns" in run:
            netns.delete(run["ns"])

    # ---- for scenarios ---------------------------------------------------------------------------

    def diag(self, *words, code=None, timeout=120):
        """winjoin diag --kubeconfig on the client; its report and all that it said."""
        done = self.winjoin("diag", "--kubeconfig", self.cluster.kubeconfig, *words, timeout=timeout, code=code)
        return json.loads(done.out) if done.out.lstrip().startswith("{") else None, done

    def left(self):
        """Namespaces of a diagnosis that are there."""
        items = self.cluster.call("GET", "/api/v1/namespaces")["items"]
        return [n["metadata"]["name"] for n in items if n["metadata"]["name"].startswith("winjoin-diag-")
                and not n["metadata"].get("deletionTimestamp")]
