"""docs/rehearsal.md: its example runs as it is, and prints what it says."""
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NATIVE = os.path.join(ROOT, "build", "native")


def blocks():
    """The indented blocks of the page, as they are typed."""
    with open(os.path.join(ROOT, "docs", "rehearsal.md"), encoding="utf-8") as page:
        found = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", page.read(), re.M)
    return [re.sub("^    ", "", block, flags=re.M) for block in found]


class Rehearsal(unittest.TestCase):
    def test_the_example_runs(self):
        if not os.path.exists(os.path.join(NATIVE, "winjoin")):
            self.skipTest("winjoin is not built")
        commands, printed = blocks()
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["sh", "-euc", commands], cwd=folder, text=True, capture_output=True, check=False,
                                  env={**os.environ, "PATH": NATIVE + os.pathsep + os.environ["PATH"]})
            self.assertEqual((done.returncode, done.stderr),
                             (1, "error: this node is not well: this machine has not joined\n"))
            self.assertEqual(os.listdir(folder), ["win2025"])
        for line in printed.splitlines():
            self.assertIn(line, done.stdout)
        self.assertNotIn("HNS 13.2;", done.stdout)


if __name__ == "__main__":
    unittest.main()
