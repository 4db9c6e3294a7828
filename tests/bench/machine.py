"""A Linux machine of the rig's fabric on which joins are measured: by winjoin, by upstream's kubeadm.

Its own network namespace counts what goes to the API server and comes back; kubeadm runs in private
mounts, so that what it writes below /etc and /var/lib is seen by nobody else and is gone afterwards.
"""
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "tests", "rig"))
import netns  # noqa: E402

SPAWN = os.path.join(ROOT, "build", "native", "spawn")
WINJOIN = next((path for path in (os.path.join(ROOT, "build", kind, "winjoin") for kind in ("static", "native"))
                if os.path.exists(path)), None)  # the one with the libraries of winjoin.exe, where it is built
ADDRESS, PORT = "10.0.0.51", 6443
# What needs Windows or the kubelet; what is left is all that is said to the control plane.
NOT_SAID = ("artifacts", "vswitch", "containerd", "kubelet", "node", "pod-network", "flanneld",
            "kube-proxy", "ready", "verify")

COUNTERS = """\
table inet bench
delete table inet bench
table inet bench {
 counter sent { }
 counter received { }
 counter connections { }
 chain out {
  type filter hook output priority 0;
  tcp dport %d counter name sent
  tcp dport %d tcp flags & (syn|ack) == syn counter name connections
 }
 chain in {
  type filter hook input priority 0;
  tcp sport %d counter name received
 }
}
""" % (PORT, PORT, PORT)

# Private mounts in which /etc and /var/lib are as they are, and written only for this run. What was
# written is copied out before they go.
PRIVATE = """set -eu
mounts=$1 kept=$2 names=$3
shift 3
mount -t tmpfs tmpfs "$mounts"
for at in etc var/lib; do
    mkdir -p "$mounts/$at.up" "$mounts/$at.work"
    mount -t overlay overlay -o "lowerdir=/$at,upperdir=$mounts/$at.up,workdir=$mounts/$at.work" "/$at"
done
cp "$names/hosts" "$names/resolv.conf" /etc
rm -rf /etc/kubernetes /var/lib/kubelet
mkdir -p /var/lib/kubelet
code=0
"$@" || code=$?
rm -rf "$kept"
mkdir -p "$kept/var/lib"
[ ! -d /etc/kubernetes ] || cp -a /etc/kubernetes "$kept/"
cp -a /var/lib/kubelet "$kept/var/lib/"
systemctl stop kubelet
exit $code
"""
# winjoin's host is written to memory, too: what is measured is the program, not the disk.
MEMORY = 'mount -t tmpfs tmpfs "$1"; shift; exec "$@"'
KUBELET_FLAGS = ("--cgroups-per-qos=false --enforce-node-allocatable= --fail-swap-on=false --address=127.0.0.1 "
                 "--cert-dir=/var/lib/kubelet/pki --root-dir=")


class Failed(Exception):
    """A measured program failed; says how."""


