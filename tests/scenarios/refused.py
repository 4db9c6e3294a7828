"""Joins that are refused: the right exit code, one clear line, and an untouched host."""
import os
import shutil
import time

import scene
from scene import stage

NOBODY = "10.0.0.99:6443"
BROKEN = r"C:\broken.zip"


class Refused(scene.Scene):
    def assert_refused(self, words, code, says, seconds=20):
        """One line "error: ..." that says so, in that time; the host as it was before."""
        before, begin = self.stage.snapshot(), time.monotonic()
        done = self.stage.host.run(words, timeout=120)
        took = time.monotonic() - begin
        self.assert_code(done, code)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertRegex(errors[0], says)
        self.assertNotIn(scene.SECRET, done.stdout + done.stderr)
        self.assertLess(took, seconds)
        self.assertEqual(scene.snapshot.compare(before, self.stage.snapshot()), [])
        return done

    def test_unknown_flag(self):
        self.assert_refused([*self.words(), "--network-mod", "overlay"], 3, "network-mod")

    def test_no_bundle(self):
        self.assert_refused([*self.words(bundle=None), "--source-base", "none"], 3, "required programs")

    def test_wrong_pin(self):
        pin = "sha256:" + "0123456789abcdef" * 4
        self.assert_refused(self.words(discovery_token_ca_cert_hash=pin), 4, "pinned")

    def test_wrong_secret(self):
        self.assert_refused(self.words(token="abcdef.wr0ngwr0ngwr0ngw"), 4, "signature|JWS|token")

    def test_unknown_token(self):
        self.assert_refused(self.words(token="zyxwvu." + scene.SECRET), 1, "zyxwvu")

    def test_nobody_answers(self):
        words = [NOBODY if w == self.stage.cluster.facts["endpoint"] else w for w in self.words()]
        self.assert_refused([*words, "--timeout", "3s"], 1, NOBODY)

    def test_changed_bundle(self):
        with open(self.stage.host.path(stage.BUNDLE), "rb") as f:
            data = bytearray(f.read())
        data[len(data) // 2] ^= 1
        with open(self.stage.host.path(BROKEN), "wb") as f:
            f.write(data)
        self.addCleanup(os.remove, self.stage.host.path(BROKEN))
        self.assert_refused(self.words(bundle=BROKEN), 4, "artifact '.*CRC")

    def patch(self, text):
        """--patches with this one for the kubelet."""
        folder = self.stage.host.path(r"C:\patches")
        os.makedirs(folder)
        self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, "kubeletconfiguration.yaml"), "w", encoding="utf-8") as f:
            f.write(text)
        return ["--patches", r"C:\patches"]

    def test_a_value_that_the_kubelet_refuses(self):
        done = self.assert_refused([*self.words(), *self.patch("maxPods: -1\n")], 3,
                                   r"kubelet: invalid configuration: maxPods \(--max-pods\) -1 must not be a negative")
        self.assertRegex(done.stderr, "hint: .*ConfigMap kube-system/kubelet-config.*--patches")

    def test_a_type_that_the_kubelet_refuses(self):
        self.assert_refused([*self.words(), *self.patch("maxPods: many\n")], 3,
                            "kubelet: json: cannot unmarshal string .*maxPods of type int32")

    def test_flannel_of_linux_alone(self):
        """Upstream's manifest as it comes: VNI 1 and port 8472, which no Windows node can join."""
        path = "/api/v1/namespaces/kube-flannel/configmaps/kube-flannel-cfg"
        found = self.stage.cluster.call("GET", path)
        plain = {**found, "data": {"net-conf.json": '{"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan"}}'}}
        self.stage.cluster.call("PUT", path, plain)
        self.addCleanup(self.set_data, path, found["data"])
        self.let_tokens_read_flannel()
        done = self.assert_refused(self.words(), 3, "flannel does not support Windows nodes: its VNI is 1")
        self.assertRegex(done.stderr, "hint: .*4096.*kube-flannel-cfg")

    def let_tokens_read_flannel(self):
        """As `winjoin config cluster` does."""
        rules = {"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "winjoin"}
        group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
                 "name": "system:bootstrappers:kubeadm:default-node-token"}
        for kind, plural, more in (("Role", "roles", rules),
                                   ("RoleBinding", "rolebindings", {"roleRef": role, "subjects": [group]})):
            path = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-flannel/" + plural
            self.stage.cluster.call("POST", path, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
                                                   "metadata": {"name": "winjoin"}, **more})
            self.addCleanup(self.stage.cluster.call, "DELETE", path + "/winjoin")

    def set_data(self, path, data):
        self.stage.cluster.call("PUT", path, {**self.stage.cluster.call("GET", path), "data": data})

    def test_foreign_service(self):
        made = self.stage.host.run(["sc", "create", "kubelet", "binPath=", r"C:\other.exe"])
        self.assertEqual(made.returncode, 0, made.stdout)
        self.addCleanup(self.stage.host.run, ["sc", "delete", "kubelet"])
        done = self.assert_refused(self.words(), 2, "preflight")
        self.assertRegex(done.stderr, "hint: .*kubelet")

    def test_flanneld_ends_always(self):
        """Found only on the way: said with its exit code and its log; reset gives the host back."""
        join = self.follow_flanneld(scene.FAST)
        self.assertEqual(join.wait(), 1, join.said())
        said = join.said()
        self.assertRegex(said, "error: .*keep flanneld running: it ended 4 times, the last time with exit code 1")
        self.assertRegex(said, r"hint: its log: C:\\var\\log\\flanneld\\flanneld.log\s")
        self.assertRegex(said, r"hint: its last message: E\d{4} ")
        self.hns_is_well()
        self.reset()
        self.assert_bare()

    def test_a_late_failure_is_rolled_back(self):
        """--on-failure rollback: the network, the services and the files are gone when the join ends."""
        join = self.follow_flanneld([*scene.FAST, "--on-failure", "rollback"])
        self.assertEqual(join.wait(), 1, join.said())
        self.hns_is_well()
        self.delete_node()
        self.assertRegex(join.said(), r"hint: everything was undone \(--on-failure rollback\): \d+ removed")
        self.assert_bare()
        done = self.stage.winjoin("reset", "--force")
        self.assertRegex(done.stdout + done.stderr, "nothing to undo")

    def test_request_is_denied(self):
        """Found only on the way: the host is touched, and reset gives it back."""
        self.stage.cluster.control(op="csr", mode="deny")
        self.addCleanup(self.stage.cluster.control, op="csr", mode="auto")
        done = self.stage.join()
        self.assert_code(done, 1)
        self.assertRegex(done.stderr, "error: .*denied")
        self.reset()
        self.assert_bare()
