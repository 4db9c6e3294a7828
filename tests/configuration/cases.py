"""Configuration files and command lines, each with what winjoin says of it and what kubeadm says.

A file is judged by `config validate` and by a join whose phases are all left out; a command line by
the latter. `kubeadm` is upstream's verdict on the same case (its Linux program reads the paths and
sockets of Linux, see LINUX): "as winjoin", or "ok" where winjoin is the stricter one, with the reason.
"""
import json

from case import (BETA3, DISCOVERY, ENDS, GOOD, HEAD, NODE, OTHERS, PIN, PINS, SOCKET, START, STRICT, TOKEN, UNREADABLE,
                  WORKER, File, Line, discovery)

FILES = [
    File("good", GOOD),
    File("json", '{"apiVersion":"kubeadm.k8s.io/v1beta4","kind":"JoinConfiguration","discovery":'
         '{"bootstrapToken":{"token":"%s","apiServerEndpoint":"10.0.0.1:6443",'
         '"unsafeSkipCAVerification":true}}}' % TOKEN),
    File("json with tabs", '{\n\t"apiVersion":"kubeadm.k8s.io/v1beta4",\n\t"kind":'
         '"JoinConfiguration",\n\t"discovery":{"bootstrapToken":{"token":"%s",'
         '"apiServerEndpoint":"10.0.0.1:6443","unsafeSkipCAVerification":true}}\n}\n' % TOKEN),
    File("byte order mark", b"\xef\xbb\xbf" + GOOD.encode()),
    File("CRLF", GOOD.replace("\n", "\r\n")),
    File("UTF-16", GOOD.encode("utf-16"), "is UTF-16: save it as UTF-8"),
    File("empty", "", "kind and apiVersion is mandatory", "ok", join="refused",
         why="kubeadm's validate finds nothing wrong with nothing"),
    File("only a comment", "# nothing\n", "kind and apiVersion is mandatory"),
    File("comment before ---", "# head\n---\n" + GOOD, "line 1: invalid configuration"),
    File("comment after ---", GOOD + "---\n# end\n", "kind and apiVersion is mandatory"),
    File("--- around", "---\n" + GOOD + "---\n"),
    File("comment on ---", "--- # head\n" + GOOD),
    File("document on ---", "--- {a: b}\n" + GOOD, "line 1 column 5: only a comment may follow"),
    File("a list", "- a\n", "kind and apiVersion is mandatory"),
    File("no group", "apiVersion: v1\nkind: JoinConfiguration\n", "kind and apiVersion is mandatory"),
    File("twice", GOOD + "---\n" + GOOD, 'kind "JoinConfiguration" is specified twice'),
    File("not YAML", HEAD + "discovery: [\n", "did not find expected"),
    File("tab as indent", HEAD + "discovery:\n\tfile: {}\n", "line 4 column 1"),
    File("two documents in one part", GOOD + "...\n" + GOOD, "line 5 column 1", "ok",
         why="what stands behind \"...\" would be ignored"),
    File("not UTF-8", GOOD.encode() + b"# \xff\n", "byte"),
    File("control character", GOOD + "skipPhases: [\"a\x01\"]\n", "control characters"),
    File("anchor", GOOD + "nodeRegistration: &n {name: a}\n", "anchors are not allowed", "ok",
         why=UNREADABLE),
    File("other tag", GOOD + "nodeRegistration: {name: !foo a}\n", "tags are not allowed", "ok",
         why=UNREADABLE),
    File("!!str", GOOD + "nodeRegistration: {name: !!str 12}\n"),
    File("nulls", GOOD + "nodeRegistration:\nskipPhases: null\ntimeouts: ~\ncontrolPlane: null\n"),
    File("null in a list", GOOD + "skipPhases: [null]\n"),
    File("other case", GOOD + "dryrun: true\n", 'line 4 column 1: unknown field "dryrun"',
         join="ok", why=STRICT),
    File("unknown field", GOOD + "nodeRegistration: {nam: a}\n",
         'line 4 column 20: unknown field "nodeRegistration.nam"', join="ok", why=STRICT),
    File("metadata", GOOD + "metadata: {name: a}\n", 'unknown field "metadata"', join="ok",
         why=STRICT),
    File("duplicate field", GOOD + "skipPhases: []\nskipPhases: []\n",
         'line 5 column 1: key "skipPhases" stands here twice', join="ok", why=STRICT),
    File("duplicate in JSON", '{"apiVersion":"kubeadm.k8s.io/v1beta4","kind":"JoinConfiguration",'
         '"kind":"JoinConfiguration"}', 'key "kind" stands here twice'),
    File("old way of the timeout", GOOD.replace("}}\n", "}, timeout: 5m}\n"),
         'unknown field "discovery.timeout"', join="ok", why=STRICT),
    File("number for a text", GOOD + "nodeRegistration: {name: 12}\n",
         "nodeRegistration.name: must be a text"),
    File("number with underscore", GOOD + "nodeRegistration: {name: 1_2}\n", "must be a text"),
    File("octal", GOOD + "nodeRegistration: {name: 010}\n", "must be a text"),
    File("date for a text", GOOD + "nodeRegistration: {name: 2026-11-21}\n"),
    File("bool for a text", GOOD + "nodeRegistration: {name: no}\n", "must be a text"),
    File("list for a text", GOOD + "nodeRegistration: {name: [a]}\n", "must be a text"),
    File("dry run of nothing", GOOD + "dryRun: true\n"),
    File("y for a bool", GOOD + "dryRun: n\n"),
    File("text for a bool", GOOD + "dryRun: 'true'\n", "dryRun: must be true or false"),
    File("number for a bool", GOOD + "dryRun: 1\n", "dryRun: must be true or false"),
    File("text for a list", GOOD + "skipPhases: preflight\n", "skipPhases: must be a list"),
    File("list for an object", GOOD + "nodeRegistration: []\n", "must be an object"),
    File("object for a list", GOOD + "skipPhases: {a: b}\n", "must be a list"),
    File("names", GOOD + "nodeRegistration: {name: a.b-c.9}\n"),
    File("name in upper case", GOOD + "nodeRegistration: {name: ' WIN-1 '}\n"),
    File("name with underscore", GOOD + "nodeRegistration: {name: win_1}\n",
         'file.yaml: line 4 column 26: nodeRegistration.name: Invalid value: "win_1"'),
    File("name begins with a dash", GOOD + "nodeRegistration: {name: -a}\n", "RFC 1123"),
    File("name ends with a dot", GOOD + "nodeRegistration: {name: a.}\n", "RFC 1123"),
    File("name with two dots", GOOD + "nodeRegistration: {name: a..b}\n", "RFC 1123"),
    File("name too long", GOOD + "nodeRegistration: {name: %s}\n" % ("a" * 254), "RFC 1123"),
    File("long name", GOOD + "nodeRegistration: {name: %s}\n" % ("a" * 253)),
    File("empty name", GOOD + "nodeRegistration: {name: ''}\n"),
    File("socket", GOOD + "nodeRegistration: {criSocket: 'npipe:////./pipe/x'}\n"),
    File("bare socket", GOOD + "nodeRegistration: {criSocket: //./pipe/x}\n"),
    File("other scheme", GOOD + "nodeRegistration: {criSocket: 'http://x'}\n",
         'only URL scheme "npipe" is supported, got "http"', "ok",
         why="kubeadm puts its own scheme before it, and the kubelet finds no such pipe"),
    File("backslashes", GOOD + "nodeRegistration: {criSocket: '\\\\.\\pipe\\x'}\n", "URL parsing"),
    File("taints", GOOD + "nodeRegistration: {taints: [{key: a, value: b, effect: NoSchedule, "
         "timeAdded: '2026-11-21T10:00:04Z'}]}\n"),
    File("no taints", GOOD + "nodeRegistration: {taints: []}\n"),
    File("odd taint", GOOD + "nodeRegistration: {taints: [{key: a, effect: Never}]}\n",
         "effect must be NoSchedule", "ok", why=START),
    File("taint without key", GOOD + "nodeRegistration: {taints: [{effect: NoSchedule}]}\n",
         "a taint needs a key", "ok", why=START),
    File("odd time", GOOD + "nodeRegistration: {taints: [{key: a, effect: NoExecute, "
         "timeAdded: now}]}\n", "must be a time"),
    File("arguments", GOOD + "nodeRegistration: {kubeletExtraArgs: [{name: v, value: '5'}, "
         "{name: v}]}\n"),
    File("argument without name", GOOD + "nodeRegistration: {kubeletExtraArgs: [{value: a}]}\n",
         'nodeRegistration.kubeletExtraArgs: Invalid value: "index 0": argument has no name'),
    File("argument with dashes", GOOD + "nodeRegistration: {kubeletExtraArgs: [{name: --v}]}\n",
         '"index 0": an argument\'s name has no dashes', "ok", why=START),
    File("arguments as a map", GOOD + "nodeRegistration: {kubeletExtraArgs: {v: '5'}}\n",
         "must be a list of objects"),
    File("number as an argument", GOOD + "nodeRegistration: {kubeletExtraArgs: [{name: v, "
         "value: 5}]}\n", "nodeRegistration.kubeletExtraArgs[0].value: must be a text"),
    File("all and one", GOOD + "nodeRegistration: {ignorePreflightErrors: [all, Swap]}\n",
         join="refused", join_says="don't specify individual checks"),
    File("all twice", GOOD + "nodeRegistration: {ignorePreflightErrors: [all, ALL]}\n"),
    File("pull policy", GOOD + "nodeRegistration: {imagePullPolicy: Never, imagePullSerial: false}\n"),
    File("odd pull policy", GOOD + "nodeRegistration: {imagePullPolicy: never}\n",
         "invalid pull policy"),
    File("CA path", GOOD + "caCertPath: C:/etc/kubernetes/pki/other.crt\n"),
    File("CA path from the root", GOOD + "caCertPath: /etc/kubernetes/pki/other.crt\n"),
    File("relative CA path", GOOD + "caCertPath: pki/ca.crt\n", "must be an absolute path"),
    File("CA path of another name", GOOD + "caCertPath: /etc/kubernetes/pki/ca.pem\n",
         "must end in .crt"),
    File("skipPhases", GOOD + "skipPhases: [preflight]\n"),
    File("timeouts", GOOD + "timeouts: {discovery: 1m30s, tlsBootstrap: 1.5h, etcdAPICall: 100ms, "
         "kubernetesAPICall: 10s, kubeletHealthCheck: 2m, upgradeManifests: '0'}\n"),
    File("timeout as a number", GOOD + "timeouts: {discovery: 5}\n", "must be a duration"),
    File("timeout with a strange unit", GOOD + "timeouts: {discovery: 5d}\n", "must be a duration"),
    File("empty timeout", GOOD + "timeouts: {discovery: ''}\n", "must be a duration"),
    File("timeout of nothing", GOOD + "timeouts: {discovery: 0s}\n", "must be more than 0", "ok",
         why=ENDS),
    File("negative timeout", GOOD + "timeouts: {discovery: -5s}\n", "must be a duration", "ok",
         why=ENDS),
    File("no discovery", HEAD, "discovery: Invalid value: \"\": bootstrapToken or file must be set"),
    File("empty discovery", HEAD + "discovery: {}\n", "bootstrapToken or file must be set"),
    File("both ways", discovery(", file: {kubeConfigPath: 'https://x/y'}"),
         "bootstrapToken and file cannot both be set"),
    File("empty token way", HEAD + "discovery: {bootstrapToken: {}}\n",
         "discovery.bootstrapToken: Required value: APIServerEndpoint is not set"),
    File("no token", discovery(token=None), "file.yaml: [line 3 column 29: discovery.bootstrapToken.token: Invalid value"),
    File("short token", discovery(token="abcdef.0123456789abcde"), "the bootstrap token is invalid"),
    File("token in upper case", discovery(token="ABCDEF.0123456789abcdef"),
         "the bootstrap token is invalid"),
    File("token with blanks", discovery(token="' abcdef.0123456789abcdef'"),
         "the bootstrap token is invalid"),
    File("token with a newline", discovery(token='"abcdef.0123456789abcdef\\n"'),
         "the bootstrap token is invalid"),
    File("tls token", discovery(", tlsBootstrapToken: fedcba.0123456789abcdef")),
    File("odd tls token", discovery(", tlsBootstrapToken: fedcba"),
         "file.yaml: line 3 column 209: discovery.tlsBootstrapToken: Invalid value"),
    File("no pins", discovery(caCertHashes=None), "without caCertHashes can be unsafe"),
    File("no pins needed", discovery(caCertHashes=None, unsafeSkipCAVerification="true")),
    File("odd pin", discovery(caCertHashes="[abc]"),
         "discovery.bootstrapToken.caCertHashes[0]: Invalid value", "ok", why=PINS),
    File("short pin", discovery(caCertHashes="['sha256:3b']"), "expected a 32 byte SHA-256 hash",
         "ok", why=PINS),
    File("no port", discovery(apiServerEndpoint="10.0.0.1"), "missing port in address"),
    File("empty port", discovery(apiServerEndpoint="'10.0.0.1:'")),
    File("a name", discovery(apiServerEndpoint="'api.example:https'")),
    File("IPv6", discovery(apiServerEndpoint="'[fd00::1]:6443'")),
    File("IPv6 without brackets", discovery(apiServerEndpoint="'fd00::1:6443'"),
         "too many colons in address"),
    File("IPv6 without port", discovery(apiServerEndpoint="'[fd00::1]'"), "missing port in address"),
    File("open bracket", discovery(apiServerEndpoint="'[fd00::1:6443'"), "missing ']' in address"),
    File("late bracket", discovery(apiServerEndpoint="'fd00]:6443'"), "unexpected ']' in address"),
    File("a URL", discovery(apiServerEndpoint="'https://10.0.0.1:6443'"),
         "too many colons in address"),
    File("https file", HEAD + "discovery: {file: {kubeConfigPath: 'https://x/y'}}\n"),
    File("http file", HEAD + "discovery: {file: {kubeConfigPath: 'http://x/y'}}\n",
         "the scheme must be https"),
    File("file that is not there", HEAD + "discovery: {file: {kubeConfigPath: /none/there}}\n",
         "not a valid HTTPS URL or a file on disk"),
    File("file URL that is not there",
         HEAD + "discovery: {file: {kubeConfigPath: 'file:///none/there'}}\n",
         "not a valid HTTPS URL or a file on disk"),
    File("empty file way", HEAD + "discovery: {file: {}}\n", "discovery.file.kubeConfigPath"),
    File("file with an odd token",
         HEAD + "discovery: {file: {kubeConfigPath: 'https://x/y'}, tlsBootstrapToken: a}\n",
         "discovery.tlsBootstrapToken"),
    File("control plane", GOOD + "controlPlane: {localAPIEndpoint: {advertiseAddress: 10.0.0.2}}\n",
         "controlPlane: Forbidden", "ok", join="refused", why=WORKER),
    File("port of 33 bits", GOOD + "controlPlane: {localAPIEndpoint: {bindPort: 4294967296}}\n",
         "must be a whole number of 32 bits"),
    File("patches", GOOD + "patches: {directory: C:/patches}\n"),
    File("several errors", discovery(token="a", apiServerEndpoint="b"), "error: "),
    File("v1beta3", GOOD.replace("v1beta4", "v1beta3"), kubeadm="refused", why=BETA3),
    File("v1beta3 with a map", GOOD.replace("v1beta4", "v1beta3") +
         "nodeRegistration: {kubeletExtraArgs: {v: '5'}}\n", kubeadm="refused", why=BETA3),
    File("v1beta3 with dryRun", GOOD.replace("v1beta4", "v1beta3") + "dryRun: true\n",
         'unknown field "dryRun"'),
    File("v1beta2", GOOD.replace("v1beta4", "v1beta2"), "uses an old API spec"),
    File("v1", GOOD.replace("v1beta4", "v1"), "experimental API spec"),
    File("v1beta9", GOOD.replace("v1beta4", "v1beta9"), "unknown configuration API"),
    File("kind in lower case", GOOD.replace("Join", "join"), "unknown configuration API"),
    File("NodeConfiguration", GOOD + "---\n" + NODE, kubeadm="refused", join="ok", why=OTHERS),
    File("odd NodeConfiguration", GOOD + "---\n" + NODE + "network: {mode: bridge}\n",
         "file.yaml: line 7 column 17: network.mode: Unsupported value", join="ok", why=OTHERS),
    File("KubeletConfiguration",
         GOOD + "---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"),
    File("something else", GOOD + "---\napiVersion: example.com/v1\nkind: Thing\n",
         "unknown configuration API", join="ok", join_says="",
         why="only a join passes over what it does not know, as kubeadm's does"),
    File("ClusterConfiguration alone",
         "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
         "kubernetesVersion: v1.37.1\n",
         "no JoinConfiguration or NodeConfiguration found", "ok", join="refused",
         why="it says nothing about a worker"),
]

