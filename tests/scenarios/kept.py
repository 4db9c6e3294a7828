"""HNS is restarted, the machine too, and winjoin-network is killed: the node keeps its network."""
import json
import os
import random
import signal
import sys
import time

import scene
from scene import netns

import break_hns
import break_node
import fabric as fabrics

sys.path.append(os.path.join(scene.ROOT, "tests"))
import patience  # noqa: E402

LOG = "C:\\var\\log\\winjoin-network\\winjoin-network.log"
RUNS = b"service\0run\0winjoin-network"
KILLS = 4
SECONDS = 60  # for what takes ten


class Keeping(scene.Scene):

    def until(self, found, what, seconds=SECONDS):
        end = time.monotonic() + seconds * patience.factor()
        while not found():
            self.assertLess(time.monotonic(), end, what + "\n" + self.log())
            time.sleep(0.1)

    def log(self):
        path = self.stage.host.path(LOG)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as f:
            return f.read()

    def stands(self):
        """The pod network with a route to another node, and load balancers."""
        state = self.stage.host.control({"op": "dump"})
        pods = [n for n in state["networks"] if n["Name"] == "flannel.4096"]
        return pods and state["loadBalancers"] and any(
            p["Type"] == "RemoteSubnetRoute" for p in pods[0]["Policies"])

    def assert_kept(self, what):
        self.until(self.stands, what)
        code, report = self.stage.document("diag", timeout=170)
        self.assertEqual((code, report["causes"]), (0, []), what)
        own = self.own_report()
        self.assertEqual((own["network"], own["drift"], own["diag"]["time"], own["diag"]["causes"]),
                         ("flannel.4096", {}, report["time"], []), what)
        self.assertTrue(own["loadBalancers"] and own["dsr"] and own["diag"]["passed"], own)
        self.assertEqual(self.network_condition("PodNetworkProved"), ["True"], what)

    def own_report(self):
        """What the node has published of itself; None: nothing."""
        told = self.stage.node(scene.stage.NODE)["metadata"].get("annotations") or {}
        return json.loads(told.get("winjoin.io/network-report", "null"))

    def process(self):
        """winjoin-network's process on this machine; None: it does not run."""
        prefix = b"WINEPREFIX=" + self.stage.host.prefix.encode() + b"\0"
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % name, "rb") as f, open("/proc/%s/environ" % name, "rb") as e:
                    if RUNS in f.read() and prefix in e.read():
                        return int(name)
            except OSError:
                pass  # it ended meanwhile
        return None


