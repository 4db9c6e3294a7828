/* Version 1 of HNS's interface (HNSCall) on the plain store, and what both versions share. */
#ifndef HOST_MODEL_HNS_V1_H
#define HOST_MODEL_HNS_V1_H

#include "base/cidr.h"
#include "host/model/model.h"

/* The response envelope {"Success","Error","Output"} for a request; the caller frees. */
char *model_hns_v1(json_t *state, const char *method, const char *path, const char *request);

/* A fresh id in the form of a GUID, counted in the state; the caller frees. */
char *model_hns_new_id(json_t *state);
/* Stores an object (ownership taken) under `id` or a fresh one; answers it borrowed. */
json_t *model_hns_keep(json_t *state, const char *member, const char *id, json_t *object);
/* Borrowed; NULL when absent. */
json_t *model_hns_find(json_t *state, const char *member, const char *id);
/* The host's IPv4 address on a network's adapter in `out`, or NULL while there is none. */
const char *model_hns_management_address(json_t *state, const char *id, char out[IP_TEXT_MAX]);

#endif
