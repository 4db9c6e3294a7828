"""flannel on the Linux machines: what it does there when a Windows node publishes itself."""
import contextlib
import json
import threading
import time

import netns

PREFIX = "flannel.alpha.coreos.com/"
PAUSE = 0.3


class LinuxAgent:
    def __init__(self, fabric, nodes):
        """nodes: yields the Node objects each time they have changed; used inside the namespace of the control plane."""
        self.fabric, self.nodes, self.ns = fabric, nodes, fabric.ns("cp")
        self.over = threading.Event()

    def start(self):
        threading.Thread(target=netns.within, args=(self.ns, self._follow),
                         name="linux-agent", daemon=True).start()

    def stop(self):
        self.over.set()

    def _follow(self):
        known = {}
        while not self.over.is_set():
            try:
                for nodes in self.nodes():
                    if self.over.is_set():
                        return
                    self._apply({n["metadata"]["name"]: way for n in nodes if (way := _way_to(n))}, known)
            except Exception as why:  # as flannel: whatever the server says, it is asked again
                self._say("%s: %s" % (type(why).__name__, why))
            self.over.wait(PAUSE)

    def _apply(self, wanted, known):
        for name in [n for n in known if known[n] != wanted.get(n)]:
            self._say("%s is gone: %s" % (name, known[name]))
            self._unroute(known[name][0])
            self.fabric.peer_del(known.pop(name)[0])
        for name, way in wanted.items():
            if name not in known:
                self.fabric.peer_add(*way)
                self._route(*way[:2])
                known[name] = way
                self._say("%s is there: %s" % (name, way))

    def _say(self, text):
        """For whoever looks why a way is missing. At the end the folder goes before this thread."""
        with contextlib.suppress(FileNotFoundError), \
                open(self.fabric.log("linux-agent"), "a", encoding="utf-8") as f:
            f.write("%.3f %s\n" % (time.time(), text))

    def _route(self, subnet, host):
        """host-gw: the control plane's machine has an agent too, and answers pods directly."""
        if self.fabric.mode != "overlay":
            netns.ip(self.ns, "route replace", subnet, "via", host)

    def _unroute(self, subnet):
        if self.fabric.mode != "overlay":
            netns.ip(self.ns, "route del", subnet, check=False)


def _way_to(node):
    """(subnet, host, VTEP's MAC) of a Windows node whose agent has published it, or None."""
    notes = node["metadata"].get("annotations") or {}
    labels = node["metadata"].get("labels") or {}
    subnet = node.get("spec", {}).get("podCIDR")
    address = notes.get(PREFIX + "public-ip")
    if labels.get("kubernetes.io/os") != "windows" or not subnet or not address:
        return None
    data = json.loads(notes.get(PREFIX + "backend-data") or "null") or {}
    mac = data.get("VtepMAC", "")
    if notes.get(PREFIX + "backend-type") == "vxlan" and not mac:
        return None  # flannel publishes itself before it has the network's address
    return subnet, address, mac
