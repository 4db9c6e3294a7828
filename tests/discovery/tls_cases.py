"""What is below HTTP: broken handshakes, odd keys, signatures, chains and names."""
import contextlib
import datetime
import ipaddress
import socket
import ssl
import struct
import subprocess
import tempfile
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, ObjectIdentifier

import odd
from case import Case
from odd import NAMES, Issued, authority, issue, stranger
from odd_cases import CHAIN, FAILED, LONG, NO_CA, UNTRUSTED, block, case, leaf

# --- before TLS has begun --------------------------------------------------------------------------


def record(kind, body, version=b"\x03\x03"):
    return bytes([kind]) + version + struct.pack(">H", len(body)) + body


def hang(connection):
    connection.settimeout(15)
    with contextlib.suppress(OSError):
        while connection.recv(4096):
            pass


def says(*pieces, then=hang, pause=0.0):
    """Answers the first flight with these bytes."""
    def serve(connection):
        connection.recv(4096)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause)
        then(connection)
    return serve


def forever(piece, pause=0.0):
    def serve(connection):
        connection.recv(4096)
        while True:
            connection.sendall(piece)
            time.sleep(pause)
    return serve


def close(_connection):
    pass


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


# A ServerHello of TLS 1.2 with ECDHE-RSA-AES128-GCM-SHA256 and nothing else.
HELLO = b"\x03\x03" + b"r" * 32 + b"\x00" + b"\xc0\x2f" + b"\x00" + b"\x00\x00"
SERVER_HELLO = record(22, b"\x02" + struct.pack(">I", len(HELLO))[1:] + HELLO)
GREAT_MESSAGE = record(22, b"\x0b\xff\xff\xff" + b"\x00" * 16000)


def plain(name, serve, *words, **more):
    return Case("TLS: " + name, code=1, plain=serve, says=words or (FAILED,), **more)


HANDSHAKES = [
    plain("closed at once", close),
    plain("reset at once", reset),
    plain("closed after the hello", says(then=close)),
    plain("reset after the hello", says(then=reset)),
    plain("a fatal alert", says(record(21, b"\x02\x28"))),
    plain("an alert of no kind", says(record(21, b"\x07\xfe"))),
    plain("warnings without end", forever(record(21, b"\x01\x5a") * 50), **LONG),
    plain("half a ServerHello", says(SERVER_HELLO[:20]), "no complete answer"),
    plain("a ServerHello without secure renegotiation", says(SERVER_HELLO)),
    plain("a ServerHello byte by byte", forever(b"\x16", 0.2), **LONG),
    plain("a certificate of 16 MiB", says(SERVER_HELLO, *[GREAT_MESSAGE] * 40), **LONG),
    plain("records of 64 KiB", says(record(22, b"\x02" * 65535))),
    plain("empty records without end", forever(record(22, b"") * 100), **LONG),
    plain("SSL 2", says(b"\x80\x2e\x04\x00\x01\x00\x02" + b"x" * 40)),
    plain("TLS 9", says(record(22, HELLO, b"\x09\x09"))),
    plain("garbage without end", forever(b"\xaa" * 65536), **LONG),
    plain("the hello sent back", lambda c: (c.sendall(c.recv(4096)), hang(c))),
    plain("HTTP that asks for TLS", says(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP "
                                         b"request to an HTTPS server.\n", then=close)),
    plain("an SMTP greeting", lambda c: (c.sendall(b"220 mail ESMTP\r\n"), hang(c))),
    plain("accepted and silent", hang, "no complete answer"),
]


# --- protocol, ciphers, groups ---------------------------------------------------------------------


def only12(ciphers):
    def change(context):
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(ciphers + ":@SECLEVEL=0")
    return change


def curve(name, version=None):
    def change(context):
        context.set_ecdh_curve(name)
        if version:
            context.maximum_version = version
    return change


def rsa_leaf(ca):
    return issue(ca, "rsa", names=NAMES)


def tickets(count):
    return lambda context: setattr(context, "num_tickets", count)


