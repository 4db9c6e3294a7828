/* kubeadm's JoinConfiguration for a worker: fields of v1beta3 and v1beta4, defaults, validation,
 * and its way into the join's options. The document is JSON, always in the shape of v1beta4. */
#pragma once

#include "base/yaml.h"
#include "host/host.h"
#include "join/configuration/join_options.h"

#define JOIN_CONFIGURATION_KIND "JoinConfiguration"
#define JOIN_CONFIGURATION_V1BETA3 "kubeadm.k8s.io/v1beta3"
#define JOIN_CONFIGURATION_V1BETA4 "kubeadm.k8s.io/v1beta4"

/* Every field it may have, with room for them, and a version's bit there; 0 when winjoin does not
 * read it. */
enum { JOIN_CONFIGURATION_FIELDS_MAX = JOIN_OPTION_COUNT + 32 };
void join_configuration_fields(struct yaml_field ret[JOIN_CONFIGURATION_FIELDS_MAX]);
unsigned join_configuration_version(const char *api_version);
/* Makes v1beta3 v1beta4, in place: kubeletExtraArgs becomes a list sorted by name,
 * discovery.timeout becomes timeouts.discovery. Their places go with them. */
void join_configuration_renew(json_t *configuration, struct yaml *yaml);
/* Fills kubeadm's defaults (v1beta4/defaults.go, with Windows' paths), in place, but for the name:
 * a file may be for many nodes. For what is printed: the join has its own. */
void join_configuration_default(json_t *configuration);

/* What flags and environment give goes into the document (made when *configuration is NULL and
 * there is anything to say of discovery): --token is used for both tokens where those are not
 * given, lists replace, ignorePreflightErrors adds. */
void join_configuration_overlay(json_t **configuration, const struct join_options *options);
/* Overwrites the tokens in the document, whoever else holds it: it is about to go. */
void join_configuration_forget(json_t *configuration);
/* Checks as kubeadm's ValidateJoinConfiguration on Windows, all errors in one line ("[a, b]"), each
 * with the path of its field, behind file, line and column of what a file says (`yaml`; NULL = no
 * file); stricter in what docs/configuration.md lists. Secrets are not shown. `host` is asked
 * whether a discovery file is there; NULL = not asked. ERROR_USAGE. */
int join_configuration_check(const json_t *configuration, const struct yaml *yaml,
                             struct host *host, struct error *err);
/* Fills the options that are not given yet; `warnings` gets what deserves a word. */
void join_configuration_apply(const json_t *configuration, struct join_options *options,
                              struct text_list *warnings);

/* The name as kubeadm reads it (GetHostname): no blanks around it, lower case. The caller frees. */
char *join_node_name_read(const char *name);
#define JOIN_NODE_NAME_RULE                                                                        \
    "a node name has a-z, 0-9, '-' and '.' only, begins and ends with a letter or digit, and has " \
    "at most 253 characters"
/* "my-node" for "my_node"; NULL when no name is like it. The caller frees. */
char *join_node_name_near(const char *name);
/* "file:///C:/x.conf" to "C:/x.conf", "HTTPS://x" to "https://x", all else as it is. The caller
 * frees. */
char *join_discovery_file_path(const char *given);

/* ---- a --config file: several YAML (or JSON) documents, of which winjoin reads two kinds ---- */

enum { CONFIG_FILE_MAX = 1024 * 1024 };

/* What the file holds, checked field by field, values not yet judged. */
struct config_file {
    struct yaml yaml;          /* where the values of both stand */
    json_t *join;              /* JoinConfiguration, always as v1beta4; NULL = none */
    json_t *node;              /* NodeConfiguration of winjoin.io/v1alpha1; NULL = none */
    struct text_list warnings; /* deprecated versions, documents that are passed over */
};

enum config_kinds {
    CONFIG_JOIN, /* as kubeadm join: documents of other kinds are passed over with a warning */
    CONFIG_KNOWN /* as kubeadm config validate: kinds that kubeadm does not know are refused */
};

/* Reads the text; `what` names it in messages. Fails with ERROR_USAGE, and names line and column:
 * no YAML, unknown or duplicate field, other type, document without apiVersion and kind, a kind
 * twice, a version of kubeadm's that is too old or unknown, neither kind there. */
int config_file_parse(const char *text, size_t len, const char *what, enum config_kinds kinds,
                      struct config_file *ret, struct error *err);
void config_file_free(struct config_file *file);

/* NodeConfiguration (winjoin.io/v1alpha1): winjoin's settings beyond kubeadm's JoinConfiguration,
 * in a --config file or for the whole cluster in ConfigMap kube-system/winjoin. */

#define NODE_CONFIGURATION_KIND "NodeConfiguration"
#define NODE_CONFIGURATION_V1ALPHA1 "winjoin.io/v1alpha1"

/* Reads one document, strictly, with its values checked. `what` names it. Fails with ERROR_USAGE;
 * *ret is a new reference. */
int node_configuration_read(const char *text, size_t len, const char *what, json_t **ret,
                            struct error *err);
/* The same judgment of a document whose kind and version were read. */
int node_configuration_check(const struct yaml *yaml, const json_t *document, struct error *err);
/* Of the cluster's defaults: ERROR_USAGE where they name a file of the machine. Who may write the
 * ConfigMap would have each new node open a path of their choice, and install what is there. */
int node_configuration_check_cluster(const json_t *configuration, const char *what,
                                     struct error *err);
/* Fills what is not given yet. */
void node_configuration_apply(const json_t *configuration, struct join_options *options);

/* A NodeConfiguration of those of its fields that the options give. New reference. */
json_t *node_configuration_make(const struct join_options *options);
