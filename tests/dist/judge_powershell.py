#!/usr/bin/env python3
"""The lines of PowerShell scripts that a grammar of it does not take: judge_powershell.py SCRIPT..."""
import sys

import tree_sitter
import tree_sitter_powershell

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))


def wrong(node):
    if node.is_error or node.is_missing:
        yield node.start_point.row + 1
    for child in node.children:
        yield from wrong(child)


for path in sys.argv[1:]:
    with open(path, "rb") as script:
        for line in sorted(set(wrong(PARSER.parse(script.read()).root_node))):
            print("%s:%d" % (path, line))
