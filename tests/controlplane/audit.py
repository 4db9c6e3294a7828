"""The request log: one JSON object a line; never a token or a body."""

import json
import threading

from .store import timestamp


class Audit:
    def __init__(self, path=None):
        self.lock = threading.Lock()
        self.file = open(path, "a", encoding="utf-8") if path else None

    def write(self, user, verb, path, agent, code, milliseconds, connection):
        line = json.dumps({"time": timestamp(), "user": user, "verb": verb, "path": path,
                           "userAgent": agent, "code": code, "ms": milliseconds,
                           "connection": connection})
        with self.lock:
            if self.file:
                self.file.write(line + "\n")
                self.file.flush()

    def close(self):
        with self.lock:
            if self.file:
                self.file.close()
                self.file = None
