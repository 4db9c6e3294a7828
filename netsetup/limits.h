/* What Kubernetes cannot do on Windows nodes, or not on this one: one table, a row a limit, shown
 * by preflight, capabilities and diag before it bites. Source of most rows: the page "Networking on
 * Windows" of kubernetes.io, sections "Load balancing and Services" and "Limitations". */
#pragma once

#include "netsetup/hns/hns_features.h"
#include "netsetup/modes/mode.h"

/* What ends a limit, or makes it one. */
enum limit_cause {
    LIMIT_OF_WINDOWS,  /* nothing ends it */
    LIMIT_OF_HNS,      /* an HNS that has the row's feature */
    LIMIT_OF_NO_DSR,   /* load balancers with direct server return */
    LIMIT_OF_MODE,     /* another network mode: struct network_mode.lacks */
    LIMIT_OF_HOSTNAME, /* a host name of at most 15 characters */
    LIMIT_OF_PORTS,    /* DSR, or more dynamic ports */
};
struct limit {
    const char *id;   /* "hostNetwork": lower camel case, stable */
    const char *what; /* what is not supported, as a noun: "pods with hostNetwork" */
    const char *instead, *source;
    enum limit_cause cause;
    enum hns_feature feature; /* LIMIT_OF_HNS */
    unsigned mode_bit;        /* LIMIT_OF_MODE */
};
extern const struct limit limits[]; /* ended by a row without an id */

/* What limits are judged by; what is not known is 0 or NULL. */
struct limit_scene {
    struct hns_version hns;
    bool no_dsr; /* DSR is switched off (--dsr off) */
    const struct network_mode *mode;
    const char *host_name;
    unsigned dynamic_ports; /* TCP */
};
enum limit_state { LIMIT_UNKNOWN, LIMIT_HOLDS, LIMIT_ENDED };
enum limit_state limit_judge(const struct limit *limit, const struct limit_scene *scene);
/* A row a limit: [{name,title,available: bool or absent when unknown,reason,instead,source}]. New
 * reference. */
json_t *limits_json(const struct limit_scene *scene);
/* The ids of those that hold, comma-separated; the caller frees. */
char *limits_that_hold(const struct limit_scene *scene);

enum { LIMIT_PORTS_A_BALANCER = 64, LIMIT_DYNAMIC_PORTS = 16384 /* Windows' own number */ };
/* How many dynamic TCP ports Windows has (netsh, in any language). Kinds: those of host_run();
 * ERROR_MALFORMED when it prints no number. */
int limit_dynamic_ports(struct host *host, unsigned *ret, struct error *err);
/* How many TCP ports from `first` on are in excluded ranges. Kinds: those of host_run(). */
int limit_excluded_ports(struct host *host, unsigned first, unsigned *ret, struct error *err);
