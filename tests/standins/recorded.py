"""The stand-ins of Microsoft's CNI plugins against the calls that upstream's programs were recorded with:
the same configurations, under Wine, must make the same calls with the same documents."""
import json
import lzma
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:1] = [TESTS, os.path.join(TESTS, "rig"), os.path.join(TESTS, "hns")]

import fabric as fabrics  # noqa: E402
import recordings  # noqa: E402
import winhost  # noqa: E402

STANDINS = os.path.join(os.path.dirname(TESTS), "build", "windows", "standins")
BIN = "C:\\opt\\cni\\bin"
NETWORK = "5f2c61a4-0000-4000-8000-00000000001%d"
GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)


def policy(kind, settings):
    return {"Name": "EndpointPolicy", "Value": {"Type": kind, "Settings": settings}}


def runtime(**mapping):
    return {"dns": {"servers": ["10.96.0.10"], "options": ["ndots:5"],
                    "searches": ["default.svc.cluster.local", "svc.cluster.local"]},
            "portMappings": [{"hostPort": 8080, "containerPort": 80, "protocol": "tcp", **mapping}]}


def ask(kind, name, ipam, arguments=(), flags=None, **more):
    return {"cniVersion": "0.2.0", "name": name, "type": kind, "ipam": ipam, "optionalFlags": flags or {},
            **({"AdditionalArgs": list(arguments)} if arguments else {}), **more}


NAT_IPAM = {"subnet": "192.168.100.0/24", "routes": [{"gateway": "192.168.100.1"}]}
EXCEPTIONS = policy("OutBoundNAT", {"Exceptions": ["10.244.0.0/16", "10.96.0.0/12"]})
SERVICES = policy("SDNRoute", {"DestinationPrefix": "10.96.0.0/12", "NeedEncap": True})
NODE = policy("SDNRoute", {"DestinationPrefix": "10.132.34.98/32", "NeedEncap": True})
PROVIDER = policy("ProviderAddress", {"ProviderAddress": "10.0.0.21"})
HOST_LOCAL = {"type": "host-local", "subnet": "10.244.1.0/24"}
BRIDGE = [EXCEPTIONS, SERVICES, NODE]
OVERLAY = [EXCEPTIONS, SERVICES, PROVIDER]
FORCED = {"forceBridgeGateway": True}
ALL_FLAGS = {**FORCED, "loopbackDSR": True, "localRoutedPortMapping": True, "allowAclPortMapping": True}


