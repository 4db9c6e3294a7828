"""A small API client for tests: an identity, requests, watches."""

import base64
import http.client
import json
import os
import re
import ssl
import tempfile
import urllib.parse


class Refused(Exception):
    """The server answered with an error; code and Status are kept."""

    def __init__(self, code, status):
        message = status.get("message") if isinstance(status, dict) else str(status)[:200]
        super().__init__("%d %s" % (code, message))
        self.code, self.status = code, status


class Client:
    """Talks to one server as one identity. A connection a request, as simple as can be."""

    def __init__(self, server, ca_pem=None, token=None, pair=None, timeout=20):
        split = urllib.parse.urlsplit(server)
        self.host, self.port, self.token, self.timeout = split.hostname, split.port, token, timeout
        self.tls = ssl.create_default_context(cadata=ca_pem) if ca_pem \
            else ssl._create_unverified_context()
        if pair:
            with tempfile.NamedTemporaryFile(delete=False) as f:
                f.write(pair)
            self.tls.load_cert_chain(f.name)
            os.unlink(f.name)

    @classmethod
    def of_kubeconfig(cls, path):
        with open(path, encoding="utf-8") as f:
            text = f.read()

        def field(name):
            return re.search(r"%s: (\S+)" % name, text).group(1)
        cert, key = (base64.b64decode(field(n)) for n in ("client-certificate-data",
                                                          "client-key-data"))
        return cls(field("server"), base64.b64decode(field("certificate-authority-data")).decode(),
                   pair=cert + key)

    def send(self, method, path, body=None, kind="application/json", headers=None):
        """The raw (connection, response)."""
        connection = http.client.HTTPSConnection(self.host, self.port, context=self.tls,
                                                 timeout=self.timeout)
        sent = {"User-Agent": "kc", **(headers or {})}
        if self.token:
            sent["Authorization"] = "Bearer " + self.token
        data = None
        if body is not None:
            data, sent["Content-Type"] = json.dumps(body), kind
        connection.request(method, path, data, sent)
        return connection, connection.getresponse()

    def call(self, method, path, body=None, kind="application/json"):
        """The decoded answer; Refused when it is an error, OSError when none comes (to its end)."""
        try:
            connection, response = self.send(method, path, body, kind)
            text = response.read()
        except http.client.HTTPException as why:
            raise ConnectionError("%s %s: %r" % (method, path, why)) from why
        connection.close()
        try:
            answer = json.loads(text)
        except ValueError:
            answer = text.decode()
        if response.status >= 400:
            raise Refused(response.status, answer)
        return answer

    def watch(self, path):
        """Yields (type, object) until the server ends the watch."""
        connection, response = self.send("GET", path)
        if response.status != 200:
            raise Refused(response.status, json.loads(response.read()))
        try:
            while line := response.readline():
                event = json.loads(line)
                yield event["type"], event["object"]
        finally:
            connection.close()
