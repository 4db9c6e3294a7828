"""Pods by the CRI server that takes containerd's place: the real CNI plugins, real packets.

Played by scenarios/cri.py. Overlay and l2bridge networks are made manually; what is proved is that RunPodSandbox and the real
win-overlay.exe, win-bridge.exe and host-local.exe lead to a pod that is reached across the fabric.
"""
import base64
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS, ROOT = os.path.dirname(HERE), os.path.dirname(os.path.dirname(HERE))
sys.path[:1] = [HERE, os.path.join(TESTS, "rig")]

import fabric as fabrics  # noqa: E402
import flow_case  # noqa: E402
import flows  # noqa: E402
import netns  # noqa: E402
import programs  # noqa: E402
import winhost  # noqa: E402
from containerd_file import containerd_file  # noqa: E402

PROBE = os.path.join(ROOT, "build", "windows", "winjoin-probe.exe")
PIPE = r"\\.\pipe\containerd-containerd"
FOLDER, CONF = r"C:\Program Files\containerd", r"C:\etc\cni\net.d"
LOG, PODS = r"C:\var\log\containerd\containerd.log", r"C:\var\log\pods"
IMAGE = "registry.k8s.io/pause:3.10.1"
WANTED = ["cri.exe", "criprobe.exe", "win-overlay.exe", "win-bridge.exe", "host-local.exe"]
SOON = 15  # seconds


def cni_conf(kind, network, exceptions):
    """As winjoin writes it once the node's pod subnet is known."""
    values = [flow_case.nat(*exceptions), flow_case.SERVICES]
    return {"cniVersion": "1.0.0", "name": network, "type": kind, "apiVersion": 2,
            "capabilities": {"dns": True, "portMappings": True},
            "policies": [{"name": "EndpointPolicy", "value": v} for v in values],
            "ipam": {"type": "host-local", "dataDir": "C:/var/lib/cni/networks", "ranges": [[{
                "subnet": flow_case.SUBNET, "rangeStart": "10.244.1.3", "rangeEnd": "10.244.1.254",
                "gateway": flow_case.GATEWAY if kind == "win-overlay" else flow_case.SOURCE_VIP}]]}}


def pod(name):
    """The sandbox configuration that the kubelet would send."""
    uid = "uid-" + name
    return {"metadata": {"name": name, "uid": uid, "namespace": "default"}, "hostname": name,
            "logDirectory": "%s\\default_%s_%s" % (PODS, name, uid),
            "labels": {"io.kubernetes.pod.name": name},
            "dnsConfig": {"servers": [fabrics.DNS_VIP], "searches": ["default.svc.cluster.local"],
                          "options": ["ndots:5"]}, "windows": {}}


def probe(name):
    """A container with the echo of winjoin's probe on port 7777."""
    box = "C:\\probe\\" + name
    return {"metadata": {"name": "probe"}, "image": {"image": IMAGE}, "logPath": "probe\\0.log",
            "command": [r"C:\probe\bin\winjoin-probe.exe", "serve", "--mailbox", box, "--name",
                        name, "--tcp", "7777", "--udp", "7777"],
            "labels": {"io.kubernetes.container.name": "probe"}, "workingDir": "C:\\probe",
            "envs": [{"key": "POD", "value": base64.b64encode(name.encode()).decode()}],
            "mounts": [{"hostPath": r"C:\probe\bin", "containerPath": r"C:\probe\bin"},
                       {"hostPath": box, "containerPath": box}]}


