"""winjoin-network beside kube-proxy and the kubelet: what each asks of one real kube-apiserver at the limits of
Kubernetes, what comes back, and what each needs of its own machine."""
import concurrent.futures
import http.client
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(os.path.dirname(HERE), name) for name in ("rig", "cluster")]
import fabric as fabrics  # noqa: E402
import figures  # noqa: E402
import machine as machines  # noqa: E402
import netns  # noqa: E402
import control_plane  # noqa: E402

FOLLOW = os.path.join(machines.ROOT, "build", "native", "follow")
PROGRAMS = ["kube-proxy", "kubelet", "cri"]
NODES, SERVICES, PODS = 5000, 10000, 5  # pods behind each Service
AT_ONCE, CHANGES = 16, 200
BEGIN, CHANGED = 60, 20  # seconds
SERVICE, SLICE = "/api/v1/namespaces/default/services", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
KUBELET = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "cgroupsPerQOS": False,
           "enforceNodeAllocatable": [], "failSwapOn": False, "failCgroupV1": False, "address": "127.0.0.1", "readOnlyPort": 0,
           "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
           "authorization": {"mode": "AlwaysAllow"}, "cgroupDriver": "cgroupfs", "localStorageCapacityIsolation": False}


def address(first, n):
    return "10.%d.%d.%d" % (first + (n >> 16), n >> 8 & 255, n & 255)


def node(n):
    images = [{"names": ["registry.example.com/some/image/of/a/cluster-%d@sha256:%064x" % (i, i)], "sizeBytes": 1 << 30}
              for i in range(50)]
    return {"metadata": {"name": "node-%d" % n, "labels": {"kubernetes.io/os": "linux"}},
            "spec": {"podCIDR": address(192, n << 2) + "/30"},
            "status": {"addresses": [{"type": "InternalIP", "address": address(64, n)}], "images": images}}


def service(n):
    return {"metadata": {"name": "service-%d" % n},
            "spec": {"ports": [{"name": "http", "port": 80, "targetPort": 8080}]}}


def slice_of(n, moved=0):
    """moved: so often one pod has got another address."""
    pods = [{"addresses": [address(128, n * PODS + k)], "conditions": {"ready": True}, "nodeName": "node-%d" % (n % NODES)}
            for k in range(PODS)]
    pods[0]["addresses"] = [address(224 + moved, n)] if moved else pods[0]["addresses"]
    return {"metadata": {"name": "service-%d-x" % n, "labels": {"kubernetes.io/service-name": "service-%d" % n}},
            "addressType": "IPv4", "endpoints": pods, "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}]}


def send_all(cluster, rows):
    """(method, path, object) over one connection."""
    client = cluster.client()
    line = http.client.HTTPSConnection(client.host, client.port, context=client.tls, timeout=60)
    for method, path, body in rows:
        line.request(method, path, json.dumps(body), {"Content-Type": "application/json", "User-Agent": "fill"})
        response = line.getresponse()
        said = response.read()
        if response.status >= 400:
            raise RuntimeError("%s %s: %d %s" % (method, path, response.status, said[:200]))
    line.close()


def fill(cluster):
    rows = [("POST", "/api/v1/nodes", node(n)) for n in range(NODES)]
    rows += [("POST", SERVICE, service(n)) for n in range(SERVICES)]
    rows += [("POST", SLICE, slice_of(n)) for n in range(SERVICES)]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda k: netns.within(cluster.ns, send_all, cluster, rows[k::AT_ONCE]), range(AT_ONCE)))


