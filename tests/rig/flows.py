"""A wrong document makes a flow fail and a right one makes it pass: HNS documents, real packets.

Run by tests/suites/rig.sh. No part of winjoin takes part: what is proved here is that the rig tells
right from wrong.
"""
import concurrent.futures
import json
import socket
import sys
import types
import unittest

import fabric as fabrics
import faults
import netns
from flow_case import (CLUSTER, FlowCase, GATEWAY, POD_A, POD_B, SERVICES, SOURCE_VIP, SUBNET, nat,
                       reach, resolve)


def route_to(prefix):
    return {"Type": "SDNRoute", "Settings": {"DestinationPrefix": prefix, "NeedEncap": True}}


def to_own(node):
    return route_to(node + "/32")


class Overlay(FlowCase):
    def cluster(self, vni=4096, remote=True, host_route=True, **how):
        """A right overlay with one pod; the arguments make it wrong."""
        net = self.network(vni)
        if remote:
            self.remote(net, **how)
        if host_route:
            self.host_route(net)
        self.peer(net)
        return net

    def test_right_documents_carry_every_flow(self):
        net = self.cluster()
        a, _ = self.pod(net, POD_A), self.pod(net, POD_B)
        self.source_vip(net)
        self.balancer(fabrics.DNS_VIP, 53, 53, (fabrics.DNS_POD, fabrics.L1), protocol=17, net=net)
        self.both(a, POD_B, 80, "pod-" + POD_B)
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")
        self.both(a, fabrics.EXTERNAL_IP, 443, "ping")
        self.both(self.node.ns, POD_A, 80, "pod-" + POD_A)
        self.both(self.fabric.ns("l1-echo"), POD_A, 80, "pod-" + POD_A)
        self.assertEqual(resolve(a, "kubernetes"), fabrics.API_VIP)
        self.assertEqual(resolve(a, "echo.default.svc.cluster.local"), fabrics.ECHO_POD)
        self.assertEqual(resolve(a, fabrics.EXTERNAL_NAME), fabrics.EXTERNAL_IP)
        self.assertEqual(resolve(a, "nobody.default.svc.cluster.local"), "")

    def test_another_vni_carries_nothing(self):
        a = self.pod(self.cluster(vni=4097, host_route=False), POD_A)
        self.silent(a, fabrics.ECHO_POD, 80)

    def test_another_vni_in_the_remote_route_carries_nothing(self):
        net = self.cluster(remote=False)
        a = self.pod(net, POD_A)
        self.remote(net, vni=4100)
        self.silent(a, fabrics.ECHO_POD, 80)

    def test_no_remote_subnet_route_no_way(self):
        net = self.cluster(remote=False)
        a = self.pod(net, POD_A)
        self.silent(a, fabrics.ECHO_POD, 80)
        self.remote(net)
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")

    def test_wrong_provider_address_no_way(self):
        a = self.pod(self.cluster(host="10.0.0.99"), POD_A)
        self.silent(a, fabrics.ECHO_POD, 80)

    def test_wrong_router_mac_no_way(self):
        a = self.pod(self.cluster(mac="00-15-5d-00-00-99"), POD_A)
        self.silent(a, fabrics.ECHO_POD, 80)

    def test_wrong_gateway_leaves_only_neighbours(self):
        net = self.cluster()
        a, _ = self.pod(net, POD_A, gateway="10.244.1.9"), self.pod(net, POD_B)
        self.both(a, POD_B, 80, "pod-" + POD_B)
        self.silent(a, fabrics.ECHO_POD, 80)

    def test_without_outbound_nat_nothing_outside(self):
        net = self.cluster()
        a = self.pod(net, POD_A, policies=[SERVICES])
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")
        self.silent(a, fabrics.EXTERNAL_IP, 443)

    def test_without_exceptions_no_pods_elsewhere(self):
        a = self.pod(self.cluster(), POD_A, policies=[nat(), SERVICES])
        self.silent(a, fabrics.ECHO_POD, 80)
        self.both(a, fabrics.EXTERNAL_IP, 443, "ping")

    def test_an_exception_too_many_cuts_that_target_off(self):
        a = self.pod(self.cluster(), POD_A, policies=[nat(*CLUSTER, "192.0.2.0/24"), SERVICES])
        self.silent(a, fabrics.EXTERNAL_IP, 443)

    def test_service_needs_the_source_vip(self):
        net = self.cluster()
        a = self.pod(net, POD_A)
        self.balancer("10.96.7.7", 8000, 80, (fabrics.ECHO_POD, fabrics.L1), source="", net=net)
        self.assertIn(reach(a, "10.96.7.7", 8000), ("TimeoutError", "OSError"))

    def test_service_with_source_vip(self):
        net = self.cluster()
        a = self.pod(net, POD_A)
        self.source_vip(net)
        lb = self.balancer("10.96.7.7", 8000, 80, (fabrics.ECHO_POD, fabrics.L1), net=net)
        self.assertEqual(reach(a, "10.96.7.7", 8000), "l1-echo")
        result, out = self.node.hns("HcnDeleteLoadBalancer", "go", lb["ID"])
        self.assertEqual(result, 0, out)
        self.assertIn(reach(a, "10.96.7.7", 8000), ("TimeoutError", "OSError"))

    def test_source_vip_that_is_no_endpoint(self):
        net = self.cluster()
        a = self.pod(net, POD_A)
        self.balancer("10.96.7.7", 8000, 80, (fabrics.ECHO_POD, fabrics.L1), net=net)
        self.assertIn(reach(a, "10.96.7.7", 8000), ("TimeoutError", "OSError"))

    def test_service_needs_the_endpoints_route(self):
        net = self.cluster()
        a = self.pod(net, POD_A, policies=[nat(*CLUSTER)])
        self.source_vip(net)
        self.balancer("10.96.7.7", 8000, 80, (fabrics.ECHO_POD, fabrics.L1), net=net)
        self.assertIn(reach(a, "10.96.7.7", 8000), ("TimeoutError", "OSError"))

    def test_host_reaches_its_pods_by_the_host_route(self):
        net = self.cluster(host_route=False)
        self.pod(net, POD_A)
        self.silent(self.node.ns, POD_A, 80)
        self.host_route(net)
        self.both(self.node.ns, POD_A, 80, "pod-" + POD_A)

    def test_acl_blocks_one_port(self):
        block = {"Type": "ACL", "Settings": {"Protocols": "6", "Action": "Block",
                                             "Direction": "Out", "RemotePorts": "8080",
                                             "Priority": 100}}
        a = self.pod(self.cluster(), POD_A, policies=[nat(*CLUSTER), SERVICES, block])
        self.assertEqual(reach(a, fabrics.ECHO_POD, 80), "l1-echo")
        self.assertEqual(reach(a, fabrics.ECHO_POD, 8080), "TimeoutError")
        self.assertEqual(reach(a, fabrics.ECHO_POD, 8080, True), "l1-echo")

    def test_acls_have_a_direction_and_let_answers_pass(self):
        deny = [{"Type": "ACL", "Settings": {"Action": "Block", "Direction": "In",
                                             "Protocols": "256", "Priority": 65500}}]
        net = self.cluster()
        a = self.pod(net, POD_A, policies=[nat(*CLUSTER), SERVICES, *deny])
        self.pod(net, POD_B)
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")
        self.both(a, POD_B, 80, "pod-" + POD_B)
        for place in (self.node.ns, self.fabric.ns("l1-echo")):
            self.silent(place, POD_A, 80)

    def test_deleted_endpoint_takes_its_wire_along(self):
        net = self.cluster()
        a = self.pod(net, POD_A)
        ends = self.node.control({"op": "dump"})["endpoints"]
        result, out = self.node.hns("HcnDeleteEndpoint", "go", ends[0]["ID"])
        self.assertEqual(result, 0, out)
        self.assertNotIn("eth0", netns.ip(a, "link"))


