#!/usr/bin/python3
"""Tests of what the test API server holds before it serves: its objects, filled and loaded."""

import os
import sys
import tempfile
import unittest

sys.path[0] = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))

from controlplane import resources, seed, status  # noqa: E402
from controlplane.settings import Settings  # noqa: E402
from controlplane.store import Store  # noqa: E402


class DualStack(unittest.TestCase):
    def test_the_first_family_has_the_address_that_the_kubelet_names(self):
        setup = Settings(pods="fd00:44::/56,10.244.0.0/16", services="fd00:96::/112,10.96.0.0/12")
        store = Store()
        seed.fill(store, setup, b"")
        service = store.find(resources.named("services"), "kube-system", "kube-dns")
        self.assertEqual(service["spec"]["clusterIPs"], ["fd00:96::a", "10.96.0.10"])
        kubelet = store.find(resources.named("configmaps"), "kube-system", "kubelet-config")
        self.assertIn("- fd00:96::a\n", kubelet["data"]["kubelet"])


class Load(unittest.TestCase):
    def test_a_watch_from_before_a_start_must_list_again(self):
        nodes, before, after = resources.named("nodes"), Store(), Store()
        before.create(nodes, "", {"metadata": {"name": "a"}})
        before.modify(nodes, "", "a", lambda item: {**item, "spec": {"podCIDR": "10.244.3.0/24"}})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "objects.json")
            before.save(path)
            after.load(path, resources.BY_KIND)
        self.assertEqual(after.events_after(before.version, nodes, 0), ([], before.version))
        self.assertRaises(status.ApiError, after.events_after, before.version - 1, nodes, 0)


def main():
    result = unittest.main(exit=False, verbosity=1).result
    bad = len(result.failures) + len(result.errors)
    print("%d passed, %d failed, 0 skipped" % (result.testsRun - bad, bad))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
