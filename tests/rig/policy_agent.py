"""A network policy agent on a played Windows host: it writes ACLs on each pod's endpoint, as Calico's
Felix does through HNS (allow what policies allow by a low number, block the rest by a high one)."""
import json
import threading


def acl(action, direction, priority, **more):
    return {"Type": "ACL", "Settings": {"Action": action, "Direction": direction,
                                        "Protocols": "256", "RuleType": "Switch",
                                        "Priority": priority, **more}}


# Everything allowed in and out, and nothing else: harmless as long as each has its direction.
ACLS = [acl("Allow", "In", 1000), acl("Allow", "Out", 1000),
        acl("Block", "In", 65500), acl("Block", "Out", 65500)]


class Agent:
    """Follows the host's endpoints while it runs; `done`: the endpoints that got ACLs."""

    def __init__(self, host, acls=None):
        self.host, self.acls, self.done, self.why = host, acls or ACLS, [], None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        if self.why:
            raise RuntimeError("the policy agent: %s" % self.why)

    def _follow(self):
        try:
            while not self.ended.wait(0.2):
                self._look()
        except (OSError, RuntimeError, ValueError) as why:
            self.why = why

    def _look(self):
        for end in self.host.control({"op": "dump"})["endpoints"]:
            if end.get("HostComputeNamespace") and not end.get("Flags") \
                    and end["ID"] not in self.done:
                self._write(end["ID"])
                self.done.append(end["ID"])

    def _write(self, guid):
        request = {"ResourceType": "Policy", "RequestType": "Add", "Settings": {"Policies": self.acls}}
        result, out = self.host.hns("HcnOpenEndpoint", "gHo", guid)
        if not result:
            result, out = self.host.hns("HcnModifyEndpoint", "hso", out[0],
                                        json.dumps(request, separators=(",", ":")))
        if result:
            raise RuntimeError("HcnModifyEndpoint: 0x%08x %s" % (result & 0xffffffff, out))
