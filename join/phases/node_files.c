/* The text files that a join lays on the node. */
#include "join/phases/node_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/memory.h"
#include "join/phases/boot_network.h"
#include "join/phases/ca_file.h"
#include "join/phases/kubelet_bootstrap.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/programs.h"
#include "netsetup/cni_config.h"
#include "services/runtime_files.h"
#include "services/version.h"

enum { VERSION_TIMEOUT_MS = 20000 };

void node_files_free(struct node_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].path);
        free(files->items[i].text);
    }
    free(files->items);
    *files = (struct node_files){0};
}

/* Takes over the text. */
static void add(struct node_files *files, const char *path, enum host_access access, char *text) {
    files->items = xrealloc(files->items, (files->count + 1) * sizeof *files->items);
    files->items[files->count++] =
        (struct node_file){.path = xstrdup(path), .text = text, .access = access};
}

static void add_kubelet_flags(struct join *join, struct node_files *ret) {
    struct kubelet_flags_input input = {
        .version = programs_kubelet_version(join),
        .node_name = join->node_name,
        .host_name = join->facts.host_name,
        .taints = join->options->register_with_taints,
        .node_ip = join_node_ip(join),
        .node_labels = join->options->node_labels,
        .cri_socket = join->options->cri_socket,
        .extra = &join->options->kubelet_extra_args,
    };
    struct text_list flags = {0};

    kubelet_flags_make(&input, &flags);
    add(ret, KUBELET_FLAGS_FILE, HOST_PUBLIC, kubelet_flags_text(&flags));
    text_list_free(&flags);
    if (kubelet_has_instance_config(input.version))
        add(ret, KUBELET_INSTANCE_CONFIG_FILE, HOST_PUBLIC,
            kubelet_instance_config_text(join->options->cri_socket));
}

/* 1.x and 2.x read files of different shapes; one that does not say is taken for the newer. */
static unsigned installed_containerd(struct join *join) {
    const char *const argv[] = {service_program(SERVICE_CONTAINERD), "--version", NULL};
    struct host_process process = {.argv = argv, .timeout_ms = VERSION_TIMEOUT_MS};
    _cleanup_(freep) char *output = NULL;
    struct error ignored = {0};
    int code;

    if (host_run(join->host, &process, &code, &output, &ignored) < 0 || code != 0)
        return 0;
    return containerd_major(output);
}

/* A ca.crt of another cluster makes kubelets fail in ways that nobody reads right: said, and not
 * kept. */
static void tell_other_ca(struct join *join) {
    _cleanup_(freep) char *difference = ca_file_difference(join);

    if (difference)
        join_warn(join, "%s, which takes its place (winjoin reset puts back what was found)",
                  difference);
}

int node_files_kubernetes(struct join *join, struct node_files *ret, struct error *err) {
    struct containerd_config containerd = {.cni_bin_dir = CNI_BIN_DIR,
                                           .cni_conf_dir = CNI_CONF_DIR};
    _cleanup_(freep) char *ca_file = NULL;

    if (join_need_plan(join, err) < 0 || join_need_kubelet_config(join, err) < 0)
        return -1;
    tell_other_ca(join);
    ca_file = join_ca_file(join);
    containerd.major = installed_containerd(join);
    add(ret, ca_file, HOST_PUBLIC, xstrdup(join->client.ca_pem));
    if (!kubelet_bootstrap_is_needed(join)) /* else the kubelet writes it itself */
        add(ret, KUBELET_KUBECONFIG_FILE, HOST_SECRET,
            kubeconfig_make_kubelet(join->client.server, join->client.ca_pem,
                                    KUBELET_CLIENT_CERTIFICATE_FILE));
    add(ret, KUBELET_CONFIG_FILE, HOST_PUBLIC, kubelet_config_text(join->kubelet_config));
    add_kubelet_flags(join, ret);
    add(ret, CONTAINERD_CONFIG_PATH, HOST_PUBLIC, containerd_config_make(&containerd));
    return 0;
}

static void add_kubeconfig(struct join *join, const char *path, const char *user,
                           struct node_files *ret) {
    _cleanup_(freep) char *ca = base64_encode(join->client.ca_pem, strlen(join->client.ca_pem));
    struct client_kubeconfig input = {
        .server = join->client.server,
        .ca_data = ca,
        .client_certificate = KUBELET_CLIENT_CERTIFICATE_FILE,
        .user = user,
    };

    add(ret, path, HOST_SECRET, client_kubeconfig_make(&input));
}

