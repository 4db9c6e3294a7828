"""Cluster API's machines: bootstrap data made by the provider's own packages for a Windows KubeadmConfig, run on an
image whose kubeadm.exe is winjoin, against the real control plane."""
import json
import os

import bootstrap_data
import snapshot
import stage as rig
from node_stage import NodeStage
from scenario import expect, expect_equal, expect_in, scenario

CAPI = ("capi",)
CONTAINERD = r"C:\Program Files\containerd"
CONFIG = CONTAINERD + r"\config.toml"
# As kubernetes-sigs/image-builder registers it: no script that would read kubeadm-flags.env.
KUBELET = (r"C:\k\kubelet.exe --windows-service --cert-dir=C:\var\lib\kubelet\pki --config=C:\var\lib\kubelet\config.yaml "
           r"--bootstrap-kubeconfig=C:\etc\kubernetes\bootstrap-kubelet.conf "
           r"--kubeconfig=C:\etc\kubernetes\kubelet.conf --node-labels=image=old")
SENTINEL = r"C:\run\cluster-api\bootstrap-success.complete"
# What a CNI DaemonSet leaves; the runtime asks for no more before it says NetworkReady.
CNI = {"cniVersion": "1.0.0", "name": "played", "plugins": [{"type": "win-overlay"}]}


def kubeadm_config(stage, name):
    facts = stage.cluster.facts
    return json.dumps({
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "metadata": {"name": "windows"},
        "spec": {
            "format": "cloud-config", "verbosity": 1,
            "files": [{"path": r"C:\k\note.txt", "owner": "root:root", "permissions": "0644", "content": "a note"}],
            "preKubeadmCommands": [r"echo pre > C:\run\pre.txt"],
            "postKubeadmCommands": [r"echo post > C:\run\post.txt"],
            "joinConfiguration": {
                "discovery": {"bootstrapToken": {
                    "token": facts["token"], "apiServerEndpoint": facts["endpoint"],
                    "caCertHashes": [facts["caCertHash"]]}},
                "nodeRegistration": {
                    "name": name, "criSocket": "npipe:////./pipe/containerd-containerd",
                    "ignorePreflightErrors": rig.IGNORED.split(","),
                    "kubeletExtraArgs": [{"name": "node-labels", "value": "winjoin.test/pool=windows"}]}}}})


def prepare_image(stage):
    """Programs, services and kubeadm.exe, as an image builder leaves them."""
    node, host = stage.node, stage.node.host
    plan, _ = stage.join("--dry-run")
    config = next(f["content"] for f in plan["files"] if f["path"] == CONFIG)
    host.put(node.programs["kubelet.exe"], r"C:\k\kubelet.exe")
    host.put(node.programs["containerd.exe"], CONTAINERD + r"\containerd.exe")
    host.put(os.path.join(rig.STANDINS, "containerd-shim-runhcs-v1.exe"), CONTAINERD + r"\containerd-shim-runhcs-v1.exe")
    with open(host.path(CONFIG), "w", encoding="utf-8") as f:
        f.write(config)
    os.makedirs(host.path(r"C:\var\log\containerd"))
    done = node.winjoin("install", "--as-kubeadm")
    expect_equal(done.returncode, 0, done.stdout + done.stderr)
    for name, command in (("containerd", '"%s\\containerd.exe" --config=%s --log-file=%s --run-service' % (
            CONTAINERD, '"%s"' % CONFIG, r"C:\var\log\containerd\containerd.log")), ("kubelet", KUBELET)):
        done = host.run(["sc", "create", name, "binPath=", command, "DisplayName=", name + " of the image"])
        expect_equal(done.returncode, 0, done.stdout + done.stderr)
    host.sc("start", "containerd")


def left(stage, before):
    """What a reset leaves that was not there before; what the data's own commands wrote is not its matter."""
    mine = ("+ run", "run\\", "cloudbase-init", "ProgramData\\winjoin", "var\\log\\kubelet", "var\\log\\containerd")
    return [line for line in snapshot.compare(before, stage.node.snapshot()) if not any(m in line for m in mine)]


def bootstrapped(stage, name):
    """The data's files and commands on the machine: what was said, the codes, the machine before the commands."""
    node = stage.node
    rendered = bootstrap_data.render(kubeadm_config(stage, name), stage.cluster.version)
    data = bootstrap_data.BootstrapData(node.host, rendered, {"local_hostname": node.node_name})
    data.write_files()
    before = node.snapshot()
    return (*data.run(), before)


def written(stage, *windows):
    return [os.path.exists(stage.node.host.path(path)) for path in windows]


@scenario("capi-template", "bootstrap data of Cluster API whose template lacks a variable: kubeadm.exe (winjoin) says which, "
          "the sentinel file is not written, nothing is changed", CAPI, on=NodeStage, mode="overlay", coredns=False)
def capi_template(stage):
    done = stage.node.winjoin("install", "--as-kubeadm")
    expect_equal(done.returncode, 0, done.stdout + done.stderr)
    said, codes, before = bootstrapped(stage, '{{ ds.meta_data["no_such_key"] }}')
    expect_equal(codes, [0, 1, 0], said)
    expect_in("the template's variable \"no_such_key\" was not filled", said)
    expect_equal(written(stage, SENTINEL, r"C:\run\pre.txt", r"C:\run\post.txt"), [False, True, True], said)
    expect_equal(left(stage, before), [], "a refused join changes the machine")


@scenario("capi", "Cluster API's bootstrap data for a Windows KubeadmConfig: kubeadm.exe is winjoin, the image's services "
          "are adopted, kubeletExtraArgs reach the kubelet, the Node is Ready", CAPI, on=NodeStage, mode="overlay",
          coredns=False, count=1)
def capi(stage):
    node, host = stage.node, stage.node.host
    prepare_image(stage)
    version = host.run([r"C:\k\kubeadm.exe", "version", "-o", "short"])
    expect_equal((version.returncode, version.stdout.strip()), (0, stage.cluster.version), version.stderr)
    said, codes, before = bootstrapped(stage, '{{ ds.meta_data["local_hostname"] }}')
    expect_equal(codes, [0, 0, 0, 0], said)
    expect_equal(written(stage, SENTINEL), [True], said)
    expect_in("This node has joined the cluster:", said)
    item = stage.cluster.call("GET", "/api/v1/nodes/" + node.node_name)
    expect_equal(item["metadata"]["labels"].get("winjoin.test/pool"), "windows", "kubeletExtraArgs: " + said)
    expect_equal("image" in item["metadata"]["labels"], False, "the image's own --node-labels was not replaced")
    expect("node.cluster.x-k8s.io/uninitialized" in [t["key"] for t in item["spec"].get("taints", ())],
           "the provider's taint", repr(item["spec"]))
    os.makedirs(host.path(r"C:\etc\cni\net.d"), exist_ok=True)
    with open(host.path(r"C:\etc\cni\net.d\10-played.conflist"), "w", encoding="utf-8") as f:
        json.dump(CNI, f)
    stage.cluster.wait_for(lambda: _ready(stage), 60, what_for="the Node to be Ready")
    done = host.run([r"C:\k\kubeadm.exe", "reset", "--force"], timeout=120)
    expect_equal(done.returncode, 0, done.stdout + done.stderr)
    stage.cluster.call("DELETE", "/api/v1/nodes/" + node.node_name)
    expect_equal(left(stage, before), [], "after kubeadm reset")


def _ready(stage):
    conditions = stage.cluster.call("GET", "/api/v1/nodes/" + stage.node.node_name)["status"]["conditions"]
    return "True" in [c["status"] for c in conditions if c["type"] == "Ready"]
