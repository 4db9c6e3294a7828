"""What the documents show for Terraform and Cluster API: read by a parser of HCL, and by Cluster API's own packages."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/provision"), str(ROOT / "tests/cluster")]
import ansible_tools  # noqa: E402
import bootstrap_data  # noqa: E402
import programs  # noqa: E402

READ_HCL = "import hcl2, json, sys; print(json.dumps(hcl2.load(sys.stdin)))"
READ_YAML = "import yaml, json, sys; print(json.dumps(yaml.safe_load(sys.stdin)))"


def blocks(document, kind):
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    return re.findall(r"^```%s\n(.*?)^```" % kind, text, re.MULTILINE | re.DOTALL)


class Case(unittest.TestCase):
    def read(self, program, text, code=0):
        try:
            python = ansible_tools.tools() / "python"
        except (ansible_tools.Missing, OSError, subprocess.TimeoutExpired) as why:
            self.skipTest(str(why))
        done = subprocess.run([python, "-c", program], input=text, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr[-500:])
        return json.loads(done.stdout) if done.stdout else None


class Terraform(Case):
    def test_it_is_hcl_and_fills_the_script(self):
        text, = blocks("unattended.md", "hcl")
        found = self.read(READ_HCL, text)
        kinds = {name.strip('"') for resource in found["resource"] for name in resource}
        self.assertEqual(kinds, {"aws_instance", "google_compute_instance", "azurerm_virtual_machine_extension"})
        script = (ROOT / "dist/provision/startup/join.cmd").read_text(encoding="utf-8")
        for old in re.findall(r', "([^"]+)", var', text):
            self.assertEqual(script.count(old), 1, old)
        for word in ("windows-startup-script-cmd", "winjoin-token", "persist true", "cmd /c join.cmd"):
            self.assertIn(word, script)
            self.assertIn(word.split(" ")[0], text)

    def test_a_planted_fault_is_found(self):
        text, = blocks("unattended.md", "hcl")
        self.read(READ_HCL, text.replace("jsonencode({", "jsonencode({{"), code=1)


class ClusterApi(Case):
    def rendered(self, change=("", "")):
        text, = blocks("cluster-api.md", "yaml")
        spec = self.read(READ_YAML, text.replace(*change))["spec"]["template"]["spec"]
        try:
            return json.loads(bootstrap_data.render(bootstrap_data.render(json.dumps({
                "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig",
                "metadata": {"name": "windows"}, "spec": self.found(spec)}), "v1.37.1"), "json"))
        except programs.NoGo as why:
            self.skipTest(str(why))

    def found(self, spec):
        """With what Cluster API's controller adds: where the cluster is."""
        spec["joinConfiguration"]["discovery"] = {"bootstrapToken": {
            "apiServerEndpoint": "10.0.0.10:6443", "token": "abcdef.0123456789abcdef", "caCertHashes": ["sha256:" + "a" * 64]}}
        return spec

    def test_cluster_api_makes_bootstrap_data_that_winjoin_reads(self):
        data = self.rendered()
        commands = data["runcmd"]
        self.assertEqual(commands[0], "set WINJOIN_NETWORK_PLUGIN=flannel")
        self.assertIn("kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml", commands[1])
        files = {row["path"]: row["content"] for row in data["write_files"]}
        config = files["/run/kubeadm/kubeadm-join-config.yaml"].replace('{{ ds.meta_data["local_hostname"] }}', "node-1")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(config)
            file.flush()
            done = subprocess.run([ROOT / "build/native/winjoin", "config", "validate", "--config", file.name],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr + config)

    def test_a_field_that_cluster_api_does_not_know_is_found(self):
        with self.assertRaisesRegex(RuntimeError, "preKubeadmCommand"):
            self.rendered(("preKubeadmCommands", "preKubeadmCommand"))


if __name__ == "__main__":
    unittest.main()
