"""Where whole joins are judged: the real control plane and played Windows hosts whose programs are
upstream's own, on one fabric. A stage of e2e.py; scenarios/nodes*.py play on it."""
import hashlib
import json
import os
import shutil
import subprocess
import sys

import netns
import patience
import programs
import snapshot
import stage as rig
import stages
import winhost
from controlplane.client import Refused
from scenario import Skip, expect, expect_equal

sys.path.append(os.path.join(stages.ROOT, "tests", "scenarios"))
import scene  # noqa: E402

# What a node runs; the CRI server of cri/ takes containerd's place (Wine has no containers).
NODE_PROGRAMS = ("kubelet.exe", "kube-proxy.exe", "flanneld.exe", "win-overlay.exe", "win-bridge.exe",
                 "host-local.exe")
RUNTIME = "cri.exe"
DNS_SERVICE = "/api/v1/namespaces/kube-system/services/kube-dns"
API_SERVICE = "/api/v1/namespaces/default/services/kubernetes"
PODS = "/api/v1/namespaces/default/pods"
BUNDLES = os.path.join(stages.ROOT, "build", "e2e-bundles")


def upstream(kubelet=None):
    """Program -> file; kubelet: the section of versions.ini that it is taken from."""
    found = programs.ensure(NODE_PROGRAMS)
    if kubelet:
        found.update(programs.ensure(["kubelet.exe"], of=kubelet))
    return {**found, "containerd.exe": programs.ensure([RUNTIME])[RUNTIME]}


