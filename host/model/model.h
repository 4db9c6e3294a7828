/* A simulated Windows server as one JSON document, for hosts that are not Windows: services,
 * registry, network, firewall, HNS. The functions only read and change that document and never
 * touch the machine.
 *
 * Top-level members (each is an object or array that always exists): services, registry, firewall,
 * adapters, routes, ports, drives, facts, hns, events, pipes. */
#pragma once

#include "host/host_ops.h"

/* Returns the state of a new Windows Server 2022: one adapter "Ethernet" with the static
 * address 10.0.0.21/24, and no service of winjoin. New reference. */
json_t *model_new(void);

/* ---- services: the functions follow the contracts in host.h ---- */
int model_service_put(json_t *state, const struct host_service *service, struct error *err);
int model_service_query(json_t *state, const char *name, struct host_service *ret,
                        struct error *err);
int model_service_start(json_t *state, const char *name, struct error *err);
/* Stop and delete a service. An absent service is ignored. */
void model_service_stop(json_t *state, const char *name);
void model_service_delete(json_t *state, const char *name);

/* ---- network ---- */
void model_adapters(json_t *state, struct host_adapters *ret);
/* Returns the adapter with this name (borrowed), or NULL when absent. */
json_t *model_adapter_by_alias(json_t *state, const char *alias);
void model_routes(json_t *state, struct host_routes *ret);
/* Reads the member "neighbors" of the state: [{"address","mac","fixed"}]. */
void model_neighbors(json_t *state, struct host_neighbors *ret);
int model_route_set(json_t *state, const struct host_route *route, bool add, struct error *err);
int model_address_add(json_t *state, uint32_t index, const char *address, struct error *err);
int model_dns_set(json_t *state, uint32_t index, const struct text_list *servers,
                  struct error *err);
int model_forwarding(json_t *state, uint32_t index, int family, bool *ret, struct error *err);
int model_interface_set(json_t *state, uint32_t index, int family, enum host_interface_value what,
                        uint32_t value, struct error *err);
bool model_port_in_use(json_t *state, bool udp, unsigned port);

/* ---- registry, firewall, facts ---- */
int model_registry_get(json_t *state, const char *key, const char *value, char **ret,
                       struct error *err);
/* Sets a registry value. `data` NULL removes the value, and its key when the key is then empty. */
void model_registry_set(json_t *state, const char *key, const char *value, const char *data);
void model_firewall_put(json_t *state, const struct host_firewall_rule *rule);
void model_firewall_remove(json_t *state, const char *name);
bool model_firewall_has(json_t *state, const char *name);
void model_facts(json_t *state, struct host_facts *ret);
void model_event_source_set(json_t *state, const char *file);
void model_event(json_t *state, char level, unsigned event_id, const char *text);
bool model_pipe_exists(json_t *state, const char *path);

/* ---- HNS ---- */
/* A function that answers HNS calls. `function` is the name of the exported function, and
 * `arguments` are all its inputs in order. *ret_result is the first output except the ErrorRecord.
 * Returns the HRESULT. */
typedef uint32_t model_hns_answer(void *context, const char *function, const char *const *arguments,
                                  size_t count, char **ret_result, char **ret_error_record);
/* Answers HNS calls from a plain store of documents under "hns", as HNS 13.2, without schema and
 * rules (tests/hns has the strict simulation). `context` is the state; handles are the same as ids.
 */
model_hns_answer model_hns_store;
/* Lets `answer` (NULL means the store) answer a call, then changes the adapters as Windows does.
 * The first external network on an adapter creates "vEthernet (<alias>)" with the same MAC. A DHCP
 * address moves to it; a static address is lost and replaced by 169.254.77.7/16, as it sometimes
 * happens on Windows. The removal of the last network moves addresses back in the same manner and
 * removes the adapter. An endpoint that is attached to the host (version 1) becomes the adapter
 * "vEthernet (<endpoint's name>)". */
uint32_t model_hns(json_t *state, model_hns_answer *answer, void *context, const char *function,
                   const char *const *arguments, size_t count, char **ret_result,
                   char **ret_error_record);
void model_switch_network_made(json_t *state, const char *id, const json_t *network);
void model_switch_network_gone(json_t *state, const char *id);
void model_switch_endpoint_attached(json_t *state, const json_t *v1_endpoint);
/* Removes the adapters whose member `of` ("endpoint", "network", "alias") is `id`. */
void model_adapters_remove(json_t *state, const char *of, const char *id);
