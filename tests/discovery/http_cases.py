"""What is between TLS and the ConfigMap: odd answers of HTTP, odd JSON, odd objects."""
import datetime
import functools
import json
import zlib

from odd import endless, http
from odd_cases import CONTENT, FAILED, LONG, OK, answer, case, document, raw

LIBRARY = {"library": True}

# --- how long the body is --------------------------------------------------------------------------


def pieces(body, *chunks, lines=b"", end=b"0\r\n\r\n"):
    """Chunks as they are given: (the line of the size, what follows the data)."""
    out, step = OK + b"Transfer-Encoding: chunked\r\n" + lines + b"\r\n", 1 + len(body) // len(chunks)
    for i, (size, after) in enumerate(chunks):
        part = body[i * step:(i + 1) * step]
        out += size.replace(b"N", b"%x" % len(part)).replace(b"X", b"%X" % len(part)) + part + after
    return out + end


@functools.lru_cache(maxsize=None)
def swollen():
    """64 MiB of blanks in 64 KiB."""
    packer, piece = zlib.compressobj(9, zlib.DEFLATED, 31), b" " * 1048576
    return b"".join([*(packer.compress(piece) for _ in range(64)), packer.flush()])


def sized(name, code, size, after=b"\r\n", **more):
    says = () if code == 0 else (FAILED,)
    return answer(name, code, lambda b: pieces(b, (size, after)), *says, **more)


def length(name, code, value, *says):
    return answer("a length of " + name, code, lambda b: OK + b"Content-Length: " + value.replace(
        b"N", b"%d" % len(b)) + b"\r\n\r\n" + b, *says)


BODIES = [
    sized("a chunk size of 17 digits", 1, b"fffffffffffffffff\r\n"),
    sized("a chunk size of 16 digits", 1, b"ffffffffffffffff\r\n"),
    sized("a negative chunk size", 1, b"-N\r\n"),
    sized("a chunk without its end", 1, b"N\r\n", b""),
    sized("a chunk that is longer than it says", 1, b"10\r\n"),
    sized("an empty chunk size", 1, b"\r\n"),
    answer("trailers of 1 MiB", 1, lambda b: pieces(
        b, (b"N\r\n", b"\r\n"), end=b"0\r\n" + b"X: y\r\n" * 174763 + b"\r\n"), FAILED, call=LIBRARY),
    answer("chunks and an answer more", 0, lambda b: pieces(b, (b"N\r\n", b"\r\n")) + http(
        b'{"kind":"Status"}', "500 No")),
    answer("an extension of a chunk without end", 1, lambda b: endless(
        OK + b"Transfer-Encoding: chunked\r\n\r\n5;", b"x" * 65536)(b, 1), call=LONG),
    answer("a thousand chunks", 0, lambda b: pieces(b, *[(b"N\r\n", b"\r\n")] * 1000)),
    answer("trailers", 0, lambda b: pieces(b, (b"N\r\n", b"\r\n"), end=b"0\r\nX: y\r\nZ: 1\r\n\r\n")),
    answer("trailers that name a length and a type", 0, lambda b: pieces(
        b, (b"N\r\n", b"\r\n"), end=b"0\r\nContent-Length: 3\r\nContent-Type: text/html\r\n\r\n"),
           call=LIBRARY),
    answer("no last chunk", 1, lambda b: iter([pieces(b, (b"N\r\n", b"\r\n"), end=b"")]), FAILED, call=LIBRARY),
    answer("chunks and a length", 0, lambda b: pieces(
        b, (b"N\r\n", b"\r\n"), lines=b"Content-Length: %d\r\n" % len(b))),
    answer("chunks and a length that is too small", 0, lambda b: pieces(
        b, (b"N\r\n", b"\r\n"), lines=b"Content-Length: 7\r\n")),
    # One libcurl unpacks it, as far as an answer may be long; another takes no such coding.
    answer("64 MiB packed as a transfer encoding", 1, lambda b: OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" +
           pieces(swollen(), (b"N\r\n", b"\r\n")).split(b"\r\n\r\n", 1)[1], FAILED, call=LIBRARY),
    answer("64 MiB packed", 1, lambda b: http(swollen(), "200 OK", "Content-Encoding: gzip"), "decode", call=LIBRARY),
    length("thirty digits", 1, b"9" * 30, FAILED),
    length("zero", 1, b"0", CONTENT),
    answer("a length of 4 GiB and a close", 1, lambda b: iter([OK + b"Content-Length: 4294967296"
                                                                b"\r\n\r\n" + b])),
    answer("an answer and one more", 0, lambda b: http(b) + http(b'{"kind":"Status"}', "500 No")),
    answer("closed in the middle", 1, lambda b: iter([http(b)[:-100]]), FAILED, call=LIBRARY),
    answer("closed in the headers", 1, lambda b: iter([http(b)[:30]]), FAILED, call=LIBRARY),
    answer("closed before the empty line", 1, lambda b: iter([OK]), FAILED, call=LIBRARY),
    answer("an end without a length, without TLS' goodbye", 0, lambda b: OK +
           b"Connection: close\r\n\r\n" + b, rude=True, call=LIBRARY),  # the JSON is whole
]

