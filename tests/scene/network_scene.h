/* The cluster that the tests of the network parts speak of: kubeadm's defaults, node 10.0.0.21/24.
 */
#pragma once

#include <string.h>

#include "base/memory.h"
#include "netsetup/agents/agent.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/nic/nic.h"
#include "netsetup/plan/network_plan.h"
#include "node/chosen.h"
#include "node/keeper/network_keeper.h"

struct scene {
    struct network_input input;
    struct network_plan plan;
    struct error err;
};

/* "overlay" or "l2bridge" with HNS 13.2 and pods 10.244.1.0/24. */
static inline void scene_open(struct scene *scene, const char *mode) {
    *scene = (struct scene){.input = {.mode = mode,
                                      .adapter = "Ethernet",
                                      .pod_cidr = "10.244.1.0/24",
                                      .management = "10.0.0.21/24",
                                      .dns_domain = "cluster.local",
                                      .hns = {13, 2}}};
    text_list_add(&scene->input.cluster_pod_cidrs, "10.244.0.0/16");
    text_list_add(&scene->input.service_cidrs, "10.96.0.0/12");
    text_list_add(&scene->input.dns_servers, "10.96.0.10");
}

static inline int scene_plan(struct scene *scene) {
    return network_plan_make(&scene->input, &scene->plan, &scene->err);
}

/* The routes to these nodes' pods, as the plan's mode writes them; the caller's reference. */
static inline json_t *scene_routes(const struct network_plan *plan,
                                   const struct network_peer *peers, size_t count) {
    json_t *routes = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(routes, plan->mode->route_to(plan, &peers[i]));
    return routes;
}

static inline void scene_close(struct scene *scene) {
    text_list_free(&scene->input.cluster_pod_cidrs);
    text_list_free(&scene->input.service_cidrs);
    text_list_free(&scene->input.dns_servers);
    text_list_free(&scene->input.exclude_from_nat);
    network_plan_free(&scene->plan);
}

/* The networks of a node that has joined, on this host. */
static inline void scene_make_networks(struct scene *scene, struct host *host, const char *mode,
                                       const char *plugin) {
    struct nic_snapshot snapshot = {0};
    struct nic_restored result = {0};
    struct hcn_network network = {0};

    scene_open(scene, mode);
    scene->input.plugin = plugin;
    assert_int_equal(scene_plan(scene), 0);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    if (scene->plan.base_name)
        assert_int_equal(nic_guard_ensure(host, &scene->plan, &snapshot, NULL, NULL, &result, NULL),
                         0);
    assert_int_equal(hcn_pod_network_ensure(host, &scene->plan, &network, NULL, NULL), 0);
    nic_snapshot_free(&snapshot);
}

/* What that join wrote down, with the routes to other nodes (taken over) or NULL. */
static inline void scene_write_chosen(const struct scene *scene, struct host *host, json_t *peers) {
    const struct chosen chosen = {.network = scene->input, .node = "win-7k2"};
    _cleanup_json_ json_t *file = chosen_json(&chosen);
    _cleanup_(freep) char *text = NULL;

    if (peers)
        json_object_set_new(file, "peers", peers);
    text = json_write(file);
    assert_int_equal(host_write(host, CHOSEN_FILE, text, strlen(text), HOST_SECRET, NULL), 0);
}

/* The kubeconfig of a node whose API server is https://k. */
static inline void scene_write_kubeconfig(struct host *host) {
    static const char config[] =
        "{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://k\"}}],\"users\":[{"
        "\"name\":\"u\",\"user\":{\"token\":\"t\"}}],\"contexts\":[{\"name\":\"x\",\"context\":{"
        "\"cluster\":\"c\",\"user\":\"u\"}}],\"current-context\":\"x\"}";

    assert_int_equal(host_write(host, NODE_KUBECONFIG, config, strlen(config), HOST_SECRET, NULL),
                     0);
}