class Kept(Keeping):
    """The life of an overlay node, told in order: each test needs the one before."""

    def test_1_join(self):
        self.assert_joins(*scene.FAST)
        self.assertTrue(self.process())
        code, status = self.stage.document("status")
        self.assertEqual((code, status["drift"]), (0, {}), status)

    def drift(self):
        return self.stage.document("status")[1]["drift"]

    def test_1_what_others_left(self):
        """Each by its row of status, and nothing beside it; after the pods of a diagnosis nothing is left."""
        host = self.stage.host
        self.assert_kept("nothing has happened")
        self.assertEqual(self.drift(), {})
        space = break_hns.make(self.stage, "Namespace", {"Type": "Host"})
        rows = self.drift()
        self.assertEqual((set(rows), [row["id"] for row in rows["namespacesWithoutPod"]]),
                         ({"namespacesWithoutPod", "commands"}, [space["ID"]]))
        host.control({"op": "delete", "kind": "Namespace", "id": space["ID"]})
        index = break_node.node_index(self.stage)
        host.net("route-add %s 10.244.77.0 24 10.0.0.77" % index)
        rows = self.drift()
        self.assertEqual((set(rows), rows["routesWithoutNode"]), ({"routesWithoutNode", "commands"}, [
            {"prefix": "10.244.77.0/24", "by": "10.0.0.77", "in": "Windows"}]))
        host.net("route-del %s 10.244.77.0 24 10.0.0.77" % index)
        balancer = break_hns.balancer(self.stage, fabrics.DNS_VIP, 17)
        for name in balancer["HostComputeEndpoints"]:
            host.hns("HcnDeleteEndpoint", "go", name)
        rows = self.drift()
        self.assertIn({"id": balancer["ID"], "frontend": fabrics.DNS_VIP}, rows["loadBalancersWithoutEndpoint"])
        self.assertEqual(set(rows), {"loadBalancersWithoutEndpoint", "commands"})
        break_node.restart("kube-proxy")(self.stage)
        self.until(lambda: self.drift() == {}, "kube-proxy was restarted")

    def test_2_hns_is_restarted(self):
        self.stage.host.restart_hns()
        self.assertFalse(self.stands())
        self.assert_kept("HNS was restarted")
        self.assertIn("HNS was restarted: made the HNS network flannel.4096 again, restarted flanneld, "
                      "restarted kube-proxy", self.log())

    def test_3_it_is_killed_while_it_restores(self):
        host = self.stage.host
        for _ in range(KILLS):
            host.restart_hns()
            time.sleep(random.uniform(0, 4))
            os.kill(self.process(), signal.SIGKILL)
            self.until(lambda: not self.process(), "it was killed")
            # Windows' failure actions, which Wine lacks, start it again; the SCM sees the end a moment later.
            self.until(lambda: not host.run(["sc", "start", "winjoin-network"]).returncode, "it starts again")
            self.until(self.stands, "it was killed")
        self.assert_kept("it was killed")

    def test_4_windows_is_restarted(self):
        self.stage.host.reboot()
        self.assert_kept("Windows was restarted")
        self.assertEqual(self.ready(), ["True"])

    def test_5_reset(self):
        self.assert_code(self.stage.winjoin("reset", "--force"), 0)
        self.assertIsNone(self.own_report())
        self.assertEqual(self.network_condition("PodNetworkProved"), [])
        self.delete_node()
        self.assert_bare()


class Booted(Keeping):
    """HNS refuses the pod network at the start of Windows: pods stay away until it stands. Told in order."""
    REFUSES = {"op": "rule", "fn": "HcnCreateNetwork", "contains": "flannel.4096", "hr": "0x803b0006"}

    def boot(self):
        try:
            self.stage.host.reboot(just_started=True)
        except netns.Missing as why:
            self.skipTest(str(why))

    def network(self):
        return any(n["Name"] == "flannel.4096" for n in self.stage.host.control({"op": "dump"})["networks"])

    def refused_boot(self):
        self.stage.host.control(self.REFUSES)
        self.addCleanup(self.stage.host.control, {"op": "norules"})
        self.boot()
        self.until(lambda: self.network_condition() == ["True"], "pods are kept away")
        self.assertFalse(self.stands())

    def test_1_join(self):
        self.assert_joins(*scene.FAST)
        self.assertIn(self.network_condition(), ([], ["False"]))

    def test_2_pods_wait_for_the_network(self):
        self.refused_boot()
        self.stage.host.control({"op": "norules"})
        self.assert_kept("HNS makes it now")
        self.until(lambda: self.network_condition() == ["False"], "pods may come")

    def test_3_a_boot_without_trouble(self):
        self.boot()
        self.until(self.network, "Windows was restarted")
        self.until(lambda: self.network_condition() in ([], ["False"]), "pods may come")

    def test_4_reset_after_a_refused_boot(self):
        """What flanneld makes in winjoin's place goes, too."""
        self.refused_boot()
        self.reset()
        self.assert_bare()


