"""README.md and docs/start.md, followed line by line: each command in their blocks is typed as it is there,
on a cluster as kubeadm and flannel leave it and a Windows server that has nothing, up to a Ready node.

Only the reader's own values are put in the place of the shown ones: address, token, hash. `Install-WindowsFeature`
is played by the restart alone, and a line of which nobody knows where it is typed fails.
"""
import contextlib
import json
import os
import re
import shutil
import subprocess

import fabric as fabrics
import netns
import objects
import stage as rig
import stages
from node_stage import NodeStage
from scenario import expect, expect_equal, expect_in, scenario

FLANNEL = "/api/v1/namespaces/kube-flannel/configmaps/kube-flannel-cfg"
DAEMONSETS = "/apis/apps/v1/namespaces/kube-flannel/daemonsets"
PODS = "/api/v1/namespaces/default/pods"
DOWNLOADS = "C:\\Downloads"  # the administrator's own folder, from which everything is typed on the server
DOCUMENTS = ("ci", "documents")
# An editor that a person would open: it puts the backend that the document demands into the object.
EDITOR = """#!/usr/bin/env python3
import re, sys
text = open(sys.argv[1]).read()
open(sys.argv[1], "w").write(re.sub(r'"Backend": \\{[^}]*\\}', '"Backend": %s', text))
"""


def section(name, begin, end=None):
    """The lines of a document between two headings."""
    with open(os.path.join(stages.ROOT, name), encoding="utf-8") as f:
        text = f.read()
    expect_in(begin, text, name + " has no such heading")
    text = text[text.index(begin):]
    return text[:text.index(end)] if end else text


def commands(text):
    """The lines of its blocks, as a reader copies them; a note after three blanks is none of it."""
    return [re.split(r" {3,}", line)[0] for line in re.findall(r"^    (\S.*)$", text, re.M)]


def backend(text):
    """What the document says that flannel's backend must be."""
    return re.search(r'backend (?:is|must be) `(\{[^`]*\})`', text).group(1)


class Bare(NodeStage):
    """A cluster where nobody has heard of Windows, and a server with nothing but winjoin.exe in C:\\k."""

    def __init__(self, folder):
        super().__init__(folder, defaults="", agents=False)

    def __enter__(self):
        super().__enter__()
        labels = {"app": "flannel"}
        objects.create(self.cluster, DAEMONSETS, "DaemonSet", "kube-flannel-ds", "apps/v1", spec={
            "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
                "nodeSelector": {"rig/flannel": "played"},
                "containers": [{"name": "kube-flannel", "image": "flannel:1"}]}}})
        return self


class Reader:
    """A person with a terminal where kubectl has administrator rights, and one on the server."""

    def __init__(self, stage, document):
        self.stage, self.document, self.host = stage, document, stage.node.host
        facts = stage.cluster.facts
        self.values = (("10.0.0.10:6443", facts["endpoint"]), ("abcdef.0123456789abcdef", facts["token"]),
                       ("sha256:...", facts["caCertHash"]))
        self.path, self.said = "", {}

    def on_cluster(self, line):
        folder = os.path.join(self.stage.scratch, "bin")
        os.makedirs(folder, exist_ok=True)
        for name, target in (("winjoin", stages.WINJOIN), ("kubectl", self.stage.cluster.programs["kubectl"])):
            if not os.path.lexists(os.path.join(folder, name)):
                os.symlink(target, os.path.join(folder, name))
        editor = os.path.join(folder, "editor")
        with open(editor, "w", encoding="utf-8") as f:
            f.write(EDITOR % backend(self.document))
        os.chmod(editor, 0o755)
        return subprocess.run(netns.command(self.stage.cluster.ns, ["sh", "-c", line]), text=True, timeout=60,
                              capture_output=True, check=False, env={
                                  **stages.plain_environment(), "PATH": folder + ":" + os.environ["PATH"],
                                  "KUBECONFIG": self.stage.cluster.kubeconfig, "KUBE_EDITOR": editor})

    def on_server(self, line):
        for shown, value in self.values:
            line = line.replace(shown, value)
        return self.host.run(["cmd", "/c", "cd /d " + DOWNLOADS + " & " + line], timeout=240, env={
            "WINEPATH": self.path, "WINJOIN_IGNORE_PREFLIGHT_ERRORS": rig.IGNORED,
            "WINJOIN_NODE_NAME": self.stage.node.node_name, "WINJOIN_FORCE": "true"})  # asked without a terminal

    def type(self, line):
        """Types one line where it belongs; it must succeed."""
        if found := re.fullmatch(r"\$env:Path \+= ';(.*)'", line):
            self.path = found.group(1)
            return
        if line == "Install-WindowsFeature Containers -Restart":
            self.host.reboot()  # the feature itself is there: a played Windows has no DISM
            self.path = ""
            return
        if line == "cd $HOME\\Downloads":
            return
        cluster = line.startswith("kubectl ") or "| kubectl " in line
        expect(cluster or line.startswith(("winjoin ", ".\\winjoin.exe ")), "nobody knows where this is typed: " + line)
        done = (self.on_cluster if cluster else self.on_server)(line)
        self.said[line] = done.stdout + done.stderr
        expect(stages.SECRET not in self.said[line], "the token's secret is printed", line)
        expect_equal(done.returncode, 0, "exit code of: %s\n%s" % (line, self.said[line][-6000:]))

    def follow(self, text):
        lines = commands(text)
        for line in lines:
            self.type(line)
        return lines


