#!/usr/bin/python3
"""The stand-ins together, without the product: a Windows node set up as an administrator would.

Files are written as upstream's documents say, the programs are started at the console, and the node
must become Ready, its pods reachable, its Services answered.
"""
import base64
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS, ROOT = os.path.dirname(HERE), os.path.dirname(os.path.dirname(HERE))
sys.path[:1] = [TESTS, os.path.join(TESTS, "rig"), HERE]

from cryptography.hazmat.primitives import hashes  # noqa: E402
from cryptography import x509  # noqa: E402

import fabric as fabrics  # noqa: E402
import netns  # noqa: E402
import winhost  # noqa: E402
from controlplane import client, controllers, pki  # noqa: E402
from controlplane.on_fabric import OnFabric  # noqa: E402
from recorded import Recorded  # noqa: E402, F401  its tests run with these

STANDINS = os.path.join(ROOT, "build", "windows", "standins")
PROBE = os.path.join(ROOT, "build", "windows", "winjoin-probe.exe")
NAME = "win-w1"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

CONTAINERD_TOML = r"""version = 3
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = 'registry.k8s.io/pause:3.10.1'
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ['C:\opt\cni\bin']
conf_dir = 'C:\etc\cni\net.d'
"""

KUBELET_CONFIG = r"""apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  x509:
    clientCAFile: C:\etc\kubernetes\pki\ca.crt
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: npipe:////./pipe/containerd-containerd
resolvConf: ""
staticPodPath: C:\etc\kubernetes\manifests
"""

PROXY_CONFIG = r"""apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
bindAddress: %(address)s
clientConnection:
  kubeconfig: C:\etc\kubernetes\kubelet.conf
hostnameOverride: win-w1
mode: kernelspace
winkernel:
  enableDSR: %(dsr)s
  networkName: %(network)s
  sourceVip: %(vip)s
"""

KUBECONFIG = r"""apiVersion: v1
kind: Config
clusters:
- cluster: {certificate-authority: 'C:\etc\kubernetes\pki\ca.crt', server: %s}
  name: default-cluster
contexts:
- context: {cluster: default-cluster, user: default-auth}
  name: default-context
current-context: default-context
users:
- name: default-auth
  user:
    client-certificate: C:\var\lib\kubelet\pki\kubelet-client-current.pem
    client-key: C:\var\lib\kubelet\pki\kubelet-client-current.pem
"""


def cni_conf(mode, network, subnet):
    """What the administrator writes for containerd once the pod subnet is known."""
    base = subnet.rsplit(".", 1)[0]
    exceptions = ["10.244.0.0/16", "10.96.0.0/12"] + (["10.0.0.0/24"] if mode != "overlay" else [])
    values = [{"Type": "OutBoundNAT", "Settings": {"Exceptions": exceptions}},
              {"Type": "SDNRoute", "Settings": {"DestinationPrefix": "10.96.0.0/12",
                                                "NeedEncap": True}}]
    return {"cniVersion": "1.0.0", "name": network, "apiVersion": 2,
            "type": "win-overlay" if mode == "overlay" else "win-bridge",
            "capabilities": {"dns": True, "portMappings": True},
            "policies": [{"name": "EndpointPolicy", "value": v} for v in values],
            "ipam": {"type": "host-local", "ranges": [[{
                "subnet": subnet, "rangeStart": base + ".3", "rangeEnd": base + ".254"}]]}}


def probe_pod(name):
    """A static pod that runs the probe; its mailbox is a folder of the host."""
    mailbox = "C:\\probe\\" + name
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "kube-system"},
            "spec": {"restartPolicy": "Always", "containers": [{
                "name": "probe", "image": "registry.k8s.io/pause:3.10.1",
                "command": ["C:\\probe\\bin\\winjoin-probe.exe", "serve", "--mailbox", mailbox,
                            "--name", name, "--tcp", "7777", "--udp", "7777"],
                "volumeMounts": [{"name": "bin", "mountPath": "C:\\probe\\bin"},
                                 {"name": "box", "mountPath": mailbox}]}],
                     "volumes": [{"name": "bin", "hostPath": {"path": "C:\\probe\\bin"}},
                                 {"name": "box", "hostPath": {"path": mailbox}}]}}