class Node(rig.Newcomer):
    """A Windows host of the stage."""

    def bundle(self):
        """Packed once for the same programs, whatever scenario asks."""
        facts = [os.path.realpath(p) for p in (rig.NATIVE, *sorted(self.programs.values()))]
        key = hashlib.sha256(repr([(p, os.stat(p).st_mtime_ns) for p in facts]).encode())
        path = os.path.join(BUNDLES, key.hexdigest()[:16] + ".zip")
        if not os.path.exists(path):
            os.makedirs(BUNDLES, exist_ok=True)
            os.replace(super().bundle(*self.versions()), path)
        return path

    def versions(self):
        """For programs whose stamped version is not that of their module."""
        tells = {program.removesuffix(".exe"): settings["tells"] for name, settings in programs.versions().items()
                 for program, at in self.programs.items()
                 if "tells" in settings and at.startswith(programs.home(name, settings) + os.sep)}
        path = os.path.join(self.fabric.folder, "versions.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(tells, f)
        return ["--versions", path] if tells else []


class NodeStage(stages.Stage):
    """mode, build, kubelet (a section of versions.ini), count: as many hosts; the rest as for
    ControlPlane."""

    NAMES = (("node-w1", "win-7k2"), ("node-w2", "win-8m3"), ("node-w3", "win-9n4"),
             ("node-w4", "win-2p5"))

    def __init__(self, folder, mode="overlay", build="20348", kubelet=None, count=1, host=None,
                 **cluster):
        super().__init__(folder, mode, **{"defaults": rig.DEFAULTS, "coredns": True, **cluster})
        self.build, self.kubelet, self.count = build, kubelet, count
        self.host_options, self.nodes, self.bare = dict(host or {}), [], {}
        self.capture = None

    def __enter__(self):
        missing = scene.missing()
        if missing:
            raise Skip(missing)
        super().__enter__()
        try:
            for name, node_name in self.NAMES[:self.count]:
                node = Node(self.fabric, self.cluster, node_name, self.programs(), name=name,
                            build=self.build, **self.host_options)
                self.nodes.append(node)
                node.arrive()
                self.bare[node] = node.snapshot()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.leave()
        super().__exit__()

    def programs(self):
        return upstream(self.kubelet)

    @property
    def node(self):
        return self.nodes[0]

    # ---- what scenarios do and see ---------------------------------------------------------

    def join(self, *more, code=0, node=None, timeout=240, words=None):
        """Joins a host (the first); answers the JoinResult and everything that was said."""
        node = node or self.node
        words = words or node.join_words
        done = node.host.run([*words, *more, "-o", "json", "--progress", "plain"], timeout=timeout)
        said = done.stdout + done.stderr
        with open(os.path.join(self.scratch, "said-%s.txt" % node.node_name), "a",
                  encoding="utf-8") as f:
            f.write(said)
        expect(stages.SECRET not in said, "the token's secret is printed", said)
        expect_equal(done.returncode, code, "exit code of the join\n" + said[-6000:])
        return json.loads(done.stdout) if done.stdout.strip() else {}, said

    def expect_proved(self, result, node=None):
        """All nine flows pass, by TCP and UDP, and the API server holds the node Ready."""
        flows = {(f["id"], f["protocol"]): f["outcome"] for f in result["flows"]}
        expect_equal(set(flows.values()), {"pass"}, "flows: %r" % flows)
        expect_equal(len(flows), 18, "flows: %r" % flows)
        expect_equal({p["outcome"] for p in result["phases"]}, {"done"}, repr(result["phases"]))
        self.expect_ready(node)

    def expect_ready(self, node=None):
        item = self.cluster.call("GET", "/api/v1/nodes/" + (node or self.node).node_name)
        ready = {c["type"]: c["status"] for c in item["status"]["conditions"]}
        expect_equal(ready.get("Ready"), "True", repr(item["status"]["conditions"]))
        return item

    def proved(self, node=None):
        """The condition PodNetworkProved; None: the Node has none, or is not there."""
        try:
            item = self.cluster.call("GET", "/api/v1/nodes/" + (node or self.node).node_name)
        except Refused:
            return None
        return next((c for c in item["status"]["conditions"] if c["type"] == "PodNetworkProved"), None)

    def expect_condition(self, status, node=None):
        """What an administrator waits for, as kubectl waits."""
        self.cluster.kubectl("wait", "--for=condition=PodNetworkProved=" + status, "--timeout=%ds" %
                             (150 * patience.factor()), "node/" + (node or self.node).node_name)

    def reset(self, node=None, compare=True):
        """Takes a join back, deletes the Node object; the host must be as it was found. Answers what
        was said."""
        node = node or self.node
        done = node.winjoin("reset", "--force")
        expect_equal(self.proved(node), None, "the condition after a reset")
        try:
            self.cluster.call("DELETE", "/api/v1/nodes/" + node.node_name)
        except Refused as why:
            expect_equal(why.code, 404, str(why))
        expect_equal(done.returncode, 0, done.stdout + done.stderr)
        if compare:
            self.expect_bare(node)
        return done.stdout + done.stderr

    def expect_bare(self, node=None):
        node = node or self.node
        left = snapshot.compare(self.bare[node], node.snapshot())
        expect(not left, "the host is not as it was found", *left)

    def follow(self, *more, node=None, words=None):
        """A join that goes on by itself; its progress can be read line by line."""
        node = node or self.node
        following = scene.Following(node, [*(words or node.join_words), *more])
        self.running.append(following.proc)
        return following

    # ---- pods ------------------------------------------------------------------------------

    def run_pod(self, node, name):
        """A pod of the API server's on that node, whose program only stays; its address. Critical:
        a kubelet refuses others where this machine's disk is fuller than 85 %."""
        node.host.put(os.path.join(winhost.prefixes.DLLS, "hold.exe"), r"C:\hold\hold.exe")
        self.cluster.call("POST", PODS, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
                "nodeName": node.node_name, "priorityClassName": "system-node-critical",
                "automountServiceAccountToken": False,
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "hold", "image": "rig/hold:1",
                                "command": [r"C:\hold\hold.exe"],
                                "volumeMounts": [{"name": "hold", "mountPath": r"C:\hold"}]}],
                "volumes": [{"name": "hold", "hostPath": {"path": r"C:\hold"}}]}})
        self.cluster.wait_for(lambda: self._runs(name), 60, what_for="running pod " + name)
        return self._pod(name)["status"]["podIP"]

    def _runs(self, name):
        status = self._pod(name)["status"]
        expect(status.get("phase") != "Failed", "pod %s: %s: %s" % (
            name, status.get("reason"), status.get("message")))
        return status.get("phase") == "Running"

    def _pod(self, name):
        return self.cluster.call("GET", PODS + "/" + name)

    def delete_pods(self, node, *names):
        """The objects go at once (their grace period is 0); the kubelet may still be at work."""
        for name in names:
            self.cluster.call("DELETE", PODS + "/" + name)
        shutil.rmtree(node.host.path(r"C:\hold"))

    def await_services(self, node):
        """Until kube-proxy has told HNS of the API server and the cluster's DNS, whichever comes last."""
        vip, api = (self.cluster.call("GET", path)["spec"]["clusterIP"] for path in (DNS_SERVICE, API_SERVICE))

        def told():
            there = {(address, ports["Protocol"]) for b in node.host.control({"op": "dump"})["loadBalancers"]
                     for address in b["FrontendVIPs"] for ports in b["PortMappings"]}
            return there >= {(vip, 6), (vip, 17), (api, 6)}  # TCP, UDP
        self.cluster.wait_for(told, 60, what_for="load balancers of the API server and the cluster's DNS")

    def sandboxes(self, node):
        """HNS namespace -> network namespace of the pods that stand on the host."""
        return node.host.ask({"op": "facts"})["sandboxes"]

    def pod_netns(self, node, address):
        """The network namespace of the pod with that address."""
        for end in node.host.control({"op": "dump"})["endpoints"]:
            if address in [c.get("IpAddress") for c in end["IpConfigurations"]] \
                    and end.get("HostComputeNamespace"):
                return node.host.pod(end["HostComputeNamespace"])
        raise RuntimeError("no endpoint with %s on %s" % (address, node.node_name))

    # ---- around each scenario --------------------------------------------------------------

    def describe(self):
        return "%s; %s, Windows build %s, kubelet of %s" % (
            super().describe(), self.mode, self.build, self.kubelet or "kubernetes")

    def begin(self):
        super().begin()
        if shutil.which("tcpdump"):
            self.capture = subprocess.Popen(netns.command(self.fabric.ns("fabric"), [
                "tcpdump", "-U", "-n", "-i", "lan", "-w", os.path.join(self.scratch, "lan.pcap")]),
                stderr=subprocess.DEVNULL)

    def end(self):
        netns.stop(self.capture)
        self.capture = None
        super().end()

    def keep(self, folder):
        super().keep(folder)
        for node in self.nodes:
            _keep_node(node, os.path.join(folder, node.node_name))
        for ns in self.fabric.describe()["namespaces"]:
            _keep_network(ns, os.path.join(folder, "namespaces"))


