/* List and watch, and the two waits built on it: drops, ends, 410, polling, time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "host/host_memory.h"
#include "kube/client.h"
#include "kube/csr.h"
#include "kube/node.h"

#define LIST(version, items)                                                                       \
    "{\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define NODE(version, more)                                                                        \
    "{\"metadata\":{\"name\":\"win-1\",\"resourceVersion\":\"" version "\"}" more "}"
#define READY(status)                                                                              \
    ",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" status                        \
    "\",\"reason\":\"KubeletNotReady\",\"message\":\"cni missing\"}]}"
#define CSR(status)                                                                                \
    "{\"metadata\":{\"name\":\"csr-1\",\"uid\":\"u1\",\"resourceVersion\":\"5\"},\"spec\":{"       \
    "}" status "}"

/* One answer after the other; the last one stays. `expect` must stand in its URL. */
struct row {
    const char *expect;
    long status;
    const char *body;
    enum error_kind broken; /* after the body */
    unsigned takes_ms;
};
struct scene {
    struct host *host;
    struct http *http;
    struct kube_client client;
    const struct row *rows;
    size_t count, asked;
    struct text seen;
    unsigned ticks;
};

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct scene *s = context;
    const struct row *row = &s->rows[s->asked < s->count ? s->asked : s->count - 1];

    s->asked++;
    if (!strstr(request->url, row->expect))
        fail_msg("request %zu: '%s' lacks '%s'", s->asked, request->url, row->expect);
    for (unsigned ms = 0; ms < row->takes_ms; ms += 1000) {
        host_memory_advance(s->host, 1000);
        if (request->on_data && request->on_data(request->on_data_context, NULL, 0))
            break;
    }
    if (row->broken && request->on_data && row->body)
        (void)request->on_data(request->on_data_context, row->body, strlen(row->body));
    if (row->broken)
        return error_set(err, row->broken, "read: it broke");
    ret->status = row->status;
    ret->body = xstrdup(row->body);
    ret->body_len = strlen(row->body);
    return 0;
}

static int setup(void **state) {
    struct scene *s = xcalloc(1, sizeof *s);
    struct kubeconfig config = {
        .server = (char *)"https://k", .ca_pem = (char *)"CA", .token = (char *)"t"};

    s->host = host_memory_new();
    s->http = http_memory_new(answer, s);
    assert_int_equal(kube_client_open(s->http, s->host, &config, &s->client, NULL), 0);
    *state = s;
    return 0;
}

static int teardown(void **state) {
    struct scene *s = *state;

    kube_client_close(&s->client);
    http_free(s->http);
    host_free(s->host);
    text_free(&s->seen);
    free(s);
    return 0;
}

#define PLAY(s, ...)                                                                               \
    do {                                                                                           \
        static const struct row rows_[] = {__VA_ARGS__};                                           \
        (s)->rows = rows_;                                                                         \
        (s)->count = ARRAY_SIZE(rows_);                                                            \
        (s)->asked = 0;                                                                            \
    } while (0)

/* Notes each event as "TYPE name@version "; ends at one whose version is "end". */
static int note(void *context, const char *type, const json_t *object, struct error *err) {
    struct scene *s = context;
    const char *name = json_text_at(object, "metadata.name");
    const char *version = json_text_at(object, "metadata.resourceVersion");

    (void)err;
    text_addf(&s->seen, "%s %s@%s ", type, name ? name : "-", version ? version : "-");
    return text_equal(version, "end");
}

static int tick(void *context, unsigned waited_ms, struct error *err) {
    struct scene *s = context;

    (void)waited_ms, (void)err;
    s->ticks++;
    return 0;
}

static int watch(struct scene *s, unsigned timeout_ms, struct error *err) {
    struct kube_watch w = {.path = "/api/v1/nodes",
                           .field_selector = "metadata.name=win-1",
                           .timeout_ms = timeout_ms,
                           .on_event = note,
                           .on_tick = tick,
                           .context = s};

    return kube_watch(&s->client, &w, err);
}

