"""The discovery file of a join, and the first of its cases: who may be asked, with which credentials."""
import base64

from cryptography.x509.oid import ExtendedKeyUsageOID

from case import TOKEN, Case
from odd import Odd, endless, http, issue, shared, stranger
from odd_cases import CHAIN, OK, UNTRUSTED, leaf, of_two_names, server_line

CONF = """apiVersion: v1
kind: Config
clusters:
- name: k
  cluster:
    server: %(url)s
    %(ca)s
contexts:
- name: c
  context: {cluster: k, user: u}
current-context: c
users:
- name: u
  user: %(user)s
"""


def text_of(user="{token: a-token}", ca=None, url=None, change=None):
    def make(server):
        data = base64.b64encode(server.bundle).decode()
        text = CONF % {"url": url or "https://" + server.endpoint, "user": user,
                       "ca": ca if ca is not None else "certificate-authority-data: " + data}
        return change(text) if change else text
    return make


def client_of(part):
    made = issue(shared(), name="system:node:x", usages=(ExtendedKeyUsageOID.CLIENT_AUTH,))
    other = issue(shared(), name="system:node:y", usages=(ExtendedKeyUsageOID.CLIENT_AUTH,))
    return {"crt": made.pem, "key": made.key_pem, "other": other.key_pem}[part]


CLIENT = {"crt": client_of("crt")}


def embedded_client():
    made = issue(shared(), name="system:node:x", usages=(ExtendedKeyUsageOID.CLIENT_AUTH,))
    encoded = [base64.b64encode(part).decode() for part in (made.pem, made.key_pem)]
    return "{client-certificate-data: %s, client-key-data: %s}" % tuple(encoded)


def client_files():
    made = issue(shared(), name="system:node:x", usages=(ExtendedKeyUsageOID.CLIENT_AUTH,))
    return {"pki/client.crt": lambda _: made.pem, "pki/client.key": lambda _: made.key_pem}


def file(name, code, *says, conf=None, files=None, more=(), odd_server=None, argument=None, **rest):
    every = {"d.conf": conf or text_of(), **(files or {})}
    return Case("file: " + name, code=code, says=says, odd=odd_server or Odd(), token="", pins=(),
                endpoint="", files=every, secret_may_go=code == 0 or "401" in says,
                more=("--discovery-file", argument or "{folder}/d.conf", *more), **rest)