def _keep_node(node, folder):
    """The services' logs, winjoin's evidence, CNI's files, each call to HNS and what it made."""
    os.makedirs(folder, exist_ok=True)
    for windows in (r"C:\var\log", r"C:\ProgramData\winjoin", r"C:\etc\cni\net.d",
                    r"C:\var\lib\kubelet\config.yaml", r"C:\var\lib\kube-proxy"):
        source = node.host.path(windows)
        target = os.path.join(folder, windows.split("\\", 1)[1].replace("\\", "-"))
        if os.path.isdir(source):
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        elif os.path.exists(source):
            shutil.copy(source, target)
    for leaf in os.listdir(node.fabric.folder):
        if leaf.startswith(node.host.name + "-") and leaf.endswith((".jsonl", ".log")):
            shutil.copy(os.path.join(node.fabric.folder, leaf), folder)
    with open(os.path.join(folder, "hns.json"), "w", encoding="utf-8") as f:
        json.dump({"state": node.host.control({"op": "dump"}),
                   "facts": node.host.ask({"op": "facts"})}, f, indent=1)


def _keep_network(ns, folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, ns.partition("-")[2] + ".txt"), "w", encoding="utf-8") as f:
        for words in (["ip", "-d", "addr"], ["ip", "route"], ["ip", "neigh"], ["bridge", "fdb"],
                      ["nft", "list", "ruleset"]):
            f.write("$ %s\n%s\n" % (" ".join(words), netns.run(netns.command(ns, words),
                                                               check=False)))
