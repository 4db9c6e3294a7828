"""bundle create reads the versions of upstream's own programs, as `go version -m` does."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import programs  # noqa: E402

WINJOIN = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "native", "winjoin")
PACKED = ("kubelet.exe", "containerd.exe", "win-overlay.exe", "win-bridge.exe", "host-local.exe")


def go_says(path):
    """The version of the program's module."""
    done = subprocess.run(["go", "version", "-m", path], text=True, capture_output=True, check=True)
    return next(line.split("\t")[3] for line in done.stdout.splitlines() if line.startswith("\tmod\t"))


class Bundle(unittest.TestCase):
    def test_versions_of_upstreams_programs(self):
        sections, found = programs.versions(), {}
        for program in PACKED:
            name = programs.owner(program, sections)
            path = programs.place_of(program, name, sections[name])
            if os.path.exists(path):
                found[program] = (path, sections[name]["version"])
        if "kubelet.exe" not in found:
            self.skipTest("upstream's programs are not built")
        with tempfile.TemporaryDirectory() as folder:
            for program, (path, _) in found.items():
                os.symlink(path, os.path.join(folder, program))
            done = subprocess.run([WINJOIN, "bundle", "create", folder, os.path.join(folder, "b.zip"), "-o", "json"],
                                  text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = {a["name"] + ".exe": a["version"] for a in json.loads(done.stdout)["artifacts"]}
        self.assertEqual(said, {program: version for program, (_, version) in found.items()})
        if shutil.which("go"):
            self.assertEqual(said, {program: go_says(path) for program, (path, _) in found.items()})


if __name__ == "__main__":
    unittest.main()
