"""Odd ConfigMaps of a cluster, each given to winjoin and, where it is built, to upstream's kubeadm.

The test API server serves the ConfigMap that kubeadm makes with one of its texts changed; both programs
then make a dry run of the whole join. `says` holds words of winjoin's error ("" = it is taken); where only
winjoin refuses, `why` says why (docs/kubeadm-parity.md has the same).
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

MAPS = "/api/v1/namespaces/kube-system/configmaps/"
KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
ONCE = "which of the two counts depends on the reader"
PLAIN = "a program writes it, and uses neither anchors nor keys that must be guessed"
WHOLE = "whole numbers are written as such"
THERE = "kubeadm goes on with defaults of its own, which are not the cluster's"
PREFIX = "the pods' network is made with it"
FAMILY = "HNS needs an IPv4 prefix for the pods' network"
PORT = "what port is meant is a guess"
OLDER = "a kubelet of the cluster's own version joins; kubeadm 1.37 knows clusters of 1.36 and newer"
START = "a kubelet with it does not start: tests/configuration/kubelet_cases.py has more of these"
NUL = "no file of a node may hold a NUL"
BOUND = "time and memory stay bounded"


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
    """The text with a top-level field instead of the one that stands there."""
    name = re.escape(line.split(":")[0])
    return lambda there: re.sub(r"(?ms)^%s:.*?(?=^[a-zA-Z]|\Z)" % name, "", there) + line + "\n"


def networking(line):
    return lambda there: re.sub(r"(?m)^  %s: .*" % line.split(":")[0], "  " + line, there)


KUBELET_CASES = [
    Case("nothing but its kind", text(KUBELET)),
    Case("empty", text(""), "there is no KubeletConfiguration in it", THERE),
    Case("null", text("null\n"), "without kind and apiVersion"),
    Case("a list", text("- a\n"), "without kind and apiVersion"),
    Case("no kind", text("apiVersion: kubelet.config.k8s.io/v1beta1\n"), "without kind and apiVersion"),
    Case("another version", put("/v1beta1", "/v1"), "is not kubelet.config.k8s.io/v1beta1"),
    Case("twice", text(KUBELET + "---\n" + KUBELET), "is specified twice"),
    Case("another document behind it", lambda t: t + "---\napiVersion: a/b\nkind: C\n"),
    Case("empty documents before it", text("---\n---\n" + KUBELET), "without kind and apiVersion"),
    Case("JSON", text(json.dumps({"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}))),
    Case("a comma too many in JSON", text('{"apiVersion":"kubelet.config.k8s.io/v1beta1",}'), "line 1 column"),
    Case("YAML in braces", text("{apiVersion: kubelet.config.k8s.io/v1beta1, kind: KubeletConfiguration}"), "is read as JSON"),
    Case("byte order mark", text("\ufeff" + KUBELET)),
    Case("CRLF", lambda t: t.replace("\n", "\r\n")),
    Case("a key twice", text(KUBELET + "maxPods: 5\nmaxPods: 6\n"), 'key "maxPods" stands here twice', ONCE),
    Case("an anchor", text(KUBELET + "a: &x 1\nb: *x\n"), "anchors are not allowed", PLAIN),
    Case("a merge key", text(KUBELET + "evictionHard: {<<: {a: b}}\n"), "merge keys are not allowed", PLAIN),
    Case("null as a key", text(KUBELET + "evictionHard: {null: b}\n"), "must be quoted"),
    Case("a bool as a key", text(KUBELET + "featureGates: {yes: true}\n"), "must be quoted", PLAIN),
    Case("a NUL", text(KUBELET + 'clusterDomain: "a\\0b"\n'), "holds a NUL byte", NUL),
    Case("70 levels", text(KUBELET + "foo: " + "[" * 70 + "]" * 70 + "\n"), "nested deeper than 64 levels", BOUND),
    Case("9000 fields", text(KUBELET + "".join("k%d: v\n" % i for i in range(9000))), "more than 2000 keys", BOUND),
    Case("a field of 900 kB", text(KUBELET + "foo: " + "x" * 900000 + "\n")),
    Case("unknown fields of every type", field("foo: {a: {b: [1, 2.5, null, true, '1e3', 9007199254740993]}}")),
    Case("maxPods in quotes", field("maxPods: '110'"), "maxPods: must be a whole number of 32 bits"),
    Case("maxPods of 33 bits", field("maxPods: 4294967296"), "must be a whole number of 32 bits"),
    Case("maxPods with an exponent", field("maxPods: 1e2"), "must be a whole number of 32 bits", WHOLE),
    Case("maxPods with a point", field("maxPods: 110.0"), "must be a whole number of 32 bits", WHOLE),
    Case("maxPods in base 16", field("maxPods: 0x6e")),
    Case("maxPods null", field("maxPods: null")),
    Case("maxPods a list", field("maxPods: []"), "must be a whole number of 32 bits"),
    Case("a duration as a number", field("syncFrequency: 5"), "syncFrequency: must be a duration"),
    Case("a duration in days", field("syncFrequency: 1d"), "syncFrequency: must be a duration"),
    Case("a negative duration", field("nodeStatusUpdateFrequency: -10s")),
    Case("a gate in quotes", field("featureGates: {A: 'true'}"), "featureGates.A: must be true or false"),
    Case("gates as a text", field("featureGates: 'a=true'"), "featureGates: must be an object"),
    Case("unknown gates", field("featureGates: {NoSuchGate: true}")),
    Case("signals of Linux", field("evictionHard: {nodefs.inodesFree: 5%, pid.available: 1%, memory.available: 1Gi}")),
    Case("a signal as a number", field("evictionHard: {memory.available: 5}"), "evictionHard.memory.available: must be a text"),
    Case("signals as a list", field("evictionHard: [a]"), "evictionHard: must be an object"),
    Case("reserved resources", field("kubeReserved: {cpu: 100m, memory: 1Gi, pid: '1000'}")),
    Case("a reserved number", field("kubeReserved: {cpu: 0.5}"), "kubeReserved.cpu: must be a text"),
    Case("a resolver of Linux", field("resolvConf: /run/systemd/resolve/resolv.conf")),
    Case("resolver null", field("resolvConf: null")),
    Case("a static path with a drive", field("staticPodPath: 'D:\\m'")),
    Case("a relative static path", field("staticPodPath: manifests")),
    Case("a static path as a number", field("staticPodPath: 5"), "staticPodPath: must be a text"),
    Case("DNS as a text", field("clusterDNS: '10.96.0.10'"), "clusterDNS: must be a list of texts"),
    Case("DNS of two families", field("clusterDNS: [10.96.0.10, 'fd00::a']")),
    Case("DNS null", field("clusterDNS: null")),
    Case("a socket of Linux", field("containerRuntimeEndpoint: unix:///run/x")),
    Case("a relative CA file", field("authentication: {x509: {clientCAFile: ca.crt}}")),
    Case("authentication null", field("authentication: null")),
    Case("authentication as a list", field("authentication: []"), "authentication: must be an object"),
    Case("anybody may ask", field("authentication: {anonymous: {enabled: true}}")),
    Case("an odd mode", field("authorization: {mode: 5}"), "authorization.mode: must be a text"),
    Case("log format", field("logging: {format: json, verbosity: 9, flushFrequency: 5s}")),
    Case("log frequency in nanoseconds", field("logging: {flushFrequency: 5000000000}")),
    Case("an odd buffer size", field("logging: {options: {json: {infoBufferSize: x}}}"), "must be a quantity"),
    Case("vmodule as a text", field("logging: {vmodule: 'a=5'}"), "logging.vmodule: must be a list"),
    Case("cipher suites", field("tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]")),
    Case("cipher suites of TLS 1.3", field("tlsCipherSuites: [TLS_AES_128_GCM_SHA256]"), "tlsCipherSuites: must have", START),
    Case("cipher suites as a text", field("tlsCipherSuites: 'X'"), "tlsCipherSuites: must be a list of texts"),
    Case("certificate files of Linux", field("tlsCertFile: /a/b.crt")),
    Case("taints as an object", field("registerWithTaints: {}"), "registerWithTaints: must be a list of objects"),
    Case("a taint with an odd time", field("registerWithTaints: [{key: a, effect: NoSchedule, timeAdded: x}]"), "must be a time"),
    Case("reserved memory", field("reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]")),
    Case("an odd NUMA node", field("reservedMemory: [{numaNode: x}]"), "numaNode: must be a whole number"),
    Case("swap", field("memorySwap: {swapBehavior: LimitedSwap}")),
    Case("managers of Linux", field("cpuManagerPolicy: static\nmemoryManagerPolicy: Static\ntopologyManagerPolicy: best-effort")),
    Case("cgroups of Linux", field("cgroupRoot: /\nkubeletCgroups: /a\nsystemCgroups: /b\ncgroupsPerQOS: true")),
    Case("a comment as a document behind it", lambda t: t + "---\n# end\n", "line 51: a document without kind"),
    Case("null as a document behind it", lambda t: t + "---\nnull\n", "a document without kind"),
    Case("a document without a group behind it", lambda t: t + "---\napiVersion: v1\nkind: Pod\n", "a document without kind"),
    Case("another kind twice", lambda t: t + "---\napiVersion: a/b\nkind: C\n" * 2, 'kind "C" is specified twice'),
    Case("nothing behind it", lambda t: t + "---\n"),
    Case("a comment before ---", lambda t: "# begin\n---\n" + t, "line 1: a document without kind"),
    Case("an empty line before ---", lambda t: "\n---\n" + t, "line 1: a document without kind"),
    Case("a YAML directive", lambda t: "%YAML 1.1\n---\n" + t, "line 2 column 1"),
    Case("a document on the dashes", lambda t: t + "--- {a: b}\n", "only a comment may follow"),
    Case("something behind three dots", lambda t: t + "...\nfoo: bar\n", "line 51 column 1", "what stands there would be ignored"),
    Case("a question mark in braces", field("evictionHard: {memory.available: 5?}"), "a '?' between braces"),
    Case("a negative verbosity", field("logging: {verbosity: -1}"), "verbosity: must be a whole number, not a negative one"),
    Case("a verbosity of 32 bits", field("logging: {verbosity: 4294967295, vmodule: [{filePattern: a, verbosity: 9}]}")),
    Case("a bool in quotes", field("rotateCertificates: 'true'"), "rotateCertificates: must be true or false"),
]

CLUSTER_CASES = [
    Case("v1beta3", put("v1beta4", "v1beta3"), looser="clusters of kubeadm 1.30 and older still have it"),
    Case("v1beta2", put("v1beta4", "v1beta2"), "is not kubeadm.k8s.io/v1beta3 or v1beta4"),
    Case("v1beta5", put("v1beta4", "v1beta5"), "is not kubeadm.k8s.io/v1beta3 or v1beta4"),
    Case("empty", text(""), "there is no ClusterConfiguration in it"),
    Case("another kind", put("kind: ClusterC", "kind: InitC"), "there is no ClusterConfiguration in it"),
    Case("an unknown field", lambda t: t + "foo: bar\n"),
    Case("a key twice", lambda t: t + "proxy: {}\n", 'key "proxy" stands here twice', ONCE),
    Case("an anchor", lambda t: t + "x: &a 1\n", "anchors are not allowed", PLAIN),
    Case("JSON", text('{"apiVersion":"kubeadm.k8s.io/v1beta4","kind":"ClusterConfiguration","kubernetesVersion":"v1.37.1"}')),
    Case("CRLF", lambda t: t.replace("\n", "\r\n")),
    Case("no name", put("clusterName: kubernetes", "clusterName: null")),
    Case("a number as the name", put("clusterName: kubernetes", "clusterName: 5"), "clusterName: must be a text"),
    Case("no version", put("kubernetesVersion: v1.37.1", "kubernetesVersion: ''")),
    Case("an odd version", put("kubernetesVersion: v1.37.1", "kubernetesVersion: nope"), '"nope" is no version'),
    *(Case("the version " + bad, put("kubernetesVersion: v1.37.1", "kubernetesVersion: '%s'" % bad), "is no version like v1.37.1")
      for bad in ("v1.37", "v1.37.1 ", "v1.37.1.2", "v1.037.1", "V1.37.1", "https://dl.k8s.io/release/stable.txt", "stable!")),
    *(Case("the version " + good, put("kubernetesVersion: v1.37.1", "kubernetesVersion: " + good))
      for good in ("1.37.1", "v1.37.1-rc.0+build", "stable-1")),
    Case("the next major version", put("kubernetesVersion: v1.37.1", "kubernetesVersion: v2.0.0"), "is no version like",
         "no Kubernetes of that version is known"),
    Case("an old version", put("kubernetesVersion: v1.37.1", "kubernetesVersion: v1.35.0"), looser=OLDER),
    Case("a number as the version", put("kubernetesVersion: v1.37.1", "kubernetesVersion: 1.37"), "must be a text"),
    Case("no prefixes", lambda t: re.sub(r"networking:\n(  .*\n)+", "networking: null\n", t)),
    Case("no service prefix", networking('serviceSubnet: ""')),
    Case("two service prefixes", networking("serviceSubnet: 10.96.0.0/12,fd00::/108")),
    Case("IPv6 before IPv4", networking("serviceSubnet: fd00::/108,10.96.0.0/12")),
    Case("services of IPv6 alone", networking("serviceSubnet: fd00::/108"), "is IPv6 alone", FAMILY),
    Case("pods of IPv6 alone", networking("podSubnet: fd00:10::/56"), "is IPv6 alone", FAMILY),
    Case("pods among the services", networking("podSubnet: 10.96.0.0/12"), "overlaps service prefix", PREFIX),
    Case("a service prefix with a zero before", networking("serviceSubnet: 010.96.0.0/12"), "networking.serviceSubnet", PREFIX),
    Case("an odd service prefix", networking("serviceSubnet: 10.96.0.0"), "networking.serviceSubnet", PREFIX),
    Case("an odd pod prefix", networking("podSubnet: nope"), "networking.podSubnet", PREFIX),
    Case("a list for an object", put("apiServer: {}", "apiServer: []"), "apiServer: must be an object"),
    Case("arguments as a map", put("apiServer: {}", "apiServer: {extraArgs: {a: b}}"), "apiServer.extraArgs: must be a list"),
    Case("a gate in quotes", lambda t: t + "featureGates: {A: 'x'}\n", "featureGates.A: must be true or false"),
    Case("an endpoint of a name", lambda t: t + "controlPlaneEndpoint: api.example:6443\n"),
    Case("an odd endpoint", lambda t: t + "controlPlaneEndpoint: 'a:b:c'\n", 'controlPlaneEndpoint "a:b:c"'),
    Case("an endpoint with an empty port", lambda t: t + "controlPlaneEndpoint: 'a:'\n", 'controlPlaneEndpoint "a:"', PORT),
    Case("v1", put("v1beta4", "v1"), "is not kubeadm.k8s.io/v1beta3 or v1beta4", "an experiment of kubeadm's, written by none"),
    Case("twice", lambda t: t + "---\n" + t, "is specified twice", ONCE),
    Case("a text behind it", lambda t: t + "---\nabc\n", "a document without kind", "what stands there would be ignored"),
    Case("an endpoint with an odd port", lambda t: t + "controlPlaneEndpoint: 'a:70000'\n", 'controlPlaneEndpoint "a:70000"'),
]

PROXY_CASES = [
    Case("empty", text("")),
    Case("null", text("null"), "without kind and apiVersion"),
    Case("another kind", put("kind: KubeProxyC", "kind: C"), "there is no KubeProxyConfiguration in it"),
    Case("another version", put("v1alpha1", "v1"), "is not kubeproxy.config.k8s.io/v1alpha1"),
    Case("an unknown field", lambda t: t + "foo: bar\n"),
    Case("a key twice", lambda t: t + "mode: x\n", 'key "mode" stands here twice', ONCE),
    Case("a number as the mode", put('mode: ""', "mode: 5"), "mode: must be a text"),
    Case("a number as a bool", put("enableProfiling: false", "enableProfiling: 5"), "enableProfiling: must be true or false"),
    Case("a text as DSR", put("enableDSR: false", "enableDSR: 'x'"), "winkernel.enableDSR: must be true or false"),
    Case("a number as a network", put('networkName: ""', "networkName: 5"), "winkernel.networkName: must be a text"),
    Case("an odd duration", put("configSyncPeriod: 0s", "configSyncPeriod: 5"), "configSyncPeriod: must be a duration"),
    Case("log format", lambda t: t + "logging: {format: json, flushFrequency: 5s}\n"),
    Case("a number as a prefix", lambda t: re.sub("clusterCIDR: .*", "clusterCIDR: 5", t), "clusterCIDR: must be a text"),
]

TABLES = (("kubelet-config", "kubelet", KUBELET_CASES), ("kubeadm-config", "ClusterConfiguration", CLUSTER_CASES),
          ("kube-proxy", "config.conf", PROXY_CASES))


class Cluster:
    """The test API server in a process of its own."""

    def __init__(self, folder):
        self.folder, told = pathlib.Path(folder), pathlib.Path(folder) / "join.json"
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(verdicts.ROOT / "tests/controlplane/run"), "--state", str(self.folder / "state"),
             "--print-join", "--join-file", str(told)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.join = json.loads(self.process.stdout.readline())
        self.client = Client.of_kubeconfig(self.join["kubeconfig"])

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


class Judge(verdicts.Judge):
    """Both programs before one cluster."""

    def __init__(self, folder, kubeadm, cluster):
        super().__init__(folder, kubeadm)
        self.cluster = cluster

    def odd(self, name, case):
        with tempfile.TemporaryDirectory(dir=self.folder) as rootfs:
            code, out, err = self.run([*verdicts.WINJOIN, "join", *self.cluster.words(), "--rootfs", rootfs, "-o", "json",
                                       "--progress", "none"])
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
