"""The third-party build: what is built again when, and what the bill of materials says."""

import configparser
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "dist/windows-libs"))
sys.dont_write_bytecode = True
import build  # noqa: E402
import sbom  # noqa: E402


def libraries():
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.read_string((ROOT / "dist/windows-libs/libraries.ini").read_text())
    return parser


class Keys(unittest.TestCase):
    def keys(self, parser):
        keys = {}
        for name in parser.sections():
            keys[name] = build.library_key(parser[name], keys)
        return keys

    def test_same_tree_same_keys(self):
        self.assertEqual(self.keys(libraries()), self.keys(libraries()))

    def test_a_change_reaches_what_needs_it(self):
        before, parser = self.keys(libraries()), libraries()
        parser["openssl"]["version"] = "3.5.99-1"
        after = self.keys(parser)
        changed = {name for name in before if before[name] != after[name]}
        self.assertEqual(changed, {"openssl", "curl"})

    def test_options_count_but_their_layout_does_not(self):
        before, parser = self.keys(libraries()), libraries()
        parser["jansson"]["options"] = "  ".join(parser["jansson"]["options"].split())
        self.assertEqual(self.keys(parser)["jansson"], before["jansson"])
        parser["jansson"]["options"] += " X=ON"
        self.assertNotEqual(self.keys(parser)["jansson"], before["jansson"])

    def test_every_library_says_where_it_comes_from(self):
        for section in map(libraries().__getitem__, libraries().sections()):
            for key in ("source", "version", "licence", "recipe"):
                self.assertTrue(section[key], (section.name, key))
            self.assertIn(section["recipe"], build.RECIPES)


class Linux(unittest.TestCase):
    def test_the_same_libraries_for_linux_have_keys_of_their_own(self):
        code = ("import build, linux; seen = []\n"
                "build.ensure = lambda *given, **more: seen.append((build.TARGET, given, more))\n"
                "linux.ensure(2); print(seen, sorted(build.RECIPES))")
        said = subprocess.run([sys.executable, "-B", "-c", code], cwd=ROOT / "dist/windows-libs", check=True,
                              capture_output=True, text=True).stdout
        self.assertEqual(said, "[('x86_64-linux-gnu', (2, 'linux-libs'), {'shipped_only': True})] "
                               "%s\n" % sorted(build.RECIPES))


class Cache(unittest.TestCase):
    def test_a_finished_build_is_merged_once(self):
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "jansson-0"
            (library / "include").mkdir(parents=True)
            (library / "lib").mkdir()
            (library / "lib/libjansson.a").write_text("!<arch>\n")
            (library / "built.json").write_text(json.dumps({"name": "jansson"}))
            prefix = pathlib.Path(folder) / "prefix-0"
            build.merge([library], prefix)
            self.assertTrue((prefix / "lib/libjansson.a").exists())
            self.assertEqual(json.loads((prefix / "built.json").read_text()), {"libraries": [{"name": "jansson"}]})


class BillOfMaterials(unittest.TestCase):
    BUILT = {"libraries": [
        {"name": "zlib", "source": "zlib", "version": "1:1.3.dfsg+really1.3.1-1", "licence": "Zlib", "shipped": True,
         "configuration": ["A=OFF"]},
        {"name": "cmocka", "source": "cmocka", "version": "1.1.7-3", "licence": "Apache-2.0", "shipped": False,
         "configuration": []}]}

    def test_what_is_linked_is_listed_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "winjoin.exe"
            program.write_bytes(b"MZ")
            document = sbom.document(self.BUILT, [program], "1.2.3")
        packages = {package["name"]: package for package in document["packages"]}
        self.assertEqual(set(packages), {"winjoin.exe", "zlib"})
        self.assertEqual(packages["zlib"]["versionInfo"], "1.3.1")
        self.assertEqual(packages["zlib"]["externalRefs"][0]["referenceLocator"],
                         "pkg:deb/debian/zlib@1%3A1.3.dfsg%2Breally1.3.1-1?arch=source")
        self.assertEqual(len(packages["winjoin.exe"]["checksums"][0]["checksumValue"]), 64)
        ids = {package["SPDXID"] for package in document["packages"]} | {"SPDXRef-DOCUMENT"}
        for relation in document["relationships"]:
            self.assertIn(relation["spdxElementId"], ids)
            self.assertIn(relation["relatedSpdxElement"], ids)


if __name__ == "__main__":
    unittest.main()
