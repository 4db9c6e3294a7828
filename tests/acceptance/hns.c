/* Every document that winjoin makes for HNS: created, queried, compared with what the tests' model
 * of HNS answers to the same, and deleted. The product's own functions make them, on the server and
 * on the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vxlan.h"
#include "host/host_ops.h"
#include "netsetup/hns/hns_features.h"
#include "netsetup/modes/mode.h"
#include "netsetup/nic/nic.h"
#include "netsetup/plugins/cni_plugin.h"
#include "netsetup/routes/routes.h"
#include "tests/acceptance/acceptance.h"
#include "tests/hns/hns.h"
#include "tests/memory/host_memory.h"

/* ---- what was asked of HNS, as tests/hns/replay.c reads it ---- */

static struct text calls;
static unsigned call_count;
static int (*real_hns)(struct host *, const char *, const char *const *, size_t, unsigned, char **,
                       char **, uint32_t *, struct error *);

/* Names of an export's inputs, as hnsd records them. */
static json_t *inputs(const char *function, const char *const *arguments, size_t count) {
    static const char *const v1[] = {"Method", "Path", "Request"};
    static const char *const endpoint[] = {"NetworkHandle", "Id", "Document"};
    static const char *const object[] = {"Id", "Document"};
    static const char *const open[] = {"Id"};
    static const char *const handle[] = {"Handle", "Query"};
    static const char *const modify[] = {"Handle", "Document"};
    static const char *const query[] = {"Query"};
    const char *const *names = strstr(function, "HNSCall")          ? v1
                               : strstr(function, "CreateEndpoint") ? endpoint
                               : strstr(function, "Create")         ? object
                               : strstr(function, "Enumerate")      ? query
                               : strstr(function, "Query")          ? handle
                               : strstr(function, "Modify")         ? modify
                               : strstr(function, "Close")          ? handle
                                                                    : open;
    json_t *ret = json_object();

    for (size_t i = 0; i < count && i < 3; i++)
        json_object_set_new(ret, names[i], arguments[i] ? json_string(arguments[i]) : json_null());
    return ret;
}

/* "Network <id>": the object that a query is about, as its answer says. New reference, or NULL. */
static json_t *object(const char *function, const char *answer) {
    static const char *const kinds[] = {"Network", "Endpoint", "Namespace", "LoadBalancer"};
    _cleanup_json_ json_t *properties = json_loads(answer ? answer : "", 0, NULL);
    const char *id = json_text_at(properties, "ID");

    for (size_t i = 0; id && i < ARRAY_SIZE(kinds); i++)
        if (text_starts_with(function, "HcnQuery") && strstr(function, kinds[i]))
            return json_sprintf("%s %s", kinds[i], id);
    return NULL;
}

static int record(struct host *host, const char *function, const char *const *arguments,
                  size_t count, unsigned timeout_ms, char **ret_result, char **ret_record,
                  uint32_t *ret_hresult, struct error *err) {
    int code = real_hns(host, function, arguments, count, timeout_ms, ret_result, ret_record,
                        ret_hresult, err);
    char hresult[16];

    (void)snprintf(hresult, sizeof hresult, "0x%08x", code < 0 ? 0x80004005U : *ret_hresult);
    json_t *out = json_array();
    if (!strstr(function, "Modify") && !strstr(function, "Delete") && !strstr(function, "Close"))
        json_array_append_new(out,
                              code == 0 && *ret_result ? json_string(*ret_result) : json_null());
    json_array_append_new(out, code == 0 && *ret_record ? json_string(*ret_record) : json_null());
    _cleanup_json_ json_t *line =
        json_pack("{s:i,s:s,s:s,s:s,s:o,s:s,s:o}", "n", (int)++call_count, "exe", "acceptance.exe",
                  "dll", strstr(function, "HNSCall") ? "vmcompute" : "computenetwork", "fn",
                  function, "args", inputs(function, arguments, count), "hr", hresult, "out", out);
    json_t *about = code == 0 ? object(function, *ret_result) : NULL;
    if (about)
        json_object_set_new(line, "object", about);
    _cleanup_(freep) char *text = json_write(line);
    text_addf(&calls, "%s\n", text ? text : "");
    return code;
}

