/* What the files of the HNS model share: its state, failures, schema tables, the object kinds. */
#pragma once

#include "tests/hns/hns.h"

/* HRESULTs that the model gives; names and texts in hns_error.c. */
#define HR_PARAMETER 0x80070057u
#define HR_NOT_SUPPORTED 0x80070032u
#define HR_NOT_FOUND 0x80070490u
#define HR_OBJECT_EXISTS 0x80071392u
#define HR_HANDLE 0x80070006u
#define HR_NOT_IMPLEMENTED 0x80004001u
#define HR_NO_SYSTEM 0xc037010eu
#define HR_NETWORK_NOT_FOUND 0x803b0001u
#define HR_ENDPOINT_NOT_FOUND 0x803b0002u
#define HR_ADAPTER_NOT_FOUND 0x803b0006u
#define HR_POLICY_NOT_FOUND 0x803b0008u
#define HR_NETWORK_TYPE 0x803b000bu
#define HR_POLICY 0x803b000du
#define HR_POLICY_TYPE 0x803b000eu
#define HR_REMOTE_ENDPOINT 0x803b000fu
#define HR_NETWORK_EXISTS 0x803b0010u
#define HR_POLICY_EXISTS 0x803b0012u
#define HR_PORT_EXISTS 0x803b0013u
#define HR_ATTACHED 0x803b0014u
#define HR_UNSUPPORTED 0x803b0015u
#define HR_SHARED_SWITCH 0x803b0018u
#define HR_JSON 0x803b001bu
#define HR_ADDRESS_OUTSIDE 0x803b001eu
#define HR_DEFAULT_NAMESPACE 0x803b0029u
#define HR_OTHER_NAMESPACE 0x803b002bu
#define HR_INTERNAL_PORT 0x803b002du
#define HR_ADDRESS_RESERVED 0x803b002fu
#define HR_PREFIX 0x803b0030u
#define HR_SUBNET 0x803b0032u
#define HR_NOT_ATTACHED 0x803b0034u

enum model_kind { NETWORK, ENDPOINT, NAMESPACE, LOAD_BALANCER, SDN_ROUTE, KINDS, SYSTEM = KINDS };

enum model_feature { /* rows of hns_feature.c */
                     ALWAYS,
                     F_V2_API,
                     F_DSR,
                     F_HOST_PREFIX,
                     F_VXLAN_PORT,
                     F_DUAL_STACK,
                     F_SET_POLICY,
                     F_L4_PROXY,
                     F_L4_WFP_PROXY,
                     F_TIER_ACL,
                     F_NETWORK_ACL,
                     F_DISABLE_HOST_PORT,
                     F_MODIFY_LOAD_BALANCER,
                     FEATURES,
};

struct hns_model {
    unsigned major, minor;
    json_t *objects[KINDS]; /* id -> v2 document; members beginning with '_' are the model's own */
    json_t *handles;        /* hex -> {"kind","id"} */
    json_t *adapters;       /* as hns_model_state(), plus _own: its addresses, _until: ms */
    json_t *faults;         /* the rules, in order */
    json_t *systems;        /* compute system ids that can be opened */
    json_t *orphans; /* load balancers that are gone but hold their frontends; _hr: what a new one
                        with such a frontend fails with */
    bool any_system, keep_static, soft_v1, changed;
    unsigned outage_ms, next_mac, next_namespace, next_handle;
    uint64_t now_ms, random;
    unsigned fail_hr; /* of the call under way */
    char fail_text[512];
    json_t *initial; /* options as `set` takes them, for `reset` */
};

/* hns_error.c. Remembers the HRESULT and its text (format NULL: the table's); returns -1. */
int model_fail(struct hns_model *m, unsigned hr, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));
const char *model_hr_text(unsigned hr);
char *model_error_record(unsigned hr, const char *text); /* the caller frees */

/* hns_feature.c */
bool model_has(const struct hns_model *m, enum model_feature feature);
const char *model_feature_text(enum model_feature feature); /* "dual stack needs HNS 11.10" */

/* hns_address.c: addresses as 16 bytes, IPv4 mapped; independent of the product's own arithmetic.
 */
