/* All endpoints or load balancers of HNS by two calls, in small records: its version 2 tells ids
 * alone, and takes three calls more for each; version 1 tells its lists whole (GET /endpoints/, GET
 * /policylists/: hcsshim's HNSEndpoint and PolicyList). What HNS answers is read from front to back
 * and never a tree of JSON: there may be tens of thousands. */
#pragma once

#include "base/json.h"
#include "host/host.h"

/* Text is owned; NULL where HNS says none, or "". */
struct hcn_endpoint {
    char *id, *name, *address; /* the first */
    bool remote;
};
struct hcn_endpoints {
    struct hcn_endpoint *items;
    size_t count;
};

struct hcn_port_mapping {
    long long protocol, outside, inside; /* 6 or 17; 0: not said */
};
struct hcn_balancer {
    char *id;
    bool names_endpoints; /* it has a list of them, which may be empty */
    bool dsr;
    struct text_list endpoints; /* their ids */
    struct text_list vips;
    struct hcn_port_mapping *mappings;
    size_t mapping_count;
};
struct hcn_balancers {
    struct hcn_balancer *items;
    size_t count;
};

/* Whose lists are asked for. */
enum hcn_by {
    HCN_AT_ONCE,   /* version 1; where it does not answer, or not with as many as version 2 has ids,
                      as HCN_ONE_BY_ONE */
    HCN_ONE_BY_ONE /* version 2: three calls for each; one that goes away meanwhile is left out */
};
/* Kinds of failure: those of hcn_enumerate() and hcn_query(); ERROR_MALFORMED. *ret is zero then;
 * else hcn_endpoints_free(), hcn_balancers_free(). */
int hcn_endpoints_read(struct host *host, enum hcn_by by, struct hcn_endpoints *ret,
                       struct error *err);
int hcn_balancers_read(struct host *host, enum hcn_by by, struct hcn_balancers *ret,
                       struct error *err);
/* Both lists by version 1 alone, in one call each, where version 2 has so many ids. false: version
 * 1 does not answer, or not with as many; then both lists are empty. */
bool hcn_records_at_once(struct host *host, size_t endpoint_count, struct hcn_endpoints *ret,
                         size_t balancer_count, struct hcn_balancers *ret_balancers);
/* Both lists of the documents that version 2 has told (arrays; NULL: none). Pure. */
void hcn_records_of(const json_t *endpoints, struct hcn_endpoints *ret, const json_t *balancers,
                    struct hcn_balancers *ret_balancers);
void hcn_endpoints_free(struct hcn_endpoints *endpoints);
void hcn_balancers_free(struct hcn_balancers *balancers);
