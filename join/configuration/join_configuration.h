/* kubeadm's JoinConfiguration for a worker: fields of v1beta3 and v1beta4, defaults, validation,
 * and conversion to the options of a join. The document is JSON, always in the form of v1beta4. */
#pragma once

#include "base/yaml.h"
#include "host/host.h"
#include "join/configuration/join_options.h"

#define JOIN_CONFIGURATION_KIND "JoinConfiguration"
#define JOIN_CONFIGURATION_V1BETA3 "kubeadm.k8s.io/v1beta3"
#define JOIN_CONFIGURATION_V1BETA4 "kubeadm.k8s.io/v1beta4"

/* join_configuration_fields() gives every field that a JoinConfiguration may have, ended by {0}.
 * join_configuration_version() returns the bit of a version in those rows; 0 means that winjoin
 * does not read the version. */
enum { JOIN_CONFIGURATION_FIELDS_MAX = JOIN_OPTION_COUNT + 32 };
void join_configuration_fields(struct yaml_field ret[JOIN_CONFIGURATION_FIELDS_MAX]);
unsigned join_configuration_version(const char *api_version);
/* Converts v1beta3 to v1beta4, in place: kubeletExtraArgs becomes a list sorted by name,
 * discovery.timeout becomes timeouts.discovery. The lines and columns of the values in `yaml` are
 * kept. */
void join_configuration_renew(json_t *configuration, struct yaml *yaml);
/* Fills kubeadm's defaults (v1beta4/defaults.go, with Windows' paths), in place, for documents that
 * are printed; a join has its own defaults. The node's name is not filled, because one file may be
 * for many nodes. */
void join_configuration_default(json_t *configuration);

/* Writes the options from flags and environment into the document. The document is made when
 * *configuration is NULL and the options say where the cluster is. --token fills both tokens where
 * they are not given; lists replace the document's, ignorePreflightErrors are added. */
void join_configuration_overlay(json_t **configuration, const struct join_options *options);
/* Overwrites the tokens in the document with zeros before it is freed, because others may still
 * hold a reference. */
void join_configuration_forget(json_t *configuration);
/* Checks the document as kubeadm's ValidateJoinConfiguration does on Windows; docs/configuration.md
 * lists what is stricter. All errors are in one line ("[a, b]"), each with the path of its field
 * and, for values of a file, with file, line and column (`yaml`; NULL means no file). Secrets are
 * not shown. `host` is used to check that a discovery file exists; NULL skips this check. Fails
 * with ERROR_USAGE. */
int join_configuration_check(const json_t *configuration, const struct yaml *yaml,
                             struct host *host, struct error *err);
/* Fills the options that are not given yet. `warnings` gets what the user should know. */
void join_configuration_apply(const json_t *configuration, struct join_options *options,
                              struct text_list *warnings);

/* Returns the node's name as kubeadm reads it (GetHostname): without surrounding blanks, in lower
 * case. The caller frees it. */
char *join_node_name_read(const char *name);
#define JOIN_NODE_NAME_RULE                                                                        \
    "a node name has a-z, 0-9, '-' and '.' only, begins and ends with a letter or digit, and has " \
    "at most 253 characters"
/* Returns a valid name that is similar ("my-node" for "my_node"); NULL when no name is similar.
 * The caller frees it. */
char *join_node_name_near(const char *name);
/* Returns the path or URL of a discovery file: "file:///C:/x.conf" becomes "C:/x.conf", "HTTPS://x"
 * becomes "https://x", anything else stays. The caller frees it. */
char *join_discovery_file_path(const char *given);

/* ---- a --config file: several YAML (or JSON) documents; winjoin reads two kinds ---- */

enum { CONFIG_FILE_MAX = 1024 * 1024 };

/* The documents of a file. Their fields are checked; values of a JoinConfiguration not yet. */
struct config_file {
    struct yaml yaml; /* Lines and columns of the values in both documents */
    json_t *join;     /* JoinConfiguration, always as v1beta4; NULL when absent */
    /* NodeConfiguration of winjoin.io/v1alpha1; NULL when absent */
    json_t *node;
    struct text_list warnings; /* Deprecated versions, and documents that are ignored */
};

enum config_kinds {
    /* As kubeadm join: documents of other kinds are ignored with a warning. */
    CONFIG_JOIN,
    /* As kubeadm config validate: kinds that kubeadm does not know are refused. */
    CONFIG_KNOWN
};

/* Parses a --config file; `what` names it in messages. Fails with ERROR_USAGE, line and column: no
 * YAML, an unknown or duplicate field, a wrong type, a document without apiVersion and kind, the
 * same kind twice, a kubeadm version that is too old or unknown, or no document that winjoin
 * reads. */
int config_file_parse(const char *text, size_t len, const char *what, enum config_kinds kinds,
                      struct config_file *ret, struct error *err);
void config_file_free(struct config_file *file);

/* NodeConfiguration (winjoin.io/v1alpha1): winjoin's settings beyond kubeadm's JoinConfiguration,
 * in a --config file or for the whole cluster in ConfigMap kube-system/winjoin. */

#define NODE_CONFIGURATION_KIND "NodeConfiguration"
#define NODE_CONFIGURATION_V1ALPHA1 "winjoin.io/v1alpha1"

/* Parses a text with exactly one NodeConfiguration and checks its fields and values. `what` names
 * it in messages. Fails with ERROR_USAGE. *ret is a new reference. */
int node_configuration_read(const char *text, size_t len, const char *what, json_t **ret,
                            struct error *err);
/* Checks fields and values of a NodeConfiguration. The caller has checked kind and version. */
int node_configuration_check(const struct yaml *yaml, const json_t *document, struct error *err);
/* Refuses (ERROR_USAGE) cluster-wide defaults that name a file of the server. Otherwise, anybody
 * who may write the ConfigMap could make each new node open a path of their choice and install what
 * it holds. */
int node_configuration_check_cluster(const json_t *configuration, const char *what,
                                     struct error *err);
/* Fills the options that are not given yet from a NodeConfiguration. */
void node_configuration_apply(const json_t *configuration, struct join_options *options);

/* Returns a NodeConfiguration with all options that are given and have a field there. New
 * reference. */
json_t *node_configuration_make(const struct join_options *options);
