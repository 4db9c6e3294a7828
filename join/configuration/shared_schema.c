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

static const struct yaml_field log_output_fields[] = {
    {"splitStream", YAML_FIELD_BOOL, NULL},
    {"infoBufferSize", YAML_FIELD_QUANTITY, NULL},
    {0},
};
static const struct yaml_field log_options_fields[] = {
    {"text", YAML_FIELD_OBJECT, log_output_fields},
    {"json", YAML_FIELD_OBJECT, log_output_fields},
    {0},
};
static const struct yaml_field vmodule_fields[] = {
    {"filePattern", YAML_FIELD_TEXT, NULL},
    {"verbosity", YAML_FIELD_LEVEL, NULL},
    {0},
};
const struct yaml_field schema_logging[] = {
    {"format", YAML_FIELD_TEXT, NULL},
    {"flushFrequency", YAML_FIELD_FREQUENCY, NULL},
    {"verbosity", YAML_FIELD_LEVEL, NULL},
    {"vmodule", YAML_FIELD_OBJECTS, vmodule_fields},
    {"options", YAML_FIELD_OBJECT, log_options_fields},
    {0},
};
