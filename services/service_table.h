/* The Windows services of a node: a row each, in a file of its own (services/rows/), and one table.
 *
 * Who speaks to the SCM:
 * - containerd runs as its own service (--run-service): its shims are its children and must outlive
 * a restart of it, so it is in no job of ours; it writes its log by --log-file.
 * - kubelet, kube-proxy and flanneld are console programs under winjoin's service host
 *   (`winjoin.exe service run NAME`). klog writes to standard error only since 1.26, and a service
 * has none: a native `kubelet --windows-service` would lose its log, and a log-redirecting parent
 * whose child answers the SCM rests on behaviour nobody documents. The host answers the SCM itself,
 * sends Ctrl-Break on stop, ends the job after the grace period, and rotates the log. The price:
 * kubelet's own graceful node shutdown, which needs --windows-service, is not used.
 * - winjoin-network is winjoin itself: `winjoin.exe service run winjoin-network`. */
#pragma once

#include "services/service_host.h"

/* The rows, in the order of their start; stop and removal go backwards. */
#define SERVICE_ROWS(ROW)                                                                          \
    ROW(network)                                                                                   \
    ROW(containerd)                                                                                \
    ROW(kubelet)                                                                                   \
    ROW(flanneld)                                                                                  \
    ROW(hybrid_overlay_node)                                                                       \
    ROW(kube_proxy)

#define PROGRAM_FOLDER "C:\\k"
#define WINJOIN_PROGRAM PROGRAM_FOLDER "\\winjoin.exe"
/* One that is deleted while it runs stays until it ends (1072), and no other can have its name. */
#define SERVICE_REMOVAL(name) "powershell \"Stop-Service " name " -Force; sc.exe delete " name "\""

/* Plain values that the command lines need; text is borrowed, NULL = not given. */
struct service_settings {
    const char *kubelet_version; /* "v1.37.1": which flags exist */
    const char *kube_proxy_version;
    const char *node_name;            /* lower-cased for --hostname-override */
    const char *node_ip;              /* kubelet --node-ip */
    const char *network_name;         /* KUBE_NETWORK of kube-proxy */
    const char *node_labels;          /* "a=b,c=d" */
    const char *register_with_taints; /* "os=windows:NoSchedule" */
    bool bootstrap_kubeconfig;        /* the kubelet does its own TLS bootstrap */
    const char *flannel_interface;    /* flanneld --iface: node address or alias */
    const char *agent;                /* the network agent's service, when it makes the network */
    const char *agent_key_folder;     /* hybrid-overlay-node --cert-dir */
    const char *api_server;           /* its URL */
    const char *ca_file;              /* the cluster's CA */
    unsigned vxlan_port;              /* 0: the default */
    const struct text_list *proxy;    /* variables that every service gets; NULL: none */
    bool adopt; /* go on with a service of this name that is not ours (service_adopt()) */
    /* names that the service's program knows; NULL or empty = not known: all are passed */
    const struct text_list *known_flags;
    struct text_list
        kubelet_extra_args; /* appended; "--name=value" replaces one of the same name */
};

/* What decides which services a node runs. */
struct service_choice {
    bool kube_proxy;   /* --kube-proxy service */
    const char *agent; /* name of the network agent's service; NULL: it has none */
};

/* Which nodes run a service. */
enum service_wanted_by {
    SERVICE_WANTED_BY_ALL,
    SERVICE_WANTED_BY_AGENT,     /* those whose network agent is this service */
    SERVICE_WANTED_BY_KUBE_PROXY /* those where kube-proxy runs as a service */
};

/* How it is known that a service does its work; join/phases/service_proof.c looks. */
enum service_proof {
    SERVICE_RUNS,
    SERVICE_OPENS_PIPE,   /* CRI's named pipe is there */
    SERVICE_IS_HEALTHY,   /* the kubelet's health URL answers 200 */
    SERVICE_WRITES_FILE,  /* its ready_file is there */
    SERVICE_BALANCES_LOAD /* HNS has load balancers */
};

/* The preflight check that something is still free. */
struct service_check {
    const char *id, *help, *hint;
};
struct service_port {
    unsigned number; /* TCP */
    struct service_check free;
};

