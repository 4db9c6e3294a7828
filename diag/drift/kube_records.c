/* Reads Services and EndpointSlices into records, keeps these current, and finds them by name. */
#include "diag/drift/drift.h"

#include "base/rfc3339.h"
#include "kube/object.h"

enum {
    OBJECT,
    SPACE,
    NAME,
    CREATED,
    PROXY,
    OF,
    VIP,
    OTHER,
    TYPE,
    TRAFFIC,
    PORT,
    PORT_NAME,
    NUMBER,
    NODE_PORT,
    PROTOCOL,
    ENDPOINT,
    ADDRESS,
    READY,
    NODE
};

static const struct json_place of_services[] = {
    {"", OBJECT},
    {"metadata.namespace", SPACE},
    {"metadata.name", NAME},
    {"metadata.creationTimestamp", CREATED},
    {"metadata.labels.service\\.kubernetes\\.io/service-proxy-name", PROXY},
    {"spec.clusterIP", VIP},
    {"spec.clusterIPs.*", OTHER},
    {"spec.externalIPs.*", OTHER},
    {"status.loadBalancer.ingress.*.ip", OTHER},
    {"spec.type", TYPE},
    {"spec.internalTrafficPolicy", TRAFFIC},
    {"spec.ports.*", PORT},
    {"spec.ports.*.name", PORT_NAME},
    {"spec.ports.*.port", NUMBER},
    {"spec.ports.*.nodePort", NODE_PORT},
    {"spec.ports.*.protocol", PROTOCOL}};
static const struct json_place of_slices[] = {{"", OBJECT},
                                              {"metadata.namespace", SPACE},
                                              {"metadata.name", NAME},
                                              {"metadata.labels.kubernetes\\.io/service-name", OF},
                                              {"endpoints.*", ENDPOINT},
                                              {"endpoints.*.addresses.*", ADDRESS},
                                              {"endpoints.*.conditions.ready", READY},
                                              {"endpoints.*.nodeName", NODE},
                                              {"ports.*", PORT},
                                              {"ports.*.name", PORT_NAME},
                                              {"ports.*.port", NUMBER}};

/* The object that is being read, as far as it is known. */
struct reading {
    struct drift_cluster *cluster;
    /* From the object's metadata; `of` is the Service of an EndpointSlice. */
    char *space, *name, *of;
    struct drift_service service;
    struct drift_slice slice;
    size_t pod; /* The index of the first address of the current endpoint. */
    char *node; /* The node of the current endpoint. */
    bool ready;
};

static void ports_free(struct drift_port *ports, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(ports[i].name);
    free(ports);
}

static void service_free(void *record) {
    struct drift_service *s = record;

    ports_free(s->ports, s->port_count);
    text_list_free(&s->others);
    free_all(s->name, s->vip);
    *s = (struct drift_service){0};
}

static void slice_free(void *record) {
    struct drift_slice *s = record;

    ports_free(s->ports, s->port_count);
    for (size_t i = 0; i < s->pod_count; i++)
        free_all(s->pods[i].address, s->pods[i].node);
    free_all(s->pods, s->name, s->service);
    *s = (struct drift_slice){0};
}

static void forget_names(struct reading *r) {
    free_all(r->space, r->name, r->of, r->node);
    r->space = r->name = r->of = r->node = NULL;
}

static char *text_of(const struct json_found *found) {
    char *text = json_found_text(found);

    return text ? text : xstrdup("");
}

static char *full(const char *space, const char *name) {
    return xasprintf("%s/%s", space ? space : "", name ? name : "");
}

static void port_found(const struct json_found *found, struct drift_port **ports, size_t *count) {
    struct drift_port *port = *count ? *ports + *count - 1 : NULL;

    if (found->what == PORT && found->kind == SCAN_BEGINS)
        array_add(*ports, *count, (struct drift_port){.name = xstrdup(""), .protocol = "TCP"});
    else if (!port)
        return;
    else if (found->what == PORT_NAME)
        text_set(&port->name, text_of(found));
    else if (found->what == NUMBER)
        port->number = found->number;
    else if (found->what == NODE_PORT)
        port->node_port = found->number;
    else if (found->what == PROTOCOL && found->kind == SCAN_TEXT)
        (void)text_format(port->protocol, sizeof port->protocol, "%.*s", (int)found->len,
                          found->text); /* All names of protocols are shorter than the buffer. */
}

/* Stores what belongs to the object's metadata, and returns true then. */
static bool name_found(struct reading *r, const struct json_found *found) {
    char **name = found->what == SPACE  ? &r->space
                  : found->what == NAME ? &r->name
                  : found->what == OF   ? &r->of
                                        : NULL;

    if (name)
        text_set(name, json_found_text(found));
    return name;
}

