"""Joins of clusters whose network is a DaemonSet's: found, refused where the call says otherwise, waited for, proved
with the agent's own network and kube-proxy, and left to the agent by reset."""
import json
import os

import scene  # first: it finds the rig
import hostprocess
from scene import netns, snapshot, stage

CALICO, ANTREA = ("calico-system", "calico-node-windows"), ("kube-system", "antrea-agent-windows")
PROXY = ("kube-system", "kube-proxy-windows")


class Found(scene.Scene):
    """What is the same of all agents."""
    agent_words = ("--network-plugin", "external", "--verify", "none", "-o", "json")
    windows = None  # a service of Windows' own that was made for the test
    proxy = None  # kube-proxy's process

    def daemon_set(self, name_space, name, **variables):
        path = "/apis/apps/v1/namespaces/%s/daemonsets" % name_space
        self.stage.cluster.call("POST", path, {
            "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name}, "spec": {"template": {"spec": {
                "containers": [{"name": "c", "env": [{"name": k, "value": v} for k, v in variables.items()]}]}}}})
        self.addCleanup(self.stage.cluster.call, "DELETE", path + "/" + name)

    def strict_affinity(self):
        """Calico's IPAM gives Windows nodes addresses only with it."""
        path = "/apis/crd.projectcalico.org/v1/ipamconfigs"
        self.stage.cluster.call("POST", path, {"apiVersion": "crd.projectcalico.org/v1", "kind": "IPAMConfig",
                                               "metadata": {"name": "default"}, "spec": {"strictAffinity": True}})
        self.addCleanup(self.stage.cluster.call, "DELETE", path + "/default")

    def plugin(self, name):
        """The CNI configuration that winjoin plans for this plugin: it plays the agent's own."""
        done = self.stage.join("--network-plugin", name, "--pod-cidr", "10.244.1.0/24", "--dry-run", "-o", "json")
        self.assert_code(done, 0)
        self.stage.host.put(os.path.join(stage.STANDINS, name + ".exe"), "C:\\opt\\cni\\bin\\%s.exe" % name)
        self.stage.host.put(os.path.join(stage.STANDINS, "host-local.exe"), "C:\\opt\\cni\\bin\\host-local.exe")
        return json.loads(done.stdout)["network"]["cni"][0]["content"]

    def service(self, name):
        """One of Windows that a feature brings."""
        self.windows = name
        self.service_control("create", name, "binPath=", "C:\\Windows\\System32\\svchost.exe")

    def service_control(self, *words):
        self.stage.host.run(["C:\\Windows\\System32\\sc.exe", *words], timeout=30)

    def agent_words_of(self):
        return [*self.words(network_mode=None), *self.agent_words]

    def refused(self, code, words, *said):
        done = self.stage.host.run(words, timeout=120)
        self.assert_code(done, code)
        for text in said:
            self.assertIn(text, done.stderr + done.stdout)

    def follow_agent(self):
        following = scene.Following(self.stage, self.agent_words_of())
        self.addCleanup(following.kill)
        return following

    def waits(self, join, text):
        line = join.until(lambda line: line["state"] == "waiting" and text in line["message"])
        self.assertTrue(line, join.said())

    def joins(self, agent, title, cni):
        """A join that waits for the agent's file, then for its network; pods are kept away until then."""
        join = self.follow_agent()
        self.waits(join, "for %s to write a file in C:\\etc\\cni\\net.d" % title)
        self.assertEqual(self.network_condition(), ["True"])
        agent.start()
        self.waits(join, "for %s to make its HNS network" % title)
        self.assertEqual(self.network_condition(), ["True"])
        agent.network()
        self.assertEqual(join.wait(), 0, join.said())
        self.assertEqual((self.ready(), self.network_condition()), (["True"], ["False"]))
        self.assertIn("made by %s: %s in " % (title, cni), join.said())

    def kube_proxy(self, *words):
        """The DaemonSet's, with the agent's network."""
        self.stage.host.put(os.path.join(stage.STANDINS, "kube-proxy.exe"), "C:\\hpc\\kube-proxy.exe")
        proxy = self.stage.host.spawn([
            "C:\\hpc\\kube-proxy.exe", "--kubeconfig=C:\\etc\\kubernetes\\kubelet.conf", "--proxy-mode=kernelspace",
            "--hostname-override=" + stage.NODE, "--bind-address=" + self.stage.host.address, *words])
        self.addCleanup(self.end, proxy)
        self.proxy = proxy

    @staticmethod
    def end(program):
        program.kill()
        program.wait()

    def flows(self):
        code, report = self.stage.document("diag")
        self.assertEqual((code, report["causes"]), (0, []), report)
        self.assertEqual({f["outcome"] for f in report["flows"]}, {"pass"}, report["flows"])

    def leaves(self, agent, *names):
        """Reset takes back the join and leaves the agent's part, which it names."""
        done = self.reset()
        self.assertIn("left: ", done.stderr)
        self.assertLessEqual(set(names), {n["Name"] for n in agent.networks()})
        if self.proxy:
            self.end(self.proxy)
        agent.remove()
        if self.windows:
            self.service_control("delete", self.windows)
        for folder in ("C:\\hpc", "C:\\opt", "C:\\etc\\cni", "C:\\var"):
            self.stage.host.run(["cmd.exe", "/c", "rmdir", "/s", "/q", folder], timeout=30)
        changed = snapshot.compare(self.bare, self.stage.snapshot())
        self.assertEqual([c for c in changed if not c.startswith(("adapters: ", "routes: "))], [])


