#!/usr/bin/env python3
"""`winjoin diag --kubeconfig` and an API server that answers anything, or that is left in the middle of a run."""
import pathlib
import signal
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "tests")]

from controlplane import probes  # noqa: E402
from controlplane.cluster_case import NAMESPACES, ClusterDiag  # noqa: E402


class Hostile(ClusterDiag):
    """An API server, or somebody in its place, that answers anything: it ends, small and soon, and with words."""

    def ends(self, fault, codes, seconds):
        self.cluster.api.book.add(fault)
        begin = time.monotonic()
        proc = self.start(measured=True)
        out, err = proc.communicate(timeout=seconds + 20)
        self.assertLess(self.memory(), 64, fault)
        self.cluster.api.book.clear()
        self.assertIn(proc.returncode, codes, out + err)
        self.assertLess(time.monotonic() - begin, seconds, fault)
        return out + err

    def test_nodes(self):
        nodes = "/api/v1/nodes"
        for fault in ({"body": "{"}, {"body": "[1]"}, {"body": '{"items": 7}'}, {"body": '{"items": [1, null, {"metadata": []}]}'},
                      {"body": "<html>" * 1000}, {"bytes": 100 << 20}, {"truncate": 100}, {"code": 500}, {"body": '{"kind": "NodeList"}'}):
            said = self.ends({"path": nodes, "method": "GET", **fault}, (1, 2, 3, 4), 45)
            self.assertIn("error", said.lower(), fault)
            self.assertEqual(self.left(), [])

    def test_probes(self):
        """Answers in the name of pods: cells are red or not run, and nothing stays."""
        for fault in ({"body": '{"responses": [7, {}, null, "\\u001b[31m"]}'}, {"bytes": 64 << 20, "count": 8}, {"body": "{"},
                      {"truncate": 3}):
            self.ends({"path": ".*/proxy/.*", **fault}, (0, 1, 5) if "count" in fault else (1, 5), 90)
            self.assertEqual(self.left(), [])

    def test_services_without_addresses(self):
        said = self.ends({"path": ".*/services", "method": "POST", "body": "{}"}, (1, 2, 3, 4), 45)
        self.assertIn("create Services: the answer has no clusterIP", said)
        self.assertEqual(self.left(), [])

    def test_pods_that_never_come(self):
        """Pods are refused one and all, as by an admission webhook: said with the server's words, nothing stays."""
        said = self.ends({"path": ".*/pods", "method": "POST", "code": 403, "reason": "Forbidden"}, (1,), 60)
        self.assertIn("the test asked for 403", said)
        self.assertEqual(self.left(), [])


class Interrupted(ClusterDiag):
    def test_ctrl_c(self):
        self.model.broken = lambda source, target, udp: probes.SLOW
        proc = self.start()
        self.until(lambda: self.model.dials)
        self.assertEqual(len(self.left()), 1)
        proc.send_signal(signal.SIGINT)
        out, err = proc.communicate(timeout=20)
        self.assertEqual(proc.returncode, 130, out + err)
        self.assertEqual(self.left(), [])

    def test_ctrl_c_while_pods_start(self):
        self.model.not_started = {"win-001": "ContainerCreating"}
        proc = self.start()
        self.until(self.left)
        time.sleep(0.5)
        proc.send_signal(signal.SIGINT)
        out, err = proc.communicate(timeout=20)
        self.assertEqual(proc.returncode, 130, out + err)
        self.assertEqual(self.left(), [])

    def test_killed_run_is_swept(self):
        self.cluster.store.create(NAMESPACES, "", {"metadata": {
            "name": "winjoin-diag-0ld", "labels": {"app.kubernetes.io/managed-by": "winjoin-diag"}}})
        self.cluster.store.modify(NAMESPACES, "", "winjoin-diag-0ld", lambda n: n)
        key = (NAMESPACES, ("", "winjoin-diag-0ld"))
        self.diag()
        self.assertEqual(self.left(), ["winjoin-diag-0ld"], "it is young: its run may go on")
        self.cluster.store.items[key[0]][key[1]]["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z"
        self.diag()
        self.assertEqual(self.left(), [])

    def test_connection_cut(self):
        """The API server is away while probes are asked, and comes back: the namespace goes all the same."""
        self.model.broken = lambda source, target, udp: probes.SLOW
        proc = self.start()
        self.until(lambda: self.model.dials)
        self.cluster.api.book.add({"path": ".*/proxy/.*", "reset": True})
        proc.communicate(timeout=60)
        self.assertEqual(proc.returncode, 5)
        self.assertEqual(self.left(), [])

    def until(self, what, seconds=20):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
