"""Odd ConfigMaps of a cluster, each given to winjoin and, where it is built, to upstream's kubeadm.

The test API server serves the ConfigMap that kubeadm makes with one of its texts changed; both programs
then make a dry run of the whole join. `says` holds words of winjoin's error ("" = it is taken); where only
winjoin refuses, `why` says why (docs/design/kubeadm-parity.md has the same).
"""
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]
import verdicts  # noqa: E402
from controlplane.client import Client  # noqa: E402

STANDINS = verdicts.ROOT / "build/windows/standins"
MAPS = "/api/v1/namespaces/kube-system/configmaps/"
KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
ONCE = "which of the two counts depends on the reader"
PLAIN = "a program writes it, and uses neither anchors nor merge keys"
THERE = "kubeadm goes on with defaults of its own, which are not the cluster's"
PREFIX = "the pods' network is made with it"
FAMILY = "HNS needs an IPv4 prefix for the pods' network"
OLDER = "a kubelet of the cluster's own version joins; kubeadm 1.37 knows clusters of 1.36 and newer"
NUL = "no file of a node may hold a NUL"
BOUND = "time and memory stay bounded"
UNUSED = "a join makes nothing of it"
ASKED = "the kubelet that will run judges it, before anything is written"
WHOLE = "where documents part is YAML's rule"


@dataclasses.dataclass
class Case:
    """One ConfigMap with another text; change() makes the text of the one that is there."""
    name: str
    change: object
    says: str = ""
    why: str = ""       # why winjoin alone refuses
    looser: str = ""    # why winjoin alone takes it


def text(new):
    return lambda old: new


def put(old, new):
    return lambda there: there.replace(old, new)


def field(line):
    """The text with a top-level field instead of the one that is there."""
    name = re.escape(line.split(":")[0])
    return lambda there: re.sub(r"(?ms)^%s:.*?(?=^[a-zA-Z]|\Z)" % name, "", there) + line + "\n"


def networking(line):
    return lambda there: re.sub(r"(?m)^  %s: .*" % line.split(":")[0], "  " + line, there)


