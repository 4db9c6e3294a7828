/* Watches Nodes, updates the routes to their Pods, and announces this node's network to them. */
#include "node/keeper/network_keeper.h"

#include "base/log.h"
#include "kube/object.h"
#include "netsetup/agents/agent.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/routes/routes.h"
#include "node/chosen.h"

#define NODES "/api/v1/nodes"

/* One client is used for at most this time, because the node's certificate is renewed meanwhile. */
enum { WATCH_MS = 3600000, AGAIN_MS = 10000, OTHERS_MAX = 4 };

struct follower {
    struct host *host;
    struct chosen chosen;
    struct network_plan plan;
    json_t *remembered; /* The stored routes, an array. */
    json_t *routes;     /* An object: name of a Node -> its routes. */
    bool listed;        /* All Nodes were read once. */
    bool behind;        /* The machine's routes are out of date. */
    bool written;       /* The machine's routes are equal to `remembered`. */
    bool stale;         /* Another join has written its file. */
    json_t *own;        /* This node's own Node object; NULL until it is known. */
    struct kube_client *client;
    uint64_t write_ms, announce_ms;
    peer_watch_tick *tick;
    void *context;
};

/* ---- reading Nodes ---- */

static void read_node(struct follower *f, json_t *node) {
    const char *name = json_text_at(node, "metadata.name");
    _cleanup_json_ json_t *nodes = json_pack("{s:[O]}", "items", node), *routes = NULL;

    if (!name)
        return;
    /* Keeps this node's own Node object, which announce() needs. */
    if (text_equal(name, f->chosen.node)) {
        json_decref(f->own);
        f->own = json_deep_copy(node);
    }
    routes = node_routes_of_nodes(&f->plan, nodes, f->chosen.node);
    if (json_equal(routes, json_object_get(f->routes, name)))
        return;
    json_object_set(f->routes, name, routes);
    f->behind = true;
}

/* ---- writing routes ---- */

/* Stores the routes. Fails if a join has written its file meanwhile; the watch then restarts. */
static int remember(struct follower *f, json_t *routes, struct error *err) {
    _cleanup_(chosen_free) struct chosen now = {0};

    if (chosen_load(f->host, &now, err) < 0)
        return -1;
    f->stale = !json_equal(f->chosen.file, now.file);
    if (f->stale)
        return error_set(err, ERROR_CONFLICT, "'%s' was written by a join", CHOSEN_FILE);
    if (json_equal(routes, f->remembered))
        return 0;
    if (chosen_routes_write(f->host, &f->chosen, routes, err) < 0)
        return -1;
    json_decref(f->remembered);
    f->remembered = json_incref(routes);
    return 0;
}

/* Writes the routes. They are stored first, because reset removes only stored routes. Their order
 * stays the same as long as the routes do, since a join stores them in the machine's order. */
static int write_routes(struct follower *f, struct error *err) {
    _cleanup_json_ json_t *routes = json_array(), *both = json_array(), *added = NULL, *gone = NULL;
    _cleanup_json_ json_t *before = json_incref(f->remembered);
    bool all, same;

    json_each_member(f->routes, name, of_node) {
        (void)name;
        if (json_array_size(routes) < PEERS_MAX)
            json_array_extend(routes, of_node);
    }
    added = json_array_without(routes, before, NULL);
    json_array_extend(both, before);
    json_array_extend(both, added);
    all = json_array_size(both) == json_array_size(before);
    same = json_array_size(both) == json_array_size(routes);
    if (f->written && all && same)
        return 0;
    f->written = false;
    gone = json_array_without(before, routes, NULL);
    if (remember(f, both, err) < 0 || node_routes_remove(f->host, &f->plan, gone, err) < 0 ||
        node_routes_write(f->host, &f->plan, routes, true, err) < 0)
        return -1;
    log_message(LOG_INFO, "routes to the pods of %zu other node%s", json_array_size(routes),
                PLURAL(json_array_size(routes)));
    f->written = remember(f, same ? both : routes, err) == 0;
    return f->written ? 0 : -1;
}

static void catch_up(struct follower *f) {
    struct error why = {0};

    if (!f->listed || !f->behind || host_monotonic_ms(f->host) < f->write_ms)
        return;
    f->behind = write_routes(f, &why) < 0;
    if (f->behind) {
        log_message(LOG_WARNING, "%s", why.message);
        f->write_ms = host_monotonic_ms(f->host) + AGAIN_MS;
    }
}

/* ---- announcing this node ---- */

/* Writes this node's annotations when they are out of date: a network that was made again has
 * another address, to which other nodes must send. */
