"""What upstream's kubeadm and winjoin leave on a node and ask of the server, side by side.

kubeadm is that of Linux or that of Windows. Every difference must have its reason in one of the tables
below, and every reason its difference: document() makes the sections "Files and requests" of
docs/design/kubeadm-parity.md of them.
"""
import collections
import os
import re
import shlex
import stat
import subprocess

Difference = collections.namedtuple("Difference", "file field kubeadm winjoin why")
Request = collections.namedtuple("Request", "who verb path kubeadm winjoin why")

CONF, CA = "kubernetes/kubelet.conf", "kubernetes/pki/ca.crt"
CONFIG, INSTANCE = "kubelet/config.yaml", "kubelet/instance-config.yaml"
FLAGS, STORE = "kubelet/kubeadm-flags.env", "kubelet/pki/"
CURRENT = STORE + "kubelet-client-current.pem"
DRIVE = "a path without its drive is relative to a Windows program"
NOT_HERE = "Linux only: the kubelet for Windows ignores or refuses it"
PIPE = "the container runtime listens on a pipe"

# (file, field) -> the reason, as patterns of the whole text.
REASONS = [
    (CONF, r"users\.0\.user\.client-(certificate|key)", DRIVE),
    (CONFIG, r"authentication\.x509\.clientCAFile|staticPodPath", DRIVE),
    (CONFIG, r"cgroupDriver|failCgroupV1|memorySwap|cpuManagerReconcilePeriod|shutdownGracePeriod.*", NOT_HERE),
    (CONFIG, r"containerRuntimeEndpoint", PIPE),
    (INSTANCE, r"containerRuntimeEndpoint", PIPE),
    (CONFIG, r"cgroupsPerQOS|enforceNodeAllocatable", "the kubelet for Windows requires it: there are no cgroups "
     "(1.30 and older do not start without it)"),
    (CONFIG, r"resolvConf", "Windows has no such file (kubeadm for Windows also empties it)"),
    (CONFIG, r"fileCheckFrequency", "the pod network is tested with static pods: the kubelet finds them in 2 s, not in 20"),
    (FLAGS, r"--node-ip", "a Windows node has several network adapters once the vSwitch is made; this is the address of the chosen one"),
    (STORE, r"kubelet\.(crt|key)", "the kubelet makes its serving certificate itself, once it runs; in this comparison "
     "winjoin's does not run"),
]

WATCH = ("token", "watch", "/apis/certificates.k8s.io/v1/certificatesigningrequests")
# (verb, path) -> the reason why only one of them asks, or asks otherwise.
ASKED = [
    ("get", r".*/configmaps/winjoin", "the cluster-wide defaults for Windows nodes (`winjoin config cluster`), if there "
     "are any; where it may be read, flannel's settings are, too"),
    ("get", r".*/configmaps/kube-proxy", "kube-proxy's configuration on Windows is made for the node alone"),
    ("get", r".*/configmaps/cluster-info", "where each CA is pinned and the server is the one that was asked, "
     "`kubeadm-config` proves what a second answer would"),
    ("get", r"/version", "the kubelet's version is also compared with that of the server, where there may be several"),
    ("get", r".*/configmaps/kube-flannel-cfg", "flannel's settings, in the two namespaces where they can be: winjoin "
     "also sets up the node's network, kubeadm leaves that to others"),
    ("list", r"/apis/apps/v1/daemonsets", "the names of the DaemonSets: network agents (Calico, Antrea, flannel) and "
     "kube-proxy on Windows nodes"),
    ("list", WATCH[2], "the answer to the request says its version, from which winjoin watches it"),
    ("watch", WATCH[2], "kubeadm's only when the list did not show the certificate already"),
]


# The same beside kubeadm.exe and its kubelet.exe, on a Windows host of its own.
ACCESS = "kubeadm.exe and its kubelet leave access to the folder's ACL; winjoin allows only " \
    "SYSTEM and Administrators (Wine shows access as modes)"
