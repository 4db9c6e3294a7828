#!/usr/bin/python3
"""Many `kubeadm join` at once, as a model in one process: kubeadm itself needs 55 MB of memory each.

A model makes kubeadm's and its kubelet's requests (docs/design/kubeadm-parity.md, counted from kubeadm itself), over
connections as they make them: cluster-info without and then with the CA, what the token reads, and the kubelet's
certificate. Its patience is upstream's: discovery comes again every 5 s, client-go repeats what was answered 429 with
Retry-After ten times, kubeadm-config is asked for again every 500 ms for a minute, the other two ConfigMaps for 350 ms, the
Node once, and the kubelet asks again after 2 s, 4 s, 8 s, 16 s and 32 s. None of these pauses has randomness, but the kubelet's,
which has a tenth. What a kubeadm costs its own machine is not in the model.
"""
import asyncio
import base64
import functools
import json
import random
import re
import ssl
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DISCOVERY, EVERY, CERTIFICATE, REPEATS = 300, 5, 900, 10  # seconds, and times
CONFIG = (("kubeadm-config", 60, 0.5), ("kube-proxy", 0.35, 0.1), ("kubelet-config", 0.35, 0.1))  # for how long, how often
KUBELET_PAUSES = (2, 4, 8, 16, 32)
CONFIG_MAP = "/api/v1/namespaces/%s/configmaps/%s"
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


class Refused(Exception):
    """An answer that is no 2xx, or none at all."""


def certificate_request(node):
    name = x509.Name([x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "system:nodes"),
                      x509.NameAttribute(x509.NameOID.COMMON_NAME, "system:node:" + node)])
    made = x509.CertificateSigningRequestBuilder().subject_name(name).sign(ec.generate_private_key(ec.SECP256R1()),
                                                                          hashes.SHA256())
    return {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": {"generateName": "csr-"},
            "spec": {"request": base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode(),
                     "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
                     "usages": ["digital signature", "client auth"]}}


class Connection:
    """One connection that stays open, as Go's transport keeps it."""

    def __init__(self, host, port, tls, token=None):
        self.to, self.tls, self.token, self.streams = (host, port), tls, token, None

    async def send(self, method, path, body):
        if not self.streams:
            self.streams = await asyncio.open_connection(*self.to, ssl=self.tls)
        reader, writer = self.streams
        sent = json.dumps(body).encode() if body else b""
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: %s:%d" % self.to, "Accept: application/json",
                 "Content-Length: %d" % len(sent)]
        lines += ["Content-Type: application/json"] if body else []
        lines += ["Authorization: Bearer " + self.token] if self.token else []
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + sent)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        return int(head[0].split()[1]), dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)

    async def pieces(self, headers):
        """The pieces of an answer's body."""
        reader = self.streams[0]
        if "chunked" not in headers.get("transfer-encoding", ""):
            yield await reader.readexactly(int(headers.get("content-length", 0)))
            return
        while size := int(await reader.readuntil(b"\n"), 16):
            yield (await reader.readexactly(size + 2))[:-2]
        await reader.readuntil(b"\n")

    async def ask(self, method, path, body=None):
        """The answer's JSON; asked again as client-go does."""
        for attempt in range(REPEATS + 1):
            try:
                code, headers = await self.send(method, path, body)
                text = b"".join([piece async for piece in self.pieces(headers)])
            except (OSError, asyncio.IncompleteReadError) as gone:
                self.close()
                raise Refused(str(gone)) from gone
            if headers.get("connection") == "close":
                self.close()
            if 200 <= code < 300:
                return json.loads(text)
            if code != 429 or attempt == REPEATS:
                raise Refused("%s: %d" % (path, code))
            await asyncio.sleep(int(headers.get("retry-after", 1)))

    async def watch(self, path, wanted):
        """Reads events until `wanted` takes an object's."""
        try:
            code, headers = await self.send("GET", path, None)
            text = b""
            async for piece in self.pieces(headers):
                text += piece
                *whole, text = text.split(b"\n")
                if code == 200 and any(wanted(json.loads(line)["object"]) for line in whole):
                    return True
        except (OSError, asyncio.IncompleteReadError) as gone:
            raise Refused(str(gone)) from gone
        finally:
            self.close()
        return False

    def close(self):
        if self.streams:
            self.streams[1].close()
        self.streams = None


