"""The TLS server: connections, authentication, routing, answers, watches."""

import http.server
import json
import select
import socket
import socketserver
import ssl
import threading
import time
import urllib.parse
import uuid

from . import access, faults, pki, pod_exec, probes, resources, rest, selection, status, tokens, traffic

BODY_LIMIT = 3 << 20
IDLE_SECONDS = 90
HANDSHAKE_SECONDS = 10
WATCH_SECONDS = 1800
BOOKMARK_SECONDS = 60
OPEN_PATHS = ("/healthz", "/livez", "/readyz")


class Connections(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Accepts; the TLS handshake is done in the connection's own thread."""
    daemon_threads, allow_reuse_address = True, True

    def __init__(self, address, api):
        self.api, self.request_queue_size = api, api.setup.backlog
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, Handler)

    def finish_request(self, request, client_address):
        request.settimeout(HANDSHAKE_SECONDS)
        request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number = self.api.traffic.opened()
        try:
            with self.api.tls_context().wrap_socket(request, server_side=True) as secured:
                self.api.traffic.secured()
                secured.settimeout(IDLE_SECONDS)
                Handler(secured, client_address, self, number)
        except OSError:
            pass  # the client refused our certificate, or went away: its business
        finally:
            self.api.traffic.closed()

    def handle_error(self, request, client_address):
        """Called for what a handler raised: a client that went away is no news."""
        import sys
        if not isinstance(sys.exc_info()[1], (OSError, ssl.SSLError)):
            super().handle_error(request, client_address)


class Api:
    """Everything that the connections share."""

    def __init__(self, setup, store, authority, audit):
        self.setup, self.store, self.authority, self.audit = setup, store, authority, audit
        self.rest, self.book = rest.Rest(store), faults.FaultBook()
        self.traffic = traffic.Traffic(traffic.Limit(setup.rate, setup.burst))
        self.named, self.generation = None, 0
        self.pod_proxy = None  # probes.Model's
        self.pods = None  # pod_exec.Pods
        self.late = lambda: 0.0  # seconds that an answer of its own, or of a pod, takes longer
        self.lock, self.connections, self.info_answers = threading.Lock(), 0, 0
        self.good = self._context(authority.issue_server(setup.names))
        self.other = None

    def _context(self, pair):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.verify_mode = ssl.CERT_OPTIONAL
        context.verify_flags |= 0x200000  # X509_V_FLAG_NO_CHECK_TIME: a 401 says it better
        context.load_verify_locations(cadata=self.authority.pem.decode())
        chain = "%s/serving-%s.pem" % (self.setup.state, uuid.uuid4().hex[:8])
        pki.write_private(chain, pair[0] + pair[1])
        context.load_cert_chain(chain)
        return context

    def use_fault(self, named):
        """Puts a named fault in force; None: none."""
        other = None
        if named and named.certificate:
            other = self._context(named.certificate(self.authority, self.setup.names))
        with self.lock:
            self.named, self.other, self.connections, self.info_answers = named, other, 0, 0
        for fault in named.requests if named else ():
            self.book.add({k: v for k, v in vars(fault).items() if k != "seen"})

    def tls_context(self):
        with self.lock:
            self.connections += 1
            late = self.named and self.named.later_certificate and self.connections == 1
            return self.other if self.other and not late else self.good

    def cluster_info(self, item):
        """cluster-info as the named fault would have it."""
        with self.lock:
            self.info_answers += 1
            named, nth = self.named, self.info_answers
        if named and named.cluster_info:
            context = faults.context_of(self.setup.tokens[0])
            item["data"] = named.cluster_info(item["data"], nth, context)
        return item

    def authenticate(self, certificate, header):
        """(user, groups); raises 401 for credentials that are none."""
        if certificate:
            if ssl.cert_time_to_seconds(certificate["notAfter"]) < time.time():
                raise status.unauthorized()
            subject = [pair for part in certificate["subject"] for pair in part]
            user = next((v for k, v in subject if k == "commonName"), "")
            groups = [v for k, v in subject if k == "organizationName"]
            return user, groups + ["system:authenticated"]
        if header:
            kind, _, token = header.partition(" ")
            secrets = resources.named("secrets")
            found = kind.lower() == "bearer" and tokens.authenticate(
                token.strip(), lambda n: self.store.find(secrets, "kube-system", n))
            if not found:
                raise status.unauthorized()
            return found[0], found[1] + ["system:authenticated"]
        return access.ANONYMOUS


