/* The phase that starts flanneld and waits for what it is there for: that other nodes know the way
 * to this node's pods, and this node the ways to theirs. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/causes/routes.h"
#include "join/phases/node_files.h"
#include "join/phases/phases.h"
#include "join/phases/service_watch.h"

#define NODES "/api/v1/nodes"
/* flanneld itself waits 30 s for the Node and 30 s to write to it. */
enum { UP_TIMEOUT_MS = 90000, WAYS_TIMEOUT_MS = 120000, STALLED_MS = 15000 };
enum { STEP_MS = 250, LOOK_MS = 4000, NODES_AGAIN_MS = 10000 };

/* ---- until it is up ---- */

static int fail_up(struct join *join, unsigned limit, struct error *err) {
    (void)error_set(err, ERROR_TIMED_OUT,
                    "wait for flanneld: it runs, but has not registered this node after %u s",
                    limit / 1000);
    (void)service_watch_hint(join, err);
    return error_hint(err,
                      "to have it started anew: sc stop flanneld, then the same command again");
}

/* It writes its file behind its network in HNS and its annotations on the Node. */
static int wait_up(struct join *join, struct error *err) {
    unsigned limit = UP_TIMEOUT_MS;
    bool runs;

    for (unsigned waited = 0; waited < limit; waited += STEP_MS) {
        if (service_watch_look(join, &runs, err) < 0)
            return -1;
        if (runs && host_file_type(join->host, service_ready_file(SERVICE_FLANNELD)) == HOST_FILE)
            return 0;
        if (waited && waited % LOOK_MS == 0 &&
            service_watch_rights(join, NODES "?limit=1", err) < 0)
            return -1;
        limit = service_watch_limit(join, UP_TIMEOUT_MS);
        join_tell_waiting(join, waited, limit - waited, "", "for flanneld to %s",
                          runs ? "register this node" : "be started again");
        if (host_sleep(join->host, STEP_MS, err) < 0)
            return -1;
    }
    return fail_up(join, limit, err);
}

/* ---- until the ways are laid ---- */

struct ways {
    struct text_list missing;
    size_t peers;
    bool published;
    json_t *nodes; /* NodeList; NULL: to be read */
};

static void ways_free(struct ways *ways) {
    text_list_free(&ways->missing);
    json_decref(ways->nodes);
}

static const json_t *own_node(const struct join *join, const json_t *nodes) {
    json_t *node;
    size_t i;

    json_array_foreach(json_object_get(nodes, "items"), i, node) {
        if (text_equal(json_text_at(node, "metadata.name"), join->node_name))
            return node;
    }
    return NULL;
}

static int look_at_ways(struct join *join, struct ways *ways, struct error *err) {
    struct diag_evidence_options options = {.network_name = join->plan.name,
                                            .network_mode = network_mode_name(join->plan.mode)};
    _cleanup_json_ json_t *evidence = NULL;

    if (!ways->nodes && kube_nodes_get(&join->client, &ways->nodes, err) < 0)
        return -1;
    options.nodes = ways->nodes;
    options.node = own_node(join, ways->nodes);
    evidence = diag_routes_read(join->host, &options);
    text_list_free(&ways->missing);
    ways->published = diag_routes_missing(evidence, &ways->peers, &ways->missing);
    return 0;
}

static const char *first_missing(const struct ways *ways) {
    return ways->published ? ways->missing.items[0] : "no annotation on this node's Node";
}

/* The proof says what follows from it; other pods may do without. */
static void warn_stalled(struct join *join, const struct ways *ways) {
    join_warn(join, "flanneld has not laid every way: %s%s; its log: %s", first_missing(ways),
              ways->missing.count > 1 ? " and others" : "", service_log_folder(SERVICE_FLANNELD));
}

/* As long as it gets on: Windows takes a second for a route, and a cluster may have hundreds. */
static int wait_ways(struct join *join, struct ways *ways, struct error *err) {
    size_t fewest = SIZE_MAX;

    for (unsigned waited = 0, moved = 0; waited < WAYS_TIMEOUT_MS; waited += STEP_MS) {
        if (look_at_ways(join, ways, err) < 0 || service_watch_look(join, NULL, err) < 0)
            return -1;
        if (ways->published && !ways->missing.count)
            return 0;
        if (ways->missing.count < fewest) {
            fewest = ways->missing.count;
            moved = waited;
        }
        if (waited - moved >= STALLED_MS + join->watch.ends * SERVICE_PAUSE_MAX_MS)
            break;
        if (waited && waited % NODES_AGAIN_MS == 0) { /* nodes come and go */
            json_decref(ways->nodes);
            ways->nodes = NULL;
        }
        join_tell_waiting(join, waited, WAYS_TIMEOUT_MS - waited, "", "for flanneld's ways: %s",
                          first_missing(ways));
        if (host_sleep(join->host, STEP_MS, err) < 0)
            return -1;
    }
    warn_stalled(join, ways);
    return 0;
}

static int follow_ways(struct join *join, struct error *err) {
    _cleanup_(ways_free) struct ways ways = {0};

    text_addf(&join->detail, "running, %s",
              join->plan.mode == NETWORK_OVERLAY ? "vxlan" : "host-gw");
    if (wait_ways(join, &ways, err) < 0) {
        if (!kube_is_forbidden(err))
            return -1;
        join_warn(join, "this node may not list the others: whether flanneld lays the ways to "
                        "their pods is not known (winjoin config cluster grants it)");
        error_clear(err);
        return 0;
    }
    text_addf(&join->detail, "; ways to %zu of %zu other nodes",
              ways.peers - (ways.missing.count < ways.peers ? ways.missing.count : ways.peers),
              ways.peers);
    return 0;
}

int phase_flanneld(struct join *join, struct error *err) {
    _cleanup_(node_files_free) struct node_files files = {0};
    struct service_settings settings;

    if (join_need_node(join, err) < 0 || join_need_plan(join, err) < 0)
        return -1;
    if (join->plan.plugin != NETWORK_FLANNEL) {
        text_add(&join->detail, "not wanted: the cluster does not run flannel");
        return 0;
    }
    if (phase_own_folder(join, "C:\\run\\flannel", err) < 0 ||
        phase_own_folder(join, "C:\\etc\\kube-flannel", err) < 0 ||
        node_files_flannel(join, &files, err) < 0 || node_files_lay(join, &files, err) < 0)
        return -1;
    phase_service_settings(join, &settings);
    if (phase_start_service(join, SERVICE_FLANNELD, &settings, err) < 0 || wait_up(join, err) < 0)
        return -1;
    return follow_ways(join, err);
}
