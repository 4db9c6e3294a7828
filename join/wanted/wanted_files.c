/* The files that a join writes on the node; one row each. */
#include "join/wanted/wanted.h"

#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/programs/programs.h"
#include "join/undo/journal.h"
#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/netsetup.h"
#include "node/chosen.h"
#include "pki/certificate.h"
#include "services/artifacts/program_image.h"
#include "services/runtime_files.h"
#include "services/version.h"

/* Copies winjoin itself to the path at which the services start it as their host. */
static char *winjoin_itself(struct wanting *w) {
    _cleanup_(freep) char *self = host_program_path(w->host);
    char *program = NULL;

    if (!self || text_equal_nocase(self, WINJOIN_PROGRAM))
        return NULL;
    w->result = host_read(w->host, self, ARTIFACT_SIZE_MAX, &program, &w->len, w->err);
    return program;
}

static char *certificate(struct wanting *w) {
    w->path = xstrdup(text_equal(w->found->options.tls_bootstrap, "kubelet")
                          ? KUBELET_BOOTSTRAP_KUBECONFIG_FILE
                          : KUBELET_CLIENT_CERTIFICATE_FILE);
    /* Phase certificate makes this file. */
    return NULL;
}

static char *ca(struct wanting *w) {
    w->path = join_ca_file(&w->found->options);
    return xstrdup(w->found->client.ca_pem);
}

static char *kubelet_kubeconfig(struct wanting *w) {
    if (join_kubelet_bootstraps(w->host, w->found))
        /* The kubelet writes this file itself. */
        return NULL;
    return kubeconfig_make_kubelet(w->found->client.server, w->found->client.ca_pem,
                                   KUBELET_CLIENT_CERTIFICATE_FILE);
}

static char *kubelet_config(struct wanting *w) {
    return yaml_write(w->found->kubelet_config);
}

static char *kubelet_flags(struct wanting *w) {
    struct kubelet_flags_input input = {
        .version = programs_node_version(w->host, w->found, &service_kubelet),
        .node_name = w->found->node_name,
        .host_name = w->found->facts.host_name,
        .taints = w->found->options.register_with_taints,
        .node_ip = w->found->node_ips,
        .node_labels = w->found->options.node_labels,
        .cri_socket = w->found->options.cri_socket,
        .extra = &w->found->options.kubelet_extra_args,
    };

    return kubelet_flags_text(&input);
}

static char *instance_config(struct wanting *w) {
    return kubelet_instance_config_text(programs_node_version(w->host, w->found, &service_kubelet),
                                        w->found->options.cri_socket);
}

/* Makes containerd's configuration. Keeps root, state, imports and config_path of a file. */
static char *containerd_config(struct wanting *w) {
    _cleanup_(containerd_settings_free) struct containerd_settings here = {0}, all = {0};
    _cleanup_(freep) char *image = programs_sandbox_image(w->host, w->found), *version = NULL;
    bool known;

    /* A containerd that was installed before winjoin has its own configuration. */
    if (w->found->containerd.foreign)
        return NULL;
    (void)containerd_settings_read(w->host, CONTAINERD_CONFIG_PATH, false, &here, ERROR_IGNORED);
    /* Imports that an ordinary user may have written, or that cannot be read, are left out. */
    if (containerd_settings_read(w->host, CONTAINERD_CONFIG_PATH, true, &all, ERROR_IGNORED) < 0)
        text_list_free(&here.imports);
    /* containerd 1.x and 2.x need files of different forms. An unknown version counts as 2.x. */
    known = program_version_read(w->host, service_containerd.program, true, &version,
                                 ERROR_IGNORED) > 0;
    return containerd_config_make(&(struct containerd_config){
        .sandbox_image = image,
        .major = known ? containerd_major(version) : 0,
        .root = here.root,
        .state = here.state,
        /* containerd does not start when config_path and mirrors of an imported file are set. */
        .registries = all.imports_mirrors ? "" : here.registries,
        .imports = here.imports,
    });
}

