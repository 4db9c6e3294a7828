"""An admission webhook in front of the real API server: it waits, then allows or refuses.

    with webhook.Webhook(cluster, resources=["certificatesigningrequests"], seconds=3) as hook:
        ...; hook.asked
"""
import base64
import http.server
import json
import os
import ssl
import subprocess
import threading
import time

import netns
import objects

PATH = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
NAME = "slow.winjoin.test"
SAMPLE = {"apiVersion": "v1", "kind": "ConfigMap",
          "metadata": {"name": "webhook-sample", "labels": {"winjoin.test/sample": "yes"}}}


class Webhook:
    """Use as a context manager. refuse: what a refused client is told ('' = everything is allowed)."""

    def __init__(self, cluster, resources, seconds=0.0, refuse="", operations=("CREATE", "UPDATE")):
        self.cluster, self.resources, self.operations = cluster, list(resources), list(operations)
        self.seconds, self.refuse = seconds, refuse
        self.asked, self.heard = [], False

    def __enter__(self):
        self.server = netns.within(self.cluster.ns, self._listen)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        try:
            self._register()
        except BaseException:
            self.server.shutdown()
            raise
        return self

    def __exit__(self, *_):
        self.cluster.call("DELETE", PATH + "/" + NAME)
        self.server.shutdown()
        self.server.server_close()

    def _listen(self):
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                hook.heard = hook.heard or self.path.startswith("/heard")
                body = json.dumps(hook.answer(review, self.path.startswith("/heard"))).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """The audit log tells what was asked."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*self._certificate())
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        return server

    def answer(self, review, sample):
        request = review["request"]
        refuse = self.refuse and not sample
        if not sample:
            self.asked.append((request["operation"], request["resource"]["resource"],
                               request["userInfo"]["username"]))
            time.sleep(self.seconds)
        response = {"uid": request["uid"], "allowed": not refuse}
        if refuse:
            response["status"] = {"code": 403, "message": self.refuse}
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

    def _certificate(self):
        """Its own, for 127.0.0.1."""
        cert, key = (self.cluster.path("webhook." + end) for end in ("crt", "key"))
        if not os.path.exists(cert):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=webhook",
                            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
                           check=True, capture_output=True)
        return cert, key

    def _register(self):
        """Two hooks: the one that is meant, and one by which is seen that the server knows them."""
        rules = [self._hook(NAME, "/", self.operations, self.resources),
                 {**self._hook("heard." + NAME, "/heard", ["CREATE"], ["configmaps"]),
                  "objectSelector": {"matchLabels": SAMPLE["metadata"]["labels"]}}]
        objects.create(self.cluster, PATH, "ValidatingWebhookConfiguration", NAME,
                       "admissionregistration.k8s.io/v1", webhooks=rules)
        self.cluster.wait_for(self._known, 20, what_for="webhook that is asked")

    def _hook(self, name, path, operations, resources):
        with open(self._certificate()[0], "rb") as f:
            bundle = base64.b64encode(f.read()).decode()
        url = "https://127.0.0.1:%d%s" % (self.server.server_address[1], path)
        return {"name": name, "admissionReviewVersions": ["v1"], "sideEffects": "None",
                "timeoutSeconds": 30, "failurePolicy": "Fail",
                "clientConfig": {"url": url, "caBundle": bundle},
                "rules": [{"operations": operations, "apiGroups": ["*"], "apiVersions": ["*"],
                           "resources": resources}]}

    def _known(self):
        self.cluster.call("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", SAMPLE)
        return self.heard
