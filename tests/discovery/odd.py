"""A TLS server of one case: any certificate, any bytes for an answer, and what it was told."""
import base64
import contextlib
import dataclasses
import datetime
import functools
import json
import os
import pathlib
import socket
import ssl
import sys
import tempfile
import threading
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from controlplane import pki, tokens  # noqa: E402

TOKEN, SECRET = "abcdef.0123456789abcdef", "0123456789abcdef"
CLUSTER_INFO = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
NAMES = ("127.0.0.1", "localhost", "::1")
KEYS = {
    "rsa": lambda: rsa.generate_private_key(65537, 2048),
    "rsa1024": lambda: rsa.generate_private_key(65537, 1024),
    "p224": lambda: ec.generate_private_key(ec.SECP224R1()),
    "p256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "p384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "p521": lambda: ec.generate_private_key(ec.SECP521R1()),
    "secp256k1": lambda: ec.generate_private_key(ec.SECP256K1()),
    "ed25519": ed25519.Ed25519PrivateKey.generate,
}


class Issued:
    """A key and its certificate, with what others sign and pin by it."""

    def __init__(self, key, cert):
        self.key, self.cert = key, cert

    @property
    def pem(self):
        return pki.cert_pem(self.cert)

    @property
    def der(self):
        return self.cert.public_bytes(serialization.Encoding.DER)

    @property
    def pin(self):
        return pki.pin_of(self.cert)

    @property
    def key_pem(self):
        return self.key.private_bytes(serialization.Encoding.PEM,
                                      serialization.PrivateFormat.PKCS8,
                                      serialization.NoEncryption())


def issue(signer=None, kind="p256", name="kube-apiserver", names=(), days=(-1, 365), is_ca=False,
          usages=(ExtendedKeyUsageOID.SERVER_AUTH,), digest=hashes.SHA256, more=(), basic=True,
          key=None):
    """A certificate; without a signer it signs itself."""
    key = key or KEYS[kind]()
    by, issuer = (signer.key, signer.cert.subject) if signer else (key, pki.name_of(name))
    start = datetime.datetime.utcnow().replace(microsecond=0)
    builder = (x509.CertificateBuilder().subject_name(pki.name_of(name)).issuer_name(issuer)
               .public_key(key.public_key()).serial_number(x509.random_serial_number())
               .not_valid_before(start + datetime.timedelta(days=days[0]))
               .not_valid_after(start + datetime.timedelta(days=days[1])))
    if basic:
        builder = builder.add_extension(x509.BasicConstraints(is_ca, None), True)
    if names:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([pki.alt_name(n) if isinstance(n, str) else n
                                         for n in names]), False)
    if usages and not is_ca:
        builder = builder.add_extension(x509.ExtendedKeyUsage(list(usages)), False)
    for extension, critical in more:
        builder = builder.add_extension(extension, critical)
    return Issued(key, builder.sign(by, None if isinstance(by, ed25519.Ed25519PrivateKey)
                                    else digest()))


def authority(kind="p256", name="kubernetes", **more):
    return issue(None, kind, name, is_ca=True, days=more.pop("days", (-1, 3650)), **more)


@functools.lru_cache(maxsize=None)
def shared(kind="rsa"):
    """The authority that most cases use: keys take long to make."""
    return authority(kind)


@functools.lru_cache(maxsize=None)
def stranger():
    return authority("p256", "somebody else")


@functools.lru_cache(maxsize=None)
def shared_leaf():
    return issue(shared(), names=NAMES)


def default_leaf(ca):
    return shared_leaf() if ca is shared() else issue(ca, names=NAMES)


@dataclasses.dataclass
class Odd:
    """How one server differs from a good one."""
    ca: object = shared                # () -> Issued that signs and is published
    leaf: object = default_leaf        # (ca) -> Issued, or [Issued, ...] to be sent in this order
    later: object = None               # the same, from the second connection on
    bundle: object = None              # (ca, leaf) -> PEM that is published
    pin: object = None                 # (ca, leaf) -> pin that the caller gives
    kubeconfig: object = None          # (text, server) -> text
    data: object = None                # (data, server) -> data of the ConfigMap
    object: object = None              # (ConfigMap) -> other document
    body: object = None                # (JSON text) -> bytes
    answer: object = None              # (bytes, nth) -> bytes, or an iterator of bytes
    tls: object = None                 # (SSLContext) changes it
    rude: bool = False                 # ends connections without TLS' goodbye
    host: str = "127.0.0.1"
    paths: object = None               # {path: function(server) -> raw answer}


def http(body, status="200 OK", *lines, kind="application/json"):
    head = ["HTTP/1.1 " + status, "Content-Length: %d" % len(body), *lines]
    if kind:
        head.append("Content-Type: " + kind)
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


