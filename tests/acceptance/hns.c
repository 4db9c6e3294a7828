/* Every document that winjoin makes for HNS: created, queried, compared with what the tests' model
 * of HNS answers to the same, and deleted. The product's own functions make them, on the server and
 * on the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/host_ops.h"
#include "netsetup/hns_features.h"
#include "netsetup/modes/mode.h"
#include "netsetup/nic_guard.h"
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

/* The server, or the model of it: where the same networks are made. */
struct side {
    struct host *host;
    struct nic_snapshot nic;
    struct network_plan plan;
    json_t *network, *base; /* as HNS answers them */
    unsigned outage_ms;     /* while the adapter's virtual switch was made */
    char differs[400];      /* the adapter from what it was, with the switch and behind it */
};

static int plan(const struct kit *kit, const struct network_mode *mode, struct side *side,
                struct error *err) {
    struct network_input input = {.mode = mode->name,
                                  .name = "winjoin-acceptance",
                                  .plugin = mode->cni_plugins[0],
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
        code = network_plan_make(&input, &side->plan, err);
    }
    text_list_free(&input.cluster_pod_cidrs);
    text_list_free(&input.service_cidrs);
    text_list_free(&input.dns_servers);
    return code;
}

static void keep_differs(struct side *side, const struct nic_guard_result *guard) {
    size_t len = strlen(side->differs);

    if (*guard->differs)
        (void)snprintf(side->differs + len, sizeof side->differs - len, "%s ", guard->differs);
}

static int make(struct side *side, struct error *err) {
    struct nic_guard_result guard = {0};
    struct hcn_network network = {0};
    enum hcn_outcome outcome;

    if (side->plan.base_name &&
        (nic_guard_ensure(side->host, &side->plan, &side->nic, NULL, NULL, &guard, err) < 0 ||
         hcn_network_find_json(side->host, side->plan.base_name, &network, &side->base, err) < 0))
        return -1;
    side->outage_ms = guard.outage_ms;
    keep_differs(side, &guard);
    if (hcn_pod_network_ensure(side->host, &side->plan, &network, &outcome, err) < 0)
        return -1;
    return hcn_network_find_json(side->host, side->plan.name, &network, &side->network, err);
}

static int take_back(struct side *side, struct error *err) {
    struct nic_guard_result guard = {0};

    if (hcn_network_remove(side->host, side->plan.name, NULL, err) < 0)
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
    network_plan_free(&side->plan);
    nic_snapshot_free(&side->nic);
}

/* A host in memory with the server's adapters, and the strict model of its version of HNS. */
static struct host *modelled(struct kit *kit, struct hns_model **ret_model, struct error *err) {
    struct hns_model_adapter cards[16] = {0};
    const char *addresses[ARRAY_SIZE(cards)][2] = {0};
    struct host_adapters adapters = {0};
    struct hns_version version = {0};
    struct hns_model_options options = {.adapters = cards, .keep_static = true};
    struct host *host = host_memory_new();

    if (hns_version_get(kit->host, &version, err) < 0 ||
        host_adapters(kit->host, &adapters, err) < 0)
        return host_free(host), NULL;
    options.major = version.major;
    options.minor = version.minor;
    for (size_t i = 0; i < adapters.count && options.n_adapters < ARRAY_SIZE(cards); i++) {
        struct host_adapter *a = &adapters.items[i];
        size_t n = options.n_adapters++;

        for (size_t j = 0; j < a->addresses.count && !addresses[n][0]; j++)
            if (!strchr(a->addresses.items[j], ':'))
                addresses[n][0] = a->addresses.items[j];
        cards[n] = (struct hns_model_adapter){a->alias, a->mac, addresses[n], a->dhcp};
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

size_t hns_rows(struct row *ret, size_t max) {
    size_t count = 0, used = 0;
    const struct network_mode *const *modes = network_modes(&count);

    for (; used < count && used < max; used++)
        ret[used] = (struct row){xasprintf("hns-%s", modes[used]->name),
                                 "HNS takes this mode's networks and gives back what was sent",
                                 "taken, answered and removed",
                                 modes[used]->internal ? 0 : NEEDS_ADAPTER,
                                 play,
                                 modes[used]};
    return used;
}