void hns_record(struct host *host) {
    static struct host_ops recording;

    recording = *host->ops;
    real_hns = recording.hns;
    recording.hns = record;
    host->ops = &recording;
}

char *hns_recorded(void) {
    return text_take(&calls);
}

/* ---- what differs ---- */

/* Numbers of their own: of an object, of an adapter, of a moment. */
static bool is_of_chance(const char *a, const char *b) {
    size_t len = strlen(a);

    if (len != strlen(b) || (len != 36 && len != 17))
        return false;
    for (size_t i = 0; i < len; i++)
        if ((a[i] == '-') != (b[i] == '-'))
            return false;
    return strchr(a, '-') != NULL;
}

static void compare(const char *path, const json_t *real, const json_t *model, json_t *ret) {
    const char *key;
    json_t *value;

    if (json_is_object(real) && json_is_object(model)) {
        json_object_foreach((json_t *)(size_t)real, key, value) {
            _cleanup_(freep) char *below = xasprintf("%s.%s", path, key);
            compare(below, value, json_object_get(model, key), ret);
        }
        json_object_foreach((json_t *)(size_t)model, key, value) {
            _cleanup_(freep) char *below = xasprintf("%s.%s", path, key);
            if (!json_object_get(real, key))
                compare(below, NULL, value, ret);
        }
        return;
    }
    if (json_is_array(real) && json_is_array(model) &&
        json_array_size(real) == json_array_size(model)) {
        for (size_t i = 0; i < json_array_size(real); i++) {
            _cleanup_(freep) char *below = xasprintf("%s.%u", path, (unsigned)i);
            compare(below, json_array_get(real, i), json_array_get(model, i), ret);
        }
        return;
    }
    if (real && model &&
        (json_equal(real, model) ||
         (json_is_string(real) && json_is_string(model) &&
          is_of_chance(json_string_value(real), json_string_value(model)))))
        return;
    json_t *difference = json_pack("{s:s}", "path", path);
    if (real)
        json_object_set(difference, "real", (json_t *)(size_t)real);
    if (model)
        json_object_set(difference, "model", (json_t *)(size_t)model);
    json_array_append_new(ret, difference);
}

/* ---- one mode ---- */

/* A mode's documents, and how they are asked for. */
struct hns_case {
    const struct network_mode *mode;
    const char *plugin;
    bool dual;           /* of both families */
    unsigned vxlan_port; /* 0: Windows' own */
};

/* The server, or the model of it: where the same networks are made. */
struct side {
    struct host *host;
    struct nic_snapshot nic;
    struct network_plan plan;
    json_t *network, *base; /* as HNS answers them */
    json_t *endpoints;
    json_t *peers;      /* the route to another node's pods that was written; NULL: none */
    unsigned outage_ms; /* while the adapter's virtual switch was made */
    char differs[400];  /* the adapter from what it was, with the switch and behind it */
};

static void add_second_family(struct network_input *input, const char *management) {
    input->pod_cidr6 = "fd00:10:244:fa::/64";
    input->management6 = *management ? management : NULL;
    input->dual_stack = "on";
    text_list_add(&input->cluster_pod_cidrs, "fd00:10:244::/48");
    text_list_add(&input->service_cidrs, "fd00:10:96::/112");
}

