/* What the kubelet stand-in is told: KubeletConfiguration and flags, with upstream's refusals. */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "host/host.h"

#define KUBELET_VERSION "v1.37.1"

struct kubelet_flags {
    const char *config, *kubeconfig, *bootstrap_kubeconfig, *cert_dir, *hostname_override, *node_ip;
    const char *node_labels, *register_with_taints, *container_runtime_endpoint, *resolv_conf;
    const char *pod_manifest_path;
    bool windows_service;
    bool exit_on_lock_contention; /* the end of a question: would it start? */
};

/* Text is owned and lives as long as the program. */
struct kubelet_settings {
    char *node_name;
    char *node_ip, *node_ip6; /* --node-ip A,B: of both families; node_ip6 may be NULL */
    char *static_pod_path;    /* NULL = none */
    char *pipe;               /* "\\\\.\\pipe\\containerd-containerd" */
    char *healthz_address;
    unsigned healthz_port; /* 0 = none */
    unsigned port;
    struct text_list cluster_dns;
    char *cluster_domain;
};

/* Refuses what the real kubelet on Windows refuses, in its words: a file that does not decode,
 * another kind, some values and types, and the question itself where nothing else is wrong; a
 * clientCAFile that is not there (relative ones lie beside the file), a resolvConf, no or a unix
 * endpoint. */
int kubelet_configure(struct host *host, const struct kubelet_flags *flags,
                      struct kubelet_settings *ret, struct error *err);
