"""The API server on the rig's fabric: in the namespace "cp", with the Linux node as its peer.

    with fabric.Fabric() as lan, OnFabric(lan) as cluster:
        cluster.facts["joinCommand"], cluster.call("GET", "/api/v1/nodes") ...

The Linux machines' agent (rig/linux_agent.py) follows its nodes.
"""
import json
import os
import socket
import sys
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path += [TESTS, os.path.join(TESTS, "rig")]
import fabric as fabrics  # noqa: E402
import linux_agent  # noqa: E402
import netns  # noqa: E402
from controlplane.client import Client  # noqa: E402

RUN = os.path.join(TESTS, "controlplane", "run")
PORT = 6443


class OnFabric:
    """Use as a context manager inside a Fabric's."""

    def __init__(self, fabric, *options):
        self.fabric, self.ns = fabric, fabric.ns("cp")
        self.state = os.path.join(fabric.folder, "controlplane")
        self.join_file = os.path.join(self.state, "join.json")
        self.audit = os.path.join(fabric.folder, "audit.jsonl")
        self.options, self.facts = list(options), {}
        self.agent = linux_agent.LinuxAgent(fabric, self._nodes)
        self.over = self.agent.over

    def __enter__(self):
        self.start()
        self.agent.start()
        return self

    def __exit__(self, *_):
        self.agent.stop()
        self.stop()

    def start(self):
        """Starts the server (again: with its keys and objects as they were)."""
        os.makedirs(self.state, exist_ok=True)
        if os.path.exists(self.join_file):
            os.unlink(self.join_file)
        flannel = "vxlan" if self.fabric.mode == "overlay" else "host-gw"
        peer = "l1=%s,%s,%s" % (fabrics.L1, fabrics.L1_SUBNET, fabrics.L1_MAC)
        both = []
        if self.fabric.dual:
            peer += ",%s,%s" % (fabrics.six(fabrics.L1), fabrics.L1_SUBNET6)
            both = ["--pod-subnet", "%s,%s" % (fabrics.POD_RANGE, fabrics.POD_RANGE6),
                    "--service-subnet", "%s,%s" % (fabrics.SERVICE_RANGE, fabrics.SERVICE_RANGE6),
                    "--dns", "%s,%s" % (fabrics.DNS_POD, fabrics.DNS_POD6)]
        self.fabric.daemon("controlplane", self.ns, [
            RUN, "--listen", "%s:%d" % (fabrics.CP, PORT), "--state", self.state, "--join-file",
            self.join_file, "--dns", fabrics.DNS_POD, "--flannel", flannel, "--peer", peer,
            "--audit", self.audit, *both, *self.options])
        end = time.monotonic() + 15
        while not os.path.exists(self.join_file):
            if time.monotonic() > end or self.fabric.children["controlplane"].poll() is not None:
                raise RuntimeError("the API server does not start: see %s"
                                   % self.fabric.log("controlplane"))
            time.sleep(0.02)
        with open(self.join_file, encoding="utf-8") as f:
            self.facts = json.load(f)

    def stop(self):
        netns.stop(self.fabric.children.pop("controlplane", None))

    def client(self):
        """The administrator; to be used inside the namespace (call() does that)."""
        return Client.of_kubeconfig(self.facts["kubeconfig"])

    def call(self, method, path, body=None, kind="application/json"):
        return netns.within(self.ns, self.client().call, method, path, body, kind)

    def _nodes(self):
        """Yields the Node objects each time one has changed, until the server ends the watch."""
        client = self.client()
        found = client.call("GET", "/api/v1/nodes")
        nodes = {node["metadata"]["name"]: node for node in found["items"]}
        yield nodes.values()
        for kind, node in client.watch("/api/v1/nodes?watch=1&resourceVersion=" + found["metadata"]["resourceVersion"]):
            if kind == "DELETED":
                nodes.pop(node["metadata"]["name"], None)
            elif kind in ("ADDED", "MODIFIED"):
                nodes[node["metadata"]["name"]] = node
            else:
                return
            yield nodes.values()

    def control(self, **message):
        """One operation of the control socket (control.py lists them)."""
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.facts["control"])
            s.sendall(json.dumps(message).encode() + b"\n")
            answer = json.loads(s.makefile().readline())
        if not answer["ok"]:
            raise RuntimeError("%s: %s" % (message.get("op"), answer["error"]))
        return answer
