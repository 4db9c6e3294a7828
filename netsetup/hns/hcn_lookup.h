/* Looking things up in HNS: lists by filter, one network by name, what it says about itself. */
#pragma once

#include "base/cidr.h"
#include "host/host.h"

enum { HCN_ID_MAX = 40 };

/* What a network in HNS is, as far as winjoin compares and needs it. Text that is absent is "". */
struct hcn_network {
    char id[HCN_ID_MAX];
    char name[256];
    char type[32];              /* "Overlay", "L2Bridge", ... */
    char owner[64];             /* "winjoin" = ours */
    char adapter[256];          /* NetAdapterName policy */
    char subnet[CIDR_TEXT_MAX]; /* of the first subnet */
    char gateway[IP_TEXT_MAX];
    char subnet6[CIDR_TEXT_MAX]; /* of the first IPv6 subnet behind it */
    char gateway6[IP_TEXT_MAX];
    unsigned vsid;                      /* 0 = none */
    char provider_address[IP_TEXT_MAX]; /* overlay, read back: management address */
    char router_mac[24];                /* overlay, read back: DrMacAddress, as HNS spells it */
};

/* Reads a queried HostComputeNetwork. Pure; too long or of another type: ERROR_MALFORMED. */
int hcn_network_parse(const json_t *properties, struct hcn_network *ret, struct error *err);
bool hcn_network_is_ours(const struct hcn_network *network);

/* Every object of the kind as HNS tells it (array of queried documents, new reference); key NULL:
 * all, else those whose property (Name, ID, VirtualNetwork) has the value. One that goes away
 * meanwhile is left out. */
int hcn_list(struct host *host, enum hcn_kind kind, const char *key, const char *value,
             json_t **ret, struct error *err);
/* The ids of those: an array of texts, new reference. */
int hcn_ids(struct host *host, enum hcn_kind kind, const char *key, const char *value, json_t **ret,
            struct error *err);
/* Adds the object of that id as HNS tells it to a list; nothing, when it went away meanwhile. */
int hcn_add(struct host *host, enum hcn_kind kind, const char *id, json_t *list, struct error *err);
/* By exact name (HNS keeps names of networks unique). Absent: ERROR_ABSENT. */
int hcn_network_find(struct host *host, const char *name, struct hcn_network *ret,
                     struct error *err);
/* The same with the whole document (new reference). */
int hcn_network_find_json(struct host *host, const char *name, struct hcn_network *ret,
                          json_t **ret_json, struct error *err);
