/* How the kinds of difference are found, and what they read of Services. Inside diag/drift. */
#pragma once

#include "base/text_table.h"
#include "diag/drift/drift.h"

/* One of HNS' endpoints; the texts are the document's, NULL where it does not say. */
struct drift_endpoint {
    const char *id, *name, *address; /* the first */
    bool remote;
};

/* One of its load balancers. What it has several of lies behind each other in the index's lists,
 * from the first up to the end. */
struct drift_balancer {
    const char *id, *vip;        /* the first */
    bool names_endpoints;        /* it has a list of them, which may be empty */
    size_t address, address_end; /* balanced: those of its endpoints that HNS has */
    size_t frontend, frontend_end;
    size_t mapping, mapping_end;
};
struct drift_mapping {
    const char *port; /* "ns/name dns": that of the Service at the load balancer's address; NULL */
    long long inside; /* the pods' port; 0: not said */
};

/* What is looked for by its key. Of what was not read there is nothing. */
struct drift_index {
    /* Of Services: "10.96.0.10": "ns/name", "10.96.0.10:53/UDP": "ns/name dns"; a port without a
     * name: "ns/name " */
    struct text_table ports;
    struct text_table slices;  /* set of "ns/name": Services that have an EndpointSlice */
    struct text_table pods;    /* set of "ns/name 10.244.2.5": their endpoints */
    struct text_table ready;   /* set of "ns/name dns": their ports that have a ready endpoint */
    struct text_table numbers; /* set of "ns/name dns" and "ns/name dns 53", which have endpoints */
    /* Set of frontends (as below) that load balancers may be for; of a Service of type LoadBalancer
     * its addresses, too: the port of its health check is not among its ports */
    struct text_table wanted;
    /* Set of addresses: kube-proxy makes a remote endpoint for each endpoint elsewhere and, on
     * overlay, for each cluster IP */
    struct text_table used;
    struct text_table addresses;      /* of HNS' endpoints the first of each by its id; "": none */
    struct drift_endpoint *endpoints; /* of HNS */
    struct drift_balancer *balancers;
    struct drift_mapping *mappings;
    const char **balanced;      /* addresses of endpoints; "": it has none */
    struct text_list frontends; /* "10.96.0.10:53/UDP", ":30080/TCP" at a node port */
    size_t endpoint_count, balancer_count, mapping_count, balanced_count;
};
/* Goes through each list once. Pure; drift_index_free(). */
void drift_index_make(const struct drift_seen *seen, struct drift_index *ret);
void drift_index_free(struct drift_index *index);
/* The address of the endpoint of that id, which HNS spells in either case; NULL: HNS does not have
 * it. */
const char *drift_address_of(struct drift_index *index, const char *id);

/* The `find` of a kind (struct drift_kind), in the order of the table. */
void drift_find_missing_balancers(const struct drift_seen *seen, struct drift_index *index,
                                  json_t *rows);
void drift_find_orphan_balancers(const struct drift_seen *seen, struct drift_index *index,
                                 json_t *rows);
void drift_find_empty_balancers(const struct drift_seen *seen, struct drift_index *index,
                                json_t *rows);
void drift_find_other_pods(const struct drift_seen *seen, struct drift_index *index, json_t *rows);
void drift_find_other_ports(const struct drift_seen *seen, struct drift_index *index, json_t *rows);
void drift_find_stale_endpoints(const struct drift_seen *seen, struct drift_index *index,
                                json_t *rows);
void drift_find_podless_endpoints(const struct drift_seen *seen, struct drift_index *index,
                                  json_t *rows);
void drift_find_missing_endpoints(const struct drift_seen *seen, struct drift_index *index,
                                  json_t *rows);
void drift_find_podless_namespaces(const struct drift_seen *seen, struct drift_index *index,
                                   json_t *rows);
void drift_find_nodeless_routes(const struct drift_seen *seen, struct drift_index *index,
                                json_t *rows);
void drift_find_kube_proxies(const struct drift_seen *seen, struct drift_index *index,
                             json_t *rows);

/* Sets. */
void drift_put(struct text_table *set, const char *text); /* NULL and "": nothing is added */
void drift_put_owned(struct text_table *set, char *text); /* and frees the text */
bool drift_has(struct text_table *set, const char *text);

/* Adds the addresses of a Service at which others reach it. */
void drift_add_vips(const json_t *service, struct text_list *ret);
/* The Service of a List that has that cluster IP; NULL: none. */
const json_t *drift_service_at(const json_t *services, const char *vip);
/* "10.96.0.10:53/UDP", ":30080/TCP" at a node port; the caller frees. */
char *drift_frontend(const char *vip, long long port, const char *protocol);
/* Of a port of a Service or EndpointSlice, "TCP" by default. */
const char *drift_port_protocol(const json_t *port);
/* The name of the slice's Service (its label kubernetes.io/service-name); NULL: of none. */
const char *drift_service_of(const json_t *slice);
bool drift_is_slice_of(const json_t *slice, const json_t *service);
