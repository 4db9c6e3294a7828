/* A cluster's diagnosis without a cluster: which nodes, which pairs, what answers mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/cluster/cells.h"
#include "diag/cluster/dial.h"
#include "diag/cluster/objects.h"

static void add_node(struct cluster_nodes *nodes, const char *name, const char *os,
                     const char *build, const char *version, bool ready) {
    nodes->items = xrealloc(nodes->items, (nodes->count + 1) * sizeof *nodes->items);
    nodes->items[nodes->count++] = (struct cluster_node){.name = xstrdup(name),
                                                         .os = xstrdup(os),
                                                         .build = xstrdup(build),
                                                         .version = xstrdup(version),
                                                         .network = xstrdup("flannel vxlan"),
                                                         .ready = ready};
}

static struct cluster_nodes mixed(unsigned windows, unsigned linux_count) {
    static const char *const builds[] = {"10.0.17763", "10.0.20348", "10.0.26100"};
    struct cluster_nodes nodes = {0};
    char name[32];

    for (unsigned i = 0; i < windows; i++) {
        text_format(name, sizeof name, "w%u", i);
        add_node(&nodes, name, "windows", builds[i % 3], i % 2 ? "v1.36.2" : "v1.37.1", true);
    }
    for (unsigned i = 0; i < linux_count; i++) {
        text_format(name, sizeof name, "l%u", i);
        add_node(&nodes, name, "linux", "", "v1.37.1", true);
    }
    return nodes;
}

static bool has_kinds(const struct cluster_nodes *nodes, const struct cluster_pairs *pairs,
                      const char *from, const char *to) {
    bool found = false;

    for (size_t i = 0; i < pairs->count; i++) {
        _cleanup_(freep) char *a = cluster_node_kind(&nodes->items[pairs->items[i].from]);
        _cleanup_(freep) char *b = cluster_node_kind(&nodes->items[pairs->items[i].to]);

        found |= text_equal(a, from) && text_equal(b, to);
    }
    return found;
}

/* Every node as source and target, every pair of kinds, and no more than these need. */
static void check_pairs(unsigned windows, unsigned linux_count) {
    struct cluster_nodes nodes = mixed(windows, linux_count);
    struct cluster_pairs pairs;
    struct text_list kinds = {0};

    cluster_pairs_make(&nodes, &pairs);
    for (size_t i = 0; i < nodes.count; i++) {
        _cleanup_(freep) char *kind = cluster_node_kind(&nodes.items[i]);
        bool from = false, to = false;

        if (!text_list_has(&kinds, kind))
            text_list_add(&kinds, kind);
        for (size_t p = 0; p < pairs.count; p++) {
            assert_true(pairs.items[p].from != pairs.items[p].to);
            from |= pairs.items[p].from == i;
            to |= pairs.items[p].to == i;
        }
        assert_true(nodes.count < 2 || (from && to));
    }
    for (size_t a = 0; a < kinds.count; a++)
        for (size_t b = 0; b < kinds.count; b++)
            if (a != b || nodes.count > 2 * kinds.count)
                assert_true(has_kinds(&nodes, &pairs, kinds.items[a], kinds.items[b]));
    assert_true(pairs.count <= nodes.count + kinds.count * kinds.count);
    text_list_free(&kinds);
    free(pairs.items);
    cluster_nodes_free(&nodes);
}

static void test_pairs(void **state) {
    (void)state;
    check_pairs(0, 1);
    check_pairs(1, 1);
    check_pairs(2, 2);
    check_pairs(14, 5);
    check_pairs(150, 50);
}

/* A node without a probe is in no pair. */
static void test_pairs_pass_over_the_missing(void **state) {
    struct cluster_nodes nodes = mixed(3, 2);
    struct cluster_pairs pairs;

    (void)state;
    nodes.items[1].waiting = xstrdup("Pending");
    cluster_pairs_make(&nodes, &pairs);
    for (size_t i = 0; i < pairs.count; i++)
        assert_true(pairs.items[i].from != 1 && pairs.items[i].to != 1);
    assert_true(pairs.count >= 4);
    free(pairs.items);
    cluster_nodes_free(&nodes);
}