class Faults(FlowCase):
    """What is broken from outside breaks the flows it names, and no others; lifted, all is well."""

    def setUp(self):
        super().setUp()
        net = self.network()
        self.remote(net)
        self.host_route(net)
        self.peer(net)
        self.a, self.b = self.pod(net, POD_A), self.pod(net, POD_B)
        self.source_vip(net)
        self.balancer(fabrics.DNS_VIP, 53, 53, (fabrics.DNS_POD, fabrics.L1), protocol=17, net=net)

    def seen(self):
        """Which of the flows pass now."""
        def large():
            return reach(self.a, POD_B, 80, payload=b"x" * 1400, seconds=0.5).startswith("pod")
        flows = {"pod": reach(self.a, POD_B, 80, seconds=0.5) == "pod-" + POD_B,
                 "large": large(),
                 "cross": reach(self.a, fabrics.ECHO_POD, 80, seconds=0.5) == "l1-echo",
                 "outside": reach(self.a, fabrics.EXTERNAL_IP, 443, seconds=0.5) == "ping",
                 "name": resolve(self.a, "kubernetes") == fabrics.API_VIP,
                 "outside name": resolve(self.a, fabrics.EXTERNAL_NAME) == fabrics.EXTERNAL_IP}
        return {name for name, passed in flows.items() if not passed}

    def check(self, name, *broken):
        fault = faults.FAULTS[name]
        stage = types.SimpleNamespace(fabric=self.fabric, cluster=None, host=self.node)
        fault.apply(stage)
        self.assertEqual(self.seen(), set(broken), name)
        fault.lift(stage)
        self.until(self.seen, set(), 12)  # a DNS server asks again only after a while

    def test_vni(self):
        self.check("vni", "cross", "name", "outside name")

    def test_udp_4789(self):
        self.check("udp-4789", "cross", "name", "outside name")

    def test_mtu(self):
        self.check("mtu", "large")

    def test_no_egress(self):
        self.check("no-egress", "outside", "outside name")

    def test_dns_forward(self):
        self.check("dns-forward", "outside name")

    def test_dns_down(self):
        self.check("dns-down", "name", "outside name")

    def test_dns_lies(self):
        self.check("dns-lies", "name", "outside name")

    def lost(self, name, *broken):
        """A fault that nobody but an agent or a join repairs."""
        faults.FAULTS[name].apply(types.SimpleNamespace(fabric=self.fabric, host=self.node))
        self.assertEqual(self.seen(), set(broken), name)

    def test_no_peer(self):
        self.lost("no-peer", "cross", "name", "outside name")

    def test_source_vip(self):
        self.lost("source-vip", "name", "outside name")

    def test_kubelet_port(self):
        self.fabric.daemon("kubelet", self.node.ns, [
            sys.executable, fabrics.HERE + "/echo.py", "--name", "kubelet", "10250"])
        self.await_echo(self.node.ns, 10250)
        self.assertEqual(reach(self.a, self.node.address, 10250), "kubelet")
        faults.FAULTS["kubelet-port"].apply(types.SimpleNamespace(fabric=self.fabric))
        self.assertEqual(reach(self.a, self.node.address, 10250), "TimeoutError")
        self.assertEqual(reach(self.fabric.ns("cp"), self.node.address, 10250), "kubelet")


