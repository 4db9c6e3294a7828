"""The pinning of upstream's programs: what is read, keyed, refused. Builds nothing, needs no Go."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import programs  # noqa: E402


class Versions(unittest.TestCase):
    def setUp(self):
        self.sections = programs.versions()

    def test_programs_of_a_section(self):
        found = programs.table("x", {"linux": "cmd/a b=.", "windows": "cmd/a"})
        self.assertEqual(found, {"a": ("linux", "cmd/a"), "b": ("linux", "."),
                                 "a.exe": ("windows", "cmd/a")})

    def test_every_section_is_pinned_at_its_version(self):
        for name, settings in self.sections.items():
            if "source" not in settings:
                self.assertTrue(programs.pinned(name, settings), "modules/%s is of another version than "
                                "versions.ini: run tests/cluster/build.py --pin %s" % (name, name))

    def test_pinned_programs_are_tools_of_their_module(self):
        for name, settings in self.sections.items():
            if "source" in settings:
                continue
            with open(os.path.join(programs.PINS, name, "go.mod"), encoding="utf-8") as f:
                text = f.read()
            for _, path in programs.table(name, settings).values():
                self.assertRegex(text, r"(?m)^(tool|)\s*%s$" % re.escape(
                    programs.package(settings, path)))

    def test_lease_is_made_of_the_flannel_that_nodes_run(self):
        with open(os.path.join(HERE, "lease", "go.mod"), encoding="utf-8") as f:
            self.assertIn("%s %s\n" % (self.sections["flannel"]["module"], self.sections["flannel"]["version"]), f.read())

    def test_another_version_is_not_the_pinned_one(self):
        settings = self.sections["etcd"]
        settings = dict(settings, version=settings["version"] + "0")
        self.assertIsNone(programs.pinned("etcd", settings))

    def test_a_version_that_is_not_whole_is_named(self):
        for version in ("1.37.1", "v1.37", "latest"):
            with tempfile.NamedTemporaryFile("w", suffix=".ini") as f:
                f.write("[etcd]\nversion = %s\n" % version)
                f.flush()
                with mock.patch.object(programs, "VERSIONS", f.name), \
                        self.assertRaisesRegex(programs.Failed, r"\[etcd\] version = %s" % version):
                    programs.versions()

    def test_owner(self):
        self.assertEqual(programs.owner("kubelet.exe", self.sections), "kubernetes")
        with self.assertRaises(programs.Failed):
            programs.owner("kubelet.exe", self.sections, "etcd")
        with self.assertRaises(programs.Failed):
            programs.owner("no-such-program", self.sections)


class Keys(unittest.TestCase):
    def setUp(self):
        self.enterContext(mock.patch.object(programs, "go_version", lambda: "1.26.1"))

    def test_another_version_or_go_is_another_place(self):
        settings = programs.versions()["etcd"]
        first = programs.home("etcd", settings)
        self.assertIn("etcd-" + settings["version"], first)
        self.assertNotEqual(first, programs.home(
            "etcd", dict(settings, version=settings["version"] + "0")))
        with mock.patch.object(programs, "go_version", lambda: "1.26.2"):
            self.assertNotEqual(first, programs.home("etcd", settings))

    def test_a_changed_source_is_another_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "main.go")
            for text in ("package main", "package main // changed"):
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
                before, now = locals().get("now"), programs.tree_hash(folder)
                self.assertNotEqual(before, now)

    def test_the_version_is_stamped_into_kubernetes(self):
        flags = programs.linker_flags(programs.versions()["kubernetes"])
        self.assertRegex(flags, r"-X k8s.io/client-go/pkg/version.gitVersion=v1\.\d+\.\d+")
        self.assertRegex(flags, r"-X k8s.io/component-base/version.gitMinor=\d+")


class NoGo(unittest.TestCase):
    def test_too_old(self):
        with mock.patch.object(programs, "go_version", lambda: "1.19.8"):
            with self.assertRaisesRegex(programs.NoGo, r"Go 1\.26\.0 or newer .* this is 1\.19\.8"):
                programs.require_go("1.26.0")
            with mock.patch.object(programs, "go_version", lambda: "1.26.0"):
                self.assertEqual(programs.require_go("1.26.0"), "1.26.0")

    def test_missing_is_told_with_the_version_and_its_own_exit_code(self):
        for word in ("etcd", "--check"):
            with tempfile.TemporaryDirectory() as empty:
                done = subprocess.run(
                    [sys.executable, "-B", os.path.join(HERE, "build.py"), word], text=True,
                    capture_output=True, check=False,
                    env={"PATH": empty, "HOME": empty, "WINJOIN_CACHE": empty})
            self.assertEqual(done.returncode, programs.NO_GO, done.stderr)
            self.assertRegex(done.stderr, r"Go 1\.\d+\.\d+ or newer is needed .* no `go` in PATH")


if __name__ == "__main__":
    unittest.main()
