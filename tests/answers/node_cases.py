"""What a joined node reads: its Node while it is waited for, as the phases node and ready do."""
import json
import time

import api
from api import NODE, NODES, STREAM, chunk, event, for_ever, http, listed, refusal, reply, slowly
from csr_cases import always, first
from row import ESC, Case


def lists(make):
    return (("LIST", NODES, make),)


def there(change=lambda node: node):
    """The list with our Node, changed."""
    return lists(lambda s, r: reply(listed([change(s.own_node())], "NodeList")))


def spec(**fields):
    return there(lambda node: {**node, "spec": fields})


def status(**fields):
    return there(lambda node: {**node, "status": {**node["status"], **fields}})


def late(state, *pieces):
    """The list tells `state` of our Node, the watch the pieces, then a good one."""
    return (*lists(lambda s, r: reply(listed([state(s)] if state(s) else [], "NodeList"))),
            ("WATCH", NODES, lambda s, r: slowly([STREAM, *(p(s) if callable(p) else chunk(p) for p in pieces),
                                                  event("MODIFIED", s.own_node()), chunk(b"")], 0.02)))


def has(server):
    server.node = server.own_node()


def no_cidr(server):
    node = server.own_node()
    node["spec"] = {}
    return node


def not_ready(server, message="not yet"):
    node = server.own_node(ready=False)
    node["status"]["conditions"][0].update(message=message, reason=message)
    return node


def telling(server, request):
    """Long enough that what is waited for is told; then right."""
    return slowly([STREAM, b"", event("MODIFIED", server.own_node()), chunk(b"")], 2.5)


