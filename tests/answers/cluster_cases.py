"""The cluster's configuration: odd answers for ConfigMaps, /version and the Node whose name is wanted.

What their texts may hold is tests/configuration/cluster.py's matter; here it is what carries the texts, and
that nothing of them reaches a terminal as it came.
"""
import base64
import copy
import json

import api
from api import MAPS, NODE, NODES, STREAM, chunk, for_ever, http, refusal, reply, slowly
from csr_cases import always, first
from row import BAD, ESC, Case

VERSION = "/version"
FLANNEL = "/api/v1/namespaces/kube-flannel/configmaps/kube-flannel-cfg"
NEEDED = (("kubeadm-config", "ClusterConfiguration"), ("kubelet-config", "kubelet"))
OPTIONAL = (("winjoin", "NodeConfiguration"),)
DEFAULTS = "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n"


def get(path, make):
    return (("GET", path, make),)


def of(name, key):
    """The right ConfigMap, for the name of one that the good server has not, too."""
    def there(server):
        return copy.deepcopy(server.maps.get(MAPS + name, {
            "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "namespace": "kube-system"}, "data": {key: DEFAULTS}}))
    return there


def changed(name, key, change):
    there = of(name, key)
    return get(MAPS + name, lambda s, r: reply(change(there(s))))


def value(name, key, change):
    return changed(name, key, lambda m: {**m, "data": {**m["data"], key: change(m["data"][key])}})


def without(fields):
    return lambda m: {k: v for k, v in m.items() if k not in fields}


def carried(name, key):
    """What may become of any ConfigMap that is there."""
    def case(what, answers, code=1, says=(), **more):
        return Case("%s: %s" % (name, what), answers, code, says, call="configuration", **more)

    def changes(what, change, code=1, says=(name,), **more):
        return case(what, changed(name, key, change), code, says, **more)
    path = MAPS + name
    most = 1 + (name == "kubeadm-config")  # which proves the server at first; what is odd then is asked for again
    binary = {key: base64.b64encode(b"kind: x\n").decode()}
    return [
        *(case(str(code), get(path, always(refusal(code))), 1, (str(code),), asked=(("GET", path, 1, most),)) for code in (400, 405, 406, 422)),
        *(case("%d twice, then right" % code, get(path, first(2, always(refusal(code)))), 0) for code in (429, 500, 503, 504)),
        case("cut, then right", get(path, first(1, lambda s, r: iter((b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",)))), 0),
        case("a redirect", get(path, always(http(b"", "302 Found", "Location: /api/v1/namespaces/default/configmaps/x"))), 1, ("302",)),
        case("an HTML page", get(path, always(http(b"<html>\x1b[31m</html>", kind="text/html"))), 1, (name, "line 1")),
        case("9 MiB", get(path, lambda s, r: slowly([b"HTTP/1.1 200 OK\r\nContent-Length: 9437184\r\n\r\n", *[b" " * 65536] * 144], 0)), 1, (name,)),
        case("endless", get(path, lambda s, r: for_ever(STREAM, chunk(b" " * 65536))), 1, (name,)),
        case("numbers", get(path, always(http(b'{"a":[' + b"0," * 3000000 + b"0]}"))), 1, (name, "more than 64 MiB")),
        case("objects", get(path, always(http(b'{"a":[' + b"{}," * 2000000 + b"0]}"))), 1, (name, "more than 64 MiB")),
        case("keys", get(path, always(http(b"{" + b",".join(b'"%d":0' % i for i in range(700000)) + b"}"))), 1, (name,), memory=100),
        case("deep", get(path, always(http(b'{"data":' + b'{"a":' * 3000 + b"1" + b"}" * 3001))), 1, (name,)),
        *(case("the answer is %s" % what, get(path, always(reply(body))), 1, says)
          for what, body, says in (("null", None, ("not an object",)), ("a list", [], ("not an object",)), ("a text", "x", ("not an object",)))),
        *(changes("the kind is " + kind, lambda m, kind=kind: {**m, "kind": kind}, says=("unexpected object",)) for kind in ("Secret", "ConfigMapList")),
        changes("the kind has escapes", lambda m: {**m, "kind": ESC}, says=("unexpected object: \\\\x1b",)),
        case("a Status in 200", get(path, always(http(refusal(403, "no " + ESC).partition(b"\r\n\r\n")[2]))), 1, ("no \\\\x1b",)),
        changes("no kind", without(("kind", "apiVersion")), 0, ()),
        changes("no metadata", without(("metadata",)), 0, ()),
        changes("no data", without(("data",)), says=("key value pair missing",)),
        *(changes("data is %s" % what, lambda m, data=data: {**m, "data": data}, says=says) for what, data, says in (
            ("null", None, ("missing",)), ("empty", {}, ("missing",)), ("a list", [], ("missing",)), ("a text", "x", ("missing",)),
            ("a number", 5, ("missing",)), ("of numbers", {key: 5}, ("missing",)), ("of nulls", {key: None}, ("missing",)),
            ("of objects", {key: {}}, ("missing",)), ("of another key", {"other": "x"}, ("missing",)))),
        changes("a key of escapes", lambda m: {**m, "data": {ESC: 5}}, says=("missing",)),
        changes("the text in binaryData", lambda m: {**without(("data",))(m), "binaryData": binary}, says=("missing",)),
        changes("the text in both", lambda m: {**m, "binaryData": binary}, 0, ()),
        changes("binaryData that is none", lambda m: {**m, "binaryData": {"x": "!"}}, 0, ()),
        changes("6 MB of other data", lambda m: {**m, "data": {**m["data"], "x": "y" * 6000000}}, 0, ()),
        changes("100000 other keys", lambda m: {**m, "data": {**m["data"], **{"k%d" % i: "v" for i in range(100000)}}}, 0, (), memory=64),
        case("a text of 5 MB", value(name, key, lambda t: t + "#" + "x" * 5000000 + "\n"), None, (), memory=100),
        case("a text of 5 MB of lines", value(name, key, lambda t: t + "# x\n" * 1250000), None, (), memory=100),
        case("a text of deep lists", value(name, key, lambda t: t + "x: " + "[" * 100000 + "\n"), BAD, (name,)),
        case("a text of many documents", value(name, key, lambda t: t + "---\napiVersion: a/b\nkind: C\n" * 20000), None, ()),
        case("a text of escapes", value(name, key, lambda t: ESC), BAD, (name,)),
        case("an unknown field of escapes", value(name, key, lambda t: t + json.dumps(ESC) + ": 5\n"), None, ()),
        case("the token as an unknown field", value(name, key, lambda t: t + '"%s": 5\n' % api.TOKEN), None, ()),
        case("the token as a kind", value(name, key, lambda t: t.replace("kind: ", "kind: %s # " % api.TOKEN)), BAD, (name,)),
    ]


def plan(what, answers, code=0, says=(), **more):
    return Case("plan: " + what, answers, code, says, call="plan", **more)


def put(old, new):
    return lambda there: there.replace(old, new)


def quoted(text):
    return json.dumps(text)


# What is in a plan, a diff or a warning; each as text, JSON and YAML.
SHOWN = (
    ("the cluster's name", value(*NEEDED[0], put("clusterName: kubernetes", "clusterName: " + quoted(ESC)))),
    ("the DNS domain", value(*NEEDED[0], put("dnsDomain: cluster.local", "dnsDomain: " + quoted(ESC)))),
    ("the image repository", value(*NEEDED[0], lambda t: t + "imageRepository: %s\n" % quoted(ESC))),
    ("the version", value(*NEEDED[0], put("v1.37.1", quoted(ESC)))),
    ("the pods' prefix", value(*NEEDED[0], put("podSubnet: 10.244.0.0/16", "podSubnet: " + quoted(ESC)))),
    ("the endpoint", value(*NEEDED[0], lambda t: t + "controlPlaneEndpoint: %s\n" % quoted(ESC))),
    ("an unknown field", value(*NEEDED[1], lambda t: t + quoted(ESC) + ": 5\n")),
    ("a gate", value(*NEEDED[1], lambda t: t + "featureGates: {%s: true}\n" % quoted(ESC))),
    ("a field of Linux", value(*NEEDED[1], lambda t: t + "cgroupRoot: %s\n" % quoted(ESC))),
    ("a resolver", value(*NEEDED[1], put("resolvConf: ", "resolvConf: %s # " % quoted(ESC)))),
    ("the kubelet's DNS", value(*NEEDED[1], put("- 10.96.0.10", "- " + quoted(ESC)))),
    ("the labels of the defaults", value(*OPTIONAL[0], lambda t: t + "network: {name: %s}\n" % quoted(ESC))),
    ("flannel's network", get(FLANNEL, lambda s, r: reply({"data": {"net-conf.json": json.dumps(
        {"Network": ESC, "Backend": {"Type": "vxlan", "VNI": 4096, "Port": 4789}})}}))),
    ("flannel's backend", get(FLANNEL, lambda s, r: reply({"data": {"net-conf.json": json.dumps(
        {"Network": "10.244.0.0/16", "Backend": {"Type": ESC}})}}))),
)
PLAN_CASES = [
    plan("right", ()),
    *(plan("escapes in %s, %s" % (what, output or "as text"), answers, None, more=("-o", output) if output else (), again=0)
      for what, answers in SHOWN for output in ("", "json", "yaml")),
]

# The version is asked for where another server may answer than the one that kubeadm-config tells of.
BEHIND = value(*NEEDED[0], lambda text: text + "controlPlaneEndpoint: cluster.example:6443\n")
VERSION_CASES = [Case("version: " + what, get(VERSION, make) + BEHIND, code, says, call="configuration") for what, make, code, says in (
    ("401", always(refusal(401)), 0, ()), ("403", always(refusal(403)), 0, ()), ("404", always(refusal(404)), 0, ()),
    ("500 twice", first(2, always(refusal(500))), 0, ()), ("400", always(refusal(400)), 1, ("400",)),
    ("an HTML page", always(http(b"<html>")), 1, ("/version",)), ("null", always(reply(None)), 1, ("/version",)),
    ("a list", always(reply([])), 1, ("/version",)), ("empty", always(reply({})), 0, ()),
    ("a number", always(reply({"gitVersion": 5})), 0, ()), ("escapes", always(reply({"gitVersion": ESC})), None, ()),
    ("1 MB", always(reply({"gitVersion": "v1.37.1" * 150000})), None, ()), ("garbage", always(reply({"gitVersion": "nope"})), None, ()),
    ("negative", always(reply({"gitVersion": "v-1.-37.1"})), None, ()),
    ("huge", always(reply({"gitVersion": "v1.99999999999999999999.1"})), None, ()),
    ("numbers", always(http(b'{"a":[' + b"0," * 3000000 + b"0]}")), 1, ("more than 64 MiB",)),
    ("endless", lambda s, r: for_ever(STREAM, chunk(b" " * 65536)), 1, ("/version",)),
    ("a redirect", always(http(b"", "302 Found", "Location: /x")), 1, ("302",)),
)]

OURS = NODES + "/" + NODE


def ours(change):
    return get(OURS, lambda s, r: reply(change({**s.own_node(), "status": {
        **s.own_node()["status"], "addresses": [{"type": "InternalIP", "address": "192.0.2.9"}]}})))


def taken(server):
    server.node = server.own_node()
    server.node["status"]["addresses"][0]["address"] = "192.0.2.9"


TAKEN = ('a Node with that name and status "Ready" already exists', "hint: kubectl delete node win-9")
NAME_CASES = [Case("name: " + what, answers, code, says, call="configuration", **more) for what, answers, code, says, more in (
    ("taken", (), 1, TAKEN, {"ready": taken, "again": 1}),
    *((str(code), get(OURS, always(refusal(code))), 1, (str(code),), {}) for code in (400, 401, 403, 405, 422)),
    *(("%d twice" % code, get(OURS, first(2, always(refusal(code)))), 0, (), {}) for code in (429, 500, 503)),
    ("a Status of 404 in 200", get(OURS, always(http(refusal(404, "gone").partition(b"\r\n\r\n")[2]))), 1, ("gone|no name",), {}),
    ("404 in HTML", get(OURS, always(http(b"<html>", "404 Not Found"))), 0, (), {}),
    ("an HTML page", get(OURS, always(http(b"<html>"))), 1, ("line 1",), {}),
    ("empty", get(OURS, always(reply({}))), 1, ("no name",), {}),
    ("null", get(OURS, always(reply(None))), 1, ("not an object",), {}),
    ("another Node", ours(lambda n: {**n, "metadata": {**n["metadata"], "name": "other"}}), 1, ('the answer is Node "other"',), {}),
    ("escapes", ours(lambda n: {**n, "metadata": {**n["metadata"], "name": ESC}}), 1, ('the answer is Node "\\\\x1b',), {}),
    ("a Pod", ours(lambda n: {**n, "kind": "Pod"}), 1, ("unexpected object: Pod",), {}),
    ("a list of Nodes", ours(lambda n: api.listed([n], "NodeList")), 1, ("Node",), {}),
    ("not Ready", ours(lambda n: {**n, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}), 0, (), {}),
    ("a status of odd types", ours(lambda n: {**n, "status": 5, "spec": [], "metadata": {**n["metadata"], "labels": [], "annotations": "x"}}), 0, (), {}),
    ("conditions of odd types", ours(lambda n: {**n, "status": {"conditions": [5, None, [], {"type": 5}, {"type": "Ready", "status": True}]}}), 0, (), {}),
    ("addresses of odd types", ours(lambda n: {**n, "status": {**n["status"], "addresses": [5, None, {"type": "InternalIP", "address": 5}]}}), 1, TAKEN, {}),
    ("addresses of escapes", ours(lambda n: {**n, "status": {**n["status"], "addresses": [{"type": "InternalIP", "address": ESC}] * 1000}}), 1, TAKEN, {}),
    ("100000 addresses", ours(lambda n: {**n, "status": {**n["status"], "addresses": [{"type": "InternalIP", "address": "192.0.2.9"}] * 100000}}), 1, TAKEN,
     {"memory": 100}),
    ("Ready twice", ours(lambda n: {**n, "status": {**n["status"], "conditions": [{"type": "Ready", "status": "True"}, {"type": "Ready", "status": "False"}]}}),
     1, TAKEN, {}),
    ("5 MB of annotations", ours(lambda n: {**n, "metadata": {**n["metadata"], "annotations": {"a": "x" * 5000000}}}), 1, TAKEN, {}),
)]

CASES = [*[case for name, key in (*NEEDED, *OPTIONAL) for case in carried(name, key)], *VERSION_CASES, *NAME_CASES, *PLAN_CASES]
