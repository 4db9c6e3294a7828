"""Joins that succeed: what they leave, what a second one changes, what reset gives back."""
import json
import os

import cis
import scene
from scene import netns, snapshot, stage

PHASES = ["preflight", "discovery", "configuration", "artifacts", "certificate", "vswitch", "files",
          "containerd", "kubelet", "node", "pod-network", "flanneld", "kube-proxy", "ready", "verify"]
SERVICES = {"containerd", "kubelet", "kube-proxy", "flanneld"}
# What goes on by itself on a joined node: logs, the record of the last proof, the state of programs.
LIVING = ("files: ~ var\\log\\", "files: + var\\log\\", "files: ~ ProgramData\\winjoin\\evidence",
          "files: + ProgramData\\winjoin\\evidence", "files: ~ ProgramData\\winjoin\\logs",
          "files: + ProgramData\\winjoin\\logs", "files: + ProgramData\\winjoin\\reports",
          "files: ~ var\\lib\\cni\\networks\\flannel.4096\\last_reserved_ip")
GUID = "5f2c61a4-0000-4000-8000-000000000013"
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


class Whole(scene.Scene):
    """The life of an overlay node, told in order: each test needs the one before."""

    def test_1_join_makes_a_ready_node_whose_pods_can_talk(self):
        done = self.stage.join("-o", "json", "--progress", "json")
        type(self).said = done.stdout + done.stderr
        self.assert_code(done, 0)
        result = json.loads(done.stdout)
        self.assertEqual([(p["id"], p["outcome"]) for p in result["phases"]],
                         [(name, "done") for name in PHASES])
        flows = {(f["id"], f["protocol"]): f["outcome"] for f in result["flows"]}
        self.assertEqual(set(flows.values()), {"pass"}, flows)
        self.assertEqual(len(flows), 18)
        self.assertEqual(self.ready(), ["True"])
        # Nothing proved, the token, the node; a watch that saw what it waited for takes its one along.
        asked = self.connections()
        watches = sum(verb == "watch" for rows in asked.values() for _, verb, _ in rows)
        self.assertLessEqual(len(asked), 3 + watches, asked)

    def connections(self):
        """Connection -> what winjoin asked the API server for over it."""
        found = {}
        with open(self.stage.cluster.audit, encoding="utf-8") as f:
            for line in map(json.loads, f):
                if line["userAgent"].startswith("winjoin/"):
                    found.setdefault(line["connection"], []).append((line["user"], line["verb"], line["path"]))
        return found

    def test_2_cis_benchmark(self):
        """docs/cis-benchmark.md says of each rule what the join really left."""
        stated, shown = cis.compared(self.stage.host.drive)
        self.assertEqual(stated, shown)

    def test_2_status_shows_what_is_there(self):
        code, status = self.stage.document("status")
        self.assertEqual((code, status["joined"]), (0, True))
        self.assertEqual(status["certificate"]["subject"],
                         "CN=system:node:%s,O=system:nodes" % stage.NODE)
        running = {s["name"] for s in status["services"] if s["state"] == "running"}
        self.assertLessEqual(SERVICES, running)
        self.assertTrue(all(n["winjoin"] for n in status["networks"]), status["networks"])

    def test_3_the_same_join_again_changes_nothing(self):
        before, requests = self.stage.snapshot(), self.requests()
        self.assert_joins()
        changed = [line for line in snapshot.compare(before, self.stage.snapshot())
                   if not line.startswith(LIVING)]
        self.assertEqual(changed, [])
        self.assertEqual(self.requests(), requests)

    def requests(self):
        items = self.stage.cluster.call("GET", REQUESTS)["items"]
        return sorted(item["metadata"]["name"] for item in items)

    def test_4_the_token_is_nowhere(self):
        self.assertNotIn(scene.SECRET, self.said)
        # The API server's own state and the bundle's source know it; nothing else may.
        self.assertEqual(scene.holders(self.stage.fabric.folder, scene.SECRET, "controlplane/"), [])

    def test_5_reset_gives_the_host_back(self):
        self.reset()
        self.assert_bare()