class CalicoVxlan(Found):
    def test_calico_vxlan(self):
        plugin = self.plugin("win-overlay")
        self.strict_affinity()
        self.daemon_set(*CALICO, CALICO_NETWORKING_BACKEND="vxlan", VXLAN_VNI="4096")
        self.daemon_set(*PROXY)
        self.refused(3, self.words(network_mode=None), "network plugin 'flannel' does not fit: DaemonSet "
                     "calico-system/calico-node-windows makes the pod network of Windows nodes (Calico)")
        self.refused(3, [*self.words(network_mode="l2bridge"), *self.agent_words],
                     "network mode 'l2bridge' does not fit: the cluster's Calico uses vxlan, which is mode 'overlay'")
        agent = hostprocess.Calico(self.stage.host, "10.244.1.0/24", "vxlan", plugin)
        self.joins(agent, "Calico", "win-overlay")
        self.stage.fabric.peer_add("10.244.1.0/24", self.stage.host.address, agent.router(agent.named("Calico")["ID"]))
        self.kube_proxy("--network-name=Calico", "--source-vip=10.244.1.2")
        self.flows()
        self.stage.fabric.peer_del("10.244.1.0/24")
        self.leaves(agent, "External", "Calico")


class CalicoBgp(Found):
    mode = "l2bridge"

    def test_calico_bgp(self):
        plugin = self.plugin("win-bridge")
        self.strict_affinity()
        self.daemon_set(*CALICO, CALICO_NETWORKING_BACKEND="windows-bgp")
        self.daemon_set(*PROXY)
        self.refused(2, self.agent_words_of(), "[NetworkAgent]: Calico's BGP needs Routing and Remote Access")
        self.service("RemoteAccess")
        agent = hostprocess.Calico(self.stage.host, "10.244.1.0/24", "windows-bgp", plugin)
        self.joins(agent, "Calico", "win-bridge")
        control_plane = self.stage.fabric.ns("cp")
        self.stage.fabric.peer_add("10.244.1.0/24", self.stage.host.address, "")
        netns.ip(control_plane, "route replace 10.244.1.0/24 via", self.stage.host.address)
        self.kube_proxy("--network-name=Calico", "--root-hnsendpoint-name=Calico_ep")
        self.flows()
        self.stage.fabric.peer_del("10.244.1.0/24")
        netns.ip(control_plane, "route del 10.244.1.0/24")
        self.leaves(agent, "External", "Calico")


class Antrea(Found):
    def test_antrea(self):
        self.daemon_set(*ANTREA)
        self.refused(2, self.agent_words_of(), "[NetworkAgent]: Antrea's Open vSwitch needs the Windows feature Hyper-V")
        self.service("vmms")
        agent = hostprocess.Antrea(self.stage.host, "10.244.1.0/24")
        self.joins(agent, "Antrea", "antrea")
        self.leaves(agent, "antrea-hnsnetwork")
