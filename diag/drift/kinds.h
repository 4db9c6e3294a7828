/* How the kinds of difference are found, and what they read of Services. Inside diag/drift. */
#pragma once

#include "base/text.h"
#include "diag/drift/drift.h"

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
    struct text_table addresses; /* of HNS' endpoints the first of each by its id; "": none */
};
/* Goes through each list once. Pure; drift_index_free(). */
void drift_index_make(const struct drift_seen *seen, struct drift_index *ret);
void drift_index_free(struct drift_index *index);
/* The address of the endpoint of that id, which HNS spells in either case, "": it has none; NULL:
 * HNS does not have it. */
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

/* Of a set, which text_table_get() asks; NULL and "": nothing is added. */
void drift_put(struct text_table *set, const char *text);