BOOTSTRAP = ("--tls-bootstrap-token", TOKEN)
FILES = [
    file("a token", 0),
    file("a token file", 0, conf=text_of("{tokenFile: t/token}"),
         files={"t/token": lambda _: "a-token"}),
    file("a token file with a newline", 3, "line break", conf=text_of("{tokenFile: t/token}"),
         files={"t/token": lambda _: "a-token\n"}),
    file("a token file that is not there", 3, "none", conf=text_of("{tokenFile: none}")),
    file("a client certificate inside", 0, conf=text_of(embedded_client())),
    file("a client certificate beside", 0, files=client_files(), conf=text_of(
        "{client-certificate: pki/client.crt, client-key: pki/client.key}")),
    file("a client certificate without a key", 3, "client-key", files=client_files(),
         conf=text_of("{client-certificate: pki/client.crt}")),
    file("a client certificate and another key", 3, "does not match this node's key", files={
        **client_files(), "pki/other.key": lambda _: client_of("other")}, conf=text_of(
            "{client-certificate: pki/client.crt, client-key: pki/other.key}")),
    file("a client certificate that is none", 3, "certificate", files={
        **client_files(), "pki/bad": lambda _: "bad"}, conf=text_of(
            "{client-certificate: pki/bad, client-key: pki/client.key}")),
    file("no credentials but a bootstrap token", 0, conf=text_of("{}"), more=BOOTSTRAP),
    file("no credentials", 3, "could not find authentication credentials", conf=text_of("{}")),
    file("a user name and a password", 3, "not supported",
         conf=text_of("{username: me, password: it}")),
    file("a program", 3, "credentials by exec", conf=text_of(
        "{exec: {command: /bin/true, apiVersion: client.authentication.k8s.io/v1, "
        "interactiveMode: Never}}")),
    file("an auth provider", 3, "credentials by auth-provider",
         conf=text_of("{auth-provider: {name: gcp}}")),
    file("a CA beside", 0, conf=text_of(ca="certificate-authority: pki/ca.crt"),
         files={"pki/ca.crt": lambda server: server.ca.pem}),
    file("a CA that is not there", 3, "read the certificate authority file", conf=text_of(ca="certificate-authority: none.crt")),
    file("a CA that is none", 3, "certificates", conf=text_of(ca="certificate-authority: bad"),
         files={"bad": lambda _: "bad"}),
    file("a CA inside and beside", 3, "both specified", files={"pki/ca.crt": lambda s: s.ca.pem},
         conf=text_of(change=lambda t: t.replace(
             "    certificate-authority-data", "    certificate-authority: pki/ca.crt\n"
             "    certificate-authority-data"))),
    file("another CA", 4, CHAIN, conf=text_of(ca="certificate-authority-data: " +
                                              base64.b64encode(stranger().pem).decode())),
    file("no CA", 4, UNTRUSTED, conf=text_of(ca="")),
    file("insecure-skip-tls-verify", 3, "nothing would prove the server's identity", more=BOOTSTRAP,
         conf=text_of(ca="insecure-skip-tls-verify: true")),
    file("a server whose name is in the common name", 4, UNTRUSTED,
         odd_server=Odd(leaf=of_two_names)),
    file("a server of another name", 4, UNTRUSTED, "valid for 127.0.0.2",
         odd_server=Odd(leaf=leaf(names=("127.0.0.2",)))),
    file("tls-server-name", 0, odd_server=Odd(leaf=leaf(names=("kube.test",))),
         conf=text_of(change=lambda t: t.replace("    server:", "    tls-server-name: kube.test\n"
                                                 "    server:"))),
    file("tls-server-name that is not in it", 4, UNTRUSTED, conf=text_of(
        change=lambda t: t.replace("    server:", "    tls-server-name: kube.test\n    server:"))),
    file("a server by http", 3, "https URL", conf=text_of(url="http://127.0.0.1:1")),
    file("another context is broken", 0, conf=text_of(
        change=lambda t: t.replace("contexts:\n", "contexts:\n- name: z\n  context: {cluster: k, "
                                   "user: none}\n"))),
    file("the current context is not there", 3, "context was not found", more=BOOTSTRAP, conf=text_of(
        change=lambda t: t.replace("current-context: c", 'current-context: d').replace(
            "- name: k", '- name: ""').replace("cluster: k,", 'cluster: "",'))),
    file("an unknown field", 0, conf=text_of(change=lambda t: t + "else: 1\n")),
    file("another kind", 3, "kind must be Config", conf=text_of(change=lambda t: t.replace("Config", "Pod"))),
    file("no YAML", 3, "line", conf=lambda _: "{"),
    file("nothing", 3, "not a kubeconfig", conf=lambda _: ""),
    file("two answers to which cluster", 3, "both a cluster without a name", more=BOOTSTRAP,
         conf=text_of(change=lambda t: t.replace(
             "clusters:\n", "clusters:\n- name: \"\"\n  cluster: {server: 'https://192.0.2.1'}\n"))),
    file("cluster-info is refused", 0, "as it is",
         odd_server=Odd(answer=lambda body, nth: http(b"{}", "403 No"))),
    file("nobody is asked without credentials", 0, "as it is", conf=text_of("{}"), more=BOOTSTRAP,
         kubeadm=False, odd_server=Odd(answer=lambda body, nth: http(b"{}", "401 No"))),
    file("cluster-info has no kubeconfig", 0, "as it is",
         odd_server=Odd(data=lambda data, _: {})),
    file("the token is refused", 1, "401", "the credentials in the discovery file",
         odd_server=Odd(answer=lambda body, nth: http(b"{}", "401 No"))),
    file("cluster-info names another server", 0, "differs from that of cluster-info",
         odd_server=Odd(kubeconfig=lambda t, _: server_line("https://192.0.2.1:6443")(t))),
    file("by a file URL", 0, argument="file://{folder}/d.conf"),
    file("by http", 3, "scheme must be https", argument="http://127.0.0.1:1/d.conf"),
    file("by https from a stranger", 4, argument="https://{endpoint}/d.conf",
         odd_server=Odd(paths={"/d.conf": lambda s: http(text_of()(s).encode())})),
    file("by https", 0, argument="https://{endpoint}/d.conf",
         files={"roots.pem": lambda server: server.ca.pem},
         environment={"SSL_CERT_FILE": "{folder}/roots.pem"},
         odd_server=Odd(paths={"/d.conf": lambda s: http(text_of()(s).encode())})),
    file("by https with status 404", 1, "received status 404", argument="https://{endpoint}/none",
         files={"roots.pem": lambda server: server.ca.pem},
         environment={"SSL_CERT_FILE": "{folder}/roots.pem"}),
    file("by https and a redirect", 0, argument="https://{endpoint}/a",
         files={"roots.pem": lambda server: server.ca.pem},
         environment={"SSL_CERT_FILE": "{folder}/roots.pem"},
         odd_server=Odd(paths={"/a": lambda s: http(b"", "302 Go", "Location: /d.conf"),
                               "/d.conf": lambda s: http(text_of()(s).encode())})),
    file("by https with files of this machine", 3, "on this machine",
         argument="https://{endpoint}/d.conf",
         files={"roots.pem": lambda server: server.ca.pem},
         environment={"SSL_CERT_FILE": "{folder}/roots.pem"},
         odd_server=Odd(paths={"/d.conf": lambda s: http(
             text_of("{tokenFile: /etc/hostname}")(s).encode())})),
    file("by https, the answer without end", 1, "longer than", argument="https://{endpoint}/d.conf",
         files={"roots.pem": lambda server: server.ca.pem}, seconds=40,
         environment={"SSL_CERT_FILE": "{folder}/roots.pem"},
         odd_server=Odd(paths={"/d.conf": lambda s: endless(OK + b"\r\n", b" " * 65536)(b"", 1)})),
]
CASES = FILES