static int plan(const struct kit *kit, const struct hns_case *wanted, struct side *side,
                struct error *err) {
    struct network_input input = {.mode = wanted->mode->name,
                                  .name = "winjoin-acceptance",
                                  .plugin = wanted->plugin,
                                  .vxlan_port = wanted->vxlan_port,
                                  .pod_cidr = "10.244.250.0/24",
                                  .dns_domain = "cluster.local"};
    int code = -1;

    text_list_add(&input.cluster_pod_cidrs, "10.244.0.0/16");
    text_list_add(&input.service_cidrs, "10.96.0.0/12");
    text_list_add(&input.dns_servers, "10.96.0.10");
    if (hns_version_get(side->host, &input.hns, err) == 0 &&
        nic_choose(side->host, kit->adapter, NULL, &side->nic, err) == 0) {
        input.adapter = side->nic.alias;
        input.management = side->nic.address;
        if (wanted->dual)
            add_second_family(&input, side->nic.address6);
        code = wanted->dual && !*side->nic.address6
                   ? error_set(err, ERROR_UNSUPPORTED, "the adapter has no IPv6 address")
                   : network_plan_make(&input, &side->plan, err);
    }
    text_list_free(&input.cluster_pod_cidrs);
    text_list_free(&input.service_cidrs);
    text_list_free(&input.dns_servers);
    return code;
}

static void keep_differs(struct side *side, const struct nic_restored *guard) {
    size_t len = strlen(side->differs);

    if (*guard->differs)
        (void)snprintf(side->differs + len, sizeof side->differs - len, "%s ", guard->differs);
}

/* A pod's endpoint, as the mode's CNI plugin makes it from winjoin's configuration. */
static int make_pod_endpoint(struct side *side, const struct hcn_network *network,
                             struct error *err) {
    const struct network_plan *plan = &side->plan;
    json_t *policies = cni_policies_json(plan);

    if (*network->provider_address)
        json_array_append_new(
            policies, hcn_policy_json("ProviderAddress", json_pack("{s:s}", "ProviderAddress",
                                                                   network->provider_address)));
    _cleanup_json_ json_t *document = json_pack(
        "{s:{s:i,s:i},s:s,s:s,s:[{s:s,s:i}],s:[{s:s,s:s}],s:o}", "SchemaVersion", "Major", 2,
        "Minor", 0, "Name", "winjoin-acceptance-pod", "HostComputeNetwork", network->id,
        "IpConfigurations", "IpAddress", plan->range_start, "PrefixLength", plan->prefix_length,
        "Routes", "NextHop", *plan->host_endpoint ? plan->host_endpoint : plan->gateway,
        "DestinationPrefix", "0.0.0.0/0", "Policies", policies);
    _cleanup_(freep) char *text = json_write(document), *properties = NULL;

    return hcn_create(side->host, HCN_ENDPOINT, network->id, NULL, text, &properties, err) < 0
               ? error_prefix(err, "create a pod's endpoint")
               : 0;
}

/* To the pods of a node that is not there, one address beside this one. */
static int write_route(struct side *side, struct error *err) {
    struct network_peer peer = {.node = "winjoin-acceptance",
                                .pod_cidr = "10.244.251.0/24",
                                .announced = true,
                                .backend = "vxlan",
                                .router_mac = "00-15-5d-0a-f4-fb",
                                .vni = side->plan.vni};
    char address[IP_TEXT_MAX];
    size_t len = strcspn(side->plan.management_address, "/");

    (void)snprintf(address, sizeof address, "%.*s", (int)len, side->plan.management_address);
    len = strlen(address);
    address[len - 1] = address[len - 1] == '9' ? '8' : (char)(address[len - 1] + 1);
    peer.node_address = peer.address = address;
    json_t *route =
        side->plan.mode->route_to ? side->plan.mode->route_to(&side->plan, &peer) : NULL;
    _cleanup_json_ json_t *found = NULL, *missing = NULL;
    if (!route)
        return 0;
    side->peers = json_pack("[o]", route);
    if (node_routes_write(side->host, &side->plan, side->peers, false, err) < 0 ||
        node_routes_read(side->host, &side->plan, &found, err) < 0)
        return error_prefix(err, "write the route to another node's pods");
    missing = json_array_without(side->peers, found, NULL);
    return !json_array_size(missing)
               ? 0
               : error_set(err, ERROR_HOST, "the route to another node's pods is not there");
}

static int by_name(const void *a, const void *b) {
    const json_t *const *one = a, *const *other = b;
    const char *x = json_text_at(*one, "Name"), *y = json_text_at(*other, "Name");

    return strcmp(x ? x : "", y ? y : "");
}

