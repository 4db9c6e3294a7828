"""A wrong document makes a flow fail and a right one makes it pass: HNS documents, real packets.

Run by tests/suites/rig.sh. No part of winjoin takes part: what is proved here is that the rig tells
right from wrong.
"""
import concurrent.futures
import json
import os
import socket
import subprocess
import sys
import time
import types
import unittest

import fabric as fabrics
import faults
import netns
import winhost

V2 = {"SchemaVersion": {"Major": 2, "Minor": 0}}
ZERO = "00000000-0000-0000-0000-000000000000"
SUBNET, GATEWAY, SOURCE_VIP = "10.244.1.0/24", "10.244.1.1", "10.244.1.2"
POD_A, POD_B = "10.244.1.5", "10.244.1.6"
CLUSTER = ["10.244.0.0/16", "10.96.0.0/12"]
SERVICES = {"Type": "SDNRoute", "Settings": {"DestinationPrefix": "10.96.0.0/12",
                                             "NeedEncap": True}}


def nat(*exceptions):
    return {"Type": "OutBoundNAT", "Settings": {"Exceptions": list(exceptions)}}


def reach(ns, address, port, udp=False, seconds=1.0, payload=b"ping"):
    """What comes back from there: the first word of the answer, or the failure's name."""
    def talk():
        kind = socket.SOCK_DGRAM if udp else socket.SOCK_STREAM
        with socket.socket(socket.AF_INET, kind) as sock:
            sock.settimeout(seconds)
            try:
                sock.connect((address, port))
                sock.send(payload)
                return sock.recv(64).decode().split()[0]
            except OSError as why:
                return type(why).__name__
    return netns.within(ns, talk)


def resolve(ns, name):
    """The address of a name as the namespace's resolver finds it; "" when it does not."""
    done = subprocess.run(netns.command(ns, ["getent", "ahostsv4", name]), capture_output=True,
                          text=True, timeout=30, check=False,
                          env={**os.environ, "RES_OPTIONS": "timeout:1 attempts:1"})
    return done.stdout.split()[0] if done.stdout else ""