class ByHand:
    """A Windows host and what an administrator does on it."""

    def __init__(self, host, cluster, mode):
        self.host, self.cluster, self.mode = host, cluster, mode
        self.network = "flannel.4096" if mode == "overlay" else "cbr0"
        self.running = {}

    def write(self, windows, text):
        path = self.host.path(windows)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def install(self):
        for name in ("kubelet", "kube-proxy", "flanneld"):
            self.host.put("%s/%s.exe" % (STANDINS, name), "C:\\k\\%s.exe" % name)
        for name in ("win-overlay", "win-bridge", "host-local"):
            self.host.put("%s/%s.exe" % (STANDINS, name), "C:\\opt\\cni\\bin\\%s.exe" % name)
        self.host.put(STANDINS + "/containerd.exe", "C:\\Program Files\\containerd\\containerd.exe")
        self.host.put(PROBE, "C:\\probe\\bin\\winjoin-probe.exe")
        self.write("C:\\Program Files\\containerd\\config.toml", CONTAINERD_TOML)
        self.write("C:\\var\\lib\\kubelet\\config.yaml", KUBELET_CONFIG)
        self.write("C:\\etc\\kubernetes\\kubelet.conf", KUBECONFIG % self.cluster.server())
        for folder in ("C:\\etc\\kubernetes\\manifests", "C:\\etc\\cni\\net.d"):
            os.makedirs(self.host.path(folder), exist_ok=True)
        backend = {"Type": "vxlan", "VNI": 4096, "Port": 4789} if self.mode == "overlay" \
            else {"Type": "host-gw"}
        self.write("C:\\etc\\kube-flannel\\net-conf.json",
                   json.dumps({"Network": "10.244.0.0/16", "Backend": backend}))
        self.bootstrap()

    def bootstrap(self):
        """What the TLS bootstrap ends with: the CA's and the node's certificate."""
        info = self.cluster.facts
        admin = self.cluster.client()
        with open(info["kubeconfig"], encoding="utf-8") as f:
            text = f.read()
        ca = base64.b64decode(text.split("certificate-authority-data: ")[1].split()[0]).decode()
        self.write("C:\\etc\\kubernetes\\pki\\ca.crt", ca)
        key = pki.new_ec_key()
        request = (x509.CertificateSigningRequestBuilder()
                   .subject_name(pki.name_of("system:node:" + NAME, ["system:nodes"]))
                   .sign(key, hashes.SHA256()).public_bytes(pki.serialization.Encoding.PEM))
        joiner = client.Client(self.cluster.server(), ca, token=info["token"])
        body = {"metadata": {"generateName": "csr-"}, "spec": {
            "request": base64.b64encode(request).decode(), "usages": ["digital signature",
                                                                      "client auth"],
            "signerName": controllers.CLIENT_SIGNER}}
        name = netns.within(self.cluster.ns, joiner.call, "POST", CSRS, body)["metadata"]["name"]
        cert = controllers.wait_for(lambda: netns.within(
            self.cluster.ns, admin.call, "GET", CSRS + "/" + name)["status"].get("certificate"), 10)
        self.write("C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem",
                   base64.b64decode(cert).decode() + pki.key_pem(key).decode())

    def start(self, name, *argv, env=None):
        path = os.path.join(self.host.fabric.folder, NAME + "-" + name + ".log")
        with open(path, "ab") as log:
            self.running[name] = self.host.spawn(argv, env, stdin=subprocess.DEVNULL, stdout=log,
                                                 stderr=log)

    def start_kubelet(self):
        self.start("containerd", "C:\\Program Files\\containerd\\containerd.exe", "--config",
                   "C:\\Program Files\\containerd\\config.toml", "--log-file",
                   "C:\\var\\log\\containerd\\containerd.log")
        self.start("kubelet", "C:\\k\\kubelet.exe", "--config=C:\\var\\lib\\kubelet\\config.yaml",
                   "--kubeconfig=C:\\etc\\kubernetes\\kubelet.conf", "--hostname-override=WIN-W1",
                   "--node-ip=" + self.host.address, "--node-labels=rig=yes", "--v=2")

    def start_flannel(self):
        self.start("flanneld", "C:\\k\\flanneld.exe", "--kube-subnet-mgr",
                   "--kubeconfig-file=C:\\etc\\kubernetes\\kubelet.conf",
                   "--iface=" + self.host.address, "--ip-masq",
                   "--net-config-path=C:\\etc\\kube-flannel\\net-conf.json", env={"NODE_NAME": NAME})

    def start_network(self, subnet):
        self.write("C:\\etc\\cni\\net.d\\10-cni.conf",
                   json.dumps(cni_conf(self.mode, self.network, subnet)))
        vip = subnet.rsplit(".", 1)[0] + ".2" if self.mode == "overlay" else '""'
        self.write("C:\\k\\kube-proxy.conf", PROXY_CONFIG % {
            "address": self.host.address, "dsr": "false", "network": self.network, "vip": vip})
        self.start("kube-proxy", "C:\\k\\kube-proxy.exe", "--config=C:\\k\\kube-proxy.conf")

    def logs(self):
        out = []
        for name in self.running:
            path = os.path.join(self.host.fabric.folder, NAME + "-" + name + ".log")
            with open(path, encoding="utf-8", errors="replace") as f:
                out.append("== %s\n%s" % (name, f.read()[-3000:]))
        return "\n".join(out)


