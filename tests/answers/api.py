"""A good API server in one object, of which a case changes single answers: raw bytes, or pieces that come slowly.

It is the TLS server of discovery's cases with what a join asks next: ConfigMaps, /version, certificate
signing requests with their watch, Nodes, Pods. Each answer can be replaced by method and path.
"""
import base64
import contextlib
import copy
import json
import pathlib
import re
import sys
import threading
import time
import urllib.parse
import uuid

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]),
                str(pathlib.Path(__file__).resolve().parents[1] / "discovery")]
import warnings

warnings.simplefilter("ignore")
import odd  # noqa: E402
from controlplane import pki, resources, seed, settings, store  # noqa: E402
from odd import SECRET, TOKEN, http  # noqa: E402,F401

CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
NODES = "/api/v1/nodes"
MAPS = "/api/v1/namespaces/kube-system/configmaps/"
NODE = "win-9"
REASONS = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed",
           409: "AlreadyExists", 410: "Expired", 422: "Invalid", 429: "TooManyRequests", 500: "InternalError",
           503: "ServiceUnavailable", 504: "Timeout"}


class Request:
    """What was asked; verb is WATCH or LIST where it is one of these."""

    def __init__(self, method, target, body):
        self.method, self.body = method, body
        self.path, _, query = target.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query))
        collection = method == "GET" and self.path in (CSRS, NODES)
        self.verb = "WATCH" if "watch" in self.query else "LIST" if collection else method

    def json(self):
        return json.loads(self.body)


def reply(document, status="200 OK", *lines):
    return http(json.dumps(document).encode(), status, *lines)


def refusal(code, message="no", *lines):
    """A Status, as an API server refuses."""
    reason = REASONS.get(code, "Odd")
    return reply({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
                  "reason": reason, "code": code}, "%d %s" % (code, reason), *lines)


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def event(kind, item):
    return chunk(json.dumps({"type": kind, "object": item}).encode() + b"\n")


def listed(items, kind="CertificateSigningRequestList", version="7", **meta):
    group = "certificates.k8s.io/v1" if kind.startswith("Certificate") else "v1"
    return {"kind": kind, "apiVersion": group, "metadata": {"resourceVersion": version, **meta}, "items": items}


def condition(kind, reason="AutoApproved", message="as it should be"):
    return {"type": kind, "status": "True", "reason": reason, "message": message}


