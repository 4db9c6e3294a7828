"""How a Windows node of a stage (stage.py) is broken from outside the product, and how a hint of
diag is followed there. Each function takes a stage, or answers functions of one: faults.py."""
import datetime
import json
import os
import re
import signal
import sys
import threading
import time

import netns
import policy_agent

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from controlplane import pki  # noqa: E402


def both(*steps):
    def run(stage):
        for step in steps:
            step(stage)
    return run


# ---- on the node, manually: what an administrator or another program may do ----------------------

def phase(name):
    def lift(stage):
        done = stage.winjoin("join", "phase", name)
        if done.returncode:
            raise RuntimeError("join phase %s: %s" % (name, done.stdout + done.stderr))
    return lift


def await_state(stage, service, state):
    for _ in range(50):
        if state in stage.host.run(["sc", "query", service]).stdout:
            return
        time.sleep(0.2)
    raise RuntimeError("%s is not %s" % (service, state))


def stop(service):
    def apply(stage):
        stage.host.run(["sc", "stop", service])
        await_state(stage, service, "STOPPED")
    return apply


def start(*services):
    def lift(stage):
        for service in services:
            stage.host.run(["sc", "start", service])
            await_state(stage, service, "RUNNING")
    return lift


def restart(service):
    def lift(stage):
        stop(service)(stage)
        start(service)(stage)
    return lift


# ---- what hangs --------------------------------------------------------------------------------

def frozen(program):
    """A program of the node runs no instruction any more, and holds all that it has."""
    def apply(stage):
        stage.frozen = [pid for pid in netns.inside(stage.host.ns) if program in _command_line(pid)]
        if not stage.frozen:
            raise RuntimeError("%s does not run" % program)
        for pid in stage.frozen:
            os.kill(pid, signal.SIGSTOP)
    return apply


def _command_line(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read().split(b"\0")[0].decode(errors="replace").replace("\\", "/").split("/")[-1]
    except OSError:
        return ""


def ended(service):
    """The program of one that hangs is ended; the Service Control Manager starts it again, or a person does."""
    def lift(stage):
        stage.host.run(["taskkill", "/f", "/im", service + ".exe"])
        stop(service)(stage)  # Wine's manager does not see by itself that it ended
        start(service)(stage)
    return lift


def meanwhile(step):
    """Begins it, and goes on; afterwards() waits for its end."""
    def apply(stage):
        stage.step = threading.Thread(target=step, args=(stage,))
        stage.step.start()
    return apply


def afterwards(stage):
    stage.step.join()


def pod_for(seconds):
    """A static pod comes a moment later, and goes after so long."""
    def step(stage):
        path = stage.host.path("C:\\etc\\kubernetes\\manifests\\guest.json")
        time.sleep(1)
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "guest", "namespace": "default"},
                       "spec": {"containers": [{"name": "c", "image": "registry.k8s.io/pause:3.10"}]}}, f)
        time.sleep(seconds)
        os.unlink(path)
    return step


PROBE = "C:\\ProgramData\\winjoin\\probe\\bin\\winjoin-probe.exe"


def kept_from_running(seconds):
    """A virus scanner empties the program of the probe pods, again and again, for so long."""
    def step(stage):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            path = stage.host.path(PROBE)
            if os.path.isfile(path) and os.path.getsize(path) > 2:
                with open(path, "wb") as f:
                    f.write(b"MZ")
            time.sleep(0.02)
    return step


# ---- what an operator meets at 3 a.m. -----------------------------------------------------------

PROXY_CONFIG = "C:\\k\\kube-proxy.conf"
CLIENT_CERTIFICATE = "C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem"


def spoil(path, text):
    """Other content for a file of the node; what was there is kept for repair()."""
    def apply(stage):
        with open(stage.host.path(path), "r+b") as f:
            stage.kept = f.read()
            f.seek(0)
            f.truncate()
            f.write(text(stage) if callable(text) else text)
    return apply


def repair(path):
    def lift(stage):
        with open(stage.host.path(path), "wb") as f:
            f.write(stage.kept)
    return lift


def crash_proxy(stage):
    """Somebody edits its configuration; at the next start it ends."""
    stop("kube-proxy")(stage)
    spoil(PROXY_CONFIG, b"kind: KubeProxyConfiguration\nfoo: [\n")(stage)
    stage.host.run(["sc", "start", "kube-proxy"])
    await_state(stage, "kube-proxy", "STOPPED")


def repair_proxy(stage):
    repair(PROXY_CONFIG)(stage)
    start("kube-proxy")(stage)


def proxy_says(pattern, text):
    """A pair of functions: kube-proxy starts with another text in its configuration, whatever comes of that."""
    def apply(stage):
        stop("kube-proxy")(stage)
        edited(PROXY_CONFIG, pattern, text)[0](stage)
        stage.host.run(["sc", "start", "kube-proxy"])
        time.sleep(3)

    def lift(stage):
        stop("kube-proxy")(stage)
        repair_proxy(stage)
    return apply, lift


def expired(stage):
    """A client certificate of this node by the cluster's CA, which ended an hour ago."""
    authority = pki.Authority.load_or_create(os.path.join(stage.cluster.state, "pki"))
    hour = datetime.timedelta(hours=1)
    pair = authority.issue_client("system:node:" + stage.node_name, ["system:nodes"],
                                  pki.now() - 48 * hour, pki.now() - hour)
    return b"".join(pair)


def cni_changed(change):
    """Another CNI configuration for pods that are made from now on: change(document) -> document."""
    def apply(stage):
        path = cni(stage)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            json.dump(change(json.loads(text)), f, indent=2)
    return apply


def cni_text(old, new):
    """One text of it is replaced by another."""
    return cni_changed(lambda doc: json.loads(json.dumps(doc).replace(old, new)))


