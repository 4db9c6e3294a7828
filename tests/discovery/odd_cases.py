"""Odd and hostile servers, bundles, kubeconfigs and answers, one row a case (odd.py serves them)."""
import base64
import email.utils
import functools
import gzip
import re
import ssl
import time

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, ObjectIdentifier

import odd
from case import Case, SECRET
from odd import NAMES, Odd, authority, endless, http, issue, shared, stranger

@functools.lru_cache(maxsize=None)
def ended():
    return authority("p256", "an earlier one", days=(-20, -1))


UNTRUSTED = "cannot trust"
CHAIN = "not signed by the cluster's CA"
NO_CA = "failed to parse cluster CA"
FAILED = "failed to request the cluster-info ConfigMap"
CONTENT = "cluster-info ConfigMap"


def case(name, code=0, *says, **more):
    """A row whose server is Odd(**more); what belongs to the call is in `call`."""
    call = more.pop("call", {})
    return Case(name, code=code, says=says, odd=Odd(**more), **call)


# --- certificates ----------------------------------------------------------------------------------


def leaf(**more):
    """A leaf for the usual names that differs in `more`."""
    more.setdefault("names", NAMES)
    return lambda ca: issue(ca, **more)


def of_kind(kind):
    return {"ca": lambda: authority(kind), "leaf": leaf(kind=kind)}


def below_intermediate(send=True, **more):
    """A leaf signed by an intermediate that is sent along, or not."""
    def make(ca):
        middle = issue(ca, name="middle", is_ca=more.get("is_ca", True))
        made = issue(middle, names=NAMES)
        made.middle = middle
        return [made, middle] if send else made
    return make


def of_two_names(ca):
    return issue(ca, name="127.0.0.1", names=())