class Server:
    """Answers until it is stopped; remembers whether credentials came."""

    def __init__(self, odd):
        self.odd = odd
        self.ca = odd.ca()
        self.chain = self._chain(odd.leaf)
        self.later = self._chain(odd.later) if odd.later else None
        self.socket = socket.create_server((odd.host, 0), family=socket.AF_INET6 if ":" in odd.host
                                           else socket.AF_INET, backlog=64)
        self.port = self.socket.getsockname()[1]
        self.endpoint = ("[%s]:%d" if ":" in odd.host else "%s:%d") % (odd.host, self.port)
        self.lock = threading.Lock()
        self.connections = self.answers = 0
        self.authorized = []
        self.stopped = False
        self.request = threading.local()  # begin: of its Range, or None; authorized: credentials came
        self.bundle = odd.bundle(self.ca, self.chain[0]) if odd.bundle else self.ca.pem
        self.pin = odd.pin(self.ca, self.chain[0]) if odd.pin else self.ca.pin
        threading.Thread(target=self._listen, daemon=True).start()

    def _chain(self, make):
        made = make(self.ca)
        return made if isinstance(made, list) else [made]

    def stop(self):
        self.stopped = True
        self.socket.close()

    # --- what it publishes

    def kubeconfig(self):
        text = ("apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: %s\n"
                "    server: https://%s\n  name: \"\"\ncontexts: null\ncurrent-context: \"\"\n"
                "kind: Config\npreferences: {}\nusers: null\n"
                % (base64.b64encode(self.bundle).decode(), self.endpoint))
        return self.odd.kubeconfig(text, self) if self.odd.kubeconfig else text

    def document(self):
        text = self.kubeconfig()
        data = {"kubeconfig": text, "jws-kubeconfig-abcdef":
                tokens.detached_jws("abcdef", SECRET, text)}
        if self.odd.data:
            data = self.odd.data(data, self)
        made = {"kind": "ConfigMap", "apiVersion": "v1",
                "metadata": {"name": "cluster-info", "namespace": "kube-public"}, "data": data}
        return self.odd.object(made) if self.odd.object else made

    def body(self):
        text = json.dumps(self.document())
        return self.odd.body(text) if self.odd.body else text.encode()

    # --- the wire

    def _context(self, nth):
        chain = self.later if self.later and nth > 1 else self.chain
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers("ALL:@SECLEVEL=0")
        with tempfile.NamedTemporaryFile() as pem:
            pem.write(b"".join(c.pem for c in chain) + chain[0].key_pem)
            pem.flush()
            context.load_cert_chain(pem.name)
        if self.odd.tls:
            self.odd.tls(context)
        return context

    def _listen(self):
        with contextlib.suppress(OSError):
            while not self.stopped:
                connection = self.socket.accept()[0]
                with self.lock:
                    self.connections += 1
                    nth = self.connections
                threading.Thread(target=self._one, args=(connection, nth), daemon=True).start()

    def _one(self, connection, nth):
        connection.settimeout(15)
        with contextlib.suppress(OSError, ValueError), connection:
            with self._context(nth).wrap_socket(connection, server_side=True) as stream:
                while not self.stopped and self._request(stream):
                    pass
                if not self.stopped and not self.odd.rude:
                    stream.unwrap()

    def _request(self, stream):
        head = b""
        while b"\r\n\r\n" not in head:
            more = stream.recv(65536)
            if not more:
                return False
            head += more
        path = head.split()[1].decode().partition("?")[0]
        self.request.begin, self.request.authorized = None, False
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"range: bytes="):
                self.request.begin = int(line[13:].partition(b"-")[0])
            if line.startswith(b"authorization:"):
                self.authorized.append(line)
                self.request.authorized = True
        if path == CLUSTER_INFO:
            with self.lock:
                self.answers += 1
                nth = self.answers
            answer = self.odd.answer(self.body(), nth) if self.odd.answer else http(self.body())
        elif self.odd.paths and path in self.odd.paths:
            answer = self.odd.paths[path](self)
        else:
            answer = http(b'{"kind":"Status","apiVersion":"v1","status":"Failure","code":404}',
                          "404 Not Found")
        for piece in [answer] if isinstance(answer, bytes) else answer:
            if self.stopped:
                return False
            stream.sendall(piece)
        return isinstance(answer, bytes) and b"close" not in answer[:300].lower()


# --- answers that do not end -----------------------------------------------------------------------


def endless(first, again, pause=0.0):
    """`first`, then `again` for ever."""
    def answer(_body, _nth):
        yield first
        while True:
            yield again
            if pause:
                time.sleep(pause)
    return answer


def write(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return path
