/* The cluster that the tests of the network parts speak of: kubeadm's defaults, node 10.0.0.21/24.
 */
#ifndef TESTS_UNIT_NETWORK_SCENE_H
#define TESTS_UNIT_NETWORK_SCENE_H

#include <string.h>

#include "base/memory.h"
#include "netsetup/agents/agent.h"
#include "netsetup/network_plan.h"

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

#endif