# Documents of a cluster's programs: what is odd in them, or nothing. winjoin warns, whose join does not
# use them; kubeadm, beside a ClusterConfiguration, takes or refuses them.
KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
KUBE_PROXY = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n"
COMPONENTS = [
    (KUBELET, ""),
    (KUBELET + "maxPodz: 5\n", 'unknown field "maxPodz" (did you mean maxPods?)'),
    (KUBELET + "logging: {options: {jso: {}}}\n", '"logging.options.jso" (did you mean json?)'),
    (KUBELET + "maxPods: many\n", "maxPods: must be a whole number"),
    (KUBE_PROXY, ""),
    (KUBE_PROXY + """\
featureGates: {WinDSR: true}
clientConnection: {kubeconfig: /k, acceptContentTypes: a, contentType: b, qps: 5.5, burst: 10}
logging: {format: text, flushFrequency: 5s, verbosity: 2, vmodule: [{filePattern: f, verbosity: 1}],
          options: {text: {splitStream: true, infoBufferSize: 1Mi}, json: {infoBufferSize: 0}}}
hostnameOverride: win-7k2
bindAddress: 0.0.0.0
healthzBindAddress: 0.0.0.0:10256
metricsBindAddress: 127.0.0.1:10249
bindAddressHardFail: true
enableProfiling: true
showHiddenMetricsForVersion: '1.36'
mode: kernelspace
iptables: {masqueradeBit: 14, masqueradeAll: true, localhostNodePorts: false, syncPeriod: 30s,
           minSyncPeriod: 1s}
ipvs: {syncPeriod: 30s, minSyncPeriod: 0s, scheduler: rr, excludeCIDRs: [10.0.0.0/8], strictARP: true,
       tcpTimeout: 1s, tcpFinTimeout: 1s, udpTimeout: 1s}
nftables: {masqueradeBit: 14, masqueradeAll: false, syncPeriod: 30s, minSyncPeriod: 1s}
winkernel: {networkName: vxlan0, sourceVip: 10.244.1.2, enableDSR: true, rootHnsEndpointName: cbr0_ep,
            forwardHealthCheckVip: true}
detectLocalMode: ClusterCIDR
detectLocal: {bridgeInterface: b, interfaceNamePrefix: p}
clusterCIDR: 10.244.0.0/16
nodePortAddresses: [10.0.0.0/8]
oomScoreAdj: -999
conntrack: {maxPerCore: 32768, min: 131072, tcpEstablishedTimeout: 24h, tcpCloseWaitTimeout: 1h,
            tcpBeLiberal: true, udpTimeout: 30s, udpStreamTimeout: 60s}
configSyncPeriod: 15m
portRange: ''
windowsRunAsService: true
""", ""),
    (KUBE_PROXY + "modee: kernelspace\n", 'unknown field "modee" (did you mean mode?)'),
    (KUBE_PROXY + "winkernel: {enableDsr: true}\n", '"winkernel.enableDsr" (did you mean enableDSR?)'),
    (KUBE_PROXY + "mode: 5\n", "mode: must be a text"),
    (KUBE_PROXY + "conntrack: []\n", "conntrack: must be an object"),
    (KUBE_PROXY + "nodePortAddresses: all\n", "nodePortAddresses: must be a list of texts"),
    (KUBE_PROXY + "iptables: {syncPeriod: soon}\n", "iptables.syncPeriod: must be a duration"),
    (KUBE_PROXY + "winkernel: {sourceVip: [10.244.1.2]}\n", "winkernel.sourceVip: must be a text"),
    (KUBE_PROXY + "featureGates: {WinDSR: 'yes'}\n", "featureGates.WinDSR: must be true or false"),
]

