"""The same server joined by upstream's kubeadm and by winjoin: files and requests, and what explains them."""
import base64
import os
import subprocess
import sys

import parity
import programs
import stages
from scenario import Skip, expect, expect_equal, scenario

sys.path.append(os.path.join(stages.ROOT, "tests", "bench"))
import figures  # noqa: E402
import machine as machines  # noqa: E402

DOCUMENT, SECTION = os.path.join(stages.ROOT, "docs", "design", "kubeadm-parity.md"), "files and requests"
NAMES = ("peer-k", "peer-w")


def joined(stage):
    """The folders of kubeadm's files and of winjoin's, each with kubernetes and kubelet: both have joined."""
    if not os.path.exists(machines.SPAWN):
        raise Skip("'%s' is not built" % machines.SPAWN)
    found = programs.ensure(["kubelet", "cri"])
    machine = machines.Machine(stage.fabric, stage.cluster, kubelet=found["kubelet"], cri=found["cri"])
    machine.measure(machine.kubeadm(NAMES[0]), private=True)
    machine.measure(machine.winjoin(NAMES[1]))
    return [view(os.path.join(stage.scratch, name), kubernetes, kubelet) for name, kubernetes, kubelet in (
        ("kubeadm", machine.at("kept/kubernetes"), machine.at("kept/var/lib/kubelet")),
        ("winjoin", machine.at("rootfs/etc/kubernetes"), machine.at("rootfs/var/lib/kubelet")))]


def view(folder, kubernetes, kubelet):
    os.makedirs(folder)
    os.symlink(kubernetes, os.path.join(folder, "kubernetes"))
    os.symlink(kubelet, os.path.join(folder, "kubelet"))
    return folder


def subject(item):
    pem = base64.b64decode(item["spec"]["request"])
    return subprocess.run(["openssl", "req", "-noout", "-subject"], input=pem, capture_output=True,
                          check=True).stdout.decode().strip()


def request(stage, name):
    """With what, but for the key, a node's certificate was asked for, and why it was approved."""
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    for item in stage.cluster.call("GET", path)["items"]:
        if subject(item).endswith(":" + name) and item["spec"]["username"].startswith("system:bootstrap:"):
            return ({k: v for k, v in item["spec"].items() if k not in ("request", "uid")},
                    subject(item).replace(name, "NODE"), item["status"]["conditions"][0]["reason"])
    raise AssertionError("no certificate signing request of " + name)


@scenario("peer-files", "kubeadm's files and requests beside winjoin's; docs/design/kubeadm-parity.md says the same",
          ("peer",), cgroup_driver="cgroupfs")
def files(stage):
    kubeadm, winjoin = joined(stage)
    unequal, equal = parity.differences(kubeadm, winjoin, NAMES)
    lines = stage.requests()
    rows = parity.requests(parity.asked(lines, ("kubeadm", "kubelet"), NAMES), parity.asked(lines, "winjoin", NAMES))
    expect_equal(request(stage, NAMES[1]), request(stage, NAMES[0]), "the certificate is asked for otherwise")
    text = parity.document(unequal, equal, rows, stage.cluster.version)
    if os.environ.get("DOCS"):
        figures.replace_section(DOCUMENT, SECTION, text)
    expect(parity.agrees(figures.section(DOCUMENT, SECTION), text, stage.cluster.version), "docs/design/kubeadm-parity.md says otherwise; "
           "DOCS=1 make e2e ONLY=peer-files writes it", text)