class Cut(Exception):
    """The connection is to be cut without more words."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server_version = sys_version = ""

    def __init__(self, secured, address, server, number):
        self.number = number  # of the connection
        super().__init__(secured, address, server)

    def setup(self):
        super().setup()
        self.api, self.fault, self.code = self.server.api, None, 0

    def log_message(self, *args):
        """The audit log says it."""

    def serve(self):
        started = time.monotonic()
        split = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
        self.user, self.verb, self.code = "", self.command.lower(), 0
        self.served = self.api.traffic.begin(split.path in OPEN_PATHS)
        try:
            self._answer_request(split.path, query)
        except Cut:
            self.close_connection = True
        finally:
            self.api.traffic.end()
            self.api.audit.write(self.user, self.verb, self.path,
                                 self.headers.get("User-Agent", ""), self.code,
                                 round((time.monotonic() - started) * 1000, 1), self.number)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = serve

    def _answer_request(self, path, query):
        body = self._read_body()
        self.fault = None
        try:
            if not self.served:
                raise status.too_many_requests(traffic.RETRY_AFTER)
            certificate = self.connection.getpeercert()
            self.user, self.groups = self.api.authenticate(
                certificate, self.headers.get("Authorization"))
            self.fault = self.api.book.find(self.command, path, self.user)
            if self._faulty():
                return
            self._route(path, query, body)
        except status.ApiError as e:
            self.send_json(e.code, e.status, e.headers)

    def _read_body(self):
        try:
            length = int(self.headers.get("Content-Length") or 0)
        except ValueError:
            raise Cut from None
        if length > BODY_LIMIT or self.headers.get("Transfer-Encoding"):
            self.close_connection = True
            self.send_json(413, status.ApiError(413, "RequestEntityTooLarge", "Request body is "
                                                "too large: limit is %d" % BODY_LIMIT).status)
            raise Cut
        return self.rfile.read(length) if length else b""

    def _faulty(self):
        """True when the fault in force is the whole answer."""
        f = self.fault
        if not f:
            return False
        if f.delay:
            time.sleep(f.delay)
        if f.reset:
            raise Cut
        if f.bytes or f.body is not None:
            text = f.body.encode() if f.body is not None else b" " * f.bytes
            self.send_bytes(f.code or 200, text, "application/json")
            return True
        if f.code:
            extra = {"Location": f.location} if f.location else {}
            if f.retryAfter is not None:
                extra["Retry-After"] = str(f.retryAfter)
            reason = f.reason or {401: "Unauthorized", 403: "Forbidden", 404: "NotFound",
                                  429: "TooManyRequests", 503: "ServiceUnavailable"}.get(
                                      f.code, "InternalError")
            error = status.ApiError(f.code, reason, "the test asked for %d" % f.code)
            self.send_json(f.code, error.status, extra)
            return True
        return False

    def _route(self, path, query, body):
        target = resources.parse_path(path)
        if target is None:
            time.sleep(self.api.late())
            if not self._pod_proxy(path, query) and not self._pod_exec(path):
                self._other_path(path)
            return
        verb = rest.verb_of(self.command, target, query)
        self.verb = verb
        request = rest.Request(verb, target, self.user, self.groups, query,
                               content_type=self.headers.get("Content-Type", ""))
        access.require(self.api.store, rest.attributes(request))
        if verb not in ("get", "list", "watch", "create", "update", "patch", "delete") \
                or (verb == "create" and target.name) or (verb in ("update", "patch", "delete")
                                                         and not target.name):
            raise status.ApiError(405, "MethodNotAllowed",
                                  "the server does not allow this method on the requested resource")
        request.body = self._decode(body)
        if verb == "watch":
            self._watch(request)
            return
        code, item = self.api.rest.perform(request)
        if path == faults.CLUSTER_INFO and verb == "get":
            item = self.api.cluster_info(item)
        if verb == "list" and "as=Table" in self.headers.get("Accept", ""):
            item = selection.table(item)
        self.send_json(code, item)

    def _decode(self, body):
        if not body:
            return None
        if "json" not in self.headers.get("Content-Type", "application/json"):
            raise status.ApiError(415, "UnsupportedMediaType",
                                  "the body of the request was in an unknown format - accepted "
                                  "media types include: application/json")
        try:
            return json.loads(body)
        except ValueError as e:
            raise status.bad_request("the object provided is unrecognized: %s" % e) from None

    def _pod_proxy(self, path, query):
        """True when this was a request to a pod."""
        found = self.api.pod_proxy and probes.split(path)
        if not found:
            return False
        access.require(self.api.store, access.Attributes(
            self.user, self.groups, self.command.lower(), resources.named("pods"), "proxy", found[0],
            found[1]))
        code, data, kind = self.api.pod_proxy(found[1], found[2], query)
        self.send_bytes(code, data, kind)
        return True

    def _pod_exec(self, path):
        parts = path.split("/")
        if not self.api.pods or parts[1:4] != ["api", "v1", "namespaces"] or parts[5::2] != ["pods", "exec"]:
            return False
        access.require(self.api.store, access.Attributes(
            self.user, self.groups, self.command.lower(), resources.named("pods"), "exec", parts[4], parts[6]))
        pod_exec.serve(self, parts[6], self.api.pods)
        return True

    def _other_path(self, path):
        access.require(self.api.store, access.Attributes(
            self.user, self.groups, self.command.lower(), path=path))
        setup = self.api.setup
        if path in OPEN_PATHS:
            self.send_bytes(200, b"ok", "text/plain; charset=utf-8")
        elif path == "/version":
            major, minor = setup.version.lstrip("v").split(".")[:2]
            self.send_json(200, {"major": major, "minor": minor, "gitVersion": setup.version,
                                 "gitTreeState": "clean", "goVersion": "go1.26",
                                 "compiler": "gc", "platform": "linux/amd64"})
        elif path == "/api":
            self.send_json(200, {"kind": "APIVersions", "versions": ["v1"],
                                 "serverAddressByClientCIDRs": []})
        elif path == "/apis":
            self.send_json(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": g, "versions": [{"groupVersion": g + "/" + v, "version": v}],
                 "preferredVersion": {"groupVersion": g + "/" + v, "version": v}}
                for g, v in resources.group_versions()]})
        else:
            self._resource_list(path)

    def _resource_list(self, path):
        group_version = path[len("/apis/"):] if path.startswith("/apis/") else path[len("/api/"):]
        known = [r for r in resources.TABLE if r.api_version == group_version]
        if not known:
            self.send_bytes(404, b"404 page not found\n", "text/plain; charset=utf-8")
            return
        verbs = ["create", "delete", "get", "list", "patch", "update", "watch"]
        entries = [{"name": r.plural + s, "singularName": "", "namespaced": r.namespaced,
                    "kind": r.kind, "verbs": verbs if not s else ["get", "patch", "update"]}
                   for r in known for s in [""] + ["/" + x for x in r.subresources]]
        self.send_json(200, {"kind": "APIResourceList", "apiVersion": "v1",
                             "groupVersion": group_version, "resources": entries})

    # answers

    def send_json(self, code, item, headers=None):
        self.send_bytes(code, json.dumps(item, separators=(",", ":")).encode() + b"\n",
                        "application/json", headers)

    def send_bytes(self, code, data, kind, headers=None):
        self.code = code
        self.api.traffic.answered(len(data))
        self._head(code, {"Content-Type": kind, "Content-Length": str(len(data)),
                          **(headers or {})})
        if self.command == "HEAD":
            data = b""
        if self.fault and self.fault.truncate is not None:
            self.wfile.write(data[:self.fault.truncate])
            self.wfile.flush()
            raise Cut
        if self.fault and self.fault.drip:
            for at in range(len(data)):
                self.wfile.write(data[at:at + 1])
                self.wfile.flush()
                time.sleep(self.fault.drip)
            return
        self.wfile.write(data)
        self.wfile.flush()

    def _head(self, code, headers):
        self.send_response_only(code)
        clock = time.time() + (self.api.named.clock if self.api.named else 0)
        fixed = {"Audit-Id": str(uuid.uuid4()), "Cache-Control": "no-cache, private",
                 "Date": self.date_time_string(clock)}
        for name, value in {**fixed, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    # watches

    def _watch(self, request):
        t, query = request.target, request.query
        matches = selection.matcher(query)
        if t.name:  # a watch on one object, the old way
            by_name = matches
            matches = lambda i: i["metadata"]["name"] == t.name and by_name(i)  # noqa: E731
        asked = query.get("resourceVersion", "")
        initial = query.get("sendInitialEvents") == "true" or asked in ("", "0")
        if initial:
            items, version = self.api.store.list(t.resource, t.namespace, matches)
        else:
            items, version = [], asked
            self.api.store.events_after(int(asked), t.resource, 0)  # 410 before the answer begins
        version = int(version)
        self.code = 200
        self._head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
        for item in items:
            self._chunk("ADDED", item)
        if query.get("sendInitialEvents") == "true":
            self._bookmark(t.resource, version, {"k8s.io/initial-events-end": "true"})
        self.wfile.flush()
        self._follow(request, matches, version)
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _follow(self, request, matches, version):
        t, store, generation = request.target, self.api.store, self.api.generation
        end = time.monotonic() + float(request.query.get("timeoutSeconds") or WATCH_SECONDS)
        bookmark = time.monotonic() + BOOKMARK_SECONDS
        name = t.name or selection.name_of(request.query)
        while not store.closed and generation == self.api.generation:
            left = end - time.monotonic()
            if left <= 0 or self._gone():
                return
            try:
                events, version = store.events_after(version, t.resource, min(left, 1.0), name)
            except status.ApiError as e:
                self._chunk("ERROR", e.status)
                return
            for event in events:
                if not t.namespace or event.item["metadata"].get("namespace") == t.namespace:
                    self._event(event, matches)
            if request.query.get("allowWatchBookmarks") == "true" \
                    and time.monotonic() > bookmark:
                self._bookmark(t.resource, version)
                bookmark = time.monotonic() + BOOKMARK_SECONDS
            self.wfile.flush()

    def _event(self, event, matches):
        """An object that enters or leaves the selection is added or deleted for the watcher."""
        was = event.old is not None and matches(event.old)
        is_now = event.type != "DELETED" and matches(event.item)
        kind = {(False, True): "ADDED", (True, True): "MODIFIED", (True, False): "DELETED"}.get(
            (was, is_now))
        if kind:
            self._chunk(kind, event.item)

    def _bookmark(self, resource, version, annotations=None):
        meta = {"resourceVersion": str(version), "creationTimestamp": None}
        if annotations:
            meta["annotations"] = annotations
        self._chunk("BOOKMARK", {"kind": resource.kind, "apiVersion": resource.api_version,
                                 "metadata": meta})

    def _chunk(self, kind, item):
        data = json.dumps({"type": kind, "object": item}, separators=(",", ":")).encode() + b"\n"
        self.api.traffic.answered(len(data))
        if self.fault and self.fault.truncate is not None:
            self.wfile.write(b"%x\r\n" % len(data) + data[:self.fault.truncate])
            self.wfile.flush()
            raise Cut
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _gone(self):
        """Did the watcher hang up? It sends nothing while it watches."""
        look = select.poll()  # select() knows no descriptor above 1023
        look.register(self.connection, select.POLLIN)
        return bool(look.poll(0))