static char *chosen(struct wanting *w) {
    const struct network_plan *p = &w->found->plan;
    struct chosen chosen = {
        .node = w->found->node_name,
        .kube_proxy = programs_wanted(w->found, &service_kube_proxy) ? NULL : "none",
        .network = {
            .mode = p->mode->name,
            .plugin = p->plugin,
            .daemon_set_agent = p->daemon_set_agent ? p->daemon_set_agent->name : NULL,
            .name = p->name,
            .adapter = p->adapter,
            .pod_cidr = p->pod_cidr,
            .pod_cidr6 = p->ipv6.on ? p->ipv6.pod_cidr : NULL,
            .cluster_pod_cidrs = p->cluster_pod_cidrs,
            .service_cidrs = p->service_cidrs,
            .management = w->found->nic.address,
            .management6 = p->ipv6.on ? w->found->nic.address6 : NULL,
            .vni = p->vni,
            .vxlan_port = p->vxlan_port,
            .dns_domain = p->dns_domain,
            .dns_servers = p->dns_servers,
            .exclude_from_nat = w->found->options.exclude_from_nat,
            .hns = w->found->hns,
            .dsr = p->dsr ? "on" : "off",
            .routes = p->routes,
        }};
    _cleanup_json_ json_t *json = chosen_json(&chosen);

    if (w->found->peers)
        json_object_set(json, "peers", w->found->peers);
    return json_write_pretty(json);
}

static char *cni(struct wanting *w) {
    _cleanup_json_ json_t *config = NULL;

    if (w->found->plan.agent->in_cluster)
        return NULL;
    w->path = cni_config_path(&w->found->plan);
    config = cni_config_json(&w->found->plan);
    return json_write_pretty(config);
}

static char *agent_settings(struct wanting *w) {
    const struct network_agent *agent = w->found->plan.agent;

    if (!agent->settings_path)
        return NULL;
    w->path = xstrdup(agent->settings_path);
    return agent->settings_make(&w->found->plan);
}

static char *agent_kubeconfig(struct wanting *w) {
    const struct network_agent *agent = w->found->plan.agent;

    if (!agent->kubeconfig_path)
        return NULL;
    w->path = xstrdup(agent->kubeconfig_path);
    return kubeconfig_make_client(w->found->client.server, w->found->client.ca_pem,
                                  agent->kubeconfig_user, KUBELET_CLIENT_CERTIFICATE_FILE);
}

static char *kube_proxy_config(struct wanting *w) {
    const struct network_plan *p = &w->found->plan;
    /* With an agent that writes the subnet annotation, prefixes of other Pods are not in the
     * cluster's prefixes. */
    _cleanup_(freep) char *cidrs = p->agent->subnet_annotation
                                       ? xstrdup(p->pod_cidr)
                                       : text_list_join(&p->cluster_pod_cidrs, ",");
    struct kube_proxy_config input = {
        .version = programs_node_version(w->host, w->found, &service_kube_proxy),
        .kubeconfig = KUBE_PROXY_KUBECONFIG_PATH,
        .node_name = w->found->node_name,
        .node_ip = w->found->node_ip,
        .cluster_cidr = cidrs,
        .network_name = p->name,
        /* While the Pod prefix is unknown, pod_cidr is the text "<podCIDR>". */
        .source_vip = p->pod_cidr_known || !p->mode->source_vip ? p->source_vip : p->pod_cidr,
        .root_endpoint = p->host_endpoint_name,
        .needs_source_vip = p->mode->source_vip,
        .dsr = p->dsr,
    };
    char *text = NULL;

    w->result = kube_proxy_config_make(&input, &text, w->err);
    return text;
}

static char *kube_proxy_kubeconfig(struct wanting *w) {
    return kubeconfig_make_client(w->found->client.server, w->found->client.ca_pem, "kube-proxy",
                                  KUBELET_CLIENT_CERTIFICATE_FILE);
}

