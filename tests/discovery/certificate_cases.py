"""The form of certificates (RFC 5280 section 4): what one reader takes and another one does not."""
import subprocess
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import dsa, rsa
from cryptography.x509.oid import NameOID, ObjectIdentifier

from odd import NAMES, KEYS, authority, issue, shared, stranger
from odd_cases import CHAIN, NO_CA, UNTRUSTED, block, case, leaf
from tls_cases import LONG, permitted, resign


def beside(name, code, make, *says):
    """A second certificate in the bundle, in this form: der -> der of a stranger's."""
    return case("form: " + name, code, *(says or ((NO_CA,) if code else ())),
                bundle=lambda ca, _: ca.pem + block(make(authority("p256", "stranger").der)))


def text(tag, data):
    """The common name as a text of another type."""
    return lambda der: der.replace(b"\x0c\x08stranger", bytes([tag, len(data)]) + data)


def replaced(old, new):
    return lambda der: der.replace(old, new)


def extended(oid, data, times=1):
    """A second certificate with this extension, so many times."""
    kind = ObjectIdentifier(oid)

    def make(ca, _made):
        def change(builder):
            one = x509.Extension(kind, False, x509.UnrecognizedExtension(kind, bytes.fromhex(data)))
            builder._extensions = [one] * times
            return builder
        return ca.pem + resign(ca, change).pem
    return make


def damaged(name, oid, data):
    return case("form: " + name, 1, NO_CA, "extension of it is damaged", bundle=extended(oid, data))


def negative_dsa(ca, _made):
    """A DSA key whose numbers are not INTEGERs."""
    key = dsa.generate_private_key(2048)
    return ca.pem + block(authority(key=key).der.replace(b"\x02\x82\x01\x01\0", b"\x82\x82\x01\x01\0"))


