"""What a release is refused for, and what makes two builds of it differ (dist/packages/release.py)."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "dist/packages"))
import release  # noqa: E402

CHANGELOG = "# Changelog\n\n## 1.3.0 (not released)\n\n- New.\n\n## 1.2.3 (2026-11-28)\n\n- One.\n- Two.\n\n## 1.2.2 (2026-10-01)\n\n## 1.2.1\n"


class Release(unittest.TestCase):
    def test_the_notes_are_the_section_of_the_version(self):
        self.assertEqual("- One.\n- Two.\n", release.check("1.2.3", "1.2.3", CHANGELOG))

    def test_refused(self):
        for version, stated, words in (("1.2", "1.2", "no version"), ("v1.2.3", "1.2.3", "no version"), ("1.2.3", "1.2.4", "dist/version says 1.2.4"),
                                       ("1.3.0", "1.3.0", "give it its date"), ("1.2.2", "1.2.2", "says nothing"),
                                       ("1.2.1", "1.2.1", "give it its date"), ("1.2.0", "1.2.0", "no section"), ("1.2.33", "1.2.33", "no section")):
            with self.subTest(version=version), self.assertRaisesRegex(release.Refused, words):
                release.check(version, stated, CHANGELOG)

    def test_the_newest_section_is_of_the_one_version(self):
        newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1]
        self.assertEqual((ROOT / "dist/version").read_text().strip(), newest)

    def test_no_program_has_its_folder_in_it(self):
        """Linked from objects that were built in two folders, with debug information, and stripped: the same bytes."""
        flags = re.search(r"^LD_static\s*:= (.*)$", (ROOT / "dist/make/flags.mk").read_text(encoding="utf-8"), re.M)[1].split()
        made = []
        for name in ("one", "other"):
            with tempfile.TemporaryDirectory(suffix=name) as folder:
                pathlib.Path(folder, "a.c").write_text("int main(void) { return 0; }\n")
                for words in (["gcc", "-g", "-c", "a.c"], ["gcc", *flags, "a.o", "-o", "a"], ["strip", "a"]):
                    subprocess.run(words, cwd=folder, check=True)
                made.append(pathlib.Path(folder, "a").read_bytes())
        self.assertEqual(*made)

    def test_what_differs_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            one, other = pathlib.Path(folder, "one"), pathlib.Path(folder, "other")
            for at in (one, other):
                (at / "winget").mkdir(parents=True)
                (at / "winget/a.yaml").write_text("a")
                (at / "same").write_text("same")
            self.assertEqual([], release.differing(one, other))
            (one / "winget/a.yaml").write_text("b")
            (other / "more").write_text("")
            self.assertEqual(["more", "winget/a.yaml"], release.differing(one, other))


if __name__ == "__main__":
    unittest.main()