class Recorded(unittest.TestCase):
    """What stands before the first call is what stood there when upstream was recorded."""
    # container -> configuration
    CONFIGURATIONS = {
        "nat": {"c1": ask("nat", "natNetwork", NAT_IPAM),
                "c2": ask("nat", "natNetwork", NAT_IPAM, runtimeConfig=runtime())},
        "sdnbridge": {
            "c1": ask("sdnbridge", "cbr0", {"subnet": "10.244.1.0/24", "routes": [{"GW": "10.244.1.2"}]},
                      BRIDGE, FORCED, runtimeConfig=runtime()),
            "c2": ask("sdnbridge", "cbr0", HOST_LOCAL, BRIDGE, FORCED, runtimeConfig=runtime()),
            "c3": ask("sdnbridge", "cbr0", HOST_LOCAL, BRIDGE, ALL_FLAGS,
                      runtimeConfig=runtime(hostPort=9090, hostIP="10.0.0.21"))},
        "sdnoverlay": {
            "c1": ask("sdnoverlay", "vxlan0", {"subnet": "10.244.1.0/24"}, OVERLAY, runtimeConfig=runtime()),
            "c2": ask("sdnoverlay", "vxlan0", HOST_LOCAL, OVERLAY, runtimeConfig=runtime())},
    }

    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabrics.Fabric("l2bridge"))
        cls.host = winhost.Host(cls.fabric)
        cls.addClassCleanup(cls.host.close)
        cls.host.start()
        for name in ("nat", "sdnbridge", "sdnoverlay", "host-local"):
            cls.host.put("%s/%s.exe" % (STANDINS, name), "%s\\%s.exe" % (BIN, name))
        cls.calls = os.path.join(cls.fabric.folder, cls.host.name + "-calls.jsonl")
        with lzma.open(recordings.PACKED, "rt") as packed:
            cls.recorded = [json.loads(line) for line in packed]

    def steps(self, name):
        """(verb, container, calls) of a recording, in its order."""
        begin = self.recorded.index({"recording": name}) + 1
        steps = []
        for line in self.recorded[begin:]:
            if "recording" in line:
                break
            found = re.match(r"%s\.exe (ADD|DEL) (c\d)" % name, line.get("mark", ""))
            if found:
                steps.append((*found.groups(), []))
            elif "mark" in line and not line["mark"].startswith("exit"):
                steps.append((None, None, []))  # VERSION, CHECK
            elif "fn" in line:
                steps[-1][2].append(line)
        return [step for step in steps if step[0]]

    def hns(self, function, signature, *args):
        result, out = self.host.hns(function, signature, *args)
        self.assertEqual(result, 0, out)

    def namespace(self, number):
        space = "5f2c61a4-0000-4000-8000-0000000001%02d" % number
        self.hns("HcnCreateNamespace", "gsHo", space, json.dumps({"SchemaVersion": {"Major": 2, "Minor": 0}}))
        return space

    def play(self, name, verb, container, space):
        """Runs the stand-in; its calls."""
        size = os.path.getsize(self.calls)
        done = self.host.run(["%s\\%s.exe" % (BIN, name)], stdin=json.dumps(self.CONFIGURATIONS[name][container]),
                             env={"CNI_COMMAND": verb, "CNI_CONTAINERID": container, "CNI_NETNS": space,
                                  "CNI_IFNAME": "eth0", "CNI_PATH": BIN})
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(self.calls, encoding="utf-8") as f:
            f.seek(size)
            return [call for call in map(json.loads, f) if call.get("exe") == name + ".exe"]

    def plain(self, calls, ids):
        """What is asked and changed, without handles; identifiers by the order in which they came."""
        out = []
        for call in calls:
            if call["fn"].startswith(("HcnOpen", "HcnQuery", "HcnClose")):
                continue  # how a handle is come by, which winjoin's library does for the stand-ins
            text = json.dumps({k: v for k, v in call["args"].items() if not k.endswith("Handle")})
            text = GUID.sub(lambda found: "id%d" % ids.setdefault(found[0].lower(), len(ids)), text)
            arguments = json.loads(text)
            if "Document" in arguments:
                arguments["Document"] = json.loads(arguments["Document"])
            out.append((call["fn"], arguments))
        return out

    def compare(self, name):
        spaces, ours, theirs = {}, {}, {}
        for verb, container, calls in self.steps(name):
            space = "c1" if container == "c3" else container  # as it was
            if space not in spaces:
                spaces[space] = self.namespace(len(name) + 20 * len(spaces))
            mine = self.play(name, verb, container, spaces[space])
            with self.subTest("%s %s %s" % (name, verb, container)):
                self.assertEqual(self.plain(mine, ours), self.plain(calls, theirs))

    def network(self, number, name, kind, policies):
        self.hns("HcnCreateNetwork", "gsHo", NETWORK % number, json.dumps({
            "SchemaVersion": {"Major": 2, "Minor": 0}, "Name": name, "Type": kind,
            "Policies": [{"Type": "NetAdapterName", "Settings": {"NetworkAdapterName": "Ethernet"}}],
            "Ipams": [{"Type": "Static", "Subnets": [{
                "IpAddressPrefix": "10.244.1.0/24", "Policies": policies,
                "Routes": [{"NextHop": "10.244.1.1", "DestinationPrefix": "0.0.0.0/0"}]}]}]}))
        self.addCleanup(self.hns, "HcnDeleteNetwork", "go", NETWORK % number)

    def test_nat(self):
        self.compare("nat")

    def test_sdnbridge(self):
        self.network(1, "cbr0", "L2Bridge", [])
        self.compare("sdnbridge")

    def test_sdnoverlay(self):
        self.network(2, "vxlan0", "Overlay", [{"Type": "VSID", "Settings": {"IsolationId": 4096}}])
        self.compare("sdnoverlay")
