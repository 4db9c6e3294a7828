/* One preflight check: its row, its function, and how it says what it found. For
 * join/preflight/preflight*.c alone. */
#pragma once

#include "join/join.h"
#include "join/preflight/preflight.h"

enum verdict {
    CHECK_FINE,
    CHECK_BAD,
    CHECK_WARN,        /* bad, but no more than a warning, whatever the row's level */
    CHECK_UNKNOWN,     /* the host did not answer: always told, as a warning; by `why` where the
                          check said nothing */
    CHECK_NOT_RUN,     /* does not apply here, or cannot be known here */
    CHECK_FAILED,      /* bad, by `why`: its message, its first hint, and its kind as the cause */
    CHECK_FAILED_HERE, /* the same, a fault of this machine */
};
struct preflight_check;
struct finding {
    const struct preflight_check *check; /* the row that is asked */
    char message[300];
    char hint[240];   /* "" = the row's */
    struct error why; /* what a check asked for failed with */
};
/* What a check of this machine looks at; borrowed. */
struct machine {
    struct host *host;
    struct join_found *found; /* checks leave HNS' version and the adapter here */
    const struct journal *journal;
};
typedef enum verdict check_function(const struct machine *machine, struct finding *finding);
/* One that asks the cluster or opens the bundle, and leaves what it found in the join. */
typedef enum verdict check_cluster_function(struct join *join, struct finding *finding);
/* The check that must have passed before one of the cluster is run. */
enum preflight_after { AFTER_NONE, AFTER_DISCOVERY, AFTER_CONFIGURATION, AFTER_PLAN };

/* A row for each service, or each of their ports: id, help, hint, subject and number are theirs. */
enum preflight_each { EACH_NONE, EACH_SERVICE, EACH_PORT };
struct preflight_check {
    enum preflight_each each;
    const char *id, *help;
    enum preflight_outcome level; /* of a failure */
    check_function *run;
    check_cluster_function *ask;                       /* instead of `run` */
    int (*fits)(struct join *join, struct error *err); /* or this: -1 is a fault of this machine */
    enum preflight_after after;
    const char *hint;    /* a command to paste where there is one */
    const char *subject; /* what the function asks about: a path, a service, a registry key */
    unsigned number;     /* a port; what is to be found (join/found/need.h) */
    bool firm;           /* is not ignored, whatever --ignore-preflight-errors names */
    bool whole;          /* only when asked for the whole: in a join a later phase finds it out */
    bool of_images;      /* or where images are to come */
};
/* All rows, in the order in which they run; the first is IsPrivilegedUser. The caller frees. */
struct preflight_check *preflight_checks(size_t *ret_count);

/* Says what was found, with CHECK_UNKNOWN behind "could not check: ", and answers the verdict. Too
 * long a message is cut. */
enum verdict check_say(struct finding *finding, enum verdict verdict, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));
/* Says what to do about it, in the place of the row's hint. */
void check_hint(struct finding *finding, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));

/* join/preflight/preflight_host.c: Windows itself */
check_function check_elevated, check_architecture, check_server, check_build, check_patch;
check_function check_containers_feature, check_restart, check_page_file, check_disk,
    check_host_name;
check_function check_system_drive, check_xcopy, check_policy, check_defender, check_host_fixes;
check_function check_firewall_policy, check_application_control, check_node_name_of_host;
/* join/preflight/preflight_network.c: the adapter, HNS, ports */
check_function check_hns, check_hns_version, check_ipv6, check_card, check_switch, check_networks;
check_function check_mtu, check_dns, check_tcp_port, check_vxlan_port, check_dynamic_ports;
check_function check_proxy, check_network_mode, check_service_limits;
/* join/preflight/preflight_programs.c: files, services and programs of others */
check_function check_folder_owners, check_file_available, check_manifests, check_cni_files,
    check_folders, check_leftovers;
check_function check_service_free, check_service_enabled, check_cri, check_runtime_version;
check_function check_containerd, check_other_nodes;
check_function check_kubelet_version;
/* join/preflight/preflight_cluster.c: the bundle, and what the cluster says */
check_cluster_function check_need; /* finds what the row's number says */
check_cluster_function check_ca_file, check_clock, check_node_name;
check_cluster_function check_pod_prefix, check_approval;
check_cluster_function check_bundle, check_skew, check_clash, check_network_agent, check_programs;
/* join/preflight/preflight_images.c: those to be pulled */
check_cluster_function check_images;

/* A value under HKLM: 1 and *ret (the caller frees), 0 when it is absent, -1 when it could not be
 * read (finding->why). */
int check_registry(const struct machine *machine, struct finding *finding, const char *key,
                   const char *value, char **ret);
