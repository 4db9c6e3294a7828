/* The Windows services of a node, in one table.
 *
 * Who speaks to the SCM:
 * - containerd runs as its own service (--run-service): its shims are its children and must outlive
 * a restart of it, so it stands in no job of ours; it writes its log by --log-file.
 * - kubelet, kube-proxy and flanneld are console programs under winjoin's service host
 *   (`winjoin.exe service run NAME`). klog writes to standard error only since 1.26, and a service
 * has none: a native `kubelet --windows-service` would lose its log, and a log-redirecting parent
 * whose child answers the SCM rests on behaviour nobody documents. The host answers the SCM itself,
 * sends Ctrl-Break on stop, ends the job after the grace period, and rotates the log. The price:
 * kubelet's own graceful node shutdown, which needs --windows-service, is not used.
 * - winjoin-network is winjoin itself, at boot: `winjoin.exe service run winjoin-network`. */
#ifndef SERVICES_SERVICE_TABLE_H
#define SERVICES_SERVICE_TABLE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "host/host.h"

/* In the order of their start; stop and removal go backwards. */
enum service_id {
    SERVICE_NETWORK, /* winjoin-network */
    SERVICE_CONTAINERD,
    SERVICE_KUBELET,
    SERVICE_FLANNELD,
    SERVICE_KUBE_PROXY,
    SERVICE_COUNT
};

/* Plain values that the command lines need; text is borrowed, NULL = not given. */
struct service_settings {
    const char *kubelet_version; /* "v1.37.1": which flags exist */
    const char *kube_proxy_version;
    const char *node_name;               /* lower-cased for --hostname-override */
    const char *node_ip;                 /* kubelet --node-ip */
    const char *network_name;            /* KUBE_NETWORK of kube-proxy */
    const char *node_labels;             /* "a=b,c=d" */
    const char *register_with_taints;    /* "os=windows:NoSchedule" */
    bool bootstrap_kubeconfig;           /* the kubelet does its own TLS bootstrap */
    bool network_service;                /* winjoin-network is registered: others start after it */
    const char *priority_class;          /* kubelet --windows-priorityclass */
    const char *flannel_interface;       /* flanneld --iface: node address or alias */
    const struct text_list *known_flags; /* names that the service's program knows; NULL or empty =
                                            not known: all are passed */
    struct text_list
        kubelet_extra_args; /* appended; "--name=value" replaces one of the same name */
    struct text_list kube_proxy_extra_args;
    struct text_list containerd_extra_args;
    struct text_list flanneld_extra_args;
};

const char *service_name(enum service_id id);
/* By name; SERVICE_COUNT when it is none of ours. */
enum service_id service_by_name(const char *name);
/* The executable that must be there first, e.g. "C:\\k\\kubelet.exe". */
const char *service_program(enum service_id id);
/* "C:\\var\\log\\kubelet" */
const char *service_log_folder(enum service_id id);
/* The file that its program writes once it has come up, each time anew
 * ("C:\\run\\flannel\\subnet.env"); NULL when it writes none. */
const char *service_ready_file(enum service_id id);
/* What its failure actions wait before they start it again after its n-th end (1 = the first). */
unsigned service_restart_delay_ms(enum service_id id, unsigned end);
/* true when winjoin's service host runs it; then the file below says what. */
bool service_hosted(enum service_id id);
/* Text of SERVICE_SETTINGS_DIR\NAME.json (services/service_host.h). Pure; the caller frees. Fails
 * as service_make(). */
int service_host_file_make(enum service_id id, const struct service_settings *settings, char **ret,
                           struct error *err);

/* What the SCM is to be told. Pure; host_service_free(). Kinds: ERROR_USAGE (a version that does
 * not parse, an extra argument that is no "--name[=value]", holds a line break or is a secret's
 * flag such as --token), ERROR_UNSUPPORTED (a kubelet before 1.24, which has no CRI alone). */
int service_make(enum service_id id, const struct service_settings *settings,
                 struct host_service *ret, struct error *err);
/* The arguments of the program itself (argv[0] first): what the service host starts, or what
 * containerd's command line holds. Pure. */
int service_arguments(enum service_id id, const struct service_settings *settings,
                      struct text_list *ret, struct error *err);
/* Those of our arguments that service_arguments() leaves out because known_flags lacks them. */
void service_dropped_arguments(enum service_id id, const struct service_settings *settings,
                               struct text_list *ret);
/* A command line by CommandLineToArgvW's rules. The caller frees. */
char *service_command_line(const struct text_list *arguments);

/* Makes the service stand (with its settings file for the service host); a service of that name
 * that is not ours (description) is ERROR_CONFLICT. *ret_changed (or NULL): true when what a
 * running service has read at its start was changed (command, environment, its host's settings).
 */
int service_ensure(struct host *host, enum service_id id, const struct service_settings *settings,
                   bool *ret_changed, struct error *err);
/* Stops and deletes it when ours; absent is success. */
int service_remove(struct host *host, enum service_id id, struct error *err);
/* true when the description says that winjoin made it. */
bool service_is_ours(const struct host_service *service);
/* One item of JoinPlan `services`: {name,displayName,command,account,start,dependsOn,environment,
 * recovery,description}. New reference. */
json_t *service_json(const struct host_service *service);

#endif
