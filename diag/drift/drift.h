/* What HNS has compared with what Kubernetes says should be there. */
#pragma once

#include "diag/drift/cluster.h"
#include "host/host.h"
#include "netsetup/hns/hcn_records.h"

/* What the API server and HCN answer; NULL = could not be read. */
struct drift_seen {
    const struct drift_cluster *cluster;
    const struct hcn_endpoints *endpoints; /* of HNS, all of them */
    const struct hcn_balancers *balancers;
    const json_t *namespaces; /* of HNS: documents */
    const json_t *networks;   /* of HNS: the pods' */
    const json_t *nodes;      /* a List of all */
    const struct host_routes *routes;
    const struct text_list *probes;    /* addresses of pods that the API may not tell of yet */
    const char *network;               /* the pods' HNS network */
    const struct text_list *pod_cidrs; /* the cluster's pods, all of them */
    int64_t now;                       /* seconds since 1970 */
};

struct drift_index; /* what is looked for by its key: inside diag/drift */

/* A kind of difference: how its rows are found, named and repaired. */
struct drift_kind {
    const char *key;  /* the list's name in documents */
    const char *what; /* what its rows are */
    const char *name; /* the member that names a row */
    /* Adds each that it finds; where something that it needs was not read, none. Pure. */
    void (*find)(const struct drift_seen *seen, struct drift_index *index, json_t *rows);
    const char *left_one, *left_many;    /* of what nobody owns: what one, what two are called */
    bool by_kube_proxy;                  /* a restart of kube-proxy repairs it */
    char *(*command)(const json_t *row); /* what takes one away; NULL: nothing. The caller frees */
};
enum { DRIFT_KINDS = 11 };
/* servicesWithoutLoadBalancer: {service: "ns/name", frontend: "10.96.0.10:53/UDP"}
 * loadBalancersWithoutService: {id, frontend}
 * loadBalancersWithoutEndpoint: {id, frontend}: HNS has none of its endpoints any more, or none
 *   with an address
 * loadBalancersToOtherPods: {id, frontend, address}: no endpoint of the Service has it
 * loadBalancersToOtherPort: {id, frontend, port}: no endpoint of the Service has that port
 * staleRemoteEndpoints: {id, address}
 * endpointsWithoutPod: {id, name, address}
 * podsWithoutEndpoint: {pod: "ns/name", address}
 * namespacesWithoutPod: {id, address}
 * routesWithoutNode: {prefix, by, in: "HNS|Windows"}: to pods of a node that the cluster does not
 *   have
 * kubeProxyPods: {pod}: runs kube-proxy, for a node whose service does
 * A Service counts when an endpoint of it is ready, kube-proxy is to serve it on Windows, and it
 * is older than a minute, which kube-proxy takes at most. */
extern const struct drift_kind drift_kinds[DRIFT_KINDS];

/* {KEY: [row]} of the kinds above, each absent where nothing is wrong. Pure; new reference. */
json_t *drift_compare(const struct drift_seen *seen);
/* Asks Kubernetes: Services, EndpointSlices and the pods of that node (NULL: none). Three lists. */
void drift_ask(struct kube_client *client, const char *node, struct drift_cluster *ret);
/* Compares as drift_compare() does, and adds `unread` and `commands` as drift_read() does. Pure;
 * new reference. */
json_t *drift_judge(const struct drift_seen *seen);
/* Reads all that and compares; without `pod_cidrs` no Node is asked for, and Nodes that this
 * identity may not list are left out; then the routes are, too; adds `unread`: ["the Services:
 * why"] and `commands`: what to do by hand, one command each, a restart of kube-proxy first. At
 * most DRIFT_MS and one call's time. New reference. `known` (or NULL): what of
 * Services and EndpointSlices it has is not asked for. *ret_balancers (or NULL): HNS' load
 * balancers, hcn_balancers_free(); false: it did not tell them. */
enum { DRIFT_MS = 5000 };
json_t *drift_read(struct host *host, struct kube_client *client, const char *node,
                   const char *network, const struct text_list *pod_cidrs,
                   const struct drift_cluster *known, struct hcn_balancers *ret_balancers,
                   bool *ret_has_balancers);
/* What a comparison found that nobody owns: "2 namespaces without a pod, 1 route to a node that is
 * gone"; NULL = nothing. The caller frees. Pure. */
char *drift_left_over(const json_t *drift);

/* How many ready endpoints the Service of that cluster IP has, of what drift_ask() answered; -1 =
 * not known, DRIFT_NO_SERVICE = no Service has it. */
enum { DRIFT_NO_SERVICE = -2 };
int drift_ready_endpoints(const struct drift_cluster *cluster, const char *vip);
/* What the Service of that cluster IP is said to be: {ports: ["53/UDP"], internalTrafficPolicy?,
 * pods: {"10.244.0.53": "node"}} (of at most 100 the node that its EndpointSlices name); NULL = not
 * known, or no Service has it. New reference. */
json_t *drift_service_spec(const struct drift_cluster *cluster, const char *vip);