class Flows(unittest.TestCase):
    """One fabric, one node and two pods for each test."""
    mode, kind, outage_ms, origin = "overlay", "Overlay", 0, "static"

    def setUp(self):
        try:
            self.fabric = fabrics.Fabric(self.mode).__enter__()
        except netns.Missing as why:
            self.skipTest(str(why))
        self.addCleanup(self.fabric.close)
        self.node = winhost.Node(self.fabric, origin=self.origin, outage_ms=self.outage_ms)
        self.addCleanup(self.node.close)
        self.node.start()

    # ---- documents ----------------------------------------------------------------------------

    def create(self, what, document, *, network=None):
        """Creates an object through the export's own name; answers its document."""
        lead = [self.open("Network", network)] if network else []
        result, out = self.node.hns("HcnCreate" + what, "h" * len(lead) + "gsHo", *lead, ZERO,
                                    json.dumps({**V2, **document}))
        self.assertEqual(result, 0, out[-1])
        return self.query(what, out[0])

    def open(self, what, ident):
        result, out = self.node.hns("HcnOpen" + what, "gHo", ident)
        self.assertEqual(result, 0, out[-1])
        return out[0]

    def query(self, what, handle):
        result, out = self.node.hns("HcnQuery%sProperties" % what, "hsoo", handle, json.dumps(V2))
        self.assertEqual(result, 0, out[-1])
        return json.loads(out[0])

    def modify(self, what, ident, resource, request, settings):
        result, out = self.node.hns("HcnModify" + what, "hso", self.open(what, ident), json.dumps(
            {"ResourceType": resource, "RequestType": request, "Settings": settings}))
        self.assertEqual(result, 0, out[-1])

    def network(self, vni=4096, name="flannel.4096", policies=()):
        subnet = {"IpAddressPrefix": SUBNET,
                  "Routes": [{"NextHop": GATEWAY, "DestinationPrefix": "0.0.0.0/0"}]}
        if self.kind == "Overlay":
            subnet["Policies"] = [{"Type": "VSID", "Settings": {"IsolationId": vni}}]
        return self.create("Network", {
            "Name": name, "Type": self.kind, "Ipams": [{"Type": "Static", "Subnets": [subnet]}],
            "Policies": [{"Type": "NetAdapterName",
                          "Settings": {"NetworkAdapterName": "Ethernet"}}, *policies]})

    def remote(self, net, vni=4096, host=fabrics.L1, mac=fabrics.L1_MAC):
        self.modify("Network", net["ID"], "Policy", "Add", {"Policies": [{
            "Type": "RemoteSubnetRoute",
            "Settings": {"DestinationPrefix": fabrics.L1_SUBNET, "IsolationId": vni,
                         "ProviderAddress": host, "DistributedRouterMacAddress": mac}}]})

    def host_route(self, net):
        self.modify("Network", net["ID"], "Policy", "Add",
                    {"Policies": [{"Type": "HostRoute", "Settings": {}}]})

    def pod(self, net, address, policies=None, gateway=GATEWAY, **more):
        """A pod with an echo server in it, as a CNI plugin would connect it; its namespace."""
        space = self.create("Namespace", {"Type": "Host"})["ID"]
        ns = self.node.pod(space)
        policies = [nat(*CLUSTER), SERVICES] if policies is None else policies
        end = self.create("Endpoint", {
            "Name": "pod_" + address, "HostComputeNetwork": net["ID"], "Policies": policies,
            "IpConfigurations": [{"IpAddress": address}],
            "Routes": [{"NextHop": gateway, "DestinationPrefix": "0.0.0.0/0"}],
            "Dns": {"ServerList": [fabrics.DNS_VIP], "Search": ["default.svc.cluster.local",
                                                                "svc.cluster.local"]},
            **more}, network=net["ID"])
        self.modify("Namespace", space, "Endpoint", "Add", {"EndpointId": end["ID"]})
        self.fabric.daemon("pod-" + address, ns, [sys.executable, fabrics.HERE + "/echo.py",
                                                  "--name", "pod-" + address, "80"])
        self.await_echo(ns)
        return ns

    def await_echo(self, ns, port=80):
        self.assertTrue(fabrics.listens(ns, "127.0.0.1", port))

    def peer(self, net):
        """The Linux node hears of this one, as its agent would read it from the annotations."""
        mac = [p["Settings"]["Address"] for p in net["Policies"] if p["Type"] == "DrMacAddress"]
        self.fabric.peer_add(SUBNET, self.node.address, (mac or [""])[0])

    def balancer(self, vip, port, inner, *backends, source=SOURCE_VIP, protocol=6, net=None):
        ends = []
        for address, provider in backends:
            policies = [{"Type": "ProviderAddress", "Settings": {"ProviderAddress": provider}}]
            ends.append(self.create("Endpoint", {
                "HostComputeNetwork": net["ID"], "IpConfigurations": [{"IpAddress": address}],
                "MacAddress": "02-11-%02x-%02x-%02x-%02x" % tuple(map(int, address.split("."))),
                "Flags": 1, "Policies": policies if self.kind == "Overlay" else []},
                network=net["ID"])["ID"])
        return self.create("LoadBalancer", {
            "HostComputeEndpoints": ends, "FrontendVIPs": [vip],
            **({"SourceVIP": source} if source else {}),
            "PortMappings": [{"Protocol": protocol, "InternalPort": inner, "ExternalPort": port}]})

    def source_vip(self, net):
        self.create("Endpoint", {"HostComputeNetwork": net["ID"],
                                 "IpConfigurations": [{"IpAddress": SOURCE_VIP}]},
                    network=net["ID"])

    def until(self, question, wanted, seconds=5):
        """Waits for it, and fails with the last answer."""
        end = time.monotonic() + seconds
        while (last := question()) != wanted and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(last, wanted)

    def both(self, ns, address, port, want, **more):
        """TCP and UDP alike: what comes back from there."""
        self.assertEqual((reach(ns, address, port, **more), reach(ns, address, port, True, **more)),
                         (want, want))

    def silent(self, ns, address, port):
        for udp in (False, True):
            got = reach(ns, address, port, udp, 0.6)
            self.assertIn(got, ("TimeoutError", "OSError", "ConnectionRefusedError"))


class Overlay(Flows):
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


class Faults(Flows):
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
        fault.lay(stage)
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
        """A fault that nobody but an agent or a join mends."""
        faults.FAULTS[name].lay(types.SimpleNamespace(fabric=self.fabric, host=self.node))
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
        faults.FAULTS["kubelet-port"].lay(types.SimpleNamespace(fabric=self.fabric))
        self.assertEqual(reach(self.a, self.node.address, 10250), "TimeoutError")
        self.assertEqual(reach(self.fabric.ns("cp"), self.node.address, 10250), "kubelet")


class Bridge(Flows):
    """l2bridge, as flannel's host-gw lays it: pods' gateway is base + 2 on the host."""
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

    def pod_(self, net, address=POD_A):
        return self.pod(net, address, gateway=SOURCE_VIP,
                        policies=[nat(*self.exceptions), SERVICES])

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
        faults.FAULTS["no-way-back"].lay(stage)
        self.silent(a, fabrics.ECHO_POD, 80)
        faults.FAULTS["no-way-back"].lift(stage)
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")
        faults.FAULTS["no-forwarding"].lay(stage)  # a join mends it
        self.silent(a, fabrics.ECHO_POD, 80)

    def test_no_route_to_the_other_node(self):
        a = self.pod_(self.cluster())
        self.silent(a, fabrics.ECHO_POD, 80)
        self.route()
        self.both(a, fabrics.ECHO_POD, 80, "l1-echo")

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


class Switch(Flows):
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
        self.assertEqual(self.address(), [])
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
