/* Implements plan.h. */
#include "join/plan/plan.h"

#include "host/path.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/phases.h"
#include "join/programs/programs.h"
#include "join/wanted/wanted.h"
#include "netsetup/agents/agent.h"
#include "netsetup/netsetup.h"
#include "pki/digest.h"
#include "services/artifacts/artifacts.h"
#include "services/service_table.h"

static json_t *add_file(struct join *join, json_t *files, const char *path, bool protected) {
    bool replaces = host_file_type(join->host, path) != HOST_ABSENT;
    json_t *file =
        json_pack("{s:s, s:b, s:b}", "path", path, "protected", protected, "replaces", replaces);

    json_array_append_new(files, file);
    return file;
}

/* Adds the services and, for each, the file that the service host reads when the SCM starts it. A
 * service that the join adopts is shown as the join will run it. */
static int services_json(struct join *join, json_t *array, json_t *files, struct error *err) {
    struct service_settings settings;

    programs_service_settings(join->host, &join->found, &settings);
    for (const struct service *const *row = service_table; *row; row++) {
        _cleanup_(service_wanted_free) struct service_wanted wanted = {0};
        json_t *json;

        if (!programs_wanted(&join->found, *row))
            continue;
        if (service_want(join->host, *row, &settings, &wanted, err) < 0)
            return -1;
        json = service_json(&wanted.service);
        json_array_append_new(array, json);
        if (wanted.adopted)
            json_object_update_new(
                json, json_pack("{s:b, s:b}", "adopted", true, "restarts", (int)wanted.restarts));
        if (wanted.settings)
            json_object_set_new(add_file(join, files, (*row)->settings_file, true), "content",
                                json_string(wanted.settings));
    }
    return 0;
}

static int files_json(struct join *join, json_t *files, struct error *err) {
    _cleanup_(wanted_files_free) struct wanted_files wanted = {0};

    ca_file_warn(join->host, &join->found, &join->progress);
    if (wanted_files_make(join->host, &join->found, (struct wanted_choice){0}, &wanted, err) < 0)
        return -1;
    for (size_t i = 0; i < wanted.count; i++) {
        const struct wanted_file *f = &wanted.items[i];
        char digest[DIGEST_TEXT_MAX];
        json_t *file;

        if (f->row->with_network)
            continue;
        file = add_file(join, files, f->path, f->row->access != HOST_PUBLIC);
        if (f->row->program) {
            digest_sha256(f->text, f->len, digest);
            json_object_set_new(file, "sha256", json_string(digest));
            continue;
        }
        json_object_set_new(file, "content", json_string(f->text ? f->text : JOIN_PLAN_REDACTED));
        if (text_equal(f->path, KUBELET_CONFIG_FILE))
            json_object_set_new(file, "changes",
                                kubelet_changes_json(&join->found.kubelet_changes));
    }
    return 0;
}

/* Refuses what phase artifacts would refuse. Programs of a mirror are not downloaded for this. */
static int artifacts_of(struct join *join, json_t **ret, struct error *err) {
    struct bundle *bundle = NULL;
    const struct artifacts *lock;

    if (programs_bundle(join, &bundle, err) < 0)
        return -1;
    lock = bundle ? bundle_artifacts(bundle) : NULL;
    if (programs_check_versions(join, lock, err) < 0)
        return -1;
    if (!text_list_has(&join->skipped, "artifacts") &&
        (programs_check_complete(join, lock, err) < 0 ||
         (bundle && !bundle_mirror(bundle) && bundle_verify(bundle, NULL, err) < 0)))
        return -1;
    *ret = bundle ? artifacts_json(lock, bundle_mirror(bundle)) : json_array();
    return 0;
}

