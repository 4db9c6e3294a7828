/* A preflight check: its row, its function, and how it reports. For preflight*.c only. */
#pragma once

#include "join/join.h"
#include "join/preflight/preflight.h"

enum check_verdict {
    CHECK_FINE,
    CHECK_BAD,
    CHECK_WARN, /* A problem, but only a warning, whatever the row's level */
    /* The host gave no answer. This is always shown, as a warning; `why` is the message if the
     * check gave none. */
    CHECK_UNKNOWN,
    CHECK_NOT_RUN, /* Not applicable here, or not knowable here */
    /* A problem; `why` gives the message, the first hint and the kind of the cause. */
    CHECK_FAILED,
    CHECK_FAILED_HERE, /* As CHECK_FAILED, but a fault of this machine */
};
struct preflight_check;
struct check_finding {
    const struct preflight_check *check; /* The row of this check */
    char message[300];
    char hint[240];   /* Hint; "" means the hint of the row */
    struct error why; /* Failure of something that the check called */
};
/* What a check of this machine can use; borrowed. */
struct machine {
    struct host *host;
    struct join_found *found; /* Checks store the version of HNS and the adapter here */
    const struct journal *journal;
};
typedef enum check_verdict check_function(const struct machine *machine,
                                          struct check_finding *finding);
/* A check that asks the cluster or opens the bundle; it stores what it found in the join. */
typedef enum check_verdict check_cluster_function(struct join *join, struct check_finding *finding);
/* The check that must have passed before this one runs. */
enum preflight_after { AFTER_NONE, AFTER_DISCOVERY, AFTER_CONFIGURATION, AFTER_PLAN };

/* A row can be for each service, or for each port of a service, which then gives id, help, hint,
 * subject and number. */
enum preflight_each { EACH_NONE, EACH_SERVICE, EACH_PORT };
struct preflight_check {
    enum preflight_each each;
    const char *id, *help;
    enum preflight_outcome level; /* Level of a failure */
    check_function *run;
    check_cluster_function *ask; /* Used instead of `run` */
    /* Used instead of `run` and `ask`; -1 is a fault of this machine. */
    int (*fits)(struct join *join, struct error *err);
    enum preflight_after after;
    const char *hint;    /* A command, if possible */
    const char *subject; /* Subject of the function: a path, a service, a registry key */
    unsigned number;     /* A port, or NEED_* (join/found/need.h) */
    /* The check cannot be ignored, whatever --ignore-preflight-errors names. */
    bool firm;
    /* Runs only when all checks are requested; in a join, a later phase finds it out. */
    bool whole;
    bool of_images; /* Runs also when images will be pulled or imported */
};
/* Returns all rows in the order in which they run; the first is IsPrivilegedUser. The caller
 * frees. */
struct preflight_check *preflight_checks(size_t *ret_count);

/* Sets the message of the finding and returns `verdict`. With CHECK_UNKNOWN the message begins with
 * "could not check: ". A message that is too long is cut. */
enum check_verdict check_say(struct check_finding *finding, enum check_verdict verdict,
                             const char *format, ...) __attribute__((format(gnu_printf, 3, 4)));
/* Sets the hint of the finding, which replaces the row's hint. */
void check_hint(struct check_finding *finding, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));

/* Checks in join/preflight/preflight_host.c: Windows itself. */
check_function check_elevated, check_architecture, check_server, check_build, check_patch;
check_function check_containers_feature, check_restart, check_page_file, check_disk,
    check_host_name;
check_function check_system_drive, check_xcopy, check_policy, check_defender, check_host_fixes;
check_function check_firewall_policy, check_application_control, check_node_name_of_host;
/* Checks in join/preflight/preflight_network.c: the adapter, HNS, ports. */
check_function check_hns, check_hns_version, check_ipv6, check_adapter, check_switch,
    check_networks;
check_function check_mtu, check_dns, check_tcp_port, check_vxlan_port, check_dynamic_ports;
check_function check_proxy, check_network_mode, check_service_limits;
/* Checks in join/preflight/preflight_programs.c: files, services and programs of others. */
check_function check_folder_owners, check_file_available, check_manifests, check_cni_files,
    check_folders, check_leftovers;
check_function check_service_free, check_service_enabled, check_cri, check_runtime_version;
check_function check_containerd, check_other_nodes;
check_function check_kubelet_version;
/* Checks in join/preflight/preflight_cluster.c: the bundle and the cluster. */
check_cluster_function check_need; /* Runs join_need() with the row's number */
check_cluster_function check_ca_file, check_clock, check_node_name;
check_cluster_function check_pod_prefix, check_approval;
check_cluster_function check_bundle, check_skew, check_clash, check_network_agent, check_programs;
/* Checks in join/preflight/preflight_images.c: images to be pulled or imported. */
check_cluster_function check_images;

/* Reads a value under HKLM. Returns 1 and *ret, which the caller frees; 0 when it is absent; -1
 * when it could not be read (finding->why). */
int check_registry(const struct machine *machine, struct check_finding *finding, const char *key,
                   const char *value, char **ret);
