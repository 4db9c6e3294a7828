/* flannel's two Windows backends: a network for the own subnet, a way to each other one. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "host/host.h"
#include "tests/standins/flanneld/leases.h"

struct flannel_settings {
    char *network;      /* "10.244.0.0/16" */
    char *name;         /* HNS network */
    const char *type;   /* "vxlan" or "host-gw" */
    long long vni;      /* vxlan */
    char *public_ip;    /* of the interface */
    char *subnet;       /* own pod subnet */
    char adapter[256];  /* alias of the interface */
    uint32_t interface; /* its index */
};

struct flannel_backend {
    const char *type;
    /* Makes or reuses the network, finds the interface again (the vSwitch may have moved it);
     * *ret_data is what the backend-data annotation holds. */
    int (*open)(struct host *host, struct flannel_settings *settings, json_t **ret_data,
                struct error *err);
    int (*add)(struct host *host, const struct flannel_settings *settings,
               const struct lease *lease, struct error *err);
    int (*remove)(struct host *host, const struct flannel_settings *settings,
                  const struct lease *lease, struct error *err);
};
extern const struct flannel_backend flannel_vxlan, flannel_host_gw;
