/* Adds the objects of HNS to the evidence document, and how they differ from Kubernetes. */
#include "diag/drift/drift.h"
#include "diag/evidence.h"
#include "netsetup/hns/hcn_network.h"

/* HNS version 2 takes three calls for each object. With more than EACH_MAX objects, only those that
 * a cause looks into are read in that way: the endpoints of this node's pods, and the load
 * balancers of the DNS and of the API with their endpoints. For the others the document has what
 * version 1 returns about all objects in one call. */
enum { EACH_MAX = 100, OBJECTS_MAX = 1000 };

void diag_evidence_missing(json_t *evidence, const char *what, const struct error *err) {
    _cleanup_(freep) char *line = xasprintf("%s: %s", what, err->message);

    json_array_append_new(json_array_in(evidence, "missing"), json_string(line));
}

/* The ids of all objects of a kind, which HNS is asked for only once. */
struct ids {
    json_t *list; /* NULL when `why` says why they could not be read. */
    struct error why;
};

static void ids_free(struct ids *ids) {
    json_decref(ids->list);
}

static struct ids ids_of(struct host *host, enum hcn_kind kind) {
    struct ids ids = {0};

    if (host_deadline_passed(host)) /* HNS hangs, and each further call would wait for it, too. */
        (void)error_set(&ids.why, ERROR_TIMED_OUT, "HNS did not answer in time");
    else
        (void)hcn_ids(host, kind, NULL, NULL, &ids.list, &ids.why);
    return ids;
}

/* Adds each object in full, up to OBJECTS_MAX and while HNS answers. Returns false if any is
 * missing. */
static bool objects_add(struct host *host, enum hcn_kind kind, const struct ids *ids,
                        const char *key, json_t *evidence) {
    _cleanup_json_ json_t *array = json_array();
    struct error err = ids->why;

    json_each(ids->list, i, id) {
        if (i == OBJECTS_MAX)
            (void)error_set(&err, ERROR_HOST, "more than %d objects; the rest is omitted",
                            OBJECTS_MAX);
        if (i == OBJECTS_MAX || hcn_add(host, kind, json_string_value(id), array, &err) < 0)
            break;
    }
    if (err.kind == ERROR_TIMED_OUT)
        json_object_set_new(evidence, "hnsSilent", json_true());
    if (err.kind != ERROR_NONE)
        diag_evidence_missing(evidence, key, &err);
    if (err.kind == ERROR_NONE || json_array_size(array))
        json_object_set(evidence, key, array);
    return err.kind == ERROR_NONE;
}

/* ---- clusters with many objects ---- */

/* Adds an object in full, or what is known about it if HNS does not answer or `in_full` is false.
 * Takes over `known`. */
static void object_add(struct host *host, enum hcn_kind kind, bool in_full, json_t *known,
                       json_t *array) {
    size_t before = json_array_size(array);

    if (in_full && !host_deadline_passed(host))
        (void)hcn_add(host, kind, json_text_at(known, "ID"), array, ERROR_IGNORED);
    if (json_array_size(array) == before)
        json_array_append(array, known);
    json_decref(known);
}

static void list_add(json_t *evidence, const char *key, json_t *array, size_t all) {
    struct error err = {0};

    if (all > json_array_size(array)) {
        (void)error_set(&err, ERROR_HOST, "%zu of %zu objects are here", json_array_size(array),
                        all);
        diag_evidence_missing(evidence, key, &err);
    }
    json_object_set_new(evidence, key, array);
}

/* Adds the load balancers, those that causes look into first, because others are omitted beyond
 * OBJECTS_MAX. `members` gets the ids of the endpoints behind the former. */
static void balancers_add(struct host *host, const struct hcn_balancers *all,
                          const struct diag_evidence_options *who, json_t *members,
                          json_t *evidence) {
    const char *const vips[] = {who->dns_ip, who->dns_ip6, who->kubernetes_ip};
    json_t *array = json_array();

    for (int wanted = 1; wanted >= 0; wanted--)
        for (size_t i = 0; i < all->count && json_array_size(array) < OBJECTS_MAX; i++) {
            const struct hcn_balancer *balancer = &all->items[i];
            bool serves = false;
            json_t *known;

            for (size_t k = 0; k < ARRAY_SIZE(vips); k++)
                serves |= vips[k] && text_list_has(&balancer->vips, vips[k]);
            if (serves != wanted)
                continue;
            known = json_pack("{s:s, s:i, s:o, s:o}", "ID", balancer->id, "Flags", balancer->dsr,
                              "FrontendVIPs", json_texts(&balancer->vips), "HostComputeEndpoints",
                              json_texts(&balancer->endpoints));
            for (size_t k = 0; k < balancer->mapping_count; k++) {
                const struct hcn_port_mapping *m = &balancer->mappings[k];

                json_array_append_new(json_array_in(known, "PortMappings"),
                                      json_pack("{s:I, s:I, s:I}", "Protocol",
                                                (json_int_t)m->protocol, "ExternalPort",
                                                (json_int_t)m->outside, "InternalPort",
                                                (json_int_t)m->inside));
            }
            object_add(host, HCN_LOAD_BALANCER, wanted, known, array);
            for (size_t k = 0; wanted && k < balancer->endpoints.count; k++)
                json_object_set_new(members, balancer->endpoints.items[k], json_true());
        }
    list_add(evidence, "loadBalancers", array, all->count);
}