static void service_found(void *context, const struct json_found *found) {
    struct reading *r = context;
    struct drift_service *s = &r->service;

    if (name_found(r, found))
        return;
    if (found->what == OBJECT && found->kind == SCAN_ENDS) {
        r->service.name = full(r->space, r->name);
        if (!r->service.vip)
            r->service.vip = xstrdup("");
        array_add(r->cluster->services, r->cluster->service_count, r->service);
        r->service = (struct drift_service){0};
        forget_names(r);
    } else if (found->what == CREATED) {
        _cleanup_(freep) char *text = json_found_text(found);

        s->created = rfc3339_seconds(text);
    } else if (found->what == PROXY) {
        s->other_proxy = true;
    } else if (found->what == VIP) {
        text_set(&s->vip, text_of(found));
    } else if (found->what == OTHER && found->len) {
        text_list_add_owned(&s->others, json_found_text(found));
    } else if (found->what == TYPE) {
        s->any_port = json_found_is(found, "LoadBalancer");
    } else if (found->what == TRAFFIC) {
        (void)text_format(s->traffic, sizeof s->traffic, "%.*s", (int)found->len,
                          found->len ? found->text : ""); /* Either "Cluster" or "Local". */
    } else {
        port_found(found, &s->ports, &s->port_count);
    }
}

static void slice_found(void *context, const struct json_found *found) {
    struct reading *r = context;
    struct drift_slice *s = &r->slice;

    if (name_found(r, found))
        return;
    if (found->what == OBJECT && found->kind == SCAN_ENDS) {
        r->slice.name = full(r->space, r->name);
        r->slice.service = full(r->space, r->of);
        array_add(r->cluster->slices, r->cluster->slice_count, r->slice);
        r->slice = (struct drift_slice){0};
        forget_names(r);
    } else if (found->what == ENDPOINT) {
        /* JSON may have an endpoint's node after its addresses, so the node is set for all of them
         * at the end of the endpoint. */
        if (found->kind == SCAN_BEGINS) {
            r->pod = s->pod_count;
            r->ready = true;
        } else if (found->kind == SCAN_ENDS) {
            for (size_t i = r->pod; r->node && i < s->pod_count; i++)
                s->pods[i].node = xstrdup(r->node);
            s->endpoints++;
            s->ready += r->ready;
        }
        text_set(&r->node, NULL);
    } else if (found->what == ADDRESS && found->kind == SCAN_TEXT) {
        array_add(s->pods, s->pod_count, (struct drift_pod){.address = json_found_text(found)});
    } else if (found->what == READY && found->kind == SCAN_BOOL) {
        r->ready = found->number;
    } else if (found->what == NODE) {
        text_set(&r->node, json_found_text(found));
    } else {
        port_found(found, &s->ports, &s->port_count);
    }
}

/* ---- a list of objects as text ---- */

/* One of the two lists of records, sorted by the name with which each record begins. */
struct side {
    char **items;
    size_t *count, size;
    bool *known;
    void (*free)(void *record);
};

static struct side side_of(struct drift_cluster *c, enum drift_what what) {
    return what == DRIFT_SERVICES
               ? (struct side){(char **)&c->services, &c->service_count, sizeof *c->services,
                               &c->has_services, service_free}
               : (struct side){(char **)&c->slices, &c->slice_count, sizeof *c->slices,
                               &c->has_slices, slice_free};
}