class Cri(flow_case.FlowCase):
    """A played Windows host with the CRI server as its service `containerd`."""
    plugin = ""

    def setUp(self):
        try:
            found = programs.ensure(WANTED)
        except programs.NoGo as why:
            self.skipTest(str(why))
        try:
            self.fabric = fabrics.Fabric(self.mode).__enter__()
        except netns.Missing as why:
            self.skipTest(str(why))
        self.addCleanup(self.fabric.close)
        self.node = winhost.Host(self.fabric, outage_ms=0)
        self.addCleanup(self.node.close)
        self.node.start()
        self.install(found)
        self.start_service()

    def install(self, found):
        for name in WANTED[2:]:
            self.node.put(found[name], "C:\\opt\\cni\\bin\\" + name)
        self.node.put(found["cri.exe"], FOLDER + r"\containerd.exe")
        self.node.put(found["criprobe.exe"], r"C:\criprobe.exe")
        self.node.put(PROBE, r"C:\probe\bin\winjoin-probe.exe")
        self.write(FOLDER + r"\config.toml", containerd_file("containerd-v3.toml", IMAGE))
        os.makedirs(os.path.dirname(self.node.path(LOG)))

    def write(self, windows, text):
        path = self.node.path(windows)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def start_service(self):
        """Registered with the command line that winjoin registers."""
        command = '"%s\\containerd.exe" --config="%s\\config.toml" --log-file=%s --run-service' % (
            FOLDER, FOLDER, LOG)
        done = self.node.run(["sc", "create", "containerd", "binPath=", command])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.service("start")

    def service(self, verb):
        done = self.node.run(["sc", verb, "containerd"])
        self.assertEqual(done.returncode, 0, done.stdout + self.said())
        wanted = {"start": "RUNNING", "stop": "STOPPED"}[verb]
        self.until(lambda: wanted in self.node.run(["sc", "query", "containerd"]).stdout, True, SOON)

    def said(self):
        try:
            with open(self.node.path(LOG), encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def cri(self, method, request=None, refused=False):
        """One CRI call on the pipe; answers its document, or the words of the refusal."""
        done = self.node.run([r"C:\criprobe.exe", PIPE, method, json.dumps(request or {})],
                             timeout=150)
        self.assertEqual(done.returncode, int(refused), done.stderr + self.said())
        return done.stderr if refused else json.loads(done.stdout)

    def condition(self, name):
        return next(c for c in self.cri("Status")["status"]["conditions"] if c["type"] == name)

    # ---- pods -------------------------------------------------------------------------------

    def configure(self, net):
        self.write(CONF + r"\10-winjoin.conf", json.dumps(cni_conf(self.plugin, net["Name"],
                                                                   self.exceptions)))

    exceptions = flow_case.CLUSTER

    def run_pod(self, name):
        """A pod with the probe in it: (sandbox, container, address)."""
        config = pod(name)
        for folder in ("C:\\probe\\" + name, config["logDirectory"] + "\\probe"):
            os.makedirs(self.node.path(folder), exist_ok=True)
        box = self.cri("RunPodSandbox", {"config": config})["podSandboxId"]
        self.cri("PullImage", {"image": {"image": IMAGE}})
        made = self.cri("CreateContainer", {"podSandboxId": box, "sandboxConfig": config,
                                            "config": probe(name)})["containerId"]
        self.cri("StartContainer", {"containerId": made})
        status = self.cri("PodSandboxStatus", {"podSandboxId": box})["status"]
        return box, made, status["network"]["ip"]

    def state(self, made):
        return self.cri("ContainerStatus", {"containerId": made})["status"]

    def answers(self, ns, address):
        """The name that the probe in the pod tells there."""
        return flow_case.reach(ns, address, 7777, payload=b"ping\n")

    def endpoints(self):
        return [e for e in self.node.control({"op": "dump"}).get("endpoints", [])
                if not e.get("Flags") and e.get("HostComputeNamespace")]


class Overlay(Cri):
    mode, kind, plugin = "overlay", "Overlay", "win-overlay"

    def cluster(self):
        net = self.network()
        self.remote(net)
        self.host_route(net)
        self.peer(net)
        return net

    def test_a_pod_lives(self):
        """From no network to a pod that answers across the fabric, and back to nothing."""
        version = self.cri("Version")
        self.assertEqual(version["runtimeName"], "containerd")
        self.assertFalse(self.condition("NetworkReady").get("status"))
        self.assertIn("cni plugin not initialized",
                      self.cri("RunPodSandbox", {"config": pod("early")}, refused=True))
        self.assertEqual(self.node.control({"op": "dump"}).get("namespaces"), [])
        self.configure(self.cluster())
        self.assertTrue(self.condition("NetworkReady")["status"])
        box, made, address = self.run_pod("a")
        self.assertTrue(address.startswith("10.244.1."), address)
        self.until(lambda: self.answers(self.fabric.ns("l1-echo"), address), "a", SOON)
        self.assertEqual(self.state(made)["state"], "CONTAINER_RUNNING")
        self.lives_on(made, address)
        self.ends(box, made, address)

    def lives_on(self, made, address):
        """The service is stopped and started: the pod does not notice."""
        self.service("stop")
        self.assertEqual(self.answers(self.fabric.ns("l1-echo"), address), "a")
        self.service("start")
        self.assertEqual(self.state(made)["state"], "CONTAINER_RUNNING")

    def ends(self, box, made, address):
        self.cri("StopContainer", {"containerId": made, "timeout": "1"})
        state = self.state(made)
        self.assertEqual(state["state"], "CONTAINER_EXITED")
        self.cri("StopPodSandbox", {"podSandboxId": box})
        self.assertEqual(self.endpoints(), [])
        self.assertEqual(self.node.control({"op": "dump"}).get("namespaces"), [])
        self.assertFalse(os.path.exists(self.node.path(r"C:\var\lib\cni\networks\flannel.4096\%s"
                                                       % address)))
        self.cri("RemovePodSandbox", {"podSandboxId": box})
        self.assertEqual((self.cri("ListPodSandbox"), self.cri("ListContainers")), ({}, {}))

    def test_a_reboot(self):
        """Windows forgets pods' networks: the old pod is over, can be taken away, a new one lives."""
        net = self.cluster()
        self.configure(net)
        box, made, _ = self.run_pod("a")
        self.node.reboot()
        self.remote(net)  # as flanneld does at its start: HNS has lost its routes
        self.service("start")
        state = self.state(made)
        self.assertEqual((state["state"], state["exitCode"], state["reason"]),
                         ("CONTAINER_EXITED", 255, "Unknown"))
        self.assertEqual(self.cri("ListPodSandbox")["items"][0]["state"], "SANDBOX_NOTREADY")
        self.cri("StopPodSandbox", {"podSandboxId": box})
        self.cri("RemovePodSandbox", {"podSandboxId": box})
        self.assertEqual(self.cri("ListPodSandbox"), {})
        _, _, address = self.run_pod("b")
        self.until(lambda: self.answers(self.fabric.ns("l1-echo"), address), "b", SOON)


class Bridge(Cri):
    mode, kind, plugin = "l2bridge", "L2Bridge", "win-bridge"
    exceptions = flows.Bridge.exceptions
    cluster, route = flows.Bridge.cluster, flows.Bridge.route

    def test_two_pods(self):
        net = self.cluster()
        self.route()
        self.configure(net)
        (_, first, a), (_, _, b) = self.run_pod("a"), self.run_pod("b")
        self.assertNotEqual(a, b)
        echo = self.fabric.ns("l1-echo")
        self.until(lambda: (self.answers(echo, a), self.answers(echo, b)), ("a", "b"), SOON)
        space = self.endpoints()[0]["HostComputeNamespace"]
        self.assertEqual(flow_case.reach(self.node.pod(space), fabrics.ECHO_POD, 80), "l1-echo")
        said = self.cri("ExecSync", {"containerId": first, "timeout": "20",
                                     "cmd": ["cmd", "/c", "echo %POD% & cd & exit 3"]})
        self.assertEqual((said["exitCode"], base64.b64decode(said["stdout"]).decode().split()),
                         (3, ["a", r"C:\probe"]))
