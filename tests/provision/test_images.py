"""The Packer template and image-builder's role: read by parsers of their languages, their names and commands held to
each other, to Packer's plugins and to winjoin's own flags."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/provision"))
import ansible_tools  # noqa: E402

TEMPLATE = ROOT / "dist/provision/packer/winjoin.pkr.hcl"
ROLE = ROOT / "dist/provision/image-builder/winjoin"
READ_HCL = "import hcl2, json, sys; print(json.dumps(hcl2.load(sys.stdin)))"
READ_YAML = "import yaml, json, sys; print(json.dumps(yaml.safe_load(sys.stdin)))"
COMMON = {"communicator", "winrm_username", "winrm_use_ssl", "winrm_insecure", "winrm_timeout"}
# Of the plugins' own declarations (*.hcl2spec.go): packer-plugin-amazon v1.8.2 builder/ebs, -azure v2.6.3 builder/azure/arm,
# -googlecompute v1.2.7 builder/googlecompute.
FIELDS = {
    "amazon-ebs": {"region", "ami_name", "instance_type", "disable_stop_instance", "source_ami_filter",
                   "launch_block_device_mappings", "user_data"},
    "azure-arm": {"use_azure_cli_auth", "location", "vm_size", "os_type", "image_publisher", "image_offer", "image_sku",
                  "managed_image_name", "managed_image_resource_group_name"},
    "googlecompute": {"project_id", "zone", "machine_type", "source_image_family", "image_name", "image_family", "disk_size",
                      "metadata"},
}


def python(program, *arguments, given=None):
    tools = ansible_tools.tools() / "python"
    return subprocess.run([tools, *program, *arguments], input=given, capture_output=True, text=True, check=False)


def plain(value):
    """Without the quotes that the parser keeps, and what it adds."""
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items() if not str(k).startswith("__")}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value.strip('"') if isinstance(value, str) else value


def flags_of(verb):
    done = subprocess.run([ROOT / "build/native/winjoin", verb, "--help"], capture_output=True, text=True, check=True)
    return set(re.findall(r"--[a-z][a-z-]+", done.stdout))


class Case(unittest.TestCase):
    def setUp(self):
        try:
            ansible_tools.tools()
        except (ansible_tools.Missing, OSError, subprocess.TimeoutExpired) as why:
            self.skipTest(str(why))


class Packer(Case):
    def setUp(self):
        super().setUp()
        self.text = TEMPLATE.read_text(encoding="utf-8")
        done = python(["-c", READ_HCL], given=self.text)
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        self.found = plain(json.loads(done.stdout))
        self.build, = self.found["build"]

    def test_each_source_is_built_with_fields_of_its_plugin(self):
        sources = {kind: block for row in self.found["source"] for kind, blocks in row.items() for block in blocks.values()}
        names = {"source.%s.windows" % kind for kind in sources}
        self.assertEqual(set(self.build["sources"]), names)
        self.assertEqual(set(sources), set(FIELDS))
        for kind, block in sources.items():
            self.assertEqual(set(block), COMMON | FIELDS[kind], kind)
        only = [name for row in self.build["provisioner"] for p in row.values() for name in p.get("only", [])]
        self.assertEqual({"source." + name for name in only}, names)

    def test_what_it_names_is_declared(self):
        declared = {name for row in self.found["variable"] for name in row}
        self.assertEqual(set(re.findall(r"\bvar\.(\w+)", self.text)), declared)
        self.assertEqual(set(re.findall(r"\blocal\.(\w+)", self.text)), {n for row in self.found["locals"] for n in row})

    def test_its_commands_are_winjoins(self):
        line, = [row["prepare"] for row in self.found["locals"] if "prepare" in row]
        default, = [v["arguments"]["default"] for v in self.found["variable"] if "arguments" in v]
        used = set(re.findall(r"--[a-z][a-z-]+", line + default))
        self.assertIn("--kubernetes-version", used)
        self.assertLessEqual(used, flags_of("prepare"))
        prepares = [p for row in self.build["provisioner"] for p in row.values() if "prepare}" in json.dumps(p)]
        self.assertEqual([p.get("valid_exit_codes", [0]) for p in prepares], [[0, 6], [0]])

    def test_its_scripts_are_powershell(self):
        scripts = ["\n".join(p["inline"]).replace('\\"', '"').replace("\\\\", "\\")
                   for row in self.build["provisioner"] for p in row.values() if "inline" in p]
        scripts = [re.sub(r"\$\{local\.prepare\}", "& 'x' prepare", s) for s in scripts]
        user_data, = re.findall(r"<powershell>\n(.*?)</powershell>", self.text, re.DOTALL)
        self.assertEqual(self.wrong([*scripts, user_data]), [])
        self.assertNotEqual(self.wrong(["foreach ($x in 1 { }"]), [])  # the judge sees a fault

    def wrong(self, scripts):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number, script in enumerate(scripts):
                paths.append(pathlib.Path(folder) / ("%d.ps1" % number))
                paths[-1].write_text(script + "\n", encoding="utf-8")
            done = python([ROOT / "tests/dist/judge_powershell.py"], *paths)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [scripts[int(pathlib.Path(line.rsplit(":", 1)[0]).stem)] for line in done.stdout.splitlines()]


class ImageBuilder(Case):
    def test_its_role_calls_winjoin_as_it_is(self):
        done = python(["-c", READ_YAML], given=(ROLE / "tasks/main.yml").read_text(encoding="utf-8"))
        tasks = json.loads(done.stdout)
        modules = [key for task in tasks for key in task if "." in key]
        self.assertEqual(modules, ["ansible.windows." + m for m in ("win_file", "win_copy", "win_command", "win_file")])
        command, = [task["ansible.windows.win_command"] for task in tasks if "ansible.windows.win_command" in task]
        self.assertLessEqual(set(re.findall(r"--[a-z][a-z-]+", command)), flags_of("install"))
        defaults = json.loads(python(["-c", READ_YAML], given=(ROLE / "defaults/main.yml").read_text(encoding="utf-8")).stdout)
        used = set(re.findall(r"\{\{ (\w+)", json.dumps(tasks)))
        self.assertEqual(used, set(defaults))


if __name__ == "__main__":
    unittest.main()