/* Those of the network, in the order of their names. */
static int read_endpoints(struct side *side, const struct hcn_network *network, struct error *err) {
    json_t *found[16];
    _cleanup_json_ json_t *list = NULL;
    size_t count;

    if (hcn_list(side->host, HCN_ENDPOINT, "VirtualNetwork", network->id, &list, err) < 0)
        return -1;
    count = json_array_size(list) < ARRAY_SIZE(found) ? json_array_size(list) : ARRAY_SIZE(found);
    for (size_t i = 0; i < count; i++)
        found[i] = json_array_get(list, i);
    qsort(found, count, sizeof *found, by_name);
    side->endpoints = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append(side->endpoints, found[i]);
    return 0;
}

static int make(struct side *side, struct error *err) {
    struct nic_restored guard = {0};
    struct hcn_network network = {0};
    enum hcn_outcome outcome;

    if (side->plan.base_name &&
        (nic_guard_ensure(side->host, &side->plan, &side->nic, NULL, NULL, &guard, err) < 0 ||
         hcn_network_find_json(side->host, side->plan.base_name, &network, &side->base, err) < 0))
        return -1;
    side->outage_ms = guard.outage_ms;
    keep_differs(side, &guard);
    if (hcn_pod_network_ensure(side->host, &side->plan, &network, &outcome, err) < 0 ||
        make_pod_endpoint(side, &network, err) < 0 || write_route(side, err) < 0 ||
        hcn_network_find_json(side->host, side->plan.name, &network, &side->network, err) < 0 ||
        read_endpoints(side, &network, err) < 0)
        return -1;
    /* once more: nothing is made again */
    _cleanup_json_ json_t *again = NULL;
    if (hcn_pod_network_ensure(side->host, &side->plan, &network, &outcome, err) < 0 ||
        hcn_network_find_json(side->host, side->plan.name, &network, &again, err) < 0)
        return -1;
    return outcome == HCN_REUSED && json_equal(again, side->network)
               ? 0
               : error_set(err, ERROR_HOST, "made a second time, the network is another one");
}

/* Whatever HNS says of its deletion. */
static int expect_gone(struct host *host, const char *name, struct error *err) {
    struct hcn_network network;
    struct error why = {0};

    if (hcn_network_find(host, name, &network, &why) < 0)
        return why.kind == ERROR_ABSENT ? 0 : (*err = why, -1);
    return error_set(err, ERROR_HOST, "network '%s' is still there", name);
}

static int take_back(struct side *side, struct error *err) {
    struct nic_restored guard = {0};
    _cleanup_json_ json_t *left = NULL, *gone = NULL;

    if (side->peers && (node_routes_remove(side->host, &side->plan, side->peers, err) < 0 ||
                        node_routes_write(side->host, &side->plan, NULL, true, err) < 0 ||
                        node_routes_read(side->host, &side->plan, &left, err) < 0))
        return -1;
    gone = json_array_without(side->peers, left, NULL);
    if (json_array_size(gone) != json_array_size(side->peers))
        return error_set(err, ERROR_HOST, "the route to another node's pods is still there");
    if (hcn_network_remove(side->host, side->plan.name, true, NULL, err) < 0 ||
        expect_gone(side->host, side->plan.name, err) < 0)
        return -1;
    if (side->plan.base_name &&
        nic_guard_remove(side->host, side->plan.base_name, &side->nic, NULL, NULL, &guard, err) < 0)
        return -1;
    keep_differs(side, &guard);
    return 0;
}

static void side_free(struct side *side) {
    json_decref(side->network);
    json_decref(side->base);
    json_decref(side->endpoints);
    json_decref(side->peers);
    network_plan_free(&side->plan);
    nic_snapshot_free(&side->nic);
}

/* A host in memory with the server's adapters, and the strict model of its version of HNS. */
static struct host *modelled(struct kit *kit, struct hns_model **ret_model, struct error *err) {
    struct hns_model_adapter given[16] = {0};
    const char *addresses[ARRAY_SIZE(given)][2] = {0};
    struct host_adapters adapters = {0};
    struct hns_version version = {0};
    struct hns_model_options options = {.adapters = given, .keep_static = true};
    struct host *host = host_memory_new();

