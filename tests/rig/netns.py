"""Network namespaces, the commands run in them, and the processes kept in them."""
import ctypes
import functools
import glob
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

NAME = re.compile(r"^wj(\d+)[a-z]+-")
ETC = "/etc/netns"
CLONE_NEWNET = 0x40000000
_requiring, _probes = threading.Lock(), itertools.count()


class Missing(Exception):
    """This machine cannot make what the rig needs; says why."""


def run(argv, stdin=None, check=True):
    """Runs a command, answers its standard output; fails with its words."""
    done = subprocess.run(argv, input=stdin, text=True, capture_output=True, check=False)
    if check and done.returncode:
        why = (done.stderr or done.stdout).strip().replace("\n", "; ")
        raise RuntimeError("%s: %s" % (" ".join(argv), why))
    return done.stdout


def ip(ns, *words, check=True):
    """`ip` in a namespace; words may hold blanks: ip(ns, "link set", dev, "up")."""
    return within(ns, run, ["ip"] + [w for word in words for w in str(word).split()], check=check)


def ip_batch(ns, lines, force=False):
    """Many `ip` commands in one process; with force every line is tried."""
    if lines:
        argv = ["ip"] + (["-force"] if force else []) + ["-batch", "-"]
        within(ns, run, argv, stdin="\n".join(lines) + "\n", check=not force)


def bridge_batch(ns, lines):
    if lines:
        within(ns, run, ["bridge", "-batch", "-"], stdin="\n".join(lines) + "\n")


class Look:
    """What the devices of a namespace have, all of them by one `ip`, their routes by another."""

    def __init__(self, ns):
        self._ns = ns
        self.links = {link["ifname"]: link for link in json.loads(ip(ns, "-j addr")) if link}

    def device(self, index):
        """The name; None if there is no such device."""
        return next((dev for dev, link in self.links.items() if link["ifindex"] == index), None)

    def addresses(self, dev):
        """Of both families; what an interface makes for itself (fe80::) and ::1 are left out."""
        return ["%s/%d" % (a["local"], a["prefixlen"]) for a in self.links[dev]["addr_info"]
                if "local" in a and (a["family"] == "inet" or a["scope"] == "global")]

    def routes(self, dev):
        """As words for `ip route`, IPv4 first: all but what an address brings with it."""
        return [[r["dst"]] + (["via", r["gateway"]] if "gateway" in r else [])
                + (["metric", str(r["metric"])] if "metric" in r else []) for r in self._of_main if r.get("dev") == dev]

    @functools.cached_property
    def _of_main(self):
        # All tables: it is the one question about both families.
        return [r for r in json.loads(ip(self._ns, "-j route show table all") or "[]")
                if "table" not in r and r.get("protocol") not in ("kernel", "250")]


class Watch:
    """The Look of a namespace, taken again after a change: the kernel tells of one before its call ends (rtnetlink(7))."""

    _groups = sum(1 << (group - 1) for group in (1, 5, 7, 9, 11))  # RTNLGRP_LINK, _IFADDR and _ROUTE of both families

    def __init__(self, ns):
        self._ns, self._look, self._turn = ns, None, threading.Lock()
        self._changes = within(ns, socket.socket, socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE)
        self._changes.bind((0, self._groups))

    def look(self):
        with self._turn:
            if self._told():
                self._look = None
            self._look = self._look or Look(self._ns)
            return self._look

    def _told(self):
        """Whether the kernel told of a change since the last question."""
        told = False
        while True:
            try:
                self._changes.recv(1 << 16)
            except BlockingIOError:
                return told
            except OSError:  # more changes than the socket could keep
                pass
            told = True


def nft(ns, rules):
    """Loads a rule set in one transaction."""
    within(ns, run, ["nft", "-f", "-"], stdin=rules)


def sysctl(ns, values):
    """Sets what is under /proc/sys, each namespace's own: {"net/ipv4/ip_forward": 1}."""
    script = "".join("echo %s >/proc/sys/%s\n" % (v, k) for k, v in values.items())
    within(ns, run, ["sh", "-e"], stdin=script)


def exists(ns):
    return os.path.exists("/run/netns/" + ns)


def add(ns):
    run(["ip", "netns", "add", ns])
    # A bridge that hands its frames to the IP filters would hide mistakes of the data plane.
    if os.path.exists("/proc/sys/net/bridge"):
        sysctl(ns, {"net/bridge/bridge-nf-call-iptables": 0})
    # Nobody here has another's address: no second of waiting until an IPv6 address may be used.
    if os.path.exists("/proc/sys/net/ipv6"):
        sysctl(ns, {"net/ipv6/conf/default/dad_transmits": 0})
    ip(ns, "link set lo up")


def delete(ns):
    """Ends what runs in the namespace, then takes it away; no error if it is not there."""
    if exists(ns):
        kill_inside(ns)
        run(["ip", "netns", "del", ns], check=False)
    shutil.rmtree(os.path.join(ETC, ns), ignore_errors=True)


def inside(ns):
    return [int(p) for p in run(["ip", "netns", "pids", ns], check=False).split()]


