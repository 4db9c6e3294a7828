/* The text files that a join writes on the node. */
#include "join/files/node_files.h"

#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/programs/programs.h"
#include "join/undo/written.h"
#include "netsetup/agents/external_agent.h"
#include "netsetup/cni_config.h"
#include "node/chosen.h"
#include "pki/certificate.h"
#include "services/artifacts/program_image.h"
#include "services/runtime_files.h"
#include "services/version.h"

/* 1.x and 2.x read files of different shapes; one that does not say is taken for the newer. */
static unsigned installed_major(struct host *host) {
    _cleanup_(freep) char *version = NULL;

    return program_version_read(host, service_containerd.program, true, &version, ERROR_IGNORED) > 0
               ? containerd_major(version)
               : 0;
}

/* The text of containerd's config.toml: of the one that stands there root, state, imports and
 * config_path are kept. The caller frees. */
static char *containerd_file_make(struct host *host, struct join_found *found) {
    _cleanup_(containerd_settings_free) struct containerd_settings here = {0}, all = {0};
    _cleanup_(freep) char *image = programs_sandbox_image(host, found);

    (void)containerd_settings_read(host, CONTAINERD_CONFIG_PATH, false, &here, ERROR_IGNORED);
    /* imports that a stranger may have written, or that nobody can read, are not passed on */
    if (containerd_settings_read(host, CONTAINERD_CONFIG_PATH, true, &all, ERROR_IGNORED) < 0)
        text_list_free(&here.imports);
    return containerd_config_make(&(struct containerd_config){
        .sandbox_image = image,
        .major = installed_major(host),
        .root = here.root,
        .state = here.state,
        /* containerd does not start with both */
        .registries = all.imports_mirrors ? "" : here.registries,
        .imports = here.imports,
    });
}

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
    array_add(files->items, files->count,
              (struct node_file){.path = xstrdup(path), .text = text, .access = access});
}

static void add_kubelet_flags(struct host *host, struct join_found *found, struct node_files *ret) {
    struct kubelet_flags_input input = {
        .version = programs_kubelet_version(host, found),
        .node_name = found->node_name,
        .host_name = found->facts.host_name,
        .taints = found->options.register_with_taints,
        .node_ip = found->node_ips,
        .node_labels = found->options.node_labels,
        .cri_socket = found->options.cri_socket,
        .extra = &found->options.kubelet_extra_args,
    };
    _cleanup_(text_list_free) struct text_list flags = {0};

    kubelet_flags_make(&input, &flags);
    add(ret, KUBELET_FLAGS_FILE, HOST_PUBLIC, kubelet_flags_text(&flags));
    if (kubelet_has_instance_config(input.version))
        add(ret, KUBELET_INSTANCE_CONFIG_FILE, HOST_PUBLIC,
            kubelet_instance_config_text(found->options.cri_socket));
}

void node_files_containerd(struct host *host, struct join_found *found, struct node_files *ret) {
    if (!found->containerd.foreign) /* one that the image brought has its own */
        add(ret, CONTAINERD_CONFIG_PATH, HOST_PUBLIC, containerd_file_make(host, found));
}

void node_files_kubernetes(struct host *host, struct join_found *found, struct node_files *ret) {
    _cleanup_(freep) char *ca_file = join_ca_file(&found->options);

    add(ret, ca_file, HOST_PUBLIC, xstrdup(found->client.ca_pem));
    if (!join_kubelet_bootstraps(host, found)) /* else the kubelet writes it itself */
        add(ret, KUBELET_KUBECONFIG_FILE, HOST_SECRET,
            kubeconfig_make_kubelet(found->client.server, found->client.ca_pem,
                                    KUBELET_CLIENT_CERTIFICATE_FILE));
    add(ret, KUBELET_CONFIG_FILE, HOST_PUBLIC, yaml_write(found->kubelet_config));
    add_kubelet_flags(host, found, ret);
    node_files_containerd(host, found, ret);
}

