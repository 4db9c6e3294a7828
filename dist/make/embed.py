#!/usr/bin/env python3
"""Writes the text files of templates/ as one C source: embed.py OUT.c FILE..."""

import pathlib
import sys


def rows(data):
    for start in range(0, len(data), 20):
        yield "    " + ", ".join(str(byte) for byte in data[start:start + 20]) + ","


def main():
    out, names = sys.argv[1], sys.argv[2:]
    lines = ["/* Generated from templates/. */", '#include "templates/templates.h"', ""]
    for number, name in enumerate(names):
        data = pathlib.Path(name).read_bytes() + b"\0"
        lines += [f"static const unsigned char data_{number}[] = {{", *rows(data), "};", ""]
    lines.append("const struct template templates[] = {")
    for number, name in enumerate(names):
        lines.append(f'    {{"{pathlib.Path(name).name}", (const char *)data_{number}, sizeof(data_{number}) - 1}},')
    lines += ["    {0},", "};", ""]
    pathlib.Path(out).write_text("\n".join(lines))


if __name__ == "__main__":
    main()
