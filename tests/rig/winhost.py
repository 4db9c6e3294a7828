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
                "podPrefix": os.path.join(self.folder, "none"), "port": NET_PORT,
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