EXE_REASONS = [
    (CONF, "mode", ACCESS),
    (STORE, "mode", ACCESS),
    (CONFIG, r"cgroupDriver|failCgroupV1|memorySwap|cpuManagerReconcilePeriod|shutdownGracePeriod.*", NOT_HERE),
    (CONFIG, r"cgroupsPerQOS|enforceNodeAllocatable", "the kubelet for Windows requires it; with kubeadm.exe its service "
     "must be given flags for it"),
    (CONFIG, r"fileCheckFrequency", "the pod network is tested with static pods: the kubelet finds them in 2 s, not in 20"),
    (FLAGS, r"--node-ip", "a Windows node has several network adapters once the vSwitch is made; this is the address of the chosen one"),
]
EXE_ASKED = ASKED


class Unexplained(Exception):
    """A difference without a reason, or a reason without its difference."""


# ---- files -------------------------------------------------------------------------------------


def flat(text):
    """Path -> scalar of YAML as clientcmd and the kubelet's codec write it: block style, one line a scalar."""
    found, stack, counts = {}, [], {}
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        depth, rest = len(line) - len(line.lstrip()), line.lstrip()
        item = rest.startswith("- ")
        while stack and (stack[-1][0] > depth or (stack[-1][0] == depth and (not item or stack[-1][2]))):
            stack.pop()
        if item:
            key = ".".join(name for _, name, _ in stack)
            counts[key] = counts.get(key, -1) + 1
            stack.append((depth, str(counts[key]), True))
            depth, rest = depth + 2, rest[2:]
        name, colon, value = rest.partition(":")
        path = [name for _, name, _ in stack]
        if colon and (not value or value.startswith(" ")):
            if value.strip():
                found[".".join([*path, name])] = value.strip().strip("\"'")
            else:
                stack.append((depth, name, False))
        else:
            found[".".join(path)] = rest.strip("\"'")
    return found


def fields(root, name):
    """Field -> value of one file as it is compared; nothing of one that is not there."""
    path = os.path.join(root, name)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if name == FLAGS:
        key, _, value = text.strip().partition("=")
        words = shlex.split(shlex.split(value)[0])
        found = {key: "set", **dict(word.partition("=")[::2] for word in words)}
    else:
        found = {"bytes": text} if name == CA else flat(text)
    found["mode"] = oct(stat.S_IMODE(os.stat(path).st_mode))
    return found


def store(root):
    """The certificate store: the link, the file behind it, and what the kubelet's own files are called."""
    current = os.path.join(root, CURRENT)
    if not os.path.islink(current):
        return {"link to": "no link"}
    target = os.path.basename(os.readlink(current))
    with open(os.path.join(root, STORE, target), encoding="utf-8") as f:
        labels = re.findall(r"-----BEGIN ([A-Z ]+)-----", f.read())
    shown = subprocess.run(["openssl", "x509", "-noout", "-subject", "-issuer", "-ext",
                            "keyUsage,extendedKeyUsage,basicConstraints,subjectAltName", "-in",
                            os.path.join(root, STORE, target)], capture_output=True, text=True, check=False).stdout
    found = {"link to": re.sub(r"\d{4}(-\d\d){5}", "<time>", target), "blocks": ", ".join(labels),
             "certificate": " ".join(shown.split()),
             "mode": oct(stat.S_IMODE(os.stat(os.path.join(root, STORE, target)).st_mode))}
    for leaf in os.listdir(os.path.join(root, STORE)):
        if not leaf.startswith("kubelet-client-"):
            found[leaf] = "present"
    return found


def tidy(value, names):
    """What differs by name alone is written alike."""
    for name in names:
        value = re.sub(r"\b%s\b" % re.escape(name), "<node>", value)
    return re.sub(r"unix://\S+/", "unix:///.../", value)


def reason(reasons, file, field):
    return next((n for n, (f, pattern, _) in enumerate(reasons) if f == file and re.fullmatch(pattern, field)), None)


