/* Drains the node before its kubelet is replaced, with the node's own rights: kubelets may write
 * spec.unschedulable of their Node and evict the Pods that are bound to it (admission
 * NodeRestriction, RBAC role system:node). */
#include "join/found/need.h"
#include "join/upgrade/upgrade.h"
#include "kube/object.h"

#define CORDONED "winjoin.io/cordoned-by-upgrade"

enum { DRAIN_MS = 5 * 60 * 1000, STEP_MS = 2000, TOO_MANY_REQUESTS = 429 };

/* Cordons or uncordons the node. An annotation marks that the upgrade did it, so that only this
 * cordon is removed later, even after a killed run. */
static int set_cordon(struct join *join, bool on, struct error *err) {
    _cleanup_(freep) char *name = kube_escape(join->found.node_name);
    _cleanup_(freep) char *path = xasprintf("/api/v1/nodes/%s", name);
    _cleanup_json_ json_t *patch =
        json_pack("{s:{s:{s:o}}, s:{s:b}}", "metadata", "annotations", CORDONED,
                  on ? json_string("true") : json_null(), "spec", "unschedulable", on);

    return kube_patch(&join->found.client, path, "merge", patch, err);
}

static int hint_at_kubectl(const struct join *join, struct error *err) {
    return error_hint(err,
                      "kubectl drain %s --ignore-daemonsets --delete-emptydir-data; then run "
                      "winjoin upgrade without --drain",
                      join->found.node_name);
}

void upgrade_uncordon(struct join *join) {
    _cleanup_(kube_node_free) struct kube_node node = {0};
    struct error why = {0};

    /* The upgrade may have failed before its first phase opened the client. */
    if (find_node_client(join, &why) < 0 ||
        kube_node_get(&join->found.client, join->found.node_name, &node, &why) < 0) {
        if (join->upgrade->drain)
            join_warn(&join->progress, "%s: kubectl uncordon %s", why.message,
                      join->found.node_name);
        return;
    }
    if (kube_node_annotation(&node, CORDONED) && set_cordon(join, false, &why) < 0)
        join_warn(&join->progress, "%s: kubectl uncordon %s", why.message, join->found.node_name);
}

/* ---- Pods ---- */

static bool is_of(const json_t *pod, const char *kind) {
    json_each(json_at(pod, "metadata.ownerReferences"), i, owner)
        if (json_bool_at(owner, "controller", false) &&
            (!kind || text_equal(json_text_at(owner, "kind"), kind)))
            return true;
    return false;
}

/* Finds the Pods to evict. All are checked before the first eviction. Mirror Pods stay, because
 * they are the kubelet's own files; Pods of DaemonSets stay, because they would be created again at
 * once. */
static int find_pods(struct join *join, json_t *ret, struct error *err) {
    _cleanup_(freep) char *name = kube_escape(join->found.node_name);
    _cleanup_(freep) char *path = xasprintf("/api/v1/pods?fieldSelector=spec.nodeName%%3D%s", name);
    _cleanup_json_ json_t *list = NULL;
    json_t *items;

    if (kube_get(&join->found.client, path, &list, err) < 0 ||
        kube_list_items(list, &items, err) < 0)
        return -1;
    json_each(items, i, pod) {
        const char *space = json_text_at(pod, "metadata.namespace"),
                   *pod_name = json_text_at(pod, "metadata.name"),
                   *phase = json_text_at(pod, "status.phase");

        if (!space || !pod_name || text_equal(phase, "Succeeded") || text_equal(phase, "Failed") ||
            json_object_get(json_at(pod, "metadata.annotations"), "kubernetes.io/config.mirror") ||
            is_of(pod, "DaemonSet"))
            continue;
        /* Without a controller the Pod would be lost. kubectl drain needs --force for it, too. */
        if (!is_of(pod, NULL)) {
            (void)error_set(
                err, ERROR_CONFLICT,
                "evict pod %.100s/%.250s: it has no controller that would make it again", space,
                pod_name);
            (void)error_hint(err, "delete it first: kubectl delete pod -n %.100s %.250s", space,
                             pod_name);
            return hint_at_kubectl(join, err);
        }
        json_array_append(ret, pod);
    }
    return 0;
}

static enum wait_poll poll_empty(void *context, struct wait *, struct error *err) {
    struct join *join = context;
    _cleanup_json_ json_t *pods = json_array();
    size_t kept = 0;

    if (find_pods(join, pods, err) < 0)
        return POLL_FAILED;
    json_each(pods, i, pod) {
        /* A copy that borrows the texts of the first client and tries each request only once */
        struct kube_client client = join->found.client;
        const char *space = json_text_at(pod, "metadata.namespace"),
                   *name = json_text_at(pod, "metadata.name");
        _cleanup_(freep) char *space_segment = kube_escape(space), *segment = kube_escape(name);
        _cleanup_(freep) char *path =
            xasprintf("/api/v1/namespaces/%s/pods/%s/eviction", space_segment, segment);
        _cleanup_json_ json_t *body =
            json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", "policy/v1", "kind", "Eviction",
                      "metadata", "namespace", space, "name", name);
        struct error why = {0};

        client.patience_ms = 0;
        if (json_text_at(pod, "metadata.deletionTimestamp") ||
            kube_create(&client, path, body, NULL, &why) == 0 || why.kind == ERROR_ABSENT)
            continue;
        if (why.os != TOO_MANY_REQUESTS) {
            (void)error_pass(err, &why);
            return POLL_FAILED;
        }
        kept++; /* A PodDisruptionBudget refuses the eviction now */
    }
    if (!json_array_size(pods))
        return POLL_DONE;
    (void)error_set(err, ERROR_TIMED_OUT, "for %zu pods to leave the node%s", json_array_size(pods),
                    kept ? "; a PodDisruptionBudget keeps some of them" : "");
    return POLL_AGAIN;
}

int upgrade_cordon(struct join *join, struct error *err) {
    struct wait wait = {
        .limit_ms = DRAIN_MS, .pause_ms = STEP_MS, .poll = poll_empty, .context = join};
    enum wait_poll end;

    if (!join->upgrade->drain) {
        text_add(&join->progress.detail, "not asked for (--drain)");
        return 0;
    }
    if (!join->found.node.unschedulable && set_cordon(join, true, err) < 0)
        return hint_at_kubectl(join, err);
    end = join_wait(join->host, &join->progress, &wait, err);
    if (end == POLL_AGAIN)
        (void)error_prefix(err, "drain the node: waited %u s", wait.limit_ms / 1000);
    if (end != POLL_DONE)
        return err->kind == ERROR_INTERRUPTED ? -1 : hint_at_kubectl(join, err);
    text_add(&join->progress.detail, "cordoned; its pods have left");
    return 0;
}
