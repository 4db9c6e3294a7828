/* Probes that the API server does not reach, asked by exec: a pod's shell as the kubelet runs it,
 * which puts the questions to its own netexec. */
#include "tests/scene/cluster_scene.h"

#include "base/base64.h"
#include "diag/cluster/probes/asking.h"
#include "pki/digest.h"

static struct shell {
    unsigned runs;        /* of a shell in probe-2 */
    char container[32];   /* that the last one ran in */
    bool refuses, silent; /* silent: its netexec answers nothing */
    unsigned lasts;       /* runs: behind these it refuses; 0: for ever */
    unsigned interrupts;  /* Ctrl-C in this run; 0: in none */
    struct text answer;
    size_t at;
} shell;

/* What stands percent-encoded from `text` to `end`. */
static char *decoded(const char *text, char end) {
    struct text plain = {0};

    for (; *text && *text != end; text++) {
        char digits[3] = {0};

        if (*text == '%') {
            memcpy(digits, text + 1, 2);
            text_add_char(&plain, (char)strtoul(digits, NULL, 16));
            text += 2;
        } else {
            text_add_char(&plain, *text);
        }
    }
    return text_take(&plain);
}

/* The script's questions, answered as the pod's netexec does: BODY NUMBER STATUS. */
static void run_lane(const char *script, struct text *said) {
    static const char ask[] = "curl 'http://127.0.0.1:";

    for (const char *at = script; (at = strstr(at, ask)); at++) {
        static const char fill[] = "'$(printf %0";
        const char *port = at + strlen(ask), *path = strchr(port, '/') + 1,
                   *end = strchr(path, '\'');
        bool large = text_starts_with(end, fill);
        int zeros = large ? (int)strtol(end + strlen(fill), NULL, 10) : 0;
        const char *rest = large ? strstr(end, "d 0)'") + strlen("d 0)'") : end;
        _cleanup_(freep) char *filled = large ? xasprintf("%0*d", zeros, 0) : xstrdup("");
        _cleanup_(freep) char *url =
            xasprintf("/pods/probe-2:%.*s/proxy/%.*s%s%.*s", (int)(path - 1 - port), port,
                      (int)(end - path), path, filled, (int)strcspn(rest, "'"), rest);
        _cleanup_(freep) char *body = NULL;
        long status = proxied(url, &body);

        text_addf(said, "%s %lu %ld\n", shell.silent ? "" : body,
                  strtoul(strstr(end, "-w ' ") + 5, NULL, 10), shell.silent ? 0 : status);
    }
}

/* "for lane in 1 2 3; do ...": so often. */
static void run_script(const char *script, struct text *said) {
    static const char lanes[] = "for lane in ";
    unsigned long times = 1;

    if (text_starts_with(script, lanes)) {
        times = (unsigned long)(strchr(script, ';') - script - (ptrdiff_t)strlen(lanes) + 1) / 2;
        assert_non_null(strstr(script, " & done; wait "));
    }
    text_add_char(said, 1); /* channel of standard output */
    while (times--)
        run_lane(script, said);
}

static void frame(const struct text *said) {
    text_add_char(&shell.answer, (char)0x82);
    text_add_char(&shell.answer, 127); /* the length follows, eight bytes long */
    for (int i = 7; i >= 0; i--)
        text_add_char(&shell.answer, (char)((uint64_t)said->len >> (8 * i)));
    text_add_bytes(&shell.answer, text_str(said), said->len);
}