int node_files_kube_proxy(struct join *join, struct node_files *ret, struct error *err) {
    const struct network_plan *p = &join->plan;
    _cleanup_(freep) char *cidrs = text_list_join(&p->cluster_pod_cidrs, ",");
    _cleanup_(freep) char *version = programs_version(join, SERVICE_KUBE_PROXY);
    struct kube_proxy_config input = {
        .version = version ? version : join->cluster.kubernetes_version,
        .kubeconfig = KUBE_PROXY_KUBECONFIG_PATH,
        .node_name = join->node_name,
        .node_ip = join_node_ip(join),
        .cluster_cidr = cidrs,
        .network_name = p->name,
        .source_vip = p->pod_cidr_known ? p->source_vip : p->pod_cidr, /* "<podCIDR>" */
        .root_endpoint = p->host_endpoint_name,
        .overlay = p->mode == NETWORK_OVERLAY,
        .dsr = p->dsr,
    };
    char *text = NULL;

    if (kube_proxy_config_make(&input, &text, err) < 0)
        return -1;
    add(ret, KUBE_PROXY_CONFIG_PATH, HOST_PUBLIC, text);
    add_kubeconfig(join, KUBE_PROXY_KUBECONFIG_PATH, "kube-proxy", ret);
    return 0;
}

int node_files_flannel(struct join *join, struct node_files *ret, struct error *err) {
    const struct network_plan *p = &join->plan;
    struct flannel_net_conf conf = {
        .network = p->cluster_pod_cidrs.count ? p->cluster_pod_cidrs.items[0] : p->pod_cidr,
        .backend = p->mode == NETWORK_OVERLAY ? "vxlan" : "host-gw",
        .name = p->name,
        .vni = p->vni,
        .port = p->vxlan_port,
    };

    (void)err; /* nothing of it can fail yet */
    add(ret, FLANNEL_NET_CONF_PATH, HOST_PUBLIC, flannel_net_conf_make(&conf));
    add_kubeconfig(join, FLANNELD_KUBECONFIG_PATH, "flannel", ret);
    return 0;
}

int node_files_boot_network(struct join *join, json_t *peers, struct node_files *ret,
                            struct error *err) {
    const struct network_plan *p = &join->plan;
    struct network_input input = {
        .mode = network_mode_name(p->mode),
        .plugin = network_plugin_name(p->plugin),
        .name = p->name,
        .adapter = p->adapter,
        .pod_cidr = p->pod_cidr,
        .cluster_pod_cidrs = p->cluster_pod_cidrs,
        .service_cidrs = p->service_cidrs,
        .management = join->nic.address,
        .vni = p->vni,
        .vxlan_port = p->vxlan_port,
        .dns_domain = p->dns_domain,
        .dns_servers = p->dns_servers,
        .exclude_from_nat = join->options->exclude_from_nat,
        .hns = join->hns,
        .dsr = p->dsr ? "on" : "off",
    };
    _cleanup_json_ json_t *json = boot_network_json(&input);

    (void)err;
    if (peers)
        json_object_set(json, "peers", peers);
    add(ret, BOOT_NETWORK_FILE, HOST_SECRET, json_write_pretty(json));
    return 0;
}

int node_files_cni(struct join *join, struct node_files *ret, struct error *err) {
    (void)err;
    add(ret, CNI_CONF_PATH, HOST_PUBLIC, cni_config_make(&join->plan));
    return 0;
}

static int record(struct journal *journal, const struct node_files *files, struct error *err) {
    int result = 0;

    journal_hold(journal);
    for (size_t i = 0; i < files->count && result == 0; i++)
        result = journal_file(journal, files->items[i].path, err);
    return journal_write_down(journal, result < 0 ? NULL : err) < 0 ? -1 : result;
}

int node_files_lay(struct join *join, const struct node_files *files, struct error *err) {
    if (record(&join->journal, files, err) < 0)
        return -1;
    for (size_t i = 0; i < files->count; i++) {
        const struct node_file *f = &files->items[i];

        if (journal_write(&join->journal, f->path, f->text, strlen(f->text), f->access, NULL, err) <
            0)
            return -1;
    }
    return 0;
}
