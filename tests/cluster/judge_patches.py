"""Upstream's kubeadm as judge of patches: it is given each case of kubelet_patches.json.

A case has a KubeletConfiguration, the files of a patches folder and either what must stand in the result
(JSON pointer -> value, null = absent) or the words with which winjoin refuses; the unit test of
join/kubelet/patches.c holds winjoin to the same table. "kubeadm": "takes" marks the cases where kubeadm goes on
and winjoin is stricter: there kubeadm must really go on.

`kubeadm init phase kubelet-start` patches without a server; it runs in a mount and network namespace of
its own with empty folders in the places that it writes to.
"""
import json
import os
import subprocess
import sys
import tempfile

import parity
import programs

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "kubelet_patches.json")
PAGE = os.path.join(HERE, "..", "..", "docs", "design", "kubeadm-parity.md")
INIT = {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "InitConfiguration",
        "nodeRegistration": {"criSocket": "unix:///run/containerd/containerd.sock", "name": "n1"},
        "localAPIEndpoint": {"advertiseAddress": "10.0.0.1"}}
CLUSTER = {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration"}
ALONE = """set -eu
mkdir -p /var/lib/kubelet /etc/kubernetes
mount -t tmpfs none /var/lib/kubelet
mount -t tmpfs none /etc/kubernetes
"$1" init phase kubelet-start --config "$2/config.yaml" >"$2/said" 2>&1
cat /var/lib/kubelet/config.yaml
"""


def kubeadm():
    """(path, version) of the built kubeadm, or None: this test builds nothing."""
    sections = programs.versions()
    name = programs.owner("kubeadm", sections)
    path = programs.place_of("kubeadm", name, sections[name])
    return (path, sections[name]["version"]) if os.path.exists(path) else None


def patched(program, version, row):
    """(0, config.yaml) or (the exit code, what kubeadm said)."""
    with tempfile.TemporaryDirectory() as folder:
        patches = os.path.join(folder, "patches")
        os.mkdir(patches)
        for name, text in row["patches"].items():
            with open(os.path.join(patches, name), "w", encoding="utf-8") as f:
                f.write(text)
        documents = ({**INIT, "patches": {"directory": patches}}, {**CLUSTER, "kubernetesVersion": version},
                     row["config"])
        with open(os.path.join(folder, "config.yaml"), "w", encoding="utf-8") as f:
            f.write("\n---\n".join(json.dumps(d) for d in documents))
        ran = subprocess.run(["unshare", "--mount", "--net", "sh", "-c", ALONE, "sh", program, folder],
                             capture_output=True, text=True, timeout=60, check=False)
        if ran.returncode == 0:
            return 0, ran.stdout
        with open(os.path.join(folder, "said"), encoding="utf-8") as f:
            return ran.returncode, f.read() + ran.stderr


def flat(value, path):
    """A value as parity.flat() shows it: path -> text."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        return {path: json.dumps(value).strip('"')}
    if not value:
        return {path: "{}" if isinstance(value, dict) else "[]"}
    found = {}
    for key, item in items:
        found.update(flat(item, "%s.%s" % (path, key)))
    return found


def difference(text, expect):
    """Where config.yaml has something else at the expected places, or None."""
    found = {path.replace('"', "").replace("'", ""): value for path, value in parity.flat(text).items()}
    for pointer, value in expect.items():
        path = pointer[1:].replace("/", ".").replace("~1", "/").replace("~0", "~")
        there = {k: v for k, v in found.items() if k == path or k.startswith(path + ".")}
        wanted = {} if value is None else flat(value, path)
        if there != wanted:
            return "%s: kubeadm has %r, the table %r" % (pointer, there, wanted)
    return None


def judge(program, version, row):
    """What is wrong with a case, or None."""
    code, text = patched(program, version, row)
    stricter = row.get("kubeadm") == "takes"
    if "refused" in row and not stricter:
        return "kubeadm takes it" if code == 0 else None
    if code != 0:
        return "kubeadm refuses it: " + text.strip().replace("\n", " | ")[-300:]
    return difference(text, row.get("expect", {}))


def unexplained(rows):
    """Cases that only winjoin refuses and the page does not name."""
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    return [row["name"] for row in rows if "kubeadm" in row and "| `%s` |" % row["name"] not in page]


def main():
    built = kubeadm()
    with open(TABLE, encoding="utf-8") as f:
        rows = json.load(f)
    if not built or os.geteuid() != 0:
        print("skipped: %s" % ("not root" if built else "kubeadm is not built (make e2e builds it)"))
        print("0 passed, 0 failed, %d skipped" % len(rows))
        return 0
    failed = len(unexplained(rows))
    for name in unexplained(rows):
        print("not ok - %s: docs/design/kubeadm-parity.md does not say why" % name)
    for row in rows:
        why = judge(*built, row)
        failed += why is not None
        if why:
            print("not ok - %s: %s" % (row["name"], why))
    print("%d passed, %d failed, 0 skipped" % (max(len(rows) - failed, 0), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
