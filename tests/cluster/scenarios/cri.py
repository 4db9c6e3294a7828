"""The CRI server that takes containerd's place (tests/cluster/cri): its own tests, and real pods."""
import json
import os
import shutil
import subprocess
import time
import unittest

import flow_case
import netns
import node_stage
import pods
import programs
import stages
from scenario import Skip, expect, expect_equal, expect_in, scenario

GROUPS = ("cri",)
PROBE = r"C:\probe"
BOX, BIN = PROBE + r"\kubectl", PROBE + r"\bin"
FORWARDED = 17777


class Alone:
    """No stage: these bring their own."""

    def __init__(self, folder):
        for path in (pods.PROBE, pods.winhost.prefixes.DLLS):
            if not os.path.exists(path):
                raise Skip("'%s' is not built: make windows rig" % path)
        self.folder = folder

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def describe(self):
        return "no cluster"

    def begin(self):
        """Nothing to prepare."""

    def end(self):
        """Nothing to take away."""

    def keep(self, folder):
        """What failed says everything in its words."""


def run(case):
    result = unittest.TestResult()
    case.run(result)
    if result.skipped:
        raise Skip(result.skipped[0][1])
    expect(not result.failures + result.errors, "\n".join(t for _, t in result.failures + result.errors))


@scenario("cri-unit", "configuration, state, logs, filters: go test", ("ci", *GROUPS), on=Alone)
def unit(_stage):
    programs.go(os.path.join(stages.ROOT, "tests", "cluster", "cri"), "test", "-mod=readonly", "./...")


@scenario("cri-overlay", "a pod by win-overlay.exe: reached across the fabric, outlives the service",
          GROUPS, on=Alone)
def overlay(_stage):
    run(pods.Overlay("test_a_pod_lives"))


@scenario("cri-reboot", "after a reboot the old pod is over and a new one lives", GROUPS, on=Alone)
def reboot(_stage):
    run(pods.Overlay("test_a_reboot"))


@scenario("cri-bridge", "two pods by win-bridge.exe, and a command in one of them", GROUPS, on=Alone)
def bridge(_stage):
    run(pods.Bridge("test_two_pods"))


@scenario("cri-kubectl", "logs, exec, port-forward and an exec probe, by kubectl and kubelet.exe", GROUPS,
          on=node_stage.NodeStage)
def kubectl(stage):
    host, name = stage.node.host, "talks-" + stage.node.node_name
    host.put(pods.PROBE, BIN + r"\winjoin-probe.exe")
    os.makedirs(host.path(BOX))
    stage.join("--skip-phases", "verify")
    manifest = host.path(r"C:\etc\kubernetes\manifests\talks.json")
    with open(manifest, "w", encoding="utf-8") as f:
        json.dump(talking_pod(), f)
    pod = until(lambda: ready(stage.cluster, name), 60, "the pod is not Ready")
    expect_in("hello from the pod", stage.cluster.kubectl("logs", "-n", "kube-system", name))
    said = stage.cluster.kubectl("exec", "-n", "kube-system", name, "--", "cmd", "/c", "echo %WORD%")
    expect_equal(said.strip(), "spoken", "exec")
    done = subprocess.run([*stage.cluster.by_hand().split(), "exec", "-n", "kube-system", name, "--",
                           "cmd", "/c", "exit 3"], capture_output=True, text=True, check=False)
    expect_equal(done.returncode, 3, "its exit code: " + done.stderr)
    exec_by_winjoin(stage.cluster, name)
    forward(stage, name)
    os.unlink(manifest)
    until(lambda: not pod_of(stage.cluster, name), 60, "the pod stays")
    expect_equal(host.control({"op": "dump"}).get("namespaces"), [], "its namespace stays")
    stage.reset(compare=False)
    shutil.rmtree(host.path(PROBE))
    stage.expect_bare()


def exec_by_winjoin(cluster, pod):
    """The same by kube/exec.h, over a WebSocket."""
    def run(where, *words):
        return subprocess.run(["ip", "netns", "exec", cluster.ns, os.path.join(pods.ROOT, "build/native/kube-exec"), cluster.kubeconfig,
                               "kube-system", where, *words], capture_output=True, text=True, check=False, timeout=60)
    done = run(pod, "cmd", "/c", "echo %WORD%& exit 7")
    expect_equal((done.returncode, done.stdout.strip()), (7, "spoken"), "exec: " + done.stderr)
    done = run("nobody", "cmd")
    expect_equal(done.returncode, 255, "exec of no pod")
    expect_in('pods "nobody" not found (404 NotFound)', done.stderr)


def talking_pod():
    talk = r"echo hello from the pod& %s\winjoin-probe.exe serve --mailbox %s --name talks --tcp 7777" % (
        BIN, BOX)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "talks", "namespace": "kube-system"},
            "spec": {"containers": [{
                "name": "talks", "image": pods.IMAGE, "command": ["cmd", "/c", talk],
                "env": [{"name": "WORD", "value": "spoken"}],
                "readinessProbe": {"exec": {"command": ["cmd", "/c", "exit 0"]}, "periodSeconds": 2,
                                   "timeoutSeconds": 10},
                "volumeMounts": [{"name": n, "mountPath": p} for n, p in (("bin", BIN), ("box", BOX))]}],
                "volumes": [{"name": n, "hostPath": {"path": p}} for n, p in (("bin", BIN), ("box", BOX))]}}


def pod_of(cluster, name):
    found = cluster.kubectl("get", "pod", "-n", "kube-system", name, "-o", "json", "--ignore-not-found")
    return json.loads(found) if found.strip() else None


def ready(cluster, name):
    pod = pod_of(cluster, name)
    conditions = {c["type"]: c["status"] for c in (pod or {}).get("status", {}).get("conditions", [])}
    return pod if conditions.get("Ready") == "True" else None


def until(question, seconds, text):
    end = time.monotonic() + seconds
    while not (answer := question()):
        expect(time.monotonic() < end, text)
        time.sleep(0.5)
    return answer


def forward(stage, name):
    """A port of the control plane's machine leads into the pod."""
    cp = stage.fabric.ns("cp")
    words = [*stage.cluster.by_hand().split(), "port-forward", "-n", "kube-system", name,
             "%d:7777" % FORWARDED]
    with open(os.path.join(stage.scratch, "port-forward.log"), "wb") as log:
        proc = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    stage.running.append(proc)
    until(lambda: flow_case.reach(cp, "127.0.0.1", FORWARDED, payload=b"ping\n") == "talks", 20, "port-forward")
    netns.stop(proc)
    stage.running.remove(proc)
