/* The phases of winjoin prepare. */
#include "join/prepare/prepare.h"

#include "join/wanted/wanted.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/steps.h"
#include "join/programs/programs.h"
#include "join/run.h"
#include "netsetup/plan/network_plan.h"

enum { PREPARED_MAX = 65536, STOP_MS = 60000 };

/* File with containerd's own id. It is removed, so that each clone of the server gets another. */
#define CONTAINERD_UUID "\\root\\io.containerd.grpc.v1.introspection"

static int folders(struct join *join, struct error *err) {
    text_add(&join->progress.detail, "only administrators write there");
    return files_own_folders(join, err) < 0 ? -1 : host_fixes_apply(join, err);
}

static json_t *prepared_json(const struct join *join) {
    const struct join_found *found = &join->found;

    return json_pack("{s:s*, s:s, s:s, s:o}", "kubernetesVersion",
                     found->cluster.kubernetes_version, "mode", found->plan.mode->name, "plugin",
                     found->plan.plugin, "images", json_texts(&found->options.images_required));
}

json_t *prepared_read(struct host *host) {
    json_t *json = NULL;

    return host_read_json(host, PREPARED_FILE, PREPARED_MAX, &json, ERROR_IGNORED) < 0 ? NULL
                                                                                       : json;
}

static int containerd(struct join *join, struct error *err) {
    unsigned before = host_changes(join->host);
    _cleanup_(freep) char *uuid = xasprintf("%s" CONTAINERD_UUID, service_containerd.data_folder);
    _cleanup_json_ json_t *earlier = NULL, *wanted = NULL;
    struct error why = {0};
    int result;

    if (wanted_files_apply(join,
                           (struct wanted_choice){.phase = "files", .service = &service_containerd},
                           err) < 0)
        return -1;
    if (host_changes(join->host) == before) {
        earlier = prepared_read(join->host);
        wanted = prepared_json(join);
    }
    /* Nothing was written since an earlier run prepared the same. */
    if (earlier && !join->changed && json_equal(earlier, wanted)) {
        text_add(&join->progress.detail, "prepared by an earlier run");
        return 0;
    }
    result = phase_containerd(join, err) < 0 ? -1 : images_await(join, err);
    /* containerd is stopped even after a failure, as a machine image needs a server at rest. */
    if (host_service_stop(join->host, service_containerd.name, STOP_MS, &why) < 0)
        return result < 0 ? -1 : error_pass(err, &why);
    text_add(&join->progress.detail, ", stopped");
    return result < 0 ? -1 : host_remove_tree(join->host, uuid, err);
}

static int record(struct join *join, struct error *err) {
    _cleanup_json_ json_t *json = prepared_json(join);
    _cleanup_(freep) char *text = json_write_pretty(json);

    text_add(&join->progress.detail, PREPARED_FILE);
    return journal_write(&join->journal, PREPARED_FILE, text, strlen(text), HOST_PUBLIC, err);
}

static const struct join_phase phases[] = {
    {"preflight", "preflight", "check that this machine can become a node", phase_preflight, 0,
     true},
    {"programs", "programs", "verify and install the programs", phase_artifacts, 0, false},
    {"folders", "folders", "make and close the node's folders", folders, 0, false},
    {"containerd", "containerd", "register containerd, unpack the images, stop it again",
     containerd, 0, false},
    {"record", "record", "note what was prepared", record, 0, false},
    {0},
};

int prepare_open(struct join *join, struct error *err) {
    const struct join_options *o = join->asked;
    const struct bundle *bundle;
    const struct artifacts *brought;
    const struct artifact *kubelet;
    struct text_list *images;
    const char *version;

    if (host_file_type(join->host, KUBELET_KUBECONFIG_FILE) != HOST_ABSENT) {
        (void)error_set(err, ERROR_USAGE, "prepare this machine: it has joined a cluster");
        return error_hint(err, "to make an image of it, undo the join first: winjoin reset");
    }
    join->phases = phases;
    if (join_open(join, err) < 0)
        return -1;
    /* The host name of a server that becomes a machine image will change, so it is not checked. */
    join->found.odd_host_name = false;
    text_set(&join->found.node_name, xstrdup(""));

    /* Images of the bundle are imported and not requested from a registry. */
    bundle = join->found.bundle;
    brought = bundle_images(bundle);
    images = &join->found.options.images_required;
    *images = take_struct(join->found.options.images);
    for (size_t i = 0; i < brought->count; i++)
        if (!text_list_has(images, brought->items[i].name))
            text_list_add(images, brought->items[i].name);

    /* Without --kubernetes-version, the version is that of the bundle's kubelet. */
    version = join->found.options.kubernetes_version;
    kubelet = bundle ? artifact_find(bundle_artifacts(bundle), "kubelet") : NULL;
    if (!version && kubelet && !text_equal(kubelet->version, "unknown"))
        version = kubelet->version;
    if (!version && !bundle) {
        (void)error_set(err, ERROR_USAGE, "which version of Kubernetes to prepare is not given");
        return error_hint(err, "winjoin prepare --kubernetes-version v1.37.1, or --bundle FILE");
    }
    text_set(&join->found.cluster.kubernetes_version, xstrdup_null(version));
    return network_plan_choose(o->network_mode, o->network_plugin, &join->found.plan, err);
}

json_t *prepare_result_json(const struct join *join) {
    json_t *result = join_result_json(join);

    json_object_set_new(result, "kind", json_string("PrepareResult"));
    json_object_del(result, "node");
    json_object_update_new(result, prepared_json(join));
    return result;
}
