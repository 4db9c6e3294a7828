#!/usr/bin/env python3
"""Writes what a build is made of as C: build_info.py OUT.c [built.json of the Windows libraries]

Without the JSON the system's libraries are named, as pkg-config knows them. The file is touched
only when its content changes, so that nothing is linked again for nothing.
"""

import json
import pathlib
import re
import subprocess
import sys

SYSTEM_LIBRARIES = {"curl": "libcurl", "jansson": "jansson", "libarchive": "libarchive",
                    "libyaml": "yaml-0.1", "openssl": "openssl"}


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


def main():
    out, built = pathlib.Path(sys.argv[1]), (sys.argv[2:] or [None])[0]
    version = pathlib.Path("dist/version").read_text().strip()
    commit = output("git", "rev-parse", "--short=12", "HEAD") or "unknown"
    rows = "".join(f'    {{"{n}", "{re.sub(r"^[0-9]+:", "", v)}", "{licence}"}},\n'
                   for n, v, licence in sorted(libraries(built)))
    text = ('/* Generated: what this program was built from. */\n#include "base/build_info.h"\n\n'
            f'const char build_version[] = "{version}";\nconst char build_commit[] = "{commit}";\n\n'
            f"const struct build_library build_libraries[] = {{\n{rows}    {{0}},\n}};\n")
    if not out.exists() or out.read_text() != text:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)


if __name__ == "__main__":
    main()
