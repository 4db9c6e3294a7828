"""What `winjoin diag` reads as the node: its Node, the other Nodes, its probe pods.

No pod runs on the played host: each call waits ten seconds for them, and then judges what it has read.
"""
import api
from api import NODE, NODES, STREAM, chunk, for_ever, http, listed, refusal, reply
from csr_cases import always
from row import ESC, Case

OURS = NODES + "/" + NODE
PODS = "/api/v1/namespaces/kube-system/pods/.*"
FLANNEL = "flannel.alpha.coreos.com/"


def has(server):
    server.node = server.own_node()


def odd_node(node, text=ESC):
    """Wherever a Node has a text, this one."""
    return {"metadata": {"name": text, "labels": {text: text, "kubernetes.io/os": text},
                         "annotations": {FLANNEL + key: text for key in ("backend-data", "backend-type", "public-ip")}},
            "spec": {"podCIDR": text, "podCIDRs": [text], "taints": [{"key": text, "effect": text}]},
            "status": {"conditions": [{"type": kind, "status": text, "reason": text, "message": text} for kind in ("Ready", text)],
                       "addresses": [{"type": "InternalIP", "address": text}], "nodeInfo": {"kubeletVersion": text}}} if node else node


def nodes(make):
    return (("LIST", NODES, make),)


def nodes_of(*items, **meta):
    return nodes(lambda s, r: reply(listed([i(s) if callable(i) else i for i in items], "NodeList", **meta)))


def ours(server, request):
    made = odd_node(server.own_node())
    made["metadata"]["name"] = NODE
    made["spec"] = server.own_node()["spec"]  # or nothing would be measured
    return reply(made)


WAITING = {"status": {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": ESC, "message": ESC + " " + api.TOKEN}}}]}}
FOUND = ("HNS-NET",)
EVERYTHING = (("GET", OURS, ours), *nodes_of(odd_node, odd_node), ("GET", PODS, always(reply(WAITING))))
CASES = [Case("diag: " + what, answers, 5 if says == FOUND else 1, says, call="diag", ready=has, timeout="", again=None, seconds=seconds,
              services=("hns", "containerd", "kubelet"), **more)
         for what, answers, says, seconds, more in (
    *(("escapes everywhere, " + (output or "as text"), EVERYTHING, FOUND, 140, {"more": ("-o", output) if output else ()})
      for output in ("", "json", "yaml", "junit", "html", "metrics")),
    ("escapes everywhere, progress as JSON", EVERYTHING, FOUND, 140, {"progress": "json"}),
    ("pages without end", nodes_of(lambda s: s.peer, **{"continue": "more"}), FOUND, 240,
     {"asked": (("LIST", NODES, 1000, 1000),)}),
    ("great pages without end", nodes_of({"metadata": {"name": "x" * 7000000}}, **{"continue": "more"}), FOUND, 160,
     {"asked": (("LIST", NODES, 1, 3),), "memory": 80}),
    ("Nodes of every type", nodes_of(5, None, [], "x", {}, {"metadata": 5}, {"metadata": {"name": 5}}, {"spec": [], "status": "x"}), FOUND, 140, {}),
    ("garbage for Nodes", nodes(always(http(b"[" * 100000))), FOUND, 140, {}),
    ("garbage for our Node", (("GET", OURS, always(http(b"<html>"))),), ("GET .*line 1",), 10, {}),
    ("escapes for our subnet", (("GET", OURS, lambda s, r: reply({**odd_node(s.own_node()), "metadata": {"name": NODE}})),),
     ("\\\\x1b",), 10, {}),
    ("pods of every type", (("GET", PODS, always(reply({"status": {"phase": 5, "containerStatuses": [5, None, {"state": []}]}}))),), FOUND, 140, {}),
    ("503 for pods", (("GET", PODS, always(refusal(503))),), FOUND, 140, {"asked": (("GET", PODS, 15, 60),)}),
    ("silence for pods", (("GET", PODS, lambda s, r: for_ever(b"", b"", 0.3)),), FOUND, 140, {"asked": (("GET", PODS, 10, 60),)}),
    ("pods without end", (("GET", PODS, lambda s, r: for_ever(STREAM, chunk(b" " * 65536))),), FOUND, 150, {}),
)]
