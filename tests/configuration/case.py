"""What a case of a configuration file or of a command line is, and the words that cases share."""
import dataclasses

TOKEN, SECRET = "abcdef.0123456789abcdef", "0123456789abcdef"
PIN = "sha256:" + "3b" * 32
# What a case's words become for kubeadm on Linux.
LINUX = (("npipe:////./pipe/x", "unix:///run/x"), ("C:/", "/"), ("C:\\", "/"))

HEAD = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n"
NODE = "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n"
DISCOVERY = ("discovery: {bootstrapToken: {token: %s, apiServerEndpoint: '10.0.0.1:6443', "
             "caCertHashes: ['%s']}}\n" % (TOKEN, PIN))
GOOD = HEAD + DISCOVERY


def discovery(bootstrap="", **more):
    """A document whose bootstrapToken has these fields instead of the good ones."""
    fields = {"token": TOKEN, "apiServerEndpoint": "'10.0.0.1:6443'", "caCertHashes": "['%s']" % PIN}
    fields.update(more)
    made = ", ".join("%s: %s" % kv for kv in fields.items() if kv[1] is not None)
    return HEAD + "discovery: {bootstrapToken: {%s}%s}\n" % (made, bootstrap)


SAME = "as winjoin"


@dataclasses.dataclass
class File:
    """One --config file."""
    name: str
    text: object            # str or bytes
    says: str = ""          # words of winjoin's error; "" = the file is good
    kubeadm: str = SAME     # verdict of `kubeadm config validate`: SAME, "ok" or "refused"
    join: str = ""          # verdict of `kubeadm join` where it differs from validate's
    why: str = ""           # why winjoin differs
    join_says: str = None   # winjoin join's words where they differ from validate's


@dataclasses.dataclass
class Line:
    """One command line behind `join`; FILE means a file with GOOD in it."""
    name: str
    words: tuple
    says: str = ""
    kubeadm: str = SAME
    why: str = ""
    environment: dict = dataclasses.field(default_factory=dict)
    warns: str = ""
    posix: bool = False     # longer than any command line of Windows


STRICT = "unknown and duplicate fields are errors in a join, too: a misspelt field is never ignored"
PINS = "pins are read before any packet is sent"
ENDPOINT = "an endpoint that cannot be reached is refused before any packet is sent"
ALIKE = "config validate says what the join would say"
WORKER = "a control plane does not run on Windows"
START = "the kubelet would not start with it"
UNREADABLE = "nobody needs it in a configuration, and it hides what is meant"
ENDS = "a wait of no time ends before it begins"
BETA3 = "clusters of kubeadm 1.36 and older still write v1beta3"
OTHERS = "documents of both programs may stand in one file"
EMPTY = "an empty document says nothing, and does no harm"
YAML = "what is in braces is YAML, too"
SOCKET = "Linux has sockets where Windows has pipes; the words are those of the other system"