def kill_inside(ns, patience=2.0):
    for sig in (signal.SIGTERM, signal.SIGKILL):
        for pid in inside(ns):
            try:
                os.kill(pid, sig)
            except ProcessLookupError:
                pass
        end = time.monotonic() + patience
        while inside(ns) and time.monotonic() < end:
            time.sleep(0.02)


def veth(ns_a, dev_a, ns_b, dev_b):
    run(["ip", "link", "add", "name", dev_a, "netns", ns_a, "type", "veth",
         "peer", "name", dev_b, "netns", ns_b])


def mac(ns, dev):
    """As Windows writes it."""
    return Look(ns).links[dev]["address"].replace(":", "-").upper()


def resolv(ns, servers, search=(), hosts=()):
    """What `ip netns exec` mounts over /etc/resolv.conf and /etc/hosts in the namespace."""
    folder = os.path.join(ETC, ns)
    os.makedirs(folder, exist_ok=True)
    text = "".join("nameserver %s\n" % s for s in servers)
    if search:
        text += "search %s\n" % " ".join(search)
    # Windows tries a name with a dot as it is first, and gives up after a few seconds.
    text += "options ndots:1 timeout:2 attempts:2\n"
    _write(os.path.join(folder, "resolv.conf"), text)
    # Programs ask for their own machine's name when they start: no dead DNS server may delay that.
    lines = ["127.0.0.1 localhost " + socket.gethostname()] + ["%s %s" % (a, n) for a, n in hosts]
    _write(os.path.join(folder, "hosts"), "\n".join(lines) + "\n")


def _write(path, text):
    """In place: a running process has this very file mounted."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)


def command(ns, argv):
    return ["ip", "netns", "exec", ns] + list(argv)


def clocks_from_now():
    """Words before a command whose clocks, and those of its children, began a second ago (time namespaces)."""
    begun = {"--monotonic": time.CLOCK_MONOTONIC, "--boottime": time.CLOCK_BOOTTIME}
    words = ["unshare", "--time"]
    for name, clock in begun.items():
        words += [name, "-%d" % (int(time.clock_gettime(clock)) - 1)]
    said = run([*words, "cat", "/proc/uptime"], check=False)
    if not said or float(said.split()[0]) > 60:
        raise Missing("no time namespaces")
    return words


def network_only(ns, argv):
    """As command(), but the mounts stay ours: what makes namespaces itself must start so."""
    return ["nsenter", "--net=/run/netns/" + ns, "--"] + list(argv)


def within(ns, function, *args, **kwargs):
    """Calls a function in a thread that lives in the namespace: its sockets are made there."""
    result = {}

    def body():
        try:
            with open("/run/netns/" + ns, "rb") as handle:
                libc = ctypes.CDLL(None, use_errno=True)
                if libc.setns(handle.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "cannot enter '%s'" % ns)
            result["value"] = function(*args, **kwargs)
        except BaseException as why:  # handed to the caller's own thread
            result["error"] = why

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if "error" in result:
        raise result["error"]
    return result["value"]


def daemon(ns, argv, log, tied=True, **more):
    """Starts a program in a namespace. Tied: it ends with the thread that started it."""
    with open(log, "ab") as out:
        more = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out, **more}
        return subprocess.Popen(command(ns, argv), start_new_session=True,
                                preexec_fn=_die_with_parent if tied else None, **more)


def stop(proc, patience=3.0):
    if proc is None or proc.poll() is not None:
        return
    proc.terminate()
    try:
        proc.wait(patience)
    except subprocess.TimeoutExpired:
        proc.kill()
        proc.wait()


def sweep():
    """Removes namespaces and folders whose run is no longer alive; answers the namespaces."""
    gone = []
    for line in run(["ip", "netns", "list"]).splitlines():
        ns = line.split()[0] if line.split() else ""
        owner = NAME.match(ns)
        if owner and not os.path.exists("/proc/%s" % owner.group(1)):
            delete(ns)
            gone.append(ns)
    for folder in glob.glob(os.path.join(tempfile.gettempdir(), "wj*")):
        owner = NAME.match(os.path.basename(folder))
        if owner and not os.path.exists("/proc/%s" % owner.group(1)):
            shutil.rmtree(folder, ignore_errors=True)
    for ns in os.listdir(ETC) if os.path.isdir(ETC) else []:
        if NAME.match(ns) and not exists(ns):
            shutil.rmtree(os.path.join(ETC, ns), ignore_errors=True)
    return gone


@functools.cache
def require():
    """Raises Missing, with the reason, when this machine cannot play several hosts."""
    with _requiring:
        _try_everything()


def _try_everything():
    if os.geteuid() != 0:
        raise Missing("network namespaces need root")
    for tool in ("ip", "nft", "bridge", "dnsmasq"):
        if not shutil.which(tool):
            raise Missing("'%s' is not installed (dist/packages.txt)" % tool)
    probe = "wj%da-probe%d" % (os.getpid(), next(_probes))
    try:
        run(["ip", "netns", "add", probe])
        ip(probe, "link add b0 type bridge")
        ip(probe, "link add v0 type vxlan id 4096 dstport 4789 nolearning dev lo")
        nft(probe, "table ip t {\n chain c {\n  type nat hook postrouting priority 100\n }\n}\n")
    except RuntimeError as why:
        raise Missing(str(why)) from why
    finally:
        run(["ip", "netns", "del", probe], check=False)
