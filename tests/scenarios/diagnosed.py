"""A joined node whose network is broken from outside: diag says so and names the cause."""
import json
import os
import signal
import subprocess
import sys
import time
import zipfile

import scene
from scene import stage  # noqa: F401  (sets the path of what follows)
import faults

sys.path.append(os.path.join(scene.ROOT, "tests"))
import patience  # noqa: E402


class Diagnosed(scene.Scene):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = cls.stage.join(*scene.FAST)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)

    def assert_names(self, name):
        fault = faults.FAULTS[name]
        fault.apply(self.stage)
        self.addCleanup(fault.lift, self.stage)
        code, report = self.stage.document("diag")
        self.assertEqual(code, 5, report)
        self.assertGreater(report["summary"]["fail"], 0)
        self.assertIn(fault.cause, [c["id"] for c in report["causes"]])

    def test_healthy(self):
        code, report = self.stage.document("diag")
        self.assertEqual((code, report["summary"]["fail"], report.get("causes", [])), (0, 0, []))

    def test_another_vni(self):
        self.assert_names("vni")

    def test_no_egress(self):
        self.assert_names("no-egress")

    def test_watch(self):
        """A line when something breaks and one when it works again; Ctrl-C ends it and takes the probes away."""
        following = scene.Following(self.stage, [stage.PROGRAM, "diag", "--watch", "1s", "-o", "json"])
        self.addCleanup(following.kill)

        def lines():
            told = os.pread(following.out.fileno(), 1 << 20, 0).split(b"\n")[:-1]
            self.assertFalse([line for line in told if not line.startswith(b"{")], following.said())
            return [json.loads(line) for line in told]

        def seen(count):
            scene.wait_until(lambda: len(lines()) >= count or following.proc.poll() is not None, 120, following.said)
            return lines()[count - 1]

        first = seen(1)
        self.assertEqual((first["good"], first["causes"]), (True, []), first)
        fault = faults.FAULTS["no-egress"]
        fault.apply(self.stage)
        self.addCleanup(fault.lift, self.stage)
        broken = seen(2)
        self.assertEqual((broken["good"], broken["worse"]), (False, True))
        self.assertIn(fault.cause, broken["causesNew"])
        self.assertEqual({cell["was"] for cell in broken["cells"]}, {"pass"})
        fault.lift(self.stage)
        scene.wait_until(lambda: lines()[-1]["good"], 120, following.said)
        self.assertIn(fault.cause, lines()[-1]["causesGone"])
        count = len(lines())
        time.sleep(8)
        self.assertEqual(len(lines()), count, lines())  # nothing changes, nothing is said
        following.proc.send_signal(signal.SIGINT)
        self.assertEqual(following.wait(60), 0, following.said())
        self.assertNotIn(b"winjoin-probe", b"".join(os.fsencode(n) for n in os.listdir(
            self.stage.host.path(r"C:\etc\kubernetes\manifests"))))

    def assert_names_at_once(self, name, cause, seconds, measured):
        """Before any pod is started; how long the whole diagnosis took is printed."""
        fault = faults.FAULTS[name]
        fault.apply(self.stage)
        self.addCleanup(self.stage.winjoin, "diag")
        self.addCleanup(fault.lift, self.stage)
        begin = time.monotonic()
        code, report = self.stage.document("diag")
        took = time.monotonic() - begin
        print("     %s: diag took %.1f s, its first look %.2f s" % (
            name, took, report["evidence"]["look"]["seconds"]), flush=True)
        self.assertEqual(code, 5, report)
        self.assertEqual(report["causes"][0]["id"], cause)
        self.assertLess(report["evidence"]["look"]["seconds"], 1 * patience.factor())
        self.assertLess(took, seconds * patience.factor())
        self.assertEqual(report["summary"]["pass"] > 0, measured, report["summary"])
        return report

    def test_collection(self):
        """All evidence of a red node in one file, judged again on another machine."""
        fault = faults.FAULTS["no-egress"]
        fault.apply(self.stage)
        self.addCleanup(fault.lift, self.stage)
        done = self.stage.winjoin("diag", "--collect", r"C:\folder\diag.zip")
        self.assert_code(done, 3)  # no such folder
        done = self.stage.winjoin("diag", "--collect", r"C:\k\diag.zip")
        self.assert_code(done, 5)
        self.assertIn(r"the evidence is in C:\k\diag.zip (", done.stdout)
        path = self.stage.host.path(r"C:\k\diag.zip")
        self.addCleanup(os.remove, path)
        with zipfile.ZipFile(path) as packed:
            self.assertIsNone(packed.testzip())
            for name in packed.namelist():
                self.assertNotIn(scene.SECRET.encode(), packed.read(name), name)
            for name in ("index.txt", "evidence/networks.json", "evidence/routes.json", "files/C/etc/cni/net.d/10-winjoin.conf",
                         "files/C/var/log/kubelet/kubelet.log", "files/C/var/lib/kubelet/config.yaml"):
                self.assertIn(name, packed.namelist())
        again = subprocess.run([os.path.join(scene.ROOT, "build/native/winjoin"), "diag", "--replay", path, "-o", "json"],
                               capture_output=True, text=True, check=False)
        self.assertEqual(again.returncode, 5, again.stderr)
        self.assertEqual(fault.cause, json.loads(again.stdout)["causes"][0]["id"])

    def test_capture(self):
        """The packets of a red flow are in the collection; what was started is stopped."""
        fault = faults.FAULTS["no-egress"]
        fault.apply(self.stage)
        self.addCleanup(fault.lift, self.stage)
        collect = ("diag", "--capture", "--collect", r"C:\k\capture.zip")
        path = self.stage.host.path(r"C:\k\capture.zip")
        pktmon = r"C:\windows\system32\PktMon.exe"
        done = self.stage.winjoin(*collect)  # Wine has none: the collection is made all the same
        self.assert_code(done, 5)
        self.addCleanup(os.remove, path)
        self.assertIn("were not captured: capture packets: this Windows has no Packet Monitor", done.stdout)
        self.stage.host.put(os.path.join(scene.ROOT, "build", "windows", "rig", "pktmon.exe"), pktmon)
        self.addCleanup(os.remove, self.stage.host.path(pktmon))
        done = self.stage.winjoin(*collect)
        self.assert_code(done, 5)
        self.assertIn("packets of pod-to-external-ip/tcp were captured\n  dropped: INET: no route (1 packet, 1 of this flow)",
                      done.stdout.replace("\r", ""))
        with zipfile.ZipFile(path) as packed:
            self.assertTrue(packed.read("capture.pcapng").startswith(b"\x0a\x0d\x0d\x0a"))
            self.assertIn(b"  capture.pcapng  ", packed.read("index.txt"))
        self.assertEqual(self.stage.host.run([pktmon, "stop"]).returncode, 1)  # runs no more
        self.assertEqual([name for name in os.listdir(self.stage.host.path(r"C:\ProgramData\winjoin"))
                          if name.startswith("capture")], [])

    def test_stopped_kubelet(self):
        report = self.assert_names_at_once("kubelet-down", "SVC-DOWN", 5, False)
        self.assertIn("the kubelet is not running", report["causes"][0]["message"])
        code, status = self.stage.document("status")
        self.assertEqual((code, status["well"]), (1, False))
        self.assertIn("kubelet is stopped", status["problems"])

    def test_stopped_containerd(self):
        self.assert_names_at_once("containerd-down", "SVC-DOWN", 5, False)

    def test_crashing_kube_proxy(self):
        report = self.assert_names_at_once("proxy-crash", "SVC-DOWN", 60, True)
        self.assertIn("kube-proxy is not running: it ended", report["causes"][0]["message"])

    def test_api_server_away(self):
        self.assert_names_at_once("api-down", "API-DOWN", 60, True)
        begin = time.monotonic()
        code, status = self.stage.document("status")
        print("     api-down: status took %.1f s" % (time.monotonic() - begin), flush=True)
        self.assertEqual((code, status["api"]["outcome"]), (1, "unreachable"))

    def test_expired_certificate(self):
        self.assert_names_at_once("cert-expired", "CERT-EXPIRED", 60, True)
