/* What is otherwise, group by group; the first row of each is as the others were without it. */
#pragma once

#include "tests/scene/joining_scene.h"

struct variant {
    const char *name;
    const char *flags; /* behind those of the group */
    const char *host;  /* merge patch of the host, ' for " */
    const char *node;  /* of the Node */
    const char *file;  /* "PATH=text", "PATH" of one that goes away */
    size_t text;       /* field of struct api_scene that gets `value` */
    const char *value;
    size_t flag;        /* field of struct api_scene that is turned over */
    void (*does)(void); /* else */
};

#define TEXT(field, words) .text = offsetof(struct api_scene, field), .value = words
#define FLAG(field) .flag = offsetof(struct api_scene, field)

static void set_program(const char *name, const char *says) {
    host_memory_set_program(r.host, name, 0, says);
}

static void old_kubelet(void) {
    set_program("kubelet.exe", "Kubernetes v1.33.1\n");
}

static void new_kubelet(void) {
    set_program("kubelet.exe", "Kubernetes v1.38.0\n");
}

static void silent_kubelet(void) {
    set_program("kubelet.exe", "");
}

static void old_containerd(void) {
    set_program("containerd.exe", "containerd v1.6.2\n");
}

static void kubelet_ends(void) {
    host_memory_end_service_starts(r.host, "kubelet", 100);
}

static void kubelet_ends_once(void) {
    host_memory_end_service_starts(r.host, "kubelet", 1);
}

static void proxy_ends(void) {
    host_memory_end_service_starts(r.host, "kube-proxy", 100);
}

static void containerd_ends(void) {
    host_memory_end_service_starts(r.host, "containerd", 100);
}

static void little_space(void) {
    host_memory_set_free_space(r.host, 1u << 30);
}

static void port_taken(void) {
    host_memory_set_port(r.host, false, 10250);
    host_memory_set_port(r.host, true, 4789);
}

static void hns_hangs(void) {
    host_memory_hang_hns(r.host);
}

static void interrupted(void) {
    host_memory_interrupt(r.host);
}

static void hns_restarted(void) {
    host_memory_restart_hns(r.host);
}

static void a_day_later(void) {
    host_memory_advance(r.host, 24 * 3600 * 1000);
}

static void held(void) {
    host_memory_hold(r.host, "C:\\k\\kube-proxy.conf");
}

static void held_in_a_folder(void) {
    static const char layer[] = "C:\\ProgramData\\containerd\\state\\layer";

    assert_int_equal(host_write(r.host, layer, "x", 1, HOST_PUBLIC, NULL), 0);
    host_memory_hold(r.host, layer);
}

static void of_user(void) {
    host_memory_give_to_user(r.host, "C:\\k\\kubelet.exe");
}

static void shuts_down(void) {
    set_program("shutdown.exe", "");
}

static void does_not_shut_down(void) {
    host_memory_set_program(r.host, "shutdown.exe", 5, "Access is denied.\n");
}

static void with_calico(void) {
    r.scene.daemon_set = "calico-node-windows";
    r.scene.backend = "vxlan";
}

static void no_serving_request(void) {
    r.scene.serving = true;
    r.scene.holds_serving = true;
}