# What `config migrate` writes must be kubeadm's, byte for byte. Names, sockets and the CA's path stand
# there: their defaults are of the machine.
REST = "caCertPath: /etc/kubernetes/pki/ca.crt\n"
REGISTRATION = "nodeRegistration: {name: ' WIN-1 ', criSocket: 'npipe:////./pipe/x'%s}\n"
ODD_TEXTS = [
    "", " ", "\n", "a\n", "\na", "a\n\nb\n\n", " a\nb", "a\n b", "a \nb", "\ta\nb", "a\tb", "a\r\nb", "a\n#b",
    "a\n- b", "#\n", "a\n ", "\u200b", "\xa0", "\U0001f600", "\u00fc", "~", "null", "y", "on", "tRUE", "05", "0x1",
    "0xg", "1e3", "1.", ".5", "+1", "-", "--", "---", "--- a", "...", "a: b", "a:", ":a", "a #b", "a#b", "- a", "? a",
    "!a", "&a", "*a", "%a", "@a", "`a", "{a", "]a", "a]", ",a", "|", "'a", '"a', "a'b", "a\\b", "=", "<<", "1:20:30",
    "2026-1-1", "2026-11-21 10:00:00", "1_000", "1,000", ".inf", "nan", "x" * 200, "word " * 40, "w" * 100 + " " +
    "w" * 100, "a  b", "1e400", "0o", "08", "_1", "1_", "::", "::1", "[::1]", "100%", "$a", "//", "~/a"]
