/* Finds probes and nodes that went away while they were asked. */
#include "diag/cluster/probes/asking.h"

#include "base/rfc3339.h"
#include "kube/object.h"

enum {
    /* The time for a probe's own answer; the second value is used when there are many nodes. */
    OWN_MS = 3000,
    OWN_SOON_MS = 1500,
    RENEWED_SECONDS = 15, /* A kubelet renews its Lease every ten seconds. */
    LEASES_MAX = 8,
    /* With many nodes, a target that can be reached has answered by then. */
    REACHED_MS = 1000,
};

#define LATE "no answer in time"
#define NO_MORE "it answered, and does not any more"

void cluster_node_gone(struct cluster_node *node, char *why) {
    if (!node->waiting)
        node->waiting = xasprintf(CLUSTER_GONE "%s", why);
    free(why);
}

/* ---- probes that answer nothing any more ---- */

static bool *with_open_cells(const struct diag_report *report) {
    bool *open = xcalloc(report->nodes.count + 1, sizeof *open);

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *c = &report->cells.items[i];

        if (!(c->flow->is & FLOW_FROM_NODE) && diag_cell_is_open(c))
            open[c->from_node] = open[c->to_node] = open[report->nodes.count] = true;
    }
    return open;
}

/* Stores the HTTP status of each node's answer. */
static void note_status(struct ask *ask, const struct kube_many *answer) {
    ((long *)ask->queue->context)[ask->whose] = answer->status;
}

void cluster_ask_stopped(struct cluster_asking *asking, bool all) {
    struct cluster_nodes *nodes = &asking->report->nodes;
    _cleanup_(freep) long *statuses = xcalloc(nodes->count + 1, sizeof *statuses);
    _cleanup_(ask_queue_free) struct ask_queue queue = {.answered = note_status,
                                                        .context = statuses};
    size_t silent = 0;
    const struct diag_report *report = asking->report;
    _cleanup_(freep) bool *open = with_open_cells(report);

    for (size_t i = 0; i < report->nodes.count && open[report->nodes.count]; i++) {
        const struct cluster_node *n = &report->nodes.items[i];

        if (!n->waiting && !n->by_exec && asking->probes[i].answered && (all || open[i]))
            (void)ask_add(&queue,
                          dial_path(report->namespace_, n->pod, "127.0.0.1", PROBE_HTTP, false,
                                    "hostname", 1),
                          i, 0, all ? OWN_MS : OWN_SOON_MS);
    }
    ask_by_proxy(asking->client, &queue, 0, queue.count, 0);
    for (size_t i = 0; i < queue.count; i++)
        silent += statuses[queue.items[i].whose] != 200;
    /* When most probes are silent, the fault is probably the API server's. */
    if (!silent || 2 * silent > queue.count)
        return;
    for (size_t i = 0; i < queue.count; i++) {
        size_t node = queue.items[i].whose;

        if (statuses[node] == 200)
            continue;
        asking->probes[node].stopped = true;
        text_set(&nodes->items[node].unreached, xstrdup(statuses[node] ? NO_MORE : LATE));
    }
    /* The results of cells from and to these nodes are dropped, and the cells are asked again. */
    for (size_t i = 0; i < report->cells.count; i++) {
        struct diag_cell *c = &asking->report->cells.items[i];
        bool from = asking->probes[c->from_node].stopped;

        if ((c->flow->is & FLOW_FROM_NODE) || (!from && !asking->probes[c->to_node].stopped))
            continue;
        c->large = LARGE_NOT_ASKED;
        c->result = (struct probe_result){0};
        if (from)
            cluster_cell_unasked(c, nodes->items[c->from_node].unreached);
        c->outcome = DIAG_NOT_RUN;
    }
    (void)cluster_ask(asking, &(struct cluster_round){
                                  .asks = {ANY_FLOW, .fits = IS_NOT_RUN, .but = IS_OF_ONE_NODE},
                                  .soon_ms = all ? 0 : REACHED_MS});
    /* A node whose answer was only late may still be reachable. */
    for (size_t i = 0; i < nodes->count; i++)
        if (asking->probes[i].stopped && text_equal(nodes->items[i].unreached, LATE))
            free(take_ptr(nodes->items[i].unreached));
}