struct model_address {
    unsigned char byte[16];
    int family; /* 4 or 6 */
};
struct model_prefix {
    struct model_address base;
    int length; /* as written */
};
bool model_address_read(const char *text, struct model_address *ret);
/* exact: no host bits may be set. */
bool model_prefix_read(const char *text, bool exact, struct model_prefix *ret);
bool model_address_equal(const struct model_address *a, const struct model_address *b);
bool model_prefix_has(const struct model_prefix *p, const struct model_address *a);
bool model_prefix_overlaps(const struct model_prefix *a, const struct model_prefix *b);
bool model_prefix_is_edge(const struct model_prefix *p, const struct model_address *a);
void model_prefix_nth(const struct model_prefix *p, unsigned n, struct model_address *ret);
void model_address_write(const struct model_address *a, char out[46]);
bool model_mac_read(const char *text, char out[18]);  /* as "AA-BB-..." */
bool model_guid_read(const char *text, char out[37]); /* lower case, no braces */

/* hns_take.c: reads a document by its schema. */
enum model_type {
    T_STRING,
    T_BOOL,
    T_UINT,
    T_GUID,
    T_ADDRESS,
    T_PREFIX,       /* no host bits */
    T_LOOSE_PREFIX, /* host bits allowed */
    T_RANGE,        /* address or prefix */
    T_RANGES_TEXT,  /* comma-joined ranges */
    T_SETS_TEXT,    /* the same, or Ids of SetPolicies where there are such */
    T_MAC,
    T_WORD,  /* one of `of` (struct model_word), any case; stored as the table spells it */
    T_FLAGS, /* number, or word, or comma-joined words; stored as the number */
    T_OBJECT,
    T_OBJECTS,
    T_POLICIES, /* of: struct model_policy */
    T_STRINGS,
    T_ADDRESSES,
    T_RANGES,
    T_GUIDS,
    T_ANY,
    T_DROPPED, /* taken and not stored */
};
struct model_word {
    const char *word;
    uint64_t value;
    enum model_feature gate;
};
struct model_field {
    const char *name;
    enum model_type type;
    bool required;     /* there, not null and not "" */
    uint64_t min, max; /* T_UINT; max 0 = 2^32-1 */
    const void *of;
    unsigned hr; /* for a value that cannot be; 0 = HR_PARAMETER */
    enum model_feature gate;
};
struct model_rename { /* v1 member -> v2 member ("": dropped) */
    const char *v1, *v2;
    bool one_way; /* version 1 shows it by version 2's name, which it knows as well */
};
struct model_policy {
    const char *type;
    const struct model_field *settings; /* ends with a NULL name */
    enum model_feature gate;
    unsigned
        networks;   /* network types that it can stand on, bits 1 << enum model_network; 0 = all */
    const char *v1; /* its type in version 1, NULL = none */
    const struct model_rename *renames;
};
int model_take(struct hns_model *m, const struct model_field *schema, const char *where,
               const json_t *in, json_t **ret);
int model_take_policy(struct hns_model *m, const struct model_policy *table, const char *where,
                      const json_t *in, json_t **ret);
/* Text to JSON; refuses double members. */
int model_parse(struct hns_model *m, const char *text, json_t **ret);

/* hns_schema.c: the documents, once. */
enum model_network {
    NAT,
    ICS,
    TRANSPARENT,
    L2BRIDGE,
    L2TUNNEL,
    OVERLAY,
    PRIVATE,
    INTERNAL,
    MIRRORED
};
extern const struct model_word model_network_types[], model_network_flags[], model_endpoint_flags[];
extern const struct model_field model_network_schema[], model_endpoint_schema[],
    model_namespace_schema[], model_load_balancer_schema[], model_sdn_route_schema[],
    model_query_schema[], model_modify_schema[], model_policies_schema[],
    model_endpoint_ref_schema[], model_container_ref_schema[], model_port_schema[],
    model_dns_schema[], model_subnets_schema[];
extern const struct model_policy model_network_policies[], model_endpoint_policies[],
    model_subnet_policies[];
/* hns_schema_v1.c */
extern const struct model_field model_v1_network_schema[], model_v1_change_schema[],
    model_v1_endpoint_schema[], model_v1_attach_schema[], model_v1_policy_list_schema[];

/* hns_policy.c */
int model_policies_check(struct hns_model *m, const struct model_policy *table, const json_t *list,
                         enum model_network type);
int model_policies_modify(struct hns_model *m, const struct model_policy *table, json_t *object,
                          const char *request, const json_t *list, enum model_network type);
