"""winjoin-network for an hour while Services and Nodes come and go on a real kube-apiserver: what it asks, and whether
its memory grows.

The node is rehearsed (--rootfs), so HNS is the program's own model of it, whose file each route writes again:
that is most of the CPU."""
import concurrent.futures
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(os.path.dirname(HERE), name) for name in ("rig", "cluster")]
import fabric as fabrics  # noqa: E402
import figures  # noqa: E402
import machine as machines  # noqa: E402
import netns  # noqa: E402
import control_plane  # noqa: E402
import peers  # noqa: E402

MINUTES, SERVICES, NODES, AT_ONCE = 60, 2000, 500, 8
ADDRESS, NAME = "10.0.0.60", "win-soak"
SKIPPED = ("artifacts", "containerd", "kubelet", "flanneld", "ready", "verify")
RUNNING = {"command": "C:\\Windows\\System32\\svchost.exe", "autoStart": True, "state": "running"}
SERVER = {"services": {name: RUNNING for name in ("hns", "vmcompute")},
          "adapters": [{"alias": "Ethernet", "description": "Intel X710", "mac": "00-15-5D-01-02-03", "luid": 1689399632855040,
                        "index": 4, "mtu": 1500, "up": True, "dhcp": False, "addresses": [ADDRESS + "/24"],
                        "gateways": ["10.0.0.1"], "dnsServers": ["10.0.0.2"]}]}


def node(n):
    """One beside this one, with pods of its own in the cluster's range."""
    return {**peers.node(n), "metadata": {"name": "come-%d" % n, "labels": {"kubernetes.io/os": "linux"}},
            "spec": {"podCIDR": "10.244.%d.%d/30" % (128 + (n >> 6), (n & 63) << 2)}}


def send(cluster, rows):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda k: netns.within(cluster.ns, peers.send_all, cluster, rows[k::AT_ONCE]), range(AT_ONCE)))


def come(cluster):
    send(cluster, [("POST", "/api/v1/nodes", node(n)) for n in range(NODES)] +
         [("POST", peers.SERVICE, peers.service(n)) for n in range(SERVICES)] +
         [("POST", peers.SLICE, peers.slice_of(n)) for n in range(SERVICES)])


def change(cluster, turn):
    send(cluster, [("PUT", "%s/service-%d-x" % (peers.SLICE, n), peers.slice_of(n, turn)) for n in range(SERVICES)])


def go(cluster):
    send(cluster, [("DELETE", "/api/v1/nodes/come-%d" % n, {}) for n in range(NODES)] +
         [("DELETE", "%s/service-%d-x" % (peers.SLICE, n), {}) for n in range(SERVICES)] +
         [("DELETE", "%s/service-%d" % (peers.SERVICE, n), {}) for n in range(SERVICES)])


def join(cluster, machine):
    """Until kube-proxy, which no rehearsal starts, is waited for."""
    netns.within(cluster.ns, peers.send_all, cluster, [("POST", "/api/v1/nodes", {
        "metadata": {"name": NAME, "labels": {"kubernetes.io/os": "windows"}}, "spec": {"podCIDR": "10.244.7.0/24"},
        "status": {"addresses": [{"type": "InternalIP", "address": ADDRESS}]}})])
    words = machine.winjoin(NAME, SKIPPED) + ["--network-plugin", "win-overlay", "--ignore-preflight-errors", "all"]
    root = os.path.join(machine.folder, "rootfs")
    os.makedirs(os.path.join(root, ".winjoin-host"))
    with open(os.path.join(root, ".winjoin-host", "state.json"), "w", encoding="utf-8") as f:
        json.dump(SERVER, f)
    done = subprocess.run(netns.command(machine.ns, words), capture_output=True, text=True, check=False, timeout=200)
    if "has not programmed any Service" not in done.stderr:
        raise machines.Failed(done.stdout + done.stderr)
    return root


def look(process):
    with open("/proc/%d/status" % process.pid, encoding="utf-8") as f:
        rows = dict(line.split(":", 1) for line in f)
    with open("/proc/%d/stat" % process.pid, encoding="utf-8") as f:
        words = f.read().rpartition(")")[2].split()
    with os.scandir("/proc/%d/fd" % process.pid) as files:
        handles = len(list(files))
    return {"memory": int(rows["VmRSS"].split()[0]) / 1024, "handles": handles,
            "cpu": (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")}


def watched(cluster, process, minutes, tell):
    """A look after each round; the first round is warm-up."""
    begin, looks = time.monotonic(), []
    while time.monotonic() - begin < minutes * 60:
        come(cluster)
        change(cluster, len(looks) + 1)
        time.sleep(20)
        go(cluster)
        time.sleep(20)
        if process.poll() is not None:
            raise machines.Failed("winjoin-network ended with %d" % process.returncode)
        looks.append({**look(process), "seconds": time.monotonic() - begin})
        tell("round %d: %s" % (len(looks), looks[-1]))
    return looks


def play(minutes=MINUTES, tell=lambda text: print(text, file=sys.stderr, flush=True)):
    """The looks, and how often the API server was asked, by verb."""
    with fabrics.Fabric("overlay") as lan, control_plane.ControlPlane(lan, cgroup_driver="cgroupfs") as cluster:
        machine = machines.Machine(lan, cluster, "soak", ADDRESS)
        root = join(cluster, machine)
        cluster.children.pop("kube-controller-manager").kill()  # it would see 500 nodes without kubelets, and act
        line = machine.line()
        with open(os.path.join(cluster.folder, "soak.log"), "wb") as log:
            process = subprocess.Popen(
                netns.network_only(machine.ns, [machines.WINJOIN, "service", "run", "winjoin-network", "--rootfs", root]),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=machine.folder)
        try:
            looks = watched(cluster, process, minutes, tell)
        finally:
            netns.stop(process)
        time.sleep(1)
        asked = [row["verb"] for row in machines.audit(cluster.audit)[line:] if row["agent"].startswith("winjoin")]
        return looks, {verb: asked.count(verb) for verb in sorted(set(asked))}


def table(looks, asked):
    """A line a quarter of the rounds."""
    quarters = [looks[min(len(looks) - 1, max(len(looks) * k // 4 - 1, 0))] for k in range(1, 5)]
    lines = ["| %d Services and %d Nodes come and go | memory | open files | CPU |" % (SERVICES, NODES), "|---|---|---|---|"]
    lines += ["| after %d min | %.1f MB | %d | %.1f s |" % (q["seconds"] / 60, q["memory"], q["handles"], q["cpu"]) for q in quarters]
    return "\n".join(lines) + "\n\n%d rounds; requests: %s." % (
        len(looks), ", ".join("%d %s" % (n, verb) for verb, n in asked.items()))


def rows_of(looks, asked):
    """With few rounds there is nothing to compare the last one with."""
    title = "%d min of %d Services and %d Nodes: " % (looks[-1]["seconds"] / 60, SERVICES, NODES)
    last, half = looks[-1], looks[len(looks) // 2:len(looks) // 2 + 1] if len(looks) > 3 else []
    return [figures.row(title + "memory after them, beside that after half of it", "MB", [last["memory"]], [look_["memory"] for look_ in half],
                        1.1, "half of it"),
            figures.row(title + "open files", "", [last["handles"]], [look_["handles"] for look_ in half], 1.0, "half of it"),
            figures.row(title + "CPU", "s", [last["cpu"]], []),
            figures.row(title + "requests", "", [sum(asked.values())], [])]
