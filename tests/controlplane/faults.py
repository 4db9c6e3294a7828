"""Faults: the named ones of the discovery tests, and the ones asked for at run time."""

import base64
import dataclasses
import datetime
import re
import threading

from . import pki, tokens


@dataclasses.dataclass
class RequestFault:
    """What happens to the next `count` requests that match (count 0: all of them)."""
    path: str = ".*"           # regular expression over the whole path, without the query
    method: str = ""
    user: str = ""             # regular expression over the user's name
    skip: int = 0              # leave the first ones alone
    count: int = 0
    code: int = 0              # answer this code instead
    reason: str = ""
    body: str = None           # answer this body instead
    retryAfter: int = None
    location: str = ""
    delay: float = 0.0         # seconds before the answer
    truncate: int = None       # send so many bytes of the answer, then cut
    drip: float = 0.0          # seconds between two bytes of the body
    reset: bool = False        # cut the connection without an answer
    bytes: int = 0             # answer a body of so many bytes
    seen: int = 0

    def matches(self, method, path, user):
        if not re.fullmatch(self.path, path) or self.method not in ("", method) \
                or not re.search(self.user, user):
            return False
        self.seen += 1
        return self.seen > self.skip and (not self.count or self.seen <= self.skip + self.count)


class FaultBook:
    """The request faults in force, oldest first."""

    def __init__(self, faults=()):
        self.lock, self.faults = threading.Lock(), list(faults)

    def add(self, document):
        fault = RequestFault(**document)
        re.compile(fault.path)
        with self.lock:
            self.faults.append(fault)

    def clear(self):
        with self.lock:
            self.faults.clear()

    def find(self, method, path, user):
        with self.lock:
            return next((f for f in self.faults if f.matches(method, path, user)), None)


CLUSTER_INFO = "/api/v1/namespaces/kube-public/configmaps/cluster-info"


@dataclasses.dataclass
class Named:
    """A fault by name: its certificate, its requests, its cluster-info."""
    title: str
    certificate: object = None   # (authority, names) -> (certificate PEM, key PEM)
    later_certificate: bool = False  # only from the second connection on
    requests: tuple = ()
    cluster_info: object = None  # (data, nth answer, context) -> data
    clock: float = 0.0           # seconds added to the Date header


@dataclasses.dataclass
class Context:
    """What a cluster-info fault may need: the token and an authority that nobody trusts."""
    token_id: str
    secret: str
    stranger: pki.Authority


def _resigned(data, c, kubeconfig):
    return {**data, "kubeconfig": kubeconfig,
            "jws-kubeconfig-" + c.token_id: tokens.detached_jws(c.token_id, c.secret, kubeconfig)}


def _signed_as(change):
    """A fault in the signature alone: change(jws, context, kubeconfig) -> jws."""
    def apply(data, _, c):
        key = "jws-kubeconfig-" + c.token_id
        return {**data, key: change(data.get(key, ""), c, data["kubeconfig"])}
    return apply


def _header(form):
    return _signed_as(lambda _, c, text: tokens.detached_jws(c.token_id, c.secret, text,
                                                             form % c.token_id))


def _kubeconfig(change):
    """A rightly signed kubeconfig with another text: change(text, context) -> text."""
    return lambda data, _, c: _resigned(data, c, change(data["kubeconfig"], c))


def _only_second(change):
    return lambda data, nth, c: change(data, nth, c) if nth > 1 else data


def _without(key):
    return lambda data, _, c: {k: v for k, v in data.items() if k != key % {"id": c.token_id}}


def _ca_data(make):
    """Another certificate-authority-data: make(authority) -> text."""
    def change(text, c):
        old = re.search(r"certificate-authority-data: (\S+)", text).group(1)
        return text.replace(old, make(old, c))
    return _kubeconfig(change)


def _b64(data):
    import base64
    return base64.b64encode(data).decode()


def _unb64(text):
    import base64
    return base64.b64decode(text)


def _life(**arguments):
    return lambda authority, names: authority.issue_server(names, **{
        k: pki.now() + datetime.timedelta(days=v) for k, v in arguments.items()})


def _on_cluster_info(**arguments):
    return (RequestFault(path=CLUSTER_INFO, **arguments),)


_STRANGER = pki.Authority.create("kubernetes", pki.new_ec_key())
NESTED = "[" * 5000 + "]" * 5000

