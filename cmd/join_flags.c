/* The flags of join: kubeadm's own, with its meaning, and winjoin's. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cmd/program.h"

enum { TOKEN_FILE_MAX = 4096 };

#define AT(field) offsetof(struct program_options, join.field)

const struct option join_kubeadm_options[] = {
    {"config", 0, OPTION_TEXT, AT(config), "FILE",
     "JoinConfiguration and NodeConfiguration (not in this version)", OPTION_WITH_CONFIG},
    {"cri-socket", 0, OPTION_TEXT, AT(cri_socket), "SOCKET",
     "container runtime (default npipe:////./pipe/containerd-containerd)", OPTION_KUBEADM},
    {"discovery-file", 0, OPTION_TEXT, AT(discovery_file), "FILE",
     "kubeconfig to find the cluster by, instead of a token", OPTION_KUBEADM},
    {"discovery-token", 0, OPTION_SECRET, AT(discovery_token), "TOKEN", "token for discovery alone",
     OPTION_KUBEADM},
    {"discovery-token-ca-cert-hash", 0, OPTION_LIST, AT(discovery_token_ca_cert_hash), "HASH",
     "pin of the cluster's CA, \"sha256:<hex>\"; may be repeated", OPTION_KUBEADM},
    {"discovery-token-unsafe-skip-ca-verification", 0, OPTION_BOOL,
     AT(discovery_token_unsafe_skip_ca_verification), "", "trust the token alone, without a pin",
     OPTION_KUBEADM},
    {"dry-run", 0, OPTION_BOOL, AT(dry_run), "", "print what would be done; change nothing",
     OPTION_KUBEADM | OPTION_WITH_CONFIG},
    {"ignore-preflight-errors", 0, OPTION_LIST, AT(ignore_preflight_errors), "CHECK",
     "checks whose errors become warnings; \"all\" for all", OPTION_KUBEADM | OPTION_WITH_CONFIG},
    {"node-name", 0, OPTION_TEXT, AT(node_name), "NAME",
     "name of the Node (default: the host name in lower case)",
     OPTION_KUBEADM | OPTION_WITH_CONFIG},
    {"patches", 0, OPTION_TEXT, AT(patches), "DIR",
     "folder with kubeletconfiguration patches (not in this version)", OPTION_KUBEADM},
    {"skip-phases", 0, OPTION_LIST, AT(skip_phases), "PHASE",
     "phases to leave out (winjoin join phase list)", OPTION_KUBEADM | OPTION_WITH_CONFIG},
    {"tls-bootstrap-token", 0, OPTION_SECRET, AT(tls_bootstrap_token), "TOKEN",
     "token for the TLS bootstrap alone", OPTION_KUBEADM},
    {"token", 0, OPTION_SECRET, AT(token), "TOKEN",
     "bootstrap token, \"<id>.<secret>\"; \"-\" reads it from standard input", OPTION_KUBEADM},
    {0},
};

const struct option join_own_options[] = {
    {"token-file", 0, OPTION_TEXT, AT(token_file), "FILE", "read the bootstrap token from a file",
     0},
    {"network-mode", 0, OPTION_CHOICE, AT(network_mode),
     "l2bridge|l2tunnel|overlay|transparent|nat",
     "how pods are connected (default: what the cluster's flannel says, else overlay)", 0},
    {"network-plugin", 0, OPTION_CHOICE, AT(network_plugin),
     "win-bridge|win-overlay|flannel|azure-vnet|ovn-kubernetes|sdnbridge|sdnoverlay|nat",
     "who makes the pods' endpoints and the ways to other nodes", 0},
    {"network-name", 0, OPTION_TEXT, AT(network_name), "NAME",
     "HNS network (default flannel.<VNI> or cbr0)", 0},
    {"adapter", 0, OPTION_TEXT, AT(adapter), "NAME",
     "network card under the vSwitch (default: the one with the default route)", 0},
    {"pod-cidr", 0, OPTION_TEXT, AT(pod_cidr), "CIDR",
     "this node's pod subnet (default: the Node's podCIDR)", 0},
    {"vni", 0, OPTION_NUMBER, AT(vni), "N", "overlay: VXLAN network id, 4096 or more", 0},
    {"vxlan-port", 0, OPTION_NUMBER, AT(vxlan_port), "PORT", "overlay: UDP port (default 4789)", 0},
    {"node-ip", 0, OPTION_TEXT, AT(node_ip), "IP", "the node's address (default: that of the card)",
     0},
    {"kubernetes-version", 0, OPTION_TEXT, AT(kubernetes_version), "VERSION",
     "version of the programs to lay (default: the cluster's) (not in this version)", 0},
    {"bundle", 0, OPTION_TEXT, AT(bundle), "FILE",
     "folder or .zip with the node's programs and winjoin.lock", 0},
    {"mirror", 0, OPTION_TEXT, AT(mirror), "URL",
     "where programs are fetched from (not in this version)", 0},
    {"kube-proxy", 0, OPTION_CHOICE, AT(kube_proxy), "service|none",
     "run kube-proxy as a service, or leave it to the cluster", 0},
    {"dsr", 0, OPTION_CHOICE, AT(dsr), "auto|on|off", "direct server return", 0},
    {"verify", 0, OPTION_CHOICE, AT(verify), "full|node|none",
     "prove the pod network: all flows, those inside the cluster, none", 0},
    {"tls-bootstrap", 0, OPTION_CHOICE, AT(tls_bootstrap), "winjoin|kubelet",
     "who asks for the client certificate (this version: winjoin)", 0},
    {"node-labels", 0, OPTION_TEXT, AT(node_labels), "LABELS", "labels the kubelet registers with",
     0},
    {"register-with-taints", 0, OPTION_TEXT, AT(register_with_taints), "TAINTS",
     "taints the kubelet registers with", 0},
    {"timeout", 0, OPTION_DURATION, AT(timeout), "DURATION", "limit of discovery (default 5m)", 0},
    {0},
};

void join_expand_pasted(int argc, char *const *argv, struct text_list *ret) {
    for (int i = 0; i < argc; i++) {
        bool pasted = strstr(argv[i], "kubeadm join ") != NULL;
        _cleanup_(freep) char *line = xstrdup(argv[i]);

        if (!pasted) {
            text_list_add(ret, argv[i]);
            continue;
        }
        for (char *p = line; *p; p++)
            if (strchr("\t\r\n", *p))
                *p = ' ';
        text_list_split(ret, line, ' ');
    }
}

/* "kubeadm join <ip>:6443 --token ..." may be pasted whole behind "winjoin join": its words go. */
static void drop_pasted_words(struct text_list *words) {
    static const char *const pasted[] = {"sudo", "kubeadm", "join", "\\"};
    size_t kept = 0;

    for (size_t i = 0; i < words->count; i++) {
        bool drop = false;

        for (size_t p = 0; p < ARRAY_SIZE(pasted); p++)
            drop |= text_equal(words->items[i], pasted[p]);
        if (drop)
            freep(&words->items[i]);
        else
            words->items[kept++] = words->items[i];
    }
    words->count = kept;
    if (words->items)
        words->items[kept] = NULL;
}

