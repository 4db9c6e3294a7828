"""A join and a reset that are killed at every point: they go on, and the host comes back."""
import os
import time

import scene
from joins import PHASES

# Phases that change the host.
ACTING = ("artifacts", "certificate", "vswitch", "files", "containerd", "kubelet", "pod-network",
          "flanneld", "kube-proxy")
PROBES = "ProgramData/winjoin/probe"  # below drive_c
JOURNAL = "C:\\ProgramData\\winjoin\\journal\\journal.jsonl"


class Watched(scene.Scene):
    def watchdogs(self):
        """Of this host."""
        found, prefix = [], self.stage.host.prefix.encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as f:
                    if b"adapter-watchdog" not in f.read():
                        continue
                with open("/proc/%s/environ" % pid, "rb") as f:
                    if prefix in f.read():
                        found.append(pid)
            except OSError:
                continue  # it has just ended
        return found


class Kills(scene.Scene):
    more, last = (), ("--verify", "node")  # words of each join; of the one that finishes

    def kill_join_at(self, phase, after=0.0, words=scene.FAST):
        """after: seconds from the begin of the phase."""
        join = self.follow(*words, *self.more)
        seen = join.until(lambda line: line["phase"] == phase and line["state"] == "started")
        self.assertTrue(seen, "%s was not reached\n%s" % (phase, join.said()))
        time.sleep(after)
        join.kill()

    def test_join_is_killed_in_each_phase(self):
        for phase in PHASES:
            self.kill_join_at(phase, 0.15 if phase in ACTING else 0.0)
        self.finish()

    def finish(self):
        self.assert_joins(*self.last, *self.more)
        self.assertEqual(self.ready(), ["True"])
        self.reset()
        self.assert_bare()

    def records(self):
        try:
            with open(self.stage.host.path(JOURNAL), "rb") as f:
                return f.read().count(b"\n")
        except OSError:
            return 0

    def killed_at_next_record(self):
        """False: there is no further one, the join has ended."""
        before = self.records()
        join = self.follow(*scene.FAST, *self.more)
        while self.records() == before:
            if join.proc.poll() is not None:
                self.assertEqual(join.proc.returncode, 0, join.said())
                return False
            time.sleep(0.002)
        join.kill()
        return True

    def test_join_is_killed_at_each_record(self):
        kills = 0
        while self.killed_at_next_record():
            kills += 1
        self.assertGreater(kills, len(ACTING))
        self.finish()


class KilledTransparent(Kills):
    mode, more, last = "transparent", ("--network-plugin", "sdnbridge"), scene.FAST


class KilledL2tunnel(Kills):
    mode, more, last = "l2tunnel", ("--network-plugin", "win-bridge"), scene.FAST


class KilledAzure(Kills):
    mode, more, last = "l2bridge", ("--network-plugin", "azure-vnet"), scene.FAST
    options = (*scene.WITH_TOKEN, "--flannel", "")


class KilledNat(Kills):
    mode, more, last = "nat", ("--network-plugin", "nat"), scene.FAST

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stage.ignored += ",NetworkMode"


class Killed(Kills, Watched):
    def address_is_there(self):
        host = self.stage.host
        return "%s/" % host.address in scene.netns.run(["ip", "-n", host.ns, "-4", "-o", "addr"])

    def test_address_comes_back_when_a_join_is_killed_in_the_outage(self):
        """Nobody but the watchdog can restore a static address then; it leaves no process behind."""
        before = set(self.watchdogs())
        join = self.follow(*scene.FAST)
        self.assertTrue(join.until(lambda line: line["phase"] == "vswitch" and line["state"] == "waiting"), join.said())
        join.kill()
        self.assertFalse(self.address_is_there())
        self.assertTrue(set(self.watchdogs()) - before)
        scene.wait_until(self.address_is_there, 15, "the address did not come back")
        scene.wait_until(lambda: not set(self.watchdogs()) - before, 60, "the watchdog goes on")
        self.assert_joins("--verify", "node")
        self.assertFalse(set(self.watchdogs()) - before)
        self.reset()
        self.assert_bare()

    def test_half_a_join_is_undone(self):
        for phase in ("vswitch", "kubelet", "flanneld", "kube-proxy"):
            with self.subTest(phase):
                self.kill_join_at(phase, 0.3)
                self.reset()
                self.assert_bare()

    def test_join_is_killed_while_flanneld_is_started_again(self):
        join = self.follow_flanneld(scene.FAST)
        self.assertTrue(join.until(lambda line: line["phase"] == "flanneld" and line["state"] == "waiting"
                                   and "be started again" in line["message"]), join.said())
        join.kill()
        self.hns_is_well()
        self.assert_joins("--verify", "node")
        self.reset()
        self.assert_bare()

    def test_probe_pods_of_a_killed_join_are_removed(self):
        self.kill_join_at("verify", 2.0, ("--verify", "node"))
        self.assertIn("a", os.listdir(os.path.join(self.stage.host.drive, PROBES)))
        self.reset()
        self.assert_bare()

    def test_reset_is_killed_and_run_again(self):
        self.assert_joins(*scene.FAST)
        for seconds in (0.6, 1.0, 1.4, 1.8, 2.2):
            reset = scene.Following(self.stage, [scene.stage.PROGRAM, "reset", "--force"])
            time.sleep(seconds)
            reset.kill()
        self.reset()
        self.assert_bare()
