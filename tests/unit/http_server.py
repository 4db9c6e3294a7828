#!/usr/bin/env python3
"""The server behind test_http.c: HTTPS on loopback, its behaviour chosen by the path.

Prints JSON with its port, its CA's certificate, and a client certificate with its key, goes on in the
background, and ends at /quit or after a minute."""
import base64
import gzip
import hashlib
import http.server
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_certificates(folder):
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl(folder, "req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.crt",
            "-subj", "/CN=test-ca", "-days", "2")
    # RSA of 2048 bits is what kubeadm makes for an API server.
    for name, key, subject, extension in (
            ("server", ["-newkey", "rsa:2048", "-nodes"], "/CN=server", "subjectAltName=IP:127.0.0.1,DNS:kube.test"),
            ("client", curve, "/CN=system:node:a", "extendedKeyUsage=clientAuth")):
        with open(os.path.join(folder, name + ".ext"), "w", encoding="ascii") as out:
            out.write(extension + "\n")
        openssl(folder, "req", "-new", *key, "-keyout", name + ".key", "-out", name + ".csr",
                "-subj", subject)
        openssl(folder, "x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                "-CAcreateserial", "-out", name + ".crt", "-days", "2",
                "-extfile", name + ".ext")


def text_of(folder, name):
    with open(os.path.join(folder, name), encoding="ascii") as file:
        return file.read()


# Answers that are broken, written as they stand.
RAW = {
    "/garbage": b"this is not HTTP\r\n\r\n",
    "/cut": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
    "/cut-chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    "/cut-head": b"HTTP/1.1 200 OK\r\nX: y\r\n",
    "/cut-after-redirect": b"HTTP/1.1 302 Go\r\nLocation: /cut-head\r\nContent-Length: 0\r\n\r\n",
    "/two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 4\r\n\r\nhalf",
    "/interim": b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" * 20000,
}


# Bodies with Content-Encoding: gzip. 64 MiB of zeros are 65 KiB packed, and a hundred bytes packed twice.
ZEROS = gzip.compress(bytes(64 << 20))
PACKED = {
    "/packed": ("gzip", gzip.compress(b"hello" * 1000)),
    "/swollen": ("gzip", ZEROS),
    "/swollen-twice": ("gzip, gzip", gzip.compress(ZEROS)),
    "/broken-pack": ("gzip", b"this is not packed at all"),
    "/other-pack": ("compress", b"\x1f\x9d\x90"),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    paths = []  # that were asked for

    def log_message(self, format, *args):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_echo(self):
        length = int(self.headers.get("Content-Length", "0"))
        peer = self.connection.getpeercert() or {}
        names = dict(pair[0] for pair in peer.get("subject", ()))
        self.answer(200, json.dumps({
            "method": self.command, "body": self.rfile.read(length).decode(),
            "headers": {k.lower(): v for k, v in self.headers.items()},
            "client": names.get("commonName", "")}).encode(), Content_Type="application/json")

    def do_late(self):
        time.sleep(1)  # longer than a request may hang beside others, and a poll
        self.answer(200)

    def do_drip(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        for _ in range(100):
            self.wfile.write(b".")
            time.sleep(0.1)

    def do_stream(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in (b"one\n", b"two\n"):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            time.sleep(0.2)
        time.sleep(5)

    def do_headers(self):
        self.send_response(200)
        for i in range(100):
            self.send_header("X-%d" % i, "x" * 8000)
        self.answer_end()

    def answer_end(self):
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        try:
            self.choose()
        except OSError:
            pass  # the client had enough
    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def do_websocket(self):
        """exec as an API server does it: `echo` answers its words, 300000 bytes more and exit code 5."""
        words = urllib.parse.parse_qs(self.path.split("?")[1])["command"]
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), (
                "Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()), (
                "Sec-WebSocket-Protocol", self.headers["Sec-WebSocket-Protocol"].split(",")[0])):
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        if words[0] == "silent":
            time.sleep(5)
            return
        self.frame(2, b"\1" + " ".join(words[1:]).encode() + b"\n")
        self.frame(9, b"are you there")
        pong = self.rfile.read(2 + 4 + 13)
        if bytes(b ^ pong[2 + i % 4] for i, b in enumerate(pong[6:])) != b"are you there":
            return
        while words[0] == "endless":
            self.frame(2, b"\1" + b"x" * 60000)
        for _ in range(5):
            self.frame(2, b"\1" + b"x" * 60000)
        self.frame(2, b"\2" + self.headers["Authorization"].encode())
        self.frame(2, b"\3" + json.dumps({"status": "Failure", "reason": "NonZeroExitCode", "details": {
            "causes": [{"reason": "ExitCode", "message": "5"}]}}).encode())
        self.frame(8, b"\x03\xe8")

    def frame(self, opcode, data):
        size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + len(data).to_bytes(2, "big")
        self.wfile.write(bytes([0x80 | opcode]) + size + data)

    def choose(self):
        path = self.path.split("?")[0]
        self.paths.append(path)
        if path == "/asked":
            self.answer(200, " ".join(self.paths[-3:]).encode())
        elif path == "/ok":
            self.answer(200, b"hello", Content_Type="text/plain")
        elif path == "/retry":
            self.answer(429, b"{}", Retry_After="7")
        elif path == "/big":
            self.answer(200, b"x" * 65536)
        elif path in PACKED:
            self.answer(200, PACKED[path][1], Content_Encoding=PACKED[path][0])
        elif path == "/redirect":
            self.answer(302, b"", Location="/ok")
        elif path in RAW:
            self.wfile.write(RAW[path])
            self.close_connection = True
        elif path == "/head":
            head = urllib.parse.unquote(self.path.split("?")[1])
            self.wfile.write(("HTTP/1.1 200 OK\r\n%s\r\nContent-Length: 0\r\n\r\n" % head).encode())
        elif path.startswith("/ws/"):
            self.do_websocket()
        elif path == "/quit":
            self.answer(200)
            threading.Thread(target=self.server.shutdown).start()
        else:
            getattr(self, "do_" + path[1:], self.do_echo)()


def main():
    with tempfile.TemporaryDirectory() as folder:
        make_certificates(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "server.crt"),
                                os.path.join(folder, "server.key"))
        context.load_verify_locations(os.path.join(folder, "ca.crt"))
        context.verify_mode = ssl.CERT_OPTIONAL
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.handle_error = lambda request, address: None
        # The handshake belongs to the connection's own thread: a broken one must not stop the others.
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
        print(json.dumps({"port": server.server_address[1], "ca": text_of(folder, "ca.crt"),
                          "certificate": text_of(folder, "client.crt"),
                          "key": text_of(folder, "client.key")}), flush=True)
    if os.fork():
        os._exit(0)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    threading.Timer(60, lambda: os._exit(1)).start()
    server.serve_forever(poll_interval=0.05)
    os._exit(0)


main()
