"""The real containerd.exe, as the service that winjoin registers, judges the files winjoin writes."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import time
import tomllib

import node_stage
import programs
import stages
from containerd_file import containerd_file
from scenario import Skip, expect, expect_equal, expect_in, scenario

import stage as rig_stage
import winhost

FOLDER, LOG = r"C:\Program Files\containerd", r"C:\var\log\containerd\containerd.log"
PROGRAM, CONFIG = FOLDER + r"\containerd.exe", FOLDER + r"\config.toml"
PIPE, PROBE = r"\\.\pipe\containerd-containerd", r"C:\criprobe.exe"
BIN, CONF = r"C:\opt\cni\bin", r"C:\etc\cni\net.d"
RUNTIME, IMAGES = "io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images"
DATA = r"C:\ProgramData\containerd"
# What containerd says on every Windows, or before there is a pod network.
USUAL = ("fsverity is only supported on Linux", "failed to load cni during init",
         "Configuration migrated from version",
         # the file beside, before it is renamed into place
         "failed to reload cni configuration after receiving fs change event(WRITE")


class Runtime:
    """containerd.exe on a host, by its log, its commands and its pipe."""

    def __init__(self, host):
        self.host = host
        host.put(programs.ensure(["criprobe.exe"])["criprobe.exe"], PROBE)

    def said(self):
        try:
            with open(self.host.path(LOG), encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def complaints(self):
        return complaints(self.said())

    def ask(self, method, **request):
        return self.host.run([PROBE, PIPE, method, json.dumps(request)], timeout=150)

    def cri(self, method, **request):
        done = self.ask(method, **request)
        expect_equal(done.returncode, 0, done.stderr + self.said())
        return json.loads(done.stdout)

    def conditions(self):
        return {c["type"]: c for c in self.cri("Status")["status"]["conditions"]}

    def dump(self, config):
        """The configuration as containerd understands it, migrated; and what it says to that."""
        done = self.host.run([PROGRAM, "--config=" + config, "config", "dump"])
        expect_equal(done.returncode, 0, done.stdout + done.stderr)
        return tomllib.loads(done.stdout), complaints(done.stderr)


class Node:
    """A played Windows host on which winjoin got as far as containerd; no kubelet, no pods."""

    def __init__(self, folder, **keywords):
        for path in (rig_stage.WINJOIN, winhost.prefixes.DLLS):
            if not os.path.exists(path):
                raise Skip("'%s' is not built: make windows rig" % path)
        self.scene = rig_stage.Stage(programs=real(), **keywords)

    def __enter__(self):
        begin = time.monotonic()
        self.scene.__enter__()
        self.runtime = Runtime(self.scene.host)
        self.joined = self.scene.join(
            "--skip-phases", "kubelet,node,pod-network,flanneld,kube-proxy,ready,verify")
        self.seconds = time.monotonic() - begin
        return self

    def __exit__(self, *_):
        self.scene.__exit__()

    def describe(self):
        return "a Windows host joined as far as containerd in %.1f s" % self.seconds

    def begin(self):
        expect_equal(self.joined.returncode, 0,
                     self.joined.stdout + self.joined.stderr + self.runtime.said())

    def end(self):
        """Nothing runs on."""

    def keep(self, folder):
        os.makedirs(folder, exist_ok=True)
        for path in map(self.scene.host.path, (LOG, CONFIG)):
            if os.path.exists(path):
                shutil.copy(path, folder)


class Whole(node_stage.NodeStage):
    """A node whose every program is upstream's. Wine holds no container, so no flow is proved."""

    def programs(self):
        return {**super().programs(), **real()}


def real():
    return programs.ensure(["containerd.exe"])


def complaints(log):
    """What containerd says louder than `info` and not on every Windows."""
    loud = [line for line in log.splitlines() if re.search(r"level=(warning|error|fatal|panic)", line)]
    return [line for line in loud if not any(usual in line for usual in USUAL)]


def sandbox_image():
    """The one that kubeadm names for this Kubernetes."""
    done = subprocess.run([programs.ensure(["kubeadm"])["kubeadm"], "config", "images", "list",
                           "--kubernetes-version", programs.versions()["kubernetes"]["version"]],
                          capture_output=True, text=True, timeout=60, check=True)
    return next(line for line in done.stdout.split() if "/pause:" in line)


def version():
    return programs.versions()["containerd"]["version"]


