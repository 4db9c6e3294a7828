/* Objects of HNS found and made the way that the upstream programs do it. */
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "host/host.h"

/* Enumerates with {"Filter":"{\"key\":\"value\"}"} (key NULL: all) and queries each hit; an array,
 * new reference. */
int hcn_find_all(struct host *host, enum hcn_kind kind, const char *key, const char *value,
                 json_t **ret, struct error *err);
/* The first hit, a new reference; NULL with success when there is none. */
int hcn_find(struct host *host, enum hcn_kind kind, const char *key, const char *value,
             json_t **ret, struct error *err);
/* Creates from a document; the properties are a new reference (ret may be NULL). */
int hcn_make(struct host *host, enum hcn_kind kind, const char *network, const json_t *document,
             json_t **ret, struct error *err);
/* {"ResourceType","RequestType","Settings"}; steals settings. */
int hcn_change(struct host *host, enum hcn_kind kind, const char *id, const char *resource,
               const char *request, json_t *settings, struct error *err);
/* Settings of the network's policy of that type (borrowed), or NULL. */
json_t *hcn_policy(const json_t *object, const char *type);
/* HNS version by HNSCall GET /globals/version. */
int hcn_version(struct host *host, unsigned *ret_major, unsigned *ret_minor, struct error *err);
/* {"Major":2,"Minor":0}, a new reference. */
json_t *hcn_schema(void);
/* The IPv4 subnet of a network: prefix and gateway (borrowed), or -1. */
int hcn_subnet(const json_t *network, const char **ret_prefix, const char **ret_gateway);
