#!/usr/bin/env python3
"""The house rules that no compiler checks: house.py [ROOT]

Opening comments, headers included once, banned functions, who may print, exit and allocate, platform
conditionals, length of functions and files, names of files, who may ask which network mode, plugin
or agent it is. A line a finding; exit code 1 then.
"""

import pathlib
import re
import sys

from includes import MAY_INCLUDE

PRODUCT = tuple(MAY_INCLUDE)
FUNCTION_MAX = 65
FILE_MAX = 500
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "misc", "common", "stuff", "tools"}

# What is banned -> what is used instead. Everywhere in C, the tests included.
BANNED = {
    "strcpy": "struct text", "strcat": "struct text", "strncpy": "struct text", "strncat": "struct text",
    "sprintf": "struct text or snprintf", "vsprintf": "struct text", "gets": "fgets", "strtok": "strcspn",
    "strtok_r": "strcspn", "atoi": "strtol with its checks", "atol": "strtol with its checks",
    "atoll": "strtoll with its checks", "atof": "strtod with its checks", "alloca": "xmalloc",
    "system": "struct host", "popen": "struct host", "tmpnam": "a name of our own", "mktemp": "mkstemp",
    "wcscpy": "a counted copy", "wcscat": "a counted copy", "lstrcpyW": "a counted copy", "lstrcatW": "a counted copy",
}

# Functions with a home: pattern -> (homes, why). Product folders alone.
HOMES = [
    (r"\b(?:v?printf|puts|putchar|perror)\s*\(", ("cmd/",), "only cmd/ prints"),
    (r"\bstd(?:out|err)\b", ("cmd/", "base/log.c", "base/memory.c"), "only cmd/ prints"),
    (r"(?<![.>])\b(?:_?exit|_Exit|quick_exit|ExitProcess)\s*\(", ("cmd/", "host/win32/", "host/posix/"), "only cmd/ ends the program"),
    (r"\babort\s*\(", ("base/", "pki/", "cmd/", "host/", "services/grpc.c"), "only running out of memory aborts"),
    (r"(?<![.>])\b(?:malloc|calloc|realloc|strdup|strndup|asprintf)\s*\(", ("base/memory.c",), "allocate with xmalloc and friends"),
    (r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\b(?:_WIN32|_WIN64|WIN32|__MINGW32__|__linux__|__unix__)\b",
     ("host/win32/", "host/posix/", "cmd/main_win32.c", "cmd/main_posix.c"), "the Makefile picks platform code"),
]


# Network modes, plugins and agents are values: a file outside these folders asks the value what it
# needs, and never which one it is. host/ plays Windows, whose HNS has types of its own.
VALUES_HOMES = ("netsetup/modes/", "netsetup/agents/", "netsetup/plugins/", "host/")
VALUE_FOLDERS = {"network_mode": "netsetup/modes", "network_agent": "netsetup/agents",
                 "cni_plugin": "netsetup/plugins"}
# Their names, those of the field that are to come included.
VALUE_NAMES = ("overlay|l2bridge|l2tunnel|transparent|nat|flannel|flanneld|vxlan|host-gw|win-overlay|win-bridge"
               "|sdnoverlay|sdnbridge|azure-vnet|azure|ovn-kubernetes|external|calico|antrea")
COMPARES = r"\b(?:text_(?:equal|starts_with|ends_with)\w*|str(?:n?cmp|n?casecmp|str)|text_list_has|json_equal)\s*\("


def strip(text):
    """The text without comments and string contents; every line keeps its number."""
    def blank(found):
        kept = found.group(0)
        if kept[0] in "\"'":
            return kept[0] + kept[0]
        return re.sub(r"[^\n]", " ", kept)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def functions(code):
    """Yields (name, first line, lines) of each function's body, by the layout that clang-format keeps."""
    start = name = None
    for number, line in enumerate(code.split("\n"), 1):
        if start is None and re.match(r"[A-Za-z_]", line) and "(" in line:
            head = re.search(r"(\w+)\s*\(", line)
            name = head.group(1) if head else name
        if start is None and re.search(r"\)\s*\{$", line) and not line.startswith("}"):
            start = number
        elif start is not None and line == "}":
            yield name, start, number - start
            start = None


def check_opening(path, text):
    if not text.startswith("/*"):
        yield 1, "has no opening comment that says its job"
    if path.endswith(".h") and "\n#pragma once\n" not in text:
        yield 1, "is not included only once: '#pragma once' is missing"


def check_names(path, code):
    product = path.startswith(tuple(f"{folder}/" for folder in PRODUCT))
    for found in re.finditer(r"(?<![.>])\b(\w+)\s*\(", code):
        if found.group(1) in BANNED:
            yield line_of(code, found.start()), f"{found.group(1)}() is banned: use {BANNED[found.group(1)]}"
    for pattern, homes, why in HOMES if product else []:
        if not path.startswith(homes):
            for found in re.finditer(pattern, code, re.M):
                yield line_of(code, found.start()), f"'{found.group(0).strip()}': {why}"


def arguments(text, start):
    """The text between the bracket that opens before `start` and the one that closes it."""
    depth, at = 1, start
    while depth and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start:at]


def without_comments(text):
    return re.sub(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*',
                  lambda m: m.group(1) or re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)


def check_values(path, text, code):
    """Nobody but the tables' own folders may compare with a particular mode, plugin or agent."""
    if not path.startswith(tuple(f"{folder}/" for folder in PRODUCT)) or path.startswith(VALUES_HOMES):
        return
    why = "ask the mode or agent for what you need, not which it is"
    for kind, home in VALUE_FOLDERS.items():
        for found in re.finditer(rf"\b{kind}_(?!by_|names?\b|check\b|cni\b)\w+\b(?!\s*\()", code):
            yield line_of(code, found.start()), f"'{found.group(0)}' belongs to {home}/: {why}"
    plain = without_comments(text)
    for found in re.finditer(COMPARES, plain):
        name = re.search(rf'"({VALUE_NAMES})"', arguments(plain, found.end()), re.I)
        if name:
            yield line_of(plain, found.start()), f"compares with \"{name.group(1)}\": {why}"


def check_size(path, text, code):
    lines = text.count("\n")
    if lines > FILE_MAX:
        yield 1, f"has {lines} lines (at most {FILE_MAX})"
    for name, start, length in functions(code):
        if length > FUNCTION_MAX:
            yield start, f"{name}() has {length} lines (at most {FUNCTION_MAX})"
    if pathlib.PurePath(path).stem.lower() in VAGUE_NAMES:
        yield 1, "has a name that says nothing"


def check_file(path, text):
    code = strip(text)
    yield from check_opening(path, text)
    yield from check_names(path, code)
    yield from check_values(path, text, code)
    yield from check_size(path, text, code)
    for found in re.finditer(r"\b(?:TODO|FIXME|XXX)\b", text):
        yield line_of(text, found.start()), "leaves something undone: finish it or write an issue"


def check_tree(root):
    for folder in (*PRODUCT, "tests"):
        for source in sorted((root / folder).rglob("*.[ch]")):
            path = source.relative_to(root).as_posix()
            for line, message in check_file(path, source.read_text(errors="replace")):
                yield f"{path}:{line}: {message}"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    found = list(check_tree(root))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
