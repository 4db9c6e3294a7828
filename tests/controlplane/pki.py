"""The cluster's certificates: CA, serving and client certificates, pins, CSR signing."""

import datetime
import hashlib
import ipaddress
import os

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

BACKDATE = datetime.timedelta(minutes=5)  # kube-controller-manager backdates what it signs
DAY = datetime.timedelta(days=1)
YEAR = 365 * DAY

EXTENDED_USAGES = {"client auth": ExtendedKeyUsageOID.CLIENT_AUTH,
                   "server auth": ExtendedKeyUsageOID.SERVER_AUTH}


def now():
    return datetime.datetime.utcnow().replace(microsecond=0)


def new_rsa_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def new_ec_key():
    return ec.generate_private_key(ec.SECP256R1())


def key_pem(key):
    return key.private_bytes(serialization.Encoding.PEM,
                             serialization.PrivateFormat.TraditionalOpenSSL,
                             serialization.NoEncryption())


def cert_pem(cert):
    return cert.public_bytes(serialization.Encoding.PEM)


def pin_of(cert):
    """The kubeadm pin: SHA-256 over the DER SubjectPublicKeyInfo."""
    spki = cert.public_key().public_bytes(serialization.Encoding.DER,
                                          serialization.PublicFormat.SubjectPublicKeyInfo)
    return "sha256:" + hashlib.sha256(spki).hexdigest()


def name_of(common_name, organizations=()):
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, o) for o in organizations]
    parts.append(x509.NameAttribute(NameOID.COMMON_NAME, common_name))
    return x509.Name(parts)


def alt_name(text):
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def key_usage(*names):
    fields = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
              "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")
    return x509.KeyUsage(**{f: f in names for f in fields})


class Authority:
    """A certificate authority: key, certificate, and what it issues."""

    def __init__(self, key, cert):
        self.key, self.cert = key, cert

    @classmethod
    def create(cls, common_name="kubernetes", key=None):
        key = key or new_rsa_key()
        name = name_of(common_name)
        cert = (x509.CertificateBuilder().subject_name(name).issuer_name(name)
                .public_key(key.public_key()).serial_number(x509.random_serial_number())
                .not_valid_before(now() - BACKDATE).not_valid_after(now() + 10 * YEAR)
                .add_extension(key_usage("digital_signature", "key_encipherment",
                                         "key_cert_sign"), True)
                .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
                .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
                .add_extension(x509.SubjectAlternativeName([x509.DNSName(common_name)]), False)
                .sign(key, hashes.SHA256()))
        return cls(key, cert)

    @classmethod
    def load_or_create(cls, folder, common_name="kubernetes"):
        cert_file, key_file = os.path.join(folder, "ca.crt"), os.path.join(folder, "ca.key")
        if os.path.exists(cert_file) and os.path.exists(key_file):
            with open(cert_file, "rb") as f:
                cert = x509.load_pem_x509_certificate(f.read())
            with open(key_file, "rb") as f:
                key = serialization.load_pem_private_key(f.read(), None)
            return cls(key, cert)
        made = cls.create(common_name, new_ec_key())  # as kubeadm with encryptionAlgorithm: ECDSA-P256; an RSA key takes half a second
        write_private(key_file, key_pem(made.key))
        write_private(cert_file, cert_pem(made.cert))
        return made

    @property
    def pem(self):
        return cert_pem(self.cert)

    @property
    def pin(self):
        return pin_of(self.cert)

    def _builder(self, subject, public_key, usages, extended, not_before, not_after):
        return (x509.CertificateBuilder().subject_name(subject).issuer_name(self.cert.subject)
                .public_key(public_key).serial_number(x509.random_serial_number())
                .not_valid_before(not_before).not_valid_after(not_after)
                .add_extension(key_usage(*usages), True)
                .add_extension(x509.ExtendedKeyUsage(extended), False)
                .add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
                .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(
                    self.key.public_key()), False))

    def issue_server(self, names, not_before=None, not_after=None):
        """(certificate PEM, key PEM) of a serving certificate; no names: one without SANs."""
        key = new_ec_key()
        builder = self._builder(name_of("kube-apiserver"), key.public_key(),
                                ("digital_signature", "key_encipherment"),
                                [ExtendedKeyUsageOID.SERVER_AUTH],
                                not_before or now() - BACKDATE, not_after or now() + YEAR)
        if names:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([alt_name(n) for n in names]), False)
        return cert_pem(builder.sign(self.key, hashes.SHA256())), key_pem(key)

    def issue_client(self, common_name, organizations=(), not_before=None, not_after=None):
        """(certificate PEM, key PEM) of a client certificate."""
        key = new_ec_key()
        builder = self._builder(name_of(common_name, organizations), key.public_key(),
                                ("digital_signature", "key_encipherment"),
                                [ExtendedKeyUsageOID.CLIENT_AUTH],
                                not_before or now() - BACKDATE, not_after or now() + YEAR)
        return cert_pem(builder.sign(self.key, hashes.SHA256())), key_pem(key)

    def sign_request(self, request, usages, seconds=None):
        """The certificate PEM for a CSR, as kube-controller-manager's signer makes it."""
        plain = {"digital signature": "digital_signature", "key encipherment": "key_encipherment"}
        life = datetime.timedelta(seconds=seconds) if seconds else YEAR
        builder = self._builder(request.subject, request.public_key(),
                                [plain[u] for u in usages if u in plain],
                                [EXTENDED_USAGES[u] for u in usages if u in EXTENDED_USAGES],
                                now() - BACKDATE, min(now() + life, self.cert.not_valid_after))
        try:
            san = request.extensions.get_extension_for_class(x509.SubjectAlternativeName)
            builder = builder.add_extension(san.value, False)
        except x509.ExtensionNotFound:
            pass
        return cert_pem(builder.sign(self.key, hashes.SHA256()))


def parse_request(pem):
    """The CSR of a PEM block; ValueError when it is none or its signature is wrong."""
    request = x509.load_pem_x509_csr(pem)
    if not request.is_signature_valid:
        raise ValueError("the request's signature does not verify")
    return request


def subject_of(request):
    """(common name, organizations, other attribute count) of a request's subject."""
    names = [a.value for a in request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    orgs = [a.value for a in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    return (names[0] if names else ""), orgs, len(request.subject) - len(names) - len(orgs)


def alt_names_of(request):
    try:
        return list(request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return []


def write_private(path, data):
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as f:
        f.write(data)