class Api(odd.Server):
    """One server. `answers`: rows (verb, regular expression over the path, function(api, request))."""

    def __init__(self):
        self.lock_state = threading.Lock()
        self.answers_changed, self.csrs, self.asked = (), {}, []
        self.node = None        # what GET tells of our Node; NULL = not there
        self.slow = False       # nobody approves before release()
        self.released = threading.Event()
        self.released.set()
        super().__init__(odd.Odd())
        kept = store.Store()
        seed.fill(kept, settings.Settings(server="https://" + self.endpoint, tokens=[]), self.ca.pem)
        maps = resources.named("configmaps")
        self.maps = {"/api/v1/namespaces/%s/configmaps/%s" % (m["metadata"]["namespace"], m["metadata"]["name"]): m
                     for m in kept.list(maps)[0] if m["metadata"]["name"] != "cluster-info"}
        self.peer = seed.peer_node(settings.Settings(), settings.Peer("lin-1", "10.0.0.21", "10.244.1.0/24",
                                                                      "aa:bb:cc:dd:ee:01"))
        self.authority_of_nodes = pki.Authority(self.ca.key, self.ca.cert)

    def again(self, answers=()):
        """Another case: nothing was ever asked."""
        with self.lock_state:
            self.answers_changed, self.csrs, self.asked, self.node = answers, {}, [], None
        self.connections = self.answers = 0
        self.authorized.clear()

    def well(self):
        """The same cluster with all answers right again."""
        self.answers_changed = ()

    # --- objects

    def own_node(self, ready=True, **spec):
        made = seed.linux_node(settings.Settings(), NODE, "127.0.0.1")
        made.update(kind="Node", apiVersion="v1")
        made["metadata"].update(uid="n-1", resourceVersion="9")
        made["spec"].update({"podCIDR": "10.244.7.0/24", "podCIDRs": ["10.244.7.0/24"], **spec})
        made["status"]["conditions"][0]["status"] = "True" if ready else "False"
        return made

    def new_csr(self, request):
        name = "csr-" + uuid.uuid4().hex[:5]
        made = {"kind": "CertificateSigningRequest", "apiVersion": "certificates.k8s.io/v1",
                "metadata": {"name": name, "generateName": "csr-", "uid": str(uuid.uuid4()), "resourceVersion": "5",
                             "creationTimestamp": "2026-11-22T01:02:%02dZ" % len(self.csrs)},
                "spec": {**request.json()["spec"], "username": "system:bootstrap:abcdef"}, "status": {}}
        with self.lock_state:
            self.csrs[name] = made
        return copy.deepcopy(made)

    def issued(self, made, certificate=None, **change):
        """The request with what a signer makes of it."""
        asked = pki.parse_request(base64.b64decode(made["spec"]["request"]))
        pem = certificate if certificate is not None else self.authority_of_nodes.sign_request(
            asked, ["digital signature", "client auth"])
        done = {**made, "status": {"conditions": [condition("Approved")],
                                   "certificate": base64.b64encode(pem).decode(), **change}}
        done["metadata"] = {**made["metadata"], "resourceVersion": "8"}
        return done

    def last_csr(self):
        return copy.deepcopy(list(self.csrs.values())[-1])

    # --- the wire

    def _request(self, stream):
        data = b""
        while b"\r\n\r\n" not in data:
            more = stream.recv(65536)
            if not more:
                return False
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        while length and len(body) < int(length.group(1)):
            body += stream.recv(65536)
        words = head.split(None, 2)
        request = Request(words[0].decode(), words[1].decode(), body)
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"authorization:"):
                self.authorized.append(line)
        with self.lock_state:
            self.asked.append(request)
        return self._send(stream, self.answer(request))

    def _send(self, stream, answer):
        for piece in [answer] if isinstance(answer, bytes) else answer:
            if self.stopped:
                return False
            stream.sendall(piece)
        return isinstance(answer, bytes) and b"close" not in answer[:300].lower()

    def answer(self, request):
        for verb, path, make in self.answers_changed:
            if verb == request.verb and re.fullmatch(path, request.path):
                made = make(self, request)
                if made is not None:
                    return made
        return self.good(request)

    def good(self, request):
        if request.path == odd.CLUSTER_INFO:
            return http(self.body())
        if request.path in self.maps:
            return reply(self.maps[request.path])
        if request.path == "/version":
            return reply({"major": "1", "minor": "37", "gitVersion": "v1.37.1"})
        if request.path.startswith(CSRS):
            return self.good_csr(request)
        if request.path.startswith(NODES):
            return self.good_node(request)
        if request.path == "/readyz":
            return http(b"ok", kind="text/plain")
        return refusal(404, "there is no " + request.path)

    def good_csr(self, request):
        name = request.path[len(CSRS) + 1:]
        if request.verb == "POST":
            return reply(self.new_csr(request), "201 Created")
        if request.verb == "LIST":
            wanted = request.query.get("fieldSelector", "").partition("=")[2]
            return reply(listed([c for n, c in self.csrs.items() if wanted in ("", n)]))
        if request.verb == "WATCH":
            return self.good_watch()
        return reply(self.issued(self.csrs[name])) if name in self.csrs else refusal(404, "no " + name)

    def good_watch(self):
        made = self.last_csr()
        return STREAM + event("MODIFIED", {**made, "status": {"conditions": [condition("Approved")]}}) \
            + event("MODIFIED", self.issued(made)) + chunk(b"")

    def good_node(self, request):
        node = self.node
        if request.verb == "LIST":
            wanted = request.query.get("fieldSelector", "").partition("=")[2]
            return reply(listed([n for n in (node, self.peer) if n and wanted in ("", n["metadata"]["name"])],
                                "NodeList"))
        if request.verb == "WATCH":
            return STREAM + chunk(b"")
        if request.path == NODES + "/" + NODE and node:
            return reply(node)
        return refusal(404, 'nodes "%s" not found' % request.path.rpartition("/")[2])


# --- streams ---------------------------------------------------------------------------------------------


def slowly(pieces, pause):
    """The pieces with a pause before each but the first."""
    for n, piece in enumerate(pieces):
        if n:
            time.sleep(pause)
        yield piece


def for_ever(first, again, pause=0.0):
    """`first`, then `again` (or what it makes) for ever."""
    yield first
    with contextlib.suppress(OSError):
        while True:
            if pause:
                time.sleep(pause)
            yield again() if callable(again) else again