/* The rows in the order in which phases write the files and a dry run shows them. */
static const struct wanted_row rows[] = {
    {"artifacts", WINJOIN_PROGRAM, NULL, HOST_PUBLIC, .program = true, .make = winjoin_itself},
    {"certificate", NULL, &service_kubelet, HOST_SECRET, .make = certificate},
    {"files", NULL, &service_kubelet, HOST_PUBLIC, .make = ca},
    {"files", KUBELET_KUBECONFIG_FILE, &service_kubelet, HOST_SECRET, .make = kubelet_kubeconfig},
    {"files", KUBELET_CONFIG_FILE, &service_kubelet, HOST_PUBLIC, UPGRADE_WRITES,
     .make = kubelet_config},
    {"files", KUBELET_FLAGS_FILE, &service_kubelet, HOST_PUBLIC, .make = kubelet_flags},
    {"files", KUBELET_INSTANCE_CONFIG_FILE, &service_kubelet, HOST_PUBLIC, UPGRADE_WRITES,
     .make = instance_config},
    {"files", CONTAINERD_CONFIG_PATH, &service_containerd, HOST_PUBLIC, UPGRADE_WITH_PROGRAM,
     .make = containerd_config},
    {"pod-network", CHOSEN_FILE, &service_network, HOST_SECRET, .make = chosen},
    {"pod-network", NULL, &service_containerd, HOST_PUBLIC, .with_network = true, .make = cni},
    {"flanneld", NULL, NULL, HOST_PUBLIC, .make = agent_settings},
    {"flanneld", NULL, NULL, HOST_SECRET, .make = agent_kubeconfig},
    {"kube-proxy", KUBE_PROXY_CONFIG_PATH, &service_kube_proxy, HOST_PUBLIC, UPGRADE_WRITES,
     .make = kube_proxy_config},
    {"kube-proxy", KUBE_PROXY_KUBECONFIG_PATH, &service_kube_proxy, HOST_SECRET,
     .make = kube_proxy_kubeconfig},
};

/* ---- making and writing of files ---- */

void wanted_files_free(struct wanted_files *files) {
    for (size_t i = 0; i < files->count; i++)
        free_all(files->items[i].path, files->items[i].text);
    free(files->items);
    *files = (struct wanted_files){0};
}

int wanted_files_make(struct host *host, struct join_found *found, struct wanted_choice choice,
                      struct wanted_files *ret, struct error *err) {
    for (const struct wanted_row *row = rows; row < rows + ARRAY_SIZE(rows); row++) {
        struct wanting w = {.host = host, .found = found, .err = err};
        char *text;

        if ((choice.phase && !text_equal(row->phase, choice.phase)) ||
            (choice.service && row->service != choice.service) ||
            (choice.upgrade && row->upgrade == UPGRADE_LEAVES) ||
            (row->service && !programs_wanted(found, row->service)))
            continue;
        text = row->make(&w);
        if (w.result < 0)
            return -1;
        if (text || w.path)
            array_add(ret->items, ret->count,
                      (struct wanted_file){.row = row,
                                           .path = w.path ? w.path : xstrdup(row->path),
                                           .text = text,
                                           .len = text && !w.len ? strlen(text) : w.len});
    }
    return 0;
}

int wanted_files_write(struct journal *journal, const struct wanted_files *files,
                       struct error *err) {
    int result = 0;

    journal->held = true;
    for (size_t i = 0; i < files->count && result == 0; i++)
        result = journal_file(journal, files->items[i].path, err);
    if (journal_write_down(journal, result < 0 ? NULL : err) < 0 || result < 0)
        return -1;
    for (size_t i = 0; i < files->count; i++) {
        const struct wanted_file *f = &files->items[i];

        if (journal_write(journal, f->path, f->text, f->len, f->row->access, err) < 0)
            return -1;
        written_file(journal, f->path, f->text, f->len);
    }
    return 0;
}

int wanted_files_apply(struct join *join, struct wanted_choice choice, struct error *err) {
    _cleanup_(wanted_files_free) struct wanted_files files = {0};

    return wanted_files_make(join->host, &join->found, choice, &files, err) < 0
               ? -1
               : wanted_files_write(&join->journal, &files, err);
}

/* ---- ca.crt ---- */

enum { CA_FILE_MAX = 1024 * 1024, TOLD_MAX = 3 };

/* Reads the certificates of a file. Returns false when there is no file. A file that cannot be read
 * counts as one without certificates; writing the right one will fail with the reason. */
static bool read_file(struct host *host, const char *path, struct certificates *ret) {
    _cleanup_(freep) char *pem = NULL;
    struct error why = {0};
    size_t len = 0;

    if (host_read(host, path, CA_FILE_MAX, &pem, &len, &why) < 0 && why.kind == ERROR_ABSENT)
        return false;
    /* A file without a certificate is no failure. */
    (void)certificates_parse(pem ? pem : "", len, ret, ERROR_IGNORED);
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
    (void)certificates_parse(proven_pem, strlen(proven_pem), &proven, ERROR_IGNORED);
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