/* The opening is answered as RFC 6455 says, the command with its output and its end. */
static void answer_opening(const char *head) {
    const char *key = strstr(head, "Sec-WebSocket-Key: ") + strlen("Sec-WebSocket-Key: ");
    _cleanup_(freep) char *whole =
        xasprintf("%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)strcspn(key, "\r"), key);
    _cleanup_(freep) char *accept = NULL, *script = NULL;
    unsigned char digest[DIGEST_SHA1_LEN];
    struct text said = {0};

    assert_non_null(strstr(head, "/pods/probe-2/exec?"));
    script = decoded(strstr(head, "command=-c&command=") + strlen("command=-c&command="), '&');
    parameter(head, "container", shell.container, sizeof shell.container);
    digest_sha1(whole, strlen(whole), digest);
    accept = base64_encode(digest, sizeof digest);
    text_addf(&shell.answer,
              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n",
              accept);
    run_script(script, &said);
    assert_true(said.len > 1);
    frame(&said);
    text_clear(&said);
    text_add(&said, "\x03{\"status\":\"Success\"}");
    assert_int_equal(said.data[0], 3);
    frame(&said);
    text_add_bytes(&shell.answer, "\x88\x00", 2); /* the end */
    text_free(&said);
}

static bool one_unreached(const struct dial *d, long *ret_status, const char **ret_body) {
    *ret_status = 503;
    *ret_body = "{\"kind\":\"Status\",\"message\":\"error trying to reach service: timeout\"}";
    return d->from == 2;
}

static const char *say(void *context, const struct text *said, size_t *ret_len) {
    bool (*before)(const struct dial *dial, long *ret_status, const char **ret_body) = c.dialed;

    (void)context;
    if (shell.at == shell.answer.len) {
        text_clear(&shell.answer);
        shell.at = 0;
        shell.runs++;
        c.dialed = before == one_unreached ? NULL : before; /* inside the pod */
        shell.refuses |= shell.lasts && shell.runs > shell.lasts;
        if (shell.runs == shell.interrupts)
            host_memory_interrupt(c.host);
        if (!shell.refuses)
            answer_opening(text_str(said));
        c.dialed = before;
    }
    *ret_len = shell.refuses ? 1 : shell.answer.len;
    shell.at = shell.answer.len;
    return shell.refuses ? NULL : text_str(&shell.answer);
}

static int open_shell(void **state) {
    shell = (struct shell){0};
    open_cluster(state);
    http_memory_on_talk(c.http, say, NULL);
    c.dialed = one_unreached;
    return 0;
}

static int close_shell(void **state) {
    text_free(&shell.answer);
    return close_cluster(state);
}

/* ---- what comes of it ---- */

static void all_is_answered_by_the_pod(void **state) {
    const struct cluster_node *node;
    struct error err;
    size_t seen = 0;

    (void)state;
    assert_int_equal(diagnose(&err), 0);
    node = &c.report.nodes.items[1];
    assert_true(node->by_exec);
    assert_string_equal(node->unreached, "error trying to reach service: timeout");
    assert_int_equal(shell.runs, 1);
    assert_string_equal(shell.container, "neighbor");
    assert_string_equal(node->servers, "10.96.0.10");
    for (size_t i = 0; i < c.report.cells.count; i++) {
        const struct diag_cell *cell = &c.report.cells.items[i];

        if (cell->from_node == 1 && cell->outcome != DIAG_PASS)
            fail_msg("%s: %d %s", cell->flow->name, (int)cell->outcome,
                     cell->reason ? cell->reason : "");
    }
    assert_int_equal(cells_with(DIAG_PASS), c.report.cells.count);
    for (size_t i = 0; i < c.paths.count; i++)
        seen += strstr(c.paths.items[i], "probe-2:8080") &&
                strstr(c.paths.items[i], "request=clientip");
    assert_true(seen <= 4); /* soon after each other; none once it is known */
    assert_false(c.report.nodes.items[0].by_exec);
    assert_int_equal(c.report.requests, http_memory_requests(c.http));
}

static bool refused_inside(const struct dial *d, long *ret_status, const char **ret_body) {
    if (d->from == 2 && shell.runs == 0)
        return one_unreached(d, ret_status, ret_body);
    *ret_body = "{\"errors\":[\"connect: connection refused\"]}";
    return d->from == 2 && text_equal(d->host, "10.244.3.5") && !d->udp;
}

/* Its answers go to the cells that were asked for, and to no other's. */
static void a_flow_that_fails_in_the_pod(void **state) {
    struct error err;
    size_t failed = 0;

    (void)state;
    c.dialed = refused_inside;
    assert_int_equal(diagnose(&err), 0);
    for (size_t i = 0; i < c.report.cells.count; i++) {
        const struct diag_cell *cell = &c.report.cells.items[i];

        if (cell->outcome == DIAG_PASS)
            continue;
        failed++;
        assert_int_equal(cell->from_node, 1);
        assert_int_equal(cell->to_node, 2);
        assert_int_equal(cell->outcome, DIAG_FAIL);
        assert_false(cell->udp);
        assert_string_equal(cell->reason, "connection refused");
    }
    assert_int_equal(failed, 1);
    assert_int_equal(shell.runs, 2); /* what failed is asked again */
}

static bool large_lost_inside(const struct dial *d, long *ret_status, const char **ret_body) {
    if (d->from == 2 && shell.runs == 0)
        return one_unreached(d, ret_status, ret_body);
    *ret_body = "{\"errors\":[\"the test's: i/o timeout\"]}";
    return d->from == 2 && text_equal(d->host, "10.244.3.5") && d->large;
}

static void large_packets_that_are_lost_in_the_pod(void **state) {
    struct error err;
    size_t lost = 0;

    (void)state;
    c.dialed = large_lost_inside;
    assert_int_equal(diagnose(&err), 0);
    for (size_t i = 0; i < c.report.cells.count; i++) {
        const struct diag_cell *cell = &c.report.cells.items[i];

        lost += cell->large == LARGE_LOST;
        assert_true(cell->large != LARGE_LOST || (cell->from_node == 1 && cell->to_node == 2));
    }
    assert_int_equal(lost, 2); /* by TCP and by UDP */
}

static void a_pod_whose_netexec_is_silent(void **state) {
    struct error err;

    (void)state;
    shell.silent = true;
    assert_int_equal(diagnose(&err), 0);
    assert_true(c.report.nodes.items[1].by_exec);
    assert_int_equal(cell_of("pod-to-pod-ip", false, "win-2", 0)->outcome, DIAG_NOT_RUN);
    assert_null(c.report.nodes.items[1].servers);
    assert_false(diag_report_is_good(&c.report));
}

static void exec_that_fails(void **state) {
    const struct cluster_node *node;
    struct error err;

    (void)state;
    shell.refuses = true;
    assert_int_equal(diagnose(&err), 0);
    node = &c.report.nodes.items[1];
    assert_false(node->by_exec);
    assert_true(text_starts_with(node->unreached,
                                 "error trying to reach service: timeout; nor by exec: run a "));
    assert_true(text_ends_with(node->unreached, "the server hung up"));
    for (unsigned i = 0; i < 2; i++) {
        const struct diag_cell *cell = cell_of("pod-to-pod-ip", i, "win-2", 0);

        assert_int_equal(cell->outcome, DIAG_NOT_RUN);
        assert_true(text_starts_with(cell->reason,
                                     "the API server does not reach the probe: error trying to "));
        assert_true(text_ends_with(cell->reason, "the server hung up"));
    }
    assert_int_equal(cell_of("pod-to-pod-ip", false, "win-1", 0)->outcome, DIAG_PASS);
    assert_int_equal(cell_of("node-to-pod", false, "win-2", 0)->outcome, DIAG_PASS);
    assert_false(diag_report_is_good(&c.report));
}

static bool slow_shell(const struct dial *d, long *ret_status, const char **ret_body) {
    *ret_status = 503;
    *ret_body = "{\"kind\":\"Status\",\"message\":\"error trying to reach service: timeout\"}";
    return d->from != 0;
}

/* Each node's cells say what failed in its own pod. */
static void two_whose_exec_fails(void **state) {
    struct error err;
    size_t unasked[3] = {0};

    (void)state;
    shell.refuses = true;
    c.dialed = slow_shell;
    assert_int_equal(diagnose(&err), 0);
    for (size_t i = 0; i < c.report.cells.count; i++) {
        const struct diag_cell *cell = &c.report.cells.items[i];
        const char *why = c.report.nodes.items[cell->from_node].unreached;

        if (cell->outcome == DIAG_NOT_RUN && !(cell->flow->is & FLOW_FROM_NODE)) {
            assert_non_null(why);
            assert_non_null(strstr(cell->reason, why));
            unasked[cell->from_node]++;
        }
    }
    assert_true(unasked[0] && unasked[1] && unasked[2]);
}

static const char *stop(void *context, const struct text *said, size_t *ret_len) {
    (void)context, (void)said;
    shell.runs++;
    host_memory_interrupt(c.host); /* and this one still fails in its own way */
    *ret_len = 1;
    return NULL;
}

static void interrupted_meanwhile(void **state) {
    struct error err;

    (void)state;
    c.dialed = slow_shell;
    http_memory_on_talk(c.http, stop, NULL);
    assert_int_equal(diagnose(&err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_non_null(strstr(text_str(&c.log), "\nDELETE /api/v1/namespaces/winjoin-diag-"));
}

static const char *hang(void *context, const struct text *said, size_t *ret_len) {
    (void)context, (void)said;
    shell.runs++;
    host_memory_advance(c.host, 46000);
    *ret_len = 1;
    return NULL;
}

static const char *hang_up(void *context, const struct text *said, size_t *ret_len) {
    (void)context, (void)said;
    shell.runs++;
    *ret_len = 1;
    return NULL;
}

/* 32 at the same time; all of them together have three quarters of a minute. */
static void shells_that_take_too_long(void **state) {
    struct diag_report report = {.namespace_ = xstrdup("n")};

    (void)state;
    report.nodes.items = xcalloc(40, sizeof *report.nodes.items);
    for (; report.nodes.count < 40; report.nodes.count++) {
        report.nodes.items[report.nodes.count].pod = xstrdup("p");
        report.nodes.items[report.nodes.count].unreached = xstrdup("timeout");
    }
    http_memory_on_talk(c.http, hang, NULL);
    (void)cluster_ask_by_exec(&c.client, &report, EXEC_NODES);
    assert_int_equal(shell.runs, 32);
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(strstr(report.nodes.items[i].unreached, "; nor by exec: ") != NULL,
                         i < 32);
    http_memory_on_talk(c.http, hang_up, NULL);
    (void)cluster_ask_by_exec(&c.client, &report, EXEC_NODES);
    assert_int_equal(shell.runs, 32 + 40); /* each once */
    diag_report_free(&report);
}

/* ---- many times ---- */

static struct {
    const char *host, *body; /* of UDP that is asked several times: "10.244.3.5", ... */
    long status;
} counted;

static bool answers_in_part(const struct dial *d, long *ret_status, const char **ret_body) {
    if (d->from == 2 && shell.runs == 0)
        return one_unreached(d, ret_status, ret_body);
    *ret_status = counted.status;
    *ret_body = counted.body;
    return d->from == 2 && d->udp && d->tries == 2 && text_starts_with(d->host, counted.host);
}

/* --count 7: twice in each of three questions, then once. What the shell and curl take says nothing
 * of latency. */
static void each_cell_is_counted(void **state) {
    static const struct {
        const char *host, *body;
        long status;
        const char *flow;
        unsigned attempts, succeeded;
        enum probe_outcome outcome;
    } rows[] = {
        {"10.244.3.5", "{\"responses\":[\"probe-3\"],\"errors\":[\"i/o timeout\"]}", 200,
         "pod-to-pod-ip", 7, 4, PROBE_NO_REPLY},
        {"10.244.3.5", "{\"responses\":[\"probe-1\",\"PROBE-3\"]}", 200, "pod-to-pod-ip", 7, 4,
         PROBE_WRONG_RESPONDER},
        {"10.96.0.1", "{\"responses\":[\"probe-1\",\"IIS\"]}", 200, "pod-to-service-ip", 7, 4,
         PROBE_WRONG_RESPONDER},
        {"probe-3.", "lookup probe-3: no such host", 400, "pod-to-pod-name", 6, 0,
         PROBE_DNS_NXDOMAIN}, /* and hopeless then */
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err;
        size_t red = 0;

        close_shell(state);
        open_shell(state);
        c.options.count = 7;
        c.dialed = answers_in_part;
        counted.host = rows[i].host;
        counted.body = rows[i].body;
        counted.status = rows[i].status;
        assert_int_equal(diagnose(&err), 0);
        assert_int_equal(shell.runs, 3);
        assert_int_equal(c.report.requests, http_memory_requests(c.http));
        for (size_t k = 0; k < c.report.cells.count; k++) {
            const struct diag_cell *cell = &c.report.cells.items[k];
            const struct probe_result *r = &cell->result;
            bool whole = cell->outcome != DIAG_FAIL;

            if (cell->from_node != 1 || cell->flow->is & FLOW_FROM_NODE)
                continue;
            red += !whole;
            assert_true(cell->counted);
            assert_int_equal(r->attempts, whole ? 7 : rows[i].attempts);
            assert_int_equal(r->succeeded, whole ? 7 : rows[i].succeeded);
            if (whole)
                continue;
            assert_string_equal(cell->flow->name, rows[i].flow);
            assert_int_equal(r->outcome, rows[i].outcome);
        }
        assert_int_equal(red, 1);
    }
}

static void exec_that_fails_while_it_counts(void **state) {
    struct error err;

    (void)state;
    c.options.count = 20;
    shell.lasts = 1;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(shell.runs, 2);
    assert_true(c.report.nodes.items[1].by_exec);
    assert_string_equal(c.report.nodes.items[1].unreached,
                        "error trying to reach service: timeout");
    assert_false(cell_of("pod-to-pod-ip", false, "win-2", 0)->counted);
    assert_int_equal(cell_of("pod-to-pod-ip", false, "win-2", 0)->outcome, DIAG_PASS);
    assert_true(cell_of("pod-to-pod-ip", false, "win-1", 0)->counted);
}

static void ctrl_c_while_it_counts(void **state) {
    struct error err;

    (void)state;
    c.options.count = 100;
    shell.interrupts = 2;
    assert_int_equal(diagnose(&err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_int_equal(shell.runs, 2);
    assert_non_null(strstr(text_str(&c.log), "\nDELETE /api/v1/namespaces/winjoin-diag-"));
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_shell, close_shell)
    const struct CMUnitTest tests[] = {CASE(all_is_answered_by_the_pod),
                                       CASE(a_flow_that_fails_in_the_pod),
                                       CASE(large_packets_that_are_lost_in_the_pod),
                                       CASE(a_pod_whose_netexec_is_silent),
                                       CASE(exec_that_fails),
                                       CASE(two_whose_exec_fails),
                                       CASE(shells_that_take_too_long),
                                       CASE(interrupted_meanwhile),
                                       CASE(each_cell_is_counted),
                                       CASE(exec_that_fails_while_it_counts),
                                       CASE(ctrl_c_while_it_counts)};

    return cmocka_run_group_tests_name("a cluster's probes by exec", tests, NULL, NULL);
}