class KeptWithoutAgent(Keeping):
    """No agent: other nodes hear of the new network, whose MAC address is another one. Told in order."""

    def addresses(self):
        """The MAC address to which other nodes send, and the network's own."""
        told = self.stage.node(scene.stage.NODE)["metadata"].get("annotations") or {}
        data = json.loads(told.get("flannel.alpha.coreos.com/backend-data", "{}"))
        networks = self.stage.host.control({"op": "dump"})["networks"]
        own = [p["Settings"]["Address"] for n in networks if n["Name"] == "flannel.4096"
               for p in n["Policies"] if p["Type"] == "DrMacAddress"]
        return data.get("VtepMAC"), own[0].replace("-", ":").lower() if own else None

    def test_1_join(self):
        self.assert_joins("--network-plugin", "win-overlay", *scene.FAST)
        told, own = self.addresses()
        self.assertEqual(told, own)
        type(self).before = own

    def test_2_hns_is_restarted(self):
        self.stage.host.restart_hns()
        self.until(self.stands, "HNS was restarted")
        self.until(lambda: len(set(self.addresses())) == 1, "other nodes hear of it")
        self.assertNotEqual(self.addresses()[1], self.before)
        self.assert_kept("HNS was restarted")

    def test_3_reset(self):
        self.reset()
        self.assert_bare()


class OwnRoutes(Keeping):
    """No agent: winjoin-network writes the routes to other nodes' pods. Told in order."""
    mode, origin = "l2bridge", "dhcp"
    nodes = {"other-1": ("10.244.41.0/24", "10.0.0.41"), "other-2": ("10.244.42.0/24", "10.0.0.42")}

    def node_comes(self, name, address=""):
        pods, own = self.nodes[name]
        self.stage.cluster.call("POST", "/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "spec": {"podCIDR": pods, "podCIDRs": [pods]}})
        node = self.stage.node(name)
        node["status"] = {"addresses": [{"type": "InternalIP", "address": address or own}]}
        self.stage.cluster.call("PUT", "/api/v1/nodes/%s/status" % name, node)

    def node_goes(self, name):
        self.stage.cluster.call("DELETE", "/api/v1/nodes/" + name)

    def routes(self):
        """Pods' prefix -> next hop, of other nodes."""
        return {"/".join(r[2:4]): r[4] for r in self.stage.host.net("routes")
                if r[2].startswith("10.244.4") and r[4] != "0.0.0.0"}

    def follow_routes(self, what, *names):
        wanted = dict(self.nodes[n] for n in names)
        self.until(lambda: self.routes() == wanted, what)

    def test_1_join(self):
        self.node_comes("other-1")
        self.assert_joins("--network-plugin", "win-bridge", *scene.FAST)
        self.follow_routes("the join", "other-1")

    def test_2_nodes_come_and_go(self):
        self.node_comes("other-2")
        self.follow_routes("a node came", "other-1", "other-2")
        self.node_goes("other-1")
        self.follow_routes("a node went", "other-2")

    def test_3_a_node_moves(self):
        self.node_goes("other-2")
        type(self).nodes = {**self.nodes, "other-2": ("10.244.42.0/24", "10.0.0.43")}
        self.node_comes("other-2")
        self.follow_routes("a node has another address", "other-2")

    def test_4_windows_is_restarted(self):
        self.stage.host.shut_down()
        self.node_comes("other-1")
        self.stage.host.control({"op": "reboot"})
        self.stage.host.boot()
        self.follow_routes("Windows was restarted", "other-1", "other-2")

    def test_5_reset(self):
        self.reset()
        self.assert_bare()
        for name in self.nodes:
            self.node_goes(name)


class KeptJoin(Keeping):
    """HNS is restarted in the middle of a join: it goes on, or the same command does."""

    def test_hns_is_restarted_in_each_phase(self):
        for phase in ("vswitch", "kubelet", "pod-network", "flanneld", "kube-proxy"):
            with self.subTest(phase):
                join = self.follow(*scene.FAST)
                seen = join.until(lambda line: line["phase"] == phase and line["state"] == "started")
                self.assertTrue(seen, join.said())
                time.sleep(random.uniform(0, 1))
                self.stage.host.restart_hns()
                if join.wait() != 0:
                    self.assert_joins(*scene.FAST)
                self.until(self.stands, phase)
                if phase == "kube-proxy":
                    self.assert_kept(phase)
                self.reset()
                self.assert_bare()
