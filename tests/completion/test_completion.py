#!/usr/bin/env python3
"""The completion scripts in the shells that they are for: bash, zsh and fish complete a line, and the one
for PowerShell, which runs on no build machine, is read for its form."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINJOIN = ROOT / "build/native/winjoin"

# line -> what must be offered, what must not
LINES = [
    ("winjoin conf", ["config"], ["join"]),
    ("winjoin config mi", ["migrate"], ["validate"]),
    ("winjoin join phase pod", ["pod-network"], ["list"]),
    ("winjoin diag -o ju", ["junit"], ["json"]),
    ("winjoin status --progress=pl", ["plain"], ["json"]),
    ("winjoin diag --rep", ["--replay"], ["--kubeconfig"]),
    ("winjoin bundle verify some-b", ["some-bundle.zip"], ["--output"]),
    ("winjoin bundle create some", ["some-folder"], ["some-bundle.zip"]),
]

BASH = r"""
source <("$1" completion bash)
COMP_LINE=$2 COMP_POINT=${#2}
read -ra COMP_WORDS <<<"${2//=/ = }"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_winjoin
printf '%s\n' "${COMPREPLY[@]}"
"""


def run(command, folder):
    path = f"{WINJOIN.parent}:{os.environ['PATH']}"
    return subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path, "HOME": folder, "TERM": "dumb"},
                          capture_output=True, text=True, timeout=60, check=False)


class Shells(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        pathlib.Path(self.folder, "some-bundle.zip").write_text("")
        pathlib.Path(self.folder, "some-folder").mkdir()

    def check(self, line, offered):
        _, there, not_there = next(row for row in LINES if row[0] == line)
        for word in there:
            self.assertTrue(any(word in one for one in offered), f"{line}: {offered}")
        for word in not_there:
            self.assertFalse(any(word == one for one in offered), f"{line}: {offered}")

    def test_bash(self):
        for line, _, _ in LINES:
            ran = run(["bash", "--norc", "-c", BASH, "bash", str(WINJOIN), line], self.folder)
            self.assertEqual(ran.stderr, "")
            self.check(line, ran.stdout.split())

    def test_fish(self):
        self.assertTrue(shutil.which("fish"), "fish is not installed (dist/packages.txt)")
        for line, _, _ in LINES:
            ran = run(["fish", "--no-config", "-c", f"winjoin completion fish | source; complete -C '{line}'"],
                      self.folder)
            self.assertEqual(ran.stderr, "")
            self.check(line, [one.split("\t")[0].rstrip("/") for one in ran.stdout.splitlines()])

    def test_zsh(self):
        self.assertTrue(shutil.which("zsh"), "zsh is not installed (dist/packages.txt)")
        for line, there, _ in LINES:
            self.assertIn(there[0], self.completed_by_zsh(line), line)

    def completed_by_zsh(self, line):
        """What is on the line after the tab key, in a zsh on a terminal."""
        pathlib.Path(self.folder, ".zshrc").write_text(
            "PROMPT='READY '\nunsetopt zle_bracketed_paste 2>/dev/null\nautoload -U compinit; compinit -u\n"
            f"source <({WINJOIN} completion zsh)\nsave() {{ print -r -- $BUFFER >line; exit }}\n"
            "zle -N save\nbindkey '^X' save\n")
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.environ.update(HOME=self.folder, ZDOTDIR=self.folder, TERM="xterm",
                              PATH=f"{WINJOIN.parent}:{os.environ['PATH']}")
            os.execvp("zsh", ["zsh", "-i"])
        saved = pathlib.Path(self.folder, "line")
        saved.unlink(missing_ok=True)
        try:
            self.wait_for(terminal, b"READY ")
            os.write(terminal, line.encode() + b"\t\x18")
            until = time.monotonic() + 30
            while not (saved.exists() and saved.read_text().endswith("\n")) and time.monotonic() < until:
                if select.select([terminal], [], [], 0.1)[0]:
                    try:
                        os.read(terminal, 4096)
                    except OSError:
                        time.sleep(0.05)
            return saved.read_text()
        finally:
            os.close(terminal)
            os.waitpid(child, 0)

    def wait_for(self, terminal, what):
        seen, until = b"", time.monotonic() + 30
        while what not in seen and time.monotonic() < until:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 4096)
        self.assertIn(what, seen)


class PowerShell(unittest.TestCase):
    """Windows PowerShell 5.1 reads the script: no newer words, everything closed, ASCII."""

    def setUp(self):
        self.text = subprocess.run([WINJOIN, "completion", "powershell"], capture_output=True, check=True).stdout
        self.lines = [re.sub(r"'[^']*'", "''", line.split("#")[0]) for line in self.text.decode().splitlines()]
        self.code = "\n".join(self.lines)

    def test_is_ascii_with_unix_line_ends(self):
        self.assertTrue(self.text.isascii())
        self.assertNotIn(b"\r", self.text)

    def test_everything_is_closed(self):
        closing, stack = {")": "(", "}": "{", "]": "["}, []
        for sign in self.code:
            if sign in "({[":
                stack.append(sign)
            elif sign in closing:
                self.assertEqual(stack.pop() if stack else "", closing[sign], self.code)
        self.assertEqual(stack, [])
        self.assertNotIn("'", self.code.replace("''", ""))

    def test_has_no_words_of_newer_shells(self):
        for word in ["&&", "||", "??", "?.", " ? ", "-Parallel", "ForEach-Object -", "$IsWindows", "clean {"]:
            self.assertNotIn(word, self.code)

    def test_every_variable_is_set(self):
        used = set(re.findall(r"\$(\w+)", self.code)) - {"_", "null"}
        for name in used:
            self.assertRegex(self.code, rf"\${name}(, \$\w+)* = |foreach \(\${name} in|param\([^)]*\${name}\b|, \${name} = ")

    def test_is_asked_by_its_own_name_and_takes_the_rest_from_winjoin(self):
        self.assertIn("Register-ArgumentCompleter -Native -CommandName winjoin -ScriptBlock {", self.code)
        self.assertIn("& $program __complete @words (", self.code)


if __name__ == "__main__":
    unittest.main()
