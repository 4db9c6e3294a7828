#!/usr/bin/python3
"""The model of many kubeadm joins asks what docs/design/kubeadm-parity.md counts of kubeadm and its kubelet."""
import pathlib
import re
import sys
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import load  # noqa: E402

PARITY = HERE.parent.parent / "docs/design/kubeadm-parity.md"
JOINS = 3


def counted():
    """Requests of one join: those that are always made, and those at most."""
    text = re.search(r"<!-- made: files and requests -->(.*?)<!-- end", PARITY.read_text(), re.S).group(1)
    column = [line.split("|")[4].strip() for line in text.splitlines() if re.match(r"\| (anonymous|token) \|", line)]
    always = sum(int(cell) for cell in column if cell.isdigit())
    return always, always + column.count("if needed")


class Crowd(unittest.TestCase):
    def test_requests(self):
        seen = load.play_kubeadm(JOINS, 0, 0, 64)
        always, most = counted()
        self.assertEqual((seen["joined"], seen["refusedRequests"]), (JOINS, 0), seen["words"])
        self.assertLessEqual(always * JOINS, seen["requests"])
        self.assertLessEqual(seen["requests"], most * JOINS)

    def test_what_is_refused_for_long_ends_it(self):
        with mock.patch.multiple(load.crowd, DISCOVERY=2, EVERY=1, REPEATS=1):
            seen = load.play_kubeadm(JOINS, 0.001, 1, 64)
        self.assertEqual((seen["joined"], len(seen["words"])), (0, JOINS))


if __name__ == "__main__":
    unittest.main()