class Bridge(FlowCase):
    """l2bridge, as flannel's host-gw sets it up: pods' gateway is base + 2 on the host."""
    mode, kind = "l2bridge", "L2Bridge"
    exceptions = [*CLUSTER, "10.0.0.0/24"]

    def cluster(self, endpoint=True, forwarding=True):
        net = self.network(name="cbr0")
        if endpoint:
            end = self.create("Endpoint", {"Name": "cbr0_ep", "HostComputeNetwork": net["ID"],
                                           "IpConfigurations": [{"IpAddress": SOURCE_VIP}]},
                              network=net["ID"])
            _, out = self.node.hns("HNSCall", "ssso", "POST", "/endpoints/%s/attach" % end["ID"],
                                   json.dumps({"SystemType": "Host", "CompartmentId": 1}))
            self.assertTrue(json.loads(out[0])["Success"], out)
        if forwarding:
            for row in self.node.net("adapters"):
                if row[0] == "adapter" and row[2].startswith("vEthernet"):
                    self.node.net("interface %s forwarding=1" % row[1])
        self.peer(net)
        return net

    def route(self, prefix=fabrics.L1_SUBNET, via=fabrics.L1):
        nic = [r[1] for r in self.node.net("adapters") if r[2] == "vEthernet (Ethernet)"][0]
        self.node.net("route-add %s %s %s" % (nic, prefix.replace("/", " "), via))

    def pod_(self, net, address=POD_A, exceptions=None, own=True):
        """With the policies that winjoin gives a bridge's pods; exceptions: another list."""
        return self.pod(net, address, gateway=SOURCE_VIP, policies=[
            nat(*(exceptions or self.exceptions)), SERVICES,
            *([to_own(self.node.address)] if own else [])])

    def test_right_documents_carry_every_flow(self):
        net = self.cluster()
        self.route()
        a, _ = self.pod_(net), self.pod_(net, POD_B)
        self.balancer("10.96.7.7", 8000, 80, (fabrics.ECHO_POD, ""), source="", net=net)
        self.both(a, POD_B, 80, "pod-" + POD_B)
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")
        self.both(a, fabrics.EXTERNAL_IP, 443, "ping")
        self.both(self.node.ns, POD_A, 80, "pod-" + POD_A)
        self.both(self.fabric.ns("l1-echo"), POD_A, 80, "pod-" + POD_A)
        self.assertEqual(reach(a, "10.96.7.7", 8000), "l1-echo")

    def test_faults(self):
        net = self.cluster()
        self.route()
        a = self.pod_(net)
        stage = types.SimpleNamespace(fabric=self.fabric, host=self.node)
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")
        faults.FAULTS["no-way-back"].apply(stage)
        self.silent(a, fabrics.ECHO_POD, 80)
        faults.FAULTS["no-way-back"].lift(stage)
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")
        faults.FAULTS["no-forwarding"].apply(stage)  # a join repairs it
        self.silent(a, fabrics.ECHO_POD, 80)

    def test_no_route_to_the_other_node(self):
        a = self.pod_(self.cluster())
        self.silent(a, fabrics.ECHO_POD, 80)
        self.route()
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")

    def test_the_own_node_needs_a_route_of_its_own(self):
        net = self.cluster()
        a, b = self.pod_(net, own=False), self.pod_(net, POD_B)
        self.fabric.daemon("kubelet", self.node.ns, [
            sys.executable, fabrics.HERE + "/echo.py", "--name", "kubelet", "10250"])
        self.await_echo(self.node.ns, 10250)
        self.both(b, self.node.address, 10250, "kubelet")
        self.silent(a, self.node.address, 10250)
        self.both(self.node.ns, POD_A, 80, "pod-" + POD_A)  # answers go back

    def test_an_excepted_network_sees_the_pods_own_address(self):
        net = self.cluster()
        a, b = self.pod_(net), self.pod_(net, POD_B, exceptions=CLUSTER)
        for ns, seen in ((a, POD_A), (b, self.node.address)):
            with netns.within(self.fabric.ns("l1"), socket.create_server, (fabrics.L1, 9999)) as end:
                end.settimeout(5)
                with netns.within(ns, socket.create_connection, (fabrics.L1, 9999), 5):
                    conn, peer = end.accept()
                    conn.close()
            self.assertEqual(peer[0], seen)

    def test_no_host_endpoint_no_gateway(self):
        net = self.cluster(endpoint=False)
        self.route()
        a, _ = self.pod_(net), self.pod_(net, POD_B)
        self.both(a, POD_B, 80, "pod-" + POD_B)
        self.silent(a, fabrics.ECHO_POD, 80)
        self.silent(self.node.ns, POD_A, 80)

    def test_no_forwarding_no_way_out(self):
        net = self.cluster(forwarding=False)
        self.route()
        a = self.pod_(net)
        self.silent(a, fabrics.ECHO_POD, 80)
        self.silent(a, fabrics.EXTERNAL_IP, 443)