PROTOCOL = [
    *[case("TLS: 1.2 with " + name, 0, leaf=rsa_leaf, tls=only12(name))
      for name in ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384",
                   "ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-RSA-AES256-SHA")],
    *[case("TLS: 1.2 with " + name, 1, FAILED, leaf=rsa_leaf, tls=only12(name))
      for name in ("AES128-GCM-SHA256", "AES256-SHA", "DHE-RSA-AES256-GCM-SHA384",
                   "ECDHE-RSA-AES256-SHA384", "ECDHE-RSA-CAMELLIA256-SHA384", "NULL-SHA256",
                   "ADH-AES256-GCM-SHA384", "AES128-CCM8")],
    *[case("TLS: the curve " + name, 0, tls=curve(name))
      for name in ("X25519", "prime256v1", "secp384r1", "secp521r1")],
    *[case("TLS: the curve %s" % name, 1, FAILED, tls=curve(name, version))
      for name, version in (("X448", None), ("secp256k1", ssl.TLSVersion.TLSv1_2),
                            ("brainpoolP256r1", ssl.TLSVersion.TLSv1_2),
                            ("secp224r1", ssl.TLSVersion.TLSv1_2))],
    case("TLS: ten session tickets", 0, tls=tickets(10)),
    case("TLS: two hundred session tickets", 1, FAILED, tls=tickets(200)),
    case("TLS: no session ticket", 0, tls=tickets(0)),
    case("TLS: 1.2 without session tickets", 0,
         tls=lambda c: (setattr(c, "maximum_version", ssl.TLSVersion.TLSv1_2),
                        setattr(c, "options", c.options | ssl.OP_NO_TICKET))),
    case("TLS: HTTP/2 alone is offered", 0, tls=lambda c: c.set_alpn_protocols(["h2"]),
         call={"kubeadm": False}),  # it would speak HTTP/2, this server does not
]

# --- keys and signatures ---------------------------------------------------------------------------


def keyed(make, **more):
    """A leaf with this key."""
    return lambda ca: issue(ca, key=make(), names=NAMES, **more)


def by(make, digest=hashes.SHA256, **more):
    """An authority with this key."""
    return lambda: issue(None, key=make(), name="kubernetes", is_ca=True, days=(-1, 3650),
                         digest=digest, **more)


def signed(*words):
    """A leaf whose signature is of another kind: openssl makes those that the library does not."""
    return lambda ca: by_openssl(ca, *words)


def resign(ca, change):
    """A leaf to which `change` does what the library would not do by itself."""
    key = odd.KEYS["p256"]()
    start = datetime.datetime.utcnow().replace(microsecond=0) - datetime.timedelta(days=1)
    builder = (x509.CertificateBuilder().subject_name(odd.pki.name_of("kube-apiserver"))
               .issuer_name(ca.cert.subject).public_key(key.public_key())
               .serial_number(x509.random_serial_number()).not_valid_before(start)
               .not_valid_after(start + datetime.timedelta(days=9)))
    return Issued(key, change(builder).sign(ca.key, hashes.SHA256()))