struct service {
    const char *name, *display_name;
    const char *description; /* begins with "winjoin:", which marks it as ours */
    const char *artifact;    /* its program's name in a lock; NULL: winjoin itself does its work */
    const char *program;     /* must be there first, "C:\\k\\kubelet.exe" */
    bool hosted;             /* winjoin's service host runs it, by the settings file */
    const char *settings_file, *log_folder, *log_file;
    const char
        *ready_file; /* what its program writes once it has come up, each time again; or NULL */
    const char *data_folder; /* what else its program fills; or NULL */
    const char *depends_on[2];
    unsigned restart_delays_ms[3], reset_seconds;
    unsigned preshutdown_ms;
    unsigned stop_timeout_ms;    /* of a hosted program, until its job is ended */
    struct service_check unused; /* no other service has this name */
    struct service_port ports[2];
    bool needs_network; /* depends on the network agent's service, when it makes the network */
    bool kubernetes;    /* released with the cluster: has its version, tells its flags by --help */
    bool diagnosed;     /* diag reads its state */
    struct {
        enum service_proof kind;
        unsigned timeout_ms;
        const char *waiting, *failed; /* how a person is told: "for x to ...", "wait for x: ..." */
        const char *reads; /* the API server's path that it needs for its work; or NULL */
    } proof;
    size_t extra_args; /* offset of the user's arguments in struct service_settings; 0: none */
    enum service_wanted_by wanted;
    int (*arguments)(const struct service_settings *settings, struct text_list *ret,
                     struct error *err); /* without argv[0] */
    char *(*environment)(
        const struct service_settings *); /* "NAME=value"; or NULL; or answers it */
};

#define SERVICE_DECLARED(row) extern const struct service service_##row;
SERVICE_ROWS(SERVICE_DECLARED)
#undef SERVICE_DECLARED
/* NULL behind the last. */
extern const struct service *const service_table[];

/* NULL when it is none of ours. */
const struct service *service_by_name(const char *name);
bool service_wanted(const struct service *service, const struct service_choice *choice);
/* Text of its settings file (services/service_host.h). Pure; the caller frees. Fails as
 * service_make(). */
int service_host_file_make(const struct service *service, const struct service_settings *settings,
                           char **ret, struct error *err);

/* What the SCM is to be told. Pure; host_service_free(). Kinds: ERROR_USAGE (a version that does
 * not parse, an extra argument that is no "--name[=value]", holds a line break or is a secret's
 * flag such as --token), ERROR_UNSUPPORTED (a kubelet before 1.24, which has no CRI alone). */
int service_make(const struct service *service, const struct service_settings *settings,
                 struct host_service *ret, struct error *err);
/* The arguments of the program itself (argv[0] first): what the service host starts, or what
 * containerd's command line holds. *ret_dropped (or NULL): those of our own that are left out
 * because known_flags lacks them, filled also where an extra argument is refused. Pure. */
int service_arguments(const struct service *service, const struct service_settings *settings,
                      struct text_list *ret, struct text_list *ret_dropped, struct error *err);
/* A service as it is to be, against what stands. Zero-initialise; service_wanted_free(). */
struct service_wanted {
    struct host_service service; /* as the SCM is to have it */
    char *settings;              /* text of its host's file; NULL: it has none */
    bool differs, settings_differ;
    bool restarts;         /* what a running service has read at its start changes */
    bool adopted;          /* not ours, and gone on with */
    char *foreign_command; /* what the one runs that is not ours and is in the way; NULL: none is */
};
/* Computes it; nothing is changed on the host. One that exists and that winjoin did not make, where
 * settings->adopt: one that starts the row's program, itself or behind another one, gets our
 * arguments (its own of the same name go), when the row has arguments of the user's; one that
 * starts another program (nssm, a script) stays as it is, with a warning when nothing there reads
 * kubeadm-flags.env. Kinds: those of service_make(), host_service_query() and host_read(). */
int service_want(struct host *host, const struct service *service,
                 const struct service_settings *settings, struct service_wanted *ret,
                 struct error *err);
void service_wanted_free(struct service_wanted *wanted);
/* Makes the service stand (with its settings file for the service host); a service of that name
 * that is not ours (description) is ERROR_CONFLICT, unless it is to be adopted. *ret_changed (or
 * NULL): true when what a running service has read at its start was changed (command, environment,
 * its host's settings). */
int service_ensure(struct host *host, const struct service *service,
                   const struct service_settings *settings, bool *ret_changed, struct error *err);
/* The words of its command line, then those that nssm starts for it. */
void service_words(struct host *host, const struct host_service *service, struct text_list *ret);
/* Stops it when it runs, and starts it; one that is absent or not ours is left alone
 * (*ret_restarted false). Safe to run again when it failed in between. */
int service_restart(struct host *host, const struct service *service, bool *ret_restarted,
                    struct error *err);
/* Stops and deletes it when ours; absent is success. */
int service_remove(struct host *host, const struct service *service, struct error *err);
/* true when the description says that winjoin made it. */
bool service_is_ours(const struct host_service *service);
/* One item of JoinPlan `services`: {name,displayName,command,account,start,dependsOn,environment,
 * recovery,description}. New reference. */
json_t *service_json(const struct host_service *service);
