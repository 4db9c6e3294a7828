/* HNS' long lists as records, by few calls: what version 1 tells is what version 2 tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/drift/drift.h"
#include "diag/evidence.h"
#include "netsetup/hns/hcn_records.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

/* What HNS has, in both of its versions. */
static json_t *endpoints, *balancers;
static struct host *host;
static unsigned calls;
static bool lies;          /* version 1 tells other addresses */
static const char *silent; /* this path is not answered; "": version 1 knows none of the objects */

static json_t *v1_endpoint(const json_t *v2) {
    const char *address = lies ? "10.9.9.9" : json_text_or(v2, "IpConfigurations.0.IpAddress", "");
    bool six = strchr(address, ':') != NULL;

    return json_pack("{s:O, s:O, s:s, s:s, s:b}", "ID", json_object_get(v2, "ID"), "Name",
                     json_object_get(v2, "Name"), "IPAddress", six ? "" : address, "IPv6Address",
                     six ? address : "", "IsRemoteEndpoint",
                     (int)(json_number_at(v2, "Flags", 0) & 1));
}

static json_t *v1_balancer(const json_t *v2) {
    json_t *policies = json_array(), *references = json_array();

    json_each(json_object_get(v2, "HostComputeEndpoints"), i, id) {
        _cleanup_(freep) char *path = xasprintf("/endpoints/%s", json_string_value(id));

        json_array_append_new(references, json_string(path));
    }
    json_each(json_object_get(v2, "PortMappings"), i, port) {
        json_t *policy = json_deep_copy(port);

        json_object_update_new(policy, json_pack("{s:s, s:O, s:b}", "Type", "ELB", "VIPs",
                                                 json_object_get(v2, "FrontendVIPs"), "IsDSR",
                                                 (int)(json_number_at(v2, "Flags", 0) & 1)));
        json_array_append_new(policies, policy);
    }
    return json_pack("{s:O, s:o, s:o}", "ID", json_object_get(v2, "ID"), "References", references,
                     "Policies", policies);
}

static char *answer_v1(const char *path) {
    _cleanup_json_ json_t *output = json_array(), *envelope = NULL;
    bool of_endpoints = text_equal(path, "/endpoints/");

    json_each(silent && !*silent ? NULL : of_endpoints ? endpoints : balancers, i, v2)
        json_array_append_new(output, of_endpoints ? v1_endpoint(v2) : v1_balancer(v2));
    if (!of_endpoints) /* an SDN route is a policy list, too */
        json_array_append_new(
            output, json_pack("{s:s, s:[{s:s}]}", "ID", "route", "Policies", "Type", "ROUTE"));
    envelope = json_pack("{s:b, s:O}", "Success", 1, "Output", output);
    return json_write(envelope);
}

static uint32_t hns(void *context, const char *function, const char *const *arguments, size_t count,
                    char **ret_result, char **ret_error_record) {
    const json_t *all = strstr(function, "Endpoint")       ? endpoints
                        : strstr(function, "LoadBalancer") ? balancers
                                                           : NULL; /* networks, namespaces */

    (void)context, (void)count;
    calls++;
    *ret_error_record = NULL;
    if (text_equal(function, "HNSCall") && text_equal(arguments[1], silent))
        return 0x80004005;
    if (text_equal(function, "HNSCall")) {
        *ret_result = answer_v1(arguments[1]);
    } else if (strstr(function, "Enumerate")) {
        _cleanup_json_ json_t *ids = json_array();

        json_each(all, i, v2)
            json_array_append(ids, json_object_get(v2, "ID"));
        *ret_result = json_write(ids);
    } else if (strstr(function, "Open")) {
        *ret_result = xstrdup(arguments[0]);
    } else if (strstr(function, "Query")) {
        json_each(all, i, v2)
            if (text_equal(json_text_at(v2, "ID"), arguments[0]))
                *ret_result = json_write(v2);
    }
    return 0;
}