# --- headers ---------------------------------------------------------------------------------------


def header(name, code, line, *says, **more):
    """One line more, before all others."""
    return answer(name, code, lambda b: http(b).replace(b"\r\n", b"\r\n" + line + b"\r\n", 1),
                  *(says or (() if code == 0 else (FAILED,))), **more)


def status(line, code, *says):
    return answer("the status '%s'" % line, code, lambda b: http(b).replace(
        b"HTTP/1.1 200 OK", line.encode()), *(says or (() if code == 0 else (FAILED,))))


HEADERS = [
    header("a value in another alphabet", 0, "X-Y: \u00fc".encode()),
    header("a value that is not UTF-8", 0, b"X-Y: \xff\xfe"),
    header("a value that is folded", 0, b"X-Y: a\r\n b\r\n\tc"),
    header("an empty value", 0, b"X-Y:"),
    header("a header of 90 KiB", 0, b"X-Y: " + b"z" * 92000),
    header("a header of 200 KiB", 1, b"X-Y: " + b"z" * 200000, "header line of the answer is too long", call=LIBRARY),
    header("a header of 1 MiB", 1, b"X-Y: " + b"z" * 1048576, "header line of the answer is too long"),
    header("2000 headers", 0, b"\r\n".join(b"X-%d: y" % i for i in range(2000))),
    header("50000 headers", 1, b"\r\n".join(b"X-%d: y" % i for i in range(50000))),
    header("an upgrade that nobody asked for", 0, b"Connection: Upgrade\r\nUpgrade: h2c"),
    header("a redirect that is none", 0, b"Location: http://192.0.2.1/"),
    header("a refresh", 0, b"Refresh: 0; url=http://192.0.2.1/"),
    header("a cookie of another place", 0, b"Set-Cookie: a=b; Domain=.example; Path=/"),
    header("Content-Encoding: identity", 0, b"Content-Encoding: identity"),
    answer("an empty line before all", 1, lambda b: b"\r\n" + http(b), FAILED),
    answer("no header at all", 0, lambda b: iter([b"HTTP/1.1 200 OK\r\n\r\n" + b])),
    answer("frames of HTTP/2", 1, lambda b: iter([b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\0" * 18]),
           FAILED),
    status("HTTP/1.1 200 " + "OK" * 40, 0),
    status("HTTP/1.1 200 \u00fc \x1b[31m", 0),
    status("HTTP/1.0 200 OK", 0),
    *[answer(code, 1, lambda b, code=code: http(b, code + " x"), code[:3]) for code in (
        "202", "203", "205", "207", "226", "299", "300", "305", "306", "399", "400", "405", "406",
        "407", "408", "409", "410", "411", "413", "414", "415", "418", "421", "425", "426", "428",
        "431", "451", "499", "500", "501", "502", "504", "505", "507", "511", "599", "600", "999")],
    *[answer(code, 1, lambda b, code=code: http(b, code + " x")) for code in ("000", "099", "102",
                                                                            "199")],
    answer("a status of this code in the object", 1, lambda b: http(json.dumps({
        "kind": "Status", "status": "Failure", "message": "\x1b[31mred\nline", "code": 418}).encode(),
        "500 No"), "red"),
    answer("a page of 3 MiB with status 500", 1, lambda b: http(b"<p>" * 1048576, "500 No",
                                                                 kind="text/html"), "500"),
]

# --- when to come again ----------------------------------------------------------------------------


def later(name, value, **more):
    """429 each time: it is over with the caller's time, and without many questions."""
    count = []

    def give(_body):
        count.append(1)
        assert len(count) < 40, "asked too often"
        return http(b"{}", "429 Wait", "Retry-After: " + value())
    return answer("429 that says " + name, 1, give, "429", **more)


def date(seconds):
    at = datetime.datetime.utcnow() + datetime.timedelta(seconds=seconds)
    return at.strftime("%a, %d %b %Y %H:%M:%S GMT")


RETRIES = [
    later("0", lambda: "0", call=LONG),
    later("a second", lambda: "1", call=LONG),
    later("a date to come", lambda: date(2), call=LONG),
    later("a date long ago", lambda: "Thu, 01 Jan 1970 00:00:00 GMT", call=LONG),
    later("a date of the year 9999", lambda: "Fri, 31 Dec 9999 23:59:59 GMT"),
    later("a number beyond all", lambda: "9" * 40),
    later("2 to the 32nd", lambda: "4294967296"),
    later("2 to the 63rd", lambda: "9223372036854775808"),
    later("less than nothing", lambda: "-1", call=LONG),
    later("half a second", lambda: "0.5", call=LONG),
    later("a word", lambda: "soon", call=LONG),
    later("nothing", lambda: "", call=LONG),
    later("two numbers", lambda: "1, 2", call=LONG),
    answer("503 without a word", 1, lambda b: http(b"", "503 No", kind=None), "503", call=LONG),
    case("HTTP: 429 once, then well", 0, call={"timeout": "20s", "seconds": 25}, answer=lambda body, nth:
         http(body) if nth > 1 else http(b"{}", "429 Wait", "Retry-After: 1")),
    case("HTTP: 404 once, then well", 0, call={"timeout": "20s", "seconds": 25}, answer=lambda body, nth:
         http(body) if nth > 1 else http(b"{}", "404 No")),
    case("HTTP: 403 once, then well", 0, call={"timeout": "20s", "seconds": 25}, answer=lambda body, nth:
         http(body) if nth > 1 else http(b"{}", "403 No")),
    case("HTTP: garbage once, then well", 0, call={"timeout": "20s", "seconds": 25},
         answer=lambda body, nth: http(body) if nth > 1 else b"\x00\x01garbage\r\n\r\n"),
    case("HTTP: 500 in the second pass", 1, "500", call=LONG, answer=lambda body, nth:
         http(body) if nth < 2 else http(b"{}", "500 No")),
    case("HTTP: no JSON in the second pass", 1, "decode", call=LONG, answer=lambda body, nth:
         http(body) if nth < 2 else http(b"{")),
    case("HTTP: the second pass hangs", 1, "no complete answer", call=LONG, answer=lambda body, nth:
         http(body) if nth < 2 else endless(OK, b"X: y\r\n", 0.5)(body, nth)),
]

# --- JSON and the object ---------------------------------------------------------------------------


def inserted(name, code, text, *says):
    """The document with more members in front."""
    return raw(name, code, lambda b: b.replace("{", "{" + text + ", ", 1).encode(), *says)


def great(name, code, change, *says):
    return case("ConfigMap: " + name, code, *says, object=change,
                call={"timeout": "30s", "seconds": 60, "memory": 160})


JSON = [
    raw("UTF-16", 1, lambda b: b.encode("utf-16"), "decode"),
    raw("UTF-16 without a mark", 1, lambda b: b.encode("utf-16-le"), "decode"),
    raw("a NUL behind it", 1, lambda b: b.encode() + b"\0", "decode"),
    raw("two documents", 1, lambda b: (b + "\n" + b).encode(), "decode"),
    raw("blanks around, 1 MiB", 0, lambda b: b" \t\r\n" * 262144 + b.encode() + b"\n" * 100),
    raw("a comment", 1, lambda b: ("/* x */" + b).encode(), "decode"),
    raw("a comma at the end", 1, lambda b: (b[:-1] + ",}").encode(), "decode"),
    raw("single quotes", 1, lambda b: b.replace('"', "'").encode(), "decode"),
    raw("every character escaped", 0, lambda b: re_escaped(b)),
    raw("a raw newline in a text", 1, lambda b: b.replace("\\n", "\n").encode(), "decode"),
    raw("a raw tab in a text", 1, lambda b: b.replace('"data": {', '"data": {"z": "\t", ').encode(),
        "decode"),
    raw("an escape that is none", 1, lambda b: b.replace('"data": {', '"data": {"z": "\\q", ').encode(),
        "decode"),
    raw("UTF-8 of a surrogate", 1, lambda b: b.replace('"data": {', '"data": {"z": "@", ').encode(
        ).replace(b"@", b"\xed\xa0\x80"), "decode"),
    raw("overlong UTF-8", 1, lambda b: b.replace('"data": {', '"data": {"z": "@", ').encode(
        ).replace(b"@", b"\xc0\x80"), "decode"),
    inserted("NaN", 1, '"n": NaN', "decode"),
    inserted("a number with a zero before", 1, '"n": 01', "decode"),
    inserted("a number with a plus", 1, '"n": +1', "decode"),
    inserted("a number of 400 digits", 1, '"n": ' + "1" * 400, "decode"),
    inserted("a number beyond all", 1, '"n": 1e400', "decode"),
    inserted("an unknown member twice", 1, '"n": 1, "n": 2', "decode"),
    inserted("members that differ in case", 0, '"Data": {"kubeconfig": 1}'),
    inserted("the kind in capitals too", 0, '"KIND": "Secret"'),
    inserted("40 levels deep", 0, '"n": ' + "[" * 40 + "]" * 40),
    inserted("a hundred thousand levels deep", 1, '"n": ' + "[" * 100000 + "]" * 100000, "decode"),
    inserted("an empty member name", 0, '"": 1'),
    inserted("a member name with a NUL", 1, '"a\\u0000b": 1', "decode"),
    great("a million small values", 0, lambda o: {**o, "n": [0] * 1000000}),
    great("100000 keys among the data", 0, lambda o: {**o, "data": {
        **o["data"], **{"k%d" % i: "v" for i in range(100000)}}}),
    great("3 MiB among the data", 0, lambda o: {**o, "data": {**o["data"], "k": "v" * 3145728}}),
    great("5 MiB among the data", 1, lambda o: {**o, "data": {**o["data"], "k": "v" * 5242880}},
          "longer than"),
    document("binary data", 0, lambda o: {**o, "binaryData": {"a": "AAAA"}}),
    document("binary data that is none", 0, lambda o: {**o, "binaryData": {"a": "!"}}),
    document("a version with a slash before", 1, lambda o: {**o, "apiVersion": "/v1"}),
    raw("the kubeconfig twice", 1, lambda b: b.replace(
        '"data": {', '"data": {"kubeconfig": "x", ').encode(), "duplicate"),
    document("immutable", 0, lambda o: {**o, "immutable": True}),
    document("the kubeconfig as bytes", 1, lambda o: {**o, "data": {**o["data"], "kubeconfig": None},
                                                      "binaryData": {"kubeconfig": "AAAA"}},
             "there is no kubeconfig key"),
    document("the kubeconfig as an object", 1, lambda o: {**o, "data": {
        **o["data"], "kubeconfig": {"a": 1}}}, "there is no kubeconfig key"),
    document("the signature as a number", 1, lambda o: {**o, "data": {
        **o["data"], "jws-kubeconfig-abcdef": 1}}, "could not find a JWS signature"),
    document("the signature as null", 1, lambda o: {**o, "data": {
        **o["data"], "jws-kubeconfig-abcdef": None}}),
    document("a kind in small letters", 1, lambda o: {**o, "kind": "configmap"}),
    document("a kind that is a number", 1, lambda o: {**o, "kind": 5}),
    document("a kind that is null", 0, lambda o: {**o, "kind": None}),
    document("a kind without a version", 0, lambda o: {**o, "apiVersion": ""}),
    document("an APIResourceList", 1, lambda o: {**o, "kind": "APIResourceList"}),
    document("another group's", 1, lambda o: {**o, "apiVersion": "apps/v1"}),
    document("a Status that succeeded", 1, lambda o: {"kind": "Status", "apiVersion": "v1",
                                                      "status": "Success"}),
    document("metadata: a name that is a number", 0, lambda o: {**o, "metadata": {"name": 5}}),
    document("metadata: unknown", 0, lambda o: {**o, "metadata": {**o["metadata"], "more": [1]}}),
]


def re_escaped(text):
    """JSON whose texts are all written in \\u."""
    def one(value):
        if isinstance(value, str):
            return '"' + "".join("\\u%04x" % ord(c) for c in value) + '"'
        if isinstance(value, dict):
            return "{" + ",".join(one(k) + ":" + one(v) for k, v in value.items()) + "}"
        return json.dumps(value)
    return one(json.loads(text)).encode()


CASES = [*BODIES, *HEADERS, *RETRIES, *JSON]
