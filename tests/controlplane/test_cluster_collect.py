#!/usr/bin/env python3
"""`winjoin diag --kubeconfig` with --collect and --compare against a modelled cluster, and --replay without one."""
import json
import os
import pathlib
import subprocess
import sys
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tests")]

from controlplane import resources, test_cluster_access  # noqa: E402
from controlplane.cluster_case import WINJOIN, ClusterDiag  # noqa: E402

NODE_REPORT = {"kind": "DiagReport", "flows": []}
SECRET = "s3cr3t7q9z2w5x8v"


class Collected(ClusterDiag):
    def setUp(self):
        super().setUp()
        self.zip = os.path.join(self.folder, "cluster.zip")
        create, named = self.cluster.store.create, resources.named
        create(named("configmaps"), "kube-system", {"metadata": {"name": "antrea-config"}, "data": {
            "net-conf.json": '{"Backend":{"VNI":4096}}', "password": SECRET}})
        create(named("configmaps"), "kube-system", {"metadata": {"name": "app"}, "data": {"of": "an application"}})
        create(named("secrets"), "kube-system", {"metadata": {"name": "of-the-cni"}, "data": {"x": SECRET}})
        create(named("daemonsets"), "kube-flannel", {
            "metadata": {"name": "kube-flannel-ds-windows", "managedFields": [{"manager": "kubectl"}],
                         "annotations": {"kubectl.kubernetes.io/last-applied-configuration": SECRET}},
            "spec": {"template": {"spec": {"containers": [{"name": "f", "args": ["--token=" + SECRET], "env": [
                {"name": "DATASTORE_PASSWORD", "value": SECRET}, {"name": "VNI", "value": "4096"}]}]}}}})
        create(named("services"), "default", {"metadata": {"name": "cart"}, "spec": {"clusterIP": "10.96.9.9"}})

    def alone(self, *words, code):
        """A call that reaches no cluster."""
        done = subprocess.run([WINJOIN, "diag", *words], capture_output=True, text=True, timeout=60,
                              check=False, env={"PATH": os.environ["PATH"]})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def packed(self):
        with zipfile.ZipFile(self.zip) as archive:
            return {name: archive.read(name).decode() for name in archive.namelist()}

    def test_what_is_in_it(self):
        out, _ = self.diag("--collect", self.zip)
        self.assertIn("the evidence is in %s (" % self.zip, out)
        files = self.packed()
        index = files["index.txt"]
        self.assertIn("the cluster https://", index)
        self.assertIn("winjoin diag --replay FILE.zip", index)
        for name, content in files.items():
            self.assertNotIn(SECRET, content, name)
            self.assertIn("  " + name if name != "index.txt" else "", index)
        self.assertIn("10.96.9.9", files["evidence/services.json"])
        self.assertEqual(len(json.loads(files["evidence/nodes.json"])["items"]), 4)
        [agent] = [d for d in json.loads(files["evidence/kube-flannel/daemonsets.json"])["items"]
                   if d["metadata"]["name"] == "kube-flannel-ds-windows"]
        self.assertEqual(agent["spec"]["template"]["spec"]["containers"][0]["env"]["VNI"], "4096")
        self.assertNotIn("managedFields", agent["metadata"])
        self.assertIn("4096", files["evidence/kube-system/configmap-antrea-config.json"])
        self.assertNotIn("an application", "".join(files.values()))
        [pods] = [n for n in files if n.startswith("evidence/winjoin-diag-") and n.endswith("/pods.json")]
        self.assertEqual(len(json.loads(files[pods])["items"]), 4)
        self.assertEqual(self.left(), [])

    def test_replayed_anywhere(self):
        self.model.not_started = {"win-001": "ImagePullBackOff"}
        self.model.broken = lambda source, target, udp: \
            "connect: connection refused" if "win-000" in (source, target) else None
        live = self.report("--collect", self.zip, code=5)
        self.cluster.stop(save=False)
        again = json.loads(self.alone("--replay", self.zip, "-o", "json", code=5)[0])
        self.assertEqual({c["id"] for c in live["causes"]}, {"CL-NODE", "CL-NOPOD"})
        live.pop("error"), again.pop("error")
        self.assertEqual(again, live)
        text, files = self.alone("--replay", self.zip, code=5)[0], self.packed()
        self.assertEqual(text, files["report.txt"])
        self.assertEqual(self.alone("--replay", self.zip, "-o", "html", code=5)[0], files["report.html"])
        self.assertIn("winjoin_diag_up{", self.alone("--replay", self.zip, "-o", "metrics", code=5)[0])

    def test_compared(self):
        old = os.path.join(self.folder, "old.json")
        self.diag("-o", "json", "--output-file", old)
        out, _ = self.diag("--compare", old)
        self.assertIn(": nothing has changed\n", out)
        self.model.broken = lambda source, target, udp: \
            "connect: connection refused" if "win-000" in (source, target) else None
        out, err = self.diag("--compare", old, "--collect", self.zip, code=5)
        self.assertIn("  new cause: CL-NODE\n", out)
        self.assertRegex(out, r"(?m)^  pod-to-pod-ip/tcp win-000 -> \S+: fail, was pass \(")
        self.assertIn(": it is worse", err)
        changes = json.loads(self.alone("--replay", old, "--compare", self.zip, "-o", "json", code=0)[0])["changes"]
        self.assertFalse(changes["worse"])
        self.assertEqual(changes["causesGone"], ["CL-NODE"])

    def test_other_nodes(self):
        old = os.path.join(self.folder, "old.json")
        self.diag("-o", "json", "--output-file", old, "--nodes", "win-000,lin-000")
        out, _ = self.diag("--compare", old, "--nodes", "win-001,lin-000")
        self.assertTrue(out.endswith(":\n  node win-001 is new\n  node win-000 is gone\n"), out)

    def test_other_kind(self):
        node, cluster = os.path.join(self.folder, "node.json"), os.path.join(self.folder, "cluster.json")
        with open(node, "w", encoding="utf-8") as f:
            json.dump(NODE_REPORT, f)
        self.diag("-o", "json", "--output-file", cluster)
        self.model.started = 0
        of_node, of_cluster = (": this is the report of one node, not of a whole cluster",
                               ": this is the report of a whole cluster, not of one node")
        self.assertIn("--compare " + node + of_node, self.diag("--compare", node, code=3)[1])
        self.assertEqual(self.model.started, 0)
        self.assertIn(of_node, self.alone("--replay", cluster, "--compare", node, code=3)[1])
        self.assertIn(of_cluster, self.alone("--replay", node, "--compare", cluster, code=3)[1])
        self.assertIn("use either --kubeconfig or --replay", self.diag("--replay", cluster, code=3)[1])

    def test_truncated(self):
        self.diag("--collect", self.zip)
        with open(self.zip, "rb") as f:
            data = f.read()
        for part in range(1, 10):
            with open(self.zip, "wb") as f:
                f.write(data[:len(data) * part // 10])
            self.assertIn("error: --replay " + self.zip, self.alone("--replay", self.zip, code=3)[1])

    def test_rights(self):
        """What may not be read is named; where nothing may be made, the evidence is packed all the same."""
        user = test_cluster_access.Rights.user
        self.diag("--collect", self.zip, kubeconfig=user(self, test_cluster_access.RIGHTS))
        index = self.packed()["index.txt"]
        self.assertIn("\nCould not be read:\n", index)
        self.assertIn("  evidence/services.json: GET /api/v1/services?limit=500: ", index)
        self.diag("--collect", self.zip, code=1, kubeconfig=user(self, test_cluster_access.RIGHTS[1:]))
        files = self.packed()
        self.assertIn("Nothing was measured: ", files["index.txt"])
        self.assertNotIn("report.json", files)
        self.assertNotIn("--replay", files["index.txt"])


if __name__ == "__main__":
    unittest.main()
