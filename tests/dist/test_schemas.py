"""The JSON Schemas of winjoin's documents: those of the tree are the program's, and documents are as they say."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/configuration")]
import document_schemas  # noqa: E402
from cases import FILES  # noqa: E402

WINJOIN = ROOT / "build/native/winjoin"
EXPECTED = ROOT / "tests/unit/expected"


def winjoin(*words):
    return subprocess.run([WINJOIN, *words], capture_output=True, text=True, check=False, timeout=60)


def expected_documents():
    """Of the recorded runs: backslashes are not escaped there."""
    for path in sorted(EXPECTED.glob("*.txt")):
        for text in re.findall(r"^==== document\n(\{\n.*?^\}\n)", path.read_text(encoding="utf-8"), re.M | re.S):
            yield path.name, json.loads(re.sub(r'\\(?!")', r"\\\\", text), strict=False)


class Schemas(unittest.TestCase):
    def test_those_of_the_tree(self):
        listed = dict(re.findall(r"^(\S+) +(.+)$", winjoin("config", "print", "schema").stdout, re.M))
        self.assertEqual(set(listed), {path.stem for path in document_schemas.FOLDER.glob("*.json")}, "run: make docs")
        for name in listed:
            with self.subTest(name):
                self.assertEqual(winjoin("config", "print", "schema", name).stdout,
                                 (document_schemas.FOLDER / (name + ".json")).read_text(encoding="utf-8"), "run: make docs")
                document_schemas.validator(name)

    def test_every_kind_of_the_sources_has_one(self):
        for path in (p for folder in ("diag", "cmd", "join", "services") for p in (ROOT / folder).rglob("*.c")):
            for kind in re.findall(r'JSON_DOCUMENT\("(\w+)"\)|"kind",\s+"([A-Z]\w+)",\s+"(?:phases|server)"', path.read_text(encoding="utf-8")):
                with self.subTest(path.name):
                    self.assertTrue((document_schemas.FOLDER / ("".join(kind) + ".json")).exists(), kind)

    def test_recorded_runs(self):
        kinds = set()
        for name, document in expected_documents():
            with self.subTest(name):
                self.assertEqual([], document_schemas.problems(document))
            kinds.add(document.get("kind"))
        self.assertLess({"DiagReport", "JoinPlan", "NodeStatus", "PreflightReport", "ResetResult", "UpgradeResult"}, kinds)

    def test_rehearsed_calls(self):
        with tempfile.TemporaryDirectory() as host:
            for kind, *words in (("Version", "version"), ("Capabilities", "capabilities", "--rootfs", host),
                                 ("NodeStatus", "status", "--rootfs", host), ("Logs", "logs", "--rootfs", host),
                                 ("PreflightReport", "preflight", "--rootfs", host), ("JoinPhases", "join", "phase", "list"),
                                 ("ResetResult", "reset", "--force", "--rootfs", host), ("Failure", "certs", "--rootfs", host)):
                with self.subTest(kind):
                    document = json.loads(winjoin(*words, "-o", "json").stdout)
                    self.assertEqual(kind, document_schemas.name_of(document))
                    document_schemas.check(document)

    def test_configuration(self):
        """What winjoin takes, its schemas take; the defaults and the catalog too."""
        seen = 0
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "config.yaml")
            for case in FILES:
                path.write_bytes(case.text if isinstance(case.text, bytes) else case.text.encode())
                done = winjoin("config", "migrate", "--old-config", str(path), "-o", "json")
                documents = json.loads(done.stdout) if done.returncode == 0 else {"kind": "List", "items": []}
                for document in documents["items"] if documents["kind"] == "List" else [documents]:
                    with self.subTest(case.name):
                        document_schemas.check(document, document["kind"])
                    seen += 1
        self.assertGreater(seen, 40)
        for name in ("join-defaults", "catalog"):
            printed = json.loads(winjoin("config", "print", name, "-o", "json").stdout)
            for document in printed.get("items", [printed]):
                document_schemas.check(document, document["kind"])

    def test_defaults_have_each_option(self):
        """Without "# ", each option of the schema is there, and the file is taken; "routes: own" is not for overlay."""
        text = winjoin("config", "print", "join-defaults").stdout.partition("---\n")[2]
        head, names, options = text.partition("names above it.\n")
        document = head + names + "".join(line[2:] for line in options.splitlines(keepends=True))
        leaves = set(schema_leaves(json.loads((document_schemas.FOLDER / "NodeConfiguration.json").read_text(encoding="utf-8"))))
        self.assertGreater(len(leaves), 25)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "node.yaml")
            path.write_text(document.replace("  routes: own\n", ""), encoding="utf-8")
            self.assertEqual("ok\n", winjoin("config", "validate", "--config", str(path)).stdout)
        self.assertEqual(leaves, set(yaml_leaves(document)))

    def test_configuration_of_neither(self):
        for name, odd in (("NodeConfiguration", {"network": {"mode": "overlays"}}), ("NodeConfiguration", {"network": {"vni": 1}}),
                          ("NodeConfiguration", {"networks": {}}), ("JoinConfiguration", {"discovery": {"timeout": "5m"}}),
                          ("JoinConfiguration.v1beta3", {"dryRun": True}), ("Catalog", {"releases": [{"names": "x"}]})):
            with self.subTest(odd=odd):
                self.assertTrue(document_schemas.problems({**head(name), **odd}, name))
                self.assertEqual([], document_schemas.problems(head(name), name))

    def test_planted_differences_are_found(self):
        document = next(document for name, document in expected_documents() if name == "diag-document.txt")
        flow = document["flows"][0]
        for odd in ({**document, "extra": 1}, {key: value for key, value in document.items() if key != "summary"},
                    {**document, "node": 1}, {**document, "time": "yesterday"}, {**document, "flows": [{**flow, "outcome": "green"}]},
                    {**document, "flows": [{**flow, "evidence": {"probe": "ok", "extra": ""}}]}, {**document, "kind": "NodeStatus"}):
            self.assertEqual([], document_schemas.problems(document))
            self.assertTrue(document_schemas.problems(odd))


def schema_leaves(schema, above=""):
    for name, member in schema["properties"].items():
        if "properties" in member:
            yield from schema_leaves(member, above + name + ".")
        else:
            yield above + name


def yaml_leaves(text):
    """The paths of the names under which no other name is; two blanks a level."""
    path, found = [], []
    for line in text.splitlines():
        indent, name = len(line) - len(line.lstrip()), line.strip().partition(":")[0]
        if name.startswith("#"):
            continue
        path[indent // 2:] = [name]
        found.append(".".join(path))
    return [path for path in found if not any(other.startswith(path + ".") for other in found)]


def head(name):
    schema = json.loads((document_schemas.FOLDER / (name + ".json")).read_text(encoding="utf-8"))
    return {key: schema["properties"][key]["const"] for key in ("apiVersion", "kind")}


if __name__ == "__main__":
    unittest.main()
