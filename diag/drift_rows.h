/* The parts of a comparison with HNS. Inside diag. */
#pragma once

#include "diag/drift.h"

/* Adds a row to the list `key`, which it makes; takes the row. */
void drift_add_row(json_t *drift, const char *key, json_t *row);
/* Of a port of a Service or EndpointSlice, "TCP" by default; or of an HNS PortMapping. */
const char *drift_port_protocol(const json_t *port);
const char *drift_mapping_protocol(const json_t *mapping);
/* Does the EndpointSlice belong to the Service (its label kubernetes.io/service-name)? */
bool drift_is_slice_of(const json_t *slice, const json_t *service);
/* `pods`: the addresses of this node's pods, as keys. */
void drift_compare_namespaces(const struct drift_seen *seen, const json_t *pods, json_t *drift);
void drift_compare_backends(const struct drift_seen *seen, json_t *drift);
void drift_compare_ports(const struct drift_seen *seen, json_t *drift);
void drift_compare_routes(const struct drift_seen *seen, json_t *drift);
void drift_find_proxies(const struct drift_seen *seen, json_t *drift);
/* What to do by hand against what is there. */
void drift_add_commands(json_t *drift);
