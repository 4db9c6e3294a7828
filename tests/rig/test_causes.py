"""The rig's confusion table in docs/design/faults.md is of the faults that the rig has, and each is right."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import causes  # noqa: E402
import faults  # noqa: E402


class Table(unittest.TestCase):
    def setUp(self):
        self.rows = causes.rows()
        self.single = {k: v for k, v in self.rows.items() if ";" not in k[0]}

    def test_each_fault_has_its_row_in_each_mode(self):
        wanted = {(f.title, mode): f.cause or "-" for f in faults.FAULTS.values() for mode in f.modes}
        self.assertEqual(wanted, {key: cause for key, (cause, _) in self.single.items()})
        self.assertGreaterEqual(len(faults.FAULTS), 90)
        self.assertEqual(len({f.title for f in faults.FAULTS.values()}), len(faults.FAULTS))

    def test_the_right_cause_is_first(self):
        """Nine in ten; what is confirmed is right, always."""
        right = [first.split(", ")[0] == cause for cause, first in self.single.values()]
        wrong = [row for row, good in zip(self.single.values(), right)
                 if not good and "confirmed" in row[1]]
        self.assertGreaterEqual(10 * sum(right), 9 * len(right))
        self.assertEqual(wrong, [])

    def test_of_each_pair_both_are_found(self):
        wanted = {}
        for name, modes in faults.PAIRS.items():
            two = [faults.FAULTS[n] for n in name.split("+")]
            for mode in modes:
                self.assertTrue(all(mode in f.modes for f in two), name)
                wanted["; ".join(f.title for f in two), mode] = ", ".join(f.cause for f in two)
        pairs = {k: v for k, v in self.rows.items() if ";" in k[0]}
        self.assertEqual(wanted, {key: cause for key, (cause, _) in pairs.items()})
        for key, (cause, first) in pairs.items():
            self.assertIn(first.split(", ")[0], cause.split(", "), key)
            self.assertRegex(first, "both are named|then the other")


if __name__ == "__main__":
    unittest.main()
