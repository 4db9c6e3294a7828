/* Compares what HNS has with what Kubernetes says should be there. */
#pragma once

#include "base/json_scan.h"
#include "host/host.h"
#include "kube/client.h"
#include "netsetup/hns/hcn_records.h"

/* ---- small records of Services and EndpointSlices, to save memory ---- */

/* These records keep a few hundred bytes of an object with two kilobytes of JSON. All their text is
 * owned; "" when the object does not have it. */
struct drift_port {
    char *name;
    char protocol[8]; /* The protocol; "TCP" by default. */
    long long number, node_port;
};
struct drift_service {
    char *name;              /* The Service as "ns/name". */
    char *vip;               /* The cluster IP. */
    struct text_list others; /* Further addresses that lead to the Service. */
    struct drift_port *ports;
    size_t port_count;
    int64_t created;  /* The time of creation, in seconds since 1970. */
    char traffic[16]; /* The internalTrafficPolicy. */
    bool any_port;    /* The Service has type LoadBalancer. */
    bool other_proxy; /* Another proxy than kube-proxy serves it. */
};

/* One address of an endpoint. */
struct drift_pod {
    char *address, *node; /* `node` is NULL when the endpoint names no node. */
};
struct drift_slice {
    char *name; /* The EndpointSlice as "ns/name". */
    /* The Service as "ns/name"; "ns/" when the slice belongs to none. */
    char *service;
    struct drift_pod *pods;
    size_t pod_count;
    struct drift_port *ports;
    size_t port_count;
    unsigned endpoints, ready; /* The number of endpoints, and of ready ones. */
};

/* After drift_cluster_list() both lists are sorted by name. */
struct drift_cluster {
    bool has_services, has_slices; /* Says which lists were read. */
    struct drift_service *services;
    struct drift_slice *slices;
    size_t service_count, slice_count;
    /* A List of this node's pods; NULL when it was not read. */
    json_t *pods;
    /* What could not be read, such as ["the Services: why"]; NULL when nothing was to be read. */
    json_t *unread;
};

/* Reads objects of that kind from a text, at the prefix ("items.*" in a list, "object" in an
 * event), and adds them behind the existing ones. If the text is not valid JSON, the objects before
 * the error are added. Failure kinds are those of json_scan(). */
enum drift_what { DRIFT_SERVICES, DRIFT_SLICES };
int drift_cluster_add(struct drift_cluster *cluster, enum drift_what what, const char *prefix,
                      const char *text, size_t len, struct error *err);
/* Reads all objects of that kind from the API server, page by page, and replaces the earlier ones;
 * after a failure there are none. *ret_version gets the version from which a watch can continue;
 * ret_version may be NULL. */
int drift_cluster_list(struct drift_cluster *cluster, enum drift_what what,
                       struct kube_client *client, char **ret_version, struct error *err);
/* Both take an object as an event of a watch has it. drift_cluster_put() replaces the object with
 * the same name, or inserts it in the order of names; drift_cluster_remove() removes the object. */
void drift_cluster_put(struct drift_cluster *cluster, enum drift_what what, const json_t *object);
void drift_cluster_remove(struct drift_cluster *cluster, enum drift_what what,
                          const json_t *object);
void drift_cluster_clear(struct drift_cluster *cluster, enum drift_what what);
void drift_cluster_free(struct drift_cluster *cluster);

/* ---- Services and EndpointSlices, each followed by one watch while a service runs ---- */

enum { DRIFT_WATCHES = 2 };

/* The caller zero-initializes it, and frees it with drift_follow_free(). */
struct drift_follow {
    /* Its `pods` stay NULL; a list that failed is empty and marked as not read. */
    struct drift_cluster cluster;
    size_t changes; /* How many events and lists came so far. */
    char *versions[DRIFT_WATCHES];
    struct drift_followed {
        struct drift_follow *follow;
        enum drift_what what;
    } sides[DRIFT_WATCHES];
};
/* Fills the watches for kube_watch(): they continue where an earlier watch ended. If a server
 * grants no watch, or no access at all, the list is read every 15 minutes. The watches borrow from
 * `follow`. */
void drift_follow_watches(struct drift_follow *follow, struct kube_watch ret[DRIFT_WATCHES]);
void drift_follow_free(struct drift_follow *follow);

/* The answers of the API server and of HNS; NULL means that something could not be read. */
struct drift_observed {
    const struct drift_cluster *cluster;
    const struct hcn_endpoints *endpoints; /* All endpoints of HNS. */
    const struct hcn_balancers *balancers;
    const json_t *namespaces; /* The namespaces of HNS, as its documents. */
    const json_t *networks;   /* The HNS networks of the pods, as documents of HNS. */
    const json_t *nodes;      /* A List of all Nodes. */
    const struct host_routes *routes;
    /* Addresses of probe pods, which the API server may not know yet. */
    const struct text_list *probes;
    const char *network;               /* The name of the pods' HNS network. */
    const struct text_list *pod_cidrs; /* The prefixes of all pods of the cluster. */
    int64_t now;                       /* The present time, in seconds since 1970. */
};