def by_openssl(ca, *words, key=("ec", "ec_paramgen_curve:P-256"), extensions=True):
    with tempfile.TemporaryDirectory() as folder:
        def run(*line):
            subprocess.run(["openssl", *line], cwd=folder, check=True, capture_output=True)
        odd.write(folder, "ca.crt", ca.pem)
        odd.write(folder, "ca.key", ca.key_pem)
        odd.write(folder, "ext", "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
        if isinstance(key, bytes):
            odd.write(folder, "k", key)
        else:
            run("genpkey", "-algorithm", key[0], *[w for o in key[1:] for w in ("-pkeyopt", o)],
                "-out", "k")
        run("req", "-new", "-key", "k", "-subj", "/CN=kube-apiserver", "-out", "r")
        run("x509", "-req", "-in", "r", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "9", "-out", "c", *words, *(["-extfile", "ext"] if extensions else []))
        with open(folder + "/c", "rb") as c, open(folder + "/k", "rb") as k:
            return Pem(c.read(), k.read())


class Pem:
    """What openssl made."""

    def __init__(self, pem, key_pem):
        self.pem, self.key_pem = pem, key_pem


PSS = ("-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:%d")


def pss(digest, salt):
    return signed("-" + digest, *[word.replace("%d", str(salt)) for word in PSS])


def great_rsa():
    """A key of 8676 bits, at once: of two Mersenne primes. PKCS#1 (RFC 8017 appendix A.1.2)."""
    p, q, e = 2 ** 4423 - 1, 2 ** 4253 - 1, 65537
    d = pow(e, -1, (p - 1) * (q - 1))

    def tlv(tag, body):
        size = len(body)
        length = bytes([size]) if size < 128 else b"\x82" + struct.pack(">H", size)
        return bytes([tag]) + length + body
    numbers = (0, p * q, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))
    return block(tlv(0x30, b"".join(tlv(2, n.to_bytes(n.bit_length() // 8 + 1, "big"))
                                    for n in numbers)), "RSA PRIVATE KEY")


def brainpool():
    return ec.generate_private_key(ec.BrainpoolP256R1())


KEYS = [
    case("key: a leaf of RSA 3072", 0, leaf=keyed(lambda: rsa.generate_private_key(65537, 3072))),
    case("key: a leaf of RSA with exponent 3", 0,
         leaf=keyed(lambda: rsa.generate_private_key(3, 2048))),
    case("key: a leaf of Ed448", 1, FAILED, leaf=lambda ca: by_openssl(ca, key=("ed448",))),
    case("key: a leaf of brainpoolP256r1", 1, FAILED, leaf=keyed(brainpool)),
    case("key: a leaf of P-224", 1, FAILED, leaf=leaf(kind="p224")),
    case("key: a leaf of secp256k1", 1, FAILED, leaf=leaf(kind="secp256k1")),
    case("key: a leaf of RSA-PSS", 1, FAILED,
         leaf=lambda ca: by_openssl(ca, key=("rsa-pss", "rsa_keygen_bits:2048"))),
    case("key: a leaf of DSA", 1, FAILED,
         leaf=keyed(lambda: dsa.generate_private_key(2048))),
    case("key: a leaf of RSA 512", 1, FAILED,
         leaf=lambda ca: by_openssl(ca, key=("rsa", "rsa_keygen_bits:512"))),
    case("key: an authority of P-224", 0, ca=by(lambda: odd.KEYS["p224"]())),
    case("key: an authority of brainpoolP256r1", 0, ca=by(brainpool)),
    case("key: an authority of RSA 1024", 4, UNTRUSTED,
         ca=by(lambda: rsa.generate_private_key(65537, 1024))),
    case("key: an authority of RSA 3072, exponent 3", 0,
         ca=by(lambda: rsa.generate_private_key(3, 3072))),
    case("key: a leaf of RSA 8676", 4, UNTRUSTED, call=LONG,
         leaf=lambda ca: by_openssl(ca, key=great_rsa())),
    case("signature of a leaf: SHA-1", 4, UNTRUSTED, leaf=signed("-sha1")),
    case("signature of a leaf: MD5", 4, UNTRUSTED, leaf=signed("-md5")),
    case("signature of a leaf: SHA-384", 0, leaf=signed("-sha384")),
    case("signature of a leaf: SHA-512", 0, leaf=signed("-sha512")),
    case("signature of a leaf: RSA-PSS with SHA-256", 0, leaf=pss("sha256", 32)),
    case("signature of a leaf: of another certificate", 4, UNTRUSTED,
         leaf=lambda ca: damaged(issue(ca, names=NAMES))),
    case("signature of an authority: MD5 by itself", 0, bundle=lambda ca, _: self_signed(
        ca, "-md5"), pin=lambda ca, _: ca.pin),
    case("signature of an authority: damaged", 0, bundle=lambda ca, _: damaged(ca).pem),
]


def self_signed(ca, *words):
    with tempfile.TemporaryDirectory() as folder:
        odd.write(folder, "ca.key", ca.key_pem)
        subprocess.run(["openssl", "req", "-x509", "-new", "-key", folder + "/ca.key", "-subj",
                        "/CN=kubernetes", "-out", folder + "/ca.crt", *words], check=True,
                       capture_output=True)
        with open(folder + "/ca.crt", "rb") as f:
            return f.read()


def damaged(made):
    der = made.der[:-1] + bytes([made.der[-1] ^ 1])
    return Pem(block(der), made.key_pem)


# --- chains ----------------------------------------------------------------------------------------


def ladder(depth, **more):
    """A leaf below `depth` intermediates, all sent."""
    def make(ca):
        chain, signer = [], ca
        for i in range(depth):
            signer = issue(signer, name="middle %d" % i, is_ca=True, **more)
            chain.insert(0, signer)
        return [issue(signer, names=NAMES), *chain]
    return make


def crowd(count, kind="p256"):
    """The right chain and many intermediates that bear the name of the one that is needed."""
    def make(ca):
        middle = issue(ca, name="middle", is_ca=True)
        others = [issue(stranger(), kind, name="middle", is_ca=True) for _ in range(count)]
        return [issue(middle, names=NAMES), *others, middle]
    return make


def with_length(length):
    basic = (x509.BasicConstraints(True, length), True)
    return lambda: issue(None, "rsa", "kubernetes", is_ca=True, basic=False, more=(basic,))


def usage(**on):
    names = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
             "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")
    return (x509.KeyUsage(**{name: name in on for name in names}), True)


def extended(*usages):
    return (x509.ExtendedKeyUsage(list(usages)), False)


def permitted(*subtrees, critical=True):
    return (x509.NameConstraints(list(subtrees), None), critical)


def network(text):
    return x509.IPAddress(ipaddress.ip_network(text))


MICROSOFT_GATED = ObjectIdentifier("1.3.6.1.4.1.311.10.3.3")
NETSCAPE_GATED = ObjectIdentifier("2.16.840.1.113730.4.1")
USAGE = usage(digital_signature=1)
MUST_STAPLE = (x509.TLSFeature([x509.TLSFeatureType.status_request]), False)


def raw(kind, data, twice=False):
    """An extension of any bytes, among those of a certificate that the library makes."""
    def change(builder):
        kept = builder._extensions if twice else [e for e in builder._extensions if e.oid != kind]
        builder._extensions = [*kept, x509.Extension(kind, False,
                                                     x509.UnrecognizedExtension(kind, data))]
        return builder
    return change


def bare(names):
    """A leaf whose names are these bytes."""
    return lambda ca: resign(ca, raw(ExtensionOID.SUBJECT_ALTERNATIVE_NAME, names))


def second(kind, data, twice=True):
    """A bundle with a second certificate that has this extension."""
    def make(ca, _made):
        basic = (x509.BasicConstraints(True, None), True)
        return ca.pem + resign(ca, lambda builder: raw(kind, data, twice)(
            builder.add_extension(*basic))).pem
    return make


def names_of(*items):
    """GeneralNames in DER: (tag, bytes)."""
    body = b"".join(bytes([0x80 | tag, len(data)]) + data for tag, data in items)
    return b"\x30" + bytes([len(body)]) + body


HERE = (7, b"\x7f\x00\x00\x01")

CHAINS = [
    case("chain: eight intermediates", 0, leaf=ladder(8)),
    case("chain: a hundred and twenty intermediates", 4, UNTRUSTED, leaf=ladder(120), call=LONG),
    case("chain: the leaf ten times", 0, leaf=lambda ca: [issue(ca, names=NAMES)] * 10),
    case("chain: the root too", 0, leaf=lambda ca: [issue(ca, names=NAMES), ca]),
    case("chain: strangers behind the leaf", 0,
         leaf=lambda ca: [issue(ca, names=NAMES), stranger(), authority()]),
    case("chain: thirty of the intermediate's name", 4, CHAIN, leaf=crowd(30), call=LONG),
    case("chain: two hundred of the intermediate's name", 4, CHAIN, leaf=crowd(200), call=LONG),
    case("chain: a leaf with 1500 names", 0, leaf=leaf(names=(
        *NAMES, *["n%d.example" % i for i in range(1500)]))),
    case("chain: a leaf with 10000 names", 1, FAILED, leaf=leaf(names=(
        *NAMES, *["name-%05d.example" % i for i in range(10000)]))),
    case("chain: 1500 other names", 4, "and 1484 more, not 127.0.0.1", leaf=leaf(names=[
        "n%d.example" % i for i in range(1500)])),
    case("chain: a path length of 0 and one intermediate", 4, UNTRUSTED, ca=with_length(0),
         leaf=ladder(1)),
    case("chain: a path length of 0 and no intermediate", 0, ca=with_length(0)),
    case("chain: a path length of 1 and one intermediate", 0, ca=with_length(1), leaf=ladder(1)),
    case("chain: a CA that may not sign certificates", 4, UNTRUSTED,
         ca=lambda: authority(more=(usage(crl_sign=1),))),
    case("chain: a CA for clients alone", 4, UNTRUSTED,
         ca=lambda: authority(more=(extended(ExtendedKeyUsageOID.CLIENT_AUTH),))),
    case("chain: a CA for every extended use", 4, UNTRUSTED,
         ca=lambda: authority(more=(extended(ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE),))),
    case("chain: an intermediate for clients alone", 4, UNTRUSTED,
         leaf=ladder(1, more=(extended(ExtendedKeyUsageOID.CLIENT_AUTH),))),
    case("chain: an intermediate that has ended", 4, UNTRUSTED,
         "the certificate of an intermediate CA, which the server sends along: certificate \"", "is after",
         "hint: it is valid from 20", "--tls-cert-file", leaf=ladder(1, days=(-9, -1))),
    case("chain: the second intermediate has not begun", 4, UNTRUSTED, "intermediate CA", "is before",
         leaf=ladder(2, days=(1, 9))),
    case("chain: a CA for other addresses", 4, UNTRUSTED,
         ca=lambda: authority(more=(permitted(network("10.0.0.0/8"),
                                              network("fd00::/8")),))),
    case("chain: a CA for these addresses", 0,
         ca=lambda: authority(more=(permitted(network("127.0.0.0/8"), network("::/0")),))),
    case("chain: a CA for names alone", 4, UNTRUSTED,
         ca=lambda: authority(more=(permitted(x509.DNSName("example.com")),))),
    case("chain: a CA's constraint that is not critical", 4, UNTRUSTED, ca=lambda: authority(
        more=(permitted(x509.DNSName("example.com"), critical=False),))),
    case("chain: a leaf for every extended use", 4, UNTRUSTED,
         leaf=leaf(usages=(ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,))),
    case("chain: a leaf for Microsoft's gated crypto", 4, UNTRUSTED,
         leaf=leaf(usages=(MICROSOFT_GATED,))),
    case("chain: a leaf for Netscape's gated crypto", 4, UNTRUSTED,
         leaf=leaf(usages=(NETSCAPE_GATED,))),
    case("chain: a leaf for signing code", 4, UNTRUSTED,
         leaf=leaf(usages=(ExtendedKeyUsageOID.CODE_SIGNING,))),
    case("chain: a leaf that may only sign certificates", 4, UNTRUSTED,
         leaf=leaf(more=(usage(key_cert_sign=1),))),
    case("chain: a leaf that may only sign", 0, leaf=leaf(more=(USAGE,))),
    case("chain: a leaf that demands stapling", 0, leaf=leaf(more=(MUST_STAPLE,))),
    case("chain: a leaf of version 1", 4, UNTRUSTED,
         leaf=lambda ca: by_openssl(ca, extensions=False)),
    case("chain: a CA as its own server", 0, leaf=lambda ca: issue(
        None, "p256", "kubernetes", names=NAMES, is_ca=True), bundle=lambda ca, made: made.pem,
         pin=lambda ca, made: made.pin),
    case("chain: the CA's name and key, not its certificate", 0,
         bundle=lambda ca, _: issue(None, name="kubernetes", is_ca=True, key=ca.key).pem),
    case("chain: a leaf until the year 9999", 0, leaf=leaf(days=(-1, 365 * 7900))),
    case("chain: a leaf from 1950 on", 0, leaf=leaf(days=(-365 * 76, 365))),
    case("bundle: an extension twice", 0, bundle=second(
        ExtensionOID.BASIC_CONSTRAINTS, b"\x30\x03\x01\x01\xff")),
    case("name: an address of five bytes beside", 0,
         leaf=bare(names_of(HERE, (7, b"\x01\x02\x03\x04\x05")))),
    case("name: no names but the extension", 4, UNTRUSTED, leaf=bare(names_of())),
    case("name: other kinds of names alone", 4, UNTRUSTED,
         leaf=bare(names_of((1, b"a@b.example"), (6, b"https://127.0.0.1/")))),
    case("name: an address with its mask", 4, UNTRUSTED,
         leaf=bare(names_of((7, b"\x7f\0\0\1\xff\xff\xff\xff")))),
    case("name: IPv4 in IPv6", 4, UNTRUSTED,
         leaf=leaf(names=(x509.IPAddress(ipaddress.ip_address("::ffff:127.0.0.1")),))),
    case("name: the endpoint as IPv4 in IPv6", 4, UNTRUSTED,
         call={"endpoint": "[::ffff:127.0.0.1]:{port}"}),
    case("name: an IPv6 address with a zone", 3, "HOST:PORT", host="::1", call={
        "endpoint": "[::1%lo]:{port}"}),
]

CASES = [*HANDSHAKES, *PROTOCOL, *KEYS, *CHAINS]
