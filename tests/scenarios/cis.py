"""The worker's rules of the CIS Kubernetes Benchmark 1.11 on a joined host, and the table that docs/cis-benchmark.md has of them.

Access shows under Wine as the mode that others have. A file in a closed folder is closed: on Windows it has the access of
its folder, which Wine does not hand on.
"""
import json
import os
import re
import stat

from scene import ROOT

PAGE = os.path.join(ROOT, "docs", "cis-benchmark.md")
FILES = {"service": r"ProgramData\winjoin\services\kubelet.json", "proxy": r"k\kube-proxy.kubeconfig",
         "kubeconfig": r"etc\kubernetes\kubelet.conf", "ca": r"etc\kubernetes\pki\ca.crt", "config": r"var\lib\kubelet\config.yaml"}
STRONG = {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
          "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
          "TLS_RSA_WITH_AES_256_GCM_SHA384", "TLS_RSA_WITH_AES_128_GCM_SHA256"}
READ, WRITE, ANY = 0o004, 0o002, 0o007


class Node:
    """The drive of a joined host."""

    def __init__(self, drive):
        self.drive = drive
        self.kubelet, self.kube_proxy = (self.read(r"ProgramData\winjoin\services\%s.json" % name) for name in ("kubelet", "kube-proxy"))
        self.flags = json.loads(self.kubelet)["command"][1:]
        self.config = self.read(FILES["config"])
        self.proxy_flags = json.loads(self.kube_proxy)["command"][1:]
        self.proxy_config = self.read(r"k\kube-proxy.conf")

    def path(self, name):
        return os.path.join(self.drive, *name.split("\\"))

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def denies(self, name, rights):
        """Whether others lack all of these rights at the file, or at its folder where the file has no more than Wine gives any."""
        at = self.path(name)
        own, above = (stat.S_IMODE(os.stat(one).st_mode) for one in (at, os.path.dirname(at)))
        return not own & rights or not (own & ~READ | above) & rights

    def is_root(self, name):
        return os.stat(self.path(name)).st_uid == 0

    def setting(self, flag, key=None):
        """What a kubelet's flag says, else the key (a.b.c) of its configuration; None where it is not set."""
        for word in self.flags:
            if word.split("=")[0] == "--" + flag:
                return word.partition("=")[2]
        return setting(self.config, key) if key else None


def setting(text, key):
    """The scalar at a.b.c of a document in block style, a list as its items joined; None where it is not set."""
    *above, last = key.split(".")
    at, depth = 0, 0
    for name in above:
        found = re.compile(r"^ {%d}%s:\n" % (depth, name), re.M).search(text, at)
        if not found:
            return None
        inner = re.match(r"(?: {%d}.*\n)*" % (depth + 2), text[found.end():])
        text, at, depth = inner[0], 0, depth + 2
    found = re.search(r"^ {%d}%s:(?: (.*)|((?:\n {%d}- .*)*))$" % (depth, last, depth), text, re.M)
    if not found:
        return None
    return found[1] if found[1] is not None else ",".join(re.findall(r"- (.*)", found[2]))


def outcomes(node):
    """Rule -> whether the node keeps it."""
    kept = {}
    for number, name, rights in ((1, "service", ANY), (3, "proxy", ANY), (5, "kubeconfig", ANY), (7, "ca", WRITE), (9, "config", ANY)):
        kept["4.1.%d" % number] = node.denies(FILES[name], rights)
        kept["4.1.%d" % (number + 1)] = node.is_root(FILES[name])
    ciphers = node.setting("tls-cipher-suites", "tlsCipherSuites")
    kept.update({
        "4.2.1": node.setting("anonymous-auth", "authentication.anonymous.enabled") == "false",
        "4.2.2": node.setting("authorization-mode", "authorization.mode") not in (None, "AlwaysAllow"),
        "4.2.3": bool(node.setting("client-ca-file", "authentication.x509.clientCAFile")),
        "4.2.4": node.setting("read-only-port", "readOnlyPort") in (None, "0"),
        # v1beta1 reads 0s as its default, 4h: a bare 0 is no duration.
        "4.2.5": node.setting("streaming-connection-idle-timeout") != "0" and
                 node.setting("streaming-connection-idle-timeout", "streamingConnectionIdleTimeout") != "0",
        "4.2.6": node.setting("make-iptables-util-chains", "makeIPTablesUtilChains") in (None, "true"),
        "4.2.7": node.setting("hostname-override") is None,
        "4.2.8": int(node.setting("event-qps", "eventRecordQPS") or 50) > 0,
        "4.2.9": bool(node.setting("tls-cert-file", "tlsCertFile") and node.setting("tls-private-key-file", "tlsPrivateKeyFile")),
        "4.2.10": node.setting("rotate-certificates", "rotateCertificates") in (None, "true"),
        "4.2.11": node.setting("none", "featureGates.RotateKubeletServerCertificate") in (None, "true") and
                  "RotateKubeletServerCertificate=false" not in (node.setting("feature-gates") or ""),
        "4.2.12": bool(ciphers) and set(ciphers.split(",")) <= STRONG,
        "4.2.13": int(node.setting("pod-max-pids", "podPidsLimit") or -1) > 0,
        "4.2.14": node.setting("seccomp-default", "seccompDefault") == "true",
        "4.2.15": node.setting("IPAddressDeny", "IPAddressDeny") == "any",
        "4.3.1": not [flag for flag in node.proxy_flags if flag.startswith("--metrics-bind-address")] and
                 (setting(node.proxy_config, "metricsBindAddress") or "127.0.0.1").startswith("127.0.0.1")})
    return kept


def stated():
    """Rule -> what the page says: pass, or by design."""
    with open(PAGE, encoding="utf-8") as f:
        rows = re.findall(r"^\| (4\.\d+\.\d+) \| [^|]+ \| ([^|]+) \|(?: ([^|]+))? \|$", f.read(), re.M)
    for rule, here, why in rows:
        assert here in ("pass", "by design") and (here == "pass" or why), rule
    assert len(rows) == len({rule for rule, *_ in rows})
    return {rule: here for rule, here, _ in rows}


def compared(drive):
    """(what the page says, what the node shows) in the page's words."""
    return stated(), {rule: "pass" if kept else "by design" for rule, kept in outcomes(Node(drive)).items()}
