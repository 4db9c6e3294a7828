"""The real containerd.exe, as the service that winjoin registers, judges the files winjoin writes."""
import json
import os
import re
import shutil
import time
import tomllib

import node_stage
import programs
import stages
from scenario import Skip, expect, expect_equal, expect_in, scenario

import stage as rig_stage
import winhost

FOLDER, LOG = r"C:\Program Files\containerd", r"C:\var\log\containerd\containerd.log"
PROGRAM, CONFIG = FOLDER + r"\containerd.exe", FOLDER + r"\config.toml"
PIPE, PROBE = r"\\.\pipe\containerd-containerd", r"C:\criprobe.exe"
IMAGE, BIN, CONF = "registry.k8s.io/pause:3.10.1", r"C:\opt\cni\bin", r"C:\etc\cni\net.d"
RUNTIME, IMAGES = "io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images"
DATA = r"C:\ProgramData\containerd"
# What containerd says on every Windows, or before there is a pod network.
USUAL = ("fsverity is only supported on Linux", "failed to load cni during init",
         "Configuration migrated from version")


class Runtime:
    """containerd.exe on a host, by its log, its commands and its pipe."""

    def __init__(self, host):
        self.host = host
        host.lay(programs.ensure(["criprobe.exe"])["criprobe.exe"], PROBE)

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


def version():
    return programs.versions()["containerd"]["version"]


def check_values(config):
    """Every value of winjoin's file reached the plugin that it is meant for."""
    plugins = config["plugins"]
    cni, containerd = plugins[RUNTIME]["cni"], plugins[RUNTIME]["containerd"]
    expect_equal(plugins[IMAGES]["pinned_images"].get("sandbox"), IMAGE, "another sandbox image")
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
        end = time.monotonic() + 15
        while not runtime.conditions()["NetworkReady"].get("status"):
            expect(time.monotonic() < end, "the CNI configuration is not seen", runtime.said())
    finally:
        os.unlink(path)


@scenario("real-containerd-1", "containerd 2 takes the file for containerd 1 as well", ("containerd",),
          on=Node)
def older(stage):
    with open(os.path.join(stages.ROOT, "templates", "containerd-v2.toml"), encoding="utf-8") as f:
        text = f.read()
    for name, value in (("SANDBOX_IMAGE", IMAGE), ("CNI_BIN_DIR", BIN), ("CNI_CONF_DIR", CONF)):
        text = text.replace("@%s@" % name, value)
    with open(stage.scene.host.path(r"C:\old.toml"), "w", encoding="utf-8") as f:
        f.write(text)
    config, said = stage.runtime.dump(r"C:\old.toml")
    expect_equal(said, [], "it complains")
    check_values(config)


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
    expect_in('failed to pull image "%s"' % IMAGE, done.stderr)
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
