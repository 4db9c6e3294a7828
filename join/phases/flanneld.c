/* This phase starts flanneld and waits until other nodes have a route to this node's Pods, and this
 * node has routes to theirs. */
#include "diag/causes/causes.h"
#include "join/wanted/wanted.h"
#include "join/phases/steps.h"
#include "netsetup/agents/agent.h"

enum { ROUTES_TIMEOUT_MS = 120000, STALLED_MS = 15000 };
enum { STEP_MS = 100, NODES_AGAIN_MS = 10000 };

/* ---- the wait for the routes ---- */

struct routes {
    struct join *join;
    struct text_list missing;
    /* The first missing route, for messages; NULL when no route is missing. */
    const char *first_missing;
    size_t peers, fewest; /* Other nodes; the smallest number of missing routes so far */
    unsigned moved_ms;    /* When `fewest` last became smaller */
    unsigned nodes_ms;    /* When the Nodes must be read again */
    bool published;
    json_t *nodes; /* NodeList; NULL when it must be read */
};

static void routes_free(struct routes *routes) {
    text_list_free(&routes->missing);
    json_decref(routes->nodes);
}

/* Waits for the routes as long as flanneld keeps adding some. Windows takes a second for each, and
 * a cluster may need hundreds. */
static enum wait_poll poll_routes(void *context, struct wait *wait, struct error *err) {
    struct routes *routes = context;
    struct join *join = routes->join;
    struct diag_evidence_options options = {.network_name = join->found.plan.name,
                                            .network_mode = join->found.plan.mode->name};
    _cleanup_json_ json_t *evidence = NULL;
    unsigned now = wait->waited_ms;

    /* Nodes are read again from time to time, because they are added and deleted. */
    if (now >= routes->nodes_ms) {
        json_decref(routes->nodes);
        routes->nodes = NULL;
        routes->nodes_ms = now + NODES_AGAIN_MS;
    }
    if (!routes->nodes && kube_nodes_get(&join->found.client, &routes->nodes, err) < 0)
        return POLL_FAILED;
    options.nodes = routes->nodes;
    json_each(json_object_get(routes->nodes, "items"), i, node)
        if (!options.node && text_equal(json_text_at(node, "metadata.name"), join->found.node_name))
            options.node = node;
    evidence = diag_routes_read(join->host, &options);
    text_list_free(&routes->missing);
    routes->published =
        diag_routes_missing(evidence, join->found.plan.agent, &routes->peers, &routes->missing);
    routes->first_missing = !routes->published      ? "its annotations on this Node are missing"
                            : routes->missing.count ? routes->missing.items[0]
                                                    : NULL;

    if (service_watch_check(&join->watch, NULL, err) < 0)
        return POLL_FAILED;
    if (!routes->first_missing)
        return POLL_DONE;
    if (routes->missing.count < routes->fewest) {
        routes->fewest = routes->missing.count;
        routes->moved_ms = now;
    }
    if (now - routes->moved_ms >= STALLED_MS + join->watch.ends * SERVICE_PAUSE_MAX_MS)
        wait->limit_ms = 0;
    (void)error_set(err, ERROR_TIMED_OUT, "for %s's routes: %s", join->found.plan.agent->service,
                    routes->first_missing);
    return POLL_AGAIN;
}

int phase_flanneld(struct join *join, struct error *err) {
    _cleanup_(routes_free) struct routes routes = {.join = join, .fewest = SIZE_MAX};
    const struct cluster_config *c = &join->found.cluster;
    const char *service = join->found.plan.agent->service;
    struct text *detail = &join->progress.detail;
    struct wait wait = {.limit_ms = ROUTES_TIMEOUT_MS,
                        .pause_ms = STEP_MS,
                        .poll = poll_routes,
                        .context = &routes};
    enum wait_poll end;

    /* If the ConfigMap could not be read, do not claim that flannel is absent. */
    if (!service) {
        if (join->found.options.network_plugin || c->network.agent)
            text_addf(detail, "not needed by the plugin %s", join->found.plan.plugin);
        else
            text_add(detail, c->network_unread
                                 ? "not started: whether the cluster runs flannel is not known (no "
                                   "right to read its ConfigMap)"
                                 : "not needed: the cluster does not run flannel");
        return 0;
    }
    if (agent_folders_own(join, err) < 0 ||
        wanted_files_apply(join, (struct wanted_choice){.phase = "flanneld"}, err) < 0 ||
        service_run(join, service_by_name(service), err) < 0)
        return -1;
    text_addf(detail, "running, %s",
              network_agent_backend(join->found.plan.agent, join->found.plan.mode));
    end = join_wait(join->host, &join->progress, &wait, err);
    if (end == POLL_FAILED) {
        if (!kube_is_forbidden(err))
            return -1;
        join_warn(&join->progress,
                  "this node is not allowed to list Nodes, so %s's routes to their pods were not "
                  "checked (winjoin config cluster grants the right)",
                  service);
        error_clear(err);
        return 0;
    }
    /* Only a warning: phase verify shows which flows fail, and Pods may not need these routes. */
    if (end == POLL_AGAIN)
        join_warn(&join->progress, "%s has not added every route: %s%s; its log: %s", service,
                  routes.first_missing, routes.missing.count > 1 ? " and others" : "",
                  service_by_name(service)->log_folder);
    text_addf(detail, "; routes to %zu of %zu other node%s",
              routes.peers -
                  (routes.missing.count < routes.peers ? routes.missing.count : routes.peers),
              routes.peers, PLURAL(routes.peers));
    return 0;
}
