#!/usr/bin/env python3
"""A real control plane on the rig's fabric: upstream's programs, set up by upstream's kubeadm.

    with fabric.Fabric() as lan, control_plane.ControlPlane(lan) as cluster:
        cluster.facts["joinCommand"]; cluster.call("GET", "/api/v1/nodes"); cluster.kubectl("get csr")

    control_plane.py [--mode overlay|l2bridge] [--folder DIR]   runs until it is interrupted

It runs in the machine `cp` in the place of the embedded server (tests/controlplane) and has its
interface: facts, call(), start(), stop(). The programs' logs and the audit log are kept in one folder.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path += [HERE, TESTS, os.path.join(TESTS, "rig"), os.path.join(TESTS, "controlplane")]
import fabric as fabrics  # noqa: E402
import netns  # noqa: E402
import on_fabric  # noqa: E402
import cluster_dns  # noqa: E402
import objects  # noqa: E402
import programs  # noqa: E402
from controlplane.client import Refused  # noqa: E402

PORT, TOKEN = 6443, "abcdef.0123456789abcdef"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kubeadm", "kubectl")
ETCD = "http://127.0.0.1:2379"

KUBEADM = """\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {{advertiseAddress: {address}, bindPort: {port}}}
nodeRegistration: {{name: cp, criSocket: "unix:///run/containerd/containerd.sock"}}
bootstrapTokens:
- token: {token}
  ttl: 24h0m0s
  usages: [signing, authentication]
  groups: ["system:bootstrappers:kubeadm:default-node-token"]
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: {version}
clusterName: kubernetes
controlPlaneEndpoint: "{endpoint}"
certificatesDir: {pki}
networking: {{serviceSubnet: {services}, podSubnet: {pods}, dnsDomain: {domain}}}
apiServer: {{certSANs: [{names}]}}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: {cgroup_driver}
failCgroupV1: false
"""

AUDIT = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
"""


class Broken(Exception):
    """The control plane does not come up; says which part, and where its log is."""