class Again(scene.Scene):
    def join_again(self, *words):
        """Nothing is made a second time."""
        before = self.stage.snapshot()
        done = self.stage.host.run([*words, *scene.FAST], timeout=180)
        self.assert_code(done, 0)
        changed = [line for line in snapshot.compare(before, self.stage.snapshot())
                   if not line.startswith(LIVING)]
        self.assertEqual(changed, [])


class L2bridge(Again):
    mode = "l2bridge"

    def test_join_and_reset(self):
        done = self.stage.join("-o", "json")
        self.assert_code(done, 0)
        result = json.loads(done.stdout)
        self.assertEqual({p["outcome"] for p in result["phases"]}, {"done"})
        details = {p["id"]: p["detail"] for p in result["phases"]}
        self.assertEqual(details["flanneld"], "running, host-gw; routes to 1 of 1 other node")
        self.assertEqual({f["outcome"] for f in result["flows"]}, {"pass"})
        self.assertEqual(self.ready(), ["True"])
        self.join_again(*self.stage.join_words)
        self.reset()
        self.assert_bare()


class L2tunnel(Again):
    """Without an agent: winjoin writes its routes, and names the one that the fabric needs."""
    mode, plugin, type = "l2tunnel", "win-bridge", "L2Tunnel"

    def test_join_and_reset(self):
        done = self.stage.join("--network-plugin", self.plugin, "--verify", "none", "-o", "json")
        self.assert_code(done, 0)
        pods, address = self.stage.node(stage.NODE)["spec"]["podCIDR"], self.stage.host.address
        self.assertIn("route %s via %s" % (pods, address), repr(json.loads(done.stdout)["next"]))
        networks = json.loads(self.stage.winjoin("status", "-o", "json").stdout)["networks"]
        self.assertIn(("cbr0", self.type), [(n["name"], n["type"]) for n in networks])
        self.stage.fabric.peer_add(pods, address, "")
        control_plane = self.stage.fabric.ns("cp")
        netns.ip(control_plane, "route replace", pods, "via", address)
        code, report = self.stage.document("diag")
        self.assertEqual((code, report["causes"], report["network"]), (0, [], self.mode + " cbr0"))
        self.join_again(*self.stage.join_words, "--network-plugin", self.plugin)
        self.stage.fabric.peer_del(pods)
        netns.ip(control_plane, "route del", pods)
        self.reset()
        self.assert_bare()


class Sdnbridge(L2tunnel):
    """The same by Microsoft's plugin: pods' gateway is the host's endpoint, which no pod gets."""
    mode, plugin, type = "l2bridge", "sdnbridge", "L2Bridge"


class Sdnoverlay(scene.Scene):
    def test_join_and_reset(self):
        done = self.stage.join("--network-plugin", "sdnoverlay", "-o", "json")
        self.assert_code(done, 0)
        result = json.loads(done.stdout)
        self.assertEqual({f["outcome"] for f in result["flows"]}, {"pass"})
        self.assertEqual(self.ready(), ["True"])
        self.reset()
        self.assert_bare()


class Apart(Again):
    """Modes whose switch translates nothing: kube-proxy's load balancers do not work there."""
    by_name_or_service = {"pod-to-pod-name", "pod-to-service-ip", "pod-to-service-pqdn",
                          "pod-to-service-fqdn", "pod-to-external-dns"}

    def outcomes(self, report):
        """Outcome of each flow, both protocols together; why flows were skipped."""
        found, why = {}, set()
        for flow in report["flows"]:
            found.setdefault(flow["id"], set()).add(flow["outcome"])
            if flow["outcome"] == "skip":
                why.add(flow["reason"])
        return found, why

    def assert_apart(self, report):
        found, why = self.outcomes(report)
        for flow, outcome in found.items():
            self.assertEqual(outcome, {"skip" if flow in self.by_name_or_service else "pass"}, (flow, found))
        self.assertEqual(why, {"no-services"})


