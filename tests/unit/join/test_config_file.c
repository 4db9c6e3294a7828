/* --config files: what is read, and the one line that each bad file gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "join/configuration/join_configuration.h"
#include "templates/templates.h"

#define V4 "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n"
#define V3 "apiVersion: kubeadm.k8s.io/v1beta3\nkind: JoinConfiguration\n"
#define NODE "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n"
#define OTHER "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

#define PROXY "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n"

static void refused_as(const char *text, enum config_kinds kinds, const char *message,
                       const char *hint) {
    struct config_file file = {0};
    struct error err = {0};

    assert_int_equal(config_file_parse(text, strlen(text), "f", kinds, &file, &err), -1);
    assert_int_equal(err.kind, strstr(message, "not supported by this version") ? ERROR_UNSUPPORTED
                                                                                : ERROR_USAGE);
    assert_string_equal(err.message, message);
    assert_string_equal(err.hints[0], hint);
    assert_null(file.join);
    assert_null(file.node);
}

struct bad {
    const char *text, *message, *hint;
};

static const struct bad bad_documents[] = {
    {"", "f: no JoinConfiguration or NodeConfiguration found", ""},
    {"foo", "f: line 1 column 1: must be an object with apiVersion and kind, not a text", ""},
    {"# b\n\n - a\n", "f: line 3 column 2: must be an object with apiVersion and kind, not a list",
     ""},
    {"kubeadm join 10.0.0.10:6443 --token x\n",
     "f: line 1 column 1: must be an object with apiVersion and kind, not a text",
     "winjoin join takes kubeadm's line itself: winjoin join kubeadm join ..."},
    {V4 "a:\n\tb: c\n", "f: line 4 column 1: a tab: YAML is indented with blanks alone", ""},
    {"apiVersion: v1\nkind: Config\n", "f: line 1 column 1: apiVersion and kind are mandatory",
     "this is a kubeconfig: winjoin join --discovery-file FILE"},
    {"apiVersion: v1\nkind: Secret\n", "f: line 1 column 1: apiVersion and kind are mandatory",
     "apiVersion must be a group and a version, such as kubeadm.k8s.io/v1beta4"},
    {V4 "--- {a: b}\n", "f: line 3 column 5: apiVersion and kind are mandatory", ""},
    {"kind: JoinConfiguration\n",
     "f: line 1 column 1: apiVersion and kind are mandatory: apiVersion is missing", ""},
    {V4 "caCert\xff: x\n", "f: line 3 column 7: invalid leading UTF-8 octet",
     "save the file as UTF-8: in Windows PowerShell, Set-Content -Encoding utf8"},
    {V4 "---\n" V4,
     "f: line 5 column 7: kind \"JoinConfiguration\" is specified "
     "twice",
     ""},
    {V4 "a: [", "f: line 4 column 1: did not find expected node content", ""},
    {V4 "a: &x 1\n", "f: line 3 column 4: anchors are not allowed", ""},
    {V4 "a: {<<: {b: c}}\n", "f: line 3 column 5: merge keys are not allowed", ""},
    {V4 "a: {!!int 1: c}\n", "f: line 3 column 5: tags are not allowed here", ""},
    {"Kind: a\napiVersion: b/c\n",
     "f: line 1 column 1: apiVersion and kind are mandatory: kind is missing",
     "line 1 column 1: did you mean kind?"},
    {"kind: JoinConfiguration\napiVersion: v1\n",
     "f: line 1 column 1: apiVersion and kind are mandatory",
     "apiVersion must be a group and a version, such as kubeadm.k8s.io/v1beta4"},
};

static const struct bad bad_fields[] = {
    {V4 "skipPhases: []\nskipPhases: []\n",
     "f: line 4 column 1: duplicate key \"skipPhases\" (first in line 3)", ""},
    {V4 "dryrun: true\n", "f: line 3 column 1: unknown field \"dryrun\"", "did you mean dryRun?"},
    {V4 "metadata: {}\n", "f: line 3 column 1: unknown field \"metadata\"", ""},
    {V4 "discovery:\n  bootstrapToken:\n    tokn: a\n",
     "f: line 5 column 5: unknown field \"discovery.bootstrapToken.tokn\"", "did you mean token?"},
    {V4 "nodeRegistration: {taints: [{key: a}, {kye: b}]}\n",
     "f: line 3 column 40: unknown field \"nodeRegistration.taints[1].kye\"", "did you mean key?"},
    {V4 "dryRun: 'true'\n", "f: line 3 column 9: dryRun: must be true or false", ""},
    {V4 "nodeRegistration: {name: 12}\n",
     "f: line 3 column 26: nodeRegistration.name: must be a string (quote values that YAML reads "
     "as another type)",
     ""},
    {V4 "nodeRegistration: {kubeletExtraArgs: {a: b}}\n",
     "f: line 3 column 38: nodeRegistration.kubeletExtraArgs: must be a list of objects",
     "since kubeadm.k8s.io/v1beta4 it is a list: kubeletExtraArgs: [{name: a, value: \"b\"}]"},
    {V4 "nodeRegistration: [a]\n", "f: line 3 column 19: nodeRegistration: must be an object", ""},
    {V4 "skipPhases: a\n", "f: line 3 column 13: skipPhases: must be a list of strings", ""},
    {V4 "skipPhases: [a, 1]\n",
     "f: line 3 column 17: skipPhases[1]: must be a string (quote values that YAML reads as "
     "another type)",
     ""},
    {V4 "timeouts: {discovery: 5}\n",
     "f: line 3 column 23: timeouts.discovery: must be a duration like 30s, 5m or 1m30s, not a "
     "negative one",
     ""},
    {V4 "timeouts: {discovery: -5s}\n",
     "f: line 3 column 23: timeouts.discovery: must be a duration like 30s, 5m or 1m30s, not a "
     "negative one",
     ""},
    {V4 "nodeRegistration: {taints: [{timeAdded: now}]}\n",
     "f: line 3 column 41: nodeRegistration.taints[0].timeAdded: must be a time like "
     "2026-11-21T10:00:04Z",
     ""},
    {V4 "controlPlane: {localAPIEndpoint: {bindPort: 4294967296}}\n",
     "f: line 3 column 45: controlPlane.localAPIEndpoint.bindPort: must be a 32-bit integer", ""},
    {V4 "discovery: {timeout: 5m}\n",
     "f: line 3 column 13: unknown field "
     "\"discovery.timeout\"",
     "did you mean timeouts.discovery?"},
    {V4 "patches: {dir: x}\n", "f: line 3 column 11: unknown field \"patches.dir\"",
     "did you mean directory?"},
    {V3 "dryRun: true\n", "f: line 3 column 1: unknown field \"dryRun\"", ""},
    {V3 "nodeRegistration: {kubeletExtraArgs: [{name: a}]}\n",
     "f: line 3 column 38: nodeRegistration.kubeletExtraArgs: must be an object with string values",
     "a list is the form of kubeadm.k8s.io/v1beta4: write that as apiVersion"},
    {V3 "nodeRegistration: {kubeletExtraArgs: {v: 5}}\n",
     "f: line 3 column 42: nodeRegistration.kubeletExtraArgs.v: must be a string (quote values "
     "that YAML reads as another type)",
     ""},
};

static const struct bad bad_versions[] = {
    {"apiVersion: kubeadm.k8s.io/v1beta2\nkind: JoinConfiguration\n",
     "f: line 1 column 13: your configuration file uses an old API spec: "
     "\"kubeadm.k8s.io/v1beta2\" "
     "(kind: \"JoinConfiguration\")",
     "kubeadm v1.22 reads it: kubeadm config migrate --old-config F --new-config G writes a "
     "newer one"},
    {"apiVersion: kubeadm.k8s.io/v1\nkind: JoinConfiguration\n",
     "f: line 1 column 13: experimental API spec: \"kubeadm.k8s.io/v1\" (kind: "
     "\"JoinConfiguration\") is "
     "not allowed: use kubeadm.k8s.io/v1beta4",
     ""},
    {"apiVersion: example.com/v1beta4\nkind: JoinConfiguration\n",
     "f: line 1 column 13: unknown configuration API \"example.com/v1beta4\", kind "
     "\"JoinConfiguration\": "
     "use kubeadm.k8s.io/v1beta4",
     ""},
    {"apiVersion: winjoin.io/v1\nkind: NodeConfiguration\n",
     "f: line 1 column 13: unknown configuration API \"winjoin.io/v1\", kind "
     "\"NodeConfiguration\": use "
     "winjoin.io/v1alpha1",
     ""},
    {"apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfig\n",
     "f: line 2 column 7: unknown configuration API \"kubeadm.k8s.io/v1beta4\", kind "
     "\"JoinConfig\"",
     "did you mean JoinConfiguration?"},
    {"apiVersion: winjoin.io/v1alpha1\nkind: NodeConfig\n",
     "f: line 2 column 7: unknown configuration API \"winjoin.io/v1alpha1\", kind \"NodeConfig\"",
     "did you mean NodeConfiguration?"},
    {"apiVersion: kubeadm.k8s.io/v1beta4\nkind: joinConfiguration\n",
     "f: line 2 column 7: unknown configuration API \"kubeadm.k8s.io/v1beta4\", kind "
     "\"joinConfiguration\"",
     "did you mean JoinConfiguration?"},
    {OTHER, "f: no JoinConfiguration or NodeConfiguration found, but KubeletConfiguration", ""},
};

static const struct bad bad_node_configurations[] = {
    {NODE "metadata: {}\n", "f: line 3 column 1: unknown field \"metadata\"", ""},
    {NODE "network.mode: overlay\n", "f: line 3 column 1: unknown field \"network.mode\"", ""},
    {V4 "nodeRegistration: {'taints[]': []}\n",
     "f: line 3 column 20: unknown field \"nodeRegistration.taints[]\"", "did you mean taints?"},
    {NODE "network: {mod: overlay}\n", "f: line 3 column 11: unknown field \"network.mod\"",
     "did you mean mode?"},
    {NODE "network: {mode: bridge}\n",
     "f: line 3 column 17: network.mode: Invalid value: unknown network mode 'bridge': use "
     "overlay, l2bridge, l2tunnel, transparent or nat",
     "did you mean l2bridge?"},
    {NODE "network: {plugin: azure}\n",
     "f: line 3 column 19: network.plugin: Invalid value: unknown network plugin 'azure': use "
     "win-overlay, sdnoverlay, win-bridge, sdnbridge, nat, flannel, external, ovn-kubernetes, "
     "azure-vnet or azure-cns",
     "did you mean azure-cns?"},
    {NODE "network: {plugin: external}\nkubeProxy: {run: service}\n",
     "f: line 3 column 10: network: kube-proxy cannot be a service with network plugin 'external': "
     "the cluster brings its own",
     ""},
    {NODE "network: {vxlanPort: 70000}\n",
     "f: line 3 column 22: network.vxlanPort: Invalid value: 70000: must be between 1 and 65535",
     ""},
    {NODE "network: {serviceCIDRs: [10.96.0.0/12, 10.96.0.0]}\n",
     "f: line 3 column 40: network.serviceCIDRs[1]: Invalid value: \"10.96.0.0\": not a prefix "
     "like "
     "10.244.0.0/16",
     ""},
    {NODE "images: {required: [web/iis:1]}\n",
     "f: line 3 column 21: images.required[0]: Invalid value: \"web/iis:1\": not an image like "
     "mcr.microsoft.com/windows/nanoserver:ltsc2022",
     ""},
    {NODE "artifacts: {sandboxImage: registry.k8s.io/Pause:3.10}\n",
     "f: line 3 column 27: artifacts.sandboxImage: Invalid value: \"registry.k8s.io/Pause:3.10\": "
     "not an image with its tag, like registry.k8s.io/pause:3.10.1",
     ""},
    {NODE "network: {podCIDRs: [10.1.0.0/24, 10.2.0.0/24]}\n",
     "f: line 3 column 21: network.podCIDRs: Invalid value: 2 prefixes of one family: "
     "Windows supports one per node",
     ""},
    {NODE "artifacts: {mirror: 'http://x'}\n",
     "f: line 3 column 21: artifacts.mirror: Invalid value: 'http://x': its server must "
     "be an https URL",
     ""},
    {NODE "artifacts: {kubernetesVersion: v1.3}\n",
     "f: line 3 column 32: artifacts.kubernetesVersion: Invalid value: \"v1.3\": a "
     "Kubernetes version must be complete, like v1.37.1",
     ""},
    {NODE "verify: {external: {ip: abc}}\n",
     "f: line 3 column 25: verify.external.ip: Invalid value: \"abc\": not an address like "
     "192.0.2.1 or 192.0.2.1:443",
     ""},
    {NODE "verify: {external: {ip: '192.0.2.1:0'}}\n",
     "f: line 3 column 25: verify.external.ip: Invalid value: \"192.0.2.1:0\": not an address like "
     "192.0.2.1 or 192.0.2.1:443",
     ""},
    {NODE "verify: {external: {dns: '[::1]x'}}\n",
     "f: line 3 column 26: verify.external.dns: Invalid value: \"[::1]x\": not an address like "
     "192.0.2.1 or 192.0.2.1:443",
     ""},
    {NODE "verify: {external: {name: a b}}\n",
     "f: line 3 column 27: verify.external.name: Invalid value: \"a b\": not a name like "
     "example.com or example.com:443",
     ""},
    {NODE "verify: {timeout: 0s}\n",
     "f: line 3 column 19: verify.timeout: Invalid value: \"0s\": must be more than 0", ""},
    {NODE "services: {kubelet: {extraArgs: [--v=4, v=5]}}\n",
     "f: line 3 column 41: services.kubelet.extraArgs[1]: Invalid value: \"v=5\": not an argument "
     "like --v=4",
     ""},
    {NODE "services: {kubelet: {extraArgs: [--node-ip=10.0.0.1]}}\n",
     "f: line 3 column 34: services.kubelet.extraArgs[0]: Invalid value: \"--node-ip\": give it to "
     "the join as --node-ip",
     ""},
    {NODE "services: {kubelet: {extraArgs: [--cgroup-driver=systemd]}}\n",
     "f: line 3 column 34: services.kubelet.extraArgs[0]: Invalid value: \"--cgroup-driver\": a "
     "setting of Linux nodes",
     ""},
    {NODE "services: {kubelet: {extraArgs: [--node-labels=x.k8s.io/y=]}}\n",
     "f: line 3 column 34: services.kubelet.extraArgs[0]: Invalid value: --node-labels: "
     "x.k8s.io/y=: a node is not allowed to set this label on itself",
     "an administrator can set it: kubectl label node <name> x.k8s.io/y="},
    {NODE "services: {kubelet: {extraArgs: ['--v 5']}}\n",
     "f: line 3 column 34: services.kubelet.extraArgs[0]: Invalid value: \"--v 5\": not an "
     "argument like --v=4",
     ""},
    {NODE "network: {name: \"a\\nb\"}\n",
     "f: line 3 column 17: network.name: Invalid value: \"a\\nb\": contains a control character",
     ""},
    {NODE "artifacts: {kubernetesVersion: v1.37.1x}\n",
     "f: line 3 column 32: artifacts.kubernetesVersion: Invalid value: \"v1.37.1x\": a "
     "Kubernetes version must be complete, like v1.37.1",
     ""},
    {NODE "services: {flanneld: {extraArgs: []}}\n",
     "f: line 3 column 23: unknown field \"services.flanneld.extraArgs\"", ""},
    {"\xff\xfe\x61", "f: the file is UTF-16: save it as UTF-8", ""},
};

/* Values that cannot stand together, or that no network can have. */
#define NETWORK "f: line 3 column 10: network: "
static const struct bad bad_networks[] = {
    {NODE "network: {vni: 1}\n",
     "f: line 3 column 16: network.vni: Invalid value: 1: must be between 4096 and 16777215", ""},
    {NODE "network: {mode: l2bridge, plugin: win-overlay}\n",
     NETWORK
     "network plugin 'win-overlay' works in mode overlay, not in 'l2bridge': there use win-bridge",
     ""},
    {NODE "network: {mode: overlay, dualStack: 'on'}\n",
     NETWORK "dual stack is not possible: overlay networks on Windows are IPv4 only", ""},
    {NODE "network: {plugin: flannel, vxlanPort: 9898}\n",
     NETWORK "VXLAN port 9898 is not possible: flannel on Windows works with 4789 only", ""},
    {NODE "network: {name: a/b}\n",
     NETWORK "network name 'a/b' is not possible: it must be 1 to 128 characters without \\ / : * "
             "? \" < > | "
             "and line breaks",
     ""},
    {NODE "network: {podCIDRs: [10.96.1.0/24], serviceCIDRs: [10.96.0.0/12]}\n",
     NETWORK "pod prefix of the node 10.96.1.0/24 overlaps service prefix 10.96.0.0/12",
     "pods, services and the nodes' network must not overlap"},
    {NODE "network: {podCIDRs: [0.0.0.0/0]}\n",
     NETWORK "pod prefix of the node 0.0.0.0/0 holds every address", ""},
    {NODE "network: {serviceCIDRs: [224.0.0.0/4]}\n",
     NETWORK "service prefix 224.0.0.0/4 overlaps 224.0.0.0/4, the multicast addresses", ""},
    {NODE "network: {podCIDRs: [127.0.0.0/8]}\n",
     NETWORK "pod prefix of the node 127.0.0.0/8 overlaps 127.0.0.0/8, the loopback addresses", ""},
    {NODE "network: {podCIDRs: ['fd00::/64']}\n",
     NETWORK "pod prefix 'fd00::/64' is IPv6; Windows nodes need an IPv4 one", ""},
    {NODE "network: {serviceCIDRs: ['fd00::/112']}\n",
     NETWORK "service prefixes: 'fd00::/112' is IPv6 only; Windows nodes need an IPv4 prefix",
     "dual stack works: name an IPv4 prefix, too"},
};

