/* A call's options, before anything is asked. */
#include "join/configuration/join_options_check.h"

#include "join/configuration/node_configuration.h"
#include "join/configuration/node_labels.h"
#include "join/configuration/node_taints.h"

/* Flags and environment are held to what a NodeConfiguration is held to. */
static int check_values(const struct join_options *o, struct error *err) {
    _cleanup_json_ json_t *made = node_configuration_make(o);
    struct ip ip;

    if (o->node_ip && ip_parse(o->node_ip, &ip, NULL) < 0)
        return error_set(err, ERROR_USAGE, "--node-ip \"%.60s\": not an IP address", o->node_ip);
    return node_configuration_check(made, NULL, "flags", err);
}

int join_options_check(const struct join_options *options, struct error *err) {
    if ((options->mirror && join_mirror_check(options->mirror, err) < 0) ||
        (options->source_base && join_source_base_check(options->source_base, err) < 0))
        return -1;
    if (options->kubernetes_version &&
        join_kubernetes_version_check(options->kubernetes_version, err) < 0)
        return error_prefix(err, "--kubernetes-version");
    if (check_values(options, err) < 0 || node_labels_check(options->node_labels, err) < 0 ||
        node_taints_check(options->register_with_taints, err) < 0)
        return -1;
    return join_ignored_check(&options->ignore_preflight_errors, err) < 0
               ? error_prefix(err, "--ignore-preflight-errors")
               : 0;
}