struct drift_index; /* Tables for fast lookups, used only in diag/drift. */

/* A kind of difference: how its rows are found, named and repaired. */
struct drift_kind {
    const char *key;  /* The name of the kind's list in documents. */
    const char *what; /* The description of its rows. */
    const char *name; /* The member that names a row. */
    /* Adds a row for each difference; adds none when something that it needs was not read. Pure. */
    void (*find)(const struct drift_observed *observed, struct drift_index *index, json_t *rows);
    /* For objects that nobody owns: words for one, and for several. */
    const char *left_one, *left_many;
    bool by_kube_proxy; /* A restart of kube-proxy repairs it. */
    /* The type of object that a command of HNS removes, such as "Endpoint"; NULL when there is no
     * such command. */
    const char *hns;
    bool is_route; /* The rows are routes; a command removes those of Windows. */
};
enum { DRIFT_KINDS = 11 };
/* The kinds and the members of their rows:
 *   servicesWithoutLoadBalancer: {service: "ns/name", frontend: "10.96.0.10:53/UDP"}
 *   loadBalancersWithoutService: {id, frontend}
 *   loadBalancersWithoutEndpoint: {id, frontend}: HNS has none of its endpoints any more, or none
 *     with an address
 *   loadBalancersToOtherPods: {id, frontend, address}: no endpoint of the Service has the address
 *   loadBalancersToOtherPort: {id, frontend, port}: no endpoint of the Service has that port
 *   staleRemoteEndpoints: {id, address}
 *   endpointsWithoutPod: {id, name, address}
 *   podsWithoutEndpoint: {pod: "ns/name", address}
 *   namespacesWithoutPod: {id, address}
 *   routesWithoutNode: {prefix, by, in: "HNS|Windows"}: leads to pods of a node that the cluster
 *     does not have
 *   kubeProxyPods: {pod}: runs kube-proxy on a node whose Windows service does so, too
 *
 * A Service counts when one of its endpoints is ready, kube-proxy on Windows has to serve it, and
 * it is older than a minute, the longest time that kube-proxy takes. */
extern const struct drift_kind drift_kinds[DRIFT_KINDS];

/* Asks Kubernetes for Services, EndpointSlices and the pods of that node (NULL means no pods), with
 * one list each. Does not ask for the Services and EndpointSlices that `known` (or NULL) already
 * has. ret->unread names what could not be read. The caller frees with drift_cluster_free(). */
void drift_ask(struct kube_client *client, const char *node, const struct drift_cluster *known,
               struct drift_cluster *ret);
/* Compares Kubernetes with HNS. Returns {KEY: [row]} with the kinds above in which something
 * differs, with `unread` of the cluster, and with `commands` to run by hand, a restart of
 * kube-proxy first. Pure; returns a new reference. */
json_t *drift_judge(const struct drift_observed *observed);
/* Reads the answers of Kubernetes and HNS and compares them with drift_judge(). Without `pod_cidrs`
 * no Node is read, and Nodes that this identity may not list are left out; then routes are not
 * compared. Takes at most DRIFT_MS and the time of one call. Returns a new reference. Does not ask
 * for the Services and EndpointSlices that `known` (or NULL) already has. *ret_balancers (or NULL)
 * gets HNS's load balancers (hcn_balancers_free()); *ret_has_balancers is false when HNS did not
 * list them. */
enum { DRIFT_MS = 5000 };
json_t *drift_read(struct host *host, struct kube_client *client, const char *node,
                   const char *network, const struct text_list *pod_cidrs,
                   const struct drift_cluster *known, struct hcn_balancers *ret_balancers,
                   bool *ret_has_balancers);
/* Counts the objects of a comparison that nobody owns: "2 namespaces without a pod, 1 route to a
 * node that is gone". NULL when each object has an owner. The caller frees it. Pure. */
char *drift_left_over(const json_t *drift);

enum { DRIFT_NO_SERVICE = -2 };
/* Returns the number of ready endpoints of the Service with that cluster IP, from what drift_ask()
 * read; -1 when unknown, DRIFT_NO_SERVICE when no Service has the address. */
int drift_ready_endpoints(const struct drift_cluster *cluster, const char *vip);
/* Describes the Service with that cluster IP: {ports: ["53/UDP"], internalTrafficPolicy?, pods:
 * {"10.244.0.53": "node"}}, with the nodes of at most 100 pods as its EndpointSlices name them.
 * NULL when unknown, or when no Service has the address. Returns a new reference. */
json_t *drift_service_spec(const struct drift_cluster *cluster, const char *vip);
