"""The rig's pure parts: documents read, facts and rules made of them, snapshots compared."""
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import documents  # noqa: E402
import linux_agent  # noqa: E402
import packets  # noqa: E402
import sandbox  # noqa: E402
import snapshot  # noqa: E402

NET, EP, NS = "{11111111-0000-0000-0000-00000000000A}", "22222222-0000-0000-0000-000000000001", "n1"


def overlay(**more):
    return {"networks": [{
        "ID": NET, "Name": "flannel.4096", "Type": "Overlay", "Policies": [
            {"Type": "DrMacAddress", "Settings": {"Address": "00-15-5D-01-02-03"}},
            {"Type": "RemoteSubnetRoute", "Settings": {
                "DestinationPrefix": "10.244.2.0/24", "IsolationId": 4097,
                "ProviderAddress": "10.0.0.22", "DistributedRouterMacAddress": "AA-BB-CC-0-0-1"}}],
        "Ipams": [{"Subnets": [{
            "IpAddressPrefix": "10.244.1.0/24",
            "Policies": [{"Type": "VSID", "Settings": {"IsolationId": 4096}}],
            "Routes": [{"NextHop": "10.244.1.1", "DestinationPrefix": "0.0.0.0/0"}]}]}]}],
        "endpoints": [{"ID": EP, "HostComputeNetwork": NET.strip("{}").lower(),
                       "IpConfigurations": [{"IpAddress": "10.244.1.5"}],
                       "Policies": more.pop("policies", [])}],
        "namespaces": [{"ID": NS, "Resources": [{"Type": "Endpoint", "Data": {"Id": EP}}]}],
        **more}


def host(**more):
    return packets.Host("node", "vsw0", "10.0.0.21", 1500, pods={NS: "pod"}, **more)


class Documents(unittest.TestCase):
    def test_names_of_members_have_no_case_and_guids_no_braces(self):
        state = documents.parse({"NETWORKS": [{"id": NET, "TYPE": "Overlay"}]})
        self.assertEqual(state.networks[0].id, NET.strip("{}").lower())

    def test_an_endpoint_is_where_its_namespace_lists_it(self):
        end = documents.parse(overlay()).endpoints[0]
        self.assertEqual((end.namespace, end.addresses), (NS, [("10.244.1.5", 24)]))

    def test_at_most_64_backends(self):
        ends = [{"ID": "e%d" % i, "HostComputeNetwork": NET,
                 "IpConfigurations": [{"IpAddress": "10.244.1.%d" % (i + 10)}]} for i in range(70)]
        state = documents.parse({"networks": overlay()["networks"], "endpoints": ends,
                                 "loadBalancers": [{"HostComputeEndpoints": [e["ID"] for e in ends],
                                                    "PortMappings": [{"Protocol": 6}]}]})
        self.assertEqual(len(state.balancers[0].backends), 64)


class Packets(unittest.TestCase):
    def facts(self, state, **more):
        return {f.key.split()[0]: f for f in packets.facts(documents.parse(state), host(**more))}

    def rules(self, state, **more):
        return packets.rules(documents.parse(state), host(**more))

    def test_the_vni_is_the_documents_and_a_remote_may_have_its_own(self):
        facts = self.facts(overlay())
        self.assertIn("id 4096 dstport 4789", facts["vxlan"].make[0])
        self.assertIn("dst 10.0.0.22 vni 4097", facts["fdb"].make[0])

    def test_no_sandbox_no_wire(self):
        state = documents.parse(overlay())
        keys = [f.key.split()[0] for f in packets.facts(state, packets.Host("n", "v", "", 1500))]
        self.assertNotIn("wire", keys)

    def test_translation_spares_the_exceptions(self):
        policy = {"Type": "OutBoundNAT", "Settings": {"Exceptions": ["10.244.0.0/16",
                                                                     "10.244.1.0/24"]}}
        self.assertIn('ip saddr 10.244.1.5 oifname "vsw0" ip daddr != { 10.244.0.0/16 } masquerade',
                      self.rules(overlay(policies=[policy])))
        self.assertNotIn("masquerade", self.rules(overlay()))
        policy["Settings"]["VirtualIP"] = "10.0.0.97"
        self.assertIn("daddr != { 10.244.0.0/16 } snat ip to 10.0.0.97", self.rules(overlay(policies=[policy])))

    def test_a_service_needs_the_endpoints_route(self):
        lb = {"ID": "lb", "HostComputeEndpoints": [EP], "FrontendVIPs": ["10.96.0.1"],
              "PortMappings": [{"Protocol": 6, "InternalPort": 6443, "ExternalPort": 443}]}
        route = {"Type": "SDNRoute", "Settings": {"DestinationPrefix": "10.96.0.0/12",
                                                  "NeedEncap": True}}
        self.assertNotIn("10.96.0.1", self.rules(overlay(loadBalancers=[lb])))
        self.assertIn("ip daddr 10.96.0.1 tcp dport 443",
                      self.rules(overlay(loadBalancers=[lb], policies=[route])))