class DualStack(FlowCase):
    """l2bridge with both families, as winjoin and sdnbridge set it up."""
    mode, kind, dual = "l2bridge", "L2Bridge", True
    pods6, gateway6, a6, b6 = ("fd00:10:244:1::/64", "fd00:10:244:1::2", "fd00:10:244:1::5",
                               "fd00:10:244:1::6")

    def setUp(self):
        super().setUp()
        subnets = [{"IpAddressPrefix": prefix, "Routes": [{"NextHop": hop, "DestinationPrefix": to}]}
                   for prefix, hop, to in ((SUBNET, GATEWAY, "0.0.0.0/0"),
                                           (self.pods6, "fd00:10:244:1::1", "::/0"))]
        self.net = self.create("Network", {
            "Name": "cbr0", "Type": "L2Bridge", "Ipams": [{"Type": "Static", "Subnets": subnets}],
            "Policies": [{"Type": "NetAdapterName",
                          "Settings": {"NetworkAdapterName": "Ethernet"}}]})
        end = self.create("Endpoint", {
            "Name": "cbr0_ep", "HostComputeNetwork": self.net["ID"], "IpConfigurations": [
                {"IpAddress": SOURCE_VIP}, {"IpAddress": self.gateway6}]}, network=self.net["ID"])
        self.node.hns("HNSCall", "ssso", "POST", "/endpoints/%s/attach" % end["ID"],
                      json.dumps({"SystemType": "Host", "CompartmentId": 1}))
        self.forward("forwarding=1 forwarding6=1")
        nic = [r[1] for r in self.node.net("adapters") if r[2] == "vEthernet (Ethernet)"][0]
        for prefix, via in ((fabrics.L1_SUBNET, fabrics.L1),
                            (fabrics.L1_SUBNET6, fabrics.six(fabrics.L1))):
            self.node.net("route-add %s %s %s" % (nic, prefix.replace("/", " "), via))
        self.fabric.peer_add(SUBNET, self.node.address, "")
        self.fabric.peer_add(self.pods6, fabrics.six(self.node.address), "")

    def forward(self, words):
        for row in self.node.net("adapters"):
            if row[0] == "adapter" and row[2].startswith("vEthernet"):
                self.node.net("interface %s %s" % (row[1], words))

    def pod_(self, address, address6, own=True):
        own6 = fabrics.six(self.node.address)
        return self.pod(self.net, address, policies=[
            nat(*CLUSTER, "10.0.0.0/24"), nat(fabrics.POD_RANGE6, fabrics.SERVICE_RANGE6, "fd00:200::/64"),
            SERVICES, route_to(fabrics.SERVICE_RANGE6), to_own(self.node.address),
            *([route_to(own6 + "/128")] if own else [])],
            IpConfigurations=[{"IpAddress": address}, {"IpAddress": address6}],
            Routes=[{"NextHop": SOURCE_VIP, "DestinationPrefix": "0.0.0.0/0"},
                    {"NextHop": self.gateway6, "DestinationPrefix": "::/0"}])

    def both(self, ns, address, port, want, **more):
        """The first question for an IPv6 neighbor may cost a second."""
        super().both(ns, address, port, want, seconds=5, **more)

    def test_right_documents_carry_every_flow(self):
        a, _ = self.pod_(POD_A, self.a6), self.pod_(POD_B, self.b6, own=False)
        self.fabric.daemon("kubelet", self.node.ns, [
            sys.executable, fabrics.HERE + "/echo.py", "--name", "kubelet", "10250"])
        self.await_echo(self.node.ns, 10250)
        for other, far, mine, node in (
                (POD_B, fabrics.ECHO_POD, POD_A, self.node.address),
                (self.b6, fabrics.ECHO_POD6, self.a6, fabrics.six(self.node.address))):
            self.both(a, other, 80, "pod-" + POD_B)
            self.both(a, far, 80, "l1-echo")
            self.both(a, node, 10250, "kubelet")
            self.both(self.node.ns, mine, 80, "pod-" + POD_A)
            self.both(self.fabric.ns("l1-echo"), mine, 80, "pod-" + POD_A)

    def test_a_service_of_ipv6(self):
        a = self.pod_(POD_A, self.a6)
        end = self.create("Endpoint", {
            "HostComputeNetwork": self.net["ID"], "Flags": 1, "MacAddress": "02-11-20-00-00-00",
            "IpConfigurations": [{"IpAddress": fabrics.ECHO_POD6}]}, network=self.net["ID"])
        self.create("LoadBalancer", {
            "HostComputeEndpoints": [end["ID"]], "FrontendVIPs": ["fd00:10:96::7"], "Flags": 2,
            "PortMappings": [{"Protocol": 6, "InternalPort": 80, "ExternalPort": 8000}]})
        self.assertEqual(reach(a, "fd00:10:96::7", 8000, seconds=5), "l1-echo")

    def test_each_family_has_its_own_faults(self):
        a = self.pod_(POD_A, self.a6, own=False)
        self.silent(a, fabrics.six(self.node.address), 10250)
        self.forward("forwarding6=0")
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")
        self.silent(a, fabrics.ECHO_POD6, 80)
        self.forward("forwarding6=1")
        self.both(a, fabrics.ECHO_POD6, 80, "l1-echo")
        self.fabric.peer_del(self.pods6)
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")
        self.silent(a, fabrics.ECHO_POD6, 80)


