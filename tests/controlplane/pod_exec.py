"""Programs run in modelled pods, as `kubectl exec` runs them: over a WebSocket, by a shell of this machine whose curl
reaches the pod's netexec (probes.Model).
"""
import base64
import hashlib
import http.server
import json
import os
import struct
import subprocess
import tempfile
import threading
import urllib.parse

CURL = """#!/bin/sh
url=$1; shift
case $url in http://127.0.0.1:8084/) path=8084 ;; *) path=${url#http://127.0.0.1:8080/} ;; esac
exec "$REAL_CURL" "http://127.0.0.1:$NETEXEC/$POD/$path" "$@"
"""
OUT, STATUS = 1, 3


class Netexec(http.server.BaseHTTPRequestHandler):
    """/POD/dial?...: what that pod's netexec says, which asks as often as `tries` says, one after the other."""
    def log_message(self, *args):
        pass

    def do_GET(self):
        split = urllib.parse.urlsplit(self.path)
        _, pod, path = split.path.split("/", 2)
        query = dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
        said = {}
        for _ in range(int(query.pop("tries", 1))):
            code, data, _ = self.server.proxy(pod, path, query)
            if code != 200:
                break
            for kind, texts in json.loads(data).items():
                said[kind] = said.get(kind, type(texts)()) + texts
        data = data if code != 200 else json.dumps(said).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Pods(http.server.ThreadingHTTPServer):
    request_queue_size, daemon_threads = 512, True

    def __init__(self, proxy, curl):
        super().__init__(("127.0.0.1", 0), Netexec)
        self.proxy, self.curl, self.folder = proxy, curl, tempfile.TemporaryDirectory(prefix="pod-exec.")
        self.runs = []  # the pod of each program
        path = os.path.join(self.folder.name, "curl")
        with open(path, "w", encoding="utf-8") as f:
            f.write(CURL)
        os.chmod(path, 0o755)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def run(self, pod, words):
        """(what it wrote, exit code)"""
        self.runs.append(pod)
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=False, env={
            "PATH": self.folder.name + ":" + os.environ["PATH"], "POD": pod, "NETEXEC": str(self.server_port), "REAL_CURL": self.curl})
        return done.stdout, done.returncode

    def close(self):
        self.shutdown()
        self.server_close()
        self.folder.cleanup()


def frame(kind, data):
    head = struct.pack("!BB", 0x80 | kind, len(data)) if len(data) < 126 else struct.pack("!BBQ", 0x80 | kind, 127, len(data))
    return head + data


def serve(handler, pod, pods):
    """Answers a request for pods/exec."""
    words = urllib.parse.parse_qs(urllib.parse.urlsplit(handler.path).query)["command"]
    key = handler.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    handler.code = 101
    handler.wfile.write(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n"
                         "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n" % accept).encode())
    handler.wfile.flush()
    out, code = pods.run(pod, words)
    end = {"status": "Success"} if code == 0 else {"status": "Failure", "reason": "NonZeroExitCode", "details": {
        "causes": [{"reason": "ExitCode", "message": str(code)}]}}
    handler.wfile.write(frame(2, bytes([OUT]) + out) + frame(2, bytes([STATUS]) + json.dumps(end).encode()) + frame(8, b"\x03\xe8"))
    handler.wfile.flush()
    handler.close_connection = True
