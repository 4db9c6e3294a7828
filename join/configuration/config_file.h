/* A --config file: several YAML (or JSON) documents, of which winjoin reads two kinds. */
#pragma once

#include "base/yaml.h"

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