static char *trim(char *s) {
    size_t len = strlen(s);

    while (len && strchr(" \t\r\n", s[len - 1]))
        s[--len] = '\0';
    return s;
}

static char *read_standard_input(void) {
    char *data = xcalloc(TOKEN_FILE_MAX + 1, 1);

    data[fread(data, 1, TOKEN_FILE_MAX, stdin)] = '\0';
    return data;
}

/* Paths that a person gave are relative to where winjoin was started. */
static void make_absolute(char **path) {
    char *full;

    if (!*path || text_equal(*path, "-"))
        return;
    full = terminal_full_path(*path);
    free(*path);
    *path = full;
}

static int read_token_file(struct program *program, const char *path, struct error *err) {
    struct join_options *o = &program->options.join;
    _cleanup_(secret_freep) char *data = NULL;
    size_t len;

    if (text_equal(path, "-"))
        data = read_standard_input();
    else if (host_read(program->host, path, TOKEN_FILE_MAX, &data, &len, err) < 0)
        return error_prefix(err, "read the token");
    secret_freep(&o->token);
    o->token = xstrdup(trim(data));
    log_hide_secret(o->token);
    return 0;
}

int program_prepare_join(struct program *program, struct error *err) {
    struct join_options *o = &program->options.join;

    drop_pasted_words(&program->words);
    if (program->words.count > 1)
        return error_set(err, ERROR_USAGE, "accepts at most 1 arg(s), received %zu",
                         program->words.count);
    if (program->words.count)
        o->endpoint = xstrdup(program->words.items[0]);
    make_absolute(&o->token_file);
    make_absolute(&o->bundle);
    make_absolute(&o->discovery_file);
    if (text_equal(o->token, "-") && read_token_file(program, "-", err) < 0)
        return -1;
    if (o->token_file && read_token_file(program, o->token_file, err) < 0)
        return -1;
    return join_options_check(o, err);
}
