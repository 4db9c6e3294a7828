/* A cluster's diagnosis without a cluster: which nodes, which pairs, what answers mean. */
#include "tests/scene/cluster_nodes_scene.h"

#include "diag/ask/ask.h"
#include "diag/cluster/cells.h"
#include "diag/cluster/probes/asking.h"
#include "diag/cluster/probes/dial.h"

/* Of few nodes all, in their order; those of names alone, which must be there; of none an error. */
static void test_choice(void **state) {
    struct cluster_nodes nodes = mixed(2, 4);
    struct text_list names = {0};
    struct cluster_choice choice = {.names = &names};
    struct cluster_sample sample = {0};
    struct error err = {0};

    (void)state;
    nodes.items[2].ready = false;
    assert_int_equal(cluster_nodes_choose(&nodes, &choice, &sample, &err), 0);
    assert_int_equal(nodes.count, 6);
    assert_int_equal(sample.of, 0);
    text_list_add(&names, "l3");
    text_list_add(&names, "w1");
    assert_int_equal(cluster_nodes_choose(&nodes, &choice, &sample, &err), 0);
    assert_int_equal(nodes.count, 2);
    assert_string_equal(nodes.items[0].name, "w1");
    assert_string_equal(nodes.items[1].name, "l3");
    text_list_add(&names, "w9");
    assert_int_equal(cluster_nodes_choose(&nodes, &choice, &sample, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_non_null(strstr(err.message, "'w9'"));
    text_list_free(&names);
    cluster_nodes_free(&nodes);
    error_clear(&err);
    assert_int_equal(cluster_nodes_choose(&nodes, &choice, &sample, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    cluster_nodes_free(&nodes);
}

static void test_kind(void **state) {
    static const struct {
        const char *version, *pool, *zone, *kind, *place;
    } rows[] = {
        {"v1.37.1", "", "", "linux v1.37 flannel vxlan", "linux v1.37 flannel vxlan"},
        {"v1.37", "p", "", "linux v1.37 flannel vxlan", "linux v1.37 flannel vxlan, pool p"},
        {"", "p", "z", "linux  flannel vxlan", "linux  flannel vxlan, pool p, zone z"},
        {"", NULL, NULL, "linux  flannel vxlan", "linux  flannel vxlan"},
    };
    struct cluster_node node = {
        .os = (char *)"linux", .build = (char *)"", .network = (char *)"flannel vxlan"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *kind = NULL, *place = NULL;

        node.version = (char *)rows[i].version;
        node.pool = (char *)rows[i].pool;
        node.zone = (char *)rows[i].zone;
        kind = cluster_node_text(&node, ALIKE_KIND);
        place = cluster_node_text(&node, ALIKE_PLACE);
        assert_string_equal(kind, rows[i].kind);
        assert_string_equal(place, rows[i].place);
    }
}

static void test_nodes_read(void **state) {
    static const char text[] =
        "{\"kind\":\"NodeList\",\"items\":[{\"metadata\":{\"name\":\"w\",\"annotations\":{"
        "\"flannel.alpha.coreos.com/backend-type\":\"host-gw\"}},\"status\":{\"addresses\":[{"
        "\"type\":\"Hostname\",\"address\":\"w\"},{\"type\":\"InternalIP\",\"address\":\"10.0.0.5\""
        "}],\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}],\"nodeInfo\":{"
        "\"operatingSystem\":\"windows\",\"kernelVersion\":\"10.0.20348.2340\",\"kubeletVersion\":"
        "\"v1.37.1\"}}},{\"metadata\":{\"name\":\"x\",\"annotations\":{"
        "\"projectcalico.org/IPv4Address\":\"10.0.0.6/"
        "24\"}}},{\"metadata\":{\"name\":\"y\"},\"status\":{\"nodeInfo\":{\"operatingSystem\":"
        "\"windows\"}}}]}";
    _cleanup_json_ json_t *list = NULL;
    struct cluster_nodes nodes = {0};
    struct error err = {0};
    json_t *items;

    (void)state;
    assert_int_equal(json_read(text, strlen(text), "NodeList", &list, NULL), 0);
    items = json_object_get(list, "items");
    assert_int_equal(cluster_nodes_add(&nodes, items, &err), 0);
    assert_string_equal(nodes.items[0].build, "10.0.20348");
    assert_string_equal(nodes.items[0].network, "flannel host-gw");
    assert_string_equal(nodes.items[0].ip, "10.0.0.5");
    assert_false(nodes.items[0].ready);
    assert_string_equal(nodes.items[1].network, "calico");
    assert_string_equal(nodes.items[2].network, "");
    assert_false(nodes.items[2].ready); /* it says nothing */
    assert_null(nodes.items[2].ip);
    assert_string_equal(nodes.items[2].build, "");
    json_object_del(json_array_get(items, 2), "metadata");
    assert_int_equal(cluster_nodes_add(&nodes, items, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    assert_non_null(strstr(err.message, "node 5 ")); /* of all pages */
    json_array_append_new(items, json_pack("{s:{s:s}}", "metadata", "name", "../x"));
    json_array_remove(items, 2);
    assert_int_equal(cluster_nodes_add(&nodes, items, &err), -1);
    cluster_nodes_free(&nodes);
}

static const struct {
    long status;
    bool udp;
    const char *body;
    enum dial_end end;
    enum probe_outcome outcome;
    const char *words; /* plain ones, or the name and server of a DNS error */
} dial_rows[] = {
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
    {200, false, "{\"errors\":[\"connect: no route to host\"]}", DIAL_ANSWERED, PROBE_UNREACHABLE,
     "no route to it"},
    {200, true, "{\"errors\":[\"read udp: connection refused\"]}", DIAL_ANSWERED, PROBE_REFUSED,
     "connection refused"},
    {200, false, "{\"errors\":[\"lookup x: Temporary failure, timed out\"]}", DIAL_ANSWERED,
     PROBE_DNS_TIMEOUT, NULL},
    {200, true, "{\"errors\":[\"what~ is this\\n\"]}", DIAL_ANSWERED, PROBE_FAILED,
     "what~ is this"},
    {200, false, "{\"responses\":[3,\"\"],\"errors\":[4]}", DIAL_ANSWERED, PROBE_NO_REPLY, ""},
    {200, false, "[1]", DIAL_NOT_RUN, 0, NULL},
    {200, false, "{\"errors\":[\"malformed HTTP response \\\"\\\\x15\\\"\"]}", DIAL_ANSWERED,
     PROBE_OK, ""},
    {400, false, "host and/or port param are invalid. lookup x on 10.96.0.10:53: no such host\n",
     DIAL_ANSWERED, PROBE_DNS_NXDOMAIN,
     "host and/or port param are invalid. lookup x on 10.96.0.10:53: no such host"},
    {400, false, "host and/or port param are invalid. lookup x: i/o timeout", DIAL_ANSWERED,
     PROBE_DNS_TIMEOUT, NULL},
    {400, false, "invalid. lookup x on 169.254.20.10:53: read: connection refused", DIAL_ANSWERED,
     PROBE_DNS_TIMEOUT, "invalid. lookup x on 169.254.20.10:53: read: connection refused"},
    {400, false, "{\"kind\":\"Status\",\"message\":\"address not allowed\"}", DIAL_NOT_RUN, 0,
     NULL},
    {503, false, "{\"kind\":\"Status\",\"message\":\"error trying to reach service\"}",
     DIAL_NOT_RUN, 0, NULL},
    {200, false, "{\"kind\":\"Status\",\"status\":\"Success\"}", DIAL_NOT_RUN, 0, NULL},
    {200, false, "NOW: 2026", DIAL_NOT_RUN, 0, NULL},
    {0, false, "no complete answer within 8000 ms", DIAL_NOT_RUN, 0, NULL},
};

static void test_dial(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(dial_rows); i++) {
        struct probe_result result;
        char why[200];

        assert_int_equal(dial_read(dial_rows[i].status, dial_rows[i].body,
                                   strlen(dial_rows[i].body), dial_rows[i].udp, NULL, &result, why,
                                   sizeof why),
                         dial_rows[i].end);
        if (dial_rows[i].words)
            assert_string_equal(why, dial_rows[i].words);
        if (dial_rows[i].end == DIAL_NOT_RUN) {
            assert_non_null(strstr(dial_rows[i].body, why));
            assert_true(*why);
            continue;
        }
        assert_int_equal(result.outcome, dial_rows[i].outcome);
        assert_null(strchr(why, '?')); /* the line's end is no part of it */
        assert_int_equal(result.succeeded, dial_rows[i].outcome == PROBE_OK);
        assert_int_equal(result.attempts, 1);
    }
}

/* What answered is kept as far as there is room, each once and as plain text. */
static void test_answers(void **state) {
    struct probe_result result;
    struct text t = {0};
    char why[16];

    (void)state;
    text_add(&t, "{\"responses\":[\"a\",\"a\"");
    for (unsigned i = 0; i < PROBE_ADDRESSES_MAX; i++)
        text_addf(&t, ",\"b%u\"", i);
    text_add(&t, "],\"errors\":[\"\\u001f\\u007f~ and so on and on\"]}");
    assert_int_equal(dial_read(200, text_str(&t), t.len, false, NULL, &result, why, sizeof why),
                     DIAL_ANSWERED);
    assert_string_equal(why, "??~ and so on a");
    assert_int_equal(result.succeeded, PROBE_ADDRESSES_MAX + 2);
    assert_int_equal(result.attempts, PROBE_ADDRESSES_MAX + 3);
    assert_int_equal(result.address_count, PROBE_ADDRESSES_MAX);
    assert_string_equal(result.addresses[0], "a");
    assert_string_equal(result.addresses[1], "b0");
    assert_string_equal(result.responder, "b7");
    assert_int_equal(dial_read(0, NULL, 0, false, NULL, &result, why, sizeof why), DIAL_NOT_RUN);
    assert_string_equal(why, "");
    text_free(&t);
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
        {500, "{\"message\":\"dial tcp 10.1.2.3:8080: connection refused\"}", true},
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
    struct diag_report report = {.nodes = mixed(2, 0)};
    struct diag_cell cell = {.flow = diag_flow_find("pod-to-pod-ip"), .probe.expect = "probe-2"};
    static const char right[] = "{\"responses\":[\"PROBE-2\"]}",
                      other[] = "{\"responses\":[\"probe-1\"]}",
                      strange[] = "{\"responses\":[\"nginx\"]}";

    (void)state;
    report.nodes.items[0].pod = xstrdup("probe-1");
    report.nodes.items[1].pod = xstrdup("probe-2");
    cluster_cell_count(&report, &cell, ASK_NAME, 200, right, strlen(right), false,
                       &(struct cluster_tally){0});
    assert_int_equal(cell.outcome, DIAG_PASS);
    cluster_cell_count(&report, &cell, ASK_NAME, 200, other, strlen(other), true,
                       &(struct cluster_tally){0});
    assert_int_equal(cell.outcome, DIAG_FAIL);
    assert_int_equal(cell.result.outcome, PROBE_WRONG_RESPONDER);
    cell.any = true;
    cluster_cell_count(&report, &cell, ASK_NAME, 200, other, strlen(other), true,
                       &(struct cluster_tally){0});
    assert_int_equal(cell.outcome, DIAG_SLOW);
    cluster_cell_count(&report, &cell, ASK_NAME, 200, strange, strlen(strange), true,
                       &(struct cluster_tally){0});
    assert_int_equal(cell.outcome, DIAG_FAIL);
    diag_report_free(&report);
}

struct heard {
    size_t count, question[4];
    long status[4];
    char body[4][64];
};

static void hear(struct ask *ask, const struct kube_many *answer) {
    struct heard *h = ask->queue->context;

    assert_true(h->count < 4 && answer->answer_len < sizeof h->body[0]);
    h->question[h->count] = ask->whose;
    h->status[h->count] = answer->status;
    memcpy(h->body[h->count++], answer->answer, answer->answer_len + 1);
}

/* Questions by a shell in the pod: any order of answers, an error of two lines, curl's own failure.
 */
static void test_script(void **state) {
    static const char first[] = "/api/v1/namespaces/x/pods/p:8080/proxy/dial?host=a&port=80";
    static const char second[] = "/api/v1/namespaces/x/pods/p:8080/proxy/dial?host=b'c";
    static const char out[] = "{\"responses\":[\"p\"]} 1 200\n 1 000\n{} 9 200\n{} 2 200\n"
                              "lookup x\nx0 200\n 1000000 200\nx  200\n0 200\nx200\n 000000 400\n"
                              "nothing\n{} 0 200";
    _cleanup_(freep) char *script = NULL, *digits = xstrdup("1 200\n");
    struct heard h = {0};
    _cleanup_(ask_queue_free) struct ask_queue queue = {.answered = hear, .context = &h};

    (void)state;
    assert_true(ask_add(&queue, xstrdup(first), 0, 0, 9000));
    assert_true(ask_add(&queue, xstrdup(second), 1, 0, 9000));
    assert_false(ask_add(&queue, NULL, 2, 0, 9000));
    script = ask_script_make(&queue, 1);
    assert_string_equal(script, "(x=$(curl 'http://127.0.0.1:8080/dial?host=a&port=80' -s -m 9 -w "
                                "' 0 %{http_code}'); printf '%s\\n' \"${x}\") & wait");
    ask_script_read(&queue, digits, strlen(digits)); /* nothing is read before it */
    assert_int_equal((int)h.count, 0);
    ask_script_read(&queue, out, strlen(out));
    assert_int_equal((int)h.count, 2);
    assert_int_equal((int)h.question[0], 1);
    assert_int_equal((int)h.status[0], 200);
    assert_string_equal(h.body[0], "{\"responses\":[\"p\"]}");
    assert_int_equal((int)h.question[1], 0);
    assert_int_equal((int)h.status[1], 400);
    assert_string_equal(h.body[1], "lookup x\nx0 200\n 1000000 200\nx  200\n0 200\nx200\n");
}

/* No answer in time is the DNS' fault where a name was asked. */
static void test_late(void **state) {
    struct diag_cell cells[] = {
        {.from_node = 0, .outcome = DIAG_PASS, .result.attempts = 1, .probe.target = "10.1.2.3"},
        {.from_node = 0, .outcome = DIAG_NOT_RUN, .probe.target = "backend"},
        {.from_node = 0, .outcome = DIAG_NOT_RUN, .probe.target = "fd00::1"},
    };

    (void)state;
    for (size_t i = 1; i < ARRAY_SIZE(cells); i++) {
        cluster_cell_judge_late(&cells[i]);
        assert_int_equal(cells[i].outcome, i == 1 ? DIAG_FAIL : DIAG_NOT_RUN);
    }
    assert_int_equal(cells[1].result.outcome, PROBE_DNS_TIMEOUT);
    assert_int_equal(cells[1].result.attempts, 1);
    assert_int_equal(cells[1].result.succeeded, 0);
    assert_string_equal(cells[1].reason, "the name does not resolve in time");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kind),    cmocka_unit_test(test_answers),
        cmocka_unit_test(test_choice),  cmocka_unit_test(test_nodes_read),
        cmocka_unit_test(test_dial),    cmocka_unit_test(test_responder),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_script),
        cmocka_unit_test(test_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