NAME_CONSTRAINT = (x509.NameConstraints(None, [x509.DNSName("localhost")]), True)
UNKNOWN_CRITICAL = (x509.UnrecognizedExtension(ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\x05\x00"),
                    True)


def dated(ahead):
    """Answers of a server whose clock is so many seconds ahead."""
    return lambda b, _: http(b, "200 OK", "Date: " + email.utils.formatdate(time.time() + ahead, usegmt=True))


CERTIFICATES = [
    *[case("odd: keys of " + kind, 0, **of_kind(kind))
      for kind in ("p256", "p384", "p521", "ed25519", "rsa")],
    case("odd: a curve that Go lacks", 4, UNTRUSTED, ca=lambda: authority("secp256k1"), leaf=lambda _: issue(stranger(), names=NAMES)),
    case("odd: RSA of 1024 bits", 4, UNTRUSTED, leaf=leaf(kind="rsa1024")),
    case("odd: a name in the common name alone", 4, UNTRUSTED, "valid for no name",
         leaf=of_two_names),
    case("odd: localhost in the common name alone", 4, UNTRUSTED,
         leaf=lambda ca: issue(ca, name="localhost"), call={"endpoint": "localhost:{port}"}),
    case("odd: an address as a DNS name", 4, UNTRUSTED, "not 127.0.0.1",
         leaf=leaf(names=(x509.DNSName("127.0.0.1"),))),
    case("odd: a name as wide as everything", 4, UNTRUSTED, leaf=leaf(names=("*",)),
         call={"endpoint": "localhost:{port}"}),
    case("odd: a wildcard within a label", 4, UNTRUSTED, leaf=leaf(names=("local*",)),
         call={"endpoint": "localhost:{port}"}),
    case("odd: a name in capitals", 0, leaf=leaf(names=("LOCALHOST",)),
         call={"endpoint": "localhost:{port}"}),
    case("odd: another address", 4, UNTRUSTED, "valid for 127.0.0.2, not 127.0.0.1",
         leaf=leaf(names=("127.0.0.2",))),
    case("odd: an IPv6 address", 0, host="::1"),
    case("odd: an IPv6 address written long", 0, host="::1",
         call={"endpoint": "[0:0:0:0:0:0:0:1]:{port}"}),
    case("odd: an IPv6 address that ends as IPv4", 0, host="::1",
         call={"endpoint": "[::0.0.0.1]:{port}"}),
    case("odd: any IPv6 address", 4, UNTRUSTED, "not ::", host="::1",
         call={"endpoint": "[::]:{port}"}),
    case("odd: an IPv6 address that is not in it", 4, UNTRUSTED, host="::1",
         leaf=leaf(names=("127.0.0.1", "localhost"))),
    case("odd: a leaf signed by itself and published", 0, bundle=lambda ca, made: made.pem,
         leaf=lambda ca: issue(None, names=NAMES), pin=lambda ca, made: made.pin),
    case("odd: the pin of the leaf", 4, "no public key of its CA certificates", pin=lambda ca, made: made.pin),
    case("odd: leaf below an intermediate", 0, leaf=below_intermediate()),
    case("odd: the intermediate is not sent", 4, CHAIN, leaf=below_intermediate(False)),
    case("odd: an intermediate that is not a CA", 4, CHAIN, leaf=below_intermediate(is_ca=False)),
    case("odd: only the intermediate is published", 0, leaf=below_intermediate(False),
         bundle=lambda ca, made: made.middle.pem, pin=lambda ca, made: made.middle.pin),
    case("odd: both published, the intermediate pinned", 0, leaf=below_intermediate(False),
         bundle=lambda ca, made: ca.pem + made.middle.pem, pin=lambda ca, made: made.middle.pin),
    # Rotation, and a forger who publishes his CA beside the genuine one.
    case("odd: two CAs, the pinned one signed", 0, bundle=lambda ca, _: stranger().pem + ca.pem),
    case("odd: two CAs, both pinned", 0, bundle=lambda ca, _: stranger().pem + ca.pem,
         pin=lambda ca, _: stranger().pin + "," + ca.pin),
    case("odd: two CAs, the other one signed", 4, CHAIN, "give a hash for each",
         bundle=lambda ca, _: stranger().pem + ca.pem, pin=lambda *_: stranger().pin),
    case("odd: two CAs, the other one signed and comes first", 4, CHAIN,
         bundle=lambda ca, _: ca.pem + stranger().pem, pin=lambda *_: stranger().pin),
    case("odd: the pinned CA has ended, the other one signed", 4, CHAIN,
         bundle=lambda ca, _: ended().pem + ca.pem, pin=lambda *_: ended().pin),
    case("odd: the pinned CA has ended, and signed", 4, UNTRUSTED, ca=ended,
         bundle=lambda ca, _: stranger().pem + ca.pem),
    case("odd: a CA that has ended", 4, UNTRUSTED, ca=lambda: authority(days=(-20, -1))),
    case("odd: a CA that has not begun", 4, UNTRUSTED, ca=lambda: authority(days=(1, 20))),
    case("odd: a CA that is none", 4, CHAIN,
         ca=lambda: issue(None, name="kubernetes", usages=())),
    case("odd: a CA without constraints", 4, CHAIN,
         ca=lambda: issue(None, name="kubernetes", usages=(), basic=False)),
    case("odd: a leaf for clients", 4, UNTRUSTED,
         leaf=leaf(usages=(ExtendedKeyUsageOID.CLIENT_AUTH,))),
    case("odd: a leaf for every use", 0,
         leaf=leaf(usages=(ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH))),
    case("odd: a leaf without uses", 0, leaf=leaf(usages=())),
    case("odd: a leaf with a critical extension", 4, UNTRUSTED,
         leaf=leaf(more=(UNKNOWN_CRITICAL,))),
    case("odd: a CA that may not name this", 4, UNTRUSTED,
         ca=lambda: authority(more=(NAME_CONSTRAINT,))),
    case("odd: a leaf that ended yesterday", 4, "has expired or is not yet valid", "is after",
         leaf=leaf(days=(-9, -1))),
    case("odd: a CA that ended yesterday", 4, "the certificate of the cluster's CA: certificate \"CN=kubernetes\" has "
         "expired or is not yet valid", "is after", "hint: it is valid from 20", "the clock of ", " s ahead of this machine's) "
         "agrees: the cluster needs a new CA", ca=lambda: authority(days=(-9, -1)), answer=dated(300)),
    case("odd: a CA that begins tomorrow", 4, "the certificate of the cluster's CA", "is before",
         "does not report its time", ca=lambda: authority(days=(1, 9))),
    case("odd: a CA that begins tomorrow, by this machine's clock alone", 4, "the certificate of the cluster's CA",
         "is before", " s behind that of ", "correct it", ca=lambda: authority(days=(1, 9)), answer=dated(2 * 86400)),
    case("odd: a CA of the same name", 4, CHAIN,
         leaf=lambda _: issue(authority(), names=NAMES)),
    case("odd: another leaf the second time", 4, CHAIN,
         later=lambda _: issue(authority(), names=NAMES)),
    case("odd: TLS 1.2 alone", 0, tls=lambda c: setattr(c, "maximum_version",
                                                        ssl.TLSVersion.TLSv1_2)),
    case("odd: TLS 1.3 alone", 0, tls=lambda c: setattr(c, "minimum_version",
                                                        ssl.TLSVersion.TLSv1_3)),
    case("odd: TLS 1.1 at most", 1, FAILED,
         tls=lambda c: (setattr(c, "minimum_version", ssl.TLSVersion.TLSv1),
                        setattr(c, "maximum_version", ssl.TLSVersion.TLSv1_1))),
    case("odd: a client certificate may be shown", 0,
         tls=lambda c: (c.load_verify_locations(cadata=shared().pem.decode()),
                        setattr(c, "verify_mode", ssl.CERT_OPTIONAL))),
    case("odd: a client certificate must be shown", 1, FAILED,
         tls=lambda c: (c.load_verify_locations(cadata=shared().pem.decode()),
                        setattr(c, "verify_mode", ssl.CERT_REQUIRED))),
]

# --- the published bundle --------------------------------------------------------------------------


def block(der, kind="CERTIFICATE", width=64, end="\n"):
    text = base64.b64encode(der).decode()
    lines = [text[i:i + width] for i in range(0, len(text), width)]
    return end.join(["-----BEGIN %s-----" % kind, *lines, "-----END %s-----" % kind, ""]).encode()


def bundle(name, code, make, *says):
    return case("bundle: " + name, code, *says, bundle=lambda ca, made: make(ca))


BUNDLES = [
    bundle("text around the blocks", 0,
           lambda ca: b"one\n" + ca.pem + b"between\n\n" + stranger().pem + b"the end"),
    bundle("other blocks between", 0,
           lambda ca: block(b"key", "RSA PRIVATE KEY") + ca.pem + block(b"list", "X509 CRL")),
    bundle("a thousand certificates", 0, lambda ca: ca.pem + stranger().pem * 1000),
    bundle("more than 1024 certificates", 1, lambda ca: ca.pem + stranger().pem * 1024, "more than 1024 in one bundle"),
    bundle("no newline at the end", 0, lambda ca: ca.pem.rstrip()),
    bundle("lines end in CRLF", 0, lambda ca: block(ca.der, end="\r\n")),
    bundle("one long line", 0, lambda ca: block(ca.der, width=100000)),
    bundle("short lines", 0, lambda ca: block(ca.der, width=7)),
    bundle("blanks behind lines", 0, lambda ca: ca.pem.replace(b"\n", b"  \n")),
    bundle("two certificates in one block", 1, lambda ca: block(stranger().der + ca.der), NO_CA),
    bundle("a byte behind the certificate", 1, lambda ca: block(ca.der + b"\0"), NO_CA),
    bundle("a block that is not a certificate", 1, lambda ca: ca.pem + block(b"no"), NO_CA),
    bundle("a damaged block beside a good one", 1,
           lambda ca: b"-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n" + ca.pem,
           NO_CA),
    bundle("a block with headers alone", 1,
           lambda ca: ca.pem.replace(b"-----\n", b"-----\nProc-Type: 4\n\n", 1), NO_CA),
    bundle("a block with headers and a good one", 0,
           lambda ca: ca.pem.replace(b"-----\n", b"-----\nProc-Type: 4\n\n", 1) + ca.pem),
    bundle("a trusted certificate", 1, lambda ca: block(ca.der, "TRUSTED CERTIFICATE"), NO_CA),
    bundle("an X509 certificate", 1, lambda ca: block(ca.der, "X509 CERTIFICATE"), NO_CA),
    bundle("marks in small letters", 1, lambda ca: ca.pem.replace(b"BEGIN", b"begin"), NO_CA),
    bundle("no end", 1, lambda ca: ca.pem[:-20], NO_CA),
    bundle("a byte order mark", 0, lambda ca: b"\xef\xbb\xbf" + ca.pem),
    bundle("DER", 1, lambda ca: ca.der, NO_CA),
    bundle("nothing", 1, lambda ca: b"", "no certificate-authority-data"),
    bundle("a key", 1, lambda ca: ca.key_pem, NO_CA),
    bundle("a hundred certificates", 0, lambda ca: stranger().pem * 99 + ca.pem),
    case("bundle: garbage beside the pinned one, without a pin", 1, NO_CA,
         bundle=lambda ca, _: b"nothing good",
         call={"pins": (), "more": ("--discovery-token-unsafe-skip-ca-verification",)}),
]

# --- the signed kubeconfig -------------------------------------------------------------------------


def config(name, code, change, *says, **more):
    return case("kubeconfig: " + name, code, *says, kubeconfig=lambda text, server: change(text),
                **more)


def server_line(value):
    return lambda text: re.sub(r"server: .*", "server: " + value, text)


def extra_cluster(text, name, server="https://192.0.2.1:6443"):
    one = re.search(r"- cluster:\n(?: {4}.*\n)+  name: .*\n", text).group(0)
    two = re.sub("server: .*", "server: " + server, one)
    return text.replace(one, one + re.sub("name: .*", "name: " + name, two))


NAMED = ("contexts:\n- context:\n    cluster: here\n    user: nobody\n  name: c\n"
         "current-context: c\n")


KUBECONFIGS = [
    config("a cluster with a name and a context", 0, lambda t: t.replace(
        'name: ""', "name: here").replace('contexts: null\ncurrent-context: ""\n', NAMED)),
    config("a cluster with a name and no context", 1, lambda t: t.replace('name: ""', "name: here"),
           "no cluster matches"),
    config("a second cluster beside", 0, lambda t: extra_cluster(t, "other")),
    config("two clusters of one name", 0, lambda t: extra_cluster(t, '""')),
    config("another kind", 1, lambda t: t.replace("kind: Config", "kind: Pod"), "kind must be Config"),
    config("another version", 1, lambda t: t.replace("apiVersion: v1", "apiVersion: v2"), "apiVersion must be v1"),
    config("no kind and no version", 0, lambda t: t.replace("kind: Config\n", "").replace(
        "apiVersion: v1\n", "")),
    config("a number for a server", 1, server_line("6443"), "a string was expected"),
    config("a yes for a server", 1, server_line("yes"), "a string was expected"),
    config("no server", 1, server_line('""'), "malformed kubeconfig"),
    config("a server without a scheme", 1, lambda t: t.replace("https://", ""), "must be an https URL"),
    config("a server by http", 1, lambda t: t.replace("https://", "http://"), "must be an https URL"),
    config("another server", 0, server_line("https://192.0.2.1:6443"),
           "the cluster's own address is https://192.0.2.1:6443"),
    config("unknown fields", 0, lambda t: t + "else:\n  deep: [1, {two: 3}]\n"),
    config("insecure-skip-tls-verify", 0, lambda t: t.replace(
        "    server:", "    insecure-skip-tls-verify: true\n    server:")),
    config("tls-server-name", 0, lambda t: t.replace(
        "    server:", "    tls-server-name: x.example\n    server:")),
    config("a file for the CA", 1, lambda t: re.sub(
        "certificate-authority-data: .*", "certificate-authority: /etc/hosts", t),
           "no certificate-authority-data"),
    config("CA data in folded lines", 0, lambda t: re.sub(
        "certificate-authority-data: (.{40})(.*)", "certificate-authority-data: |\n      \\1\n"
        "      \\2", t)),
    config("CA data of the URL alphabet", 1, lambda t: re.sub(
        "certificate-authority-data: (.*)", lambda m: "certificate-authority-data: -_" +
        m.group(1), t), "base64"),
    config("CA data without padding", 1, lambda t: re.sub(
        "certificate-authority-data: (.*)", lambda m: "certificate-authority-data: " +
        base64.b64encode(shared().pem + b"\n" * (3 - len(shared().pem) % 3 + 1)).decode().rstrip(
            "="), t), "base64"),
    config("JSON", 0, lambda t: __import__("json").dumps({
        "apiVersion": "v1", "kind": "Config", "clusters": [{"name": "", "cluster": {
            "server": re.search("server: (.*)", t).group(1), "certificate-authority-data":
            re.search("data: (.*)", t).group(1)}}]})),
    config("CRLF", 0, lambda t: t.replace("\n", "\r\n")),
    config("signs that JSON escapes", 0, lambda t: t + "# <&> \u00fc \U0001f600 \\ \"\n"),
    config("a control character", 1, lambda t: t + "# \x7f\n", "control characters"),
    config("an anchor and an alias", 1, lambda t: t.replace('name: ""', "name: &a \"\"").replace(
        'current-context: ""', "current-context: *a"), "anchors are not allowed"),
    config("a key twice", 1, lambda t: t + "kind: Config\n", "duplicate key"),
    config("tabs", 1, lambda t: t.replace("    server", "\tserver"), "line"),
    config("a list", 1, lambda t: "- a\n", "not a kubeconfig"),
    config("a text", 1, lambda t: "hello", "not a kubeconfig"),
    config("clusters as a map", 1, lambda t: "clusters: {a: b}\n", "no cluster matches"),
    config("an empty cluster", 1, lambda t: 'clusters: [{name: "", cluster: null}]\n',
           "no cluster matches"),
    config("a null among the clusters", 0, lambda t: t.replace("clusters:\n", "clusters:\n- null\n")),
    config("nested without end", 1, lambda t: t + "x: " + "[" * 2000 + "]" * 2000 + "\n", "levels"),
    config("users of a wrong type", 0, lambda t: t.replace("users: null", "users: 7")),
]

# --- the ConfigMap ---------------------------------------------------------------------------------


def signed_other(payload):
    """The signature is of other bytes than the text."""
    def change(data, _server):
        text = data["kubeconfig"]
        return {**data, "jws-kubeconfig-abcdef":
                odd.tokens.detached_jws("abcdef", SECRET, payload(text))}
    return change


def jws(name, change):
    return case("signature: " + name, 4, "failed to verify JWS signature",
                data=lambda data, _: {**data, "jws-kubeconfig-abcdef":
                                      change(data["jws-kubeconfig-abcdef"])})


SIGNATURES = [
    jws("a blank before", lambda s: " " + s),
    jws("one dot too many", lambda s: s.replace("..", "...")),
    jws("a dot at the end", lambda s: s + "."),
    jws("cut short", lambda s: s[:-1]),
    jws("twice", lambda s: s + s),
    jws("header alone", lambda s: s.split("..")[0] + ".."),
    jws("no header", lambda s: ".." + s.split("..")[1]),
    jws("in capitals", lambda s: s.upper()),
    jws("a list of two", lambda s: s + "," + s),
    jws("the standard alphabet", lambda s: s.replace("-", "+").replace("_", "/") + "+"),
    case("signature: of the escaped text", 4, "failed to verify JWS signature",
         data=signed_other(lambda t: __import__("json").dumps(t)[1:-1])),
    case("signature: of the text with CRLF", 4, "failed to verify JWS signature",
         data=signed_other(lambda t: t.replace("\n", "\r\n"))),
    case("signature: of the text without its last newline", 4, "failed to verify JWS signature",
         data=signed_other(lambda t: t.rstrip("\n"))),
    case("signature: of nothing", 4, "failed to verify JWS signature",
         data=signed_other(lambda t: "")),
    case("signature: by an empty secret", 4, "failed to verify JWS signature", data=lambda d, _: {
        **d, "jws-kubeconfig-abcdef": odd.tokens.detached_jws("abcdef", "", d["kubeconfig"])}),
    case("signature: under another id's key", 1, 'for token ID "abcdef"', "signatures for: ghijkl",
         data=lambda d, _: {"kubeconfig": d["kubeconfig"],
                            "jws-kubeconfig-ghijkl": d["jws-kubeconfig-abcdef"]}),
    case("signature: under a key in capitals", 1, 'for token ID "abcdef"', "no tokens",
         data=lambda d, _: {"kubeconfig": d["kubeconfig"],
                            "jws-kubeconfig-ABCDEF": d["jws-kubeconfig-abcdef"]}),
]


def document(name, code, change, *says):
    return case("ConfigMap: " + name, code, *says, object=change)


def raw(name, code, change, *says):
    return case("ConfigMap: " + name, code, *says, body=change)


CONFIGMAPS = [
    document("another kind", 1, lambda o: {**o, "kind": "Secret"}, "unexpected object: Secret"),
    document("a list of it", 1, lambda o: {"kind": "ConfigMapList", "apiVersion": "v1",
                                           "items": [o]}, "unexpected object"),
    document("another version", 1, lambda o: {**o, "apiVersion": "v2"}, "unexpected object: v2"),
    document("a Status", 1, lambda o: {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                                       "message": "not today", "code": 500}, "not today"),
    document("no kind", 0, lambda o: {k: v for k, v in o.items() if k not in ("kind",
                                                                              "apiVersion")}),
    document("a number among the data", 0, lambda o: {**o, "data": {**o["data"], "n": 1}}),
    document("a null among the data", 0, lambda o: {**o, "data": {**o["data"], "n": None}}),
    document("data as a list", 1, lambda o: {**o, "data": [1]}, "has no tokens"),
    document("no data", 1, lambda o: {**o, "data": None}, "has no tokens"),
    document("metadata as a text", 0, lambda o: {**o, "metadata": "x"}),
    document("unknown fields", 0, lambda o: {**o, "more": {"x": [1]}}),
    document("another name", 0, lambda o: {**o, "metadata": {"name": "else"}}),
    raw("garbage behind it", 1, lambda b: b.encode() + b" x", "decode"),
    raw("a byte order mark", 1, lambda b: b"\xef\xbb\xbf" + b.encode(), "decode"),
    raw("nothing", 1, lambda b: b"", "decode"),
    raw("data twice", 1, lambda b: (b[:-1] + ', "data": {"kubeconfig": "x"}}').encode(),
        "duplicate"),
    raw("a NUL in a text", 1, lambda b: b.replace('"data": {', '"data": {"z": "\\u0000", ').encode(),
        "decode"),
    raw("half of a surrogate pair", 1, lambda b: b.replace(
        '"data": {', '"data": {"z": "\\ud800", ').encode(), "decode"),
    raw("bytes that are no UTF-8", 1, lambda b: b.replace(
        '"data": {', '"data": {"z": "@", ').encode().replace(b"@", b"\xff"), "decode"),
    raw("YAML", 1, lambda b: b"kind: ConfigMap\ndata: {}\n", "decode"),
]

# --- HTTP ------------------------------------------------------------------------------------------


def answer(name, code, make, *says, **more):
    return case("HTTP: " + name, code, *says, answer=lambda body, nth: make(body), **more)


def chunked(body, *lines):
    half = len(body) // 2
    return (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + b"".join(lines) +
            b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x;x=y\r\n%s\r\n0\r\n\r\n"
            % (half, body[:half], len(body) - half, body[half:]))


def follow(code):
    """A redirect to a path of the same server that gives the true answer."""
    return case("HTTP: %d to the same server" % code, 1, str(code), "redirects are not followed",
                answer=lambda body, nth: http(b"", "%d Go" % code, "Location: /elsewhere"),
                paths={"/elsewhere": lambda server: http(server.body())})


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
LONG = {"timeout": "3s", "seconds": 15}

ANSWERS = [
    answer("chunks", 0, chunked),
    answer("chunks of a damaged size", 1, lambda b: chunked(b).replace(b"\r\n\r\n", b"\r\n\r\nzz",
                                                                       1), FAILED),
    answer("an end without a length", 0, lambda b: iter([
        b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + b])),
    answer("a length that is too small", 1, lambda b: http(b).replace(
        b"Content-Length: %d" % len(b), b"Content-Length: 10"), CONTENT),
    answer("a length that is too great", 1, lambda b: iter([http(b).replace(
        b"Content-Length: %d" % len(b), b"Content-Length: %d" % (len(b) + 9))]), FAILED),
    answer("two lengths that differ", 1, lambda b: OK + b"Content-Length: %d\r\nContent-Length: 10"
           b"\r\n\r\n" % len(b) + b, "it has two lengths", call={"library": True}),
    answer("two lengths, the second is right", 1, lambda b: OK + b"Content-Length: 10\r\n"
           b"Content-Length: %d\r\n\r\n" % len(b) + b, "it has two lengths"),
    answer("two lengths that are alike", 0, lambda b: OK + b"Content-Length: %d\r\nContent-Length: "
           b"%d\r\n\r\n" % (len(b), len(b)) + b),
    answer("a negative length", 1, lambda b: OK + b"Content-Length: -5\r\n\r\n" + b, FAILED),
    answer("a length that is not a number", 1, lambda b: OK + b"Content-Length: five\r\n\r\n" + b,
           FAILED),
    answer("HTTP/0.9", 1, lambda b: iter([b]), FAILED),
    answer("a status of four digits", 1, lambda b: http(b, "2000 OK"), FAILED),
    answer("a status without words", 0, lambda b: http(b, "200")),
    answer("lines that end in LF", 0, lambda b: http(b).replace(b"\r\n", b"\n")),
    answer("a header without a colon", 1, lambda b: http(b, "200 OK", "rubbish"), FAILED),
    answer("a NUL in a header", 1, lambda b: http(b, "200 OK", "X: a\0b"), FAILED),
    answer("100 and 103 before", 0, lambda b: b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early "
           b"Hints\r\nLink: x\r\n\r\n" + http(b)),
    answer("101", 1, lambda b: http(b, "101 Switching Protocols"), CONTENT),
    answer("201", 1, lambda b: http(b, "201 Created"), "201"),
    answer("204", 1, lambda b: b"HTTP/1.1 204 No Content\r\n\r\n", "204"),
    answer("206", 1, lambda b: http(b, "206 Partial Content"), "206"),
    answer("304", 1, lambda b: b"HTTP/1.1 304 Not Modified\r\n\r\n", "304"),
    answer("402", 1, lambda b: http(b, "402 Pay"), "402"),
    answer("text/html", 0, lambda b: http(b, kind="text/html")),
    answer("a page", 1, lambda b: http(b"<!doctype html><p>log in", kind="text/html"), "the API server?"),
    answer("a type with a parameter", 0, lambda b: http(b, kind="Application/JSON; charset=utf-8")),
    answer("no type", 0, lambda b: http(b, kind=None)),
    answer("gzip unasked", 1, lambda b: http(gzip.compress(b), "200 OK", "Content-Encoding: gzip"),
           "decode"),
    answer("cookies and odd headers", 0, lambda b: http(
        b, "200 OK", "Set-Cookie: a=b; Secure", "Strict-Transport-Security: max-age=1",
        "Alt-Svc: h3=\":443\"", "Date: never", "Retry-After: soon")),
    *[follow(code) for code in (301, 302, 303, 307, 308)],
    answer("redirects without end", 1, lambda b: http(b"", "302 Go", "Location: " +
                                                      odd.CLUSTER_INFO), "302"),
    answer("a redirect to a file", 1, lambda b: http(b"", "302 Go",
                                                     "Location: file:///etc/passwd"), "302"),
    answer("401 with a challenge", 1, lambda b: http(b, "401 No", "WWW-Authenticate: Basic "
                                                     "realm=x"), "401"),
    answer("503 that asks for a day", 1, lambda b: http(b, "503 No", "Retry-After: 86400"), "503"),
    answer("503 that asks for less than nothing", 1, lambda b: http(b, "503 No",
                                                                    "Retry-After: -7"), "503"),
    answer("a Date of the year 0", 0, lambda b: http(b, "200 OK",
                                                     "Date: Sat, 01 Jan 0000 00:00:00 GMT")),
    case("HTTP: a body without end", 1, "longer than",
         answer=endless(OK + b"\r\n", b" " * 65536), call=LONG),
    case("HTTP: chunks without end", 1, "longer than", call=LONG,
         answer=endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b" " * 65536 +
                        b"\r\n")),
    case("HTTP: headers without end", 1, FAILED, answer=endless(OK, b"X-Y: " + b"z" * 4000 +
                                                                b"\r\n"), call=LONG),
    case("HTTP: one header without end", 1, FAILED, answer=endless(OK + b"X: ", b"z" * 65536),
         call=LONG),
    case("HTTP: 100 without end", 1, FAILED, call=LONG,
         answer=endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50)),
    case("HTTP: 100 at leisure without end", 1, FAILED, call=LONG,
         answer=endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.05)),
    case("HTTP: a byte now and then", 1, "no complete answer", call=LONG,
         answer=endless(OK + b"\r\n", b" ", 0.2)),
    case("HTTP: a header a byte now and then", 1, "no complete answer", call=LONG,
         answer=endless(b"HTTP/1.1 200 OK\r\nX: ", b"y", 0.2)),
    case("HTTP: trailers without end", 1, FAILED, call=LONG,
         answer=lambda body, nth: trailers(body)),
    case("HTTP: well the third time", 0, call={"timeout": "20s", "seconds": 25},
         answer=lambda body, nth: http(body) if nth > 2 else http(b"", "503 Wait",
                                                                  "Retry-After: 1")),
]


def trailers(body):
    yield chunked(body)[:-2]
    while True:
        yield b"X-Y: " + b"z" * 4000 + b"\r\n"


CASES = [*CERTIFICATES, *BUNDLES, *KUBECONFIGS, *SIGNATURES, *CONFIGMAPS, *ANSWERS]