class Nat(Apart):
    """Pods behind WinNAT: the adapter has no part in it, and the reason against it is acknowledged."""
    mode = "nat"

    def test_join_and_reset(self):
        done = self.stage.join("--network-plugin", "nat", "-o", "json")
        self.assert_code(done, 2)
        self.assertIn("other nodes cannot reach this node's pods", done.stderr)
        self.assert_bare()
        self.stage.ignored += ",NetworkMode"
        words = [*self.stage.join_words, "--network-plugin", "nat"]
        done = self.stage.host.run([*words, "-o", "json"], timeout=180)
        self.assert_code(done, 0)
        result = json.loads(done.stdout)
        details = {p["id"]: p["detail"] for p in result["phases"]}
        self.assertIn("not needed", details["vswitch"])
        self.assert_apart(result)
        self.assertEqual(self.ready(), ["True"])
        self.join_again(*words)
        self.reset()
        self.assert_bare()


class Transparent(Apart):
    """Pods on the machines' own segment: what the router there does is all that they have."""
    mode = "transparent"

    def test_join_and_reset(self):
        done = self.stage.join("--network-plugin", "sdnbridge", "--verify", "none", "-o", "json")
        self.assert_code(done, 0)
        pods = self.stage.node(stage.NODE)["spec"]["podCIDR"]
        gateway = pods.replace("0/24", "1/24")
        self.assertIn("the network's router needs the address " + gateway, repr(json.loads(done.stdout)["next"]))
        self.stage.fabric.segment(gateway)
        code, report = self.stage.document("diag")
        self.assertEqual((code, report["causes"], report["network"]), (0, [], "transparent transparent"))
        self.assert_apart(report)
        self.stage.fabric.route_services()  # to a node that serves them
        code, report = self.stage.document("diag")
        found, _ = self.outcomes(report)
        self.assertEqual({tuple(o) for o in found.values()}, {("pass",)}, found)
        self.assertEqual(self.ready(), ["True"])
        self.join_again(*self.stage.join_words, "--network-plugin", "sdnbridge")
        self.reset()
        self.assert_bare()


class External(scene.Scene):
    """The test is the cluster's own network agent: it waits for the Node, then makes the network."""
    words_external = ("--network-plugin", "external", "--verify", "none", "-o", "json")
    cni = "C:\\etc\\cni\\net.d\\10-agent.conflist"

    def setUp(self):
        done = self.stage.join("--network-plugin", "win-overlay", "--pod-cidr", "10.244.1.0/24",
                               "--dry-run", "-o", "json")
        self.network = json.loads(done.stdout)["network"]

    def hns(self, function, signature, *args):
        result, out = self.stage.host.hns(function, signature, *args)
        self.assertEqual(result, 0, out[-1])
        return out

    def agent(self):
        """What a DaemonSet does there; the plugin's program it brings with it."""
        body = self.network["documents"][1]["body"]
        self.hns("HcnCreateNetwork", "gsHo", GUID, json.dumps({**body, "Owner": "agent"}))
        self.stage.host.put(os.path.join(stage.STANDINS, "win-overlay.exe"),
                            "C:\\opt\\cni\\bin\\win-overlay.exe")
        content = self.network["cni"][0]["content"]
        path = self.stage.host.path(self.cni)
        with open(path + ".new", "w", encoding="utf-8") as f:
            json.dump({"cniVersion": "1.0.0", "name": content["name"], "plugins": [content]}, f)
        os.rename(path + ".new", path)

    def test_join_waits_for_the_clusters_agent(self):
        join = self.follow(*self.words_external)
        line = join.until(lambda line: line["phase"] == "pod-network" and line["state"] == "waiting")
        self.assertIn("for the cluster's network agent to write a file", (line or {}).get("message", join.said()))
        self.assertEqual(self.ready(), ["False"])
        self.agent()
        self.assertEqual(join.wait(), 0, join.said())
        self.assertEqual(self.ready(), ["True"])
        _, status = self.stage.document("status")
        self.assertEqual([n["name"] for n in status["networks"]], ["flannel.4096"])
        self.assertEqual({s["name"] for s in status["services"]} & {"kube-proxy", "flanneld"}, set())
        again = self.stage.host.run([*self.words(network_mode=None), "--verify", "none", "-o", "json"],
                                    timeout=180)  # what the first one chose holds
        self.assert_code(again, 0)
        details = {p["id"]: p["detail"] for p in json.loads(again.stdout)["phases"]}
        self.assertIn("made by the cluster's own agent: win-overlay in " + self.cni, details["pod-network"])
        self.reset()  # with the folders that the join made
        _, status = self.stage.document("status")
        self.assertEqual([n["name"] for n in status["networks"]], ["flannel.4096"])
        self.hns("HcnDeleteNetwork", "go", GUID)  # as it came, it costs the static address
        changed = snapshot.compare(self.bare, self.stage.snapshot())
        self.assertEqual([c for c in changed if not c.startswith(("adapters: ", "routes: "))], [])


