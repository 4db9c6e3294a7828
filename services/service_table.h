/* The Windows services of a node. Each is a row in its own file (services/rows/); this is the table
 * of all.
 *
 * Which program talks to the SCM:
 *
 * - containerd runs as its own service (--run-service). Its shims are its child processes and must
 * survive its restart, so it is in no job object of winjoin. It writes its log by --log-file.
 *
 * - kubelet, kube-proxy and flanneld are console programs in winjoin's service host (`winjoin.exe
 * service run NAME`). Since 1.26 klog writes only to standard error, and a service has none: with
 * `kubelet --windows-service` its log would be lost, and a parent that redirects the log of a child
 * that talks to the SCM would depend on undocumented behavior. The host talks to the SCM itself,
 * sends Ctrl-Break to stop the program, ends the job object after the grace period, and rotates the
 * log. The disadvantage: kubelet's own graceful node shutdown, which needs --windows-service, is
 * not used.
 *
 * - winjoin-network is winjoin itself: `winjoin.exe service run winjoin-network`. */
#pragma once

#include "services/hosted_service.h"

/* The rows in the order of their start. Services are stopped and removed in reverse order. */
#define SERVICE_ROWS(ROW)                                                                          \
    ROW(network)                                                                                   \
    ROW(containerd)                                                                                \
    ROW(kubelet)                                                                                   \
    ROW(flanneld)                                                                                  \
    ROW(hybrid_overlay_node)                                                                       \
    ROW(kube_proxy)

#define PROGRAM_FOLDER "C:\\k"
#define WINJOIN_PROGRAM PROGRAM_FOLDER "\\winjoin.exe"
/* Stops the service first: Windows keeps the name of a deleted service (error 1072) until the
 * service stops. */
#define SERVICE_REMOVAL(name) "powershell \"Stop-Service " name " -Force; sc.exe delete " name "\""

/* Values for the command lines of services. Text is borrowed; NULL means not given. */
struct service_settings {
    /* Version of the kubelet, e.g. "v1.37.1"; decides which flags exist. */
    const char *kubelet_version;
    const char *kube_proxy_version;
    const char *node_name;            /* Name of the node, written in lower case. */
    const char *node_ip;              /* Address for the kubelet's --node-ip. */
    const char *network_name;         /* Name of the HNS network, for kube-proxy. */
    const char *node_labels;          /* Labels of the Node, e.g. "a=b,c=d". */
    const char *register_with_taints; /* Taints, e.g. "os=windows:NoSchedule". */
    bool bootstrap_kubeconfig;        /* The kubelet itself does its TLS bootstrap. */
    const char *flannel_interface;    /* The node's address or alias, for flanneld --iface. */
    const char *agent;                /* Service of the network agent that makes the network. */
    const char *agent_key_folder;     /* Folder for hybrid-overlay-node --cert-dir. */
    const char *api_server;           /* URL of the API server. */
    const char *ca_file;              /* File with the CA of the cluster. */
    unsigned vxlan_port;              /* VXLAN port; 0 means the default. */
    /* Proxy variables for every service; NULL when the node uses no proxy. */
    const struct text_list *proxy;
    bool adopt; /* Adopt an existing service that winjoin did not make. */
    /* Flags that the service's program knows. NULL or empty when unknown: all are passed. */
    const struct text_list *known_flags;
    struct text_list kubelet_extra_args; /* User's flags; each replaces one of the same name. */
};

/* The choices that decide which services a node runs. */
struct service_choice {
    bool kube_proxy;   /* winjoin runs kube-proxy (--kube-proxy service). */
    const char *agent; /* The network agent's service; NULL when the agent has no service. */
};

/* What decides whether a node runs a service. */
enum service_chosen_by {
    SERVICE_CHOSEN_ALWAYS,
    SERVICE_CHOSEN_BY_AGENT,     /* For nodes whose network agent is this service. */
    SERVICE_CHOSEN_BY_KUBE_PROXY /* For nodes where kube-proxy runs as a service. */
};

/* Says how to check that a service works; join/phases/service_proof.c does it. */
enum service_proof {
    SERVICE_RUNS,
    SERVICE_OPENS_PIPE,   /* The proof is that the named pipe for CRI exists. */
    SERVICE_IS_HEALTHY,   /* The proof is that the kubelet's health URL answers 200. */
    SERVICE_WRITES_FILE,  /* The proof is that the service's ready_file exists. */
    SERVICE_BALANCES_LOAD /* The proof is that HNS has load balancers. */
};

/* The preflight check that a name or port is free. */
struct service_check {
    const char *id, *help, *hint;
};
struct service_port {
    unsigned number; /* Number of the TCP port. */
    struct service_check free;
};

