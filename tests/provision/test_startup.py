#!/usr/bin/env python3
"""The startup script: cloudbase-init's own reader takes it, and a played server becomes a node by it, twice."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/provision"), str(ROOT / "tests/rig")]
import ansible_tools  # noqa: E402
import netns  # noqa: E402
import stage  # noqa: E402

sys.path.append(str(ROOT / "tests/wine"))
import prefix as wine  # noqa: E402

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


# A program that writes down how it was called, in the place of curl.exe and winjoin.exe.
CALLED = """#include <stdio.h>
#include <windows.h>
int main(void) { FILE *f = fopen("C:\\\\called.txt", "a"); fprintf(f, "%s\\n", GetCommandLineA()); return fclose(f); }
"""
BIOS = r"HKLM\HARDWARE\DESCRIPTION\System\BIOS"


class CloudbaseInit(unittest.TestCase):
    def test_its_own_reader_takes_the_script_as_a_batch_file(self):
        try:
            tools = ansible_tools.tools()
        except (ansible_tools.Missing, OSError, subprocess.TimeoutExpired) as why:
            self.skipTest("cloudbase-init cannot be installed: %s" % why)
        done = subprocess.run([str(tools / "python"), "-c", ASK, str(SCRIPT)], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.split(), ["Shell"], done.stderr)


@unittest.skipUnless(pathlib.Path(wine.WINE).exists(), "no Wine")
class Strangers(unittest.TestCase):
    """What a user may have put into the script's way, on a machine that is in a cloud or is not."""

    def setUp(self):
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.c = self.home / "prefix/drive_c"
        self.addCleanup(lambda: subprocess.run([wine.WINESERVER, "-k"], env=self.environment(), check=False))
        self.run_cmd("ver")
        (self.home / "called.c").write_text(CALLED)
        for target in ("windows/system32/curl.exe", "winjoin.exe"):
            subprocess.run(["x86_64-w64-mingw32-gcc", "-o", self.c / target, self.home / "called.c"], check=True)
        (self.c / "join.cmd").write_bytes(SCRIPT.read_bytes())
        self.put("Program Files/winjoin-start/settings.cmd", 'set "PROGRAM=C:\\winjoin.exe"')
        self.put("ProgramData/winjoin-start/settings.cmd", "echo settings >>C:\\planted.txt")
        for name in ("icacls", "reg", "curl"):  # in the folder that the script is called from
            self.put(name + ".cmd", "echo %s >>C:\\planted.txt" % name)

    def environment(self):
        return {**os.environ, "WINEPREFIX": str(self.home / "prefix"), "WINEDEBUG": "-all",
                "WINEDLLOVERRIDES": "mscoree,mshtml="}

    def put(self, name, text):
        (self.c / name).parent.mkdir(parents=True, exist_ok=True)
        (self.c / name).write_text(text + "\n")

    def run_cmd(self, *words):
        self.home.joinpath("prefix").mkdir(exist_ok=True)
        done = subprocess.run([wine.WINE, "cmd", "/c", *words], env=self.environment(), capture_output=True, text=True,
                              cwd=self.c if self.c.exists() else self.home, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def called(self, maker):
        """The calls of curl and of winjoin that one run of the script makes on a machine of that maker."""
        (self.c / "called.txt").unlink(missing_ok=True)
        self.put("start.cmd", "C:\\windows\\system32\\reg.exe add %s /v SystemManufacturer /d \"%s\" /f\nC:\\join.cmd" % (BIOS, maker))
        self.run_cmd(r"C:\start.cmd")
        planted = self.c / "planted.txt"
        self.assertEqual(planted.read_text() if planted.exists() else "", "")
        lines = (self.c / "called.txt").read_text().splitlines()
        return [line for line in lines if "curl" in line], [line for line in lines if "winjoin.exe" in line]

    def test_neither_planted_files_nor_a_foreign_metadata_server(self):
        for maker, asked in (("Not Google", 0), ("Google", 1)):
            curl, winjoin = self.called(maker)
            with self.subTest(maker=maker):
                self.assertEqual((len(curl), len(winjoin)), (asked, 1), curl)
                self.assertTrue(all(" http://169.254.169.254/" in line for line in curl), curl)


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
