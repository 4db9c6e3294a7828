"""A cluster of both families: pods with an address of each are planned, made, measured, found again,
kept and taken back."""
import kept
import scene
from joins import LIVING
from scene import netns, snapshot, stage

PORTS = 5  # of Services: kubernetes has one, kube-dns two of each family


class DualStack(kept.Keeping):
    """The life of a node, told in order: each test needs the one before."""
    mode, dual, origin = "l2bridge", True, "dhcp"
    words_dual = ("--network-plugin", "sdnbridge", "--verify", "none", "-o", "json")

    def state(self):
        return self.stage.host.control({"op": "dump"})

    def stands(self):
        """The pod network, and all that kube-proxy makes."""
        state = self.state()
        return [n for n in state["networks"] if n["Name"] == "cbr0"] and \
            len(state["loadBalancers"]) == PORTS

    def routes(self):
        """What the fabric's administrator routes: pod prefix, the node's address of its family."""
        node = self.stage.node(stage.NODE)
        addresses = [a["address"] for a in node["status"]["addresses"] if a["type"] == "InternalIP"]
        return list(zip(node["spec"]["podCIDRs"], addresses))

    def test_1_join(self):
        self.assert_joins(*self.words_dual)
        (pods, address), (pods6, address6) = self.routes()
        self.assertEqual(address6, stage.fabrics.six(address))
        found = {d["Name"]: d for d in self.state()["networks"]}
        self.assertEqual([s["IpAddressPrefix"] for s in found["cbr0"]["Ipams"][0]["Subnets"]],
                         [pods, pods6])
        for subnet, host in self.routes():
            self.stage.fabric.peer_add(subnet, host, "")
            netns.ip(self.stage.fabric.ns("cp"), "route replace", subnet, "via", host)
        self.until(self.stands, "kube-proxy is ready")

    def test_2_the_same_join_again_changes_nothing(self):
        before = self.stage.snapshot()
        self.assert_joins(*self.words_dual)
        self.until(self.stands, "kube-proxy is ready")
        self.assertEqual([line for line in snapshot.compare(before, self.stage.snapshot())
                          if not line.startswith(LIVING)], [])

    def assert_flows(self, what):
        code, report = self.stage.document("diag", timeout=170)
        six = {(f["id"], f["protocol"]): f["outcome"] for f in report["flows"]
               if f["family"] == "IPv6"}
        wanted = {(flow, protocol): "pass" for protocol in ("TCP", "UDP")
                  for flow in ("pod-to-pod-ip", "pod-to-pod-name", "pod-to-service-ip", "pod-to-service-fqdn",
                               "node-to-pod", "pod-to-node")}
        self.assertEqual(six, wanted, report)
        self.assertEqual((code, report["causes"]), (0, []), what)

    def test_3_flows_of_both_families(self):
        self.assert_flows("after the join")

        nic = [r[1] for r in self.stage.host.net("adapters") if r[2] == "vEthernet (Ethernet)"][0]
        self.stage.host.net("interface %s forwarding6=0" % nic)
        code, report = self.stage.document("diag", timeout=170)
        self.stage.host.net("interface %s forwarding6=1" % nic)
        self.assertEqual((code, [(c["id"], c["cells"]) for c in report["causes"]]), (5, [
            ("IP6-FWD", ["pod-to-service-ip/tcp/ipv6", "pod-to-service-ip/udp/ipv6",
                         "pod-to-service-fqdn/tcp/ipv6", "pod-to-service-fqdn/udp/ipv6"])]))

    def test_4_hns_is_restarted(self):
        self.stage.host.restart_hns()
        self.until(self.stands, "HNS was restarted")
        self.assert_flows("HNS was restarted")

    def test_5_windows_is_restarted(self):
        self.stage.host.reboot()
        self.until(self.stands, "Windows was restarted")
        self.assert_flows("Windows was restarted")

    def test_6_reset(self):
        for subnet, _ in self.routes():
            self.stage.fabric.peer_del(subnet)
            netns.ip(self.stage.fabric.ns("cp"), "route del", subnet)
        self.reset()
        self.assert_bare()
