#!/usr/bin/env python3
"""The startup script: cloudbase-init's own reader takes it, and a played server becomes a node by it, twice."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/provision"), str(ROOT / "tests/rig")]
import ansible_tools  # noqa: E402
import netns  # noqa: E402
import stage  # noqa: E402

SCRIPT = ROOT / "dist/provision/startup/join.cmd"
FOLDER = "C:\\Program Files\\winjoin-start\\"
PLANTED = "C:\\ProgramData\\winjoin-start\\"  # where any user may make folders
SETTINGS = """set "ENDPOINT=%s"
set "PIN=%s"
set "PROGRAM=C:\\winjoin.exe"
set "RESTART=cloudbase-init"
set "ARGUMENTS=%s"
"""
ASK = """import sys
from cloudbaseinit.plugins.common import userdatautils
for path in sys.argv[1:]:
    print(type(userdatautils.get_command(open(path, "rb").read())).__name__)
"""


class CloudbaseInit(unittest.TestCase):
    def test_its_own_reader_takes_the_script_as_a_batch_file(self):
        try:
            tools = ansible_tools.tools()
        except (ansible_tools.Missing, OSError, subprocess.TimeoutExpired) as why:
            self.skipTest("cloudbase-init cannot be installed: %s" % why)
        done = subprocess.run([str(tools / "python"), "-c", ASK, str(SCRIPT)], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.split(), ["Shell"], done.stderr)


class Start(unittest.TestCase):
    def start(self, host):
        """The exit code, and the result."""
        done = host.run(["cmd", "/c", r"C:\join.cmd"], timeout=240)
        path = pathlib.Path(host.path(FOLDER + "result.json"))
        result = json.loads(path.read_text()) if path.exists() else {}
        path.unlink(missing_ok=True)
        return done.returncode, result, done.stdout + done.stderr

    @unittest.skipIf(os.environ.get("TESTS_PART") == "part", "a whole join")
    def test_a_server_that_starts(self):
        try:
            netns.require()
        except netns.Missing as why:
            self.skipTest(str(why))
        with stage.Stage("l2bridge", outage_ms=200) as scene:
            host, facts = scene.host, scene.cluster.facts
            host.put(str(SCRIPT), r"C:\join.cmd")
            self.write(host, "settings.cmd", (SETTINGS % (facts["endpoint"], facts["caCertHash"], " ".join(
                ["--network-mode", "l2bridge", "--node-name", stage.NODE, "--bundle", stage.BUNDLE, "--verify", "none",
                 "--ignore-preflight-errors", stage.IGNORED]))).replace("\n", "\r\n"))
            self.write(host, "token", "no token")
            planted = pathlib.Path(host.path(PLANTED + "settings.cmd"))
            planted.parent.mkdir(parents=True)
            planted.write_bytes(b"echo planted >C:\\planted.txt\r\n")
            for name in ("icacls", "reg", "curl", "shutdown"):  # in the folder that the script is called from
                pathlib.Path(host.path("C:\\%s.cmd" % name)).write_bytes(b"echo planted >C:\\planted.txt\r\n")
            code, result, said = self.start(host)
            self.assertEqual(code, 3, said)
            self.write(host, "token", facts["token"])
            code, result, said = self.start(host)
            self.assertEqual((code, result.get("changed")), (0, True), said)
            code, result, said = self.start(host)
            self.assertEqual((code, [phase["id"] for phase in result["phases"] if phase["changed"]]), (0, []), said)
            self.assertFalse(pathlib.Path(host.path("C:\\planted.txt")).exists())
            folder = pathlib.Path(host.path(FOLDER))
            lines = [line for path in folder.glob("progress-*.ndjson") for line in path.read_text().splitlines()]
            self.assertTrue(lines and all(json.loads(line) for line in lines))
            self.assertNotIn(facts["token"].split(".")[1], said + "\n".join(lines))

    def write(self, host, name, text):
        path = pathlib.Path(host.path(FOLDER + name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


if __name__ == "__main__":
    unittest.main()