static const struct variant new_node[] = {
    {.name = "base"},
    {"another name", .flags = "--node-name=other"},
    {"a kubelet's version", .flags = "--kubernetes-version=v1.37.1"},
    {"another version", .flags = "--kubernetes-version=v1.36.0"},
    {"another socket", .flags = "--cri-socket=npipe:////./pipe/other"},
    {"another machine's socket", .flags = "--cri-socket=npipe:////host/pipe/x"},
    {"the kubelet bootstraps", .flags = "--tls-bootstrap=kubelet --timeout=20s"},
    {"no kube-proxy", .flags = "--kube-proxy=none"},
    {"dsr off", .flags = "--dsr=off"},
    {"another vni and port", .flags = "--vni=4097 --vxlan-port=4790"},
    {"a wrong vni", .flags = "--vni=7"},
    {"another network", .flags = "--network-name=pods"},
    {"no such adapter", .flags = "--adapter=Other"},
    {"an address of none", .flags = "--node-ip=10.0.0.99"},
    {"its address", .flags = "--node-ip=10.0.0.21"},
    {"labels and taints", .flags = "--node-labels=a=b,c=d --register-with-taints=k=v:NoSchedule"},
    {"a wrong label", .flags = "--node-labels=a=b=c"},
    {"a wrong taint", .flags = "--register-with-taints=k=v:Never"},
    {"its own prefix", .flags = "--pod-cidr=10.244.9.0/24", FLAG(no_prefix)},
    {"a wrong prefix", .flags = "--pod-cidr=10.244.9.0/31"},
    {"without containerd", .flags = "--skip-phases=containerd"},
    {"without a network", .flags = "--skip-phases=pod-network"},
    {"without preflight and ready", .flags = "--skip-phases=preflight,ready"},
    {"a phase of none", .flags = "--skip-phases=other"},
    {"no such patches", .flags = "--patches=D:\\p"},
    {"patches", .flags = "--patches=D:\\p",
     .file = "D:\\p\\kubeletconfiguration.yaml=maxPods: 20\n"},
    {"broken patches", .flags = "--patches=D:\\p",
     .file = "D:\\p\\kubeletconfiguration.yaml=maxPods: [\n"},
    {"patches that break", .flags = "--patches=D:\\p",
     .file = "D:\\p\\kubeletconfiguration.yaml=maxPods: many\n"},
    {"a JSON patch", .flags = "--patches=D:\\p",
     .file = "D:\\p\\kubeletconfiguration+json.yaml=- op: add\n  path: /maxPods\n  value: 9\n"},
    {"host fixes", .flags = "--apply-host-fixes"},
    {"host fixes half done", .flags = "--apply-host-fixes",
     .host = "{'registry':{'SYSTEM\\\\CurrentControlSet\\\\Services\\\\hns\\\\State':{"
             "'EnableCompartmentNamespace':'0'}}}"},
    {"roll back", .flags = "--on-failure=rollback", .does = kubelet_ends},
    {"late", .flags = "--join-timeout=2s", .does = kubelet_ends},
    {"without a pin", .flags = "--discovery-token-unsafe-skip-ca-verification"},
    {"another pin", .flags = "--discovery-token-ca-cert-hash=sha256:"
                             "0123456789012345678901234567890123456789012345678901234567890123"},
    {"another token", .flags = "--token=abcdef.0000000000000000 --timeout=20s"},
    {"an unknown token", .flags = "--token=zzzzzz.0000000000000000 --timeout=20s"},
    {"a token file", .flags = "--token-file=D:\\t", .file = "D:\\t=abcdef.0123456789abcdef\n"},
    {"no such bundle", .flags = "--bundle=D:\\b"},
    {"a phase", .flags = "phase preflight"},
    {"a dry run without a prefix", .flags = "--dry-run", FLAG(no_prefix)},
    {"a name of Windows", .flags = "--node-name=UPPER"},
    {"progress as documents", .flags = "--progress=json"},
    {"no progress", .flags = "--progress=none"},
    {"an old server", TEXT(server_version, "v1.30.2")},
    {"a new server", TEXT(server_version, "v1.39.0")},
    {"nobody approves", .flags = "--timeout=20s", FLAG(approve)},
    {"denied", FLAG(approve), TEXT(denied, "csr-no")},
    {"serving certificates", FLAG(serving)},
    {"a serving certificate waits", .does = no_serving_request},
    {"no endpoint slices", FLAG(unprepared)},
    {"it may not create", TEXT(may_not, "\"create\"")},
    {"it may not read Nodes", TEXT(may_not, "\"nodes\"")},
    {"no prefix", FLAG(no_prefix)},
    {"no pod subnet", FLAG(no_pod_subnet)},
    {"kubelet-config hidden", TEXT(hides, "kubelet-config")},
    {"kubeadm-config hidden", TEXT(hides, "kubeadm-config")},
    {"cluster-info hidden", TEXT(hides, "certificatesigningrequests")},
    {"Nodes hidden", TEXT(hides, "/nodes")},
    {"another node", TEXT(other_node, "10.244.7.0/24 10.0.0.77")},
    {"a node of the same prefix", TEXT(other_node, "10.244.3.0/24 10.0.0.77")},
    {"a node of the same address", TEXT(other_node, "10.244.7.0/24 10.0.0.21")},
    {"it is registered", FLAG(registered)},
    {"of another system", FLAG(registered),
     .node = "{'metadata':{'labels':{'kubernetes.io/os':'linux'}}}"},
    {"a prefix that does not fit", .node = "{'spec':{'podCIDR':'10.244.3.0/31','podCIDRs':['10.244."
                                           "3.0/31']}}"},
    {"two prefixes", .node = "{'spec':{'podCIDRs':['10.244.3.0/24','fd00:10:244:3::/64']}}"},
    {"a prefix of the node's own", .node = "{'spec':{'podCIDR':'10.0.0.0/24','podCIDRs':["
                                           "'10.0.0.0/24']}}"},
    {"never Ready", TEXT(conf, "C:\\never")},
    {"flannel of another vni", TEXT(flannel, "{\"Network\":\"10.244.0.0/16\",\"Backend\":{\"Type\":"
                                             "\"vxlan\",\"VNI\":4098,\"Port\":4791}}")},
    {"flannel with a Linux vni", TEXT(flannel, "{\"Network\":\"10.244.0.0/16\",\"Backend\":{"
                                               "\"Type\":\"vxlan\",\"VNI\":1}}")},
    {"flannel as a bridge", TEXT(flannel, "{\"Network\":\"10.244.0.0/16\",\"Backend\":{\"Type\":"
                                          "\"host-gw\"}}")},
    {"Windows of 2019", .host = "{'facts':{'build':17763,'revision':1}}"},
    {"an old Windows", .host = "{'facts':{'build':14393}}"},
    {"Windows of 2025", .host = "{'facts':{'build':26100,'revision':1}}"},
    {"a client", .host = "{'facts':{'installationType':'Client'}}"},
    {"for arm", .host = "{'facts':{'architecture':'arm64'}}"},
    {"not elevated", .host = "{'facts':{'elevated':false}}"},
    {"no Containers", .host = "{'facts':{'containersFeature':0}}"},
    {"Containers unknown", .host = "{'facts':{'containersFeature':-1}}"},
    {"Containers installed", .flags = "--install-features",
     .host = "{'facts':{'containersFeature':0}}"},
    {"installed with a restart", .flags = "--install-features --restart",
     .host = "{'facts':{'containersFeature':0}}"},
    {"a restart pending", .host = "{'facts':{'restartPending':true}}"},
    {"no shutdown.exe", .flags = "--restart", .host = "{'facts':{'restartPending':true}}"},
    {"it restarts", .flags = "--restart", .host = "{'facts':{'restartPending':true}}",
     .does = shuts_down},
    {"it may not restart", .flags = "--restart", .host = "{'facts':{'restartPending':true}}",
     .does = does_not_shut_down},
    {"little memory", .host = "{'facts':{'memoryBytes':1000000000,'pageFileBytes':0}}"},
    {"a long name", .host = "{'facts':{'hostName':'A-name-of-more-than-15-letters'}}"},
    {"a name that is none", .host = "{'facts':{'hostName':'win_7'}}"},
    {"without HNS", .host = "{'services':{'hns':null}}"},
    {"HNS disabled", .host = "{'services':{'hns':{'state':'stopped'}}}"},
    {"a kubelet of others",
     .host = "{'services':{'kubelet':{'command':'x.exe','state':'running','displayName':'x'}}}"},
    {"containerd of others",
     .host = "{'services':{'containerd':{'command':'x.exe','state':'running'}}}"},
    {"containerd adopted", .flags = "--existing-services=adopt",
     .host = "{'services':{'containerd':{'command':'x.exe','state':'running'}}}"},
    {"no adapter", .host = "{'adapters':[]}"},
    {"no default route", .host = "{'routes':[]}"},
    {"little space", .does = little_space},
    {"ports taken", .does = port_taken},
    {"HNS hangs", .does = hns_hangs},
    {"Ctrl-C", .does = interrupted},
    {"an old kubelet", .does = old_kubelet},
    {"a kubelet that is newer", .does = new_kubelet},
    {"a kubelet that says nothing", .does = silent_kubelet},
    {"an old containerd", .does = old_containerd},
    {"the kubelet ends", .does = kubelet_ends},
    {"the kubelet ends once", .does = kubelet_ends_once},
    {"kube-proxy ends", .does = proxy_ends},
    {"containerd ends", .does = containerd_ends},
    {"a kubelet of a user", .does = of_user},
    {"no kubelet", .file = "C:\\k\\kubelet.exe"},
    {"no plugin", .file = "C:\\opt\\cni\\bin\\win-overlay.exe"},
    {"another CNI file", .file = "C:\\etc\\cni\\net.d\\05-other.conf={}"},
    {"a kubeconfig of before", .file = "C:\\etc\\kubernetes\\kubelet.conf=x"},
    {"a CA of before", .file = "C:\\etc\\kubernetes\\pki\\ca.crt=x"},
    {0},
};

