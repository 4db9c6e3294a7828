/* What several of Kubernetes' documents may hold in the same shape. */
#include <stddef.h>

#include "join/configuration/cluster_schema.h"

const struct yaml_field schema_taint[] = {
    {"key", YAML_FIELD_TEXT, NULL},
    {"value", YAML_FIELD_TEXT, NULL},
    {"effect", YAML_FIELD_TEXT, NULL},
    {"timeAdded", YAML_FIELD_TIME, NULL},
    {0},
};
const struct yaml_field schema_argument[] = {
    {"name", YAML_FIELD_TEXT, NULL},
    {"value", YAML_FIELD_TEXT, NULL},
    {0},
};
