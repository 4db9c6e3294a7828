"""HNS objects made manually on a played node, with real packets: what tests of the rig's own network share."""
import json
import os
import socket
import subprocess
import sys
import time
import unittest

import fabric as fabrics
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
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family, kind) as sock:
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


class FlowCase(unittest.TestCase):
    """One fabric, one node and two pods for each test."""
    mode, kind, outage_ms, origin, dual = "overlay", "Overlay", 0, "static", False

    def setUp(self):
        try:
            self.fabric = fabrics.Fabric(self.mode, dual=self.dual).__enter__()
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
