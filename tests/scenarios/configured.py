"""A join by --config alone, on a cluster that got the manifest of `winjoin config cluster` and nothing
else for Windows nodes."""
import json
import os
import subprocess
import unittest

import scene
from scene import stage

CONFIG = r"C:\join.yaml"
FLAGS = r"C:\var\lib\kubelet\kubeadm-flags.env"
FILE = """apiVersion: kubeadm.k8s.io/v1beta3
kind: JoinConfiguration
discovery:
  bootstrapToken: {token: %(token)s, apiServerEndpoint: "%(endpoint)s", caCertHashes: ["%(caCertHash)s"]}
  timeout: 1m
nodeRegistration:
  name: %(node)s
  taints: [{key: os, value: windows, effect: NoSchedule}]
  kubeletExtraArgs: {node-labels: "pool=blue", v: "2"}
  ignorePreflightErrors: [%(ignored)s]
---
apiVersion: winjoin.io/v1alpha1
kind: NodeConfiguration
artifacts: {bundle: '%(bundle)s'}
"""
PLURALS = {"ConfigMap": "configmaps", "Role": "roles", "RoleBinding": "rolebindings",
           "ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings"}


class BareStage(stage.Stage):
    """A cluster as kubeadm and flannel leave it: no rights and no defaults for Windows nodes."""

    def control_plane(self):
        return stage.on_fabric.OnFabric(self.fabric, "--no-node-services", *self.options)


class Configured(scene.Scene):
    """Told in order: each test needs the one before."""

    @classmethod
    def setUpClass(cls):
        if scene.missing():
            raise unittest.SkipTest(scene.missing())
        cls.stage = BareStage(cls.mode, options=cls.options)
        cls.enterClassContext(cls.stage)
        cls.bare = cls.stage.snapshot()

    def test_1_the_manifest_is_applied(self):
        external = stage.fabrics.EXTERNAL_IP + ":443"
        done = subprocess.run([stage.NATIVE, "config", "cluster", "--network-plugin", "flannel",
                               "--network-mode", "overlay", "--external-ip", external,
                               "--external-name", stage.fabrics.EXTERNAL_NAME + ":443",
                               "--external-dns", stage.fabrics.EXTERNAL_DNS, "-o", "json"],
                              text=True, capture_output=True, check=False)
        self.assert_code(done, 0)
        for item in json.loads(done.stdout)["items"]:
            group = item["apiVersion"].rpartition("/")[0]
            path = "/apis/%s/v1" % group if group else "/api/v1"
            if "namespace" in item["metadata"]:
                path += "/namespaces/" + item["metadata"]["namespace"]
            self.stage.cluster.call("POST", path + "/" + PLURALS[item["kind"]], item)

    def test_2_the_file_is_enough(self):
        facts = {**self.stage.cluster.facts, "node": stage.NODE, "ignored": stage.IGNORED,
                 "bundle": stage.BUNDLE}
        source = os.path.join(self.stage.fabric.folder, "join.yaml")
        with open(source, "w", encoding="utf-8") as f:
            f.write(FILE % facts)
        self.stage.host.put(source, CONFIG)
        self.assert_code(self.stage.winjoin("config", "validate", "--config", CONFIG), 0)
        done = self.stage.winjoin("join", "--config", CONFIG, "-o", "json", timeout=240)
        self.assert_code(done, 0)
        flows = {(f["id"], f["protocol"]): f["outcome"] for f in json.loads(done.stdout)["flows"]}
        self.assertEqual(set(flows.values()), {"pass"}, flows)
        self.assertEqual(self.ready(), ["True"])
        self.assertIn("is deprecated", done.stderr)

    def test_3_what_the_file_says_of_the_node_holds(self):
        with open(self.stage.host.path(FLAGS), encoding="utf-8") as f:
            flags = f.read()
        for word in ("--node-labels=pool=blue", "--v=2",
                     "--register-with-taints=os=windows:NoSchedule"):
            self.assertIn(word, flags)

    def changed(self):
        return json.loads(self.stage.winjoin("status", "-o", "json").stdout)["drift"].get("changed", [])

    def test_4_the_repair_that_status_names_writes_what_the_file_said(self):
        with open(self.stage.host.path(FLAGS), encoding="utf-8") as f:
            flags = f.read()
        with open(self.stage.host.path(FLAGS), "w", encoding="utf-8") as f:
            f.write("KUBELET_KUBEADM_ARGS=")
        row, = self.changed()
        self.assertEqual(row["target"], FLAGS)
        self.assert_code(self.stage.winjoin(*row["command"].split()[1:]), 0)
        with open(self.stage.host.path(FLAGS), encoding="utf-8") as f:
            self.assertEqual(flags, f.read())
        self.assertEqual([], self.changed())

    def test_5_a_bare_join_keeps_what_the_file_said(self):
        os.unlink(self.stage.host.path(CONFIG))
        with open(self.stage.host.path(FLAGS), encoding="utf-8") as f:
            flags = f.read()
        os.unlink(self.stage.host.path(FLAGS))
        done = self.stage.winjoin("join", "--ignore-preflight-errors", stage.IGNORED, "--verify", "none", timeout=240)
        self.assert_code(done, 0)
        self.assertIn("again, with the options of its last join", done.stderr)
        with open(self.stage.host.path(FLAGS), encoding="utf-8") as f:
            self.assertEqual(flags, f.read())

    def test_6_reset_gives_the_host_back(self):
        self.reset()
        self.assert_bare()