class Trouble(scene.Scene):
    """Joins that meet something on the way and arrive all the same."""

    def tearDown(self):
        self.stage.cluster.control(op="csr", mode="auto")
        self.reset()
        self.assert_bare()

    def test_api_server_is_restarted_in_the_middle(self):
        for phase in ("certificate", "node"):
            with self.subTest(phase):
                join = self.follow(*scene.FAST)
                self.assertTrue(join.until(lambda line: line["phase"] == phase), join.said())
                self.stage.cluster.stop()
                self.stage.cluster.start()
                self.assertEqual(join.wait(), 0, join.said())
                self.reset()

    def test_winjoin_that_runs_where_it_was_installed(self):
        """Windows neither replaces nor removes a program that runs."""
        newer, installed = self.stage.host.path(r"C:\newer.exe"), r"C:\k\winjoin.exe"
        with open(stage.WINJOIN, "rb") as this, open(newer, "wb") as other:
            other.write(this.read() + b"newer")
        self.assert_joins(*scene.FAST)
        done = self.stage.host.run([r"C:\newer.exe", *self.stage.join_words[1:], *scene.FAST], timeout=180)
        self.assert_code(done, 0)
        self.assertIn("another winjoin.exe runs as the host of this node's services and is kept", done.stderr)
        done = self.stage.host.run([installed, "reset", "--force"], timeout=120)
        self.assert_code(done, 0)
        self.assertIn("file %s: it runs: moved to %%TEMP%%" % installed, done.stderr)
        self.assertFalse(os.path.exists(self.stage.host.path(r"C:\k")))
        os.remove(newer)

    def test_flanneld_that_ends_at_its_start(self):
        """As when its HNS is not up yet: Windows would start it again, Wine does not."""
        join = self.follow_flanneld(("--verify", "node"), count=1)
        self.assertEqual(join.wait(), 0, join.said())
        self.assertIn("flanneld ended with exit code 1: restarted after 5 s", join.said())
        done = [line for line in join.lines if line["phase"] == "flanneld" and line["state"] == "done"]
        self.assertIn("routes to 1 of 1 other node", done[0]["message"])

    def test_own_earlier_life_is_waited_for(self):
        address = self.stage.host.address
        self.ready_node(address)
        join = self.follow(*scene.FAST)
        self.assertIsNotNone(join.until(lambda line: line["state"] == "waiting"
                                        and "still Ready from an earlier join" in line["message"]),
                             join.said())
        self.assertIn("kubectl delete node " + stage.NODE, join.said())
        self.set_ready("Unknown", address)  # the control plane misses the old kubelet
        self.assertEqual(join.wait(), 0, join.said())
        self.assertEqual(self.ready(), ["True"])

    def test_request_is_approved_by_hand(self):
        self.stage.cluster.control(op="csr", mode="manual")
        join = self.follow(*scene.FAST)
        line = join.until(lambda line: "kubectl certificate approve" in line.get("hint", ""))
        self.assertTrue(line, join.said())
        name = line["hint"].split()[-1]
        self.assertEqual(line["hint"], "kubectl certificate approve " + name)
        path = "%s/%s" % (REQUESTS, name)
        request = self.stage.cluster.call("GET", path)
        request.setdefault("status", {})["conditions"] = [
            {"type": "Approved", "status": "True", "reason": "ByHand", "message": "Welcome."}]
        self.stage.cluster.call("PUT", path + "/approval", request)
        self.assertEqual(join.wait(), 0, join.said())
        self.assertEqual(self.ready(), ["True"])
