#!/usr/bin/python3
"""What a join asks does not depend on what others have in the cluster."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import full  # noqa: E402

FULL = 600  # more than a page of a list
# Where flannel runs; where no agent is known, which is looked for in two more places; and where DaemonSets are asked for one by one
# (docs/benchmarks.md, "What is asked, and why").
MOST, MOST_UNKNOWN, MOST_BY_NAME = 10, 12, 32
TABLE = 200  # DaemonSets in one answer at most
LESS, NAMES = 0.02, 400  # names and times of certificates have not always as many digits


@unittest.skipUnless(os.path.exists(full.load.WINJOIN), "build/native/winjoin is not built")
class Full(unittest.TestCase):
    def compare(self, most, **settings):
        (few, bytes_), (many, more) = full.join(0, **settings), full.join(FULL, **settings)
        self.assertEqual(sorted(few), sorted(many))  # a watch is noted when it ends
        self.assertLessEqual(more, bytes_ * (1 + LESS) + NAMES)
        self.assertLessEqual(len(few), most)

    def test_flannel(self):
        self.compare(MOST)

    def test_no_agent(self):
        self.compare(MOST_UNKNOWN, flannel="")

    def test_by_name(self):
        """Where one answer would not hold all DaemonSets; and with the rights of an older manifest, where what is not known ends the
        join, unless flannel's settings are there."""
        self.assertEqual(len(full.join(0, flannel="", sets=TABLE + 1)[0]), MOST_BY_NAME)
        self.assertLess(len(full.join(0, by_name=True)[0]), MOST_BY_NAME)
        with self.assertRaisesRegex(RuntimeError, "which network agent the cluster runs is not known"):
            full.join(0, flannel="", by_name=True)

    def test_many_daemon_sets(self):
        """A line each, up to the most that one answer has."""
        (few, bytes_), (many, more) = full.join(0, sets=0), full.join(0, sets=TABLE)
        self.assertEqual(sorted(few), sorted(many))
        self.assertLess(more - bytes_, 100 * TABLE)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
