"""The network agents of a cluster that run in HostProcess pods: what Calico's and Antrea's agents are documented
to call and to write on a Windows node (node/windows-packaging of Calico, pkg/agent of Antrea)."""
import ipaddress
import json
import os

import fabric as fabrics

OVS_EXTENSION = "583CC151-73EC-4A6A-8B47-578297AD7623"


class Failed(Exception):
    pass


class Agent:
    """On a host; block: its pods' prefix."""

    def __init__(self, host, block):
        self.host, self.block = host, ipaddress.ip_network(block)

    def v1(self, method, path, body=None):
        result, out = self.host.hns("HNSCall", "ssso", method, path, json.dumps(body) if body else "")
        answer = json.loads(out[0]) if not result else {}
        if not answer.get("Success"):
            raise Failed("%s %s: 0x%08x %s" % (method, path, result & 0xffffffff, out))
        return answer.get("Output")

    def networks(self):
        return self.v1("GET", "/networks/") or []

    def named(self, name):
        return next((n for n in self.networks() if n["Name"] == name), None)

    def open(self, network):
        result, out = self.host.hns("HcnOpenNetwork", "gHo", network)
        if result:
            raise Failed("HcnOpenNetwork: 0x%08x %s" % (result & 0xffffffff, out))
        return out[0]

    def router(self, network):
        """The MAC address of an overlay network's router, which others send to."""
        result, out = self.host.hns("HcnQueryNetworkProperties", "hsoo", self.open(network),
                                    json.dumps({"SchemaVersion": {"Major": 2, "Minor": 0}}))
        policies = [] if result else json.loads(out[0]).get("Policies", [])
        found = [p["Settings"]["Address"] for p in policies if p["Type"] == "DrMacAddress"]
        if not found:
            raise Failed("no DrMacAddress: 0x%08x %s" % (result & 0xffffffff, out))
        return found[0]

    def remove(self):
        """As its clean-up does: every network but nat, and kube-proxy's load balancers."""
        for balancer in self.host.control({"op": "dump"})["loadBalancers"]:
            self.host.hns("HcnDeleteLoadBalancer", "go", balancer["ID"])
        for network in self.networks():
            if network["Type"].lower() != "nat":
                self.v1("DELETE", "/networks/" + network["ID"])

    def address(self, n):
        return str(self.block[n])

    def write_cni(self, name, plugin):
        """A conflist, moved into its place."""
        path = self.host.path("C:\\etc\\cni\\net.d\\" + name)
        with open(path + ".new", "w", encoding="utf-8") as f:
            json.dump({"cniVersion": "1.0.0", "name": plugin["name"], "plugins": [plugin]}, f)
        os.rename(path + ".new", path)


class Calico(Agent):
    """backend: vxlan or windows-bgp. plugin: the CNI configuration, of the plugin that plays calico.exe."""
    BASE = {"AddressPrefix": "192.168.255.0/30", "GatewayAddress": "192.168.255.1"}

    def __init__(self, host, block, backend, plugin):
        super().__init__(host, block)
        self.overlay, self.plugin = backend == "vxlan", {**plugin, "name": "Calico"}
        self.type = "Overlay" if self.overlay else "L2Bridge"

    def subnet(self, prefix, gateway, vsid):
        policies = {"Policies": [{"Type": "VSID", "VSID": vsid}]} if self.overlay else {}
        return {"AddressPrefix": prefix, "GatewayAddress": gateway, **policies}

    def first_start(self):
        """Of a boot: node-service.ps1."""
        self.remove()
        self.v1("POST", "/networks/", {"Name": "External", "Type": self.type, "Subnets": [
            self.subnet("192.168.255.0/30", "192.168.255.1", 9999)]})

    def start(self):
        self.write_cni("10-calico.conflist", self.plugin)  # install-calico-windows.ps1: the pod's first step
        self.first_start()

    def network(self):
        """The CNI plugin's and Felix' part."""
        net = self.v1("POST", "/networks/", {"Name": "Calico", "Type": self.type, "Subnets": [
            self.subnet(str(self.block), self.address(1), 4096)]})
        if self.overlay:
            self.modify(net["ID"], {"Type": "HostRoute", "Settings": {}})
            self.modify(net["ID"], {"Type": "RemoteSubnetRoute", "Settings": {
                "DestinationPrefix": fabrics.L1_SUBNET, "IsolationId": 4096, "ProviderAddress": fabrics.L1,
                "DistributedRouterMacAddress": fabrics.L1_MAC.replace(":", "-")}})
        else:
            self.bridge(net)
        return net

    def modify(self, network, policy):
        result, out = self.host.hns("HcnModifyNetwork", "hso", self.open(network), json.dumps({
            "ResourceType": "Policy", "RequestType": "Add", "Settings": {"Policies": [policy]}}))
        if result:
            raise Failed("HcnModifyNetwork: 0x%08x %s" % (result & 0xffffffff, out))

    def bridge(self, net):
        end = self.v1("POST", "/endpoints/", {"Name": "Calico_ep", "VirtualNetwork": net["ID"],
                                              "IPAddress": self.address(2)})
        self.v1("POST", "/endpoints/%s/attach" % end["ID"], {"SystemType": "Host", "CompartmentId": 1})
        for row in self.host.net("adapters"):
            if row[0] == "adapter" and row[2].startswith("vEthernet"):
                self.host.net("interface %s forwarding=1" % row[1])
                if row[2] == "vEthernet (Ethernet)":  # the BGP router's
                    self.host.net("route-add %s %s %s" % (row[1], fabrics.L1_SUBNET.replace("/", " "),
                                                          fabrics.L1))


class Antrea(Agent):
    """As far as HNS sees it: pods hang on Open vSwitch, which is not played."""

    def start(self):
        self.write_cni("10-antrea.conflist", {"type": "antrea", "name": "antrea", "ipam": {"type": "host-local"}})

    def network(self):
        net = self.v1("POST", "/networks/", {
            "Name": "antrea-hnsnetwork", "Type": "Transparent", "NetworkAdapterName": "Ethernet",
            "Subnets": [{"AddressPrefix": str(self.block), "GatewayAddress": self.address(1)}],
            "ManagementIP": self.host.address + "/24"})
        self.v1("POST", "/networks/" + net["ID"], {"Extensions": [{"Id": OVS_EXTENSION, "IsEnabled": True}]})
        return net
