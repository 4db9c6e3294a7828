"""Features need a restart of Windows: with --restart the join goes on by itself."""
import os

import kept
import scene

DISM = os.path.join(scene.ROOT, "build", "windows", "rig", "dism.exe")
KEY = r"HKLM\SOFTWARE\winjoin-rig"
CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
SETTINGS = r"C:\ProgramData\winjoin\services\winjoin-join.json"


class Restarted(kept.Keeping):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in ("dism", "shutdown"):
            cls.stage.host.put(DISM, r"C:\windows\system32\%s.exe" % name)
        cls.without_containers()
        cls.bare = cls.stage.snapshot()

    @classmethod
    def without_containers(cls):
        cls.stage.host.run(["reg", "delete", KEY, "/f"])
        cls.stage.host.run(["reg", "add", KEY, "/v", "Containers", "/t", "REG_DWORD", "/d", "0", "/f"])

    def restarts(self):
        return "Restart" in self.stage.host.run(["reg", "query", KEY]).stdout

    def service(self):
        return self.stage.host.run(["sc", "query", "winjoin-join"]).returncode == 0

    def begin(self):
        """The first half: up to the restart."""
        done = self.stage.join("--install-features", "--restart", *scene.FAST)
        self.assert_code(done, 6)
        self.assertIn("Windows restarts in a few seconds", done.stderr)
        self.assertTrue(self.restarts())
        self.assertTrue(self.service())
        token = self.stage.cluster.facts["token"]
        self.assertEqual(scene.holders(self.stage.host.path("C:\\"), token),
                         ["ProgramData/winjoin/services/winjoin-join.json"])

    def joined(self):
        return not self.service() and self.stage.document("status")[1]["state"] == "joined"

    def end(self):
        self.reset()
        self.without_containers()
        self.assert_bare()

    def test_the_join_goes_on(self):
        self.begin()
        self.stage.host.reboot()
        self.until(self.joined, "the join goes on")
        self.assertEqual(self.ready(), ["True"])
        self.assertFalse(os.path.exists(self.stage.host.path(SETTINGS)))
        self.end()

    def test_it_restarts_again_for_a_runtime_class(self):
        cluster, run = self.stage.cluster, self.stage.host.run
        cluster.call("POST", CLASSES, {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass",
                                       "metadata": {"name": "vm"}, "handler": "runhcs-wcow-hypervisor"})
        self.addCleanup(cluster.call, "DELETE", CLASSES + "/vm")
        self.begin()
        run(["reg", "delete", KEY, "/v", "Restart", "/f"])
        self.stage.host.reboot()
        self.until(self.restarts, "the join restarts Windows again")
        self.assertTrue(self.service())
        self.stage.host.reboot()
        self.until(self.joined, "the join goes on")
        self.assertEqual(self.ready(), ["True"])
        self.assertEqual(run(["sc", "delete", "vmms"]).returncode, 0)
        self.end()

    def test_a_reset_before_the_restart(self):
        self.begin()
        self.end()
