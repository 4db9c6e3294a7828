"""The form of certificates (RFC 5280 section 4): what one reader takes and another one does not."""
import subprocess
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ObjectIdentifier

from odd import NAMES, KEYS, authority, issue, shared, stranger
from odd_cases import CHAIN, UNTRUSTED, block, case, leaf
from tls_cases import LONG, resign


def beside(name, code, make, *says):
    """A second certificate in the bundle, in this form: der -> der of a stranger's."""
    return case("form: " + name, code, *says,
                bundle=lambda ca, _: ca.pem + block(make(authority("p256", "stranger").der)))


def extended(oid, data):
    """A second certificate with this extension."""
    kind = ObjectIdentifier(oid)

    def make(ca, _made):
        def change(builder):
            one = x509.Extension(kind, False, x509.UnrecognizedExtension(kind, bytes.fromhex(data)))
            builder._extensions = [one]
            return builder
        return ca.pem + resign(ca, change).pem
    return make


def explicit(ca, _made):
    """A CA whose curve is written out."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run("openssl ecparam -name prime256v1 -genkey -noout -param_enc explicit -out k && "
                       "openssl req -x509 -new -key k -subj /CN=x -days 9 -out c", shell=True,
                       cwd=folder, check=True, capture_output=True)
        with open(folder + "/c", "rb") as made:
            return ca.pem + made.read()


FORMS = [
    beside("a length in five octets", 0, lambda der: b"\x30\x84\x00\x00" + der[2:]),
    beside("no length but an end", 0, lambda der: b"\x30\x80" + der[4:] + b"\0\0"),
    beside("a NUL in a name", 0, lambda der: der.replace(b"\x0c\x08stranger", b"\x0c\x08stran\0er")),
    case("form: a path of less than nothing", 0, bundle=extended("2.5.29.19", "30060101ff0201ff")),
    case("form: a path of less than nothing in the CA", 4, UNTRUSTED, ca=lambda: authority(
        basic=False, more=((x509.UnrecognizedExtension(ObjectIdentifier("2.5.29.19"), bytes.fromhex(
            "30060101ff0201ff")), True),))),
    case("form: a curve that is written out", 0, bundle=explicit),
]


# --- extensions that are critical ------------------------------------------------------------------


def critical(name, code, oid, data):
    extension = (x509.UnrecognizedExtension(ObjectIdentifier(oid), bytes.fromhex(data)), True)
    return case("critical: %s of the leaf" % name, code, leaf=leaf(more=(extension,)))


CRITICAL = [
    critical("an authority's key", 4, "2.5.29.35", "3003800101"),
    critical("a policy that must be there", 4, "2.5.29.36", "3003800100"),
    critical("a policy", 0, "2.5.29.32", "3006300406022a03"),
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