def check_values(config):
    """Every value of winjoin's file reached the plugin that it is meant for."""
    plugins = config["plugins"]
    cni, containerd = plugins[RUNTIME]["cni"], plugins[RUNTIME]["containerd"]
    expect_equal(plugins[IMAGES]["pinned_images"].get("sandbox"), sandbox_image(),
                 "another sandbox image")
    expect_equal((cni["bin_dirs"], cni["conf_dir"]), ([BIN], CONF), "other CNI folders")
    default = containerd["default_runtime_name"]
    expect_equal(default, "runhcs-wcow-process", "another runtime")
    expect_equal(containerd["runtimes"][default]["runtime_type"], "io.containerd.runhcs.v1", "its type")
    expect(plugins["io.containerd.nri.v1.nri"]["disable"], "NRI is on")
    expect_equal((config["root"], config["state"]), (DATA + r"\root", DATA + r"\state"), "folders")


@scenario("real-containerd", "starts as winjoin's service, takes its file without a word, serves CRI",
          ("ci", "containerd"), on=Node)
def service(stage):
    runtime = stage.runtime
    expect_in("RUNNING", stage.scene.host.run(["sc", "query", "containerd"]).stdout)
    config, said = runtime.dump(CONFIG)
    expect_equal(said, [], "it complains")
    check_values(config)
    expect_in("containerd successfully booted", runtime.said())
    expect_equal(runtime.complaints(), [], "it complains")
    expect_equal(runtime.cri("Version").get("runtimeVersion"), version(), "another program")
    before = runtime.conditions()
    expect(before["RuntimeReady"].get("status"), "not ready", before)
    expect(before["ContainerdHasNoDeprecationWarnings"].get("status"), "deprecated", before)
    expect(not before["NetworkReady"].get("status"), "a pod network out of nothing", before)
    status = runtime.cri("Status", verbose=True)
    expect_in("runhcs-wcow-process", [h.get("name") for h in status["runtimeHandlers"]])
    expect_in(json.dumps(CONF)[1:-1], status["info"]["cniconfig"])
    images = runtime.cri("ImageFsInfo")["imageFilesystems"][0]["fsId"]["mountpoint"]
    expect(images.startswith(DATA + "\\root\\"), "outside of its folder", images)
    configure(runtime)


def configure(runtime):
    """A CNI configuration turns up: containerd sees it by itself."""
    path = runtime.host.path(CONF + r"\10-winjoin.conf")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"cniVersion": "1.0.0", "name": "n", "type": "win-overlay"}, f)
    try:
        wait_ready(runtime)
    finally:
        os.unlink(path)


def wait_ready(runtime):
    end = time.monotonic() + 15
    while not runtime.conditions()["NetworkReady"].get("status"):
        expect(time.monotonic() < end, "the CNI configuration is not seen", runtime.said())


@scenario("real-containerd-1", "containerd 2 takes the file for containerd 1 as well", ("ci", "containerd"),
          on=Node)
def older(stage):
    with open(stage.scene.host.path(r"C:\old.toml"), "w", encoding="utf-8") as f:
        f.write(containerd_file("containerd-v2.toml", sandbox_image()))
    config, said = stage.runtime.dump(r"C:\old.toml")
    expect_equal(said, [], "it complains")
    check_values(config)


SPY, SPIED = BIN + r"\cnispy.exe", BIN + r"\cnispy.jsonl"
POD = {"metadata": {"name": "p", "uid": "u", "namespace": "default"}, "windows": {}, "hostname": "p",
       "logDirectory": r"C:\var\log\pods\p", "labels": {"a": "b"}, "annotations": {"c": "d"},
       "dnsConfig": {"servers": ["10.96.0.10"], "searches": ["svc.cluster.local"], "options": ["ndots:5"]},
       "portMappings": [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81},
                        {"protocol": "UDP", "containerPort": 53, "hostPort": 5353, "hostIp": "10.0.0.21"}]}


@scenario("real-containerd-cri", "our CRI server asks CNI plugins and HNS for the same as containerd",
          ("containerd", "cri"), on=Node)
def same(stage):
    host, runtime, log = stage.scene.host, stage.runtime, os.path.join(
        stage.scene.fabric.folder, stage.scene.host.name + "-calls.jsonl")
    host.put(programs.ensure(["cnispy.exe"])["cnispy.exe"], SPY)
    seen = []
    with configured(runtime):
        for program, wanted in ((None, 1), (programs.ensure(["cri.exe"])["cri.exe"], 0)):
            if program:
                replace(host, program)
            before = os.path.getsize(log)
            done = runtime.ask("RunPodSandbox", config=POD)
            expect_equal(done.returncode, wanted, done.stdout + done.stderr + runtime.said()[-3000:])
            if not wanted:
                runtime.cri("StopPodSandbox", podSandboxId=json.loads(done.stdout)["podSandboxId"])
            seen.append((spied(host), asked(log, before)))
    replace(host, real()["containerd.exe"])
    for mine, theirs, what in zip(seen[1], seen[0], ("CNI plugins", "HNS")):
        expect(theirs, what + " are not asked at all", runtime.said()[-3000:])
        expect_equal(mine, theirs, what + " are asked for something else")