static void announce(struct follower *f) {
    const struct network_agent *agent = f->plan.agent;
    _cleanup_json_ json_t *annotations = NULL, *patch = NULL;
    _cleanup_(freep) char *path = NULL;
    struct hcn_network network = {0};
    struct network_peer own;
    struct error why = {0};
    bool announced = true; /* The Node has these annotations already. */

    if (!agent->announce || !f->own || host_monotonic_ms(f->host) < f->announce_ms)
        return;
    f->announce_ms = host_monotonic_ms(f->host) + AGAIN_MS;
    if (hcn_network_find(f->host, f->plan.name, &network, &why) < 0)
        return; /* The network will be made again in a moment. */
    network_peer_read(f->own, &own);
    annotations =
        agent->announce(&f->plan, &network, own.address ? own.address : f->plan.management_address);
    if (!annotations)
        f->announce_ms = UINT64_MAX; /* This mode needs no annotations. */
    json_each_member(annotations, key, value)
        announced &=
            json_equal(json_object_get(json_at(f->own, "metadata.annotations"), key), value);
    if (!annotations || announced)
        return;
    path = xasprintf("/api/v1/nodes/%s", own.node);
    patch = json_pack("{s:{s:O}}", "metadata", "annotations", annotations);
    if (kube_patch(f->client, path, "merge", patch, &why) < 0)
        log_message(LOG_WARNING, "tell other nodes this network's address: %s", why.message);
    else
        log_message(LOG_INFO, "told other nodes this network's address: %s", network.router_mac);
}

/* ---- watching Nodes ---- */

static int read_nodes(void *context, const json_t *items, struct error *) {
    json_each(items, i, node)
        read_node(context, node);
    return 0;
}

/* Reads Nodes page by page, so that thousands of Nodes need little memory. */
static int list(void *context, struct kube_client *client, char **ret_version, struct error *err) {
    struct follower *f = context;
    json_t *before = f->routes;

    f->routes = json_object();
    if (kube_pages_each(client, NODES, read_nodes, f, ret_version, err) < 0) {
        json_decref(f->routes);
        f->routes = before;
        return -1;
    }
    json_decref(before);
    f->listed = f->behind = true;
    catch_up(f); /* Later changes are written together at the next tick. */
    return 0;
}

static int on_event(void *context, const char *type, const json_t *object, struct error *) {
    struct follower *f = context;
    const char *name = json_text_at(object, "metadata.name");

    if (!text_equal(type, "DELETED")) {
        read_node(f, (json_t *)object);
    } else if (name && json_object_del(f->routes, name) == 0) {
        f->behind = true;
    }
    return 0;
}

static int on_tick(void *context, unsigned waited_ms, struct error *err) {
    struct follower *f = context;

    catch_up(f);
    announce(f);
    if (f->stale)
        return error_set(err, ERROR_CONFLICT, "'%s' was written by a join", CHOSEN_FILE);
    return f->tick(f->context, waited_ms, err);
}

int node_routes_follow(struct host *host, struct http *http, const struct kube_watch *others,
                       size_t count, peer_watch_tick *tick, void *context, struct error *err) {
    struct follower f = {.host = host, .tick = tick, .context = context};
    _cleanup_json_ json_t *ever = NULL, *left = NULL;
    struct kube_watch all[1 + OTHERS_MAX] = {
        {.path = NODES, .protobuf = true, .list = list, .on_event = on_event, .context = &f}};
    struct kube_client client = {0};
    int result;

    if (chosen_load(host, &f.chosen, err) < 0)
        return -1;
    result = network_plan_make(&f.chosen.network, &f.plan, err);
    if (result == 0) {
        /* Removes routes that were written for an earlier join and not since. */
        ever = chosen_routes_ever(host, &f.chosen);
        f.remembered = chosen_routes(host, &f.chosen);
        left = json_array_without(ever, f.remembered, NULL);
        if (json_array_size(left) && (node_routes_remove(host, &f.plan, left, err) < 0 ||
                                      chosen_routes_write(host, &f.chosen, f.remembered, err) < 0))
            result = -1;
    }
    if (result == 0 && !f.plan.writes_routes && !count)
        result = error_set(err, ERROR_ABSENT, "this node's network needs no routes by winjoin");
    if (result == 0) {
        /* A plan without routes needs no watch of Nodes. */
        size_t first = f.plan.writes_routes;

        for (size_t i = 0; i < count && i < OTHERS_MAX; i++)
            all[first + i] = others[i];
        all[0].timeout_ms = WATCH_MS;
        all[0].on_tick = on_tick;
        all[0].tick_context = &f;
        f.routes = json_object();
        f.client = &client;
        result = kube_client_open_file(http, host, NODE_KUBECONFIG, &client, err) < 0
                     ? -1
                     : kube_watch(&client, all, first + count, err);
        kube_client_close(&client);
    }
    json_decref(f.own);
    json_decref(f.routes);
    json_decref(f.remembered);
    network_plan_free(&f.plan);
    chosen_free(&f.chosen);
    return result;
}