REGISTERED = "win-9 registered, pods 10.244.7.0/24"
NODE_CASES = [Case("node: " + what, answers, code, says, call="node", ready=has, **more) for what, answers, code, says, more in (
    ("right", (), 0, (REGISTERED,), {}),
    ("registered late", late(lambda s: None), 0, (REGISTERED,), {}),
    ("its subnet late", late(no_cidr), 0, (REGISTERED,), {}),
    ("null, then right", late(lambda s: None, lambda s: event("ADDED", None)), 0, (), {}),
    ("deleted, then right", late(no_cidr, lambda s: event("DELETED", no_cidr(s))), 0, (), {}),
    ("another Node, then right", late(no_cidr, lambda s: event("ADDED", s.peer)), 0, (REGISTERED,), {}),
    ("another Node with our name in another case", late(no_cidr, lambda s: event("ADDED", {**s.own_node(), "metadata": {"name": "WIN-9"}})), 0, (), {}),
    ("garbage, then right", (("LIST", NODES, lambda s, r: reply(listed([], "NodeList"))), ("WATCH", NODES, first(
        1, lambda s, r: STREAM + chunk(b"<html>\n") + chunk(b""))), ("WATCH", NODES, lambda s, r: STREAM + event("ADDED", s.own_node()) + chunk(b""))), 0, (), {}),
    ("ERROR, then right", late(no_cidr, lambda s: event("BOOKMARK", {"metadata": {"resourceVersion": "9"}})), 0, (), {}),
    *((str(code), lists(always(refusal(code))), 1, (str(code),), {}) for code in (400, 404, 405, 422)),
    *(("%d twice" % code, lists(first(2, always(refusal(code)))), 0, (), {}) for code in (429, 500, 503)),
    *((str(code), lists(always(refusal(code, ESC))), 1, (str(code), "\\\\x1b"), {"seconds": 45}) for code in (401, 403)),
    ("an HTML page", lists(always(http(b"<html>"))), 1, ("line 1",), {}),
    ("a list of requests", lists(lambda s, r: reply(listed([s.own_node()]))), 0, (), {}),
    ("a Pod", lists(lambda s, r: reply({"kind": "Pod", "items": []})), 1, ("unexpected object: Pod",), {}),
    ("items of an object", lists(always(reply(listed({}, "NodeList")))), 1, ("no items",), {}),
    ("a kind of its own", there(lambda n: {**n, "kind": "Pod"}), 1, ("unexpected object: Pod",), {}),
    ("20000 others", lists(lambda s, r: reply(listed([*[{"metadata": {"name": "n%d" % i}} for i in range(20000)], s.own_node()], "NodeList"))), 0, (), {}),
    ("numbers", lists(always(http(b'{"kind":"NodeList","items":[' + b"0," * 3000000 + b"0]}"))), 1, ("more than 64 MiB",), {}),
    ("objects", lists(always(http(b'{"kind":"NodeList","items":[' + b"{}," * 2000000 + b"0]}"))), 1, ("more than 64 MiB",), {}),
    ("endless", lists(lambda s, r: for_ever(STREAM, chunk(b" " * 65536))), 1, ("longer than|larger|too long",), {}),
    ("a subnet of escapes", spec(podCIDR=ESC, podCIDRs=[ESC]), 0, ("pods \\\\x1b",), {}),
    ("the token as a subnet", spec(podCIDR=api.TOKEN), 0, (), {}),
    ("a subnet of 1 MB", spec(podCIDR="1" * 1000000), 0, (), {}),
    ("100000 subnets", spec(podCIDRs=["10.244.7.0/24"] * 100000), 0, (REGISTERED,), {"memory": 64}),
    ("odd subnets", spec(podCIDR="10.244.7.0/24", podCIDRs=[5, None, {}]), 0, (REGISTERED,), {}),
    ("subnets of an object", spec(podCIDR="10.244.7.0/24", podCIDRs={"a": 1}), 0, (REGISTERED,), {}),
    ("taints of odd types", spec(podCIDR="10.244.7.0/24", taints="x", unschedulable="yes"), 0, (REGISTERED,), {}),
    ("labels of odd types", there(lambda n: {**n, "metadata": {**n["metadata"], "labels": ["a"], "annotations": 5, "uid": {}}}), 0, (REGISTERED,), {}),
    ("a status that is a text", there(lambda n: {**n, "status": "x"}), 0, (REGISTERED,), {}),
    ("5 MB of images", status(images=[{"names": ["x" * 100]}] * 40000), 0, (REGISTERED,), {"memory": 100}),
)]
READY_CASES = [Case("ready: " + what, answers, code, says, call="ready", ready=has, **more) for what, answers, code, says, more in (
    ("right", (), 0, (), {}),
    ("Ready late", late(not_ready), 0, (), {}),
    ("Ready True as a bool, then right", late(lambda s: {**s.own_node(), "status": {"conditions": [{"type": "Ready", "status": True}]}}), 0, (), {}),
    ("conditions of odd types, then right", late(lambda s: {**s.own_node(), "status": {"conditions": [5, None, "x", {"type": "Ready"}]}}), 0, (), {}),
    ("a message of escapes", (*lists(lambda s, r: reply(listed([not_ready(s, ESC)], "NodeList"))), ("WATCH", NODES, telling)), 0,
     ("Ready is False: \\\\x1b",), {"seconds": 12}),
    ("a message of escapes in JSON", (*lists(lambda s, r: reply(listed([not_ready(s, ESC)], "NodeList"))), ("WATCH", NODES, telling)), 0, (),
     {"seconds": 12, "progress": "json"}),
    ("a message with the token", (*lists(lambda s, r: reply(listed([not_ready(s, "use " + api.TOKEN)], "NodeList"))), ("WATCH", NODES, telling)), 0,
     ("Ready is False: use abcdef",), {"seconds": 12}),
    ("a message of 5 MB", (*lists(lambda s, r: reply(listed([not_ready(s, "m" * 2500000)], "NodeList"))), ("WATCH", NODES, telling)), 0, (),
     {"seconds": 12, "memory": 100}),
)]

CASES = [*NODE_CASES, *READY_CASES]
