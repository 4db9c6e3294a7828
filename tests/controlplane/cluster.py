"""A whole control plane in one object: started, asked where it is, stopped."""

import ipaddress
import os
import threading

from . import audit, control, controllers, pki, resources, seed, server
from .store import Store

SERVER_NAMES = ("kubernetes", "kubernetes.default", "kubernetes.default.svc")

ADMIN_KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority-data: {ca}
    server: {server}
  name: kubernetes
contexts:
- context:
    cluster: kubernetes
    user: {user}
  name: {user}@kubernetes
current-context: {user}@kubernetes
users:
- name: {user}
  user:
    client-certificate-data: {cert}
    client-key-data: {key}
"""


def url_host(host):
    return "[%s]" % host if ":" in host else host


class Cluster:
    def __init__(self, setup, audit_file=None):
        self.setup, self.store = setup, Store()
        os.makedirs(setup.state, mode=0o700, exist_ok=True)
        for left in os.listdir(setup.state):
            if left.startswith("serving-"):
                os.unlink(os.path.join(setup.state, left))
        self.authority = pki.Authority.load_or_create(os.path.join(setup.state, "pki"))
        services = ipaddress.ip_network(setup.services.split(",")[0])
        setup.names = list(dict.fromkeys([*SERVER_NAMES, SERVER_NAMES[2] + "." + setup.domain,
                                          setup.node or "cp", str(services[1]), setup.host,
                                          *setup.names]))
        self.api = server.Api(setup, self.store, self.authority, audit.Audit(audit_file))
        self.connections = server.Connections((setup.host, setup.port), self.api)
        setup.port = self.connections.server_address[1]
        setup.server = setup.server or "https://%s" % self.endpoint
        self.saved = os.path.join(setup.state, "objects.json")
        if os.path.exists(self.saved):
            self.store.load(self.saved, resources.BY_KIND)
        else:
            seed.fill(self.store, setup, self.authority.pem)
        self.controllers = controllers.Controllers(self.store, self.authority, setup)
        self.control_path = os.path.join(setup.state, "control")

    @property
    def endpoint(self):
        return "%s:%d" % (url_host(self.setup.host), self.setup.port)

    def start(self):
        self.controllers.sync()  # signed before the first request
        self.controllers.start()
        self.control = control.Control(self.control_path, self.api)
        threading.Thread(target=self.connections.serve_forever, kwargs={"poll_interval": 0.05},
                         name="accept", daemon=True).start()

    def kubeconfig(self, user="kubernetes-admin", groups=("system:masters",)):
        """Writes an identity's kubeconfig into the state folder; gives its path."""
        cert, key = self.authority.issue_client(user, groups)
        name = "admin.conf" if groups == ("system:masters",) else user.replace(":", "-") + ".conf"
        path = os.path.join(self.setup.state, name)
        values = {k: seed.base64.b64encode(v).decode() for k, v in
                  (("ca", self.authority.pem), ("cert", cert), ("key", key))}
        text = ADMIN_KUBECONFIG.format(server=self.setup.server, user=user, **values)
        pki.write_private(path, text.encode())
        return path

    def join_facts(self):
        """What a joining node is given."""
        token, pin = self.setup.tokens[0] if self.setup.tokens else "", self.authority.pin
        return {"endpoint": self.endpoint, "token": token, "caCertHash": pin,
                "kubeconfig": self.kubeconfig(), "control": self.control_path,
                "joinCommand": "kubeadm join %s --token %s --discovery-token-ca-cert-hash %s "
                               % (self.endpoint, token, pin)}

    def stop(self, save=True):
        self.controllers.stop()
        self.store.close()
        self.control.shutdown()
        self.control.server_close()
        self.connections.shutdown()
        self.connections.server_close()
        self.api.audit.close()
        if os.path.exists(self.control_path):
            os.unlink(self.control_path)
        if save:
            self.store.save(self.saved)