class Switch(FlowCase):
    """The external switch takes the uplink away for a while, and a static address for good."""
    outage_ms = 400

    def address(self):
        return [r[2] for r in self.node.net("adapters")
                if r[0] == "address" and r[2] != "127.0.0.1"]

    def test_static_address_is_lost_until_somebody_sets_it(self):
        self.assertEqual(reach(self.node.ns, fabrics.EXTERNAL_IP, 443), "ping")
        self.network()
        # Away, or already back with the address that Windows gives itself: never the static one.
        self.assertNotIn(self.node.address, self.address())
        self.assertNotEqual(reach(self.node.ns, fabrics.EXTERNAL_IP, 443, seconds=0.2), "ping")
        self.until(self.address, ["169.254.83.107"])
        nic = [r[1] for r in self.node.net("adapters") if r[2] == "vEthernet (Ethernet)"][0]
        self.node.net("address-add %s %s 24" % (nic, self.node.address))
        self.node.net("route-add %s 0.0.0.0 0 %s" % (nic, fabrics.ROUTER))
        self.assertEqual(self.address(), [self.node.address])
        self.assertEqual(reach(self.node.ns, fabrics.EXTERNAL_IP, 443), "ping")

    def test_the_last_network_gives_the_adapter_back(self):
        before = self.node.net("adapters")
        net = self.network()
        self.until(lambda: bool(self.address()), True)
        result, out = self.node.hns("HcnDeleteNetwork", "go", net["ID"])
        self.assertEqual(result, 0, out)
        self.until(lambda: self.node.net("adapters"), before)
        self.assertEqual(reach(self.node.ns, fabrics.EXTERNAL_IP, 443), "ping")


