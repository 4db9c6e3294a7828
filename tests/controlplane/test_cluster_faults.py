#!/usr/bin/env python3
"""What `winjoin diag --kubeconfig` names first for each row of cluster_faults.py."""
import concurrent.futures
import json
import unittest

from controlplane import cluster_faults
from controlplane.test_cluster_diag import ClusterDiag


class Faults(ClusterDiag):
    nodes = {"windows": 3, "linux": 2}

    def one(self, fault):
        cluster = ClusterDiag()
        cluster.nodes = self.nodes
        cluster.setUp()
        try:
            cluster.model.fault, cluster.model.dns = fault.answer, dict([fault.dns] if fault.dns else [])
            out, err = cluster.start("-o", "json", *fault.words).communicate(timeout=120)
            return json.loads(out) if out else err
        finally:
            cluster.doCleanups()

    def test_all(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for fault, report in zip(cluster_faults.FAULTS, pool.map(self.one, cluster_faults.FAULTS)):
                with self.subTest(fault.name):
                    red = sorted({"%s %s %s>%s" % (f["id"], f["protocol"], f["from"], f.get("toNode", "")) for f in report["flows"] if f["outcome"] != "pass"})
                    print("\n%s: %s\n  %s\n  red %s" % (fault.name, fault.expert, "\n  ".join(
                        "%s%s %s" % (c["id"], "!" if c.get("certainty") == "confirmed" else "", c["message"]) for c in report["causes"]), ", ".join(red)))


if __name__ == "__main__":
    unittest.main()
