"""The workflows in .github are right for actionlint, GitHub's own words and shellcheck, and what they name is there."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cluster"))
import programs  # noqa: E402

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


class Workflows(unittest.TestCase):
    def lint(self, *paths):
        try:
            actionlint, = programs.ensure(["actionlint"]).values()
        except programs.NoGo as why:
            self.skipTest(str(why))
        done = subprocess.run([actionlint, "-no-color", *paths], capture_output=True, text=True, check=False, cwd=ROOT)
        return done.returncode, done.stdout + done.stderr

    def test_actionlint(self):
        self.assertTrue(WORKFLOWS)
        self.assertEqual(self.lint(*WORKFLOWS), (0, ""))

    def test_a_planted_fault_is_found(self):
        text = WORKFLOWS[0].read_text(encoding="utf-8")
        for good, bad in (("needs: packages", "needs: package"), ("matrix.os", "matrix.system"), ("timeout-minutes", "timeout-hours")):
            with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:
                file.write(text.replace(good, bad))
                file.flush()
                self.assertEqual(self.lint(file.name)[0], 1, bad)

    def test_both_servers_are_asked_by_the_kit(self):
        text = WORKFLOWS[0].read_text(encoding="utf-8")
        self.assertEqual(re.search(r"os: \[(.*)\]", text)[1].split(", "), ["windows-2022", "windows-2025"])
        self.assertIn("winjoin-acceptance\\check.cmd", text)
        for name in re.findall(r"packages\\(?:chocolatey\\)?([\w.*-]+)", text):
            made = (ROOT / "dist/packages/make.py").read_text(encoding="utf-8")
            self.assertTrue(name.replace("winjoin-*", "winjoin-{}") in made or list((ROOT / "dist/packages").rglob(name)), name)

    def test_a_release_is_all_of_ci_and_the_same_bytes_twice(self):
        text = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
        jobs = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", text.partition("jobs:\n")[2], re.M))
        self.assertEqual({"checked", "again", "publish"}, set(jobs))
        self.assertEqual("    uses: ./.github/workflows/ci.yml\n", jobs["checked"].rstrip("\n") + "\n")
        self.assertIn("workflow_call:", WORKFLOWS[0].read_text(encoding="utf-8"))
        self.assertIn("needs: [checked, again]\n", jobs["publish"])
        order = [jobs["publish"].index(words) for words in ("diff -r packages", "sha256sum --check", "attest-build-provenance",
                                                            "attest-sbom", "gh release create")]
        self.assertEqual(sorted(order), order)
        # One job alone may write, and no step before the comparison goes on after a failure.
        self.assertEqual(1, text.count("contents: write"))
        self.assertNotIn("continue-on-error", text)
        self.assertNotIn("if: always()", text)
        self.assertIn("dist/packages/release.py --check", jobs["again"])
        self.assertTrue((ROOT / "dist/packages/release.py").exists())


if __name__ == "__main__":
    unittest.main()