class Dhcp(Switch):
    """An address from a DHCP server comes back by itself."""
    origin = "dhcp"

    def test_static_address_is_lost_until_somebody_sets_it(self):
        self.network()
        # Away, or on a slow machine back already; never one that Windows gives itself.
        self.assertIn(self.address(), ([], [self.node.address]))
        self.until(self.address, [self.node.address])
        self.assertEqual(reach(self.node.ns, fabrics.EXTERNAL_IP, 443), "ping")


def cases(suite):
    for one in suite:
        yield from cases(one) if isinstance(one, unittest.TestSuite) else [one]


def run_one(case):
    result = unittest.TestResult()
    case.run(result)
    wrong = [text for _, text in result.failures + result.errors]
    word = "FAIL" if wrong else "skip" if result.skipped else "ok"
    print("%-4s %s%s" % (word, case.id().replace("__main__.", ""),
                         "".join("\n" + text for text in wrong)), flush=True)
    return word


def main():
    """Four tests at a time: they mostly wait for packets that must not come."""
    load = unittest.defaultTestLoader
    module = sys.modules["__main__"]
    suite = load.loadTestsFromNames(sys.argv[1:], module) if sys.argv[1:] else \
        load.loadTestsFromModule(module)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        words = list(pool.map(run_one, cases(suite)))
    print("%d passed, %d failed, %d skipped" % tuple(map(words.count, ("ok", "FAIL", "skip"))))
    return 1 if "FAIL" in words else 0


if __name__ == "__main__":
    sys.exit(main())
