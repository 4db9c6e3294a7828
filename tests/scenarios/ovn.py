"""OVN-Kubernetes' hybrid overlay: the test is ovnkube, which gives the prefix, and who approves the request."""
import json
import threading

import joins
import killed
import scene
from scene import snapshot, stage

CONFLIST = "C:\\etc\\cni\\net.d\\10-winjoin.conf"
SUBNET, MAC = "k8s.ovn.org/hybrid-overlay-node-subnet", "k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac"
PODS = "10.244.77.0/24"  # not what the controller manager gives: 10.244.1.0/24
NETWORK = "OVNKubernetesHybridOverlayNetwork"
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
WORDS = ("--network-plugin", "ovn-kubernetes", "-o", "json")


class Ovnkube(scene.Scene):
    """A cluster in which it runs on the Linux node, and no flannel."""
    options = (*scene.WITH_TOKEN, "--flannel", "")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stage.fabric.overlay_vni(4097)
        cls.annotate("l1", **{"k8s.ovn.org/node-subnets": json.dumps({"default": ["10.244.0.0/24"]}),
                              MAC: stage.fabrics.L1_MAC})
        for name in ("ClusterRole", "ClusterRoleBinding"):
            cls.grant(name)

    @classmethod
    def grant(cls, kind):
        """What winjoin config cluster --network-plugin ovn-kubernetes gives the program's own identity."""
        body = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
                "metadata": {"name": "winjoin:ovn-kubernetes"}}
        if kind == "ClusterRole":
            body["rules"] = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]},
                             {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch"]}]
        else:
            body["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                               "name": "winjoin:ovn-kubernetes"}
            body["subjects"] = [{"kind": "Group", "name": "system:ovn-nodes",
                                 "apiGroup": "rbac.authorization.k8s.io"}]
        cls.stage.cluster.call("POST", "/apis/rbac.authorization.k8s.io/v1/%ss" % kind.lower(), body)

    @classmethod
    def annotate(cls, name, **annotations):
        node = cls.stage.node(name)
        had = node["metadata"].get("annotations") or {}
        node["metadata"]["annotations"] = {k: v for k, v in had.items() if "flannel" not in k} | annotations
        cls.stage.cluster.call("PUT", "/api/v1/nodes/" + name, node)

    def approve(self, name):
        path = "%s/%s" % (REQUESTS, name)
        request = self.stage.cluster.call("GET", path)
        request.setdefault("status", {})["conditions"] = [
            {"type": "Approved", "status": "True", "reason": "ByHand", "message": "Welcome."}]
        self.stage.cluster.call("PUT", path + "/approval", request)


class KilledOvn(Ovnkube, killed.Kills):
    more, last = WORDS, scene.FAST

    def setUp(self):
        self.over = threading.Event()
        cluster = threading.Thread(target=self.answer)
        cluster.start()
        self.addCleanup(cluster.join)
        self.addCleanup(self.over.set)

    def answer(self):
        """ovnkube, and who approves: at once, each time that the node comes so far."""
        while not self.over.wait(0.3):
            try:
                if SUBNET not in (self.stage.node(stage.NODE)["metadata"].get("annotations") or {}):
                    self.annotate(stage.NODE, **{SUBNET: PODS})
                for request in self.stage.cluster.call("GET", REQUESTS)["items"]:
                    if not request.get("status", {}).get("conditions"):
                        self.approve(request["metadata"]["name"])
            except (scene.Refused, OSError):
                pass  # the Node does not exist yet, or the kubelet wrote it meanwhile


class OvnKubernetes(Ovnkube):
    """The life of a node, told in order: each test needs the one before."""

    def networks(self):
        _, status = self.stage.document("status")
        return {n["name"] for n in status["networks"]}

    def test_1_join(self):
        join = self.follow(*WORDS, "--verify", "none")
        line = join.until(lambda line: line["state"] == "waiting" and SUBNET in line["message"])
        self.assertTrue(line, join.said())
        self.annotate(stage.NODE, **{SUBNET: PODS})
        line = join.until(lambda line: "kubectl certificate approve" in line.get("hint", ""))
        self.assertTrue(line, join.said())
        self.approve(line["hint"].split()[-1])
        self.assertEqual(join.wait(), 0, join.said())
        self.assertEqual(self.ready(), ["True"])
        self.assertEqual(self.networks(), {"Base" + NETWORK, NETWORK})
        with open(self.stage.host.path(CONFLIST), encoding="utf-8") as f:
            cni = json.load(f)
        self.assertEqual((cni["type"], cni["name"]), ("win-overlay", NETWORK))
        self.assertEqual(cni["policies"][0]["value"]["Settings"]["Exceptions"], ["10.96.0.0/12"])
        self.assertEqual(cni["ipam"]["ranges"][0][0]["subnet"], PODS)

    def test_2_packets(self):
        notes = self.stage.node(stage.NODE)["metadata"]["annotations"]
        self.stage.fabric.peer_add(PODS, self.stage.host.address, notes[MAC])
        code, report = self.stage.document("diag")

        self.assertEqual((code, report["causes"]), (0, []))

    def test_3_the_same_join_again_changes_nothing(self):
        before = self.stage.snapshot()
        done = self.stage.join(*WORDS, "--verify", "none")
        self.assert_code(done, 0)
        changed = [c for c in snapshot.compare(before, self.stage.snapshot()) if not c.startswith(joins.LIVING)]
        self.assertEqual(changed, [])

    def test_4_reset(self):
        self.reset()
        self.assert_bare()
