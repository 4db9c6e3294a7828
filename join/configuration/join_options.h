/* The options of a join: kubeadm join's worker flags and winjoin's own, from flags, environment,
 * files and the cluster's own defaults. */
#pragma once

#include "base/yaml_schema.h"
#include "netsetup/plan/network_plan.h"

#define JOIN_SOURCE_NONE "none" /* --source-base: nothing is fetched from upstream */

/* Limits of a JoinConfiguration (timeouts; v1beta3: discovery.timeout) in milliseconds; 0 = not
 * given. --timeout (`timeout`) overrides discovery and tls_bootstrap. */
struct join_timeouts {
    long long kubelet_health_check;
    long long kubernetes_api_call;
    long long tls_bootstrap;
    long long discovery;
};

/* Names are those of the flags. Not given is NULL, 0 or empty; durations are milliseconds. */
struct join_options {
    long long vni, vxlan_port;
    /* owned: join_options_free(); as one list for what does the same with each */
    union {
        struct {
            /* kubeadm's */
            char *endpoint, *config, *cri_socket, *discovery_file, *node_name, *patches;
            /* winjoin's */
            char *token_file; /* file or "-" */
            char *network_mode, *network_plugin, *network_name, *adapter;
            char *node_ip, *kubernetes_version, *bundle, *mirror;
            char *source_base;       /* or JOIN_SOURCE_NONE */
            char *catalog;           /* file: where programs are published */
            char *sandbox_image;     /* "registry.corp.example/pause:3.10.1" */
            char *kube_proxy;        /* service, none */
            char *dsr;               /* auto, on, off */
            char *routes;            /* own, print, none */
            char *verify;            /* full, node, none */
            char *tls_bootstrap;     /* winjoin, kubelet */
            char *on_failure;        /* keep, rollback */
            char *existing_services; /* refuse, adopt */
            char *node_labels, *register_with_taints;
            /* only from files and the cluster's defaults (NodeConfiguration) */
            char *external_ip, *external_name, *external_dns; /* verify.external */
            char *dual_stack;                                 /* network.dualStack: auto, on, off */
            char *lock;                                       /* artifacts.lock */
            /* only from a JoinConfiguration */
            char *ca_cert_path; /* caCertPath, as given */
        };
        char *texts[33];
    };
    char *discovery_token, *tls_bootstrap_token, *token; /* secrets */
    union {
        struct {
            struct text_list discovery_token_ca_cert_hash, ignore_preflight_errors, skip_phases;
            struct text_list pod_cidrs;                       /* one of each family */
            struct text_list exclude_from_nat, service_cidrs; /* only from a NodeConfiguration, */
            struct text_list kubelet_service_args; /* services.kubelet.extraArgs, whole words */
            /* only from a JoinConfiguration: nodeRegistration.kubeletExtraArgs, "name=value" each,
             * without dashes, in the file's order; a name may repeat */
            struct text_list kubelet_extra_args;
        };
        struct text_list lists[8];
    };
    bool discovery_token_unsafe_skip_ca_verification, dry_run; /* kubeadm's */
    bool install_features, restart, apply_host_fixes;          /* winjoin's */
    long long timeout, join_timeout;
    long long start_spread; /* negative: winjoin decides (join/found/need.h) */
    struct join_timeouts timeouts;
    long long verify_attempts; /* diag --count; 0 = default */
    bool verify_capture;       /* diag --capture */
    long long verify_timeout;  /* verify.timeout of a NodeConfiguration */
};
void join_options_free(struct join_options *options);
/* One option, by the offset of its field, as the value of a field of this type in a configuration:
 * NULL where it is not given, an empty text too. New reference. */
json_t *join_option_json(const struct join_options *options, size_t offset,
                         enum yaml_field_type type);
/* Takes the option from such a value, unless it is given already. */
void join_option_take(struct join_options *options, size_t offset, enum yaml_field_type type,
                      const json_t *value);
/* All but the tokens, which stay NULL. */
void join_options_copy(const struct join_options *from, struct join_options *ret);

/* The address of a mirror (an https URL and no more): else ERROR_USAGE with the reason. */
int join_mirror_check(const char *url, struct error *err);
/* The same, or JOIN_SOURCE_NONE. */
int join_source_base_check(const char *url, struct error *err);
/* An image's name, as containerd pulls it: "registry.corp.example/pause:3.10.1". ERROR_USAGE. */
int join_sandbox_image_check(const char *image, struct error *err);
/* Whole, "v1.37.1" or "1.37.1": it is compared with what programs say. ERROR_USAGE. */
int join_kubernetes_version_check(const char *version, struct error *err);
/* Checks to ignore: all of them or single ones, compared without case; one given twice counts once
 * (kubeadm: ValidateIgnorePreflightErrors). ERROR_USAGE. */
int join_ignored_check(const struct text_list *ignored, struct error *err);
/* What they say of the network; borrowed. */
void join_network_input(const struct join_options *options, struct network_input *ret);