class Peer:
    """A program on a machine of its own, whose connection to the API server is counted."""

    def __init__(self, fabric, cluster, name, n, words, agent, cri=None):
        self.agent, self.machine = agent, machines.Machine(fabric, cluster, name, "10.0.0.%d" % (60 + n), cri=cri)
        self.line, self.log = self.machine.line(), os.path.join(cluster.folder, name + ".log")
        with open(self.log, "wb") as log:  # the kubelet needs our /sys
            self.process = subprocess.Popen(netns.network_only(self.machine.ns, words(self.machine)),
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def look(self):
        """Bytes since the last look, and of the process its whole CPU time and its peak memory."""
        counted = self.machine.counted()
        self.machine.count()
        with open("/proc/%d/stat" % self.process.pid, encoding="utf-8") as f:
            words = f.read().rpartition(")")[2].split()
        with open("/proc/%d/status" % self.process.pid, encoding="utf-8") as f:
            peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
        return {"received": counted["received"], "sent": counted["sent"], "peak": peak / 1024,
                "cpu": (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")}

    def end(self):
        """How often it has asked, by verb: a watch is written down when it ends."""
        netns.stop(self.process)
        time.sleep(1)
        return sum(row["agent"].startswith(self.agent) for row in machines.audit(self.machine.cluster.audit)[self.line:])


def winjoin_words(cluster):
    def words(machine):
        folder = machine.at("winjoin")
        os.makedirs(folder)
        shutil.copy(cluster.kubeconfig, os.path.join(folder, "admin.conf"))
        return [FOLLOW, folder, "3600"]
    return words


def kube_proxy_words(cluster):
    return lambda machine: [cluster.programs["kube-proxy"], "--kubeconfig=" + cluster.kubeconfig, "--proxy-mode=nftables",
                            "--hostname-override=node-1", "--cluster-cidr=" + fabrics.POD_RANGE,
                            "--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0",
                            "--conntrack-tcp-timeout-close-wait=0", "--nodeport-addresses=primary"]


def kubelet_words(cluster):
    def words(machine):
        config = machine.at("kubelet.json")
        with open(config, "w", encoding="utf-8") as f:
            json.dump({**KUBELET, "containerRuntimeEndpoint": machine.socket}, f)
        return [cluster.programs["kubelet"], "--config=" + config, "--kubeconfig=" + cluster.kubeconfig,
                "--hostname-override=node-2", "--root-dir=" + machine.at("root"), "--cert-dir=" + machine.at("pki")]
    return words


def change(cluster, time_):
    rows = [("PUT", "%s/service-%d-x" % (SLICE, n), slice_of(n, time_)) for n in range(CHANGES)]
    netns.within(cluster.ns, send_all, cluster, rows)


def measure(peer, cluster, turn):
    """{what: number} of a program from its start on, and while endpoints change."""
    try:
        return watched(peer, cluster, turn)
    finally:
        netns.stop(peer.process)


def watched(peer, cluster, turn):
    time.sleep(BEGIN)
    if peer.process.poll() is not None:
        with open(peer.log, encoding="utf-8", errors="replace") as f:
            raise machines.Failed("%s ended: %s" % (peer.agent, f.read()[-500:]))
    begun = peer.look()
    change(cluster, turn)
    time.sleep(CHANGED)
    changed = peer.look()
    return {"requests": peer.end(), "begin": begun["received"], "changes": changed["received"], "peak": changed["peak"],
            "received": begun["received"] + changed["received"],
            "cpu": begun["cpu"], "changesCpu": changed["cpu"] - begun["cpu"]}


def play(found):
    """{program: {what: number}}"""
    with fabrics.Fabric("overlay") as lan, control_plane.ControlPlane(lan, cgroup_driver="cgroupfs") as cluster:
        cluster.programs = {**cluster.programs, **found}
        cluster.children.pop("kube-controller-manager").kill()  # it would see 5000 nodes without kubelets, and act
        fill(cluster)
        seen = {}
        for n, (name, words, agent, cri) in enumerate((("winjoin-network", winjoin_words, "winjoin", None),
                                                       ("kube-proxy", kube_proxy_words, "kube-proxy", None),
                                                       ("kubelet", kubelet_words, "kubelet", found["cri"]))):
            peer = Peer(lan, cluster, name.replace("winjoin-", "wj"), n, words(cluster), agent, cri)
            seen[name] = measure(peer, cluster, n + 1)
        return seen


ROWS = (("requests", "requests while it runs", ""), ("begin", "received at its start", "bytes"),
        ("changes", "received for %d changed EndpointSlices" % CHANGES, "bytes"),
        ("received", "received for both", "bytes"), ("peak", "peak memory", "MB"),
        ("cpu", "CPU at its start", "s"), ("changesCpu", "CPU for %d changes" % CHANGES, "s"))


def rows_of(seen):
    title = "%d Nodes, %d Services, %d endpoints: " % (NODES, SERVICES, SERVICES * PODS)
    goals = {"cpu": None, "changesCpu": None, "changes": None}  # of changes: docs/benchmarks.md
    return [figures.row(title + word, unit, [seen["winjoin-network"][key]], [seen["kube-proxy"][key]], goals.get(key, 1.0),
                        "kube-proxy") for key, word, unit in ROWS]


def table(seen):
    lines = ["| %d Nodes, %d Services, %d endpoints | %s |" % (NODES, SERVICES, SERVICES * PODS, " | ".join(seen)),
             "|---" * (len(seen) + 1) + "|"]
    lines += ["| %s | %s |" % (word, " | ".join(figures.shown(by[key], unit) for by in seen.values())) for key, word, unit in ROWS]
    return "\n".join(lines)
