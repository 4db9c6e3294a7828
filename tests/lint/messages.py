#!/usr/bin/env python3
"""What the program says, and the words that nobody is to write: messages.py [--words] [ROOT]

Without --words it prints every message, hint, warning, help line and check of the product, a line
each, as file:line: text, so that all of it can be read in one go (make messages). With --words it
prints each word of WORDS in a message or in a document for users; exit code 1 then.
"""

import pathlib
import re
import sys

from includes import MAY_INCLUDE

PRODUCT = tuple(MAY_INCLUDE)
LITERAL = r'"(?:\\.|[^"\\\n])*"'
# A comment, a character, or literals that the compiler joins, macros such as PRIu64 between them.
TOKEN = re.compile(rf"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])*'|({LITERAL}(?:(?:\s|\bPRI\w+\b)*{LITERAL})*)", re.S)
# Words that puzzled readers: ways (routes), laid (installed), borne (tolerated), mend (fix), ...
WORDS = re.compile(r"\b(?:ways|laid|lays?(?! out)|borne|mends?|mended|anew|artefacts?|is told|nobody in particular"
                   r"|is none|are none|stands? (?:in|for|twice|above|again)|out of sight|colour|licence|honoured|in vain"
                   r"|tak(?:e|es|en) back|passed over|never spoke|(?<!there )is no (?:folder|file|object|list|text|name|GUID)"
                   r"|nobody|stood before|without a word|lies in|asks? outside"
                   r"|sc (?:start|stop|query|config|delete|failure))\b")
ANYWHERE = re.compile(r"(?<![^\W_])(?:ways|laid|lays?(?! out)|borne|mends?|mended|anew)(?![^\W_])")
TREES = (*PRODUCT, "tests", "docs", "dist", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile")
TEXTS = {".c", ".h", ".go", ".py", ".sh", ".md", ".mk", ".yaml", ".ini", ""}
OWN = ("tests/lint/messages.py", "tests/lint/test_messages.py")
DOCUMENTS = ("README.md", "SECURITY.md", *(f"docs/{name}.md" for name in (
    "air-gapped", "configuration", "diag", "features", "operate", "packages", "preflight", "start", "unattended", "design/diag",
    "rehearsal", "status", "troubleshooting", "upgrade", "windows-builds")))
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


def check_words(root):
    """The odd words of messages and documents, a line each."""
    for folder in PRODUCT:
        for source in sorted((root / folder).rglob("*.[ch]")):
            for line, message in messages(source.read_text(encoding="utf-8")):
                for found in WORDS.finditer(message):
                    yield f"{source.relative_to(root)}:{line}: '{found.group(0)}' in a message: use a plain word"
    for name in DOCUMENTS:
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
            for found in WORDS.finditer(line):
                yield f"{name}:{number}: '{found.group(0)}': use a plain word"


def texts(root):
    """The files that people write: sources, tests, documents; no test data."""
    for tree in TREES:
        for path in sorted((root / tree).rglob("*")) if (root / tree).is_dir() else [root / tree]:
            name = str(path.relative_to(root))
            if path.is_file() and path.suffix in TEXTS and name not in OWN and "corpus" not in path.parts:
                yield name, path


def check_texts(root):
    """The odd words of comments, names and all documents, a line each."""
    for name, path in texts(root):
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            for found in ANYWHERE.finditer(line):
                yield f"{name}:{number}: '{found.group(0)}': use a plain word"


def main():
    words = [word for word in sys.argv[1:] if word != "--words"]
    root = pathlib.Path(words[0]) if words else pathlib.Path(__file__).resolve().parents[2]
    if "--words" not in sys.argv[1:]:
        print_messages(root)
        return 0
    found = [*check_words(root), *check_texts(root)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