static void test_choice(void **state) {
    struct cluster_nodes nodes = mixed(2, 4);
    struct text_list names = {0};
    struct error err = {0};

    (void)state;
    free(nodes.items[5].version);
    nodes.items[5].version = xstrdup("v1.35.0"); /* another kind */
    nodes.items[2].ready = false;
    assert_int_equal(cluster_nodes_choose(&nodes, NULL, &err), 0);
    assert_int_equal((int)nodes.count, 4);
    assert_string_equal(nodes.items[2].name, "l1");
    assert_string_equal(nodes.items[3].name, "l3");
    text_list_add(&names, "w9");
    assert_int_equal(cluster_nodes_choose(&nodes, &names, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    text_list_free(&names);
    cluster_nodes_free(&nodes);
}

static void test_nodes_read(void **state) {
    static const char text[] =
        "{\"kind\":\"NodeList\",\"items\":[{\"metadata\":{\"name\":\"w\",\"annotations\":{"
        "\"flannel.alpha.coreos.com/backend-type\":\"host-gw\"}},\"status\":{\"addresses\":[{"
        "\"type\":\"Hostname\",\"address\":\"w\"},{\"type\":\"InternalIP\",\"address\":\"10.0.0.5\""
        "}],\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}],\"nodeInfo\":{"
        "\"operatingSystem\":\"windows\",\"kernelVersion\":\"10.0.20348.2340\",\"kubeletVersion\":"
        "\"v1.37.1\"}}}]}";
    _cleanup_json_ json_t *list = NULL;
    struct cluster_nodes nodes;

    (void)state;
    assert_int_equal(json_read(text, strlen(text), "NodeList", &list, NULL), 0);
    assert_int_equal(cluster_nodes_read(list, &nodes, NULL), 0);
    assert_string_equal(nodes.items[0].build, "10.0.20348");
    assert_string_equal(nodes.items[0].network, "flannel host-gw");
    assert_string_equal(nodes.items[0].ip, "10.0.0.5");
    assert_false(nodes.items[0].ready);
    cluster_nodes_free(&nodes);
    json_array_append_new(json_object_get(list, "items"),
                          json_pack("{s:{s:s}}", "metadata", "name", "../x"));
    assert_int_equal(cluster_nodes_read(list, &nodes, NULL), -1);
}

static void test_dial(void **state) {
    static const struct {
        long status;
        bool udp;
        const char *body;
        enum dial_end end;
        enum probe_outcome outcome;
        const char *words; /* plain ones, or the name and server of a DNS error */
    } rows[] = {
        {200, false, "{\"responses\":[\"probe-1\"]}", DIAL_ANSWERED, PROBE_OK, ""},
        {200, false, "{}", DIAL_ANSWERED, PROBE_NO_REPLY, NULL},
        {200, false, "{\"errors\":[\"dial tcp: connect: connection refused\"]}", DIAL_ANSWERED,
         PROBE_REFUSED, "connection refused"},
        {200, false,
         "{\"errors\":[\"x: No connection could be made because the target machine "
         "actively refused it.\"]}",
         DIAL_ANSWERED, PROBE_REFUSED, "connection refused"},
        {200, true, "{\"errors\":[\"reading from udp connection failed. err:'i/o timeout'\"]}",
         DIAL_ANSWERED, PROBE_NO_REPLY, "no answer in 5 s"},
        {200, false, "{\"errors\":[\"Get: context deadline exceeded (Client.Timeout)\"]}",
         DIAL_ANSWERED, PROBE_TIMEOUT, "no answer in 5 s"},
        {200, false, "{\"errors\":[\"read tcp: connection reset by peer\"]}", DIAL_ANSWERED,
         PROBE_RESET, "connection reset"},
        {200, false, "{\"errors\":[\"connect: no route to host\"]}", DIAL_ANSWERED,
         PROBE_UNREACHABLE, "no route to it"},
        {200, true, "{\"errors\":[\"what is this\\n\"]}", DIAL_ANSWERED, PROBE_FAILED,
         "what is this"},
        {200, false, "{\"errors\":[\"malformed HTTP response \\\"\\\\x15\\\"\"]}", DIAL_ANSWERED,
         PROBE_OK, ""},
        {400, false,
         "host and/or port param are invalid. lookup x on 10.96.0.10:53: no such host\n",
         DIAL_ANSWERED, PROBE_DNS_NXDOMAIN,
         "host and/or port param are invalid. lookup x on 10.96.0.10:53: no such host"},
        {400, false, "host and/or port param are invalid. lookup x: i/o timeout", DIAL_ANSWERED,
         PROBE_DNS_TIMEOUT, NULL},
        {400, false, "{\"kind\":\"Status\",\"message\":\"address not allowed\"}", DIAL_NOT_RUN, 0,
         NULL},
        {503, false, "{\"kind\":\"Status\",\"message\":\"error trying to reach service\"}",
         DIAL_NOT_RUN, 0, NULL},
        {200, false, "{\"kind\":\"Status\",\"status\":\"Success\"}", DIAL_NOT_RUN, 0, NULL},
        {200, false, "NOW: 2026", DIAL_NOT_RUN, 0, NULL},
        {0, false, "no complete answer within 8000 ms", DIAL_NOT_RUN, 0, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct probe_result result;
        char why[200];

        assert_int_equal(dial_read(rows[i].status, rows[i].body, strlen(rows[i].body), rows[i].udp,
                                   &result, why, sizeof why),
                         rows[i].end);
        if (rows[i].words)
            assert_string_equal(why, rows[i].words);
        if (rows[i].end == DIAL_NOT_RUN) {
            assert_non_null(strstr(rows[i].body, why));
            assert_true(*why);
            continue;
        }
        assert_int_equal(result.outcome, rows[i].outcome);
        assert_null(strchr(why, '?')); /* the line's end is no part of it */
        assert_int_equal(result.succeeded, rows[i].outcome == PROBE_OK);
        assert_int_equal(result.attempts, 1);
    }
}

/* A container that the API server calls running may not listen yet: only that is asked again. */
static void test_refused(void **state) {
    static const struct {
        long status;
        const char *body;
        bool refused;
    } rows[] = {
        {503, "{\"kind\":\"Status\",\"message\":\"dial tcp 10.1.2.3:8080: connection refused\"}",
         true},
        {503, "{\"kind\":\"Status\",\"message\":\"dial tcp 10.1.2.3:8080: i/o timeout\"}", false},
        {503, "connection refused", false},
        {200, "{\"output\":\"connection refused\",\"message\":\"refused\"}", false},
        {0, "connection refused", false},
        {503, NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        assert_int_equal(
            dial_is_refused(rows[i].status, rows[i].body, rows[i].body ? strlen(rows[i].body) : 0),
            rows[i].refused);
}

/* A pod that is not the one that was meant must not pass, a Service's pods must. */
static void test_responder(void **state) {
    struct cluster_report report = {.nodes = mixed(2, 0)};
    struct cluster_cell cell = {.cell.flow = diag_flow_find("pod-to-pod-ip"),
                                .cell.probe.expect = "probe-2"};
    static const char right[] = "{\"responses\":[\"PROBE-2\"]}",
                      other[] = "{\"responses\":[\"probe-1\"]}",
                      strange[] = "{\"responses\":[\"nginx\"]}";

    (void)state;
    report.nodes.items[0].pod = xstrdup("probe-1");
    report.nodes.items[1].pod = xstrdup("probe-2");
    cluster_cell_judge(&report, &cell, 200, right, strlen(right), false);
    assert_int_equal(cell.cell.outcome, DIAG_PASS);
    cluster_cell_judge(&report, &cell, 200, other, strlen(other), true);
    assert_int_equal(cell.cell.outcome, DIAG_FAIL);
    assert_int_equal(cell.cell.result.outcome, PROBE_WRONG_RESPONDER);
    cell.any = true;
    cluster_cell_judge(&report, &cell, 200, other, strlen(other), true);
    assert_int_equal(cell.cell.outcome, DIAG_SLOW);
    cluster_cell_judge(&report, &cell, 200, strange, strlen(strange), true);
    assert_int_equal(cell.cell.outcome, DIAG_FAIL);
    cluster_report_free(&report);
}

struct heard {
    size_t count, question[4];
    long status[4];
    char body[4][64];
};

static void hear(void *context, size_t question, long status, const char *body, size_t len) {
    struct heard *h = context;

    assert_true(h->count < 4 && len < sizeof h->body[0]);
    h->question[h->count] = question;
    h->status[h->count] = status;
    memcpy(h->body[h->count++], body, len + 1);
}

/* Questions by a shell in the pod: any order of answers, an error of two lines, curl's own failure.
 */
static void test_script(void **state) {
    static char first[] = "/api/v1/namespaces/x/pods/p:8080/proxy/dial?host=a&port=80";
    static char second[] = "/api/v1/namespaces/x/pods/p:8080/proxy/dial?host=b'c";
    static char *const paths[] = {first, second};
    static const char out[] = "{\"responses\":[\"p\"]} 1 200\nlookup x: no such host\n 0 400\n"
                              " 1 000\n{} 9 200\nnothing\n{} 0 200";
    _cleanup_(freep) char *script = dial_script_make(paths, 2);
    struct heard h = {0};

    (void)state;
    assert_non_null(strstr(script, "'http://127.0.0.1:8080/dial?host=a&port=80' -s"));
    dial_script_read(out, strlen(out), 2, hear, &h);
    assert_int_equal((int)h.count, 2);
    assert_int_equal((int)h.question[0], 1);
    assert_int_equal((int)h.status[0], 200);
    assert_string_equal(h.body[0], "{\"responses\":[\"p\"]}");
    assert_int_equal((int)h.question[1], 0);
    assert_int_equal((int)h.status[1], 400);
    assert_string_equal(h.body[1], "lookup x: no such host\n");
}

/* No answer in time is the DNS' fault where the probe answers other questions, and a name was
 * asked. */
static void test_late(void **state) {
    struct cluster_cell cells[] = {
        {.from = 0,
         .cell = {.outcome = DIAG_PASS, .result.attempts = 1, .probe.target = "10.1.2.3"}},
        {.from = 0, .cell = {.outcome = DIAG_NOT_RUN, .probe.target = "backend"}},
        {.from = 0, .cell = {.outcome = DIAG_NOT_RUN, .probe.target = "fd00::1"}},
        {.from = 1, .cell = {.outcome = DIAG_NOT_RUN, .probe.target = "backend"}},
    };
    struct cluster_report report = {.cells = {cells, ARRAY_SIZE(cells)}};

    (void)state;
    for (size_t i = 1; i < ARRAY_SIZE(cells); i++) {
        cluster_cell_judge_late(&report, &cells[i]);
        assert_int_equal(cells[i].cell.outcome, i == 1 ? DIAG_FAIL : DIAG_NOT_RUN);
    }
    assert_int_equal(cells[1].cell.result.outcome, PROBE_DNS_TIMEOUT);
}

/* What Pod Security "restricted" and admission ask of a pod of each system. */
static void test_pods(void **state) {
    struct cluster_nodes nodes = mixed(1, 1);

    (void)state;
    for (size_t i = 0; i < nodes.count; i++) {
        _cleanup_json_ json_t *pod = NULL;
        bool windows = i == 0;

        nodes.items[i].pod = xstrdup("probe-1");
        pod = cluster_pod_make(&nodes.items[i], "image");
        assert_non_null(pod);
        assert_string_equal(json_text_at(pod, "spec.os.name"), nodes.items[i].os);
        assert_true(json_bool_at(pod, "spec.securityContext.runAsNonRoot", false));
        assert_int_equal(!json_at(pod, "spec.securityContext.seccompProfile"), windows);
        assert_int_equal(!json_at(pod, "spec.containers.1.securityContext.capabilities"), windows);
        assert_int_equal(!json_at(pod, "spec.securityContext.windowsOptions"), !windows);
    }
    cluster_nodes_free(&nodes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),   cmocka_unit_test(test_pairs_pass_over_the_missing),
        cmocka_unit_test(test_choice),  cmocka_unit_test(test_nodes_read),
        cmocka_unit_test(test_dial),    cmocka_unit_test(test_responder),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_script),
        cmocka_unit_test(test_late),    cmocka_unit_test(test_pods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