static void endpoints_add(struct host *host, const struct hcn_endpoints *all, const json_t *members,
                          json_t *evidence) {
    json_t *array = json_array();

    for (int wanted = 1; wanted >= 0; wanted--)
        for (size_t i = 0; i < all->count && json_array_size(array) < OBJECTS_MAX; i++) {
            const struct hcn_endpoint *endpoint = &all->items[i];
            json_t *known;

            if ((!endpoint->remote || json_object_get(members, endpoint->id)) != wanted)
                continue;
            known = json_pack("{s:s, s:i}", "ID", endpoint->id, "Flags", endpoint->remote);
            json_set_text(known, "Name", endpoint->name);
            if (endpoint->address)
                json_object_set_new(known, "IpConfigurations",
                                    json_pack("[{s:s}]", "IpAddress", endpoint->address));
            object_add(host, HCN_ENDPOINT, wanted, known, array);
        }
    list_add(evidence, "endpoints", array, all->count);
}

/* ---- compare with Kubernetes ---- */

/* Adds endpoints and load balancers; returns false when some could not be read. */
static bool lists_add(struct host *host, const struct diag_evidence_options *options,
                      json_t *evidence, struct hcn_endpoints *ret_endpoints,
                      struct hcn_balancers *ret_balancers) {
    _cleanup_(ids_free) struct ids endpoints = ids_of(host, HCN_ENDPOINT);
    _cleanup_(ids_free) struct ids balancers = ids_of(host, HCN_LOAD_BALANCER);
    size_t endpoint_count = json_array_size(endpoints.list),
           balancer_count = json_array_size(balancers.list);
    _cleanup_json_ json_t *members = json_object();
    bool whole;

    if ((endpoint_count > EACH_MAX || balancer_count > EACH_MAX) &&
        hcn_records_at_once(host, endpoint_count, ret_endpoints, balancer_count, ret_balancers)) {
        balancers_add(host, ret_balancers, options, members, evidence);
        endpoints_add(host, ret_endpoints, members, evidence);
        return true;
    }
    whole = objects_add(host, HCN_ENDPOINT, &endpoints, "endpoints", evidence);
    if (!objects_add(host, HCN_LOAD_BALANCER, &balancers, "loadBalancers", evidence) || !whole)
        return false;
    hcn_records_of(json_object_get(evidence, "endpoints"), ret_endpoints,
                   json_object_get(evidence, "loadBalancers"), ret_balancers);
    return true;
}

/* Adds facts about the DNS Service and the Service kubernetes from the cluster. */
static void cluster_services_add(const struct diag_evidence_options *options, json_t *evidence) {
    int ready = drift_ready_endpoints(options->cluster, options->dns_ip);
    json_t *spec = drift_service_spec(options->cluster, options->dns_ip);

    if (ready == DRIFT_NO_SERVICE)
        json_object_set_new(evidence, "dnsService", json_false());
    if (ready >= 0)
        json_object_set_new(evidence, "dnsEndpoints", json_integer(ready));
    if (spec)
        json_object_set_new(evidence, "dnsSpec", spec);
    ready = drift_ready_endpoints(options->cluster, options->kubernetes_ip);
    if (ready >= 0)
        json_object_set_new(evidence, "kubernetesEndpoints", json_integer(ready));
}

bool diag_evidence_add_networks(struct host *host, json_t *evidence) {
    _cleanup_(ids_free) struct ids ids = ids_of(host, HCN_NETWORK);

    return objects_add(host, HCN_NETWORK, &ids, "networks", evidence);
}

void diag_evidence_add_hns(struct host *host, const struct diag_evidence_options *options,
                           json_t *evidence) {
    _cleanup_(hcn_endpoints_free) struct hcn_endpoints endpoints = {0};
    _cleanup_(hcn_balancers_free) struct hcn_balancers balancers = {0};
    bool whole = diag_evidence_add_networks(host, evidence);
    json_t *networks = json_object_get(evidence, "networks");
    _cleanup_(freep) char *text = NULL;
    _cleanup_json_ json_t *envelope = NULL, *namespaces = NULL;
    _cleanup_(host_routes_free) struct host_routes routes = {0};

    whole = lists_add(host, options, evidence, &endpoints, &balancers) && whole;
    /* Only version 1 of the HNS interface has ManagementIP. A Windows without that version loses
     * nothing else. */
    if (!host_deadline_passed(host) &&
        hns_call(host, "GET", "/networks/", "", &text, ERROR_IGNORED) >= 0 &&
        json_read(text, strlen(text), "HNS networks", &envelope, ERROR_IGNORED) >= 0) {
        json_each(json_at(envelope, "Output"), i, old) {
            json_each(networks, k, network) {
                const char *ip = json_text_at(old, "ManagementIP");

                if (ip && text_equal_nocase(json_text_or(old, "ID", ""),
                                            json_text_or(network, "ID", "?")))
                    json_object_set_new(network, "ManagementIP", json_string(ip));
            }
        }
    }
    if (options->cluster && whole) {
        if (!host_deadline_passed(host)) /* A call that hangs is not waited for a second time. */
            (void)hcn_list(host, HCN_NAMESPACE, NULL, NULL, &namespaces, ERROR_IGNORED);
        (void)host_routes(host, &routes, ERROR_IGNORED);
        json_object_set_new(evidence, "kubernetes",
                            drift_judge(&(struct drift_observed){.cluster = options->cluster,
                                                                 .endpoints = &endpoints,
                                                                 .balancers = &balancers,
                                                                 .networks = networks,
                                                                 .namespaces = namespaces,
                                                                 .nodes = options->nodes,
                                                                 .routes = &routes,
                                                                 .pod_cidrs = options->pod_cidrs,
                                                                 .probes = options->probes,
                                                                 .network = options->network_name,
                                                                 .now = host_now(host)}));
    }
    cluster_services_add(options, evidence);
}
