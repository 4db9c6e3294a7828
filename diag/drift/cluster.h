/* What Kubernetes says of Services and their endpoints, in small records: of an object of two
 * kilobytes of JSON they keep some hundred bytes. */
#pragma once

#include "base/json_scan.h"
#include "kube/client.h"

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
const char *drift_path(enum drift_what what); /* "/api/v1/services" */
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
/* The watches, for kube_watch_all(): they go on from where an earlier one has ended. Where a server
 * grants no watch, or nothing at all, it is asked for the list every quarter of an hour. What they
 * borrow is the follow's. */
void drift_follow_watches(struct drift_follow *follow, struct kube_watch ret[DRIFT_WATCHES]);
void drift_follow_free(struct drift_follow *follow);
