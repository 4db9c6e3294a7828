/* The CNI configuration that containerd reads; its content is the plugin's (netsetup/plugins). */
#pragma once

#include "host/host.h"
#include "netsetup/plan/network_plan.h"
#include "services/containerd_settings.h"

#define CNI_STATE_DIR "C:\\var\\lib\\cni\\networks"
#define CNI_RESULTS_DIR "C:\\var\\lib\\cni\\results" /* libcni's, inside containerd */

/* Where the plan's CNI file goes: 10-winjoin.conf, or .conflist for a plugin that has a list. The
 * caller frees. */
char *cni_config_path(const struct network_plan *plan);

/* The configuration as the plan's CNI plugin reads it: exceptions from NAT, routes for Services,
 * loopback DSR as the plan says, addresses such that .1 and .2 never reach a pod. Pure; new
 * reference. With an unknown pod prefix its values are "<podCIDR>". */
json_t *cni_config_json(const struct network_plan *plan);
/* The file's text (pretty, LF). The caller frees. */
char *cni_config_make(const struct network_plan *plan);

/* Files in the folder that containerd would take before ours (lower-sorting *.conf, *.conflist,
 * *.json): full paths. The caller sets them aside and records it. */
int cni_conflicts(struct host *host, const char *folder, struct text_list *ret, struct error *err);

/* The configuration that containerd takes from the folder: the first file by name. *ret_path: its
 * full path; *ret: new reference. Kinds: ERROR_ABSENT (no folder, no configuration in it),
 * ERROR_MALFORMED (no JSON, no name, no type), those of host_read(). Nothing is set on failure. */
int cni_config_read(struct host *host, const char *folder, char **ret_path, json_t **ret,
                    struct error *err);
/* The plugin that makes the pods' endpoints: `type` of the first plugin, or of what that delegates
 * to. Borrowed; NULL: it names none. */
const char *cni_config_type(const json_t *config);
