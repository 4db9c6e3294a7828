#!/usr/bin/env python3
"""The picture of a join in README.md, docs/pictures/join.svg: what `make demo` prints, until the node is proved.

    make picture                  plays the demo and writes it
    picture.py <FILE >join.svg    the same of a demo that was played
Left out: lines of waiting, which a terminal overwrites, and warnings, which are of the machine that played.
"""
import re
import sys
from xml.sax.saxutils import escape

COLUMNS, WIDE, HIGH, EDGE = 104, 8.4, 19, 20
LAST = re.compile(r"is Ready and its pods can talk")
LEFT_OUT = re.compile(r"^  \.\. |^ +! ")
# What is colored, by its place in a line.
MARKS = ((re.compile(r"^PS C:\\>"), "prompt"), (re.compile(r"^  ok |(?<=[a-zA-Z ] {3})ok(?=  )"), "ok"),
         (re.compile(r"^\S+ is Ready.*talk\."), "ok"), (re.compile(r"  \(\d[^()]* s\)"), "time"))
STYLE = """
  .paper { fill: #f6f8fa; stroke: #d0d7de } text { fill: #1f2328; font: 14px ui-monospace, Consolas, Menlo, monospace; white-space: pre }
  .prompt { fill: #0550ae; font-weight: bold } .ok { fill: #116329; font-weight: bold } .time { fill: #59636e }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 }
    .prompt { fill: #79c0ff } .ok { fill: #7ee787 } .time { fill: #9198a1 }
  }
"""


def wrapped(line):
    """What is wider than the picture goes on below: a command behind PowerShell's backtick."""
    line = re.sub(r"sha256:(\w{4})\w{56}(\w{4})", r"sha256:\1...\2", line)
    more, indent = (" `", 4) if line.startswith("PS") else ("", 20)
    while len(line) > COLUMNS:
        end = line.rindex(" ", 0, COLUMNS - len(more))
        yield line[:end] + more
        line = " " * indent + line[end + 1:]
    yield line


def lines_of(text):
    lines = text.replace("\r", "").splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("PS C:\\> winjoin join"))
    end = next(i for i, line in enumerate(lines) if LAST.search(line))
    return [part for line in lines[begin:end + 1] if not LEFT_OUT.search(line) for part in wrapped(line)]


def marked(line):
    found = sorted((m.start(), m.end(), name) for pattern, name in MARKS for m in pattern.finditer(line))
    at, out = 0, ""
    for start, end, name in found:
        if start >= at:
            out += "%s<tspan class=\"%s\">%s</tspan>" % (escape(line[at:start]), name, escape(line[start:end]))
            at = end
    return out + escape(line[at:])


def picture(text):
    lines = lines_of(text)
    width, height = round(COLUMNS * WIDE) + 2 * EDGE, len(lines) * HIGH + 2 * EDGE
    yield '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="t d" viewBox="0 0 %d %d" width="%d" height="%d">' % (
        width, height, width, height)
    yield "<title id=\"t\">winjoin join: a bare Windows Server becomes a proved node</title>"
    yield "<desc id=\"d\">%s</desc>" % escape(lines[-1])
    yield "<style>%s</style>" % STYLE
    yield '<rect class="paper" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>' % (width - 1, height - 1)
    for i, line in enumerate(lines):
        if line:
            yield '<text x="%d" y="%d">%s</text>' % (EDGE, EDGE + (i + 1) * HIGH - 5, marked(line))
    yield "</svg>"


if __name__ == "__main__":
    print("\n".join(picture(sys.stdin.read())))