class Whole(unittest.TestCase):
    mode = "overlay"

    def setUp(self):
        self.lan = self.enterContext(fabrics.Fabric(self.mode))
        self.cluster = self.enterContext(OnFabric(self.lan))
        self.cluster.server = lambda: "https://" + self.cluster.facts["endpoint"]
        self.host = self.enterContext(winhost.Host(self.lan, origin="dhcp"))
        self.hand = ByHand(self.host, self.cluster, self.mode)
        self.hand.install()

    def eventually(self, what, question, seconds=40):
        found = controllers.wait_for(question, seconds)
        self.assertTrue(found, "%s\n%s" % (what, self.hand.logs()))
        return found

    def node(self):
        try:
            return self.cluster.call("GET", "/api/v1/nodes/" + NAME)
        except client.Refused:
            return {}

    def ready(self):
        return [(c["status"], c["message"]) for c in self.node().get("status", {}).get(
            "conditions", []) if c["type"] == "Ready"]

    def pod(self, name):
        try:
            return self.cluster.call("GET", "/api/v1/namespaces/kube-system/pods/%s-%s"
                                     % (name, NAME))
        except client.Refused:
            return {}

    def address(self, name):
        status = self.pod(name).get("status", {})
        return status.get("phase") == "Running" and status.get("podIP")

    def test_a_node_by_hand(self):
        hand = self.hand
        hand.start_kubelet()
        subnet = self.eventually("no pod subnet", lambda: self.node().get("spec", {}).get("podCIDR"))
        # Until containerd's pipe is open, the kubelet says that instead.
        self.eventually("not waiting for a CNI file", lambda: "cni config uninitialized" in (
            self.ready() or [("", "")])[0][1])
        self.assertEqual(self.ready()[0][0], "False")
        hand.start_flannel()
        self.eventually("not published", lambda: self.node()["metadata"].get(
            "annotations", {}).get("flannel.alpha.coreos.com/public-ip"))
        hand.start_network(subnet)
        self.eventually("not Ready", lambda: self.ready()[0][0] == "True")
        hand.write("C:\\etc\\kubernetes\\manifests\\a.json", json.dumps(probe_pod("a")))
        hand.write("C:\\etc\\kubernetes\\manifests\\b.json", json.dumps(probe_pod("b")))
        first = self.eventually("pod a", lambda: self.address("a"))
        self.eventually("pod b", lambda: self.address("b"))
        self.assertTrue(first.startswith(subnet.rsplit(".", 1)[0]))
        self.eventually("a does not answer", lambda: self.answers(first))
        self.eventually("DNS by its Service", lambda: self.resolves(first))
        os.unlink(self.host.path("C:\\etc\\kubernetes\\manifests\\a.json"))
        self.eventually("pod a stays", lambda: not self.pod("a"))
        self.assertTrue(self.pod("b"))

    def answers(self, address):
        """Does the probe's echo answer the Linux node, across the pod network?"""
        done = subprocess.run(netns.command(self.lan.ns("l1-echo"), [
            sys.executable, "-c", "import socket,sys\ns=socket.create_connection((sys.argv[1],7777),"
            "2)\ns.sendall(b'hello\\n')\nprint(s.makefile().readline())", address]),
            capture_output=True, text=True, check=False)
        return "hello" in done.stdout

    def resolves(self, address):
        """Does the cluster's DNS answer inside the pod behind its Service address?"""
        space = [e for e in json.loads(json.dumps(self.host.control({"op": "dump"})))["endpoints"]
                 if any(c.get("IpAddress") == address for c in e.get("IpConfigurations", []))]
        if not space:
            return False
        pod = self.host.pod(space[0]["HostComputeNamespace"])
        done = subprocess.run(netns.command(pod, ["getent", "hosts", "kubernetes.default"]),
                              capture_output=True, text=True, check=False)
        return "10.96.0.1" in done.stdout


