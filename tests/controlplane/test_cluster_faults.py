#!/usr/bin/env python3
"""What `winjoin diag --kubeconfig` names first for each row of cluster_faults.py."""
import concurrent.futures
import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tests")]

from controlplane import cluster_faults, probes  # noqa: E402
from controlplane.cluster_case import ClusterDiag  # noqa: E402

AT_ONCE = 5


def played(fault):
    """The report of a cluster of its own that has this fault."""
    case = ClusterDiag()
    case.nodes = {"nodes": [probes.node(n, "windows", b) for n, b in zip(cluster_faults.WINDOWS, fault.builds)]
                  + [probes.node(n) for n in cluster_faults.LINUX], "dual": fault.dual}
    case.settings = {"services": "10.96.0.0/12,fd00:10:96::/112"} if fault.dual else {}
    case.setUp()
    try:
        case.model.fault, case.model.dns = fault.answer, dict([fault.dns] if fault.dns else [])
        out, err = case.start("-o", "json", *fault.words).communicate(timeout=120)
        return json.loads(out) if out else {"causes": [], "said": err}
    finally:
        case.doCleanups()


class Faults(unittest.TestCase):
    def test_each_is_named_first(self):
        faults = cluster_faults.FAULTS + cluster_faults.SECOND + cluster_faults.THIRD
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            reports = list(pool.map(played, faults))
        for fault, report in zip(faults, reports):
            with self.subTest(fault.name):
                # Of pairs that have a node in common, that one: "win-2 (win-0 to win-2, win-1 to win-2)".
                said = [(c["id"], re.split(r":| \(", c["message"])[0]) for c in report["causes"]]
                self.assertEqual(said[:1], [(fault.cause, fault.where)] if fault.cause else [], (fault.expert, said))
                seen = {c["id"] for c in report["causes"] if c["confidence"] == "confirmed"}
                self.assertLessEqual(seen, {"CL-SUBNET", "CL-WRONG", "CL-MTU-SYSTEMS", "CL-LOSS-NODE"}, fault.expert)


if __name__ == "__main__":
    unittest.main()
