/* The rig's data plane of this node (tests/rig/dataplane.py): pods and programs in them. */
#pragma once

#include "base/error.h"
#include "base/json.h"

/* One request, {"op": ...}; the answer is a new reference (ret may be NULL). Refused: ERROR_HOST.
 */
int rig_ask(const json_t *request, json_t **ret, struct error *err);
