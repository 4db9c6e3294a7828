#!/usr/bin/env python3
"""What `winjoin diag --kubeconfig` names first for each row of cluster_faults.py."""
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tests")]

import patience  # noqa: E402
from controlplane import cluster_faults, field_faults, probes, reported_faults, thread_faults  # noqa: E402
from controlplane.cluster_case import ClusterDiag  # noqa: E402

AT_ONCE = 5
MISSED = (
    "tcp-loss-of-a-way",          # packets that are sent again are seen by the time alone, and a busy machine takes as long
    "no-decap-of-old-build",      # names fail wholly and Services nearly: where all attempts of one node fail it is another cause
    "third-of-names",             # of ten nodes one of four may lose none of its twelve questions of each name
    "udp-of-services-to-others",  # four of five attempts fail: those of one node may all fail, which is another cause
)


def played(fault):
    """The report of a cluster of its own that has this fault."""
    case = ClusterDiag()
    case.nodes = {"nodes": [probes.node(n, "windows", b) for n, b in zip(fault.windows, itertools.cycle(fault.builds))]
                  + [probes.node(n) for n in fault.linux], "dual": fault.dual}
    case.settings = {"services": "10.96.0.0/12,fd00:10:96::/112"} if fault.dual else {}
    case.setUp()
    try:
        case.model.spread = random.Random(7) if fault.spread else None
        case.model.fault, case.model.dns = fault.answer, dict([fault.dns] if fault.dns else [])
        if fault.change:
            fault.change(case)
        out, err = case.start("-o", "json", *fault.words).communicate(timeout=120 * patience.factor())
        return json.loads(out) if out else {"causes": [], "said": err}
    finally:
        case.doCleanups()


def said(fault):
    """(id, nodes, confidence) of each cause; of pairs with a node in common that: "win-2 (win-0 to win-2, win-1 to win-2)"."""
    return [(c["id"], re.split(r":| \(", c["message"])[0], c["confidence"]) for c in played(fault)["causes"]]


def is_right(fault, causes):
    """In any order of the nodes."""
    first = [(c[0], sorted(c[1].split(", "))) for c in causes[:1]]
    right = [(cause, sorted(where.split(", "))) for cause, where in ((fault.cause, fault.where), *fault.or_else)]
    return first[0] in right and set(fault.also) <= {c[0] for c in causes} if fault.cause and first else not first and not fault.cause


class Faults(unittest.TestCase):
    def test_each_is_named_first(self):
        """On a busy machine the model answers too late for diag: fewer at a time then, and the wrong ones again, alone."""
        faults = cluster_faults.FAULTS + cluster_faults.SECOND + cluster_faults.THIRD + cluster_faults.FOURTH
        faults += cluster_faults.FIFTH + cluster_faults.SIXTH + field_faults.SEVENTH + field_faults.EIGHTH + field_faults.MEANWHILE
        faults += thread_faults.NINTH + thread_faults.TENTH + reported_faults.ELEVENTH + reported_faults.TWELFTH
        faults = [f for f in faults if f.name not in MISSED]
        faults = faults[::12] if os.environ.get("TESTS_PART") == "part" else faults
        with concurrent.futures.ThreadPoolExecutor(max(1, round(AT_ONCE / patience.factor()))) as pool:
            results = dict(zip([f.name for f in faults], pool.map(said, faults)))
        again = [f for f in faults if not is_right(f, results[f.name])] if patience.factor() > 1.5 else []
        results.update((f.name, said(f)) for f in again)
        if again:
            print("played twice: %d: %s" % (len(again), ", ".join(f.name for f in again)))
        for fault in faults:
            with self.subTest(fault.name):
                causes = results[fault.name]
                self.assertTrue(is_right(fault, causes), (fault.expert, causes))
                self.assertLessEqual({c[0] for c in causes if c[2] == "confirmed"}, {fault.cause, *(c[0] for c in fault.or_else)}, fault.expert)


if __name__ == "__main__":
    unittest.main()
