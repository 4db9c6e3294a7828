"""The whole scene of a join: fabric, control plane and a bare Windows host with winjoin.exe on it.

    with stage.Stage() as s:
        s.join(); s.host.run(...); s.reset()

Nothing here is known to winjoin: it gets an address, a token, a pin and a bundle, as on a real
machine.
"""
import json
import os
import shutil
import subprocess
import sys

import fabric as fabrics
import snapshot
import winhost

TESTS = os.path.join(winhost.ROOT, "tests")
sys.path += [TESTS, os.path.join(TESTS, "controlplane")]
import on_fabric  # noqa: E402

NATIVE = os.path.join(winhost.ROOT, "build", "native", "winjoin")
WINJOIN = os.path.join(winhost.ROOT, "build", "windows", "winjoin.exe")
STANDINS = os.path.join(winhost.ROOT, "build", "windows", "standins")
PROGRAM, BUNDLE = r"C:\winjoin.exe", r"C:\winjoin-bundle.zip"
# The cluster-wide defaults that an administrator applies once.
DEFAULTS = """apiVersion: winjoin.io/v1alpha1
kind: NodeConfiguration
network: {plugin: flannel}
verify:
  external: {ip: "%s:443", name: "%s:443", dns: %s}
""" % (fabrics.EXTERNAL_IP, fabrics.EXTERNAL_NAME, fabrics.EXTERNAL_DNS)
# What a rehearsed Windows may lack and a real one has: not what is looked at here.
IGNORED = "PageFile,DiskSpace"
NODE = "win-7k2"


class Newcomer:
    """A bare Windows host with winjoin.exe on it, and the words by which it joins the cluster."""

    def __init__(self, fabric, cluster, node=NODE, programs=None, **host):
        """programs: name (kubelet.exe) -> file of this machine, for what is not a stand-in."""
        self.ignored = IGNORED
        self.fabric, self.cluster, self.mode, self.node_name = fabric, cluster, fabric.mode, node
        self.programs, self.host_options, self.host = dict(programs or {}), host, None

    def arrive(self):
        self.host = winhost.Host(self.fabric, **self.host_options)
        self.host.start()
        self.host.put(WINJOIN, PROGRAM)
        self.host.put(self.bundle(), BUNDLE)

    def leave(self):
        if self.host:
            self.host.close()

    def bundle(self, *more):
        """Made as an administrator makes it; what has no program of its own has a stand-in."""
        path = os.path.join(self.fabric.folder, "bundle.zip")
        source = os.path.join(self.fabric.folder, "programs")
        os.makedirs(source, exist_ok=True)
        for name in os.listdir(STANDINS):
            shutil.copy(self.programs.get(name, os.path.join(STANDINS, name)),
                        os.path.join(source, name))
        done = subprocess.run([NATIVE, "bundle", "create", source, path, *more], text=True,
                              capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError("bundle create: " + done.stderr)
        return path

    @property
    def join_words(self):
        """The command line of the join, as a person types it."""
        facts = self.cluster.facts
        return [PROGRAM, "join", facts["endpoint"], "--token", facts["token"],
                "--discovery-token-ca-cert-hash", facts["caCertHash"], "--network-mode", self.mode,
                "--node-name", self.node_name, "--bundle", BUNDLE, "--ignore-preflight-errors",
                self.ignored]

    def join(self, *more, timeout=180, **how):
        return self.host.run([*self.join_words, *more], timeout=timeout, **how)

    def winjoin(self, *words, timeout=120, **how):
        return self.host.run([PROGRAM, *words], timeout=timeout, **how)

    def document(self, *words, **how):
        """A verb's document by -o json, and the exit code."""
        done = self.winjoin(*words, "-o", "json", **how)
        return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}

    def snapshot(self):
        return snapshot.take(self.host)

    def node(self, name):
        return self.cluster.call("GET", "/api/v1/nodes/" + name)


class Stage(Newcomer):
    """Fabric, the embedded control plane, one newcomer. Use as a context manager."""

    def __init__(self, mode="overlay", build="20348", options=(), programs=None, dual=False, **host):
        super().__init__(fabrics.Fabric(mode, dual=dual), None, programs=programs, build=build, **host)
        self.build, self.options = build, list(options)

    def __enter__(self):
        self.fabric.__enter__()
        try:
            self._raise()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.leave()
        if self.cluster:
            self.cluster.__exit__()
        self.fabric.close()

    def control_plane(self):
        """Where an administrator has applied the cluster's defaults; not entered yet."""
        defaults = os.path.join(self.fabric.folder, "defaults.yaml")
        with open(defaults, "w", encoding="utf-8") as f:
            f.write(DEFAULTS)
        return on_fabric.OnFabric(self.fabric, "--winjoin-config", defaults, *self.options)

    def _raise(self):
        self.cluster = self.control_plane()
        self.cluster.__enter__()
        self.arrive()
