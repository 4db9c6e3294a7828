/* Declares functions that find the kinds of difference, and their tables. For diag/drift only. */
#pragma once

#include "base/text.h"
#include "diag/drift/drift.h"

/* Tables for lookups by key. They hold nothing about lists that were not read. */
struct drift_index {
    /* Of Services: "10.96.0.10" gives "ns/name", and "10.96.0.10:53/UDP" gives "ns/name dns"; a
     * port without a name gives "ns/name ". */
    struct text_table ports;
    struct text_table slices; /* Set of "ns/name": Services that have an EndpointSlice. */
    struct text_table pods;   /* Set of "ns/name 10.244.2.5": their endpoints. */
    struct text_table ready;  /* Set of "ns/name dns": ports of Services with a ready endpoint. */
    /* Set of "ns/name dns" and "ns/name dns 53": ports of Services with endpoints, and the numbers
     * of these ports. */
    struct text_table numbers;
    /* Set of frontends ("10.96.0.10:53/UDP") that load balancers may be for. For a Service of type
     * LoadBalancer also its addresses alone, because the port of its health check is not among its
     * ports. */
    struct text_table wanted;
    /* Set of addresses that may have a remote endpoint: kube-proxy makes one for each endpoint on
     * another node and, on overlay, for each cluster IP. */
    struct text_table used;
    /* The address of each endpoint of HNS by its id in lower case; "" when it has none. */
    struct text_table addresses;
};
/* Makes the tables, reading each list once. Pure; the caller frees with drift_index_free(). */
void drift_index_make(const struct drift_observed *observed, struct drift_index *ret);
void drift_index_free(struct drift_index *index);
/* Returns the address of the HNS endpoint with that id, in upper or lower case. "" when the
 * endpoint has no address, NULL when HNS does not have the endpoint. */
const char *drift_address_of(struct drift_index *index, const char *id);

/* These are the functions `find` of the kinds (struct drift_kind), in the order of the table. */
void drift_find_missing_balancers(const struct drift_observed *observed, struct drift_index *index,
                                  json_t *rows);
void drift_find_orphan_balancers(const struct drift_observed *observed, struct drift_index *index,
                                 json_t *rows);
void drift_find_empty_balancers(const struct drift_observed *observed, struct drift_index *index,
                                json_t *rows);
void drift_find_other_pods(const struct drift_observed *observed, struct drift_index *index,
                           json_t *rows);
void drift_find_other_ports(const struct drift_observed *observed, struct drift_index *index,
                            json_t *rows);
void drift_find_stale_endpoints(const struct drift_observed *observed, struct drift_index *index,
                                json_t *rows);
void drift_find_podless_endpoints(const struct drift_observed *observed, struct drift_index *index,
                                  json_t *rows);
void drift_find_missing_endpoints(const struct drift_observed *observed, struct drift_index *index,
                                  json_t *rows);
void drift_find_podless_namespaces(const struct drift_observed *observed, struct drift_index *index,
                                   json_t *rows);

/* Adds a text to a set, where text_table_get() finds it; NULL and "" are not added. */
void drift_put(struct text_table *set, const char *text);