static void add_kubeconfig(const struct join_found *found, const char *path, const char *user,
                           struct node_files *ret) {
    add(ret, path, HOST_SECRET,
        kubeconfig_make_client(found->client.server, found->client.ca_pem, user,
                               KUBELET_CLIENT_CERTIFICATE_FILE));
}

int node_files_kube_proxy(struct host *host, struct join_found *found, struct node_files *ret,
                          struct error *err) {
    const struct network_plan *p = &found->plan;
    _cleanup_(freep) char *cidrs =
        p->agent->subnet_annotation ? xstrdup(p->pod_cidr) /* other pods' are not the cluster's */
                                    : text_list_join(&p->cluster_pod_cidrs, ",");
    struct kube_proxy_config input = {
        .version = programs_kube_proxy_version(host, found),
        .kubeconfig = KUBE_PROXY_KUBECONFIG_PATH,
        .node_name = found->node_name,
        .node_ip = found->node_ip,
        .cluster_cidr = cidrs,
        .network_name = p->name,
        .source_vip = p->pod_cidr_known || !p->mode->source_vip ? p->source_vip
                                                                : p->pod_cidr, /* "<podCIDR>" */
        .root_endpoint = p->host_endpoint_name,
        .needs_source_vip = p->mode->source_vip,
        .dsr = p->dsr,
    };
    char *text = NULL;

    if (kube_proxy_config_make(&input, &text, err) < 0)
        return -1;
    add(ret, KUBE_PROXY_CONFIG_PATH, HOST_PUBLIC, text);
    add_kubeconfig(found, KUBE_PROXY_KUBECONFIG_PATH, "kube-proxy", ret);
    return 0;
}

void node_files_agent(const struct join_found *found, struct node_files *ret) {
    const struct network_plan *p = &found->plan;

    if (p->agent->settings_path)
        add(ret, p->agent->settings_path, HOST_PUBLIC, p->agent->settings_make(p));
    if (p->agent->kubeconfig_path)
        add_kubeconfig(found, p->agent->kubeconfig_path, p->agent->kubeconfig_user, ret);
}

void node_files_chosen(const struct join_found *found, json_t *peers, struct node_files *ret) {
    const struct network_plan *p = &found->plan;
    const char *socket = found->options.cri_socket;
    _cleanup_(freep) char *ca_file = join_ca_file(&found->options);
    struct chosen chosen = {.node = found->node_name,
                            .cri_socket = socket ? socket : KUBELET_CRI_SOCKET,
                            .ca_cert_path = ca_file,
                            .kube_proxy =
                                programs_wanted(found, &service_kube_proxy) ? NULL : "none",
                            .network = {
                                .mode = p->mode->name,
                                .plugin = p->plugin,
                                .external = p->external ? p->external->name : NULL,
                                .name = p->name,
                                .adapter = p->adapter,
                                .pod_cidr = p->pod_cidr,
                                .pod_cidr6 = p->ipv6.on ? p->ipv6.pod_cidr : NULL,
                                .cluster_pod_cidrs = p->cluster_pod_cidrs,
                                .service_cidrs = p->service_cidrs,
                                .management = found->nic.address,
                                .management6 = p->ipv6.on ? found->nic.address6 : NULL,
                                .vni = p->vni,
                                .vxlan_port = p->vxlan_port,
                                .dns_domain = p->dns_domain,
                                .dns_servers = p->dns_servers,
                                .exclude_from_nat = found->options.exclude_from_nat,
                                .hns = found->hns,
                                .dsr = p->dsr ? "on" : "off",
                                .routes = p->routes,
                            }};
    _cleanup_json_ json_t *json = chosen_json(&chosen);

    if (peers)
        json_object_set(json, "peers", peers);
    add(ret, CHOSEN_FILE, HOST_SECRET, json_write_pretty(json));
}