KUBELET_CASES = [
    Case("nothing but its kind", text(KUBELET)),
    Case("empty", text(""), "it contains no KubeletConfiguration", THERE),
    Case("null", text("null\n"), "it contains no KubeletConfiguration"),
    Case("a list", text("- a\n"), "it contains no KubeletConfiguration"),
    Case("no kind", text("apiVersion: kubelet.config.k8s.io/v1beta1\n"), "it contains no KubeletConfiguration"),
    Case("no version", text("kind: KubeletConfiguration\n"), "is not kubelet.config.k8s.io/v1beta1"),
    Case("another version", put("/v1beta1", "/v1"), "is not kubelet.config.k8s.io/v1beta1"),
    Case("twice", text(KUBELET + "---\n" + KUBELET), "is specified twice"),
    Case("another document behind it", lambda t: t + "---\napiVersion: a/b\nkind: C\n"),
    Case("empty documents before it", text("---\n---\n" + KUBELET), looser=WHOLE),
    Case("JSON", text(json.dumps({"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}))),
    Case("half of JSON", text('{"apiVersion":"kubelet.config.k8s.io/v1beta1"'), "line 2 column 1"),
    Case("byte order mark", text("\ufeff" + KUBELET)),
    Case("CRLF", lambda t: t.replace("\n", "\r\n")),
    Case("a key twice", text(KUBELET + "maxPods: 5\nmaxPods: 6\n"), 'duplicate key "maxPods"', ONCE),
    Case("an anchor", text(KUBELET + "a: &x 1\nb: *x\n"), "anchors are not allowed", PLAIN),
    Case("a merge key", text(KUBELET + "evictionHard: {<<: {a: b}}\n"), "merge keys are not allowed", PLAIN),
    Case("a NUL", text(KUBELET + 'clusterDomain: "a\\0b"\n'), "contains a NUL byte", NUL),
    Case("70 levels", text(KUBELET + "foo: " + "[" * 70 + "]" * 70 + "\n"), "nested deeper than 64 levels", BOUND),
    Case("9000 fields", text(KUBELET + "".join("k%d: v\n" % i for i in range(9000))), "more than 2000 keys", BOUND),
    Case("a field of 900 kB", text(KUBELET + "foo: " + "x" * 900000 + "\n")),
    Case("unknown fields of every type", field("foo: {a: {b: [1, 2.5, null, true, '1e3', 9007199254740993]}}")),
    Case("maxPods in quotes", field("maxPods: '110'"), looser=ASKED),
    Case("a gate in quotes", field("featureGates: {A: 'true'}"), looser=ASKED),
    Case("unknown gates", field("featureGates: {NoSuchGate: true}")),
    Case("signals of Linux", field("evictionHard: {nodefs.inodesFree: 5%, pid.available: 1%, memory.available: 1Gi}")),
    Case("signals as a list", field("evictionHard: [a]"), looser=ASKED),
    Case("reserved resources", field("kubeReserved: {cpu: 100m, memory: 1Gi, pid: '1000'}")),
    Case("a resolver of Linux", field("resolvConf: /run/systemd/resolve/resolv.conf")),
    Case("resolver null", field("resolvConf: null")),
    Case("a static path with a drive", field("staticPodPath: 'D:\\m'")),
    Case("a relative static path", field("staticPodPath: manifests")),
    Case("a static path as a number", field("staticPodPath: 5"), "staticPodPath: must be a string"),
    Case("DNS as a text", field("clusterDNS: '10.96.0.10'"), "clusterDNS: must be a list of strings"),
    Case("DNS of two families", field("clusterDNS: [10.96.0.10, 'fd00::a']")),
    Case("DNS null", field("clusterDNS: null")),
    Case("a domain as a number", field("clusterDomain: 5"), "clusterDomain: must be a string"),
    Case("a port for health in quotes", field("healthzPort: '10248'"), "healthzPort: must be a 32-bit integer"),
    Case("an address for health as a number", field("healthzBindAddress: 127"), "healthzBindAddress: must be a string"),
    Case("a socket of Linux", field("containerRuntimeEndpoint: unix:///run/x")),
    Case("a relative CA file", field("authentication: {x509: {clientCAFile: ca.crt}}")),
    Case("authentication null", field("authentication: null")),
    Case("authentication as a list", field("authentication: []"), looser=ASKED),
    Case("anonymous requests", field("authentication: {anonymous: {enabled: true}}")),
    Case("certificate files of Linux", field("tlsCertFile: /a/b.crt")),
    Case("reserved memory", field("reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]")),
    Case("managers of Linux", field("cpuManagerPolicy: static\nmemoryManagerPolicy: Static\ntopologyManagerPolicy: best-effort")),
    Case("cgroups of Linux", field("cgroupRoot: /\nkubeletCgroups: /a\nsystemCgroups: /b\ncgroupsPerQOS: true")),
    Case("a comment as a document behind it", lambda t: t + "---\n# end\n", looser=WHOLE),
    Case("a document without a group behind it", lambda t: t + "---\napiVersion: v1\nkind: Pod\n", looser=WHOLE),
    Case("nothing behind it", lambda t: t + "---\n"),
    Case("a comment before ---", lambda t: "# begin\n---\n" + t, looser=WHOLE),
    Case("something behind three dots", lambda t: t + "...\nfoo: bar\n", "line 51 column 1", "what follows would be ignored"),
]

CLUSTER_CASES = [
    Case("v1beta3", put("v1beta4", "v1beta3"), looser="clusters of kubeadm 1.30 and older still have it"),
    Case("v1beta2", put("v1beta4", "v1beta2"), "is not kubeadm.k8s.io/v1beta4"),
    Case("v1beta5", put("v1beta4", "v1beta5"), "is not kubeadm.k8s.io/v1beta4"),
    Case("empty", text(""), "it contains no ClusterConfiguration"),
    Case("another kind", put("kind: ClusterC", "kind: InitC"), "it contains no ClusterConfiguration"),
    Case("an unknown field", lambda t: t + "foo: bar\n"),
    Case("a key twice", lambda t: t + "proxy: {}\n", 'duplicate key "proxy"', ONCE),
    Case("an anchor", lambda t: t + "x: &a 1\n", "anchors are not allowed", PLAIN),
    Case("JSON", text('{"apiVersion":"kubeadm.k8s.io/v1beta4","kind":"ClusterConfiguration","kubernetesVersion":"v1.37.1"}')),
    Case("CRLF", lambda t: t.replace("\n", "\r\n")),
    Case("no name", put("clusterName: kubernetes", "clusterName: null")),
    Case("a number as the name", put("clusterName: kubernetes", "clusterName: 5"), "clusterName: must be a string"),
    Case("no version", put("kubernetesVersion: v1.37.1", "kubernetesVersion: ''")),
    Case("a label as the version", put("kubernetesVersion: v1.37.1", "kubernetesVersion: stable-1")),
    Case("an odd version", put("kubernetesVersion: v1.37.1", "kubernetesVersion: nope"), looser="the server's own is taken"),
    Case("a version without a v", put("kubernetesVersion: v1.37.1", "kubernetesVersion: 1.37.1")),
    Case("an old version", put("kubernetesVersion: v1.37.1", "kubernetesVersion: v1.35.0"), looser=OLDER),
    Case("a number as the version", put("kubernetesVersion: v1.37.1", "kubernetesVersion: 1.37"), "must be a string"),
    Case("no prefixes", lambda t: re.sub(r"networking:\n(  .*\n)+", "networking: null\n", t)),
    Case("no service prefix", networking('serviceSubnet: ""')),
    Case("two service prefixes", networking("serviceSubnet: 10.96.0.0/12,fd00::/108")),
    Case("IPv6 before IPv4", networking("serviceSubnet: fd00::/108,10.96.0.0/12")),
    Case("services of IPv6 alone", networking("serviceSubnet: fd00::/108"), "is IPv6 only", FAMILY),
    Case("pods of IPv6 alone", networking("podSubnet: fd00:10::/56"), "is IPv6 only", FAMILY),
    Case("pods among the services", networking("podSubnet: 10.96.0.0/12"), "podSubnet 10.96.0.0/12 does not fit", PREFIX),
    Case("a service prefix with a zero before", networking("serviceSubnet: 010.96.0.0/12"), "networking.serviceSubnet", PREFIX),
    Case("an odd service prefix", networking("serviceSubnet: 10.96.0.0"), "networking.serviceSubnet", PREFIX),
    Case("an odd pod prefix", networking("podSubnet: nope"), "networking.podSubnet", PREFIX),
    Case("a list for an object", put("networking:", "networking: []\nx:"), "networking: must be an object"),
    Case("an odd field that is not read", put("apiServer: {}", "apiServer: []"), looser=UNUSED),
    Case("an odd endpoint", lambda t: t + "controlPlaneEndpoint: 'a:b:c'\n", looser=UNUSED),
    Case("v1", put("v1beta4", "v1"), "is not kubeadm.k8s.io/v1beta4", "an experiment of kubeadm's, written by none"),
    Case("twice", lambda t: t + "---\n" + t, "is specified twice", ONCE),
]

TABLES = (("kubelet-config", "kubelet", KUBELET_CASES), ("kubeadm-config", "ClusterConfiguration", CLUSTER_CASES))



class Cluster:
    """The test API server in a process of its own."""

    def __init__(self, folder):
        self.folder, told = pathlib.Path(folder), pathlib.Path(folder) / "join.json"
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(verdicts.ROOT / "tests/controlplane/run"), "--state", str(self.folder / "state"),
             "--print-join", "--join-file", str(told)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.join = json.loads(self.process.stdout.readline())
        self.client = Client.of_kubeconfig(self.join["kubeconfig"])
        self.bundle = self.folder / "bundle.zip"
        subprocess.run([verdicts.ROOT / "build/native/winjoin", "bundle", "create", STANDINS, self.bundle],
                       capture_output=True, check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()

    def ask(self, method, name, body=None):
        connection, answer = self.client.send(method, MAPS + name, body)
        data = answer.read()
        connection.close()
        if answer.status != 200:
            raise RuntimeError("%s %s: %d" % (method, name, answer.status))
        return json.loads(data)

    def words(self):
        return [self.join["endpoint"], "--token", self.join["token"], "--discovery-token-ca-cert-hash",
                self.join["caCertHash"], "--dry-run", "--ignore-preflight-errors", "all"]

    def plan(self, rootfs, *more):
        """winjoin's call: a dry run refuses a host whose programs are neither there nor in a bundle."""
        return [*verdicts.WINJOIN, "join", *self.words(), "--bundle", str(self.bundle), "--rootfs", rootfs, "-o", "json",
                *more]


class Judge(verdicts.Judge):
    """Both programs before one cluster."""

    def __init__(self, folder, kubeadm, cluster):
        super().__init__(folder, kubeadm)
        self.cluster = cluster

    def odd(self, name, case):
        with tempfile.TemporaryDirectory(dir=self.folder) as rootfs:
            code, out, err = self.run(self.cluster.plan(rootfs, "--progress", "none"))
        errors = [line for line in err.splitlines() if line.startswith(("error: ", "hint: "))]
        wrong = "Sanitizer" in err or "runtime error:" in err
        right = case.says in " ".join(errors) and code in (1, 3) if case.says else code == 0
        self.check(name, right and not wrong, "%d %s" % (code, err[-600:] if wrong else " ".join(errors)))
        if case.says and right and not case.why.startswith((FAMILY, PREFIX)):
            self.check("place of " + name, name.split(":")[0] in errors[0], errors[0])
        if not case.says and code == 0:
            self.check("plan of " + name, '"kind": "JoinPlan"' in out, out[:200])
        self.upstream(name, ["join", *self.cluster.words()], bool(case.why) or (not case.says and not case.looser))


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory() as folder, Cluster(folder) as cluster:
        judge = Judge(folder, verdicts.upstream(), cluster)
        for name, key, listed in TABLES:
            there = cluster.ask("GET", name)
            for case in verdicts.chosen(listed, wanted):
                odd = {**there, "data": {**there["data"], key: case.change(there["data"][key])}}
                odd["metadata"] = {"name": name, "namespace": "kube-system"}
                cluster.ask("PUT", name, odd)
                judge.odd("%s: %s" % (name, case.name), case)
            there["metadata"] = {"name": name, "namespace": "kube-system"}
            cluster.ask("PUT", name, there)
        print("%d passed, %d failed, %d skipped" % (judge.passed, judge.failed, judge.skipped))
        return 1 if judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