int join_plan_make(struct join *join, json_t **ret, struct error *err) {
    _cleanup_json_ json_t *services = json_array(), *files = json_array(), *artifacts = NULL;
    _cleanup_json_ json_t *steps = json_array(), *registry = NULL;
    const struct join_options *o = &join->found.options;
    const struct cluster_config *c = &join->found.cluster;
    json_t *unknown, *pins, *cluster;

    for (const struct join_phase *phase = join_phases; phase->id; phase++)
        if (!text_list_has(&join->skipped, phase->id))
            json_array_append_new(steps, json_pack("{s:s, s:s, s:s*}", "id", phase->id, "title",
                                                   phase->help, "undo",
                                                   phase->read_only ? NULL : "winjoin reset"));
    /* When all phases are skipped, the cluster is not asked. */
    if (json_array_size(steps) == 0) {
        *ret = json_pack("{s:s, s:s, s:{s:s}, s:[], s:[], s:[], s:[], s:[]}",
                         JSON_DOCUMENT("JoinPlan"), "node", "name", join->found.node_name,
                         "services", "files", "artifacts", "steps", "unknown");
        return 0;
    }
    /* A node that has joined has its Pod subnet already. */
    if (join_need(join, NEED_PLAN, err) == 0 && !join->found.node.name &&
        !join->found.plan.pod_cidr_known &&
        host_file_type(join->host, KUBELET_KUBECONFIG_FILE) != HOST_ABSENT)
        (void)kube_node_get(&join->found.client, join->found.node_name, &join->found.node,
                            ERROR_IGNORED);
    /* The contents of files and command lines depend on the programs' versions. */
    if (join_need(join, NEED_KUBELET_CONFIG | NEED_PLAN, err) < 0 ||
        artifacts_of(join, &artifacts, err) < 0 || files_json(join, files, err) < 0 ||
        services_json(join, services, files, err) < 0 || wanted_registry(join, &registry, err) < 0)
        return -1;
    unknown = json_array();
    if (!join->found.plan.pod_cidr_known && !join->found.plan.agent->pods_make_network)
        json_array_append_new(unknown, json_string("podCIDR"));
    if (join->found.plan.agent->source_vip_endpoint &&
        text_equal(join->found.plan.source_vip, SOURCE_VIP_UNKNOWN))
        json_array_append_new(unknown, json_string("sourceVip"));
    pins = json_array();
    if (join->found.discovery.matched_pin[0])
        json_array_append_new(pins, json_string(join->found.discovery.matched_pin));
    cluster = json_pack(
        "{s:s, s:o, s:s*, s:s*, s:o, s:o, s:s*, s:o}", "server", join->found.client.server,
        "caHashes", pins, "name", c->name, "kubernetesVersion", c->kubernetes_version, "podSubnets",
        json_texts(&c->pod_subnets), "serviceSubnets", json_texts(&c->service_subnets), "dnsDomain",
        c->dns_domain, "clusterDNS", json_texts(&c->cluster_dns));
    *ret = json_pack(
        "{s:s, s:s, s:o, s:{s:s, s:s, s:s, s:s*, s:s*}, s:o, s:O, s:O, s:O*, s:O, s:O, s:o}",
        JSON_DOCUMENT("JoinPlan"), "cluster", cluster, "node", "name", join->found.node_name, "ip",
        join->found.node_ip, "criSocket", o->cri_socket ? o->cri_socket : KUBELET_CRI_SOCKET,
        "labels", o->node_labels, "taints", o->register_with_taints, "network",
        network_plan_json(&join->found.plan), "services", services, "files", files, "registry",
        registry, "artifacts", artifacts, "steps", steps, "unknown", unknown);
    return 0;
}

static int write_files(struct host *host, const json_t *files, const char *folder,
                       size_t *ret_count, struct error *err) {
    json_each(files, i, file) {
        /* `content` is a text, or the file's JSON document. */
        const json_t *content = json_object_get(file, "content");
        const char *path = json_text_at(file, "path");
        _cleanup_(freep) char *to = xasprintf("%s\\%s", folder, path_base(path));
        _cleanup_(freep) char *text = json_is_object(content)
                                          ? json_write_pretty(content)
                                          : xstrdup_null(json_string_value(content));

        if (!text || text_equal(text, JOIN_PLAN_REDACTED))
            continue;
        if (host_write(host, to, text, strlen(text),
                       json_bool_at(file, "protected", false) ? HOST_SECRET : HOST_PUBLIC, err) < 0)
            return -1;
        ++*ret_count;
    }
    return 0;
}

int join_plan_write(struct host *host, const json_t *plan, const char *folder, size_t *ret_count,
                    struct error *err) {
    *ret_count = 0;
    if (write_files(host, json_object_get(plan, "files"), folder, ret_count, err) < 0 ||
        write_files(host, json_at(plan, "network.cni"), folder, ret_count, err) < 0)
        return error_prefix(err, "write the plan's files to '%s'", folder);
    return 0;
}
