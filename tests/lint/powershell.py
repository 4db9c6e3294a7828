#!/usr/bin/env python3
"""What winjoin and its documents tell a person to type works in Windows PowerShell 5.1 and in cmd: powershell.py [ROOT]

The rules, held against hints, messages and help in C texts, and against the indented and fenced blocks of README.md
and docs/:

  sc.exe, curl.exe    "sc" and "curl" (and wget, where, fc, sort, diff, tee) are PowerShell's own aliases
  no ^ at a line's end    cmd alone continues a line there, and PowerShell with `: a command is one line
  no && and no ||     PowerShell 5.1 does not know them: two lines
  -Force for hns and containerd    other services depend on them: without it they are not stopped
  no $x in double quotes  PowerShell puts the variable's value there: single quotes inside, or no variable
  no (OI) outside quotes  PowerShell runs what is in parentheses: icacls' rights in double quotes
  no > for a document     PowerShell 5.1 writes UTF-16: --output-file
  no export X= and no X=y before a command    $env:X or set, each shell its own: a flag instead

A block for Linux alone (make, git, kubectl on the workstation, bash) says so by its first word; rules are for lines whose
command is winjoin or one of Windows' own. A line a finding; exit code 1 then.
"""

import pathlib
import re
import sys

from includes import MAY_INCLUDE

PRODUCT = tuple(MAY_INCLUDE)
# Windows' own programs and winjoin: what begins with one is typed on Windows.
WINDOWS = r"(?:\.\\)?winjoin(?:\.exe)?|sc(?:\.exe)?|curl(?:\.exe)?|reg(?:\.exe)?|netsh|powershell|w32tm|net|icacls|Get-\S+|Set-\S+|Install-\S+"
ALIASES = {"sc": ("start", "stop", "query", "queryex", "qc", "config", "failure", "delete", "create", "sdshow"),
           "curl": ("-", "http"), "wget": ("-", "http")}


def findings(line):
    """What is wrong with one line to type."""
    for alias, words in ALIASES.items():
        found = re.search(rf"(?<![\w.\\/-]){alias} +(\S+)", line)
        if found and found.group(1).startswith(words):
            yield f"'{alias}' is an alias in PowerShell: {alias}.exe"
    if re.search(r"\^\s*$", line):
        yield "^ continues a line in cmd alone: one line"
    if re.search(r"\s(?:&&|\|\|)\s", line):
        yield "PowerShell 5.1 knows neither && nor ||: two lines"
    for quoted in re.findall(r'"([^"]*)"', line):
        if re.search(r"\$\w", quoted):
            yield "PowerShell replaces $ in double quotes: single quotes"
    if re.search(r"[\w*:]\([A-Z]+\)", re.sub(r"""(["']).*?\1""", "", line)):
        yield "PowerShell runs what is in parentheses: quote the argument"
    if re.search(r"(?:sc\.exe stop|(?:Stop|Restart)-Service) (?:hns|containerd)\b(?! -Force)", line):
        yield "other services depend on it: Restart-Service -Force"
    if re.search(r"\bwinjoin\b[^|]*\s>\s*\S", line):
        yield "PowerShell 5.1 writes UTF-16 by '>': --output-file"
    if re.match(r"\s*(?:export|set) \w+=|\s*[A-Z_]{3,}=\S+ +\S", line):
        yield "a variable is set differently in each shell: a flag"


def c_texts(source):
    """(line number, text) of each C string, neighbours joined, escapes undone; comments are left out."""
    bare = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), source, flags=re.S)
    for found in re.finditer(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', bare):
        parts = re.findall(r'"((?:\\.|[^"\\\n])*)"', found.group(0))
        text = "".join(parts)
        yield bare.count("\n", 0, found.start()) + 1, re.sub(r"\\(.)", lambda m: {"n": "\n", "t": " "}.get(m.group(1), m.group(1)), text)


def blocks(text):
    """(line number, line) of what is in fenced or indented blocks and is typed on Windows."""
    fenced, shell = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(\w*)", line)
        if fence:
            fenced, shell = not fenced, fence.group(1)
            continue
        if (fenced and shell not in ("sh", "bash", "yaml", "json", "console-linux")) or (not fenced and line.startswith("    ")):
            body = re.sub(r"^\s*(?:PS )?(?:C:\\>|>)?\s*", "", line)
            if re.match(rf"(?:{WINDOWS})(?:\s|$)", body):
                yield number, body
    for number, line in enumerate(text.splitlines(), 1):  # `commands` in sentences and tables
        for code in re.findall(r"`([^`]+)`", line):
            if re.match(rf"(?:{WINDOWS})\s", code):
                yield number, code


def check_tree(root):
    for folder in PRODUCT:
        for path in sorted((root / folder).rglob("*.c")):
            for number, text in c_texts(path.read_text()):
                for line in text.split("\n"):
                    if re.search(rf"(?:^|[\s:(])(?:{WINDOWS})(?:\s|$)", line):
                        for message in findings(line):
                            yield path.relative_to(root), number, message
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        if path.exists():
            for number, line in blocks(path.read_text()):
                for message in findings(line):
                    yield path.relative_to(root), number, message


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    count = 0
    for path, number, message in check_tree(root):
        print(f"{path}:{number}: {message}")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