ODD_ARGUMENTS = ", kubeletExtraArgs: [%s]" % ", ".join(
    "{name: n%d, value: %s}" % (i, json.dumps(text, ensure_ascii=False))
    for i, text in enumerate(ODD_TEXTS))
MIGRATED = [
    GOOD + REST + REGISTRATION % ODD_ARGUMENTS,
    GOOD + REST + REGISTRATION % "",
    GOOD + REST + REGISTRATION % (
        ", taints: [], imagePullSerial: false, imagePullPolicy: Always, ignorePreflightErrors: [b, a],"
        " kubeletExtraArgs: [{name: v}, {name: 'n', value: 'yes'}, {name: a, value: '1:20'},"
        " {name: b, value: 'a: b'}, {name: c, value: '2026-11-21'}, {name: d, value: \"x\\ny\"}]"),
    GOOD + REST + REGISTRATION % (
        ", taints: [{key: a, value: '', effect: NoSchedule}, {key: b, value: c, effect: NoExecute,"
        " timeAdded: '2026-11-21T10:00:04Z'}], kubeletExtraArgs: []")
    + "skipPhases: [x]\npatches: {directory: /p}\ndryRun: true\n"
      "timeouts: {discovery: 90s, tlsBootstrap: 1.5h, etcdAPICall: 250ms, upgradeManifests: 1m0.5s}\n",
    GOOD + REST + REGISTRATION % (
        ", taints: [{key: a, effect: NoExecute, timeAdded: '2026-11-22T10:00:00+02:00'},"
        " {key: b, effect: NoExecute, timeAdded: '2026-11-22T10:00:00.5Z'}], kubeletExtraArgs:"
        " [{name: a, value: \"x: y # z\"}, {name: b, value: ' lead'}, {name: c, value: \"t\\tt\"}, {name: d, value: '~'},"
        " {name: e, value: '1e3'}, {name: f, value: '-'}, {name: g, value: '{a}'}, {name: h, value: 'a:'}]"),
    HEAD + "discovery: {file: {kubeConfigPath: 'HTTPS://x/y'}}\n" + REST + REGISTRATION % "",
    HEAD + "discovery: {file: {kubeConfigPath: 'https://x/y'}, bootstrapToken: null}\n" + REST
    + REGISTRATION % "" + "skipPhases: []\npatches: {}\ndryRun: false\ncontrolPlane: null\n",
]

