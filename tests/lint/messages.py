#!/usr/bin/env python3
"""What the program says, and the words that nobody is to write: messages.py [--words] [ROOT]

Without --words it prints every message, hint, warning, help line and check of the product, a line
each, as file:line: text, so that all of it can be read in one go (make messages). With --words it
prints each word of WORDS that stands in a message, a comment, a test or a document; exit code 1 then.
"""

import pathlib
import re
import subprocess
import sys

PRODUCT = ("base", "host", "pki", "kube", "netsetup", "services", "diag", "join", "cmd", "templates")
LITERAL = r'"(?:\\.|[^"\\\n])*"'
# A comment, a character, or literals that the compiler joins, macros such as PRIu64 between them.
TOKEN = re.compile(rf"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])*'|({LITERAL}(?:(?:\s|\bPRI\w+\b)*{LITERAL})*)", re.S)
SENTENCE = re.compile(r"[a-z]{2,}:? +[a-z%'\\(]|[a-z'] %")


def messages(text):
    """Yields (line, text) of each string that reads like words."""
    for found in TOKEN.finditer(text):
        if found.group(1):
            joined = "".join(literal[1:-1] for literal in re.findall(LITERAL, found.group(1)))
            if SENTENCE.search(joined):
                yield text.count("\n", 0, found.start()) + 1, joined


def print_messages(root):
    for folder in PRODUCT:
        for source in sorted((root / folder).rglob("*.[ch]")):
            for line, message in messages(source.read_text(encoding="utf-8")):
                print(f"{source.relative_to(root)}:{line}: {message}")


def main():
    words = [word for word in sys.argv[1:] if word != "--words"]
    root = pathlib.Path(words[0]) if words else pathlib.Path(__file__).resolve().parents[2]
    print_messages(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
