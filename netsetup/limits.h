/* What Kubernetes cannot do on Windows nodes, or not on this one. preflight, capabilities and diag
 * show these limits before they cause a failure. Source of most rows: the page "Networking on
 * Windows" of kubernetes.io, sections "Load balancing and Services" and "Limitations". */
#pragma once

#include "netsetup/hns/hns_features.h"
#include "netsetup/modes/mode.h"

/* Says what causes a limit, or ends it. */
enum limit_cause {
    LIMIT_OF_WINDOWS,  /* A limit that nothing ends. */
    LIMIT_OF_HNS,      /* A limit that ends with an HNS that has the row's feature. */
    LIMIT_OF_NO_DSR,   /* A limit that ends with direct server return (DSR) in load balancers. */
    LIMIT_OF_MODE,     /* A limit that depends on the network mode: network_mode.lacks. */
    LIMIT_OF_HOSTNAME, /* A limit that ends with a host name of at most 15 characters. */
    LIMIT_OF_PORTS,    /* A limit that ends with DSR or with more dynamic ports. */
};
struct limit {
    const char *id;   /* A stable id in lower camel case, e.g. "hostNetwork". */
    const char *what; /* What is not supported, as a noun: "pods with hostNetwork". */
    const char *instead, *source;
    enum limit_cause cause;
    enum hns_feature feature; /* The feature that ends a LIMIT_OF_HNS. */
    unsigned mode_bit;        /* The MODE_LACKS_* bit of a LIMIT_OF_MODE. */
};
extern const struct limit limits[]; /* The table of limits; the last row has no id. */

/* The facts that decide whether a limit holds. Unknown ones are 0 or NULL. */
struct limit_facts {
    struct hns_version hns;
    bool no_dsr; /* DSR is turned off (--dsr off). */
    const struct network_mode *mode;
    const char *host_name;
    unsigned dynamic_ports; /* Count of dynamic TCP ports. */
};
enum limit_state { LIMIT_UNKNOWN, LIMIT_HOLDS, LIMIT_ENDED };
enum limit_state limit_judge(const struct limit *limit, const struct limit_facts *facts);
/* Returns one row for each limit: [{name,title,available: bool or absent when
 * unknown,reason,instead,source}]. New reference. */
json_t *limits_json(const struct limit_facts *facts);
/* Returns the ids of the limits that hold, separated by commas; the caller frees it. */
char *limits_that_hold(const struct limit_facts *facts);

enum { LIMIT_PORTS_A_BALANCER = 64, LIMIT_DYNAMIC_PORTS = 16384 /* The default of Windows. */ };
/* Reads how many dynamic TCP ports Windows has (netsh, in any language). Fails as host_run(), or
 * with ERROR_MALFORMED when netsh prints no number. */
int limit_dynamic_ports(struct host *host, unsigned *ret, struct error *err);
/* Counts the TCP ports from `first` on that are in excluded ranges. Fails as host_run(). */
int limit_excluded_ports(struct host *host, unsigned first, unsigned *ret, struct error *err);