HASH = ("--discovery-token-ca-cert-hash", PIN)
GOOD_LINE = ("10.0.0.1:6443", "--token", TOKEN, *HASH)
LINES = [
    Line("good", GOOD_LINE),
    Line("equals signs", ("10.0.0.1:6443", "--token=" + TOKEN,
                          "--discovery-token-ca-cert-hash=" + PIN)),
    Line("several pins", (*GOOD_LINE, *HASH)),
    Line("pins with a comma", ("10.0.0.1:6443", "--token", TOKEN, HASH[0], PIN + "," + PIN)),
    Line("tokens apart", ("10.0.0.1:6443", "--discovery-token", TOKEN, "--tls-bootstrap-token",
                          "fedcba.0123456789abcdef", *HASH)),
    Line("odd tls token", ("10.0.0.1:6443", "--token", TOKEN, "--tls-bootstrap-token", "a", *HASH),
         "discovery.tlsBootstrapToken: Invalid value"),
    Line("no pin", GOOD_LINE[:3], "without caCertHashes can be unsafe"),
    Line("no pin wanted", (*GOOD_LINE[:3], "--discovery-token-unsafe-skip-ca-verification")),
    Line("bool with a value", (*GOOD_LINE[:3], "--discovery-token-unsafe-skip-ca-verification=true")),
    Line("bool with T", (*GOOD_LINE[:3], "--discovery-token-unsafe-skip-ca-verification=T")),
    Line("false", (*GOOD_LINE[:3], "--discovery-token-unsafe-skip-ca-verification=false"),
         "without caCertHashes can be unsafe"),
    Line("odd bool", (*GOOD_LINE[:3], "--discovery-token-unsafe-skip-ca-verification=yes"),
         "invalid"),
    Line("odd pin", (*GOOD_LINE[:3], HASH[0], "abc"), "caCertHashes[0]: Invalid value", "ok", PINS),
    Line("no token", ("10.0.0.1:6443", *HASH), "discovery.bootstrapToken.token: Invalid value"),
    Line("no endpoint", GOOD_LINE[1:], "bootstrapToken or file must be set"),
    Line("nothing", (), "bootstrapToken or file must be set"),
    Line("no port", ("10.0.0.1", *GOOD_LINE[1:]), "missing port in address"),
    Line("two endpoints", ("10.0.0.2:6443", *GOOD_LINE), "accepts at most 1 arg(s), received 2"),
    Line("both ways", (*GOOD_LINE, "--discovery-file", "https://x/y"),
         "bootstrapToken and file cannot both be set"),
    Line("https file", ("--discovery-file", "https://x/y")),
    Line("http file", ("--discovery-file", "http://x/y"), "the scheme must be https"),
    Line("file that is not there", ("--discovery-file", "/none/there"),
         "not a valid HTTPS URL or a file on disk"),
    Line("short form", (*GOOD_LINE[:3], "--discovery-token-unsafe-skip"), "unknown flag"),
    Line("misspelt", ("10.0.0.1:6443", "--tokn", TOKEN, *HASH), "unknown flag: --tokn"),
    Line("no value", (*GOOD_LINE, "--node-name"), "flag needs an argument: --node-name"),
    Line("node name", (*GOOD_LINE, "--node-name", "WIN-1")),
    Line("odd node name", (*GOOD_LINE, "--node-name", "win_1"), "nodeRegistration.name"),
    Line("socket", (*GOOD_LINE, "--cri-socket", "npipe:////./pipe/x")),
    Line("all and one", (*GOOD_LINE, "--ignore-preflight-errors", "all,Swap"),
         "don't specify individual checks"),
    Line("control plane flags alone", (*GOOD_LINE, "--apiserver-bind-port", "6443"),
         warns="mean nothing for a worker"),
    Line("config", ("--config", "FILE")),
    Line("config and an endpoint", ("10.0.0.2:6443", "--config", "FILE"),
         warns="address is ignored"),
    Line("config and node name", ("--config", "FILE", "--node-name", "other")),
    Line("config and dry run", ("--config", "FILE", "--dry-run=false")),
    Line("config and ignored checks", ("--config", "FILE", "--ignore-preflight-errors", "Swap")),
    Line("config and verbosity", ("--config", "FILE", "-v", "1")),
    Line("config and token", ("--config", "FILE", "--token", TOKEN),
         "can not mix '--config' with arguments [token]"),
    Line("config and more", ("--config", "FILE", "--token", TOKEN, "--discovery-file", "x"),
         "can not mix '--config' with arguments [discovery-file token]"),
    Line("config and socket", ("--config", "FILE", "--cri-socket", "npipe:////./pipe/x"),
         "can not mix '--config' with arguments [cri-socket]"),
    Line("config and patches", ("--config", "FILE", "--patches", "/x"),
         "can not mix '--config' with arguments [patches]"),
    Line("config and control plane", ("--config", "FILE", "--control-plane"), "control plane"),
    Line("config that is not there", ("--config", "/none/there"), "read the configuration"),
]