def expect_ready(stage, reader, line):
    """`kubectl get nodes` shows the server, Ready; flanneld keeps its routes, as on the cluster's other nodes."""
    item = stage.expect_ready()
    expect_in("flannel.alpha.coreos.com/backend-data", item["metadata"].get("annotations", {}), "flanneld published nothing")
    for said in reader.said.values():
        expect("--network-plugin flannel" not in said, "flannel is not found", said)
    row = re.search(r"^%s +(\S+) .*$" % stage.node.node_name, reader.said[line], re.M)
    expect(row and row.group(1) == "Ready", "the node is not Ready", reader.said[line])


@contextlib.contextmanager
def bare(stage):
    """flannel as upstream's manifest has it, and what the documents take as given: winjoin.exe and the programs in the
    administrator's own folder. All of it goes afterwards, and what was applied."""
    host, found = stage.node.host, stage.cluster.call("GET", FLANNEL)
    net = {**json.loads(found["data"]["net-conf.json"]), "Backend": {"Type": "vxlan"}}
    stage.cluster.call("PUT", FLANNEL, {**found, "data": {"net-conf.json": json.dumps(net, indent=2)}})
    host.put(rig.WINJOIN, DOWNLOADS + "\\winjoin.exe")
    for name in os.listdir(rig.STANDINS):
        host.put(stage.node.programs.get(name, os.path.join(rig.STANDINS, name)), DOWNLOADS + "\\programs\\" + name)
    bundle = host.path("C:\\winjoin-bundle.zip")
    os.replace(bundle, bundle + ".kept")
    yield
    backend_now = json.loads(stage.cluster.call("GET", FLANNEL)["data"]["net-conf.json"])["Backend"]
    expect_equal((backend_now.get("VNI"), backend_now.get("Port")), (fabrics.VNI, fabrics.VXLAN_PORT), "flannel's backend")
    os.replace(bundle + ".kept", bundle)
    for name in ("k", "Downloads"):
        shutil.rmtree(os.path.join(host.drive, name))
    stage.cluster.kubectl("delete", "-f", "-", stdin=stage.winjoin("config", "cluster", code=0).out)


@scenario("quick-start", "docs/start.md as it is, from upstream's flannel to a pod", DOCUMENTS, on=Bare)
def quick_start(stage):
    text = section("docs/start.md", "# Quick start")
    reader = Reader(stage, text)
    with bare(stage):
        lines = reader.follow(text)
        expect(len(lines) > 10, "few commands are left", *lines)
        expect_ready(stage, reader, "kubectl get nodes -o wide")
        expect_in("kubernetes.io/os", json.dumps(stage.cluster.call("GET", PODS + "/web")["spec"]))
        stage.cluster.call("DELETE", PODS + "/web")
        stage.reset(compare=False)
    stage.expect_bare()


@scenario("readme", "README as it is, from upstream's flannel to a Ready node and back", DOCUMENTS, on=Bare)
def readme(stage):
    text = section("README.md", "## Join a Windows Server", "## Try it")
    reader = Reader(stage, text)
    with bare(stage):
        reader.type(".\\winjoin.exe install")  # as README says in words
        reader.on_cluster("kubectl -n kube-flannel edit configmap kube-flannel-cfg")  # README says what, not how
        lines = reader.follow(text)
        expect(len(lines) > 10, "few commands are left", *lines)
        expect_ready(stage, reader, "kubectl get nodes")
        expect(re.search(r"^(\d+) of \1 flows work", reader.said["winjoin diag"], re.M), "flows fail", reader.said["winjoin diag"])
        stage.cluster.call("DELETE", "/api/v1/nodes/" + stage.node.node_name)
    stage.expect_bare()
