#!/usr/bin/env python3
"""Writes what a build is made of as C.

    build_info.py info OUT.c [built.json]   version and libraries; without the record of the Windows
                                            libraries the system's own, as pkg-config knows them
    build_info.py commit OUT.c              git's commit
    build_info.py no-commit OUT.c           the same without one, for the tests

A file is touched only when its content changes, so that nothing is linked again for nothing.
"""

import json
import pathlib
import re
import subprocess
import sys

SYSTEM_LIBRARIES = {"curl": "libcurl", "jansson": "jansson", "libarchive": "libarchive",
                    "libyaml": "yaml-0.1", "nghttp2": "libnghttp2", "openssl": "openssl"}


def output(*words):
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def libraries(built):
    if built:
        return [(row["name"], row["version"], row["licence"])
                for row in json.loads(pathlib.Path(built).read_text())["libraries"] if row["shipped"]]
    return [(name, output("pkg-config", "--modversion", module) or "unknown", "")
            for name, module in SYSTEM_LIBRARIES.items()]


def info_text(built):
    version = pathlib.Path("dist/version").read_text().strip()
    rows = "".join(f'    {{"{n}", "{re.sub(r"^[0-9]+:", "", v)}", "{licence}"}},\n'
                   for n, v, licence in sorted(libraries(built)))
    return (f'const char build_version[] = "{version}";\n\n'
            f"const struct build_library build_libraries[] = {{\n{rows}    {{0}},\n}};\n")


def commit_text(commit):
    return f'const char build_commit[] = "{commit or "unknown"}";\n'


def main():
    what, out, built = sys.argv[1], pathlib.Path(sys.argv[2]), (sys.argv[3:] or [None])[0]
    if what == "info":
        body = info_text(built)
    else:
        body = commit_text(output("git", "rev-parse", "--short=12", "HEAD") if what == "commit" else "")
    text = f'/* Generated: what this program was built from. */\n#include "base/build_info.h"\n\n{body}'
    if not out.exists() or out.read_text() != text:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)


if __name__ == "__main__":
    main()