async def until(seconds, pause, ask):
    """Asks again after the same pause, for so many seconds."""
    end = time.monotonic() + seconds
    while True:
        try:
            return await ask()
        except Refused:
            if time.monotonic() + pause > end:
                raise
            await asyncio.sleep(pause)


def signed(request):
    return bool(request.get("status", {}).get("certificate"))


async def kubelet(connection, body):
    """The kubelet's client certificate."""
    for pause in (*KUBELET_PAUSES, None):
        try:
            made = await connection.ask("POST", REQUESTS, body)
            query = REQUESTS + "?fieldSelector=metadata.name%3D" + made["metadata"]["name"]
            found = await connection.ask("GET", query)
            while not any(signed(item) for item in found["items"]):
                version = found["metadata"]["resourceVersion"]
                if await connection.watch("%s&watch=true&timeoutSeconds=400&resourceVersion=%s" % (query, version), signed):
                    return
                found = await connection.ask("GET", query)
            return
        except Refused:
            if pause is None:
                raise
            await asyncio.sleep(pause * (1 + random.random() / 10))


async def join(facts, node, body, unknown, known):
    """One join; raises what ends it."""
    host, port = facts["endpoint"].rsplit(":", 1)
    for tls in (unknown, known):
        first = Connection(host, int(port), tls)
        await until(DISCOVERY, EVERY, functools.partial(first.ask, "GET", CONFIG_MAP % ("kube-public", "cluster-info")))
        first.close()
    kubeadm = Connection(host, int(port), known, facts["token"])
    for name, seconds, pause in CONFIG:
        await until(seconds, pause, functools.partial(kubeadm.ask, "GET", CONFIG_MAP % ("kube-system", name)))
    try:
        await kubeadm.ask("GET", "/api/v1/nodes/" + node)
    except Refused as refused:
        if not str(refused).endswith(": 404"):
            raise
    kubeadm.close()
    own = Connection(host, int(port), known, facts["token"])
    await asyncio.wait_for(kubelet(own, body), CERTIFICATE)
    own.close()


def authority(kubeconfig):
    """The CA of a kubeconfig."""
    with open(kubeconfig, encoding="utf-8") as f:
        return base64.b64decode(re.search(r"certificate-authority-data: *\"?([^\s\"]+)", f.read()).group(1)).decode()


async def joins(facts, nodes, bodies, limit):
    """(seconds, None or why not) of each, in the order of their ends, which are no later than after `limit` seconds."""
    unknown = ssl.create_default_context()
    unknown.check_hostname, unknown.verify_mode = False, ssl.CERT_NONE
    known = ssl.create_default_context(cadata=authority(facts["kubeconfig"]))
    begin, ends = time.monotonic(), []

    async def one(node, body):
        try:
            await asyncio.wait_for(join(facts, node, body, unknown, known), limit)
            ends.append((time.monotonic() - begin, None))
        except (Refused, asyncio.TimeoutError) as why:
            ends.append((time.monotonic() - begin, str(why) or "not joined in time"))

    await asyncio.gather(*(one(node, body) for node, body in zip(nodes, bodies)))
    return ends


def play(facts, count, begin, limit=CERTIFICATE):
    """So many joins of a server, each of at most `limit` seconds; `begin` is called when all are ready to start."""
    nodes = ["kubeadm-%d" % i for i in range(count)]
    bodies = [certificate_request(node) for node in nodes]
    begin()
    return asyncio.run(joins(facts, nodes, bodies, limit))
