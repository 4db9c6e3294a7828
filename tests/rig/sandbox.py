"""Pods of a Windows node: a network namespace held by a sandbox, and Windows programs in it.

Under Wine the sockets of a program are made by its prefix' wineserver, so a pod has a prefix of its
own: hard links to a prepared one, which cost 50 ms."""
import itertools
import os
import shutil
import signal
import subprocess
import sys

import netns
import packets

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "wine"))
import prefix as prefixes  # noqa: E402  (beside the DLLs that are put into prefixes)


OUTPUT_MAX = 65536  # bytes of a program's output in one answer


class Sandboxes:
    def __init__(self, config, kept):
        self.config, self.kept = config, kept
        kept.setdefault("sandboxes", {})
        self.handles, self.numbers = {}, itertools.count(1)

    def pods(self):
        """HNS namespace -> network namespace, of the sandboxes that stand."""
        return {g: s["netns"] for g, s in self.kept["sandboxes"].items()}

    def create(self, guid):
        if guid not in self.kept["sandboxes"]:
            ns = "%s-p%s" % (self.config["netns"], packets.short(guid))
            netns.add(ns)
            netns.resolv(ns, [])
            self.kept["sandboxes"][guid] = {"netns": ns}
        return self.kept["sandboxes"][guid]["netns"]

    def remove(self, guid):
        box = self.kept["sandboxes"].pop(guid, None)
        if box:
            prefix = self._prefix(guid)
            if os.path.exists(prefix):
                prefixes.settle(prefix)
            netns.delete(box["netns"])
            shutil.rmtree(prefix, ignore_errors=True)

    def _prefix(self, guid):
        return os.path.join(self.config["folder"], "pods", packets.short(guid))

    def names(self, guid, dns):
        """The endpoint's DNS settings, as the pod's resolver takes them."""
        box = self.kept["sandboxes"].get(guid)
        if box and box.get("dns") != dns:
            netns.resolv(box["netns"], dns["servers"], dns["search"])
            box["dns"] = dns

    # ---- programs --------------------------------------------------------------------------

    def execute(self, guid, command, mounts=(), env=None, hosts=(), folder=None):
        """Starts a Windows program in the pod, in that folder of it; answers its handle."""
        box = self.kept["sandboxes"][guid]
        prefix = self._prefix(guid)
        if not os.path.exists(prefix):
            os.makedirs(os.path.dirname(prefix), exist_ok=True)
            prefixes.link(self.config["podPrefix"], prefix)
        for mount in mounts:
            bind(os.path.join(self.config["prefix"], "drive_c"), mount["host"],
                 os.path.join(prefix, "drive_c"), mount["container"])
        if hosts:
            dns = box.get("dns", {"servers": [], "search": []})
            netns.resolv(box["netns"], dns["servers"], dns["search"],
                         [(h.split()[0], " ".join(h.split()[1:])) for h in hosts])
        number = next(self.numbers)
        log = os.path.join(prefix, "out-%d" % number)
        surroundings = dict(os.environ, **wine_env(prefix), **{
            k: str(v) for k, v in (env or {}).items()})
        drive = os.path.join(prefix, "drive_c")
        cwd = host_path(drive, folder) if folder else drive
        proc = netns.daemon(box["netns"], [prefixes.WINE, *command], log, tied=False,
                            env=surroundings, cwd=cwd if os.path.isdir(cwd) else drive)
        self.handles[number] = (proc, log)
        return number

    def wait(self, handle, milliseconds, start=None):
        """How the program does, and what it said: from a byte on, or the last of it."""
        proc, log = self.handles[handle]
        try:
            code = proc.wait(min(milliseconds, 60000) / 1000)
        except subprocess.TimeoutExpired:
            code = None
        with open(log, "rb") as f:
            size = f.seek(0, os.SEEK_END)
            f.seek(max(size - OUTPUT_MAX, 0) if start is None else min(start, size))
            text = f.read(OUTPUT_MAX)
            return {"running": code is None, "exit": code, "next": f.tell(),
                    "output": text.decode(errors="replace")}

    def end(self, handle):
        proc, _ = self.handles[handle]
        if proc.poll() is None:
            os.killpg(proc.pid, signal.SIGTERM)
        netns.stop(proc)

    def close(self):
        for guid in list(self.kept["sandboxes"]):
            self.remove(guid)


def wine_env(prefix):
    """The surroundings of a program in that prefix; its native DLLs go before Wine's own."""
    return {"WINEPREFIX": prefix, "WINEARCH": "win64", "DISPLAY": "",
            "WINEDEBUG": os.environ.get("WINEDEBUG", "-all"),
            "WINEDLLOVERRIDES": "bcryptprimitives,pdh,iphlpapi,dismapi,hnetcfg,dism.exe,shutdown.exe=n,b;mscoree,mshtml="}


def host_path(drive, windows):
    """A Windows path on drive C as a path of this machine, whatever its case."""
    path = windows.replace("/", "\\")
    if path[:2].upper() == "Z:":
        return path[2:].replace("\\", "/")
    here = drive
    for part in [p for p in path.split(":")[-1].split("\\") if p]:
        have = os.listdir(here) if os.path.isdir(here) else []
        here = os.path.join(here, next((h for h in have if h.lower() == part.lower()), part))
    return here


def bind(host_drive, host, pod_drive, container):
    """Shows a folder or file of the node inside the pod."""
    source, target = host_path(host_drive, host), host_path(pod_drive, container)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(target):
        os.remove(target)
    if not os.path.exists(target):
        os.symlink(source, target)
