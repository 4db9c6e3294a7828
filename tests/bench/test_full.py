#!/usr/bin/python3
"""What a join asks does not depend on what others have in the cluster."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import full  # noqa: E402

FULL = 600  # more than a page of a list
# Where flannel runs, and where no agent is known: then each that Linux nodes may have is asked for by its name
# (docs/benchmarks.md, "What is asked, and why").
MOST, MOST_UNKNOWN = 16, 32
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


if __name__ == "__main__":
    unittest.main(warnings="ignore")