static void add(size_t n, bool six) {
    _cleanup_(freep) char *id = xasprintf("00000000-0000-4000-8000-%012zx", n);
    _cleanup_(freep) char *address = xasprintf(six ? "fd00::%zu" : "10.244.1.%zu", n + 2);

    json_array_append_new(endpoints,
                          json_pack("{s:s, s:s, s:i, s:[{s:s}]}", "ID", id, "Name", "e", "Flags",
                                    (int)(n & 1), "IpConfigurations", "IpAddress", address));
    json_array_append_new(
        balancers,
        json_pack("{s:s, s:[s], s:[s], s:i, s:[{s:i, s:i, s:i}, {s:i, s:i, s:i}]}", "ID", id,
                  "HostComputeEndpoints", id, "FrontendVIPs", address, "Flags", (int)(n & 1),
                  "PortMappings", "Protocol", 17, "ExternalPort", 53, "InternalPort", 1053,
                  "Protocol", 6, "ExternalPort", 53, "InternalPort", 1053));
}

static int setup(void **state) {
    (void)state;
    host = host_memory_new();
    host_memory_set_hns(host, hns, NULL);
    endpoints = json_array();
    balancers = json_array();
    silent = NULL;
    lies = false;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    json_decref(endpoints);
    json_decref(balancers);
    host_free(host);
    return 0;
}

/* The evidence of a node has all that is asked of what HNS has, whatever else it has. */
static void evidence_of_many(void **state) {
    const struct drift_cluster none = {0};
    const struct diag_evidence_options options = {.dns_ip = "10.244.1.2401", .cluster = &none};
    _cleanup_json_ json_t *evidence = NULL;
    json_t *balancer;

    (void)state;
    for (size_t i = 0; i < 1300; i++)
        add(2 * i + 1, false); /* of other nodes */
    add(2, false);             /* a pod of this node, the last of all */
    calls = 0;
    evidence = diag_evidence_read(host, &options);
    assert_int_equal(calls, 17); /* each list of ids and each of version 1 once */
    assert_int_equal(json_array_size(json_object_get(evidence, "endpoints")), 1000);
    balancer = diag_evidence_balancer(evidence, "10.244.1.2401", 17, 53);
    assert_int_equal(json_number_at(balancer, "Flags", 0), 1);
    assert_string_equal(json_text_at(evidence, "endpoints.0.ID"),
                        json_text_at(balancer, "HostComputeEndpoints.0"));
    assert_string_equal(json_text_at(evidence, "endpoints.1.IpConfigurations.0.IpAddress"),
                        "10.244.1.4");
    assert_string_equal(json_text_at(evidence, "endpoints.2.IpConfigurations.0.IpAddress"),
                        "10.244.1.3");
    assert_string_equal(json_text_at(evidence, "missing.0"),
                        "loadBalancers: 1000 of 1301 objects are here");
    /* What is compared with Kubernetes is all of them. */
    assert_non_null(json_object_get(evidence, "kubernetes"));
}

/* A record in words: what both of its versions have to tell alike. */
static void add_endpoint(const struct hcn_endpoint *e, struct text *ret) {
    text_addf(ret, "%s %s %s %d\n", e->id, e->name, e->address ? e->address : "-", e->remote);
}

static void add_balancer(const struct hcn_balancer *b, struct text *ret) {
    _cleanup_(freep) char *ids = text_list_join(&b->endpoints, ","),
                          *vips = text_list_join(&b->vips, ",");

    text_addf(ret, "%s %d %d %s %s", b->id, b->names_endpoints, b->dsr, ids, vips);
    for (size_t i = 0; i < b->mapping_count; i++)
        text_addf(ret, " %lld:%lld:%lld", b->mappings[i].protocol, b->mappings[i].outside,
                  b->mappings[i].inside);
    text_add_char(ret, '\n');
}

static char *told(enum hcn_kind kind, enum hcn_by by) {
    _cleanup_(hcn_endpoints_free) struct hcn_endpoints some = {0};
    _cleanup_(hcn_balancers_free) struct hcn_balancers others = {0};
    struct text t = {0};

    if (kind == HCN_ENDPOINT)
        assert_int_equal(hcn_endpoints_read(host, by, &some, NULL), 0);
    else
        assert_int_equal(hcn_balancers_read(host, by, &others, NULL), 0);
    for (size_t i = 0; i < some.count; i++)
        add_endpoint(&some.items[i], &t);
    for (size_t i = 0; i < others.count; i++)
        add_balancer(&others.items[i], &t);
    return text_take(&t);
}