class ControlPlane(on_fabric.OnFabric):
    """Use as a context manager inside a Fabric's.

    endpoint    what cluster-info names ("10.0.0.10:6443"); names are further SANs
    signer      False: the controller manager has no key to sign with
    defaults    text of the cluster-wide NodeConfiguration (ConfigMap winjoin), or ""
    agents      nodes may do what kube-proxy and flanneld do; False: as kubeadm and flannel leave it
    api_flags, kcm_flags    further flags of the two servers
    coredns     the cluster's DNS is upstream's CoreDNS, not the fabric's
    """

    def __init__(self, fabric, folder=None, token=TOKEN, endpoint=None, names=(), signer=True,
                 defaults="", agents=True, api_flags=(), kcm_flags=(), cgroup_driver="systemd",
                 coredns=False):
        super().__init__(fabric)
        self.folder = folder or os.path.join(fabric.folder, "cluster")
        self.state = os.path.join(fabric.folder, "cluster-state")  # keys and objects: gone at the end
        self.audit = os.path.join(self.folder, "audit.log")
        self.token, self.names, self.signer, self.defaults = token, list(names), signer, defaults
        self.endpoint = endpoint or "%s:%d" % (fabrics.CP, PORT)
        self.agents = agents
        self.api_flags, self.kcm_flags = list(api_flags), list(kcm_flags)
        self.cgroup_driver, self.coredns, self.seconds = cgroup_driver, coredns, {}
        self.version = programs.versions()["kubernetes"]["version"]
        self.programs, self.children = programs.ensure(PROGRAMS), {}

    # ---- coming and going ----------------------------------------------------------------

    def __enter__(self):
        try:
            super().__enter__()
        except BaseException:
            self.__exit__()
            raise
        threading.Thread(target=self._beat, name="leases", daemon=True).start()
        return self

    def start(self):
        """Starts all of it (again: with its keys and objects as they were)."""
        new = not os.path.exists(self.path("conf"))
        begin = time.monotonic()
        os.makedirs(self.folder, exist_ok=True)
        for name in ("pki", "conf.new", "etcd"):
            os.makedirs(self.path(name), mode=0o700, exist_ok=True)
        self.start_etcd()
        if new:
            self._certificates()
        self.start_api()
        self.start_controllers()
        if new:
            self._phases()
            objects.create_all(self)
        self._facts()
        self._signed()
        if self.coredns:
            cluster_dns.start(self, PORT)
        self.seconds["up"] = round(time.monotonic() - begin, 1)

    def stop(self):
        for name in ("kube-controller-manager", "kube-apiserver", "etcd"):
            self._end(name)

    def _end(self, name):
        proc = self.children.pop(name, None)
        if proc and proc.poll() is None:
            proc.send_signal(signal.SIGCONT)
        netns.stop(proc, patience=5.0)

    def path(self, *parts):
        return os.path.join(self.state, *parts)

    def log(self, name):
        return os.path.join(self.folder, name + ".log")

    def daemon(self, name, *flags):
        self._end(name)
        self.children[name] = netns.daemon(self.ns, [self.programs[name], *flags], self.log(name))

    def _alive(self, *names):
        for name in names:
            if self.children[name].poll() is not None:
                with open(self.log(name), encoding="utf-8", errors="replace") as f:
                    tail = "".join(f.readlines()[-5:])
                raise Broken("%s ended with %d; its log: %s\n%s" % (
                    name, self.children[name].returncode, self.log(name), tail))

    def wait_for(self, what, seconds=60, alive=(), every=0.1, what_for="answer"):
        """Waits until what() answers something true, and answers that."""
        end = time.monotonic() + seconds
        while True:
            try:
                if found := what():
                    return found
            except (OSError, Refused, RuntimeError, ValueError) as error:
                last = error
            else:
                last = "no"
            self._alive(*alive)
            if time.monotonic() > end:
                raise Broken("no %s after %d s: %s; logs: %s"
                             % (what_for, seconds, last, self.folder))
            time.sleep(every)

    # ---- the programs --------------------------------------------------------------------

    def start_etcd(self):
        self.daemon("etcd", "--name=default", "--data-dir=" + self.path("etcd"),
                    "--listen-client-urls=" + ETCD, "--advertise-client-urls=" + ETCD,
                    "--unsafe-no-fsync")

    def start_api(self, wait=True):
        pki = self.path("pki")
        with open(self.path("audit.yaml"), "w", encoding="utf-8") as f:
            f.write(AUDIT)
        self.daemon(
            "kube-apiserver", "--etcd-servers=" + ETCD, "--bind-address=0.0.0.0",
            "--secure-port=%d" % PORT, "--advertise-address=" + fabrics.CP,
            "--client-ca-file=%s/ca.crt" % pki, "--tls-cert-file=%s/apiserver.crt" % pki,
            "--tls-private-key-file=%s/apiserver.key" % pki,
            "--kubelet-client-certificate=%s/apiserver-kubelet-client.crt" % pki,
            "--kubelet-client-key=%s/apiserver-kubelet-client.key" % pki,
            "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
            "--service-account-issuer=https://kubernetes.default.svc." + fabrics.DOMAIN,
            "--service-account-key-file=%s/sa.pub" % pki,
            "--service-account-signing-key-file=%s/sa.key" % pki,
            "--service-cluster-ip-range=" + fabrics.SERVICE_RANGE,
            "--requestheader-client-ca-file=%s/front-proxy-ca.crt" % pki,
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--proxy-client-cert-file=%s/front-proxy-client.crt" % pki,
            "--proxy-client-key-file=%s/front-proxy-client.key" % pki,
            "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
            "--enable-bootstrap-token-auth=true", "--allow-privileged=true",
            "--audit-policy-file=" + self.path("audit.yaml"), "--audit-log-path=" + self.audit,
            "--audit-log-maxsize=1000", "--audit-log-mode=blocking",
            "--shutdown-delay-duration=0s", *self.api_flags)
        if wait:
            self.wait_for(self._ready, 90, alive=("etcd", "kube-apiserver"),
                          what_for="ready API server")

    def stop_api(self):
        self._end("kube-apiserver")

    def _ready(self):
        return self.call("GET", "/readyz") == "ok"

    def start_controllers(self):
        conf, pki = self.path("conf", "controller-manager.conf"), self.path("pki")
        keys = ["--cluster-signing-cert-file=%s/ca.crt" % pki,
                "--cluster-signing-key-file=%s/ca.key" % pki] if self.signer else []
        self.daemon(
            "kube-controller-manager", "--kubeconfig=" + conf, "--authentication-kubeconfig=" + conf,
            "--authorization-kubeconfig=" + conf, "--bind-address=127.0.0.1",
            "--client-ca-file=%s/ca.crt" % pki, "--root-ca-file=%s/ca.crt" % pki,
            "--requestheader-client-ca-file=%s/front-proxy-ca.crt" % pki,
            "--service-account-private-key-file=%s/sa.key" % pki,
            "--use-service-account-credentials=true", "--leader-elect=false",
            "--controllers=*,bootstrapsigner,tokencleaner", "--allocate-node-cidrs=true",
            "--kube-api-qps=500", "--kube-api-burst=500",
            "--cluster-cidr=" + fabrics.POD_RANGE, "--cluster-name=kubernetes",
            "--service-cluster-ip-range=" + fabrics.SERVICE_RANGE, *keys, *self.kcm_flags)

    def send_signal(self, name, number):
        """SIGSTOP and SIGCONT make a program hang and go on."""
        self.children[name].send_signal(number)

    # ---- what kubeadm init does ----------------------------------------------------------

    def kubeadm(self, *words, log="kubeadm", secret=False):
        """Runs upstream's kubeadm on the machine cp; answers what it printed (secret: not logged)."""
        done = subprocess.run(netns.command(self.ns, [self.programs["kubeadm"], *words]), text=True,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)
        with open(self.log(log), "a", encoding="utf-8") as f:
            f.write("$ kubeadm %s\n%s%s" % (" ".join(words), "" if secret else done.stdout, done.stderr))
        if done.returncode:
            raise Broken("kubeadm %s: %s" % (" ".join(words[:4]), done.stderr.strip()))
        return done.stdout

    def _many(self, rows):
        """Several phases at a time."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda words: self.kubeadm("init", "phase", *words), rows))

    def _configuration(self):
        """Two files: what is uploaded names a control plane's own paths, not this run's."""
        names = ["localhost", "127.0.0.1", *self.names, self.endpoint.rpartition(":")[0].strip("[]")]
        for name, pki in (("kubeadm", self.path("pki")), ("upload", "/etc/kubernetes/pki")):
            with open(self.path(name + ".yaml"), "w", encoding="utf-8") as f:
                f.write(KUBEADM.format(
                    address=fabrics.CP, port=PORT, token=self.token, endpoint=self.endpoint, pki=pki,
                    version=self.version,
                    services=fabrics.SERVICE_RANGE, pods=fabrics.POD_RANGE, domain=fabrics.DOMAIN,
                    names=", ".join('"%s"' % n for n in names), cgroup_driver=self.cgroup_driver))

    def _certificates(self):
        self._configuration()
        config, conf = ("--config", self.path("kubeadm.yaml")), self.path("conf.new")
        sa = ("certs", "sa", "--cert-dir", self.path("pki"))
        self._many([("certs", "ca", *config), ("certs", "front-proxy-ca", *config), sa])
        self._many([("certs", name, *config) for name in
                    ("apiserver", "apiserver-kubelet-client", "front-proxy-client")]
                   + [("kubeconfig", name, *config, "--kubeconfig-dir", conf) for name in
                      ("admin", "super-admin", "controller-manager")])
        for name in os.listdir(conf):
            self._serve_here(os.path.join(conf, name))
        os.rename(conf, self.path("conf"))

    def _serve_here(self, path):
        """The endpoint may be a name that only joining nodes can resolve."""
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
        with open(path, "w", encoding="utf-8") as f:
            for line in lines:
                head, found, _ = line.partition("server: ")
                f.write((head + found + "https://%s:%d" % (fabrics.CP, PORT) if found else line) + "\n")

    def _phases(self):
        more = ("--config", self.path("upload.yaml"), "--kubeconfig", self.kubeconfig)
        self._many([("upload-config", "all", *more),
                    ("bootstrap-token", *more, "--skip-token-print"),
                    ("addon", "kube-proxy", *more), ("addon", "coredns", *more)])

    @property
    def kubeconfig(self):
        return self.path("conf", "super-admin.conf")

    def client(self):
        return on_fabric.Client.of_kubeconfig(self.kubeconfig)

    def _facts(self):
        with open(self.path("pki", "ca.crt"), "rb") as f:
            spki = subprocess.run(["openssl", "x509", "-pubkey", "-noout"], stdin=f, check=True,
                                  capture_output=True).stdout
        der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=spki, check=True,
                             capture_output=True).stdout
        pin = "sha256:" + hashlib.sha256(der).hexdigest()
        self.facts = {"endpoint": self.endpoint, "token": self.token, "caCertHash": pin,
                      "kubeconfig": self.kubeconfig, "ca": self.path("pki", "ca.crt"),
                      "joinCommand": "kubeadm join %s --token %s --discovery-token-ca-cert-hash %s"
                                     % (self.endpoint, self.token, pin)}

    # ---- for scenarios and people --------------------------------------------------------

    def kubectl(self, *words, check=True, stdin=None):
        """Runs upstream's kubectl as the administrator; answers what it printed."""
        done = subprocess.run(netns.command(self.ns, [
            self.programs["kubectl"], "--kubeconfig", self.kubeconfig, *words]), text=True,
            capture_output=True, check=False, input=stdin)
        if check and done.returncode:
            raise RuntimeError("kubectl %s: %s" % (" ".join(words), done.stderr.strip()))
        return done.stdout

    def by_hand(self):
        """The command line by which a person looks at the cluster while it runs."""
        return "ip netns exec %s %s --kubeconfig %s" % (self.ns, self.programs["kubectl"],
                                                        self.kubeconfig)

    def signatures(self):
        """The ids of the tokens that cluster-info is signed for."""
        data = self.call("GET", objects.CLUSTER_INFO).get("data") or {}
        return {key.removeprefix("jws-kubeconfig-") for key in data if key.startswith("jws-")}

    def _signed(self):
        """cluster-info carries the token's signature."""
        token = self.token.partition(".")[0]
        self.wait_for(lambda: not token or token in self.signatures(), 60, every=0.05,
                      alive=("kube-controller-manager",), what_for="signature in cluster-info")

    def requests(self, since=0):
        """The audit log's records, from a place in the file on."""
        with open(self.audit, "rb") as f:
            f.seek(since)
            return [json.loads(line) for line in f if line.endswith(b"\n")]

    def _beat(self):
        """The Linux machines have no kubelet: their leases are renewed here."""
        while not self.over.wait(8):
            try:
                objects.renew(self)
            except (OSError, Refused, ValueError):
                pass  # the server is being started again


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", default="overlay", choices=("overlay", "l2bridge"))
    parser.add_argument("--folder", help="the logs' (default: gone at the end, as the keys are)")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with fabrics.Fabric(args.mode) as lan, \
                ControlPlane(lan, args.folder, coredns=True) as cluster:
            print("up in %.1f s; manually:\n  %s get nodes -o wide\njoin from a machine of the "
                  "fabric (%s...):\n  %s\nlogs: %s" % (cluster.seconds["up"], cluster.by_hand(), lan.mark,
                                                       cluster.facts["joinCommand"], cluster.folder),
                  flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except (netns.Missing, programs.Failed, Broken) as why:
        print("error: %s" % why, file=sys.stderr)
        return programs.NO_GO if isinstance(why, programs.NoGo) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