def policies_changed(kind, change):
    """Of the CNI configuration's policies of a type: change(settings) -> settings, or None to drop it."""
    def made(doc):
        kept = []
        for policy in doc["policies"]:
            settings = policy["value"].get("Settings")
            if policy["value"]["Type"] == kind:
                settings = change(settings)
                policy["value"]["Settings"] = settings
            if settings is not None:
                kept.append(policy)
        return {**doc, "policies": kept}
    return cni_changed(made)


def excepted(change):
    """Other exceptions from address translation: change(list) -> list."""
    return policies_changed("OutBoundNAT", lambda s: {**s, "Exceptions": change(s["Exceptions"])})


def untranslated(value):
    """A configuration without whatever mentions OutBoundNAT; ipMasq would put it back."""
    if isinstance(value, list):
        return [untranslated(v) for v in value
                if not (isinstance(v, dict) and '"OutBoundNAT"' in json.dumps(v)
                        and "policies" not in v and "delegate" not in v)]
    if isinstance(value, dict):
        return {k: untranslated(v) for k, v in value.items() if k not in ("ipMasq", "ipMasqNetwork")}
    return value


def cni(stage):
    folder = stage.host.path("C:\\etc\\cni\\net.d")
    return folder + "/" + sorted(n for n in netns.run(["ls", folder]).split()
                                 if n.endswith((".conf", ".conflist")))[0]


def no_forwarding(stage):
    for row in stage.host.net("adapters"):
        if row[0] == "adapter" and row[2].startswith("vEthernet"):
            stage.host.net("interface %s forwarding=0" % row[1])


# A network policy agent whose ACL that lets packets in has the wrong direction.
MISLED = [dict(a, Settings=dict(a["Settings"], Direction="Out" if a["Settings"]["Action"] == "Allow"
                                else a["Settings"]["Direction"])) for a in policy_agent.ACLS]


def agent_with(stage, acls):
    stage.agent = policy_agent.Agent(stage.host, acls).__enter__()


def no_agent(stage):
    stage.agent.__exit__()


def reserve_addresses(stage):
    """Each address that the CNI plugin could give is reserved, by a container that nobody knows."""
    with open(cni(stage), encoding="utf-8") as f:
        doc = json.load(f)
    folder = stage.host.path("C:\\var\\lib\\cni\\networks\\" + doc["name"])
    prefix = stage.node(stage.node_name)["spec"]["podCIDR"].rsplit(".", 1)[0]
    paths = ["%s/%s.%d" % (folder, prefix, n) for n in range(2, 255)]
    stage.reserved = [p for p in paths if not os.path.exists(p)]
    for path in stage.reserved:
        with open(path, "w", encoding="utf-8") as f:
            f.write("%064x\r\neth0" % len(path))


def free_addresses(stage):
    for path in stage.reserved:
        os.unlink(path)


def _calico(stage):
    return os.path.dirname(cni(stage)) + "/05-calico.conflist"


def _put_calico(stage):
    with open(_calico(stage), "w", encoding="utf-8") as f:
        json.dump({"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": [{"type": "calico"}]}, f)


other_cni = (_put_calico, lambda stage: os.unlink(_calico(stage)))


def other_plugin(content):
    """A pair of functions: the program of the CNI plugin is another one, or (None) gone; and as it was."""
    def path(stage):
        with open(cni(stage), encoding="utf-8") as f:
            kind = json.load(f)["type"]
        return stage.host.path("C:\\opt\\cni\\bin\\" + kind + ".exe")

    def apply(stage):
        os.rename(path(stage), path(stage) + ".kept")
        if content is not None:
            with open(path(stage), "wb") as f:
                f.write(content)

    return apply, lambda stage: os.replace(path(stage) + ".kept", path(stage))


# ---- the node's network ------------------------------------------------------------------------

def more_routes(*routes):
    """A pair of functions: a program (a VPN's) adds routes of its own to the node."""
    def each(verb):
        return lambda stage: [stage.host.net("%s %s %s" % (verb, node_index(stage), r)) for r in routes]
    return each("route-add"), each("route-del")


def edited(path, pattern, text, service=None):
    """A pair of functions: a file of the node is edited and its service started again; and undone."""
    def apply(stage):
        with open(stage.host.path(path), encoding="utf-8") as f:
            old = f.read()
        new = re.sub(pattern, text, old)
        if new == old:
            raise RuntimeError("no %s in %s:\n%s" % (pattern, path, old))
        spoil(path, new.encode())(stage)
        if service:
            restart(service)(stage)

    def lift(stage):
        repair(path)(stage)
        if service:
            restart(service)(stage)
    return apply, lift


def node_index(stage):
    """The interface index of the adapter that has the node's address."""
    return next(r[1] for r in stage.host.net("adapters") if r[0] == "adapter"
                and r[2] == "vEthernet (Ethernet)")


def other_route(prefix, length, old, new):
    """A route of the node leads elsewhere; new None: nowhere."""
    def apply(stage):
        index = node_index(stage)
        stage.host.net("route-del %s %s %s %s" % (index, prefix, length, old))
        if new:
            stage.host.net("route-add %s %s %s %s" % (index, prefix, length, new))
    return apply


def vmware_machine(stage):
    """The node's adapter has the MAC of a VMware virtual machine."""
    stage.mac = netns.mac(stage.host.ns, "vsw0").replace("-", ":")
    _readdress(stage, "00:50:56:00:00:21")


def _readdress(stage, mac):
    netns.ip(stage.host.ns, "link set vsw0 address", mac)
    for name in ("cp", "l1", "fabric"):
        netns.ip(stage.fabric.ns(name), "neigh flush all")


def no_vmware(stage):
    _readdress(stage, stage.mac)