NAMED = {
    # certificates
    "expired-certificate": Named("the serving certificate ended yesterday",
                                 _life(not_before=-9, not_after=-1)),
    "future-certificate": Named("the serving certificate begins tomorrow",
                                _life(not_before=1, not_after=9)),
    "wrong-san": Named("the serving certificate is for other names",
                       lambda a, _: a.issue_server(["other.example", "192.0.2.77"])),
    "no-san": Named("the serving certificate has no names", lambda a, _: a.issue_server([])),
    "other-ca": Named("another CA signed the serving certificate",
                      lambda _, names: _STRANGER.issue_server(names)),
    "other-ca-later": Named("from the second connection on another CA's certificate",
                            lambda _, names: _STRANGER.issue_server(names), True),
    "slow-clock": Named("the server's clock is a day behind", clock=-86400.0),
    # the signature
    "no-signature": Named("no signature for this token", cluster_info=_without(
        "jws-kubeconfig-%(id)s")),
    "empty-signature": Named("an empty signature", cluster_info=_signed_as(lambda *_: "")),
    "wrong-secret": Named("signed with another secret", cluster_info=_signed_as(
        lambda _, c, text: tokens.detached_jws(c.token_id, "f" * 16, text))),
    "signature-padded": Named("base64url with padding", cluster_info=_signed_as(
        lambda jws, *_: jws + "=")),
    "signature-newline": Named("a newline after the signature", cluster_info=_signed_as(
        lambda jws, *_: jws + "\n")),
    "signature-attached": Named("the payload left in", cluster_info=_signed_as(
        lambda jws, _, text: jws.replace("..", "." + tokens.b64url(text.encode()) + "."))),
    "signature-two-parts": Named("two parts only", cluster_info=_signed_as(
        lambda jws, *_: jws.replace("..", "."))),
    "signature-flipped": Named("one character changed", cluster_info=_signed_as(
        lambda jws, *_: jws[:-2] + ("A" if jws[-2] != "A" else "B") + jws[-1])),
    "header-order": Named("kid before alg", cluster_info=_header('{"kid":"%s","alg":"HS256"}')),
    "header-spaces": Named("blanks in the header",
                           cluster_info=_header('{"alg": "HS256", "kid": "%s"}')),
    "header-extra": Named("one more header member",
                          cluster_info=_header('{"alg":"HS256","kid":"%s","typ":"JWT"}')),
    "header-alg-none": Named("alg none", cluster_info=_header('{"alg":"none","kid":"%s"}')),
    "header-other-kid": Named("another token's id", cluster_info=_header(
        '{"alg":"HS256","kid":"zzzzzz%.0s"}')),
    # the content
    "changed-kubeconfig": Named("the kubeconfig was changed after signing",
                                cluster_info=lambda data, *_: {
                                    **data, "kubeconfig": data["kubeconfig"] + "#\n"}),
    "second-answer-differs": Named("the second answer differs, rightly signed",
                                   cluster_info=_only_second(_kubeconfig(
                                       lambda text, _: text + "\n"))),
    "second-server-differs": Named("the second answer names another server",
                                   cluster_info=_only_second(_kubeconfig(
                                       lambda text, _: re.sub("server: .*", "server: https://192.0."
                                                              "2.66:6443", text)))),
    "no-kubeconfig": Named("no kubeconfig key", cluster_info=_without("kubeconfig")),
    "empty-kubeconfig": Named("an empty kubeconfig", cluster_info=_kubeconfig(lambda *_: "")),
    "kubeconfig-no-yaml": Named("a kubeconfig that is not YAML", cluster_info=_kubeconfig(
        lambda *_: "{ this is: [not\tYAML")),
    "kubeconfig-no-cluster": Named("a kubeconfig without clusters", cluster_info=_kubeconfig(
        lambda *_: "apiVersion: v1\nkind: Config\nclusters: null\n")),
    "kubeconfig-long": Named("a kubeconfig of a megabyte, rightly signed",
                             cluster_info=_kubeconfig(lambda t, _: t + "# filler\n" * 110000)),
    "ca-garbage": Named("CA data that is not a certificate", cluster_info=_ca_data(
        lambda *_: _b64(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))),
    "ca-no-base64": Named("CA data that is not base64", cluster_info=_ca_data(lambda *_: "!!!!")),
    "ca-missing": Named("no CA data", cluster_info=_kubeconfig(
        lambda text, _: re.sub(r" *certificate-authority-data: .*\n", "", text))),
    "ca-stranger": Named("CA data of another CA", cluster_info=_ca_data(
        lambda *_: _b64(_STRANGER.pem))),
    "ca-rotation": Named("old and new CA in one bundle: no fault", cluster_info=_ca_data(
        lambda old, _: _b64(_STRANGER.pem + _unb64(old)))),
    # the transfer
    "unauthorized": Named("anonymous access is off", requests=_on_cluster_info(code=401)),
    "forbidden": Named("cluster-info is not public", requests=_on_cluster_info(code=403)),
    "not-found": Named("there is no cluster-info", requests=_on_cluster_info(code=404)),
    "starting": Named("503 twice, then well", requests=_on_cluster_info(
        code=503, retryAfter=1, count=2)),
    "throttled": Named("429 with Retry-After once", requests=_on_cluster_info(
        code=429, retryAfter=1, count=1)),
    "broken": Named("500 for ever", requests=_on_cluster_info(code=500)),
    "redirect": Named("sent elsewhere", requests=_on_cluster_info(
        code=302, location="https://192.0.2.66:6443" + CLUSTER_INFO)),
    "no-json": Named("an HTML page", requests=_on_cluster_info(body="<html>login</html>")),
    "json-nested": Named("JSON of great depth", requests=_on_cluster_info(body=NESTED)),
    "json-array": Named("JSON that is not an object", requests=_on_cluster_info(body="[]")),
    "long-answer": Named("64 MiB of answer", requests=_on_cluster_info(bytes=64 << 20)),
    "cut": Named("cut after 200 bytes", requests=_on_cluster_info(truncate=200)),
    "cut-once": Named("cut once, then well", requests=_on_cluster_info(truncate=200, count=1)),
    "reset": Named("connections are reset", requests=_on_cluster_info(reset=True)),
    "drip": Named("one byte a second", requests=_on_cluster_info(drip=1.0)),
    "hang": Named("no answer for a minute", requests=_on_cluster_info(delay=60.0)),
    "slow": Named("each answer takes two seconds", requests=_on_cluster_info(delay=2.0)),
}


def context_of(token):
    token_id, secret = token.split(".")
    return Context(token_id, secret, _STRANGER)
