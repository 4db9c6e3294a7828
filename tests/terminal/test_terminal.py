#!/usr/bin/env python3
"""winjoin at a terminal: a token is asked for and not shown, and a wait says what is waited for and when it ends, in
lines that are no wider than the terminal."""

import fcntl
import os
import pathlib
import pty
import re
import select
import stat
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINJOIN = ROOT / "build/native/winjoin"
CALL = ["discover", "127.0.0.1:1", "--discovery-token-unsafe-skip-ca-verification", "--timeout", "4s"]
SECRET = "abcdef.0123456789abcdef"
SPINNER = "\u280b\u2838\u2834\u2826"


class Terminal:
    """winjoin with a terminal of so many columns and lines; `text` is what it has shown."""

    def __init__(self, arguments, columns, lines=24, **environment):
        self.text = ""
        self.child, self.master = pty.fork()
        if self.child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.environ.update({"TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
            os.execv(WINJOIN, [str(WINJOIN), *arguments])

    def read(self, until=None):
        end = time.monotonic() + 30
        while time.monotonic() < end and not (until and until in self.text):
            if not select.select([self.master], [], [], 0.1)[0]:
                continue
            try:
                self.text += os.read(self.master, 4096).decode()
            except OSError:  # it has ended
                break

    def close(self):
        self.read()
        os.close(self.master)
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])

    def lines(self):
        """What stood on a line at some time, without colors."""
        bare = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", self.text)
        return [line for line in re.split(r"[\r\n]+", bare) if line.strip()]


class AtATerminal(unittest.TestCase):
    def test_a_token_is_asked_for_and_not_shown(self):
        terminal = Terminal([*CALL, "--token", "-"], 80)
        terminal.read(until="not shown): ")
        self.assertIn("Bootstrap token (what you type is not shown): ", terminal.text)
        self.assertFalse(termios.tcgetattr(terminal.master)[3] & termios.ECHO)
        os.write(terminal.master, SECRET.encode() + b"\n")
        terminal.read(until="127.0.0.1")
        self.assertTrue(termios.tcgetattr(terminal.master)[3] & termios.ECHO)
        self.assertEqual(terminal.close(), 1)
        self.assertNotIn(SECRET, terminal.text)
        self.assertNotIn(SECRET.split(".")[1], terminal.text)

    def test_a_wait_says_what_and_how_long(self):
        for columns in (40, 60, 100):
            with self.subTest(columns=columns):
                terminal = Terminal([*CALL, "--token", SECRET], columns)
                self.assertEqual(terminal.close(), 1)
                waits = [line for line in terminal.lines() if line.lstrip()[0] in SPINNER]
                self.assertIn("127.0.0.1:1", waits[0])
                self.assertEqual({line.lstrip()[0] for line in waits}, set(SPINNER))  # it turns
                self.assertTrue(any(f"({second} s" in line for line in waits for second in (2, 3)), terminal.text)
                self.assertTrue(any("gives up in" in line for line in waits), terminal.text)
                for line in waits:
                    self.assertLess(len(line), columns, line)


class ToADevice(unittest.TestCase):
    """A pipe stands for /dev/null and its kind, which a test must not risk."""

    def test_it_is_written_into_and_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = pathlib.Path(folder, "pipe")
            os.mkfifo(pipe)
            read = []
            reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
            reader.start()
            subprocess.run([WINJOIN, "version", "--output-file", pipe], check=True, timeout=30)
            self.assertTrue(stat.S_ISFIFO(pipe.lstat().st_mode))
            reader.join(30)
            self.assertEqual([text.split()[0] for text in read], ["winjoin"])
            self.assertEqual(os.listdir(folder), ["pipe"])

    def test_a_reader_that_has_seen_enough_is_no_error(self):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as closed:
            # Python ignores SIGPIPE, and so does winjoin then, as there is none on Windows
            done = subprocess.run([WINJOIN, "join", "--help"], stdout=closed, stderr=subprocess.PIPE, timeout=30,
                                  restore_signals=False)
        self.assertEqual((done.returncode, done.stderr), (1, b""))

    def test_following_ends_with_its_reader(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "var/log/kubelet/kubelet.log")
            log.parent.mkdir(parents=True)
            log.write_text("I1123 07:00:00.000000 1 a.go:1] one\n")
            with subprocess.Popen([WINJOIN, "logs", "--follow", "--rootfs", folder], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, restore_signals=False) as following:
                self.assertIn(b"one", following.stdout.readline())
                following.stdout.close()
                with log.open("a") as more:
                    more.write("I1123 07:00:01.000000 1 a.go:1] two\n")
                self.assertEqual((following.wait(30), following.stderr.read()), (1, b""))

    def test_a_minus_is_standard_output(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([WINJOIN, "version", "--output-file", "-"], check=True, timeout=30, cwd=folder,
                                  stdout=subprocess.PIPE)
            self.assertIn(b"winjoin ", done.stdout)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
