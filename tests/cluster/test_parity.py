#!/usr/bin/env python3
"""Tests of the comparison with kubeadm: YAML read right, nothing unequal without a reason."""
import collections
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import parity  # noqa: E402
import programs  # noqa: E402

DOCUMENT = os.path.join(programs.HERE, "..", "..", "docs", "design", "kubeadm-parity.md")

YAML = """\
a: 1
list:
- name: x
  inner:
    deep: "0s"
- y
more:
  empty: {}
  last: C:\\k
end: ""
"""


class Flat(unittest.TestCase):
    def test_every_scalar_has_its_path(self):
        self.assertEqual(parity.flat(YAML), {
            "a": "1", "list.0.name": "x", "list.0.inner.deep": "0s", "list.1": "y", "more.empty": "{}",
            "more.last": "C:\\k", "end": ""})


class Document(unittest.TestCase):
    def test_another_version_is_not_its_matter(self):
        made = parity.document([], {}, [], "v1.37.1")
        self.assertTrue(parity.agrees(made, made, "v1.37.1"))
        self.assertTrue(parity.agrees(made, parity.document([], {}, [], "v1.36.4"), "v1.36.4"))
        self.assertFalse(parity.agrees(made, parity.document([], {"a": 1}, [], "v1.37.1"), "v1.37.1"))

    def test_it_is_of_the_version_that_is_built(self):
        """Another one in versions.ini: DOCS=1 make e2e ONLY=peer makes it again."""
        with open(DOCUMENT, encoding="utf-8") as f:
            text = f.read()
        version = programs.versions()["kubernetes"]["version"]
        for where in ("on Linux", "for Windows"):
            self.assertIn("Compared with kubeadm %s %s" % (version, where), text)


class Differences(unittest.TestCase):
    def test_one_without_a_reason_is_an_error(self):
        with tempfile.TemporaryDirectory() as top:
            for side, value in (("k", "1"), ("w", "2")):
                os.makedirs(os.path.join(top, side, "kubernetes"))
                with open(os.path.join(top, side, parity.CONF), "w", encoding="utf-8") as f:
                    f.write("apiVersion: %s\n" % value)
            with self.assertRaisesRegex(parity.Unexplained, "apiVersion is '1' with kubeadm and '2'"):
                parity.differences(os.path.join(top, "k"), os.path.join(top, "w"), ())

    def test_a_request_too_many_is_an_error(self):
        key = ("token", "get", "/api/v1/nodes/<node>")
        theirs, ours = collections.Counter({key: 1}), collections.Counter({key: 2})
        with self.assertRaisesRegex(parity.Unexplained, "kubeadm asks 1 times, winjoin 2"):
            parity.requests(theirs, ours)
        self.assertEqual(len(parity.requests(theirs, theirs)), 2)


if __name__ == "__main__":
    unittest.main()
