/* Reads endpoints and load balancers of HNS version 1 or 2 into records. */
#include "netsetup/hns/hcn_records.h"

#include "base/json_scan.h"

enum {
    OBJECT,
    ID,
    NAME,
    ADDRESS,
    ADDRESS6,
    REMOTE,
    ENDPOINTS,
    ENDPOINT,
    VIP,
    FIRST_VIP,
    FLAGS,
    FIRST_FLAGS,
    TYPE,
    MAPPING,
    PROTOCOL,
    OUTSIDE,
    INSIDE
};

/* Says where the values of one kind of object are in the JSON of one HNS version. */
struct dialect {
    /* The list's path in version 1; NULL for version 2, which answers single objects. */
    const char *path;
    struct json_place places[12];
};
static const struct dialect endpoints_v1 = {"/endpoints/",
                                            {{"", OBJECT},
                                             {"ID", ID},
                                             {"Name", NAME},
                                             {"IPAddress", ADDRESS},
                                             {"IPv6Address", ADDRESS6},
                                             {"IsRemoteEndpoint", REMOTE}}};
static const struct dialect endpoints_v2 = {NULL,
                                            {{"", OBJECT},
                                             {"ID", ID},
                                             {"Name", NAME},
                                             {"IpConfigurations.*.IpAddress", ADDRESS},
                                             {"Flags", REMOTE}}};
/* A policy list of version 1 is a load balancer when its policies are of type ELB. Each policy is
 * one port; the first policy has the frontend values for all. */
static const struct dialect balancers_v1 = {"/policylists/",
                                            {{"", OBJECT},
                                             {"ID", ID},
                                             {"References", ENDPOINTS},
                                             {"References.*", ENDPOINT},
                                             {"Policies.*", MAPPING},
                                             {"Policies.*.Type", TYPE},
                                             {"Policies.*.VIPs.*", FIRST_VIP},
                                             {"Policies.*.IsDSR", FIRST_FLAGS},
                                             {"Policies.*.Protocol", PROTOCOL},
                                             {"Policies.*.ExternalPort", OUTSIDE},
                                             {"Policies.*.InternalPort", INSIDE}}};
static const struct dialect balancers_v2 = {NULL,
                                            {{"", OBJECT},
                                             {"ID", ID},
                                             {"HostComputeEndpoints", ENDPOINTS},
                                             {"HostComputeEndpoints.*", ENDPOINT},
                                             {"FrontendVIPs.*", VIP},
                                             {"Flags", FLAGS},
                                             {"PortMappings.*", MAPPING},
                                             {"PortMappings.*.Protocol", PROTOCOL},
                                             {"PortMappings.*.ExternalPort", OUTSIDE},
                                             {"PortMappings.*.InternalPort", INSIDE}}};

/* ---- values found in the JSON ---- */

/* Returns the text of a value; NULL for "" and for no text. */
static char *said(const struct json_found *found) {
    return found->len ? json_found_text(found) : NULL;
}

struct endpoint_reading {
    struct hcn_endpoints *all;
    struct hcn_endpoint now;
    char *address6;
};

static void endpoint_found(void *context, const struct json_found *found) {
    struct endpoint_reading *r = context;

    if (found->what == ID) {
        text_set(&r->now.id, said(found));
    } else if (found->what == NAME) {
        text_set(&r->now.name, said(found));
    } else if (found->what == ADDRESS && !r->now.address) {
        r->now.address = said(found);
    } else if (found->what == ADDRESS6) {
        text_set(&r->address6, said(found));
    } else if (found->what == REMOTE) {
        r->now.remote = found->number & 1;
    } else if (found->what == OBJECT && found->kind == SCAN_ENDS) {
        if (!r->now.address)
            r->now.address = take_ptr(r->address6);
        text_set(&r->address6, NULL);
        array_add(r->all->items, r->all->count, r->now);
        r->now = (struct hcn_endpoint){0};
    }
}

static void balancer_free(struct hcn_balancer *b) {
    free_all(b->id, b->mappings);
    text_list_free(&b->endpoints);
    text_list_free(&b->vips);
    *b = (struct hcn_balancer){0};
}

struct balancer_reading {
    struct hcn_balancers *all;
    struct hcn_balancer now;
    bool v1;
    bool other; /* The object is no load balancer: lists of version 1 hold other kinds, too. */
};