struct service {
    const char *name, *display_name;
    const char *description; /* Begins with "winjoin:", the mark of winjoin's services. */
    const char *artifact;    /* The program's name in a lock; NULL means winjoin itself. */
    const char *program;     /* Path of the program, e.g. "C:\\k\\kubelet.exe". It must exist. */
    bool hosted;             /* winjoin's service host runs it, with the settings file. */
    const char *settings_file, *log_folder, *log_file;
    const char *ready_file;  /* A file that the program writes at each start; or NULL. */
    const char *data_folder; /* Another folder that the program fills; or NULL. */
    const char *depends_on[2];
    unsigned restart_delays_ms[3], reset_seconds;
    unsigned preshutdown_ms;
    unsigned stop_timeout_ms;    /* Time that a hosted program has to stop. */
    struct service_check unused; /* Check that no other service has this name. */
    struct service_port ports[2];
    /* The phase of a join that makes it again. NULL means the one that registered it: others do
     * that, too, for what depends on it. */
    const char *phase;
    /* The service depends on the network agent's service, when that makes the network. */
    bool needs_network;
    /* The program is released with Kubernetes: it has its version and lists flags by --help. */
    bool kubernetes;
    bool diagnosed; /* diag reads the state of the service. */
    struct {
        enum service_proof kind;
        unsigned timeout_ms;
        const char *waiting, *failed; /* Texts for people: "for x to ...", "wait for x: ...". */
        const char *reads;            /* API path that the service needs for its work; or NULL. */
    } proof;
    /* Offset in struct service_settings of the user's extra arguments; 0 when there is none. */
    size_t extra_args;
    enum service_chosen_by chosen_by;
    int (*arguments)(const struct service_settings *settings, struct text_list *ret,
                     struct error *err); /* Adds the program's arguments without argv[0]. */
    char *(*environment)(const struct service_settings *); /* Returns "NAME=value" or NULL. */
};

#define SERVICE_DECLARED(row) extern const struct service service_##row;
SERVICE_ROWS(SERVICE_DECLARED)
#undef SERVICE_DECLARED
/* The table of services, NULL-terminated. */
extern const struct service *const service_table[];

/* Returns the row of this name, or NULL. */
const struct service *service_by_name(const char *name);
bool service_is_chosen(const struct service *service, const struct service_choice *choice);
/* Makes the text of the settings file (services/hosted_service.h). Pure; the caller frees it. Fails
 * as service_make(). */
int service_host_file_make(const struct service *service, const struct service_settings *settings,
                           char **ret, struct error *err);

/* Makes the configuration for the SCM. Pure; free with host_service_free(). Fails with ERROR_USAGE
 * (an invalid version, an extra argument that is not "--name[=value]", contains a line break or is
 * a flag for a secret such as --token) or ERROR_UNSUPPORTED (a kubelet before 1.24, which does not
 * use only CRI). */
int service_make(const struct service *service, const struct service_settings *settings,
                 struct host_service *ret, struct error *err);
/* Makes the arguments of the program itself (argv[0] first), which the service host starts or
 * containerd's command line has. *ret_dropped (or NULL) gets winjoin's own arguments that
 * known_flags lacks, even if an extra argument is refused. Pure. */
int service_arguments(const struct service *service, const struct service_settings *settings,
                      struct text_list *ret, struct text_list *ret_dropped, struct error *err);
/* A service as it should be, compared with the existing one. Initialize with zeros; free with
 * service_wanted_free(). */
struct service_wanted {
    struct host_service service; /* The configuration for the SCM. */
    char *settings; /* Text of the host's settings file; NULL when the service has no host. */
    bool differs, settings_differ;
    bool restarts; /* Values change that a running service has read at its start. */
    bool adopted;  /* The existing service is not winjoin's and is adopted. */
    /* Command of an existing service that is not winjoin's and conflicts; NULL without one. */
    char *foreign_command;
};
/* Computes what service_ensure() would do; changes nothing on the host. With settings->adopt, an
 * existing service that winjoin did not make is adopted. If it starts the row's program, directly
 * or through another program, and the row takes arguments of the user, it gets winjoin's arguments
 * in place of its own of the same names. If it starts another program (nssm, a script) it stays as
 * it is, with a warning when nothing there reads kubeadm-flags.env. Fails as service_make(),
 * host_service_query() and host_read(). */
int service_want(struct host *host, const struct service *service,
                 const struct service_settings *settings, struct service_wanted *ret,
                 struct error *err);
void service_wanted_free(struct service_wanted *wanted);
/* Ensures the service, and its settings file for the service host. Fails with ERROR_CONFLICT for a
 * service of that name that is not winjoin's (by its description), unless it is adopted.
 * *ret_changed (or NULL) is true when values changed that a running service has read at its start
 * (command, environment, settings of its host). */
int service_ensure(struct host *host, const struct service *service,
                   const struct service_settings *settings, bool *ret_changed, struct error *err);
/* Adds the words of the service's command line, and of the program that nssm starts for it. */
void service_words(struct host *host, const struct host_service *service, struct text_list *ret);
/* Stops the service if it runs, and starts it. One that is absent or not winjoin's is not changed
 * (*ret_restarted false). Can be repeated safely after a failure. */
int service_restart(struct host *host, const struct service *service, bool *ret_restarted,
                    struct error *err);
/* Stops and deletes the service if it is winjoin's; absent is success. */
int service_remove(struct host *host, const struct service *service, struct error *err);
/* Does the description say that winjoin made this service? */
bool service_is_ours(const struct host_service *service);
/* Returns one item of `services` in a JoinPlan:
 * {name,displayName,command,account,start,dependsOn,environment, recovery,description}. New
 * reference. */
json_t *service_json(const struct host_service *service);