    if (hns_version_get(kit->host, &version, err) < 0 ||
        host_adapters(kit->host, &adapters, err) < 0)
        return host_free(host), NULL;
    options.major = version.major;
    options.minor = version.minor;
    for (size_t i = 0; i < adapters.count && options.n_adapters < ARRAY_SIZE(given); i++) {
        struct host_adapter *a = &adapters.items[i];
        size_t n = options.n_adapters++;

        for (size_t j = 0; j < a->addresses.count && !addresses[n][0]; j++)
            if (!strchr(a->addresses.items[j], ':'))
                addresses[n][0] = a->addresses.items[j];
        given[n] = (struct hns_model_adapter){a->alias, a->mac, addresses[n], a->dhcp};
    }
    *ret_model = hns_model_new(&options);
    host_memory_set_adapters(host, &adapters);
    host_memory_set_hns(host, hns_model_host_call, *ret_model);
    host_adapters_free(&adapters);
    return host;
}

static void play(struct kit *kit, const struct row *row, struct finding *f) {
    struct side real = {.host = kit->host}, model = {0};
    struct hns_model *hns = NULL;
    struct error err = {0}, left = {0};
    int made = plan(kit, row->about, &real, &err);

    if (made < 0 && err.kind == ERROR_UNSUPPORTED) {
        finding_skip(f, "%s", err.message);
        side_free(&real);
        return;
    }
    if (made == 0)
        made = make(&real, &err);
    if (made < 0)
        finding_fail(f, "%s", err.message);
    if (real.plan.name && take_back(&real, &left) < 0)
        finding_fail(f, "not taken back: %s", left.message);
    if (*real.differs)
        finding_fail(f, "the adapter is not as before: %s", real.differs);
    model.host = made == 0 ? modelled(kit, &hns, &err) : NULL;
    if (model.host) {
        if (plan(kit, row->about, &model, &err) < 0 || make(&model, &err) < 0)
            finding_fail(f, "the model refuses what HNS took: %s", err.message);
        f->differences = json_array();
        compare("network", real.network, model.network, f->differences);
        compare("endpoints", real.endpoints, model.endpoints, f->differences);
        if (real.base)
            compare("base", real.base, model.base, f->differences);
        if (f->outcome == ROW_PASS)
            finding_note(
                f, "taken, answered and removed; %u members differ from the model; offline %u ms",
                (unsigned)json_array_size(f->differences), real.outage_ms);
        side_free(&model);
        host_free(model.host);
        hns_model_free(hns);
    }
    side_free(&real);
}

static struct row row_of(const struct hns_case *wanted, const char *variant) {
    return (struct row){xasprintf("hns-%s%s", wanted->mode->name, variant),
                        "HNS takes this mode's networks, endpoints and policies and gives back "
                        "what was sent",
                        "taken, answered, unchanged when made again, and removed",
                        wanted->mode->internal ? 0 : NEEDS_ADAPTER,
                        play,
                        wanted};
}

size_t hns_rows(struct row *ret, size_t max) {
    static struct hns_case cases[32];
    size_t used = 0;

    for (size_t i = 0; network_modes[i] && used + 3 < max && used + 3 < ARRAY_SIZE(cases); i++) {
        const struct network_mode *m = network_modes[i];

        cases[used] = (struct hns_case){.mode = m, .plugin = m->cni_plugins[0]};
        ret[used] = row_of(&cases[used], "");
        used++;
        if (m->dual_stack_plugin) {
            cases[used] =
                (struct hns_case){.mode = m, .plugin = m->dual_stack_plugin, .dual = true};
            ret[used] = row_of(&cases[used], "-dual");
            used++;
        }
        if (m->vxlan) {
            cases[used] = (struct hns_case){
                .mode = m, .plugin = m->cni_plugins[0], .vxlan_port = VXLAN_LINUX_PORT};
            ret[used] = row_of(&cases[used], "-port");
            used++;
        }
    }
    return used;
}
