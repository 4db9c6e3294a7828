"""The control socket of a test: faults and switches of a running server.

A Unix socket; one JSON object a line in, one out. Operations:
  {"op":"fault", ...RequestFault fields}   {"op":"clear"}   {"op":"csr","mode":"manual","delay":0}
  {"op":"named","name":"wrong-san"}        {"op":"token","token":"id.secret","expiration":".."}
  {"op":"restart-watches"}                 {"op":"status"}
  {"op":"traffic","clear":false,"rate":50,"burst":10}   what came since the start or the last clear
"""

import json
import os
import socketserver
import threading

from . import controllers, faults, resources, status, tokens, traffic


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            try:
                answer = {"ok": True, **(self.server.act(json.loads(line)) or {})}
            except (KeyError, TypeError, ValueError, AttributeError, status.ApiError) as e:
                answer = {"ok": False, "error": "%s: %s" % (type(e).__name__, e)}
            self.wfile.write(json.dumps(answer).encode() + b"\n")


class Control(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, path, server):
        if os.path.exists(path):
            os.unlink(path)
        super().__init__(path, Handler)
        self.api = server
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05},
                         name="control", daemon=True).start()

    def act(self, message):
        operation = message.pop("op")
        return getattr(self, "_" + operation.replace("-", "_"))(**message)

    def _fault(self, **fields):
        self.api.book.add(fields)

    def _clear(self):
        self.api.book.clear()
        self.api.use_fault(None)

    def _named(self, name):
        self.api.use_fault(faults.NAMED[name])

    def _csr(self, mode=None, delay=None):
        if mode is not None:
            if mode not in controllers.CSR_MODES:
                raise ValueError("no such mode '%s'" % mode)
            self.api.setup.csr_mode = mode
        if delay is not None:
            self.api.setup.csr_delay = delay

    def _token(self, token, expiration=None, groups=tokens.DEFAULT_GROUP):
        self.api.store.create(resources.named("secrets"), "kube-system",
                              tokens.secret_of(token, expiration, groups))

    def _traffic(self, clear=False, rate=None, burst=0):
        bearer = self.api.traffic
        if rate is not None:
            bearer.limit = traffic.Limit(rate, burst)
        facts = bearer.facts()
        if clear:
            bearer.clear()
        return facts

    def _restart_watches(self):
        self.api.generation += 1

    def _status(self):
        return {"version": self.api.store.version, "faults": len(self.api.book.faults)}