class Agent(unittest.TestCase):
    """It runs as long as the fabric, whatever the API server says meanwhile."""

    def follow(self, answers, **more):
        """What is done on the Linux machine while the server gives these answers, one a look."""
        answers, done = iter(answers), mock.Mock(mode="overlay", **more)
        with tempfile.TemporaryDirectory() as folder:
            done.log = lambda name: os.path.join(folder, name)

            def nodes():
                answer = next(answers, None)
                if answer is None:
                    yield []
                    agent.stop()
                    return
                if isinstance(answer, Exception):
                    raise answer
                yield answer
            agent = linux_agent.LinuxAgent(done, nodes)
            with mock.patch.object(linux_agent, "PAUSE", 0):
                agent._follow()
        return [call for call in done.mock_calls if call[0].startswith("peer_")]

    NODE = {"metadata": {"name": "w", "labels": {"kubernetes.io/os": "windows"}, "annotations": {
        linux_agent.PREFIX + "public-ip": "10.0.0.21", linux_agent.PREFIX + "backend-type": "vxlan",
        linux_agent.PREFIX + "backend-data": '{"VtepMAC": "00:15:5d:01:02:03"}'}},
        "spec": {"podCIDR": "10.244.2.0/24"}}
    ADDED = mock.call.peer_add("10.244.2.0/24", "10.0.0.21", "00:15:5d:01:02:03")
    GONE = mock.call.peer_del("10.244.2.0/24")

    def test_refusals_and_answers_cut_off_change_nothing(self):
        class Refused(Exception):
            pass
        seen = self.follow([[self.NODE], Refused(503), OSError(), KeyError("items"), [self.NODE]])
        self.assertEqual(seen, [self.ADDED, self.GONE])

    def test_a_route_that_could_not_be_added_is_tried_again(self):
        tries = [RuntimeError("no such device"), None]
        seen = self.follow([[self.NODE]] * 3, **{"peer_add.side_effect": tries})
        self.assertEqual(seen, [self.ADDED, self.ADDED, self.GONE])

    def test_another_mac_is_another_way(self):
        other = json.loads(json.dumps(self.NODE).replace("01:02:03", "01:02:04"))
        seen = self.follow([[self.NODE], [other]])
        self.assertEqual([call[0] for call in seen], ["peer_add", "peer_del"] * 2)


class Comparison(unittest.TestCase):
    def test_a_line_for_what_came_went_and_changed(self):
        before = {"files": {"a": "1", "b": "2", "c": "3"}}
        after = {"files": {"b": "2", "c": "4", "d": "5"}}
        self.assertEqual(snapshot.compare(before, after), [
            "files: - a (1)", "files: ~ c: 3 -> 4", "files: + d (5)"])


class Paths(unittest.TestCase):
    def test_case_is_found_on_the_disk(self):
        with tempfile.TemporaryDirectory() as drive:
            os.makedirs(drive + "/Program Files/x")
            self.assertEqual(sandbox.host_path(drive, "C:\\program files\\X\\new.txt"),
                             drive + "/Program Files/x/new.txt")


if __name__ == "__main__":
    unittest.main()