/* What both tell is alike, and as many; answers how many calls the short one took. */
static unsigned same_lists(enum hcn_kind kind) {
    _cleanup_(freep) char *at_once = NULL, *one_by_one = NULL;
    unsigned taken;
    size_t lines = 0;

    calls = 0;
    at_once = told(kind, HCN_AT_ONCE);
    taken = calls;
    one_by_one = told(kind, HCN_ONE_BY_ONE);
    assert_string_equal(at_once, one_by_one);
    for (const char *p = at_once; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, json_array_size(kind == HCN_ENDPOINT ? endpoints : balancers));
    return taken;
}

/* However many there are. */
static void two_calls_tell_all(void **state) {
    (void)state;
    for (size_t n = 0; n < 200; n++) {
        add(n, n % 5 == 0);
        if (n != 1 && n != 199)
            continue;
        assert_int_equal(same_lists(HCN_ENDPOINT), 2);
        assert_int_equal(same_lists(HCN_LOAD_BALANCER), 2);
    }
}

/* Version 1 that fails, or does not know what version 2 has. */
static void what_version_1_does_not_tell(void **state) {
    static const char *const silences[] = {"/endpoints/", "/policylists/", ""};

    (void)state;
    for (size_t n = 0; n < 3; n++)
        add(n, false);
    for (size_t i = 0; i < ARRAY_SIZE(silences); i++) {
        silent = silences[i];
        assert_int_equal(same_lists(HCN_ENDPOINT), i == 1 ? 2 : 2 + 3 * 3);
        assert_int_equal(same_lists(HCN_LOAD_BALANCER), i == 0 ? 2 : 2 + 3 * 3);
    }
}

/* A Service's pods, whose remote endpoints HNS has. */
static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    (void)context, (void)err;
    ret->status = 200;
    ret->body = xstrdup(strstr(request->url, "/endpointslices")
                            ? "{\"items\":[{\"metadata\":{\"namespace\":\"d\"},\"endpoints\":[{"
                              "\"addresses\":[\"10.244.1.3\",\"10.244.1.5\"]}]}]}"
                            : "{\"items\":[]}");
    ret->body_len = strlen(ret->body);
    return 0;
}

static json_t *compared(void) {
    struct http *http = http_memory_new(answer, NULL);
    const struct kubeconfig config = {.server = (char *)"https://k", .token = (char *)"t"};
    struct kube_client client;
    json_t *drift;

    assert_int_equal(kube_client_open(http, host, &config, &client, NULL), 0);
    calls = 0;
    drift = drift_read(host, &client, "win-1", "net", NULL, NULL, NULL, NULL);
    kube_client_close(&client);
    http_free(http);
    return drift;
}

/* Nobody is told what version 1 alone says; what version 2 says, too, is told. */
static void a_difference_is_looked_at_again(void **state) {
    _cleanup_json_ json_t *well = NULL, *lied = NULL, *bad = NULL;

    (void)state;
    add(1, false);
    add(3, false);
    json_array_clear(balancers);
    well = compared();
    assert_int_equal(json_object_size(well), 0);
    lies = true;
    lied = compared();
    assert_int_equal(json_object_size(lied), 0);
    assert_true(calls > 2 * 3);
    lies = false;
    add(5, false);
    json_array_clear(balancers);
    bad = compared();
    assert_string_equal(json_text_at(bad, "staleRemoteEndpoints.0.address"), "10.244.1.7");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_calls_tell_all, setup, teardown),
        cmocka_unit_test_setup_teardown(what_version_1_does_not_tell, setup, teardown),
        cmocka_unit_test_setup_teardown(evidence_of_many, setup, teardown),
        cmocka_unit_test_setup_teardown(a_difference_is_looked_at_again, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
