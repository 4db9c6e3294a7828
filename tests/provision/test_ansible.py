#!/usr/bin/env python3
"""The Ansible role, by ansible-playbook itself against the rehearsal (a Windows server in a folder) and a control plane."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/provision"), str(ROOT / "tests/bench"), str(ROOT / "tests")]
import load  # noqa: E402
import ansible_tools  # noqa: E402
import rehearsed  # noqa: E402
from controlplane.client import Client  # noqa: E402

ROLE = ROOT / "dist/provision/ansible"
PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: winjoin}
    - ansible.builtin.copy: {content: "{{ winjoin_result | to_json }}", dest: "%s"}
      check_mode: false
      delegate_to: localhost
"""


class Ansible(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools, cls.why = None, ""
        try:
            cls.tools = ansible_tools.tools()
        except (ansible_tools.Missing, OSError, subprocess.TimeoutExpired) as why:
            cls.why = "Ansible cannot be installed: %s" % why
            return
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.server = load.Server(str(cls.folder / "server"))
        cls.addClassCleanup(cls.server.stop)
        cls.rootfs = cls.folder / "node"
        cls.rootfs.mkdir()

    def setUp(self):
        if not self.tools:
            self.skipTest(self.why)

    def tool(self, name, *words, **how):
        env = {**os.environ, "ANSIBLE_ROLES_PATH": str(ROLE / "roles"), "ANSIBLE_HOME": str(self.folder / "home"),
               "ANSIBLE_LOCALHOST_WARNING": "false", "NO_COLOR": "1", "PATH": "%s:%s" % (self.tools, os.environ["PATH"])}
        return subprocess.run([str(self.tools / name), *words], capture_output=True, text=True, check=False, env=env,
                              timeout=200, **how)

    def play(self, *words, **variables):
        """winjoin_result, and what ansible-playbook printed."""
        book, out = self.folder / "play.yml", self.folder / "result.json"
        out.unlink(missing_ok=True)
        book.write_text(PLAY % out)
        facts = self.server.facts
        given = {"ansible_connection": "local", "winjoin_program": str(ROOT / "build/native/winjoin"),
                 "winjoin_endpoint": facts["endpoint"], "winjoin_token": load.TOKEN,
                 "winjoin_ca_cert_hashes": [facts["caCertHash"]],
                 "winjoin_arguments": ["--rootfs", str(self.rootfs), "--node-name", "node-1", "--skip-phases", load.SKIPPED],
                 **variables}
        done = self.tool("ansible-playbook", "-i", "node-1,", str(book), "-e", json.dumps(given), *words)
        return json.loads(out.read_text()) if out.exists() else None, done.stdout + done.stderr

    def test_join_twice_look_and_reset(self):
        plan, said = self.play("--check")
        self.assertEqual((plan["changed"], plan["result"].get("kind")), (True, "JoinPlan"), said)
        self.assertFalse(load.joined(self.rootfs, "node-1"))
        first, said = self.play("-vvv")
        self.assertEqual((first["changed"], first["exit_code"], first["restart_required"]), (True, 0, False), said)
        self.assertNotIn(load.TOKEN, said)
        self.assertTrue(load.joined(self.rootfs, "node-1"))
        again, said = self.play()
        self.assertEqual((again["changed"], again["exit_code"]), (False, 0), said)
        foreseen, said = self.play("--check", winjoin_state="upgraded", winjoin_arguments=["--rootfs", str(self.rootfs)])
        self.assertEqual((foreseen["changed"], foreseen["exit_code"]), (True, 0), said)
        none, said = self.play(winjoin_state="upgraded", winjoin_arguments=["--rootfs", str(self.rootfs), "--bundle", "no.zip"])
        self.assertIsNone(none, said)
        self.assertRegex(said, r"winjoin ended with exit code \d.*no\.zip")
        gone, said = self.play(winjoin_state="absent", winjoin_arguments=["--rootfs", str(self.rootfs)])
        self.assertEqual((gone["changed"], gone["exit_code"]), (True, 0), said)
        self.assertFalse(load.joined(self.rootfs, "node-1"))

    def register(self, name):
        """The Node as its kubelet reports it."""
        admin = Client.of_kubeconfig(self.server.facts["kubeconfig"])
        admin.call("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
        admin.call("PATCH", "/api/v1/nodes/%s/status" % name,
                   {"status": {"nodeInfo": {"kubeletVersion": "v1.37.1"}, "conditions": [{"type": "Ready", "status": "True"}]}},
                   "application/strategic-merge-patch+json")

    def test_upgrade(self):
        """Programs are replaced, their services restarted; the second time nothing is."""
        rootfs, old = rehearsed.server(self.folder / "node-2"), rehearsed.bundle(self.folder / "old")
        new = rehearsed.bundle(self.folder / "new", kubelet="newer", win_overlay="newer")
        common = ["--rootfs", str(rootfs), "--patches", str(rehearsed.healthy_kubelet(self, self.folder / "patches"))]
        first, said = self.play(winjoin_arguments=[*common, "--node-name", "node-2", "--skip-phases", rehearsed.NOT_PLAYED, "--kube-proxy",
                                                   "none", "--bundle", str(old)])
        self.assertTrue(first, said)
        self.assertEqual((first["changed"], first["exit_code"]), (True, 0), said)
        self.register("node-2")
        upgrade = {"winjoin_state": "upgraded", "winjoin_arguments": [*common, "--bundle", str(new), "--verify", "none"]}
        done, said = self.play(**upgrade)
        self.assertEqual((done["changed"], done["exit_code"]), (True, 0), said)
        result = done["result"]
        self.assertEqual(["kubelet", "win-overlay"], sorted(row["name"] for row in result["programs"]), said)
        self.assertEqual((["kubelet"], False), (result["services"], result["wentBack"]), said)
        for program, folder in rehearsed.PROGRAMS.items():
            path = rootfs.joinpath(*folder.replace("C:\\", "").split("\\"), program + ".exe")
            self.assertEqual((new / path.name).read_bytes(), path.read_bytes())
        again, said = self.play(**upgrade)
        self.assertEqual((again["changed"], again["exit_code"]), (False, 0), said)

    def test_a_failure_has_winjoins_words(self):
        result, said = self.play(winjoin_ca_cert_hashes=["sha256:" + "0" * 64])
        self.assertIsNone(result, said)
        self.assertIn("winjoin ended with exit code 4", said)
        result, said = self.play(winjoin_state="gone")
        self.assertIsNone(result, said)
        self.assertIn("value of winjoin_state must be one of", said)

    def test_lint(self):
        done = self.tool("ansible-lint", "--offline", "-q", str(ROLE / "site.yml"), str(ROLE / "roles/winjoin"), cwd=ROLE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
