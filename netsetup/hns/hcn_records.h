/* Reads all endpoints or load balancers of HNS into small records by two calls. HNS version 2 lists
 * only ids and needs three more calls for each object; version 1 returns whole lists (GET
 * /endpoints/, GET /policylists/: hcsshim's HNSEndpoint and PolicyList). The answer is read as a
 * stream, without a tree of JSON, since there may be tens of thousands of objects. */
#pragma once

#include "base/json.h"
#include "host/host.h"

/* Text is owned, and NULL where HNS has none or "". */
struct hcn_endpoint {
    char *id, *name, *address; /* `address` is the endpoint's first address. */
    bool remote;
};
struct hcn_endpoints {
    struct hcn_endpoint *items;
    size_t count;
};

struct hcn_port_mapping {
    /* protocol is 6 (TCP) or 17 (UDP); 0 when HNS does not say. */
    long long protocol, outside, inside;
};
struct hcn_balancer {
    char *id;
    bool names_endpoints; /* HNS gave a list of the balancer's endpoints, which may be empty. */
    bool dsr;
    struct text_list endpoints; /* Ids of the balancer's endpoints. */
    struct text_list vips;
    struct hcn_port_mapping *mappings;
    size_t mapping_count;
};
struct hcn_balancers {
    struct hcn_balancer *items;
    size_t count;
};

/* Says which calls of HNS read the lists. */
enum hcn_by {
    /* HNS version 1. Where it fails, or returns another count of objects than version 2 has ids,
     * the read continues as with HCN_ONE_BY_ONE. */
    HCN_AT_ONCE,
    /* HNS version 2, with three calls for each object. Skips objects that are deleted meanwhile. */
    HCN_ONE_BY_ONE
};
/* Read all objects. The caller frees by hcn_endpoints_free(), hcn_balancers_free(). Fail as
 * hcn_enumerate() and hcn_query(), or with ERROR_MALFORMED; *ret is zero then. */
int hcn_endpoints_read(struct host *host, enum hcn_by by, struct hcn_endpoints *ret,
                       struct error *err);
int hcn_balancers_read(struct host *host, enum hcn_by by, struct hcn_balancers *ret,
                       struct error *err);
/* Reads both lists with HNS version 1 only, in one call each; `endpoint_count` and `balancer_count`
 * are the numbers of ids in version 2. Returns false, with empty lists, if version 1 does not
 * answer or has other numbers. */
bool hcn_records_at_once(struct host *host, size_t endpoint_count, struct hcn_endpoints *ret,
                         size_t balancer_count, struct hcn_balancers *ret_balancers);
/* Makes both lists from the documents of HNS version 2 (arrays; NULL means none). Pure. */
void hcn_records_of(const json_t *endpoints, struct hcn_endpoints *ret, const json_t *balancers,
                    struct hcn_balancers *ret_balancers);
void hcn_endpoints_free(struct hcn_endpoints *endpoints);
void hcn_balancers_free(struct hcn_balancers *balancers);