# Lines of winjoin alone: pasted ones, its own flags, the environment.
OWN_LINES = [
    Line("pasted", ("kubeadm", "join", *GOOD_LINE)),
    Line("pasted with sudo", ("sudo", "kubeadm", "join", *GOOD_LINE)),
    Line("pasted with a path", ("sudo", "/usr/bin/kubeadm", "join", *GOOD_LINE)),
    Line("pasted with a backslash", ("kubeadm", "join", *GOOD_LINE[:3], "\\", *HASH)),
    Line("as one word", ("kubeadm join 10.0.0.1:6443 --token %s %s %s " % (TOKEN, *HASH),)),
    Line("as one word of two lines",
         ("  sudo kubeadm join 10.0.0.1:6443 --token %s \\\n\t%s %s \n" % (TOKEN, *HASH),)),
    Line("with the backslash and newline in a word",
         ("kubeadm", "join", *GOOD_LINE[:3], "\\\n", *HASH)),
    Line("pasted for a control plane",
         ("kubeadm", "join", *GOOD_LINE, "--control-plane", "--certificate-key", "a" * 64),
         "a control plane does not run on Windows"),
    Line("token in the wrong place", ("10.0.0.1:6443", TOKEN, *HASH), "received 2"),
    Line("token as a flag", ("--" + TOKEN,), "unknown flag"),
    Line("token as a value", ("10.0.0.1:6443", "--verify", TOKEN), "invalid value"),
    Line("everything from the environment", ("10.0.0.1:6443",), environment={
        "WINJOIN_TOKEN": TOKEN, "WINJOIN_DISCOVERY_TOKEN_CA_CERT_HASH": PIN + "," + PIN}),
    Line("file and environment", ("--config", "FILE"), environment={"WINJOIN_TOKEN": TOKEN}),
    Line("odd environment", ("--config", "FILE"), "discovery.bootstrapToken.token",
         environment={"WINJOIN_TOKEN": "abc"}),
    Line("file and own flags", ("--config", "FILE", "--verify", "none", "--token-file", "TOKENFILE")),
    Line("token from a file", ("10.0.0.1:6443", "--token-file", "TOKENFILE", *HASH)),
    Line("token file that is not there", ("10.0.0.1:6443", "--token-file", "/none/there", *HASH),
         "read the token"),
]