def explicit(ca, _made):
    """A CA whose curve is written out."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run("openssl ecparam -name prime256v1 -genkey -noout -param_enc explicit -out k && "
                       "openssl req -x509 -new -key k -subj /CN=x -days 9 -out c", shell=True,
                       cwd=folder, check=True, capture_output=True)
        with open(folder + "/c", "rb") as made:
            return ca.pem + made.read()


FORMS = [
    beside("a length in five octets", 1, lambda der: b"\x30\x84\x00\x00" + der[2:], "is not DER"),
    beside("no length but an end", 1, lambda der: b"\x30\x80" + der[4:] + b"\0\0", "is not DER"),
    beside("a yes that is 1", 1, replaced(b"\x01\x01\xff", b"\x01\x01\x01"), "neither"),
    beside("a no that is said", 0, replaced(b"\x01\x01\xff", b"\x01\x01\x00")),
    beside("an at sign in a PrintableString", 1, text(0x13, b"stran@er"), "PrintableString"),
    beside("a star in a PrintableString", 0, text(0x13, b"stran*er")),
    beside("a byte of 8 bits in an IA5String", 1, text(0x16, b"stran\xffer"), "ASCII"),
    beside("a letter in a NumericString", 1, text(0x12, b"1234567a"), "NumericString"),
    beside("a UniversalString", 1, text(0x1c, b"\0\0\0s\0\0\0t"), "UniversalString"),
    beside("a T61String", 0, text(0x14, b"stran\xffer")),
    case("form: an unknown extension twice", 1, NO_CA, "twice", bundle=extended("1.2.3.4", "0500", times=2)),
    beside("a text of bits", 1, text(0x03, b"\0tranger"), "not text"),
    beside("a NUL in a name", 1, text(0x0c, b"stran\0er"), "not text"),
    beside("a bit left over behind the key", 1, replaced(b"\x03\x42\0\x04", b"\x03\x42\x01\x04"),
           "read a certificate"),  # for one of two reasons: the bit may be 1
    damaged("a path of less than nothing", "2.5.29.19", "30060101ff0201ff"),
    damaged("a path without end", "2.5.29.19", "300e0101ff0209" + "00" + "ff" * 8),
    damaged("a policy required after no int", "2.5.29.36", "300b8009" + "01" * 9),
    damaged("any policy inhibited after no int", "2.5.29.54", "0209" + "01" * 9),
    damaged("a list named relative to its issuer", "2.5.29.31", "3010300ea00ca10a300806035504030c0161"),
    damaged("two constraints on names in one", "2.5.29.30", "3007a005300382016105" + "00"),
    case("form: DSA without numbers", 1, NO_CA, "public key", bundle=negative_dsa),
    case("form: a curve that is written out", 1, NO_CA, "curve", bundle=explicit),
    *[case("form: the URI %s beside" % uri, 0 if good else 4, *(() if good else ("names is damaged",)),
           leaf=leaf(names=("127.0.0.1", x509.UniformResourceIdentifier(uri))))
      for uri, good in (("spiffe://cluster.local/ns/x", True), ("urn:x", True),
                        ("http://[::1", False), ("http://a/%zz", False), ("", False))],
]


# --- extensions that are critical ------------------------------------------------------------------


def critical(name, code, oid, data, where="leaf"):
    extension = (x509.UnrecognizedExtension(ObjectIdentifier(oid), bytes.fromhex(data)), True)
    made = {"leaf": leaf(more=(extension,))} if where == "leaf" else {
        "ca": lambda: authority(more=(extension,))}
    return case("critical: %s of the %s" % (name, where), code, **made)


def constrained(name, *subtrees):
    return case("critical: constraints on " + name, 4, "unhandled critical extension",
                ca=lambda: authority(more=(permitted(*subtrees),)))


NETSCAPE = "2.16.840.1.113730.1.1"
SUBJECT = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")])
CRITICAL = [
    critical("Netscape's type", 4, NETSCAPE, "03020640"),
    critical("Netscape's type", 4, NETSCAPE, "03020007", "CA"),
    critical("no check by OCSP", 4, "1.3.6.1.5.5.7.48.1.5", "0500"),
    critical("a range of addresses", 4, "1.3.6.1.5.5.7.1.7", "30083006040200010500", "CA"),
    critical("an authority's key", 4, "2.5.29.35", "3003800101"),
    critical("a policy that must be there", 4, "2.5.29.36", "3003800100"),
    critical("a policy", 0, "2.5.29.32", "3006300406022a03"),
    constrained("the subject", x509.DirectoryName(SUBJECT)),
    constrained("an identifier", x509.RegisteredID(ObjectIdentifier("1.2.3"))),
]


# --- authorities that are alike --------------------------------------------------------------------


def pair(name, code, other, *says, first=True):
    """Another certificate before that of the authority, or behind it."""
    def make(ca, _made):
        more = other(ca).pem
        return more + ca.pem if first else ca.pem + more
    return case("alike: " + name, code, *says, bundle=make)


def renewed(ca, **more):
    return authority(key=ca.key, **more)


def cross_signed(ca):
    """The leaf, its issuer as a stranger signed it, and as the authority did."""
    key = KEYS["p256"]()
    by_stranger = issue(stranger(), name="middle", is_ca=True, key=key)
    middle = issue(ca, name="middle", is_ca=True, key=key)
    return [issue(middle, names=NAMES), by_stranger, middle]


def great_rsa():
    """A key of 8676 bits, at once: of two Mersenne primes."""
    p, q, e = 2 ** 4423 - 1, 2 ** 4253 - 1, 65537
    d = pow(e, -1, (p - 1) * (q - 1))
    public = rsa.RSAPublicNumbers(e, p * q)
    return rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public
                                 ).private_key(unsafe_skip_rsa_key_validation=True)


ALIKE = [
    pair("the same name, another key", 0, lambda _: authority("p256")),
    pair("the same key, ended", 0, lambda ca: renewed(ca, days=(-20, -1))),
    pair("the same key, not begun", 0, lambda ca: renewed(ca, days=(3, 9)), first=False),
    pair("the same key, another name", 0, lambda ca: renewed(ca, name="else")),
    case("alike: an intermediate of a stranger and of the CA", 4, CHAIN, leaf=cross_signed),
    case("alike: the CA has RSA 8676", 0, ca=lambda: authority(key=great_rsa()), call=LONG),
]

CASES = [*FORMS, *CRITICAL, *ALIKE]