/* ---- nodes that are not Ready, deleted, or not reached ---- */

/* The nodes of the report with their indexes by name, and which of them still exist. */
struct node_listing {
    struct cluster_nodes *nodes;
    json_t *places;
    bool *there;
};

static int mark_nodes(void *context, const json_t *items, struct error *) {
    struct node_listing *l = context;

    json_each(items, k, item) {
        const json_t *place = json_object_get(l->places, json_text_or(item, "metadata.name", ""));
        const json_t *ready = kube_ready_condition(item);
        size_t i = (size_t)json_integer_value(place);

        if (!place)
            continue;
        l->there[i] = true;
        if (!ready || text_equal(json_text_at(ready, "status"), "True"))
            continue;
        l->nodes->items[i].ready = false;
        cluster_node_gone(&l->nodes->items[i],
                          xasprintf("the node is not Ready any more: %s: %.200s",
                                    json_text_or(ready, "reason", "no reason"),
                                    json_text_or(ready, "message", "no message")));
    }
    return 0;
}

/* Says how late the kubelet is with its Lease; NULL when the Lease is fresh or cannot be read. The
 * caller frees it. */
static char *lease_of(struct kube_client *client, const char *node) {
    _cleanup_(freep) char *path =
        xasprintf("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/%s", node);
    struct kube_client once = *client; /* A copy of the client that borrows the same texts. */
    _cleanup_json_ json_t *lease = NULL;
    struct error ignored = {0};
    const char *time;
    int64_t renewed, now;

    once.patience_ms = 0;
    if (kube_get(&once, path, &lease, &ignored) == 0)
        client->clock_difference = once.clock_difference;
    client->requests = once.requests;
    time = json_text_at(lease, "spec.renewTime");
    now = host_now(client->host) + client->clock_difference;
    if (!time || rfc3339_parse(time, &renewed, &ignored) < 0 || now < renewed + RENEWED_SECONDS)
        return NULL;
    return xasprintf("its kubelet renewed its Lease %lld s ago; one that runs does so every 10 s",
                     (long long)(now - renewed));
}

void cluster_look_for_gone(struct cluster_asking *asking, const char *nodes_path) {
    const struct diag_report *report = asking->report;
    struct cluster_nodes *nodes = &asking->report->nodes;
    _cleanup_json_ json_t *places = json_object();
    _cleanup_(freep) bool *open = with_open_cells(report);
    _cleanup_(freep) bool *there = xcalloc(nodes->count, sizeof *there);
    _cleanup_(freep) bool *reached = xcalloc(nodes->count, sizeof *reached);
    struct error ignored = {0};
    size_t asked = 0;

    if (!open[nodes->count])
        return;
    for (size_t i = 0; i < nodes->count; i++)
        json_object_set_new(places, nodes->items[i].name, json_integer((json_int_t)i));
    if (kube_pages_each(asking->client, nodes_path, mark_nodes,
                        &(struct node_listing){nodes, places, there}, NULL, &ignored) == 0)
        for (size_t i = 0; i < nodes->count; i++)
            if (!there[i]) {
                nodes->items[i].ready = false;
                cluster_node_gone(&nodes->items[i], xstrdup("its Node was deleted"));
            }

    /* Of the remaining stopped nodes, those are gone whose kubelet is late, or whose pod no other
     * node's pod reaches since. */
    for (size_t i = 0; i < report->cells.count; i++)
        if (cluster_cell_is_between_pods(&report->cells.items[i]) &&
            !diag_cell_is_open(&report->cells.items[i]))
            reached[report->cells.items[i].to_node] = true;
    for (size_t i = 0; i < nodes->count; i++) {
        struct cluster_node *n = &nodes->items[i];
        char *why;

        if (!asking->probes[i].stopped || n->waiting)
            continue;
        why = asked++ < LEASES_MAX ? lease_of(asking->client, n->name) : NULL;
        if (!why && !reached[i])
            why = xstrdup(NO_MORE ", and no other node's pod reaches it");
        if (why)
            cluster_node_gone(n, why);
    }
}