static void lists_then_watches(void **state) {
    struct scene *s = *state;

    PLAY(
        s,
        {"/api/v1/nodes?fieldSelector=metadata.name%3Dwin-1", 200, LIST("10", NODE("9", "")), 0, 0},
        {"&watch=true&allowWatchBookmarks=true&resourceVersion=10&", 200,
         EVENT("MODIFIED", NODE("11", "")) EVENT("BOOKMARK", NODE("12", ""))
             EVENT("DELETED", NODE("end", "")) EVENT("ADDED", NODE("99", "")),
         0, 0});
    assert_int_equal(watch(s, 60000, NULL), 0);
    assert_string_equal(text_str(&s->seen),
                        "ADDED win-1@9 LISTED -@10 MODIFIED win-1@11 DELETED win-1@end ");
    assert_int_equal(s->asked, 2);
}

static void takes_up_a_dropped_stream(void **state) {
    struct scene *s = *state;

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"resourceVersion=10&", 0, EVENT("MODIFIED", NODE("11", "")) "{\"type\":\"MODI",
          ERROR_NETWORK, 0},
         {"resourceVersion=11&", 0, NULL, ERROR_NETWORK, 0},
         {"resourceVersion=11&", 200, EVENT("BOOKMARK", NODE("20", "")), 0, 30000},
         {"resourceVersion=20&", 200, EVENT("MODIFIED", NODE("end", "")), 0, 0});
    assert_int_equal(watch(s, 60000, NULL), 0);
    assert_string_equal(text_str(&s->seen), "LISTED -@10 MODIFIED win-1@11 MODIFIED win-1@end ");
    assert_in_range(s->ticks, 28, 32);
}

static void lists_anew_after_410(void **state) {
    struct scene *s = *state;

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"resourceVersion=10&", 200,
          EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}"), 0, 0},
         {"nodes?fieldSelector=metadata.name%3Dwin-1", 200, LIST("50", NODE("49", "")), 0, 0},
         {"resourceVersion=50&", 410, "{\"kind\":\"Status\"}", 0, 0},
         {"nodes?", 200, LIST("60", NODE("end", "")), 0, 0});
    assert_int_equal(watch(s, 60000, NULL), 0);
    assert_string_equal(text_str(&s->seen),
                        "LISTED -@10 ADDED win-1@49 LISTED -@50 ADDED win-1@end ");
}

static void polls_where_watch_is_not_granted(void **state) {
    struct scene *s = *state;

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0},
         {"watch=true", 403, "{\"message\":\"cannot watch\"}", 0, 0},
         {"nodes?", 200, LIST("11", ""), 0, 0}, {"nodes?", 200, LIST("12", NODE("end", "")), 0, 0});
    assert_int_equal(watch(s, 60000, NULL), 0);
    assert_int_equal(s->asked, 4);
    assert_in_range(host_monotonic_ms(s->host), 2000, 2500);
}