class ByRoutes(Whole):
    mode = "l2bridge"


class Refusals(unittest.TestCase):
    """What upstream's programs refuse, the stand-ins refuse: flags and configuration."""

    @classmethod
    def setUpClass(cls):
        cls.lan = cls.enterClassContext(fabrics.Fabric())
        cls.host = cls.enterClassContext(winhost.Host(cls.lan))
        for name in ("kubelet", "kube-proxy", "containerd"):
            cls.host.put("%s/%s.exe" % (STANDINS, name), "C:\\k\\%s.exe" % name)

    def kubelet(self, config):
        path = self.host.path("C:\\var\\lib\\kubelet\\config.yaml")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(config)
        return self.host.run(["C:\\k\\kubelet.exe", "--config=C:\\var\\lib\\kubelet\\config.yaml"])

    def test_versions(self):
        for name, wanted in (("kubelet", "Kubernetes v1.37.1"), ("kube-proxy", "Kubernetes v1.37.1"),
                             ("containerd", "containerd github.com/containerd/containerd/v2 v2.4")):
            self.assertIn(wanted, self.host.run(["C:\\k\\%s.exe" % name, "--version"]).stdout)

    def test_unknown_flag(self):
        done = self.host.run(["C:\\k\\kubelet.exe", "--network-plugin=cni"])
        self.assertEqual((done.returncode, done.stderr.strip()),
                         (1, "Error: unknown flag: --network-plugin"))

    def test_linux_configuration(self):
        done = self.kubelet(KUBELET_CONFIG.replace("C:\\etc\\kubernetes\\pki\\ca.crt",
                                                   "/etc/kubernetes/pki/ca.crt"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("C:\\var\\lib\\kubelet\\etc/kubernetes/pki/ca.crt", done.stderr)
        no_ca = KUBELET_CONFIG.replace("    clientCAFile: C:\\etc\\kubernetes\\pki\\ca.crt\n", "    {}\n")
        done = self.kubelet(no_ca.replace('resolvConf: ""', "resolvConf: /run/resolv.conf"))
        self.assertIn("Unexpected resolver config value", done.stderr)
        done = self.kubelet(no_ca.replace("npipe:////./pipe/containerd-containerd", '""'))
        self.assertIn("container runtime endpoint address was not specified", done.stderr)

    def test_containerd_as_a_service(self):
        """It speaks to the SCM, opens its pipe, and ends when it is told to."""
        log = "C:\\var\\log\\containerd.log"
        command = "C:\\k\\containerd.exe --log-file=%s --run-service" % log
        self.host.run(["sc", "create", "containerd", "binPath=", command])
        self.assertEqual(self.host.run(["sc", "start", "containerd"]).returncode, 0)
        log = self.host.path(log)

        def said():
            with open(log, encoding="utf-8") as f:
                return "containerd successfully booted" in f.read()
        self.assertTrue(controllers.wait_for(lambda: os.path.exists(log) and said(), 10))
        self.assertEqual(self.host.run(["sc", "stop", "containerd"]).returncode, 0)
        self.assertTrue(controllers.wait_for(lambda: "STOPPED" in self.host.run(
            ["sc", "query", "containerd"]).stdout, 10))

    def test_proxy_without_network(self):
        done = self.host.run(["C:\\k\\kube-proxy.exe", "--kubeconfig=C:\\none"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("network-name flag not set", done.stderr)


def setUpModule():
    try:
        netns.require()
    except netns.Missing as why:
        raise unittest.SkipTest(str(why)) from why


if __name__ == "__main__":
    unittest.main()
