"""What only looks: preflight and the dry run, on the host and in the cluster; names of phases."""
import json
import os

import scene
from scene import stage

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


class Looking(scene.Scene):
    def setUp(self):
        before = self.stage.snapshot()
        self.addCleanup(lambda: self.assertEqual(
            scene.snapshot.compare(before, self.stage.snapshot()), []))

    def preflight(self):
        words = self.words(node_name=stage.NODE)
        words[1] = "preflight"
        done = self.stage.host.run([*words, "-o", "json"], timeout=60)
        report = json.loads(done.stdout)
        self.assertEqual(report["kind"], "PreflightReport", done.stderr)
        return done, {check["id"]: check for check in report["checks"]}

    def test_preflight_looks_at_host_and_cluster(self):
        done, checks = self.preflight()
        self.assert_code(done, 0)
        self.assertGreater(len(checks), 50)
        for name in ("HNS", "Discovery", "ClusterConfiguration", "NodeName", "NetworkPlan",
                     "Programs", "Bundle"):
            self.assertEqual(checks[name]["outcome"], "pass", checks[name])
        self.assertNotIn(scene.SECRET, done.stdout + done.stderr)

    def test_preflight_finds_the_name_taken(self):
        self.ready_node("10.0.0.199")
        done, checks = self.preflight()
        self.assert_code(done, 2)
        self.assertEqual(checks["NodeName"]["outcome"], "error")
        self.assertIn("kubectl delete node " + stage.NODE, done.stderr)

    def test_preflight_knows_this_machines_earlier_life(self):
        self.ready_node(self.stage.host.address)
        done, checks = self.preflight()
        self.assert_code(done, 0)
        self.assertEqual(checks["NodeName"]["outcome"], "warning")
        self.assertIn("earlier join of this machine", checks["NodeName"]["message"])

    def test_dry_run_tells_the_plan(self):
        done = self.stage.join("--dry-run", "-o", "json")
        self.assert_code(done, 0)
        plan = json.loads(done.stdout)
        self.assertEqual((plan["kind"], plan["unknown"]), ("JoinPlan", ["podCIDR"]))
        self.assertEqual([s["name"] for s in plan["services"]],
                         ["winjoin-network", "containerd", "kubelet", "flanneld", "kube-proxy"])
        self.assertTrue(plan["artifacts"])
        self.assertNotIn(scene.SECRET, done.stdout + done.stderr)
        self.assertEqual(self.stage.cluster.call("GET", REQUESTS)["items"], [])

    def test_dry_run_is_readable(self):
        done = self.stage.join("--dry-run", "--pod-cidr", "10.244.7.0/24")
        self.assert_code(done, 0)
        self.assertIn("nothing was changed", done.stdout)
        self.assertIn("source VIP 10.244.7.2", done.stdout)
        self.assertNotIn("<podCIDR>", done.stdout)

    def test_dry_run_writes_its_files_where_kubeadm_would(self):
        folder = os.path.join(self.stage.host.drive, "windows", "temp", "look")
        done = self.stage.join("--dry-run", env={"KUBEADM_JOIN_DRYRUN_DIR": r"C:\windows\temp\look"})
        self.assert_code(done, 0)
        names = set(os.listdir(folder))
        self.assertLessEqual({"ca.crt", "config.yaml", "kubeadm-flags.env", "instance-config.yaml",
                              "kubelet.conf", "10-winjoin.conf"}, names)
        self.assertIn("%d files written to C:\\windows\\temp\\look" % len(names), done.stdout)
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                self.assertNotIn(scene.SECRET, file.read(), name)

    def test_phases_have_kubeadms_names(self):
        done = self.stage.winjoin("join", "phase", "list")
        self.assertRegex(done.stdout, "kubelet-start +kubeadm's name for")
        done = self.stage.winjoin("join", "phase", "kubelet-strt")
        self.assert_code(done, 3)
        self.assertIn("hint: did you mean kubelet-start?", done.stderr)
        done = self.stage.join("--skip-phases", "verfy")
        self.assert_code(done, 3)
        self.assertIn("hint: did you mean verify?", done.stderr)

    def test_nobody_is_asked_without_a_terminal(self):
        done = self.stage.winjoin("reset")
        self.assert_code(done, 3)
        self.assertIn("hint: use --force", done.stderr)