static void ends_at_once_when_denied_or_untrusted(void **state) {
    struct scene *s = *state;
    struct error err = {0};

    PLAY(s, {"nodes?", 403, "{\"message\":\"cannot list\"}", 0, 0});
    assert_int_equal(watch(s, 60000, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_int_equal(s->asked, 1);
    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 0, NULL, ERROR_UNTRUSTED, 0});
    assert_int_equal(watch(s, 60000, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_int_equal(s->asked, 2);
}

static void is_bounded_in_time(void **state) {
    struct scene *s = *state;
    struct error err = {0};

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 200, "", 0, 30000});
    assert_int_equal(watch(s, 100000, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    assert_string_equal(err.message, "waited 100 s");
    assert_in_range(s->asked, 4, 6);
    PLAY(s, {"nodes?", 0, NULL, ERROR_NETWORK, 0});
    assert_int_equal(watch(s, 100000, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    assert_non_null(strstr(err.message, "the last failure was: GET https://k/api/v1/nodes"));
    assert_in_range(s->asked, 15, 30);
}

static void a_stream_that_ends_at_once_is_no_busy_loop(void **state) {
    struct scene *s = *state;
    struct error err = {0};

    PLAY(s, {"nodes?", 200, LIST("10", ""), 0, 0}, {"watch", 200, "", 0, 0});
    assert_int_equal(watch(s, 60000, &err), -1);
    assert_in_range(s->asked, 10, 25);
}

/* ---- certificate signing requests ---- */

static int csr_note(void *context, const struct kube_csr *csr, unsigned waited_ms) {
    struct scene *s = context;

    (void)waited_ms;
    text_addf(&s->seen, "%s ", kube_csr_state_name(csr->state));
    return 0;
}

static int csr_wait(struct scene *s, struct kube_csr *ret, struct error *err) {
    text_clear(&s->seen);
    return kube_csr_wait(&s->client, "csr-1", "u1", 30000, csr_note, s, ret, err);
}

#define CONDITION(type)                                                                            \
    "\"conditions\":[{\"type\":\"" type                                                            \
    "\",\"status\":\"True\",\"reason\":\"AutoApproved\",\"message\":\"words\"}]"

static void waits_for_the_certificate(void **state) {
    struct scene *s = *state;
    struct kube_csr csr = {0};

    PLAY(s,
         {"/apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=metadata.name%3D"
          "csr-1",
          200, LIST("10", CSR("")), 0, 0},
         {"watch", 200,
          EVENT("MODIFIED", CSR(",\"status\":{" CONDITION("Approved") "}"))
              EVENT("MODIFIED",
                    CSR(",\"status\":{" CONDITION("Approved") ",\"certificate\":\"Q0VSVA==\"}")),
          0, 0});
    assert_int_equal(csr_wait(s, &csr, NULL), 0);
    assert_string_equal(csr.certificate_pem, "CERT");
    assert_string_equal(csr.reason, "AutoApproved");
    assert_string_equal(text_str(&s->seen), "pending approved issued ");
    kube_csr_free(&csr);
}

static void tells_what_became_of_a_request(void **state) {
    static const struct {
        struct row first, second;
        enum error_kind kind;
        const char *why, *hint;
    } rows[] = {
        {{"", 200, LIST("10", CSR(",\"status\":{" CONDITION("Denied") "}")), 0, 0},
         {"", 200, "", 0, 0},
         ERROR_DENIED,
         "certificate signing request \"csr-1\" is denied, reason: AutoApproved, message: words",
         ""},
        {{"", 200, LIST("10", CSR(",\"status\":{" CONDITION("Failed") "}")), 0, 0},
         {"", 200, "", 0, 0},
         ERROR_DENIED,
         "failed, reason:",
         ""},
        {{"", 200, LIST("10", ""), 0, 0}, {"", 200, "", 0, 0}, ERROR_NOT_FOUND, "was deleted", ""},
        {{"", 200, LIST("10", CSR("")), 0, 0},
         {"", 200, EVENT("DELETED", CSR("")), 0, 0},
         ERROR_NOT_FOUND,
         "was deleted",
         ""},
        {{"", 200, LIST("10", "{\"metadata\":{\"name\":\"csr-1\",\"uid\":\"u2\"},\"spec\":{}}"), 0,
          0},
         {"", 200, "", 0, 0},
         ERROR_CONFLICT,
         "changed UIDs",
         ""},
        {{"", 200, LIST("10", CSR("")), 0, 0},
         {"", 200, "", 0, 30000},
         ERROR_TIMEOUT,
         "still pending, nobody has approved it: waited 30 s",
         "kubectl certificate approve csr-1"},
        {{"", 200, LIST("10", CSR(",\"status\":{" CONDITION("Approved") "}")), 0, 0},
         {"", 200, "", 0, 30000},
         ERROR_TIMEOUT,
         "approved but not signed: waited 30 s",
         "--cluster-signing-cert-file"},
    };
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct row two[2] = {rows[i].first, rows[i].second};
        struct kube_csr csr = {0};
        struct error err = {0};

        s->rows = two;
        s->count = 2;
        s->asked = 0;
        assert_int_equal(csr_wait(s, &csr, &err), -1);
        assert_int_equal(err.kind, rows[i].kind);
        assert_non_null(strstr(err.message, rows[i].why));
        assert_non_null(strstr(err.hints[0], rows[i].hint));
    }
}

static void denied_wins_over_approved(void **state) {
    _cleanup_json_ json_t *object =
        json_loads(CSR(",\"status\":{\"conditions\":[{\"type\":\"Denied\"},{\"type\":\"Approved\"}]"
                       ",\"certificate\":\"Q0VSVA==\"}"),
                   0, NULL);
    struct kube_csr csr = {0};

    (void)state;
    assert_int_equal(kube_csr_from_json(object, &csr, NULL), 0);
    assert_int_equal(csr.state, KUBE_CSR_DENIED);
    kube_csr_free(&csr);
}

static void asks_as_the_kubelet(void **state) {
    _cleanup_json_ json_t *object = kube_csr_json("PEM");
    _cleanup_(freep) char *text = json_write(object);

    (void)state;
    assert_string_equal(
        text,
        "{\"apiVersion\":\"certificates.k8s.io/v1\",\"kind\":\"CertificateSigningRequest\","
        "\"metadata\":{\"generateName\":\"csr-\"},\"spec\":{\"request\":\"UEVN\",\"signerName\":"
        "\"kubernetes.io/kube-apiserver-client-kubelet\",\"usages\":[\"digital "
        "signature\",\"client auth\"]}}");
}

static int say_stop(void *context, unsigned waited_ms, struct error *err) {
    (void)context;
    return waited_ms >= 5000 ? error_set(err, ERROR_INTERRUPTED, "enough") : 0;
}

static void ends_when_a_callback_says_so(void **state) {
    struct scene *s = *state;
    struct kube_watch w = {.path = "/api/v1/nodes",
                           .timeout_ms = 60000,
                           .on_event = note,
                           .on_tick = say_stop,
                           .context = s};
    struct error err = {0};

    PLAY(s, {"nodes", 200, LIST("10", ""), 0, 0}, {"watch", 200, "", 0, 30000});
    assert_int_equal(kube_watch(&s->client, &w, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_in_range(host_monotonic_ms(s->host), 5000, 7000);
    /* without a tick there is none to ask; the end of time is the end */
    w.on_tick = NULL;
    s->asked = 0;
    assert_int_equal(kube_watch(&s->client, &w, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
}

static int stop_csr(void *context, const struct kube_csr *csr, unsigned waited_ms) {
    (void)context, (void)csr;
    return waited_ms > 3000;
}

static void a_wait_can_be_stopped(void **state) {
    struct scene *s = *state;
    struct kube_csr csr = {0};
    struct error err = {0};

    PLAY(s, {"", 200, LIST("10", CSR("")), 0, 0}, {"watch", 200, "", 0, 30000});
    assert_int_equal(kube_csr_wait(&s->client, "csr-1", "u1", 30000, stop_csr, NULL, &csr, &err),
                     -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
}

static void single_looks_fail_with_their_kind(void **state) {
    struct scene *s = *state;
    struct kube_csr csr = {0};
    struct kube_node node = {0};
    struct error err = {0};

    PLAY(s, {"/certificatesigningrequests/csr-1", 404, "{\"message\":\"gone\"}", 0, 0});
    assert_int_equal(kube_csr_get(&s->client, "csr-1", &csr, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    PLAY(s, {"/certificatesigningrequests", 403, "{\"message\":\"no\"}", 0, 0});
    assert_int_equal(kube_csr_create(&s->client, "PEM", &csr, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_non_null(strstr(err.message, "send the certificate signing request: POST"));
    PLAY(s, {"/nodes/a%2Fb", 404, "{\"message\":\"gone\"}", 0, 0});
    assert_int_equal(kube_node_get(&s->client, "a/b", &node, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    PLAY(s, {"/nodes/x", 200, "{}", 0, 0});
    assert_int_equal(kube_node_get(&s->client, "x", &node, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    PLAY(s, {"/csr-1", 200, CSR(""), 0, 0});
    assert_int_equal(kube_csr_get(&s->client, "csr-1", &csr, NULL), 0);
    assert_int_equal(csr.state, KUBE_CSR_PENDING);
    kube_csr_free(&csr);
}

/* ---- nodes ---- */

static void reads_a_node(void **state) {
    _cleanup_json_ json_t *object = json_loads(
        "{\"metadata\":{\"name\":\"win-1\",\"uid\":\"u\",\"labels\":{\"kubernetes.io/os\":"
        "\"windows\"},\"annotations\":{\"flannel.alpha.coreos.com/backend-type\":\"vxlan\","
        "\"flannel.alpha.coreos.com/backend-data\":\"{}\",\"flannel.alpha.coreos.com/"
        "public-ip\":\"10.0.0.21\"}},\"spec\":{\"podCIDR\":\"10.244.1.0/24\",\"podCIDRs\":[\"10."
        "244.1.0/24\",\"fd00:1::/"
        "64\"],\"unschedulable\":true},\"status\":{\"addresses\":[{\"type\":"
        "\"Hostname\",\"address\":\"h\"},{\"type\":\"InternalIP\",\"address\":\"10.0.0.21\"}],"
        "\"conditions\":[{\"type\":\"MemoryPressure\",\"status\":\"True\"},{\"type\":\"Ready\","
        "\"status\":\"True\",\"reason\":\"KubeletReady\"}],\"nodeInfo\":{\"kubeletVersion\":"
        "\"v1.37.1\"}}}",
        0, NULL);
    struct kube_node node = {0};

    (void)state;
    assert_int_equal(kube_node_from_json(object, &node, NULL), 0);
    assert_string_equal(node.os, "windows");
    assert_string_equal(node.internal_ip, "10.0.0.21");
    assert_int_equal(node.addresses.count, 1);
    assert_int_equal(node.pod_cidrs.count, 2);
    assert_string_equal(node.pod_cidrs.items[1], "fd00:1::/64");
    assert_true(node.ready);
    assert_true(node.unschedulable);
    assert_string_equal(node.kubelet_version, "v1.37.1");
    assert_string_equal(node.flannel_backend_type, "vxlan");
    assert_string_equal(node.flannel_public_ip, "10.0.0.21");
    kube_node_free(&node);
    json_object_del(json_object_get(object, "spec"), "podCIDRs");
    assert_int_equal(kube_node_from_json(object, &node, NULL), 0);
    assert_int_equal(node.pod_cidrs.count, 1);
    kube_node_free(&node);
}

static void waits_for_a_node(void **state) {
    struct scene *s = *state;
    struct kube_node node = {0};

    PLAY(s, {"/api/v1/nodes?", 200, LIST("10", ""), 0, 0},
         {"watch", 200,
          EVENT("ADDED", NODE("11", ""))
              EVENT("MODIFIED", NODE("12", ",\"spec\":{\"podCIDR\":\"10.244.1.0/24\"}")),
          0, 0});
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", kube_node_has_pod_cidr, 30000, NULL, NULL, &node, NULL),
        0);
    assert_string_equal(node.pod_cidrs.items[0], "10.244.1.0/24");
    kube_node_free(&node);
}

static void says_what_a_node_lacks(void **state) {
    struct scene *s = *state;
    struct kube_node node = {0};
    struct error err = {0};

    PLAY(s, {"", 200, LIST("10", ""), 0, 0}, {"", 200, "", 0, 30000});
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", kube_node_is_ready, 30000, NULL, NULL, &node, &err),
        -1);
    assert_string_equal(err.message, "node \"win-1\" is not registered: waited 30 s");
    PLAY(s, {"", 200, LIST("10", NODE("1", READY("False"))), 0, 0}, {"", 200, "", 0, 30000});
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", kube_node_is_ready, 30000, NULL, NULL, &node, &err),
        -1);
    assert_string_equal(err.message,
                        "node \"win-1\" is not Ready: KubeletNotReady: cni missing: waited 30 s");
    s->asked = 0;
    assert_int_equal(
        kube_node_wait(&s->client, "win-1", kube_node_has_pod_cidr, 30000, NULL, NULL, &node, &err),
        -1);
    assert_non_null(strstr(err.message, "has no podCIDR"));
}

static void lists_nodes_page_by_page(void **state) {
    struct scene *s = *state;
    struct kube_nodes nodes = {0};

    PLAY(s,
         {"/api/v1/nodes?limit=500", 200,
          "{\"metadata\":{\"continue\":\"a+b\"},\"items\":[" NODE("1", "") "]}", 0, 0},
         {"limit=500&continue=a%2Bb", 200, LIST("2", NODE("1", "")), 0, 0});
    assert_int_equal(kube_nodes_list(&s->client, &nodes, NULL), 0);
    assert_int_equal(nodes.count, 2);
    assert_int_equal(s->asked, 2);
    kube_nodes_free(&nodes);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(lists_then_watches),
        CASE(takes_up_a_dropped_stream),
        CASE(lists_anew_after_410),
        CASE(polls_where_watch_is_not_granted),
        CASE(ends_at_once_when_denied_or_untrusted),
        CASE(is_bounded_in_time),
        CASE(a_stream_that_ends_at_once_is_no_busy_loop),
        CASE(waits_for_the_certificate),
        CASE(ends_when_a_callback_says_so),
        CASE(a_wait_can_be_stopped),
        CASE(single_looks_fail_with_their_kind),
        CASE(tells_what_became_of_a_request),
        cmocka_unit_test(denied_wins_over_approved),
        cmocka_unit_test(asks_as_the_kubelet),
        cmocka_unit_test(reads_a_node),
        CASE(waits_for_a_node),
        CASE(says_what_a_node_lacks),
        CASE(lists_nodes_page_by_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
