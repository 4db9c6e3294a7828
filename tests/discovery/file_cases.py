"""Discovery files, where they come from, and what is written on the command line."""
import base64
import dataclasses
import os

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

import odd
from case import Case
from odd import Odd, endless, http, issue, shared, stranger
from discovery_file import BOOTSTRAP, client_files, file, text_of
from odd_cases import OK, UNTRUSTED, leaf
from proxy_cases import demands, socks, through

# --- the server that the file names ----------------------------------------------------------------


def at(value):
    """The file with this server; @ is HOST:PORT, ~ an at sign."""
    return lambda server: text_of(url=value.replace("@", server.endpoint).replace("~", "@"))(server)


def named(name, code, value, *says, **more):
    return file("server: " + name, code, *says, conf=at(value), hidden=("pass-word",), **more)


def below(path):
    """A server whose API lies below this path."""
    return Odd(paths={path + odd.CLUSTER_INFO: lambda server: http(server.body())})


CLUSTER = "    server:"


def with_field(line, user="{token: a-token}"):
    return text_of(user, change=lambda t: t.replace(CLUSTER, "    %s\n%s" % (line, CLUSTER)))


SERVERS = [
    named("a slash at the end", 0, "https://@/"),
    named("two slashes at the end", 0, "https://@//", odd_server=below("/")),
    named("a path", 0, "https://@/clusters/one", odd_server=below("/clusters/one")),
    named("a path and a slash", 0, "https://@/one/", odd_server=below("/one")),
    named("a user and a password", 3, '"https://me:pass-word~@"', "user"),
    named("a user", 3, '"https://me~@"', "user"),
    named("a query", 3, '"https://@?pass-word"', "query"),
    named("a fragment", 3, '"https://@#a"', "query"),
    named("a blank", 3, '"https://@ "'),
    named("a line break", 3, '"https://@\\r\\nX: y"'),
    named("no host", 3, '"https://"'),
    named("no scheme, which kubectl takes", 0, '"@"'),
    named("a scheme in capitals, which kubectl takes", 0, '"HTTPS://@"'),
    named("port 0", 3, '"https://127.0.0.1:0"', "port"),
    named("a port that is none", 3, '"https://127.0.0.1:x"', "port"),
    named("letters of other alphabets", 3, '"https://m\u00fcnchen.test"', "ASCII"),
    named("a name that is not known", 1, '"https://no-such-host.invalid:6443"', "no-such-host"),
    named("nobody listens", 1, '"https://127.0.0.1:1"', "connection refused"),
    file("tls-server-name that is an address", 0, conf=with_field("tls-server-name: 127.0.0.1")),
    file("tls-server-name that is another address", 4, UNTRUSTED,
         conf=with_field("tls-server-name: 127.0.0.2")),
    file("tls-server-name with a blank", 3, "not a valid server name", conf=with_field('tls-server-name: "a b"')),
    file("tls-server-name with a slash", 3, "not a valid server name",
         conf=with_field('tls-server-name: "localhost/x"')),
    file("tls-server-name with a port", 3, "not a valid server name",
         conf=with_field('tls-server-name: "localhost:1"')),
    file("tls-server-name with an at sign", 3, "not a valid server name",
         conf=with_field('tls-server-name: "x@localhost"')),
    file("tls-server-name with a line break", 3, "not a valid server name",
         conf=with_field('tls-server-name: "localhost\\r\\nX: y"')),
    file("tls-server-name as a wildcard", 3, "not a valid server name", conf=with_field('tls-server-name: "*"')),
    file("tls-server-name that is an IPv6 address", 0, conf=with_field('tls-server-name: "0::1"')),
    file("tls-server-name in brackets", 0, conf=with_field('tls-server-name: "[::1]"')),
    file("tls-server-name with a dot behind", 0, conf=with_field("tls-server-name: localhost.")),
    file("tls-server-name that is empty", 0, conf=with_field('tls-server-name: ""')),
    file("tls-server-name in capitals", 0, conf=with_field("tls-server-name: LOCALHOST")),
]


