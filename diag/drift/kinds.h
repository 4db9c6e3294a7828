/* How the kinds of difference are found, and what they read of Services. Inside diag/drift. */
#pragma once

#include "diag/drift/drift.h"

/* The `find` of a kind (struct drift_kind), in the order of the table. */
void drift_find_missing_balancers(const struct drift_seen *seen, json_t *rows);
void drift_find_orphan_balancers(const struct drift_seen *seen, json_t *rows);
void drift_find_empty_balancers(const struct drift_seen *seen, json_t *rows);
void drift_find_other_pods(const struct drift_seen *seen, json_t *rows);
void drift_find_other_ports(const struct drift_seen *seen, json_t *rows);
void drift_find_stale_endpoints(const struct drift_seen *seen, json_t *rows);
void drift_find_podless_endpoints(const struct drift_seen *seen, json_t *rows);
void drift_find_missing_endpoints(const struct drift_seen *seen, json_t *rows);
void drift_find_podless_namespaces(const struct drift_seen *seen, json_t *rows);
void drift_find_nodeless_routes(const struct drift_seen *seen, json_t *rows);
void drift_find_kube_proxies(const struct drift_seen *seen, json_t *rows);

/* Sets of texts: objects whose members count alone. */
void drift_put(json_t *set, const char *text); /* NULL and "": nothing is added */
bool drift_has(const json_t *set, const char *text);

/* Of HNS' endpoints the first address of each by its id, "" where it has none. New reference. */
json_t *drift_addresses(const json_t *endpoints);
/* The address of that id, which HNS spells in either case; NULL: HNS does not have it. */
const char *drift_address_of(const json_t *addresses, const char *id);

/* Adds to the set the addresses of a Service at which others reach it. */
void drift_add_vips(const json_t *service, json_t *set);
/* The Service of a List that has that cluster IP; NULL: none. */
const json_t *drift_service_at(const json_t *services, const char *vip);
/* Of a port of a Service or EndpointSlice, "TCP" by default. */
const char *drift_port_protocol(const json_t *port);
/* The name of the slice's Service (its label kubernetes.io/service-name); NULL: of none. */
const char *drift_service_of(const json_t *slice);
bool drift_is_slice_of(const json_t *slice, const json_t *service);