void node_files_cni(const struct network_plan *plan, struct node_files *ret) {
    _cleanup_(freep) char *path = cni_config_path(plan);

    add(ret, path, HOST_PUBLIC, cni_config_make(plan));
}

static int record(struct journal *journal, const struct node_files *files, struct error *err) {
    int result = 0;

    journal_hold(journal);
    for (size_t i = 0; i < files->count && result == 0; i++)
        result = journal_file(journal, files->items[i].path, err);
    return journal_write_down(journal, result < 0 ? NULL : err) < 0 ? -1 : result;
}

int node_files_write(struct journal *journal, const struct node_files *files, struct error *err) {
    if (record(journal, files, err) < 0)
        return -1;
    for (size_t i = 0; i < files->count; i++) {
        const struct node_file *f = &files->items[i];

        if (journal_write(journal, f->path, f->text, strlen(f->text), f->access, err) < 0)
            return -1;
        written_file(journal, f->path, f->text, strlen(f->text));
    }
    return 0;
}

/* ---- ca.crt ---- */

enum { CA_FILE_MAX = 1024 * 1024, TOLD_MAX = 3 };

/* *ret is empty when the text holds no certificate. */
static void read_pem(const char *pem, size_t len, struct certificates *ret) {
    *ret = (struct certificates){0};
    (void)certificates_parse(pem, len, ret, ERROR_IGNORED); /* no certificate is an answer, too */
}

/* false when there is no file. One that cannot be read is taken for one without certificates:
 * laying the right one will say why. */
static bool read_file(struct host *host, const char *path, struct certificates *ret) {
    _cleanup_(freep) char *pem = NULL;
    struct error why = {0};
    size_t len = 0;

    if (host_read(host, path, CA_FILE_MAX, &pem, &len, &why) < 0 && why.kind == ERROR_ABSENT)
        return false;
    read_pem(pem ? pem : "", len, ret);
    return true;
}

static char *describe(const struct certificates *all) {
    struct text out = {0};

    if (!all->count)
        return xstrdup("no certificate");
    for (size_t i = 0; i < all->count && i < TOLD_MAX; i++) {
        text_addf(&out, "%s%s (CN=", i ? ", " : "", all->items[i].pin);
        text_add_escaped(&out, all->items[i].common_name, strlen(all->items[i].common_name));
        text_add_char(&out, ')');
    }
    if (all->count > TOLD_MAX)
        text_addf(&out, " and %zu more", all->count - TOLD_MAX);
    return text_take(&out);
}

static bool has_all(const struct certificates *all, const struct certificates *wanted) {
    for (size_t i = 0; i < wanted->count; i++) {
        bool found = false;

        for (size_t k = 0; k < all->count && !found; k++)
            found = text_equal(all->items[k].pin, wanted->items[i].pin);
        if (!found)
            return false;
    }
    return true;
}

char *ca_file_describe(struct host *host, const char *path) {
    _cleanup_(certificates_free) struct certificates found = {0};

    return read_file(host, path, &found) ? describe(&found) : NULL;
}

char *ca_file_difference(struct host *host, const char *path, const char *proven_pem) {
    _cleanup_(certificates_free) struct certificates found = {0}, proven = {0};
    _cleanup_(freep) char *is = NULL, *should = NULL;

    if (!proven_pem || !read_file(host, path, &found))
        return NULL;
    read_pem(proven_pem, strlen(proven_pem), &proven);
    if (has_all(&found, &proven) && has_all(&proven, &found))
        return NULL;
    is = describe(&found);
    should = describe(&proven);
    return xasprintf("'%s' contains %s; the cluster's verified CA is %s", path, is, should);
}

void ca_file_warn(struct host *host, const struct join_found *found,
                  struct join_progress *progress) {
    _cleanup_(freep) char *path = join_ca_file(&found->options);
    _cleanup_(freep) char *difference = ca_file_difference(host, path, found->client.ca_pem);

    if (difference)
        join_warn(progress, "%s, which replaces it (winjoin reset restores the old file)",
                  difference);
}
