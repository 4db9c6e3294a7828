/* Records that follow what the API server tells. */
#include "diag/drift/follow.h"

enum { POLL_MS = 15 * 60000 };

static int on_event(void *context, const char *type, const json_t *object, struct error *) {
    struct drift_followed *side = context;

    side->follow->changes++;
    if (text_equal(type, "DELETED"))
        drift_cluster_remove(&side->follow->cluster, side->what, object);
    else
        drift_cluster_put(&side->follow->cluster, side->what, object);
    return 0;
}

static int list(void *context, struct kube_client *client, char **ret_version, struct error *err) {
    struct drift_followed *side = context;

    side->follow->changes++;
    return drift_cluster_list(&side->follow->cluster, side->what, client, ret_version, err);
}

void drift_follow_watches(struct drift_follow *follow, struct kube_watch ret[DRIFT_WATCHES]) {
    for (enum drift_what what = DRIFT_SERVICES; what <= DRIFT_SLICES; what++) {
        follow->sides[what] = (struct drift_followed){follow, what};
        ret[what] = (struct kube_watch){.path = drift_path(what),
                                        .version = follow->versions[what],
                                        .ret_version = &follow->versions[what],
                                        .poll_ms = POLL_MS,
                                        .on_event = on_event,
                                        .list = list,
                                        .context = &follow->sides[what]};
    }
}

void drift_follow_free(struct drift_follow *follow) {
    drift_cluster_free(&follow->cluster);
    free_all(follow->versions[DRIFT_SERVICES], follow->versions[DRIFT_SLICES]);
    *follow = (struct drift_follow){0};
}
