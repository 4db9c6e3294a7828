#!/usr/bin/env python3
"""What `winjoin diag --kubeconfig` names first for each row of cluster_faults.py."""
import unittest

from controlplane import cluster_faults
from controlplane.test_cluster_diag import ClusterDiag


class Faults(ClusterDiag):
    nodes = {"windows": 3, "linux": 2}

    def test_all(self):
        for fault in cluster_faults.FAULTS:
            with self.subTest(fault.name):
                self.model.fault, self.model.dns = fault.answer, dict([fault.dns] if fault.dns else [])
                report = self.report(*fault.words, code=5)
                print("%s: %s\n  %s" % (fault.name, fault.expert, "\n  ".join(
                    "%s%s %s" % (c["id"], "!" if c["confirmed"] else "", c["message"]) for c in report["causes"])))


if __name__ == "__main__":
    unittest.main()