static const struct variant bridge[] = {
    {.name = "base"},
    {"sdnbridge", .flags = "--network-plugin=sdnbridge"},
    {"routes are printed", .flags = "--routes=print", TEXT(other_node, "10.244.7.0/24 10.0.0.77")},
    {"routes of none", .flags = "--routes=none", TEXT(other_node, "10.244.7.0/24 10.0.0.77")},
    {"routes of its own", TEXT(other_node, "10.244.7.0/24 10.0.0.77")},
    {"a node behind a router", TEXT(other_node, "10.244.7.0/24 10.9.0.77")},
    {"a dry run", .flags = "--dry-run"},
    {"dsr on", .flags = "--dsr=on"},
    {"a vni", .flags = "--vni=4097"},
    {"an overlay's plugin", .flags = "--network-plugin=win-overlay"},
    {"flannel's overlay", TEXT(flannel, "{\"Network\":\"10.244.0.0/16\",\"Backend\":{\"Type\":"
                                        "\"vxlan\",\"VNI\":4096,\"Port\":4789}}")},
    {"nat", .flags = "--network-mode=nat --ignore-preflight-errors=NetworkMode"},
    {"nat without leave", .flags = "--network-mode=nat"},
    {"transparent", .flags = "--network-mode=transparent"},
    {"flannel's program", .flags = "--network-plugin=flannel", .file = "C:\\k\\flanneld.exe=MZ"},
    {"no flanneld", .flags = "--network-plugin=flannel"},
    {"external", .flags = "--network-plugin=external"},
    {"calico in the cluster", .flags = "--network-plugin=external", .does = with_calico},
    {"ovn", .flags = "--network-mode=overlay --network-plugin=ovn-kubernetes",
     .file = "C:\\k\\hybrid-overlay-node.exe=MZ"},
    {"azure without its file", .flags = "--network-mode=l2tunnel --network-plugin=azure-vnet"},
    {0},
};

