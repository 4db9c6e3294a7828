"""The PowerShell lint sees each breach in hints and documents, and lets what works pass."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import powershell  # noqa: E402


class PowerShell(unittest.TestCase):
    def test_what_does_not_work(self):
        for line in ("sc start kubelet", "then: sc query hns", "curl -k https://a/healthz", "winjoin join a:1 ^",
                     "winjoin reset && winjoin join", 'powershell "Set-X @{A=$true}"', "winjoin diag -o json > r.json",
                     "set WINJOIN_TOKEN=x", "WINJOIN_TOKEN=x winjoin join", "sc.exe stop hns",
                     "then: powershell Restart-Service containerd", "icacls C:\\k /grant *S-1-5-18:(OI)(CI)F"):
            self.assertTrue(list(powershell.findings(line)), line)

    def test_what_works(self):
        for line in ("sc.exe start kubelet", "curl.exe -k https://a/healthz", "winjoin join a:1 --token t",
                     "powershell 'Set-X @{A=$true}'", "winjoin config cluster | kubectl apply -f -",
                     "winjoin diag -o json --output-file r.json", "the sc.exe program", "escalate", 'icacls C:\\k /grant "*S-1-5-18:(OI)(CI)F"', "powershell Restart-Service hns -Force", "sc.exe stop kubelet"):
            self.assertEqual(list(powershell.findings(line)), [], line)

    def test_of_a_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "join").mkdir()
            (root / "join/a.c").write_text('/* "sc start x" */\nf("then: "\n  "sc start x");\n')
            (root / "README.md").write_text("# x\n\n    winjoin join a ^\n        --b\n\n```sh\nwinjoin a && b\n```\n\n`sc qc x`\n")
            found = [(str(path), line) for path, line, _ in powershell.check_tree(root)]
        self.assertEqual(found, [("join/a.c", 2), ("README.md", 3), ("README.md", 10)])


if __name__ == "__main__":
    unittest.main()
