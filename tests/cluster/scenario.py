"""The table of scenarios: each is a function that takes the stage and asserts.

    @scenario("discover-token", "the pinned cluster is proved", groups=("ci",))
    def token(stage): ...

The stage is chosen by `on` (a class of stages.py or of a family's own) and its keywords; scenarios
that follow each other on equal stages share one. A scenario leaves its stage as it found it; when it
fails, the next one gets a new stage.
"""
import collections
import fnmatch
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
Row = collections.namedtuple("Row", "name title groups on keywords play")
TABLE = {}


class Skip(Exception):
    """What this scenario needs is not to be had on this machine; says what."""


def scenario(name, title, groups=(), on=None, **keywords):
    def enter(function):
        if name in TABLE:
            raise ValueError("two scenarios are called '%s'" % name)
        TABLE[name] = Row(name, title, tuple(groups), on, keywords, function)
        return function
    return enter


def load():
    """Imports every family: scenarios/*.py."""
    folder = os.path.join(HERE, "scenarios")
    for leaf in sorted(os.listdir(folder)):
        if leaf.endswith(".py"):
            spec = importlib.util.spec_from_file_location("e2e_" + leaf[:-3],
                                                          os.path.join(folder, leaf))
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)


def chosen(words):
    """Rows by name, by pattern (discover-*), or by group; all when there are no words."""
    rows = list(TABLE.values())
    found = [row for row in rows if not words or any(
        fnmatch.fnmatchcase(row.name, word) or word in row.groups for word in words)]
    for word in words:
        if not any(fnmatch.fnmatchcase(r.name, word) or word in r.groups for r in rows):
            raise KeyError(word)
    return found


def expect(good, text, *more):
    """An assertion that is never optimised away, with what was seen."""
    if not good:
        raise AssertionError("\n".join([text, *map(str, more)]))


def expect_equal(seen, wanted, text):
    expect(seen == wanted, text, "seen:   %r" % (seen,), "wanted: %r" % (wanted,))


def expect_in(part, whole, text="not said"):
    expect(part in whole, "%s: %r" % (text, part), whole)