#define JOIN_DOCUMENT                                                                              \
    "D:\\c.yaml=apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n"         \
    "  bootstrapToken:\n    token: abcdef.0123456789abcdef\n"                                      \
    "    apiServerEndpoint: 10.0.0.10:6443\n    unsafeSkipCAVerification: true\n"
#define NODE_DOCUMENT                                                                              \
    JOIN_DOCUMENT "---\napiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n"
#define OLD_DOCUMENT                                                                               \
    "D:\\c.yaml=apiVersion: kubeadm.k8s.io/v1beta3\nkind: JoinConfiguration\ndiscovery:\n"         \
    "  timeout: 10s\n  tlsBootstrapToken: abcdef.0123456789abcdef\n  file:\n"                      \
    "    kubeConfigPath: D:\\k.conf\n"

/* Dry runs, each by a file of its own. */
static const struct variant configured[] = {
    {"base", .file = JOIN_DOCUMENT},
    {"a registration",
     .file = JOIN_DOCUMENT
     "nodeRegistration:\n  name: win-7k2\n  criSocket: npipe:////./pipe/x\n  taints:\n"
     "  - key: a\n    value: b\n    effect: NoExecute\n  ignorePreflightErrors: [Mem]\n"
     "  imagePullPolicy: Never\n  kubeletExtraArgs:\n  - name: v\n    value: '4'\n"
     "  - name: node-labels\n    value: a=b\n"},
    {"no taints", .file = JOIN_DOCUMENT "nodeRegistration:\n  taints: []\n"},
    {"times", .file = JOIN_DOCUMENT "timeouts:\n  kubeletHealthCheck: 5m\n  tlsBootstrap: 7m\n"
                                    "  discovery: 8m\n  kubernetesAPICall: 9m\n"},
    {"no time", .file = JOIN_DOCUMENT "timeouts:\n  discovery: 0s\n"},
    {"a time that is none", .file = JOIN_DOCUMENT "timeouts:\n  discovery: soon\n"},
    {"a CA file", .file = JOIN_DOCUMENT "caCertPath: C:\\other\\ca.crt\n"},
    {"a CA file nowhere", .file = JOIN_DOCUMENT "caCertPath: ca.pem\n"},
    {"phases and patches",
     .file = JOIN_DOCUMENT "skipPhases: [kube-proxy]\npatches:\n  directory: D:\\p\n"},
    {"a control plane", .file = JOIN_DOCUMENT "controlPlane:\n  certificateKey: abc\n"},
    {"a field of none", .file = JOIN_DOCUMENT "nodeRegistraton:\n  name: x\n"},
    {"a wrong kind of value", .file = JOIN_DOCUMENT "skipPhases: kube-proxy\n"},
    {"wrong arguments", .file = JOIN_DOCUMENT
                        "nodeRegistration:\n  kubeletExtraArgs:\n  - name: kubeconfig\n"
                        "    value: x\n  - name: ''\n    value: x\n"},
    {"a wrong name", .file = JOIN_DOCUMENT "nodeRegistration:\n  name: UPPER_\n"},
    {"a wrong socket", .file = JOIN_DOCUMENT "nodeRegistration:\n  criSocket: tcp://x\n"},
    {"a wrong policy", .file = JOIN_DOCUMENT "nodeRegistration:\n  imagePullPolicy: Now\n"},
    {"wrong taints", .file = JOIN_DOCUMENT "nodeRegistration:\n  taints:\n  - key: a\n"
                                           "    effect: Never\n"},
    {"all and one", .file = JOIN_DOCUMENT "nodeRegistration:\n  ignorePreflightErrors: [all, "
                                          "Mem]\n"},
    {"twice", .file = JOIN_DOCUMENT "---\nkind: JoinConfiguration\n"},
    {"not YAML", .file = "D:\\c.yaml=a: [\n"},
    {"nothing", .file = "D:\\c.yaml=\n"},
    {"of another version", .file = "D:\\c.yaml=apiVersion: kubeadm.k8s.io/v1beta2\nkind: "
                                   "JoinConfiguration\n"},
    {"not there", .flags = "--config=D:\\other.yaml"},
    {"with a flag of kubeadm", .flags = "--token=abcdef.0123456789abcdef", .file = JOIN_DOCUMENT},
    {"with a flag of winjoin", .flags = "--vni=4100", .file = JOIN_DOCUMENT},
    {"a discovery file that is absent", .file = OLD_DOCUMENT},
    {"an old document's arguments",
     .file = OLD_DOCUMENT "nodeRegistration:\n  kubeletExtraArgs:\n    v: '4'\n    a: b\n"},
    {"a network",
     .file = NODE_DOCUMENT
     "network:\n  mode: overlay\n  plugin: win-overlay\n  name: pods\n  adapter: Ethernet\n"
     "  vni: 4097\n  vxlanPort: 4790\n  podCIDRs: [10.244.3.0/24]\n  serviceCIDRs: "
     "[10.96.0.0/12]\n  excludeFromNAT: [192.0.2.0/24]\n  dualStack: 'off'\n"},
    {"a bridge's routes", .file = NODE_DOCUMENT "network:\n  mode: l2bridge\n  routes: print\n"},
    {"services", .file = NODE_DOCUMENT "kubeProxy:\n  run: none\n  dsr: 'off'\nservices:\n"
                                       "  kubelet:\n    extraArgs: [--v=4, --max-pods=20]\n"},
    {"a wrong argument", .file = NODE_DOCUMENT "services:\n  kubelet:\n    extraArgs: ['v=4']\n"},
    {"an argument of winjoin's",
     .file = NODE_DOCUMENT "services:\n  kubelet:\n    extraArgs: [--kubeconfig=x]\n"},
    {"arguments of kube-proxy",
     .file = NODE_DOCUMENT "services:\n  kubeProxy:\n    extraArgs: [--v=4]\n"},
    {"programs", .file = NODE_DOCUMENT "artifacts:\n  kubernetesVersion: v1.37.1\n  mirror: "
                                       "https://mirror.example\n  sourceBase: none\n"},
    {"wrong programs", .file = NODE_DOCUMENT "artifacts:\n  mirror: http://mirror.example\n"},
    {"what to verify", .file = NODE_DOCUMENT
                       "verify:\n  level: none\n  timeout: 5s\n  external:\n    ip: "
                       "192.0.2.1:443\n    name: example.com\n    dns: 192.0.2.53\n"},
    {"a wrong target", .file = NODE_DOCUMENT "verify:\n  external:\n    ip: here\n"},
    {"a wrong mode", .file = NODE_DOCUMENT "network:\n  mode: other\n"},
    {"a wrong number", .file = NODE_DOCUMENT "network:\n  vni: 4095\n"},
    {"a number in words", .file = NODE_DOCUMENT "network:\n  vni: many\n"},
    {"a wrong list", .file = NODE_DOCUMENT "network:\n  podCIDRs: [10.244.3.0/24, "
                                           "10.244.4.0/24]\n"},
    {"a wrong choice", .file = NODE_DOCUMENT "kubeProxy:\n  dsr: maybe\n"},
    {0},
};

