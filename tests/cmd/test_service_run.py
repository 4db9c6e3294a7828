#!/usr/bin/env python3
"""`winjoin service run NAME`: the program runs where its settings say, and its output is in a rotated log alone.

On Linux a path of Windows is a file's name: the log's is a link to where the played Windows has it.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINJOIN = ROOT / "build/native/winjoin"
PROGRAM = "C:\\k\\agent.exe"
LIMIT = 4096


class ServiceRun(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.work = self.folder / "C:\\w"
        self.work.mkdir()
        (self.folder / "C:\\agent.log").symlink_to("agent.log")
        (self.folder / "ProgramData/winjoin/services").mkdir(parents=True)

    def service(self, script, **changes):
        settings = {"command": [PROGRAM, "one", "two words"], "environment": ["NODE_NAME=win 1"],
                    "workingFolder": "C:\\w", "logFile": "C:\\agent.log", "maxLogBytes": LIMIT, "maxLogFiles": 3,
                    "stopTimeoutMs": 1000, **changes}
        (self.folder / "ProgramData/winjoin/services/agent.json").write_text(json.dumps(settings))
        program = self.work / PROGRAM
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o755)

    def run_it(self, *words):
        done = subprocess.run([WINJOIN, "--rootfs", self.folder, *(words or ("service", "run", "agent"))],
                              cwd=self.folder, capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "WINJOIN_OUTPUT": "text"})
        self.assertEqual(done.stdout, "")
        return done

    def log(self, number=0):
        return (self.folder / (f"agent.{number}.log" if number else "agent.log")).read_text()

    def test_it_runs_as_its_settings_say(self):
        self.service('printf "%s\\n" "$0|$1|$2|$NODE_NAME"; pwd; echo warning >&2')
        done = self.run_it()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.log(), f"{PROGRAM}|one|two words|win 1\n{self.work.resolve()}\nwarning\n")

    def test_an_exit_code_is_a_failure(self):
        self.service("echo no; exit 3")
        done = self.run_it()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("run service 'agent': the program ended", done.stderr)
        self.assertEqual(self.log(), "no\n")
        life = json.loads((self.folder / "ProgramData/winjoin/services/agent.life").read_text())
        self.assertEqual((life["exitCode"], life["asked"], len(life["ends"])), (3, False, 1))

    def test_the_log_is_rotated(self):
        pieces = [letter * 2999 + "\n" for letter in "abcdef"]
        self.service("".join(f"printf '%2999s\\n' | tr ' ' {piece[0]}; sleep 0.1\n" for piece in pieces))
        self.assertEqual(self.run_it().returncode, 0)
        parts = [self.log(2), self.log(1), self.log()]
        self.assertTrue("".join(pieces).endswith("".join(parts)))
        for part in parts:
            self.assertLessEqual(len(part), LIMIT)
        self.assertFalse((self.folder / "agent.3.log").exists())

    def test_a_log_goes_on_where_it_ended(self):
        self.service("echo first")
        self.run_it()
        self.service("echo second")
        self.run_it()
        self.assertEqual(self.log(), "first\nsecond\n")
        self.service(f"printf '%{LIMIT - 5}s\\n'")
        self.run_it()
        self.assertEqual(self.log(1), "first\nsecond\n")

    def test_a_log_that_cannot_be_written_stops_nothing(self):
        self.service("echo lost; touch done", logFile="C:\\no\\such.log")
        (self.folder / "C:\\no\\such.log").mkdir()
        self.assertEqual(self.run_it().returncode, 0)
        self.assertTrue((self.work / "done").exists())

    def test_a_join_that_went_on_is_started_no_more(self):
        """The service that continues a join after a restart goes; one of that name that is not ours stays."""
        given = self.folder / "ProgramData/winjoin/services/winjoin-join.json"
        state = self.folder / ".winjoin-host/state.json"
        state.parent.mkdir()
        for description, stays in (("winjoin: continues", False), ("another's", True)):
            self.service("echo joined")
            (self.folder / "ProgramData/winjoin/services/agent.json").rename(given)
            state.write_text(json.dumps({"services": {"winjoin-join": {"description": description, "command": "x",
                                                                       "state": "stopped"}}}))
            self.assertEqual(self.run_it("service", "run", "winjoin-join").returncode, 0)
            self.assertFalse(given.exists())
            self.assertEqual("winjoin-join" in json.loads(state.read_text())["services"], stays)

    def keep(self):
        """winjoin-network until it is told to stop; its exit code and what it wrote into its log."""
        folder = self.folder / "var/log/winjoin-network"
        folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "C:\\var\\log\\winjoin-network\\winjoin-network.log").symlink_to(folder / "a.log")
        (self.folder / "ProgramData/winjoin/services/winjoin-network.life").unlink(missing_ok=True)
        running = subprocess.Popen([WINJOIN, "--rootfs", self.folder, "service", "run", "winjoin-network"],
                                   cwd=self.folder)
        self.addCleanup(running.kill)
        return running, folder / "a.log"

    def stop(self, running):
        running.terminate()
        self.assertEqual(running.wait(30), 0)

    def until(self, found, seconds=60):
        end = time.monotonic() + seconds
        while not found():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_the_network_is_kept_until_a_stop(self):
        running, _ = self.keep()
        self.until((self.folder / "ProgramData/winjoin/services/winjoin-network.life").exists)
        self.assertIsNone(running.poll())
        self.stop(running)

    def test_what_it_cannot_restore_is_told(self):
        (self.folder / "ProgramData/winjoin/network.json").write_text("{")
        running, log = self.keep()
        self.until(lambda: log.exists() and "network.json" in log.read_text())
        self.assertIsNone(running.poll())
        self.stop(running)
        self.assertIn("ERROR winjoin-network: the pod network could not be restored", log.read_text())
        state = json.loads((self.folder / ".winjoin-host/state.json").read_text())
        self.assertIn("could not be restored", state["events"][-1]["text"])


if __name__ == "__main__":
    unittest.main()
