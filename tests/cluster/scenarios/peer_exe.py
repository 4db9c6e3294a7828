"""The same server joined by upstream's kubeadm.exe and by winjoin.exe, each on a played Windows host."""
import os
import sys

import parity
import programs
import stages
from node_stage import NodeStage
from pods import FOLDER as RUNTIME
from scenario import expect, expect_equal, scenario

sys.path.append(os.path.join(stages.ROOT, "tests", "bench"))
import figures  # noqa: E402

DOCUMENT = os.path.join(stages.ROOT, "docs", "design", "kubeadm-parity.md")
SECTION = "files and requests, kubeadm.exe"
# As sig-windows-tools' StartKubelet.ps1 starts it, but with drives: a service under Wine begins on another
# one. kubelet.exe does not read kubeadm-flags.env itself.
KUBELET = (r"C:\k\kubelet.exe --windows-service --cert-dir=C:\var\lib\kubelet\pki "
           r"--config=C:\var\lib\kubelet\config.yaml --kubeconfig=C:\etc\kubernetes\kubelet.conf "
           r"--bootstrap-kubeconfig=C:\etc\kubernetes\bootstrap-kubelet.conf --hostname-override=%s "
           "--enable-debugging-handlers --cgroups-per-qos=false --enforce-node-allocatable=")
CONTAINERD = '"%s\\containerd.exe" --log-file=C:\\var\\log\\containerd.log --run-service' % RUNTIME
FOLDERS = (r"C:\var\log", r"C:\var\lib\kubelet", r"C:\etc\kubernetes\pki", r"C:\etc\kubernetes\manifests")


class Pair(NodeStage):
    """Two hosts, shared with no other scenario: nothing takes kubeadm.exe's join back."""


def prepare(node):
    """What kubeadm.exe finds on a host that an administrator prepared manually (PrepareNode.ps1):
    programs, folders, the services containerd and kubelet."""
    found = programs.ensure(["kubeadm.exe", "kubelet.exe", "cri.exe"])
    for name in ("kubeadm.exe", "kubelet.exe"):
        node.host.put(found[name], "C:\\k\\" + name)
    node.host.put(found["cri.exe"], RUNTIME + r"\containerd.exe")
    for folder in FOLDERS:
        os.makedirs(node.host.path(folder), exist_ok=True)
    for name, command in (("containerd", CONTAINERD), ("kubelet", KUBELET % node.node_name)):
        sc(node, "create", name, "binPath=", command, "start=", "demand")
    sc(node, "start", "containerd")


def sc(node, *words):
    done = node.host.run(["sc", *words])
    expect_equal(done.returncode, 0, "sc %s: %s" % (words[0], done.stdout + done.stderr))


def kubeadm_joins(stage, node):
    """Upstream's kubeadm.exe; answers what it said."""
    done = node.host.run([r"C:\k\kubeadm.exe", "join", *stage.trust(), "--node-name", node.node_name,
                          "--cri-socket", "npipe:////./pipe/containerd-containerd",
                          "--ignore-preflight-errors", "SystemVerification"],  # asks a real PowerShell
                         timeout=300,
                         env={"WINEPATH": r"C:\k"})  # PrepareNode.ps1 puts it onto %PATH%
    with open(os.path.join(stage.scratch, "said-kubeadm.txt"), "w", encoding="utf-8") as f:
        f.write(done.stdout + done.stderr)
    expect_equal(done.returncode, 0, done.stdout + done.stderr)
    stage.cluster.wait_for(lambda: stage.cluster.call("GET", "/api/v1/nodes/" + node.node_name), 60,
                           what_for="Node of kubeadm.exe")
    return done.stdout


def view(stage, node):
    """A host's folders under the names that parity compares."""
    folder = os.path.join(stage.scratch, "of-" + node.node_name)
    os.makedirs(folder)
    for name, windows in (("kubernetes", r"C:\etc\kubernetes"), ("kubelet", r"C:\var\lib\kubelet")):
        os.symlink(node.host.path(windows), os.path.join(folder, name))
    return folder


@scenario("peer-exe", "kubeadm.exe's files and requests beside winjoin.exe's; docs/design/kubeadm-parity.md says the "
          "same", ("peer",), on=Pair, count=2)
def peer_exe(stage):
    ours, theirs = stage.nodes
    names = (theirs.node_name, ours.node_name)
    prepare(theirs)
    kubeadm_joins(stage, theirs)
    stage.join("--verify", "none", node=ours)
    unequal, equal = parity.differences(view(stage, theirs), view(stage, ours), names, parity.EXE_REASONS)
    lines = stage.requests()
    rows = parity.requests(parity.asked(lines, ("kubeadm", "kubelet"), names), parity.asked(lines, "winjoin", names),
                           parity.EXE_ASKED)
    text = parity.document(unequal, equal, rows, stage.cluster.version, "for Windows (kubeadm.exe, kubelet.exe)")
    if os.environ.get("DOCS"):
        figures.replace_section(DOCUMENT, SECTION, text)
    expect(parity.agrees(figures.section(DOCUMENT, SECTION), text, stage.cluster.version), "docs/design/kubeadm-parity.md says otherwise; "
           "DOCS=1 make e2e ONLY=peer-exe writes it", text)