def by_proxy(name, code, url, *says, serve=through, **more):
    conf = more.pop("conf", None) or with_field("proxy-url: '@'")
    return Case("file: proxy-url " + name, code=code, says=says, odd=Odd(), proxy=serve, token="",
                pins=(), endpoint="", secret_may_go=code == 0, hidden=("pass-word",), files={
                    "d.conf": lambda s: conf(s)}, change=("d.conf", "@", url),
                more=("--discovery-file", "{folder}/d.conf"), **more)


PROXIES = [
    by_proxy("of http", 0, "http://127.0.0.1:{proxy}", "through the proxy http://127.0.0.1"),
    by_proxy("of SOCKS 5", 0, "socks5://127.0.0.1:{proxy}", serve=socks(b"\x00", named=False)),
    by_proxy("with a password", 0, "http://me:pass-word@127.0.0.1:{proxy}",
             serve=demands(b"Basic bWU6cGFzcy13b3Jk")),
    by_proxy("with a password that is refused", 1, "http://me:pass-word@127.0.0.1:{proxy}", "407",
             serve=demands(b"Basic other")),
    by_proxy("without a scheme", 3, "127.0.0.1:{proxy}"),
    file("proxy-url of another cluster, of another scheme", 0, conf=text_of(change=lambda t: t.replace(
        "clusters:", "clusters:\n- {name: other, cluster: {server: 'https://x', proxy-url: 'ftp://x:1'}}"))),
    by_proxy("of another scheme", 3, "ftp://me:pass-word@127.0.0.1:{proxy}", "http, https or socks5"),
    by_proxy("of SOCKS 5 with an h", 3, "socks5h://127.0.0.1:{proxy}", "scheme"),
    by_proxy("without a host", 3, "http://:{proxy}"),
    by_proxy("that is not a URL", 3, "http://me:pass-word@127.0.0.1:port"),
    by_proxy("that nobody runs", 1, "http://127.0.0.1:1", "went through the proxy"),
    by_proxy("before the environment's", 0, "http://127.0.0.1:{proxy}", environment={
        "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "*"}),
]

# --- credentials -----------------------------------------------------------------------------------


def client(key, form=serialization.PrivateFormat.PKCS8, password=None, **more):
    made = issue(shared(), key=key, name="system:node:x",
                 usages=(ExtendedKeyUsageOID.CLIENT_AUTH,), **more)
    encryption = serialization.BestAvailableEncryption(password) if password \
        else serialization.NoEncryption()
    return made.pem, key.private_bytes(serialization.Encoding.PEM, form, encryption)


BESIDE = "{client-certificate: c.crt, client-key: c.key}"
SEC1 = serialization.PrivateFormat.TraditionalOpenSSL


def keyed(name, code, key, *says, **more):
    def pair():
        return client(key(), **more)
    made = []

    def part(i):
        return lambda _: (made or made.extend(pair()) or made) and made[i]
    return file("client key: " + name, code, *says, conf=text_of(BESIDE),
                files={"c.crt": part(0), "c.key": part(1)})


def p256():
    return ec.generate_private_key(ec.SECP256R1())


def rsa2048():
    return rsa.generate_private_key(65537, 2048)


def pair_file(name, code, change, *says, user=BESIDE, more=None):
    """c.crt and c.key as `change(certificate, key)` makes them."""
    made = []

    def part(i):
        def make(_):
            if not made:
                made.extend(change(*client(p256())))
            return made[i]
        return make
    return file("client: " + name, code, *says, conf=text_of(user),
                files={"c.crt": part(0), "c.key": part(1), **(more or {})})


def token_file(name, code, data, *says):
    return file("token file: " + name, code, *says, conf=text_of("{tokenFile: t}"),
                files={"t": lambda _: data})


def fifo(*names):
    return lambda folder: [os.mkfifo(os.path.join(folder, name)) for name in names]


def folders(*names):
    return lambda folder: [os.mkdir(os.path.join(folder, name)) for name in names]


def der(pem):
    return base64.b64decode(b"".join(pem.split(b"\n")[1:-2]))


def halves(cert, key):
    """Another key, whose public half says that it is the certificate's."""
    other = client(p256())[1]
    mixed = der(other)[:-65] + der(key)[-65:]
    return cert, b"-----BEGIN PRIVATE KEY-----\n%s-----END PRIVATE KEY-----\n" % base64.encodebytes(mixed)


POSIX = {"posix": True}
CREDENTIALS = [
    keyed("RSA", 0, rsa2048),
    keyed("RSA in PKCS #1", 0, rsa2048, form=SEC1),
    keyed("P-256 in SEC 1", 0, p256, form=SEC1),
    keyed("P-384", 0, lambda: ec.generate_private_key(ec.SECP384R1())),
    keyed("P-521", 0, lambda: ec.generate_private_key(ec.SECP521R1())),
    keyed("Ed25519", 0, ed25519.Ed25519PrivateKey.generate),
    keyed("with a password", 3, p256, "key", password=b"pass-word"),
    keyed("with a password in the old form", 3, p256, "key", password=b"pass-word", form=SEC1),
    pair_file("certificate and key in one file", 0, lambda c, k: (c + k, c + k)),
    pair_file("key and certificate in one file", 0, lambda c, k: (k + c, k + c)),
    pair_file("the files changed", 3, lambda c, k: (k, c)),
    pair_file("DER", 3, lambda c, k: (der(c), der(k))),
    pair_file("text around", 0, lambda c, k: (b"text\n" + c + b"text", b"text\n" + k + b"text")),
    pair_file("CRLF", 0, lambda c, k: (c.replace(b"\n", b"\r\n"), k.replace(b"\n", b"\r\n"))),
    pair_file("a byte order mark", 0, lambda c, k: (b"\xef\xbb\xbf" + c, k)),
    pair_file("parameters before the key", 0, lambda c, k: (
        c, b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + k)),
    pair_file("headers in the certificate", 3, lambda c, k: (
        c.replace(b"CATE-----\n", b"CATE-----\na: b\n\n", 1), k)),
    pair_file("an empty key", 3, lambda c, k: (c, b"")),
    pair_file("an empty certificate", 3, lambda c, k: (b"", k)),
    pair_file("another key with the certificate's public half", 3, halves, "invalid data"),
    pair_file("a key cut short", 3, lambda c, k: (c, k[:-40])),
    pair_file("a NUL in the key", 3, lambda c, k: (c, k[:60] + b"\0" + k[61:])),
    pair_file("a second key", 0, lambda c, k: (c, k + client(p256())[1])),
    pair_file("a chain of two", 0, lambda c, k: (c + shared().pem, k)),
    pair_file("a second certificate that is garbage", 3, lambda c, k: (
        c + b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", k)),
    pair_file("another's certificate first", 3, lambda c, k: (stranger().pem + c, k)),
    pair_file("a key of 2 MiB", 3, lambda c, k: (c, k + b"#" * 2097152), "longer than"),
    pair_file("a key alone", 3, lambda c, k: (c, k), user="{client-key: c.key}"),
    pair_file("data and files", 3, lambda c, k: (c, k), "both specified",
              user="{client-certificate: c.crt, client-key: c.key, client-key-data: QUFB}"),
    pair_file("and a token", 0, lambda c, k: (c, k),
              user="{client-certificate: c.crt, client-key: c.key, token: a-token}"),
    file("client: a folder for the key", 3, "c.key", conf=text_of(BESIDE), prepare=folders("c.key"),
         files={"c.crt": lambda _: client(p256())[0]}),
    file("client: a pipe that nobody writes for the key", 3, "", conf=text_of(BESIDE), **POSIX,
         prepare=fifo("c.key"), files={"c.crt": lambda _: client(p256())[0]}, seconds=20),
    file("client: data with line breaks", 0, conf=lambda server: text_of(
        "{client-certificate-data: \"%s\", client-key-data: \"%s\"}" % tuple(
            base64.encodebytes(part).decode().replace("\n", "\\n")
            for part in client(p256())))(server)),
    file("client: data that is not base64", 3, "base64",
         conf=text_of("{client-certificate-data: '!', client-key-data: QUFB}")),
    file("client: data that is not PEM", 3, "certificate",
         conf=text_of("{client-certificate-data: QUFB, client-key-data: QUFB}")),
    file("client: empty data", 3, "could not find authentication credentials",
         conf=text_of("{client-certificate-data: '', client-key-data: ''}")),
    token_file("a blank behind", 0, "a-token "),
    token_file("CRLF", 3, "a-token\r\n", "line break"),
    token_file("two lines", 3, "a-token\nb-token\n", "line break"),
    token_file("empty", 3, "", "could not find authentication credentials"),
    token_file("a NUL", 3, b"a-token\0b"),
    token_file("a byte order mark", 0, b"\xef\xbb\xbfa-token"),
    token_file("8 KiB", 0, "t" * 8192),
    token_file("2 MiB", 3, "t" * 2097152, "longer than"),
    file("token file: a folder", 3, "t", conf=text_of("{tokenFile: t}"), prepare=folders("t")),
    file("token file: a pipe that nobody writes", 3, "", conf=text_of("{tokenFile: t}"), **POSIX,
         prepare=fifo("t"), seconds=20),
    file("token file: /dev/zero", 3, "longer than", conf=text_of("{tokenFile: /dev/zero}"), **POSIX,
         kubeadm=False),
    file("a token and a token file", 0, conf=text_of("{token: a-token, tokenFile: t}"),
         files={"t": lambda _: "b-token\n"}),
    file("an empty token", 3, "could not find authentication credentials",
         conf=text_of("{token: ''}")),
    file("a token with a line break", 3, "line break", conf=text_of('{token: "a\\r\\nX: y"}')),
    file("a token with a tab", 3, "control character", conf=text_of('{token: "a\\tb"}')),
    file("a token in another alphabet", 0, conf=text_of("{token: t\u00fcr}")),
    file("a user name alone", 3, "not supported", conf=text_of("{username: me}")),
    file("a password alone", 3, "not supported", conf=text_of("{password: pass-word}"),
         hidden=("pass-word",)),
    file("a user name and a token", 3, "more than one", conf=text_of("{username: me, token: a}")),
    file("another user to be taken for", 3, "impersonat", conf=text_of("{token: a, as: admin}")),
    file("groups to be taken for, without a user", 3, "impersonating another user (\"as-groups\")",
         conf=text_of("{token: a, as-groups: [system:masters]}")),
    file("a program without a version", 3, "credentials by exec",
         conf=text_of("{exec: {command: /bin/true}}")),
    file("a program beside a token", 3, "credentials by exec", conf=text_of(
        "{token: a, exec: {command: /bin/true, apiVersion: client.authentication.k8s.io/v1, "
        "interactiveMode: Never}}")),
    file("an auth provider with secrets", 3, "auth-provider", hidden=("pass-word",), conf=text_of(
        "{auth-provider: {name: oidc, config: {client-secret: pass-word}}}")),
    file("a bootstrap token over a client certificate", 0, files=client_files(), more=BOOTSTRAP,
         conf=text_of("{client-certificate: pki/client.crt, client-key: pki/client.key}")),
    file("a bootstrap token of a bad form", 3, "--tls-bootstrap-token", conf=text_of("{}"),
         more=("--tls-bootstrap-token", "abcdef.SECRET-pass-word"), hidden=("pass-word",)),
]

# --- the file itself -------------------------------------------------------------------------------


def written(name, code, change, *says, **more):
    """d.conf as these bytes."""
    return file("form: " + name, code, *says, conf=lambda s: change(text_of()(s)), **more)


def place(name, code, path, *says, argument=None, **more):
    """The file under another name."""
    return file("path: " + name, code, *says, argument=argument or "{folder}/" + path,
                files={path: text_of(), **more.pop("files", {})}, **more)


def inside(form, code=0, *says):
    """A file that the kubeconfig names in a way of Windows."""
    return file("inside: " + form, code, *says, conf=text_of("{tokenFile: '@'}"), change=("d.conf", "@", form),
                files={"t": lambda _: "a-token"}, prepare=folders("pki"), windows=True, kubeadm=False)


MANY = {"timeout": "30s", "seconds": 60, "memory": 256}
THE_CA = "certificate-authority: "
FORMS = [
    written("a byte order mark", 0, lambda t: "\ufeff" + t),
    written("UTF-16 with a mark", 0, lambda t: t.encode("utf-16")),
    written("UTF-16 without a mark", 3, lambda t: t.encode("utf-16-le"), "d.conf"),
    written("Latin-1", 3, lambda t: (t + "# \u00fc\n").encode("latin-1"), "d.conf"),
    written("CRLF", 0, lambda t: t.replace("\n", "\r\n")),
    written("a NUL behind", 3, lambda t: t + "\0", "d.conf"),
    written("Ctrl-Z behind", 3, lambda t: t + "\x1a", "d.conf"),
    written("a gzip", 3, lambda t: __import__("gzip").compress(t.encode()), "d.conf"),
    written("2 MiB", 3, lambda t: t + "# " + "x" * 2097152, "longer than"),
    written("a comment of 900 KiB", 0, lambda t: t + "# " + "x" * 900000 + "\n"),
    written("tabs", 3, lambda t: t.replace("    ", "\t"), "line"),
    written("two documents", 0, lambda t: t + "---\n" + t),
    written("a context's namespace that is none", 0, lambda t: t.replace("user: u}", "user: u, namespace: A.b}")),
    written("a context's namespace", 0, lambda t: t.replace("user: u}", "user: u, namespace: kube-system}")),
    written("a kind in capitals", 0, lambda t: t.replace("kind: Config", "KIND: Config")),
    written("a JoinConfiguration", 3, lambda t: "apiVersion: kubeadm.k8s.io/v1beta4\n"
            "kind: JoinConfiguration\n"),
    written("a certificate", 3, lambda t: shared().pem, "d.conf"),
    written("10000 contexts", 0, lambda t: t.replace("contexts:\n", "contexts:\n" + "".join(
        "- {name: c%d, context: {cluster: k, user: u}}\n" % i for i in range(10000))), **MANY),
    written("8000 users and contexts", 0, lambda t: t.replace("contexts:\n", "contexts:\n" + "".join(
        "- {name: c%d, context: {cluster: k, user: u%d}}\n" % (i, i) for i in range(8000))).replace(
            "users:\n", "users:\n" + "".join("- {name: u%d}\n" % i for i in range(8000))), **MANY),
    place("with blanks", 0, "a b  c.conf"),
    place("with other letters", 0, "d\u00fc\u4e2d\U0001f600.conf"),
    place("of 200 letters", 0, "x" * 200),
    place("in twenty folders", 0, "/".join(["f" * 15] * 20) + "/d.conf"),
    place("with a dot", 0, "d.conf", argument="{folder}/./d.conf"),
    place("with slashes", 0, "d.conf", argument="{folder}///d.conf"),
    place("with a percent sign", 0, "d%41.conf"),
    file("path: a folder", 3, argument="{folder}", kubeadm=False),
    file("path: below a file", 3, "d.conf", argument="{folder}/d.conf/x"),
    file("path: a pipe that nobody writes", 3, "", argument="{folder}/p", prepare=fifo("p"),
         seconds=20, **POSIX),
    file("path: /dev/zero", 3, "longer than", argument="/dev/zero", kubeadm=False, **POSIX),
    file("path: /dev/null", 3, "not a kubeconfig", argument="/dev/null", **POSIX),
    file("path: a file URL with a host", 0, argument="file://localhost{folder}/d.conf"),
    file("path: a file URL with a percent sign", 0, argument="file://{folder}/d%2econf"),
    file("path: a file URL with a query", 0, argument="file://{folder}/d.conf?a#b"),
    file("path: a file URL in capitals", 0, argument="FILE://{folder}/d.conf"),
    file("path: ftp", 3, "scheme must be https", argument="ftp://127.0.0.1/d.conf"),
    file("path: http with a password", 3, "scheme must be https", hidden=("pass-word",),
         argument="http://me:pass-word@127.0.0.1/d.conf"),
    file("path: a folder above", 0, argument="{folder}/pki/../d.conf", prepare=folders("pki")),
    file("path: a slash behind", 3, "on disk", argument="{folder}/d.conf/"),
    file("token file: above", 0, conf=text_of("{tokenFile: pki/../t}"), files={"t": lambda _: "a-token"},
         prepare=folders("pki")),
    file("token file: far above", 3, "read the token file", conf=text_of("{tokenFile: ../../../../../../../none/t}")),
    file("token file: a slash behind", 3, "folder", conf=text_of("{tokenFile: t/}"), files={"t": lambda _: "a-token"}),
    *(inside(form) for form in (
        "t", ".\\t", "./t", "pki\\..\\t", "{folder}/t", "{folder}/pki/../t", "Z:{folder}/t", "z:{folder}\\pki\\..\\t",
        "\\\\?\\Z:{folder}/t", "\\\\.\\Z:{folder}/t", "//?/Z:{folder}/t", "T")),
    *(inside(form, code, says) for form, code, says in (
        ("Z:t", 3, "not an absolute path"), ("./t:stream", 3, "a file name cannot contain"), ("Q:\\t", 3, "drive Q: does not exist"),
        ("\\\\server\\share\\t", 3, "\\\\server\\share\\t"), ("\\\\.\\pipe\\t", 3, "device"), ("pki", 3, "folder"),
        ("t\\", 3, "folder"), ("t?", 3, "a file name cannot contain"), ("file:///{folder}/t", 3, "a file name cannot contain"))),
    file("CA file: a folder", 3, "pki", conf=text_of(ca=THE_CA + "pki"), prepare=folders("pki")),
    file("CA file: empty", 3, "certificate", conf=text_of(ca=THE_CA + "ca"),
         files={"ca": lambda _: ""}),
    file("CA file: a key", 3, "certificate", conf=text_of(ca=THE_CA + "ca"),
         files={"ca": lambda s: s.ca.key_pem}),
    file("CA file: two", 0, conf=text_of(ca=THE_CA + "ca"),
         files={"ca": lambda s: stranger().pem + s.ca.pem}),
    file("CA file: a pipe that nobody writes", 3, "", conf=text_of(ca=THE_CA + "ca"),
         prepare=fifo("ca"), seconds=20, **POSIX),
    file("CA file: with blanks in its name", 0, conf=text_of(ca=THE_CA + "'my ca.crt'"),
         files={"my ca.crt": lambda s: s.ca.pem}),
    file("CA file: above", 0, conf=text_of(ca=THE_CA + "../ca.crt"),
         argument="{folder}/sub/d2.conf", kubeadm=False, files={  # it looks where it was started
             "ca.crt": lambda s: s.ca.pem,
             "sub/d2.conf": text_of(ca=THE_CA + "../ca.crt")}),
    file("CA file: a URL", 3, "read the certificate authority file",
         conf=text_of(ca=THE_CA + "https://127.0.0.1/ca.crt")),
    file("a CA and insecure-skip-tls-verify", 3, "nothing would prove the server's identity", conf=with_field(
        "insecure-skip-tls-verify: true")),
]

# --- fetched over https ----------------------------------------------------------------------------

ROOTS = {"roots.pem": lambda server: server.ca.pem}
TRUSTED = {"SSL_CERT_FILE": "{folder}/roots.pem"}


def conf_of(server):
    return text_of()(server).encode()


def fetch(name, code, make, *says, path="/d.conf", url=None, **more):
    """What the server answers to the question for the file: make(server) -> raw answer."""
    paths = {path: make, **more.pop("paths", {})}
    return file("fetch: " + name, code, *says, files=ROOTS, environment=TRUSTED,
                argument=url or "https://{endpoint}" + path,
                odd_server=more.pop("odd_server", None) or Odd(paths=paths), **more)


def hop(n):
    return lambda _: http(b"", "302 Go", "Location: /hop%d" % (n + 1))


FETCHES = [
    fetch("as text", 0, lambda s: http(conf_of(s), kind="text/plain")),
    fetch("as HTML", 0, lambda s: http(conf_of(s), kind="text/html; charset=utf-16")),
    fetch("without a type", 0, lambda s: http(conf_of(s), kind=None)),
    fetch("gzip unasked", 1, lambda s: http(__import__("gzip").compress(conf_of(s)), "200 OK",
                                            "Content-Encoding: gzip"), "control characters"),
    fetch("gzip that says nothing", 1, lambda s: http(__import__("gzip").compress(conf_of(s)))),
    *[fetch(status, 1, lambda s, status=status: http(conf_of(s), status + " x"), status)
      for status in ("201", "202", "203", "206", "226", "300", "304", "400", "401", "403", "404",
                     "407", "429", "500", "503")],
    fetch("204", 1, lambda s: b"HTTP/1.1 204 x\r\n\r\n", "204"),
    fetch("nothing", 1, lambda s: http(b""), "not a kubeconfig"),
    fetch("a page", 1, lambda s: http(b"<!doctype html><p>log in</p>", kind="text/html")),
    fetch("a byte order mark", 0, lambda s: http(b"\xef\xbb\xbf" + conf_of(s))),
    fetch("UTF-16", 1, lambda s: http(conf_of(s).decode().encode("utf-16"))),
    fetch("900 KiB", 0, lambda s: http(conf_of(s) + b"# " + b"x" * 900000 + b"\n")),
    fetch("2 MiB", 1, lambda s: http(conf_of(s) + b"# " + b"x" * 2097152), "longer than"),
    fetch("chunks", 0, lambda s: OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (
        len(conf_of(s)), conf_of(s))),
    fetch("cut short", 1, lambda s: iter([http(conf_of(s))[:-9]]), "fetch the discovery kubeconfig"),
    fetch("a body that does not come", 1, lambda s: endless(
        OK + b"Content-Length: 99\r\n", b"X: y\r\n", 0.3)(b"", 1), "no complete answer",
          timeout="3s", seconds=15, kubeadm=False),
    fetch("no answer", 1, lambda s: endless(b"", b"", 1)(b"", 1), "no complete answer", timeout="3s",
          seconds=15, kubeadm=False),
    fetch("a redirect", 0, lambda s: http(b"", "302 Go", "Location: /e"), paths={
        "/e": lambda s: http(conf_of(s))}),
    fetch("a redirect with a page of its own", 0, lambda s: http(
        b"x" * 100000, "301 Go", "Location: /e"), paths={"/e": lambda s: http(conf_of(s))}),
    fetch("a redirect to the whole URL", 0, lambda s: http(
        b"", "307 Go", "Location: https://%s/e" % s.endpoint), paths={
            "/e": lambda s: http(conf_of(s))}),
    fetch("a redirect to another name of the server", 0, lambda s: http(
        b"", "302 Go", "Location: https://localhost:%d/e" % s.port), paths={
            "/e": lambda s: http(conf_of(s))}),
    fetch("a redirect without a place", 1, lambda s: http(b"", "302 Go"), "302"),
    fetch("a redirect to http", 1, lambda s: http(b"", "302 Go", "Location: http://127.0.0.1:1/")),
    fetch("a redirect to a file", 1, lambda s: http(b"", "302 Go", "Location: file:///etc/hosts")),
    fetch("a redirect to ftp", 1, lambda s: http(b"", "302 Go", "Location: ftp://127.0.0.1:1/")),
    fetch("a redirect to data", 1, lambda s: http(b"", "302 Go", "Location: data:,a")),
    fetch("a redirect to itself", 1, lambda s: http(b"", "302 Go", "Location: /d.conf"),
          "redirects"),
    fetch("a path with dots", 1, lambda s: http(conf_of(s)), "404", url="https://{endpoint}/x/../d.conf"),
    fetch("a redirect that is not a URL", 1, lambda s: http(b"", "302 Go", "Location: https://[::1")),
    fetch("a redirect with a password", 1, lambda s: http(
        b"", "302 Go", "Location: https://me:pass-word@127.0.0.1:1/e"), hidden=("pass-word",)),
    fetch("four redirects", 0, lambda s: http(b"", "302 Go", "Location: /hop1"), paths={
        **{"/hop%d" % n: hop(n) for n in range(1, 4)}, "/hop4": lambda s: http(conf_of(s))}),
    fetch("eight redirects", 1, lambda s: http(b"", "302 Go", "Location: /hop1"), "redirects", paths={
        **{"/hop%d" % n: hop(n) for n in range(1, 8)}, "/hop8": lambda s: http(conf_of(s))}),
    fetch("twelve redirects", 1, lambda s: http(b"", "302 Go", "Location: /hop1"), "redirects",
          paths={**{"/hop%d" % n: hop(n) for n in range(1, 12)},
                 "/hop12": lambda s: http(conf_of(s))}),
    fetch("a query", 0, lambda s: http(conf_of(s)), url="https://{endpoint}/d.conf?a=b&c"),
    fetch("a query that is a secret, 404", 1, lambda s: http(b"", "404 No"), "404",
          url="https://{endpoint}/d.conf?sig=pass-word", hidden=("pass-word",)),
    fetch("a query that is a secret, no kubeconfig", 1, lambda s: http(b"a: b"),
          url="https://{endpoint}/d.conf?sig=pass-word", hidden=("pass-word",)),
    fetch("a query that is a secret, nobody there", 1, lambda s: http(b""),
          url="https://127.0.0.1:1/d.conf?sig=pass-word", hidden=("pass-word",)),
    fetch("a user and a password", 0, lambda s: http(conf_of(s)), hidden=("pass-word",),
          url="https://me:pass-word@{endpoint}/d.conf"),
    fetch("a user and a password, 401", 1, lambda s: http(b"", "401 No"), "401",
          hidden=("pass-word",), url="https://me:pass-word@{endpoint}/d.conf"),
    dataclasses.replace(fetch(
        "a user and a password, no kubeconfig", 1, lambda s: http(b"a: b"), hidden=("pass-word",),
        url="https://me:pass-word@{endpoint}/d.conf"), secret_may_go=True),
    fetch("a user and a password, nobody there", 1, lambda s: http(b""), hidden=("pass-word",),
          url="https://me:pass-word@127.0.0.1:1/d.conf"),
    fetch("a fragment", 0, lambda s: http(conf_of(s)), url="https://{endpoint}/d.conf#x"),
    fetch("no path", 0, lambda s: http(conf_of(s)), path="/", url="https://{endpoint}"),
    fetch("a scheme in capitals", 0, lambda s: http(conf_of(s)), url="HTTPS://{endpoint}/d.conf"),
    fetch("no host", 3, lambda s: http(b""), url="https:///d.conf"),
    fetch("nothing but the scheme", 3, lambda s: http(b""), url="https://"),
    fetch("a port that is none", 3, lambda s: http(b""), url="https://127.0.0.1:x/d.conf"),
    fetch("a blank", 3, lambda s: http(b""), url="https://{endpoint}/d .conf", kubeadm=False),
    fetch("a line break", 3, lambda s: http(b""), url="https://{endpoint}/d.conf\r\nX: y"),
    fetch("a server of another name", 4, lambda s: http(conf_of(s)), odd_server=Odd(
        leaf=leaf(names=("localhost",)), paths={"/d.conf": lambda s: http(conf_of(s))})),
    fetch("a server that has ended", 4, lambda s: http(conf_of(s)), odd_server=Odd(
        leaf=leaf(days=(-9, -1)), paths={"/d.conf": lambda s: http(conf_of(s))})),
    fetch("a server by its common name", 4, lambda s: http(conf_of(s)), odd_server=Odd(
        leaf=lambda ca: issue(ca, name="127.0.0.1"), paths={"/d.conf": lambda s: http(conf_of(s))})),
    fetch("a localhost by its common name", 4, lambda s: http(conf_of(s)), odd_server=Odd(
        leaf=lambda ca: issue(ca, name="localhost"), paths={"/d.conf": lambda s: http(conf_of(s))}),
          url="https://localhost:{port}/d.conf"),
    fetch("insecure-skip-tls-verify", 3, lambda s: http(text_of(
        ca="insecure-skip-tls-verify: true")(s).encode()), "nothing would prove the server's identity"),
    fetch("a program", 3, lambda s: http(text_of(
        "{exec: {command: /bin/true, apiVersion: client.authentication.k8s.io/v1, interactiveMode: "
        "Never}}")(s).encode()), "credentials by exec"),
    fetch("a client key of this machine", 3, lambda s: http(text_of(
        "{client-certificate: /etc/hostname, client-key: /etc/hostname}")(s).encode()),
          "on this machine"),
    fetch("a CA of this machine", 3, lambda s: http(text_of(
        ca="certificate-authority: /etc/ssl/certs/ca-certificates.crt")(s).encode()),
          "on this machine"),
    fetch("no credentials and a bootstrap token", 0, lambda s: http(text_of("{}")(s).encode()),
          more=BOOTSTRAP),
]

CASES = [*SERVERS, *PROXIES, *CREDENTIALS, *FORMS, *FETCHES]
