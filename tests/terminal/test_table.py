#!/usr/bin/env python3
"""The live table of `winjoin diag --kubeconfig` at a terminal: cells fill in, and it goes before the report comes."""

import pathlib
import re
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tests")]

from controlplane import probes  # noqa: E402
from controlplane.cluster import Cluster  # noqa: E402
from controlplane.settings import Settings  # noqa: E402
from terminal.test_terminal import Terminal  # noqa: E402

ROW = re.compile(r"^  (\S+) +(\d+) +(\d+) +(\d+)$", re.M)


class Table(unittest.TestCase):
    def shown(self, columns=80, code=5, lines=24, **environment):
        """All that stood on the terminal."""
        folder = tempfile.mkdtemp(prefix="cluster-table.")
        self.addCleanup(shutil.rmtree, folder)
        cluster = Cluster(Settings(state=folder, node="", backlog=512))
        cluster.start()
        self.addCleanup(cluster.stop, save=False)
        model = probes.Model(cluster.api, windows=4, linux=2)
        self.addCleanup(model.over.set)
        model.broken = lambda source, target, udp: probes.SLOW if source == "win-000" and target == "win-001" else None
        terminal = Terminal(["diag", "--kubeconfig", cluster.kubeconfig()], columns, lines, **environment)
        self.assertEqual(terminal.close(), code, terminal.text)
        return terminal.text.replace("\r\n", "\n")

    def test_cells_fill_in(self):
        text = self.shown()
        rows = [[int(n) for n in r[1:]] for r in ROW.findall(text) if r[0] == "pod-to-pod-ip"]
        cells = [sum(r) for r in rows]
        self.assertEqual(cells, sorted(cells))  # more pairs are asked beside one that fails
        self.assertLess(cells[0], cells[-1])
        self.assertTrue(any(r[2] for r in rows), rows)       # some wait
        self.assertTrue(any(r[1] and not r[2] for r in rows), rows)  # at last none does
        made = text.count("works  fails  waits")
        gone = re.findall(r"\x1b\[(\d+)A\x1b\[J", text)
        self.assertGreater(made, 1)
        self.assertEqual(len(gone), made)  # each was taken away, the last before the report
        self.assertGreater(text.index("cells work, 6 nodes"), text.rindex("\x1b[%sA" % gone[-1]))

    def test_it_fits(self):
        text = self.shown(columns=40)
        table = [x for x in re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\r", "", text).split("\n") if x.startswith("  pod-to-")]
        self.assertTrue(table)
        self.assertLess(max(len(x) for x in table), 40)

    def test_without_color(self):
        text = self.shown(NO_COLOR="1")
        self.assertIn("works  fails  waits", text)
        self.assertNotRegex(text, r"\x1b\[[0-9;]*m")

    def test_where_there_is_none(self):
        for keywords in ({"lines": 8}, {"TERM": "dumb"}):
            with self.subTest(**keywords):
                self.assertNotIn("works  fails  waits", self.shown(**keywords))


if __name__ == "__main__":
    unittest.main()
