"""A joined node whose network is broken from outside: diag says so and names the cause."""
import scene
from scene import stage  # noqa: F401  (sets the path of what follows)
import faults


class Diagnosed(scene.Scene):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = cls.stage.join(*scene.FAST)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)

    def assert_names(self, name):
        fault = faults.FAULTS[name]
        fault.lay(self.stage)
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