static void mapping_found(struct balancer_reading *r, const struct json_found *found) {
    _cleanup_(freep) char *type = found->what == TYPE ? json_found_text(found) : NULL;
    struct hcn_balancer *b = &r->now;
    struct hcn_port_mapping *mapping = b->mapping_count ? &b->mappings[b->mapping_count - 1] : NULL;
    bool first = b->mapping_count == 1;

    if (found->what == MAPPING && found->kind == SCAN_BEGINS)
        array_add(b->mappings, b->mapping_count, (struct hcn_port_mapping){0});
    else if (!mapping)
        return;
    else if (found->what == PROTOCOL)
        mapping->protocol = found->number;
    else if (found->what == OUTSIDE)
        mapping->outside = found->number;
    else if (found->what == INSIDE)
        mapping->inside = found->number;
    else if (found->what == TYPE && first)
        r->other = !text_equal_nocase(type, "ELB");
    else if (found->what == FIRST_FLAGS && first)
        b->dsr = found->number & 1;
    else if (found->what == FIRST_VIP && first && found->kind == SCAN_TEXT)
        text_list_add_owned(&b->vips, json_found_text(found));
}

static void balancer_found(void *context, const struct json_found *found) {
    struct balancer_reading *r = context;

    if (found->what == ID) {
        text_set(&r->now.id, said(found));
    } else if (found->what == ENDPOINTS) {
        r->now.names_endpoints = true;
    } else if (found->what == ENDPOINT) {
        size_t begin = found->len;

        /* The value is an id, or "/endpoints/ID" in version 1. */
        if (found->kind == SCAN_TEXT) {
            while (begin && found->text[begin - 1] != '/')
                begin--;
            text_list_add_owned(&r->now.endpoints,
                                xstrndup(found->text + begin, found->len - begin));
        }
    } else if (found->what == VIP && found->kind == SCAN_TEXT) {
        text_list_add_owned(&r->now.vips, json_found_text(found));
    } else if (found->what == FLAGS) {
        r->now.dsr = found->number & 1;
    } else if (found->what != OBJECT) {
        mapping_found(r, found);
    } else if (found->kind == SCAN_ENDS && !r->other) {
        array_add(r->all->items, r->all->count, r->now);
        r->now = (struct hcn_balancer){0};
    } else {
        balancer_free(&r->now);
        r->other = r->v1;
    }
}

/* ---- reading whole lists ---- */

/* What to read for one kind of object. */
struct reading {
    enum hcn_kind kind;
    const struct dialect *v1, *v2;
    void (*found)(void *context, const struct json_found *found);
    struct endpoint_reading endpoints;
    struct balancer_reading balancers;
};

static struct reading of_endpoints(struct hcn_endpoints *ret) {
    *ret = (struct hcn_endpoints){0};
    return (struct reading){.kind = HCN_ENDPOINT,
                            .v1 = &endpoints_v1,
                            .v2 = &endpoints_v2,
                            .found = endpoint_found,
                            .endpoints.all = ret};
}

static struct reading of_balancers(struct hcn_balancers *ret) {
    *ret = (struct hcn_balancers){0};
    return (struct reading){.kind = HCN_LOAD_BALANCER,
                            .v1 = &balancers_v1,
                            .v2 = &balancers_v2,
                            .found = balancer_found,
                            .balancers.all = ret};
}

static int scan(struct reading *r, const struct dialect *dialect, const char *text,
                struct error *err) {
    size_t count = 0;
    int result;

    while (count < ARRAY_SIZE(dialect->places) && dialect->places[count].path)
        count++;
    r->balancers.v1 = dialect->path;
    result = json_scan(text, strlen(text),
                       &(struct json_scan){.name = "what HNS answers",
                                           .prefix = dialect->path ? "Output.*" : "",
                                           .places = dialect->places,
                                           .count = count,
                                           .found = r->found,
                                           .context = r->balancers.all ? (void *)&r->balancers
                                                                       : (void *)&r->endpoints},
                       err);
    /* The text may have ended inside an object, whose members are freed here. */
    free_all(r->endpoints.now.id, r->endpoints.now.name, r->endpoints.now.address);
    r->endpoints.now = (struct hcn_endpoint){0};
    text_set(&r->endpoints.address6, NULL);
    balancer_free(&r->balancers.now);
    return result;
}