const json_t *model_policy_find(const json_t *list, const char *type);

/* hns_object.c */
json_t *model_find(struct hns_model *m, enum model_kind kind, const char *id); /* NULL = failed */
json_t *model_create(struct hns_model *m, enum model_kind kind, const char *id, json_t *taken,
                     const char *network);
int model_remove(struct hns_model *m, enum model_kind kind, const char *id);
int model_delete(struct hns_model *m, enum model_kind kind, const char *id); /* by a caller */
json_t *model_public(const struct hns_model *m, enum model_kind kind, const json_t *object);
const char *model_open(struct hns_model *m, enum model_kind kind, const char *id);
const char *model_text(const json_t *object, const char *key); /* "" when absent */
uint64_t model_number(const json_t *object, const char *key);
void model_guid(struct hns_model *m, char out[37]);
void model_mac(struct hns_model *m, unsigned family, char out[18]);
/* An overlay's distributed router: another one on each host (after its adapter), as the Linux side
 * of the rig drops what seems to come from itself. */
void model_dr_mac(struct hns_model *m, char out[18]);
extern const char *const model_kind_names[]; /* "Network", ... */
extern const struct model_field *const model_kind_schemas[];

/* hns_network.c */
int model_network_make(struct hns_model *m, json_t *network);
void model_network_gone(struct hns_model *m, const json_t *network);
int model_network_modify(struct hns_model *m, json_t *network, const json_t *request);
enum model_network model_network_type(const json_t *network);
bool model_network_is_external(enum model_network type);
size_t model_subnets(const json_t *network, struct model_prefix out[], size_t max);
const char *model_subnet_gateway(const json_t *subnet);
const json_t *model_subnet_at(const json_t *network, size_t n);
const char *model_management_ip(const struct hns_model *m, const json_t *network, int family,
                                char out[46]);

/* hns_adapter.c */
json_t *model_adapter_find(const struct hns_model *m, const char *alias);
int model_adapter_choose(struct hns_model *m, const json_t *policies, json_t **ret);
void model_switch_make(struct hns_model *m, json_t *adapter);
void model_switch_drop(struct hns_model *m, json_t *adapter);
json_t *model_adapter_new(const char *alias, const char *mac, const json_t *addresses, bool dhcp);

/* hns_endpoint.c */
int model_endpoint_make(struct hns_model *m, json_t *endpoint, const char *network);
int model_endpoint_modify(struct hns_model *m, json_t *endpoint, const json_t *request);
bool model_endpoint_is_remote(const json_t *endpoint);
int model_endpoint_attach(struct hns_model *m, json_t *endpoint, const char *system,
                          const char *id);
int model_endpoint_detach(struct hns_model *m, json_t *endpoint, const char *id);

/* hns_namespace.c, hns_balancer.c */
int model_namespace_make(struct hns_model *m, json_t *space);
int model_namespace_modify(struct hns_model *m, json_t *space, const json_t *request);
int model_balancer_make(struct hns_model *m, json_t *balancer);
int model_balancer_orphan(struct hns_model *m, const char *id, unsigned hr);
int model_balancer_modify(struct hns_model *m, json_t *balancer, const char *document);

/* hns_v1.c, hns_v1_view.c, hns_v1_list.c, hns_hcs.c: answers are new references or NULL. */
json_t *model_v1_call(struct hns_model *m, const char *method, const char *path,
                      const char *request, unsigned *ret_hr);
json_t *model_v1_network(const struct hns_model *m, const json_t *network);
json_t *model_v1_endpoint(const struct hns_model *m, const json_t *endpoint);
json_t *model_v1_policy_list(enum model_kind kind, const json_t *object);
int model_v1_to_network(struct hns_model *m, const json_t *v1, json_t **ret);
void model_v1_set_extension(json_t *policies, const json_t *extension);
int model_v1_to_endpoint(struct hns_model *m, const json_t *v1, json_t **ret);
enum model_kind model_v1_list_kind(const json_t *v1); /* LOAD_BALANCER, SDN_ROUTE */
int model_v1_from_policy_list(struct hns_model *m, enum model_kind kind, const json_t *v1,
                              json_t **ret);
/* 1 = not one of these calls. */
int model_hcs_call(struct hns_model *m, const char *function, const char *const args[], size_t n,
                   struct hns_answer *ret);