static const struct variant again[] = {
    {.name = "base"},
    {"another mode", .flags = "--network-mode=l2bridge"},
    {"another vni", .flags = "--vni=4099"},
    {"another name", .flags = "--node-name=other"},
    {"a dry run", .flags = "--dry-run"},
    {"labels", .flags = "--node-labels=a=b"},
    {"host fixes", .flags = "--apply-host-fixes"},
    {"a phase", .flags = "phase kubelet"},
    {"the network's phase", .flags = "phase pod-network"},
    {0},
};

static const struct variant joined[] = {
    {.name = "base"},
    {"the CNI file is gone", .file = "C:\\etc\\cni\\net.d\\10-winjoin.conf"},
    {"the CNI file is another", .file = "C:\\etc\\cni\\net.d\\10-winjoin.conf={}"},
    {"no kubeconfig", .file = "C:\\etc\\kubernetes\\kubelet.conf"},
    {"a broken kubeconfig", .file = "C:\\etc\\kubernetes\\kubelet.conf=x"},
    {"no certificate", .file = "C:\\var\\lib\\kubelet\\pki"},
    {"no config.yaml", .file = "C:\\var\\lib\\kubelet\\config.yaml"},
    {"maxPods by hand", .file = "C:\\var\\lib\\kubelet\\config.yaml=apiVersion: "
                                "kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
                                "maxPods: 7\n"},
    {"containerd's file by hand",
     .file = "C:\\Program Files\\containerd\\config.toml=version = 3\n"},
    {"no file of containerd", .file = "C:\\Program Files\\containerd\\config.toml"},
    {"kube-proxy's file by hand", .file = "C:\\k\\kube-proxy.conf=mode: kernelspace\n"},
    {"arguments by hand",
     .file = "C:\\ProgramData\\winjoin\\services\\kubelet.json={\"command\":[\"C:\\\\k\\\\"
             "kubelet.exe\",\"--v=9\",\"--hostname-override=win-7k2\"],\"environment\":[],"
             "\"workingFolder\":\"C:\\\\k\",\"logFile\":\"C:\\\\k\\\\x.log\",\"maxLogBytes\":1000,"
             "\"maxLogFiles\":5,\"stopTimeoutMs\":30000}"},
    {"broken arguments", .file = "C:\\ProgramData\\winjoin\\services\\kubelet.json={}"},
    {"a program of a later version", .does = new_kubelet},
    {"a program of an earlier one", .does = old_kubelet},
    {"no network.json", .file = "C:\\ProgramData\\winjoin\\network.json"},
    {"a broken network.json", .file = "C:\\ProgramData\\winjoin\\network.json=x"},
    {"a broken journal", .file = "C:\\ProgramData\\winjoin\\journal\\journal.jsonl=x\n"},
    {"no kube-proxy.conf", .file = "C:\\k\\kube-proxy.conf"},
    {"no kubelet", .file = "C:\\k\\kubelet.exe"},
    {"the kubelet is stopped", .host = "{'services':{'kubelet':{'state':'stopped'}}}"},
    {"the kubelet is gone", .host = "{'services':{'kubelet':null}}"},
    {"the kubelet runs another", .host = "{'services':{'kubelet':{'command':'x.exe'}}}"},
    {"kube-proxy is stopped", .host = "{'services':{'kube-proxy':{'state':'stopped'}}}"},
    {"containerd is stopped", .host = "{'services':{'containerd':{'state':'stopped'}}}"},
    {"started by hand", .host = "{'services':{'kubelet':{'autoStart':false}}}"},
    {"the networks are gone",
     .host = "{'hns':{'networks':{'00000001-0000-4000-8000-000000000002':null}}}"},
    {"a network of another prefix",
     .host = "{'hns':{'networks':{'00000001-0000-4000-8000-000000000002':{'Ipams':[{'Type':"
             "'Static','Subnets':[{'IpAddressPrefix':'10.244.5.0/24'}]}]}}}}"},
    {"a network of another name",
     .host = "{'hns':{'networks':{'00000001-0000-4000-8000-000000000002':{'Name':'other'}}}}"},
    {"the switch is gone",
     .host = "{'hns':{'networks':{'00000001-0000-4000-8000-000000000001':null}}}"},
    {"the rules are gone", .host = "{'firewall':{'winjoin vxlan':null,'winjoin kubelet':null}}"},
    {"the adapter is gone", .host = "{'adapters':[]}"},
    {"HNS restarted", .does = hns_restarted},
    {"HNS hangs", .does = hns_hangs},
    {"a day later", .does = a_day_later},
    {"a file in use", .does = held},
    {"a file in use in a folder", .does = held_in_a_folder},
    {"the Node is gone", FLAG(registered), .host = "{'services':{'kubelet':{'state':'stopped'}}}"},
    {"the Node is not Ready", TEXT(conf, "C:\\never")},
    {"the Node has another prefix",
     .node = "{'spec':{'podCIDR':'10.244.8.0/24','podCIDRs':['10.244.8.0/24']}}"},
    {"the Node is cordoned", .node = "{'spec':{'unschedulable':true}}"},
    {"the Node has another address",
     .node = "{'status':{'addresses':[{'type':'InternalIP','address':'10.0.0.99'}]}}"},
    {"Nodes hidden", TEXT(hides, "/nodes")},
    {"a newer server", TEXT(server_version, "v1.38.2")},
    {"flannel has changed", TEXT(flannel, "{\"Network\":\"10.200.0.0/16\",\"Backend\":{\"Type\":"
                                          "\"vxlan\",\"VNI\":4098,\"Port\":4791}}")},
    {0},
};

#define ENDPOINT "10.0.0.10:6443"

static const struct group {
    const char *name, *verb, *flags;
    const char *joined; /* flags of the join before; NULL: a new machine */
    const struct variant *variants;
    bool of_file; /* nothing is asked beside a file */
} groups[] = {
    {"join", "join", ENDPOINT, NULL, new_node, false},
    {"join-bridge", "join", ENDPOINT " --network-mode=l2bridge", NULL, bridge, false},
    {"config", "join", "--config=D:\\c.yaml --dry-run", NULL, configured, true},
    {"join-again", "join", "", ENDPOINT, joined, false},
    {"join-otherwise", "join", "", ENDPOINT, again, false},
    {"status", "status", "", ENDPOINT, joined, false},
    {"reset", "reset", "--force", ENDPOINT, joined, false},
    {"upgrade-dry", "upgrade", "--bundle=D:\\b --dry-run", ENDPOINT, joined, false},
    {"upgrade", "upgrade", "--bundle=D:\\b", ENDPOINT, joined, false},
    {"renew", "certs", "renew", ENDPOINT, joined, false},
    {"preflight", "preflight", ENDPOINT, NULL, new_node, false},
};
