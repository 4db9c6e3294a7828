"""A Windows node on the fabric: its namespace, its Wine prefix, its HNS and what keeps its packets."""
import json
import os
import subprocess
import sys

import fabric as fabrics
import netns
import sandbox

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "wine"))
import prefix as prefixes  # noqa: E402  (beside the programs that it prepares Wine for)

HNSD = os.path.join(ROOT, "build", "native", "hnsd")
HNS_PORT, NET_PORT = 17999, 17998


class Node:
    """The network side of a Windows node; enough where no Windows program runs."""

    def __init__(self, fabric, name="node-w1", origin="static", outage_ms=1500, hnsd=False):
        self.fabric, self.name, self.origin = fabric, name, origin
        self.address = fabrics.WINDOWS[name]
        self.outage_ms = outage_ms
        self.ns = fabric.host(name.replace("node-", ""), self.address, "nic0")
        self.folder = os.path.join(fabric.folder, name)
        os.makedirs(self.folder)
        self.prefix = os.path.join(self.folder, "wine")
        self.plane = None
        self.hnsd = hnsd

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.close()

    def config(self):
        return {"netns": self.ns, "nic": "nic0", "alias": "Ethernet", "origin": self.origin,
                "addresses": [self.address + "/24"], "gateway": fabrics.ROUTER,
                "dns": [fabrics.EXTERNAL_DNS], "folder": self.folder, "prefix": self.prefix,
                "podPrefix": os.path.join(self.folder, "pod"), "port": NET_PORT,
                "hnsPort": HNS_PORT}

    def start(self):
        path = os.path.join(self.folder, "node.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(self.config(), f)
        argv = [sys.executable, os.path.join(HERE, "dataplane.py"), "--config", path]
        with open(self.fabric.log(self.name + "-plane"), "ab") as log:
            self.plane = subprocess.Popen(netns.network_only(self.ns, argv), stdin=subprocess.PIPE,
                                          stdout=subprocess.PIPE, stderr=log, text=True,
                                          start_new_session=True)

    def ask(self, request):
        """One request to the data plane; fails with its words."""
        self.plane.stdin.write(json.dumps(request) + "\n")
        self.plane.stdin.flush()
        line = self.plane.stdout.readline()
        answer = json.loads(line) if line else {"ok": False, "error": "the data plane ended"}
        if not answer.get("ok"):
            raise RuntimeError("%s: %s" % (request.get("op", "state"), answer.get("error")))
        return answer

    def pod(self, guid):
        """The network namespace of a pod, made if need be."""
        return self.ask({"op": "sandbox", "namespace": guid})["netns"]

    def close(self):
        if self.plane:
            self.plane.stdin.close()
            try:
                self.plane.wait(20)
            except subprocess.TimeoutExpired:
                self.plane.kill()
        if os.path.exists(self.prefix):
            sandbox.stop_prefix(self.prefix)


class Host(Node):
    """A whole Windows node: beside its network a prefix in which programs and services run."""

    def __init__(self, fabric, name="node-w1", build="20348", dlls=prefixes.DLLS, **more):
        super().__init__(fabric, name, **more)
        self.build = build
        prefixes.copy(self.prefix, build, dlls)
        prefixes.copy(os.path.join(self.folder, "pod"), build, None)
        self.drive = os.path.join(self.prefix, "drive_c")

    def environment(self, extra=None):
        # WINJOIN_* of whoever runs the tests must not reach the program under test.
        clean = {k: v for k, v in os.environ.items() if not k.startswith("WINJOIN_")}
        return {**clean, **sandbox.wine_env(self.prefix), **(extra or {})}

    def path(self, windows):
        """A file of the host as a path of this machine."""
        return sandbox.host_path(self.drive, windows)

    def lay(self, source, windows):
        """Puts a file of this machine onto the host."""
        target = self.path(windows)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        prefixes.lay(source, target)
        return target

    def spawn(self, argv, env=None, **more):
        """Starts a Windows program on the host; the caller has the process."""
        return subprocess.Popen(netns.command(self.ns, [sandbox.WINE, *argv]), cwd=self.drive,
                                env=self.environment(env), start_new_session=True, **more)

    def run(self, argv, env=None, timeout=60, stdin=None):
        """Runs it to its end: exit code, standard output, standard error."""
        proc = self.spawn(argv, env, text=True, errors="replace", stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = proc.communicate(stdin or "", timeout)
        except subprocess.TimeoutExpired:
            proc.kill()
            out, err = proc.communicate()
            raise RuntimeError("%s: no end after %s s\n%s%s" % (argv[0], timeout, out, err)) from None
        return subprocess.CompletedProcess(argv, proc.returncode, out, err)