def differences(kubeadm, winjoin, names, reasons=None):
    """(differences, fields that are equal); raises Unexplained."""
    reasons = REASONS if reasons is None else reasons
    unequal, equal, used, odd = [], collections.Counter(), set(), []
    for file in (CONF, CA, CONFIG, INSTANCE, FLAGS, STORE):
        sides = [store(r) if file == STORE else fields(r, file) for r in (kubeadm, winjoin)]
        if not any(sides):
            odd.append("%s: neither has it" % file)
        for field in sorted(set(sides[0]) | set(sides[1])):
            a, b = (tidy(s[field], names) if field in s else None for s in sides)
            if a == b:
                equal[file] += 1
                continue
            row = reason(reasons, file, field)
            if row is None:
                odd.append("%s: %s is %r with kubeadm and %r with winjoin, and nothing says why"
                           % (file, field, a, b))
                continue
            used.add(row)
            unequal.append(Difference(file, field, a, b, reasons[row][2]))
    odd += ["no such difference any more: %s" % (reasons[i][:2],) for i in range(len(reasons)) if i not in used]
    if odd:
        raise Unexplained("\n".join(odd))
    return unequal, equal


# ---- requests ----------------------------------------------------------------------------------


def asked(lines, programs, names):
    """Counter of (who, verb, path) of what these programs asked before they were the node itself."""
    found = collections.Counter()
    for line in lines:
        user, agent = line["user"]["username"], line.get("userAgent", "")
        if agent.startswith("kubelet") and user == "system:anonymous":
            continue  # its informers, which on a slow machine begin before it has its certificate
        if agent.startswith(programs) and not user.startswith("system:node:"):
            path = tidy(line["requestURI"].partition("?")[0], names)
            who = "anonymous" if user == "system:anonymous" else "token"
            found[who, line["verb"], path] += 1
    return found


def requests(kubeadm, winjoin, reasons=None):
    """Rows of all requests; raises Unexplained for one of ours that has no reason."""
    rows, odd = [], []
    for key in dict.fromkeys([*kubeadm, WATCH, *winjoin]):
        who, verb, path = key
        a, b = kubeadm[key], winjoin[key]
        watch = key == WATCH  # kubeadm's is there or not by the signer's speed alone
        why = next((w for v, pattern, w in reasons or ASKED if v == verb and re.fullmatch(pattern, path)), "")
        if not watch and a != b and not why:
            odd.append("%s %s: kubeadm asks %d times, winjoin %d, and nothing says why" % (verb, path, a, b))
        rows.append(Request(who, verb, path, "if needed" if watch else a, "always" if watch and b else b, why))
    if odd:
        raise Unexplained("\n".join(odd))
    return rows


# ---- the document ------------------------------------------------------------------------------


def cell(value):
    return "absent" if value is None else "`%s`" % value if value else "empty"


def agrees(section, text, version):
    """The section says the same. One that was made with another version tells nothing of this one: that each
    difference has its reason is then all that was to be seen."""
    return section == text or "kubeadm %s " % version not in section


def document(unequal, equal, rows, version, where="on Linux"):
    """The text of the section."""
    out = ["Compared with kubeadm %s %s, joined to the same server; `<node>` and times are each one's own."
           % (version, where), "", "| file | fields alike | fields that differ |", "|---|---|---|"]
    for file in equal:
        count = sum(d.file == file for d in unequal)
        out.append("| `%s` | %d | %s |" % (file, equal[file], count or "none"))
    out += ["", "| file | field | kubeadm | winjoin | why |", "|---|---|---|---|---|"]
    out += ["| `%s` | `%s` | %s | %s | %s |" % (d.file, d.field, cell(d.kubeadm), cell(d.winjoin), d.why)
            for d in unequal]
    out += ["", "| as | verb | path | kubeadm and its kubelet | winjoin | why |", "|---|---|---|---|---|---|"]
    out += ["| %s | %s | `%s` | %s | %s | %s |" % (r.who, r.verb, r.path, r.kubeadm, r.winjoin, r.why) for r in rows]
    return "\n".join(out)
