"""Azure CNI: the first pod makes the network on the machines' own segment; its state does not survive HNS or Windows."""
import kept
import joins
import scene
from scene import snapshot, stage

WORDS = ("--network-plugin", "azure-vnet", "--verify", "none", "-o", "json")
STATE = "C:\\windows\\system32\\azure-vnet.json"


class AzureCni(kept.Keeping):
    """The life of a node, told in order: each test needs the one before."""
    mode, origin, options = "l2bridge", "dhcp", (*scene.WITH_TOKEN, "--flannel", "")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # What Azure's virtual network does: it knows the way to every pod.
        cls.stage.fabric.segment(stage.fabrics.ROUTER + "/24")

    def networks(self):
        return {n["Name"] for n in self.stage.host.control({"op": "dump"})["networks"]}

    def stands(self):
        return scene.os.path.exists(self.stage.host.path(STATE)) and "azure" in self.networks()

    def test_1_join(self):
        done = self.stage.join(*WORDS)
        self.assert_code(done, 0)
        self.assertEqual(self.ready(), ["True"])
        self.assertEqual(self.networks(), {"External"})

    def test_2_first_pod_makes_the_network(self):
        code, report = self.stage.document("diag", timeout=170)
        self.assertEqual((code, report["causes"]), (0, []), report)
        self.assertTrue(self.stands())

    def test_3_the_same_join_again_changes_nothing(self):
        before = self.stage.snapshot()
        self.assert_joins(*WORDS)
        changed = [c for c in snapshot.compare(before, self.stage.snapshot()) if not c.startswith(joins.LIVING)]
        self.assertEqual(changed, [])

    def assert_starts_again(self, what):
        self.until(lambda: not self.stands() and self.ready() == ["True"], what)
        code, report = self.stage.document("diag", timeout=170)
        self.assertEqual((code, report["causes"]), (0, []), (what, report))
        self.assertTrue(self.stands())

    def test_4_hns_is_restarted(self):
        self.stage.host.restart_hns()
        self.assert_starts_again("HNS was restarted")
        self.assertIn("removed azure-vnet's state", self.log())

    def test_5_windows_is_restarted(self):
        self.stage.host.reboot()
        self.assert_starts_again("Windows was restarted")

    def test_6_reset(self):
        self.reset()
        self.assert_bare()