static void forget(struct reading *r) {
    if (r->endpoints.all)
        hcn_endpoints_free(r->endpoints.all);
    else
        hcn_balancers_free(r->balancers.all);
}

/* Reads the whole list by version 1. Returns false when that fails or has not `count` objects. */
static bool read_at_once(struct host *host, struct reading *r, size_t count) {
    _cleanup_(freep) char *text = NULL;

    if (hns_call(host, "GET", r->v1->path, "", &text, ERROR_IGNORED) == 0 &&
        scan(r, r->v1, text, ERROR_IGNORED) == 0 &&
        (r->endpoints.all ? r->endpoints.all->count : r->balancers.all->count) == count)
        return true;
    forget(r);
    return false;
}

/* Adds an id. A value that is no text becomes "", of which HNS says that it has no such object. */
static void id_found(void *context, const struct json_found *found) {
    char *id = json_found_text(found);

    text_list_add_owned(context, id ? id : xstrdup(""));
}

static int read_all(struct host *host, struct reading r, enum hcn_by by, struct error *err) {
    static const struct json_place id = {"*", 0};
    _cleanup_(freep) char *text = NULL;
    _cleanup_(text_list_free) struct text_list ids = {0};

    if (hcn_enumerate(host, r.kind, NULL, &text, err) < 0 ||
        json_scan(text, strlen(text),
                  &(struct json_scan){.name = "list of HNS IDs",
                                      .prefix = "",
                                      .places = &id,
                                      .count = 1,
                                      .found = id_found,
                                      .context = &ids},
                  err) < 0)
        return -1;
    if (by == HCN_AT_ONCE && ids.count > 1 && read_at_once(host, &r, ids.count))
        return 0;
    for (size_t i = 0; i < ids.count; i++) {
        _cleanup_(freep) char *object = NULL;
        struct error why = {0};
        int result = hcn_query(host, r.kind, ids.items[i], NULL, &object, &why);

        if (result == 0)
            result = scan(&r, r.v2, object, err);
        else if (why.kind != ERROR_ABSENT) /* An object that is absent was deleted meanwhile. */
            result = error_pass(err, &why);
        else
            result = 0;
        if (result < 0) {
            forget(&r);
            return -1;
        }
    }
    return 0;
}

int hcn_endpoints_read(struct host *host, enum hcn_by by, struct hcn_endpoints *ret,
                       struct error *err) {
    return read_all(host, of_endpoints(ret), by, err);
}

int hcn_balancers_read(struct host *host, enum hcn_by by, struct hcn_balancers *ret,
                       struct error *err) {
    return read_all(host, of_balancers(ret), by, err);
}

bool hcn_records_at_once(struct host *host, size_t endpoint_count, struct hcn_endpoints *ret,
                         size_t balancer_count, struct hcn_balancers *ret_balancers) {
    struct reading endpoints = of_endpoints(ret), balancers = of_balancers(ret_balancers);

    if (read_at_once(host, &endpoints, endpoint_count) &&
        read_at_once(host, &balancers, balancer_count))
        return true;
    hcn_endpoints_free(ret);
    return false;
}

static void read_documents(const json_t *documents, struct reading r) {
    json_each(documents, i, document) {
        _cleanup_(freep) char *text = json_write(document);

        (void)scan(&r, r.v2, text, ERROR_IGNORED); /* Cannot fail: json_write() makes valid JSON. */
    }
}

void hcn_records_of(const json_t *endpoints, struct hcn_endpoints *ret, const json_t *balancers,
                    struct hcn_balancers *ret_balancers) {
    read_documents(endpoints, of_endpoints(ret));
    read_documents(balancers, of_balancers(ret_balancers));
}

void hcn_endpoints_free(struct hcn_endpoints *endpoints) {
    for (size_t i = 0; i < endpoints->count; i++)
        free_all(endpoints->items[i].id, endpoints->items[i].name, endpoints->items[i].address);
    free(endpoints->items);
    *endpoints = (struct hcn_endpoints){0};
}

void hcn_balancers_free(struct hcn_balancers *balancers) {
    for (size_t i = 0; i < balancers->count; i++)
        balancer_free(&balancers->items[i]);
    free(balancers->items);
    *balancers = (struct hcn_balancers){0};
}
