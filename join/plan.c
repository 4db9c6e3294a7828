/* The JoinPlan of a dry run: every document and file that a join would make, nothing changed. */
#include "join/plan.h"

#include <string.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "join/kubelet_files.h"
#include "join/phases.h"
#include "services/artifacts.h"
#include "services/runtime_files.h"
#include "services/service_table.h"

static json_t *cluster_json(const struct join *join) {
    const struct cluster_config *c = &join->cluster;
    json_t *pins = json_array();

    if (join->discovery.matched_pin[0])
        json_array_append_new(pins, json_string(join->discovery.matched_pin));
    return json_pack("{s:s, s:o, s:s*, s:s*, s:o, s:o, s:s*, s:o}", "server", join->client.server,
                     "caHashes", pins, "name", c->name, "kubernetesVersion", c->kubernetes_version,
                     "podSubnets", json_texts(&c->pod_subnets), "serviceSubnets",
                     json_texts(&c->service_subnets), "dnsDomain", c->dns_domain, "clusterDNS",
                     json_texts(&c->cluster_dns));
}

static json_t *node_json(const struct join *join) {
    const struct join_options *o = join->options;

    return json_pack("{s:s, s:s, s:s, s:s*, s:s*}", "name", join->node_name, "ip",
                     join_node_ip(join), "criSocket",
                     o->cri_socket ? o->cri_socket : KUBELET_CRI_SOCKET, "labels", o->node_labels,
                     "taints", o->register_with_taints);
}

static int services_json(struct join *join, json_t *array, struct error *err) {
    struct service_settings settings;

    phase_service_settings(join, &settings);
    for (enum service_id id = 0; id < SERVICE_COUNT; id++) {
        struct host_service service = {0};

        if (id == SERVICE_FLANNELD && join->plan.plugin != NETWORK_FLANNEL)
            continue;
        if (id == SERVICE_KUBE_PROXY && text_equal(join->options->kube_proxy, "none"))
            continue;
        if (service_make(id, &settings, &service, err) < 0)
            return -1;
        json_array_append_new(array, service_json(&service));
        host_service_free(&service);
    }
    return 0;
}

static void add_file(struct join *join, json_t *files, const char *path, bool protected,
                     const char *content) {
    bool replaces = host_file_type(join->host, path) != HOST_ABSENT;

    json_array_append_new(files, json_pack("{s:s, s:b, s:b, s:s}", "path", path, "protected",
                                           protected, "replaces", replaces, "content", content));
}

static int files_json(struct join *join, json_t *files, struct error *err) {
    struct containerd_config containerd = {.cni_bin_dir = "C:\\opt\\cni\\bin",
                                           .cni_conf_dir = "C:\\etc\\cni\\net.d"};
    _cleanup_(freep) char *ca_file = join_ca_file(join);
    _cleanup_(freep) char *config_text = NULL, *kubeconfig = NULL, *toml = NULL;

    if (join_need_kubelet_config(join, err) < 0)
        return -1;
    config_text = kubelet_config_text(join->kubelet_config);
    kubeconfig = kubeconfig_make_kubelet(join->client.server, join->client.ca_pem,
                                         KUBELET_CLIENT_CERTIFICATE_FILE);
    toml = containerd_config_make(&containerd);
    add_file(join, files, ca_file, false, join->client.ca_pem);
    add_file(join, files, KUBELET_KUBECONFIG_FILE, true, kubeconfig);
    add_file(join, files, KUBELET_CLIENT_CERTIFICATE_FILE, true, "<redacted>");
    add_file(join, files, KUBELET_CONFIG_FILE, false, config_text);
    json_object_set_new(json_array_get(files, json_array_size(files) - 1), "changes",
                        kubelet_changes_json(&join->kubelet_changes));
    add_file(join, files, CONTAINERD_CONFIG_PATH, false, toml);
    return 0;
}

static json_t *steps_json(void) {
    size_t count;
    const struct join_phase *phases = join_phases(&count);
    json_t *steps = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(steps, json_pack("{s:s, s:s, s:s}", "id", phases[i].id, "title",
                                               phases[i].help, "undo",
                                               phases[i].read_only ? "" : "winjoin reset"));
    return steps;
}

static int artifacts_of(struct join *join, json_t **ret, struct error *err) {
    _cleanup_(bundle_freep) struct bundle *bundle = NULL;

    if (!join->options->bundle) {
        *ret = json_array();
        return 0;
    }
    if (bundle_open(join->host, join->options->bundle, &bundle, err) < 0)
        return -1;
    *ret = artifacts_json(bundle_artifacts(bundle));
    return 0;
}

int join_plan_make(struct join *join, json_t **ret, struct error *err) {
    _cleanup_json_ json_t *services = json_array(), *files = json_array(), *artifacts = NULL;
    json_t *unknown = json_array();

    if (join_need_plan(join, err) < 0 || services_json(join, services, err) < 0 ||
        files_json(join, files, err) < 0 || artifacts_of(join, &artifacts, err) < 0) {
        json_decref(unknown);
        return -1;
    }
    if (!join->plan.pod_cidr_known)
        json_array_append_new(unknown, json_string("podCIDR"));
    *ret = json_pack("{s:s, s:s, s:o, s:o, s:o, s:O, s:O, s:O, s:o, s:o}", "apiVersion",
                     "winjoin.io/v1alpha1", "kind", "JoinPlan", "cluster", cluster_json(join),
                     "node", node_json(join), "network", network_plan_json(&join->plan), "services",
                     services, "files", files, "artifacts", artifacts, "steps", steps_json(),
                     "unknown", unknown);
    return 0;
}

char *join_plan_text(const json_t *plan) {
    return yaml_write(plan);
}