@contextlib.contextmanager
def configured(runtime):
    """The spy is the pod network, and is told everything that a plugin can be told."""
    path = runtime.host.path(CONF + r"\10-spy.conflist")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"cniVersion": "1.0.0", "name": "spied", "plugins": [{
            "type": "cnispy", "capabilities": {"dns": True, "portMappings": True, "bandwidth": True,
                                               "io.kubernetes.cri.pod-annotations": True}}]}, f)
    try:
        wait_ready(runtime)
        yield
    finally:
        os.unlink(path)


def replace(host, program):
    """Another program in the service."""
    for verb, state in (("stop", "STOPPED"), ("start", "RUNNING")):
        host.run(["sc", verb, "containerd"])
        end = time.monotonic() + 30
        while state not in host.run(["sc", "query", "containerd"]).stdout:
            expect(time.monotonic() < end, "the service does not %s" % verb)
            time.sleep(0.2)
        if verb == "stop":
            host.put(program, PROGRAM)


def spied(host):
    """The plugin's calls since the last time, without what differs from pod to pod."""
    path = host.path(SPIED)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    os.unlink(path)
    found = [json.loads(plain(line)) for line in text.splitlines()]
    for call in found:
        call["Environment"]["CNI_ARGS"] = sorted(call["Environment"]["CNI_ARGS"].split(";"))
    return found


def asked(log, start):
    """What containerd asked of HNS, as far as the pod's namespace was made."""
    with open(log, encoding="utf-8") as f:
        f.seek(start)
        found = [json.loads(line) for line in f]
    mine = [(c["fn"], plain(json.dumps(c["args"].get("Document") or c["args"].get("Query"))))
            for c in found if c.get("exe") == "containerd.exe"]
    names = [fn for fn, _ in mine]
    return mine[:names.index("HcnCloseNamespace") + 1] if "HcnCloseNamespace" in names else mine


def plain(text):
    text = re.sub(r"\b[0-9a-f]{64}\b", "POD", text)
    return re.sub(r"(?i)\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "GUID", text)


@scenario("real-containerd-node", "with kubelet.exe: Ready, a pod gets its network, reset leaves nothing",
          ("containerd",), on=Whole)
def whole(stage):
    stage.join("--skip-phases", "verify")
    info = stage.expect_ready()["status"]["nodeInfo"]
    expect_equal(info["containerRuntimeVersion"], "containerd://" + version().lstrip("v"), "runtime")
    runtime = Runtime(stage.node.host)
    expect_equal(runtime.complaints(), [], "it complains")
    before = len(calls(stage.node))
    done = runtime.ask("RunPodSandbox", config={
        "metadata": {"name": "p", "uid": "u", "namespace": "default"}, "windows": {},
        "logDirectory": r"C:\var\log\pods\p"})
    # No registry here, and no HCS: as far as this the sandbox gets, with its network behind it.
    expect_in('failed to pull image "%s"' % sandbox_image(), done.stderr)
    check_network(stage.node, calls(stage.node)[before:])
    os.unlink(stage.node.host.path(PROBE))
    stage.reset()


def calls(node):
    """What was asked of HNS so far."""
    path = os.path.join(node.fabric.folder, node.host.name + "-calls.jsonl")
    with open(path, encoding="utf-8") as f:
        return [call for line in f if "fn" in (call := json.loads(line))]


def check_network(node, made):
    """containerd.exe had the plugin connect its pod by winjoin's CNI file, and took it all back."""
    spaces = [c for c in made if (c["exe"], c["fn"]) == ("containerd.exe", "HcnCreateNamespace")]
    ends = [c for c in made if (c["exe"], c["fn"]) == ("win-overlay.exe", "HcnCreateEndpoint")]
    expect_equal([c["hr"] for c in spaces + ends], ["0x00000000"] * 2, "not one namespace, one endpoint")
    policies = [p["Type"] for p in json.loads(ends[0]["args"]["Document"])["Policies"]]
    expect({"OutBoundNAT", "SDNRoute", "ProviderAddress"} <= set(policies), "policies", policies)
    expect_equal(node.host.control({"op": "dump"}).get("namespaces"), [], "the namespace stays")
