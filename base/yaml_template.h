/* Documents that are written down as YAML (templates/), with places in them. */
#pragma once

#include "base/yaml.h"

/* The part at a path ("": all) of a YAML text as JSON, a new reference. Each string in it that is
 * "@NAME@" becomes the member NAME of `values`, which is taken over and may be NULL; where there is
 * no such member, what would hold it goes, too. NULL where the text has no such part. */
json_t *yaml_template(const char *yaml, const char *path, json_t *values);