static void refuse_all(const struct bad *rows, size_t count) {
    for (size_t i = 0; i < count; i++)
        refused_as(rows[i].text, CONFIG_JOIN, rows[i].message, rows[i].hint);
}

static void bad_files(void **state) {
    (void)state;
    refuse_all(bad_documents, ARRAY_SIZE(bad_documents));
    refuse_all(bad_fields, ARRAY_SIZE(bad_fields));
    refuse_all(bad_versions, ARRAY_SIZE(bad_versions));
    refuse_all(bad_node_configurations, ARRAY_SIZE(bad_node_configurations));
    refuse_all(bad_networks, ARRAY_SIZE(bad_networks));
}

static void good_files(void **state) {
    static const struct {
        const char *text;
        bool join, node;
        size_t warnings;
    } rows[] = {
        {V4, true, false, 0},
        {NODE, false, true, 0},
        {"---\n" V4 "---\n" NODE "---\n", true, true, 0},
        {"---\n\n" NODE "--- # and\n" V4, true, true, 0},
        {V3, true, false, 1},
        {V4 "---\n" OTHER, true, false, 1},
        {V4 "---\napiVersion: example.com/v1\nkind: Thing\n", true, false, 1},
        {V4 "---\n" PROXY "modee: 5\n", true, false, 1},
        {V4 "skipPhases:\ntimeouts: null\nnodeRegistration: {name: !!str 12}\ndryRun: y\n", true,
         false, 0},
        {"{\"apiVersion\":\"kubeadm.k8s.io/v1beta4\",\n\t\"kind\":\"JoinConfiguration\",\n\t"
         "\"nodeRegistration\":{\"taints\":[]}}\n",
         true, false, 0},
        {"apiVersion: kubeadm.k8s.io/v1beta4\r\nkind: JoinConfiguration\r\n---\r\n" NODE, true,
         true, 0},
        {"\xef\xbb\xbf" V4, true, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct config_file file = {0};
        struct error err = {0};

        if (config_file_parse(rows[i].text, strlen(rows[i].text), "f", CONFIG_JOIN, &file, &err) <
            0)
            fail_msg("row %zu: %s", i, err.message);
        assert_int_equal(file.join != NULL, rows[i].join);
        assert_int_equal(file.node != NULL, rows[i].node);
        assert_int_equal(file.warnings.count, rows[i].warnings);
        config_file_free(&file);
    }
}

/* A template of the user data that nobody has filled, in whichever field. */
static void unfilled_templates(void **state) {
    static const char name[] =
        "correct the name in the KubeadmConfig, or make the metadata service "
        "give it to cloudbase-init (cloud-init)";
    static const char header[] =
        "the user data must begin with the line \"## template: jinja\", and cloudbase-init (1.1.3 "
        "or "
        "newer) must find the machine's metadata: its log is in C:\\Program Files\\Cloudbase "
        "Solutions\\Cloudbase-Init\\log";

    (void)state;
    refused_as(
        V4 "nodeRegistration:\n  name: 'CI_MISSING_JINJA_VAR/local_hostname'\n", CONFIG_JOIN,
        "f: line 4 column 9: \"CI_MISSING_JINJA_VAR/local_hostname\": the template's variable "
        "\"local_hostname\" was not filled: the metadata of this machine has none of that name",
        name);
    refused_as(
        V4 "nodeRegistration:\n  kubeletExtraArgs:\n  - name: provider-id\n    value: "
           "aws:///ci_missing_jinja_var/zone/i-1\n",
        CONFIG_JOIN,
        "f: line 6 column 12: \"aws:///ci_missing_jinja_var/zone/i-1\": the template's "
        "variable \"zone\" was not filled: the metadata of this machine has none of that name",
        name);
    refused_as(V3 "nodeRegistration:\n  name: '{{ ds.meta_data[\"local_hostname\"] }}'\n",
               CONFIG_JOIN,
               "f: line 4 column 9: \"{{ ds.meta_data[\"local_hostname\"] }}\": the template was "
               "not filled",
               header);
    refused_as(
        V4 "discovery:\n  # {{ not_this }}\n  bootstrapToken:\n    token: {{ kubeadm_token }}\n",
        CONFIG_JOIN, "f: line 6 column 12: \"{{ kubeadm_token }}\": the template was not filled",
        header);
    refused_as(V4 "discovery:\n  bootstrapToken:\n    apiServerEndpoint: {{IP}}:6443\n",
               CONFIG_JOIN, "f: line 5 column 24: \"{{IP}}:6443\": the template was not filled",
               header);
    refused_as("{% if x %}\n" V4 "{% endif %}\n", CONFIG_JOIN,
               "f: line 1 column 1: \"{% if x %}\": the template was not filled", header);
    refused_as(V4 "nodeRegistration: [\n", CONFIG_JOIN,
               "f: line 4 column 1: did not find expected node content", "");
    refused_as(
        V4 "timeouts: {discovery: '${WAIT:-5m}'}\n", CONFIG_JOIN,
        "f: line 3 column 23: \"${WAIT:-5m}\": the template was not filled",
        "where Ansible, clusterctl or another tool fills it: that has to run before; winjoin "
        "fills no template");
    refused_as(
        "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nnetwork:\n  adapter: "
        "'${NIC}'\n",
        CONFIG_JOIN, "f: line 4 column 12: \"${NIC}\": the template was not filled",
        "where Ansible, clusterctl or another tool fills it: that has to run before; winjoin "
        "fills no template");
    refused_as(
        "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nnetwork:\n  adapter: "
        "NIC <no value>\n",
        CONFIG_JOIN, "f: line 4 column 12: \"NIC <no value>\": the template was not filled",
        "where Ansible, clusterctl or another tool fills it: that has to run before; winjoin "
        "fills no template");
    refused_as("apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nnetwork:\n  adapter: "
               "<the adapter>\n",
               CONFIG_JOIN, "f: line 4 column 12: \"<the adapter>\": the template was not filled",
               "put the value there; endpoint, token and hash are printed on a control plane node: "
               "kubeadm "
               "token create --print-join-command");
}

/* The two forms of kubeletExtraArgs, each in the version of the other. */
static void arguments_of_the_other_version(void **state) {
    (void)state;
    refused_as(V4 "nodeRegistration:\n  kubeletExtraArgs:\n    cloud-provider: external\n",
               CONFIG_JOIN,
               "f: line 5 column 5: nodeRegistration.kubeletExtraArgs: must be a list of objects",
               "since kubeadm.k8s.io/v1beta4 it is a list: kubeletExtraArgs: [{name: "
               "cloud-provider, value: \"external\"}]");
    refused_as(V3 "nodeRegistration:\n  kubeletExtraArgs: [{name: a, value: b}]\n", CONFIG_JOIN,
               "f: line 4 column 21: nodeRegistration.kubeletExtraArgs: must be an object with "
               "string values",
               "a list is the form of kubeadm.k8s.io/v1beta4: write that as apiVersion");
}

static void strict_about_kinds_when_validating(void **state) {
    (void)state;
    refused_as(V4 "---\napiVersion: example.com/v1\nkind: Thing\n", CONFIG_KNOWN,
               "f: line 5 column 7: unknown configuration API \"example.com/v1\", kind \"Thing\"",
               "");
}

static void limits(void **state) {
    struct text many = {0};
    struct config_file file = {0};
    struct error err = {0};

    (void)state;
    for (int i = 0; i < 40; i++)
        text_addf(&many, "---\napiVersion: a/b\nkind: K%d\n", i);
    assert_int_equal(config_file_parse(text_str(&many), many.len, "f", CONFIG_JOIN, &file, &err),
                     -1);
    assert_string_equal(err.message, "f: more than 32 documents");
    assert_int_equal(config_file_parse("", CONFIG_FILE_MAX + 1, "f", CONFIG_JOIN, &file, &err), -1);
    assert_string_equal(err.message, "f: longer than 1 MiB");
    text_clear(&many);
    text_add(&many, V4);
    while (many.len < CONFIG_FILE_MAX)
        text_add(&many, "#");
    assert_int_equal(config_file_parse(text_str(&many), many.len, "f", CONFIG_JOIN, &file, &err),
                     0);
    config_file_free(&file);
    text_free(&many);
}

/* What config print prints must be right. */
static void defaults_are_good(void **state) {
    struct config_file file = {0};
    struct error err = {0};

    (void)state;
    for (const struct template *t = templates; t->name; t++)
        if (strcmp(t->name, "join-defaults.yaml") == 0)
            assert_int_equal(config_file_parse(t->data, t->len, "d", CONFIG_KNOWN, &file, &err), 0);
    assert_non_null(file.join);
    assert_non_null(file.node);
    assert_int_equal(file.warnings.count, 0);
    assert_int_equal(join_configuration_check(file.join, &file.yaml, NULL, &err), 0);
    config_file_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_files),
        cmocka_unit_test(good_files),
        cmocka_unit_test(unfilled_templates),
        cmocka_unit_test(arguments_of_the_other_version),
        cmocka_unit_test(strict_about_kinds_when_validating),
        cmocka_unit_test(limits),
        cmocka_unit_test(defaults_are_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
