/* What HNS has compared with what Kubernetes says should be there. */
#pragma once

#include "base/json_scan.h"
#include "host/host.h"
#include "kube/client.h"
#include "netsetup/hns/hcn_records.h"

/* What Kubernetes says of Services and their endpoints, in small records: of an object of two
 * kilobytes of JSON they keep some hundred bytes. */

/* Text is owned; "" where the object does not say. */
struct drift_port {
    char *name;
    char protocol[8]; /* "TCP" by default */
    long long number, node_port;
};
struct drift_service {
    char *name;              /* "ns/name" */
    char *vip;               /* its cluster IP */
    struct text_list others; /* more addresses at which others reach it */
    struct drift_port *ports;
    size_t port_count;
    int64_t created;  /* seconds since 1970 */
    char traffic[16]; /* internalTrafficPolicy */
    bool any_port;    /* of type LoadBalancer */
    bool other_proxy; /* not kube-proxy's */
};

/* An address of an endpoint. */
struct drift_pod {
    char *address, *node; /* NULL: no node is named */
};
struct drift_slice {
    char *name;    /* "ns/name" */
    char *service; /* "ns/name" of the Service; "ns/": of none */
    struct drift_pod *pods;
    size_t pod_count;
    struct drift_port *ports;
    size_t port_count;
    unsigned endpoints, ready; /* how many, and of them */
};

/* Both sorted by name after drift_cluster_list(). */
struct drift_cluster {
    bool has_services, has_slices; /* they were read */
    struct drift_service *services;
    struct drift_slice *slices;
    size_t service_count, slice_count;
    json_t *pods;   /* a List: those of this node; NULL: not read */
    json_t *unread; /* ["the Services: why"]; NULL: nothing */
};

/* Adds the objects of that kind at the prefix of a text ("items.*" of a list, "object" of an event)
 * behind the others. Where the text is no JSON those before are there. Kinds: json_scan()'s. */
enum drift_what { DRIFT_SERVICES, DRIFT_SLICES };
int drift_cluster_add(struct drift_cluster *cluster, enum drift_what what, const char *prefix,
                      const char *text, size_t len, struct error *err);
/* Reads all of them from the API server, page by page, in the place of what was there; after a
 * failure there are none. *ret_version (or NULL): where a watch can go on from. */
int drift_cluster_list(struct drift_cluster *cluster, enum drift_what what,
                       struct kube_client *client, char **ret_version, struct error *err);
/* Of an object as an event of a watch has it: it takes the place of that of its name, or is put
 * where it belongs; or it is gone. */
void drift_cluster_put(struct drift_cluster *cluster, enum drift_what what, const json_t *object);
void drift_cluster_remove(struct drift_cluster *cluster, enum drift_what what,
                          const json_t *object);
const char *drift_name(enum drift_what what); /* "Services" */
void drift_cluster_clear(struct drift_cluster *cluster, enum drift_what what);
void drift_cluster_free(struct drift_cluster *cluster);

/* ---- both followed by one watch each, while a service runs ---- */

enum { DRIFT_WATCHES = 2 };

/* Zero-initialise; drift_follow_free(). */
struct drift_follow {
    struct drift_cluster cluster; /* its pods stay NULL; what could not be listed is not there */
    size_t changes;               /* so many events and lists came */
    char *versions[DRIFT_WATCHES];
    struct drift_followed {
        struct drift_follow *follow;
        enum drift_what what;
    } sides[DRIFT_WATCHES];
};
/* The watches, for kube_watch(): they go on from where an earlier one has ended. Where a server
 * grants no watch, or nothing at all, it is asked for the list every quarter of an hour. What they
 * borrow is the follow's. */
void drift_follow_watches(struct drift_follow *follow, struct kube_watch ret[DRIFT_WATCHES]);
void drift_follow_free(struct drift_follow *follow);

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
    const char *left_one, *left_many; /* of what nobody owns: what one, what two are called */
    bool by_kube_proxy;               /* a restart of kube-proxy repairs it */
    const char *hns; /* what HNS calls one, where a command takes that away: "Endpoint" */
    bool is_route;   /* those of Windows a command deletes */
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
