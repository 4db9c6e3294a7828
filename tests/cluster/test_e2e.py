"""The player of scenarios: what is chosen, counted and kept. Needs no cluster."""
import contextlib
import io
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import e2e  # noqa: E402
import scenario  # noqa: E402


class Played:
    """A stage that notes what is done with it."""
    opened = []

    def __init__(self, folder, **keywords):
        self.folder, self.keywords, self.noted = folder, keywords, []

    def __enter__(self):
        Played.opened.append(self)
        return self

    def __exit__(self, *_):
        self.noted.append("closed")

    def describe(self):
        return "a played stage"

    def begin(self):
        self.noted.append("begin")

    def end(self):
        self.noted.append("end")

    def keep(self, folder):
        with open(os.path.join(folder, "kept.txt"), "w", encoding="utf-8") as f:
            f.write("kept")


def row(name, play, groups=(), **keywords):
    return scenario.Row(name, name, groups, Played, keywords, play)


def fails(_):
    scenario.expect_equal(1, 2, "numbers")


def skips(_):
    raise scenario.Skip("no moon")


class Playing(unittest.TestCase):
    def setUp(self):
        Played.opened = []
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.object(e2e, "FOLDER", os.path.join(self.folder, "e2e")))
        self.enterContext(mock.patch.object(e2e.programs, "ensure", lambda *_: {}))

    def play(self, *rows, keep=False):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = e2e.play(list(rows), types.SimpleNamespace(keep=keep, hold=False))
        return code, out.getvalue()

    def test_counts_and_shares_one_stage(self):
        code, said = self.play(row("a", lambda s: None), row("b", skips), row("c", lambda s: None))
        self.assertEqual(code, 0)
        self.assertTrue(said.endswith("2 passed, 0 failed, 1 skipped\n"), said)
        self.assertIn("skipped: no moon", said)
        self.assertEqual(len(Played.opened), 1)
        self.assertEqual(Played.opened[0].noted, ["begin", "end"] * 3 + ["closed"])
        self.assertFalse(os.path.exists(e2e.FOLDER))

    def test_other_keywords_get_another_stage(self):
        self.play(row("a", lambda s: None), row("b", lambda s: None, mode="l2bridge"),
                  row("c", lambda s: None))
        self.assertEqual([s.keywords for s in Played.opened], [{}, {"mode": "l2bridge"}])
        self.assertEqual(Played.opened[0].noted[-1], "closed")

    def test_a_failure_is_kept_and_the_next_one_gets_a_new_stage(self):
        code, said = self.play(row("a", fails), row("b", lambda s: None))
        self.assertEqual(code, 1)
        self.assertTrue(said.endswith("1 passed, 1 failed, 0 skipped\n"), said)
        self.assertEqual(len(Played.opened), 3)  # the third for a, once more
        self.assertEqual(sorted(os.listdir(os.path.join(e2e.FOLDER, "a"))), ["kept.txt", "why.txt"])
        with open(os.path.join(e2e.FOLDER, "a", "why.txt"), encoding="utf-8") as f:
            self.assertIn("wanted: 2", f.read())
        self.assertFalse(os.path.exists(os.path.join(e2e.FOLDER, "b")))

    def test_what_fails_once_is_played_again_and_named(self):
        tries = []

        def fails_once(_):
            tries.append(1)
            scenario.expect_equal(len(tries), 2, "tries")

        code, said = self.play(row("a", fails_once))
        self.assertEqual(code, 0)
        self.assertIn("failed once, passed when played alone: a\n", said)
        self.assertTrue(said.endswith("1 passed, 0 failed, 0 skipped\n"), said)

    def test_many_failures_are_not_played_again(self):
        self.assertEqual(self.play(*(row(name, fails) for name in "abc"))[0], 1)
        self.assertEqual(len(Played.opened), 3)

    def test_nothing_played_is_no_success(self):
        self.assertEqual(self.play()[0], 1)


class Table(unittest.TestCase):
    def test_names_patterns_and_groups(self):
        with mock.patch.dict(scenario.TABLE, clear=True):
            for name, groups in (("join-a", ("ci",)), ("join-b", ()), ("other", ("ci", "x"))):
                scenario.scenario(name, "", groups)(lambda s: None)
            names = lambda *words: [r.name for r in scenario.chosen(words)]
            self.assertEqual(names(), ["join-a", "join-b", "other"])
            self.assertEqual(names("join-*"), ["join-a", "join-b"])
            self.assertEqual(names("ci"), ["join-a", "other"])
            self.assertEqual(names("x", "join-b"), ["join-b", "other"])
            with self.assertRaises(KeyError):
                names("no-such")
            with self.assertRaises(ValueError):
                scenario.scenario("other", "")(lambda s: None)


if __name__ == "__main__":
    unittest.main()
