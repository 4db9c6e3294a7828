/* What the CNI plugins share: the CNI calling convention, host-local, the endpoint. */
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "host/host.h"

#include <stdbool.h>

enum { CNI_CODE_ENVIRONMENT = 4, CNI_CODE_DECODE = 6, CNI_CODE_INTERNAL = 999 };

/* One call of a plugin: its environment and its configuration. */
struct cni_call {
    struct host *host;
    char *command, *container, *netns, *interface, *path;
    json_t *conf;
};

/* Fills Policies, MacAddress and Routes of an endpoint document, whose Name, HostComputeNetwork,
 * IpConfigurations and Dns are there; ipam is host-local's result or NULL. */
typedef int cni_complete(const struct cni_call *call, const json_t *network, const json_t *ipam,
                         json_t *endpoint, struct error *err);

struct cni_plugin {
    const char *name;
    const char *const *network_types; /* NULL-terminated */
    bool reads_v1_network;            /* asks HNSCall GET /networks/ first, as win-overlay does */
    cni_complete *complete;
};

/* Reads environment and standard input, acts, prints; the program's exit code. */
int cni_plugin_main(const struct cni_plugin *plugin);

/* For host-local, which speaks the same convention. add or del print nothing themselves: *ret is
 * the result to print (NULL: nothing). */
typedef int cni_act(const struct cni_call *call, json_t **ret, struct error *err);
int cni_main(cni_act *add, cni_act *del);

/* Appends a policy unless an equal one is there; steals settings. */
void cni_add_policy(json_t *endpoint, const char *type, json_t *settings);
/* The policies of the configuration (those named EndpointPolicy). */
void cni_add_configured_policies(const struct cni_call *call, json_t *endpoint);
/* Runs the IPAM plugin that the configuration names beside us, with that
 * configuration; *ret is NULL when it names none. */
bool cni_has_ipam(const struct cni_call *call);
int cni_run_ipam(const struct cni_call *call, const char *command, json_t **ret, struct error *err);
/* HcnModifyNamespace of `space`: request "Add" or "Remove" of the endpoint. */
int cni_give_to_namespace(const struct cni_call *call, const char *space, const json_t *endpoint,
                          const char *request, struct error *err);
/* Address without its length of an IPAM result; NULL when there is none. The caller frees. */
char *cni_address(const json_t *ipam);