static void *record_at(const struct side *side, size_t n) {
    return *side->items + n * side->size;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static const struct {
    const char *path, *name;
    const struct json_place *places;
    size_t count;
    void (*found)(void *context, const struct json_found *found);
} kinds[] = {
    [DRIFT_SERVICES] = {"/api/v1/services", "Services", of_services, ARRAY_SIZE(of_services),
                        service_found},
    [DRIFT_SLICES] = {"/apis/discovery.k8s.io/v1/endpointslices", "EndpointSlices", of_slices,
                      ARRAY_SIZE(of_slices), slice_found},
};

static struct json_scan scan_of(struct reading *r, enum drift_what what, const char *prefix) {
    return (struct json_scan){.name = kinds[what].name,
                              .prefix = prefix,
                              .places = kinds[what].places,
                              .count = kinds[what].count,
                              .found = kinds[what].found,
                              .context = r};
}

static void end_reading(struct reading *r) {
    service_free(&r->service);
    slice_free(&r->slice);
    forget_names(r);
}

int drift_cluster_add(struct drift_cluster *cluster, enum drift_what what, const char *prefix,
                      const char *text, size_t len, struct error *err) {
    struct reading r = {.cluster = cluster};
    const struct json_scan scan = scan_of(&r, what, prefix);
    int result = json_scan(text, len, &scan, err);

    end_reading(&r);
    return result;
}

int drift_cluster_list(struct drift_cluster *cluster, enum drift_what what,
                       struct kube_client *client, char **ret_version, struct error *err) {
    struct reading r = {.cluster = cluster};
    const struct json_scan scan = scan_of(&r, what, "items.*");
    struct side side = side_of(cluster, what);
    int result;

    drift_cluster_clear(cluster, what);
    result = kube_pages_scan(client, kinds[what].path, &scan, ret_version, err);
    end_reading(&r);
    if (result < 0)
        drift_cluster_clear(cluster, what);
    else if (*side.count)
        qsort(*side.items, *side.count, side.size, compare_names);
    *side.known = result == 0;
    return result;
}

void drift_cluster_clear(struct drift_cluster *cluster, enum drift_what what) {
    struct side side = side_of(cluster, what);

    for (size_t i = 0; i < *side.count; i++)
        side.free(record_at(&side, i));
    free(*side.items);
    *side.items = NULL;
    *side.count = 0;
    *side.known = false;
}

/* ---- a single object ---- */

/* Returns the index of the record with that name, or the place where it must be inserted. */
static size_t place_of(const struct side *side, const char *name, bool *ret_is_there) {
    size_t low = 0, high = *side->count;

    *ret_is_there = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(*(char **)record_at(side, middle), name);

        if (order == 0)
            *ret_is_there = true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void drift_cluster_put(struct drift_cluster *cluster, enum drift_what what, const json_t *object) {
    struct drift_cluster one = {0};
    struct side side = side_of(cluster, what), from = side_of(&one, what);
    _cleanup_(freep) char *text = json_write(object);
    size_t place;
    bool is_there;

    /* The text was just written as JSON, so reading it cannot fail. */
    (void)drift_cluster_add(&one, what, "", text, strlen(text), ERROR_IGNORED);
    if (*from.count) {
        place = place_of(&side, *(char **)record_at(&from, 0), &is_there);
        if (is_there) {
            side.free(record_at(&side, place));
        } else {
            *side.items = xrealloc(*side.items, (*side.count + 1) * side.size);
            memmove(record_at(&side, place + 1), record_at(&side, place),
                    (*side.count - place) * side.size);
            ++*side.count;
        }
        memcpy(record_at(&side, place), record_at(&from, 0), side.size);
    }
    free(*from.items);
}

void drift_cluster_remove(struct drift_cluster *cluster, enum drift_what what,
                          const json_t *object) {
    struct side side = side_of(cluster, what);
    _cleanup_(freep) char *name = kube_full_name(object);
    bool is_there;
    size_t place = place_of(&side, name, &is_there);

    if (!is_there)
        return;
    side.free(record_at(&side, place));
    memmove(record_at(&side, place), record_at(&side, place + 1),
            (--*side.count - place) * side.size);
}

void drift_cluster_free(struct drift_cluster *cluster) {
    drift_cluster_clear(cluster, DRIFT_SERVICES);
    drift_cluster_clear(cluster, DRIFT_SLICES);
    json_decref(cluster->pods);
    json_decref(cluster->unread);
    *cluster = (struct drift_cluster){0};
}

/* ---- records that follow the changes which the API server reports ---- */

enum { POLL_MS = 15 * 60000 };

static int on_event(void *context, const char *type, const json_t *object, struct error *) {
    struct drift_followed *side = context;

    side->follow->changes++;
    if (text_equal(type, "DELETED"))
        drift_cluster_remove(&side->follow->cluster, side->what, object);
    else
        drift_cluster_put(&side->follow->cluster, side->what, object);
    return 0;
}

static int list(void *context, struct kube_client *client, char **ret_version, struct error *err) {
    struct drift_followed *side = context;

    side->follow->changes++;
    return drift_cluster_list(&side->follow->cluster, side->what, client, ret_version, err);
}

void drift_follow_watches(struct drift_follow *follow, struct kube_watch ret[DRIFT_WATCHES]) {
    for (enum drift_what what = DRIFT_SERVICES; what <= DRIFT_SLICES; what++) {
        follow->sides[what] = (struct drift_followed){follow, what};
        ret[what] = (struct kube_watch){.path = kinds[what].path,
                                        .version = follow->versions[what],
                                        .ret_version = &follow->versions[what],
                                        .poll_ms = POLL_MS,
                                        .protobuf = true,
                                        .on_event = on_event,
                                        .list = list,
                                        .context = &follow->sides[what]};
    }
}

void drift_follow_free(struct drift_follow *follow) {
    drift_cluster_free(&follow->cluster);
    free_all(follow->versions[DRIFT_SERVICES], follow->versions[DRIFT_SLICES]);
    *follow = (struct drift_follow){0};
}