class Machine:
    """Use inside a Fabric's; the namespace ends with the fabric."""

    def __init__(self, fabric, cluster, name="peer", address=ADDRESS, kubelet=None, cri=None):
        self.cluster, self.name, self.kubelet = cluster, name, kubelet
        self.ns = fabric.host(name, address)
        self.folder = os.path.join(fabric.folder, name)
        os.makedirs(self.folder, exist_ok=True)
        self.report = os.path.join(self.folder, "report.json")
        self.count()
        self.socket = "unix://" + self.at("cri.sock")
        if cri:
            fabric.daemon("cri-" + name, self.ns, [cri, "--address", self.socket, "--root", self.at("cri-root"),
                                                   "--state", self.at("cri-state"), "--config", self.at("cri.toml")])
            self._listens()

    def _listens(self, seconds=20):
        end = time.monotonic() + seconds
        while not os.path.exists(self.at("cri.sock")):
            if time.monotonic() > end:
                raise Failed("the CRI server does not open its socket")
            time.sleep(0.05)

    # ---- measuring -----------------------------------------------------------------------

    def measure(self, words, private=False, memory=False, good=(0,)):
        """Wall and CPU seconds, peak MB of one run; Failed with its words when it fails.

        private: kubeadm's mounts, which are in memory; memory: winjoin's host in memory, gone afterwards.
        """
        program, words, env = os.path.basename(words[0]), [SPAWN, self.report, *words], None
        if private:
            words = ["unshare", "-m", "--propagation", "private", "sh", "-c", PRIVATE, "sh", self.at("mounts"),
                     self.at("kept"), os.path.join(netns.ETC, self.ns), *words]
            env = {**os.environ, "PATH": "%s:%s" % (self.tools(), os.environ["PATH"]), "BENCH_FOLDER": self.folder,
                   "BENCH_KUBELET": self.kubelet or "", "BENCH_KUBELET_FLAGS": KUBELET_FLAGS + self.at("root")}
        if memory:
            words = ["unshare", "-m", "--propagation", "private", "sh", "-c", MEMORY, "sh", self.at("rootfs"), *words]
        enter = netns.network_only if private else netns.command  # kubeadm's kubelet needs our /sys
        done = subprocess.run(enter(self.ns, words), stdin=subprocess.DEVNULL, text=True, check=False,
                              capture_output=True, env=env, timeout=120)
        if done.returncode not in good:
            raise Failed("%s: exit code %d\n%s%s" % (program, done.returncode, done.stdout, done.stderr))
        with open(self.report, encoding="utf-8") as f:
            return json.load(f)

    def tools(self):
        """A folder for PATH: systemd's stand-in, and the kubelet, whose version kubeadm asks for."""
        folder = self.at("tools")
        if not os.path.isdir(folder):
            os.mkdir(folder)
            os.symlink(os.path.join(HERE, "systemctl"), os.path.join(folder, "systemctl"))
            if self.kubelet:
                os.symlink(self.kubelet, os.path.join(folder, "kubelet"))
        return folder

    def at(self, name):
        """A folder or a file of this machine's own."""
        path = os.path.join(self.folder, name)
        if name in ("mounts", "root"):
            os.makedirs(path, exist_ok=True)
        return path

    def count(self):
        """Begins to count again."""
        if os.path.exists(self.at("counters")):
            os.unlink(self.at("counters"))
        netns.nft(self.ns, COUNTERS)

    def counted(self):
        """Connections to the API server and bytes (of IP packets) since count(); of kubeadm what was
        counted until it started the kubelet."""
        if os.path.exists(self.at("counters")):
            with open(self.at("counters"), encoding="utf-8") as f:
                text = f.read()
        else:
            text = netns.run(["ip", "netns", "exec", self.ns, "nft", "-j", "list", "counters", "table", "inet",
                              "bench"])
        rows = {row["counter"]["name"]: row["counter"] for row in json.loads(text)["nftables"] if "counter" in row}
        return {"connections": rows["connections"]["packets"], "sent": rows["sent"]["bytes"],
                "received": rows["received"]["bytes"]}

    # ---- the two programs ----------------------------------------------------------------

    def discovery_flags(self):
        facts = self.cluster.facts
        return [facts["endpoint"], "--token", facts["token"], "--discovery-token-ca-cert-hash", facts["caCertHash"]]

    def rootfs(self):
        """An empty host for winjoin."""
        path = os.path.join(self.folder, "rootfs")
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        return path

    def winjoin(self, node, skipped=NOT_SAID, program=WINJOIN):
        """The command line of winjoin's part of the conversation."""
        return [program, "join", *self.discovery_flags(), "--node-name", node, "--rootfs", self.rootfs(),
                "--progress", "none", "--skip-phases", ",".join(skipped)]

    def kubeadm(self, node, *phase):
        """The command line of upstream's kubeadm; what this machine lacks of a Linux server is ignored."""
        return [self.cluster.programs["kubeadm"], "join", *phase, *self.discovery_flags(), "--node-name", node,
                "--cri-socket", self.socket, "--ignore-preflight-errors", "all"]

    def requests(self, agent, since):
        """(verb, path without the query, code) of what a user agent asked since line `since` of the log."""
        return [row for row in audit(self.cluster.audit)[since:] if row["agent"].startswith(agent)]

    def line(self):
        """Where the audit log is now."""
        return len(audit(self.cluster.audit))


def audit(path):
    """The audit log's lines in one form, of the real API server and of the embedded one."""
    rows = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.endswith("\n"):
                break
            item = json.loads(line)
            real = "requestURI" in item
            if item.get("stage", "ResponseComplete") != "ResponseComplete":
                continue
            uri = item["requestURI"] if real else item["path"]
            user = item.get("user") or {}
            rows.append({"verb": item["verb"], "path": uri.partition("?")[0], "uri": uri,
                         "agent": item.get("userAgent", ""),
                         "user": user.get("username", "") if real else item["user"],
                         "code": (item.get("responseStatus") or {}).get("code", 0) if real else item["code"]})
    return rows
