/* winjoin diag on a joined node as a person sees it, its pods played: again and again with
 * --watch, and the table that fills in on a terminal. */
#include "joining_scene.h"

#include "diag/probe/probe.h"
#include "netsetup/boot_network.h"

/* What the kubelet and the probes do, each time that winjoin sleeps. */
static struct stage {
    unsigned tests;        /* begun */
    unsigned asked[2];     /* lists of this test, by pod */
    bool runs;             /* a test's pods are there */
    const char *broken[5]; /* probes that fail in each test; NULL = none */
    unsigned last;         /* after this one Ctrl-C is pressed */
    unsigned left_after;   /* after this one the node leaves the cluster; 0 = it does not */
    unsigned gone;         /* pauses since then */
} stage;

static bool is_there(const char *path) {
    return host_file_type(program->host, path) == HOST_FILE;
}

static void heartbeat(char which, const char *mailbox) {
    _cleanup_(freep) char *manifest =
        xasprintf("C:\\etc\\kubernetes\\manifests\\winjoin-probe-%c.json", which);
    _cleanup_(freep) char *path = xasprintf("%s\\heartbeat.txt", mailbox);
    _cleanup_(freep) char *stop = xasprintf("%s\\stop", mailbox), *pod = NULL, *text = NULL;
    _cleanup_json_ json_t *json = NULL;
    size_t len;

    if (is_there(stop)) {
        assert_int_equal(host_remove(program->host, path, NULL), 0);
        return;
    }
    if (!is_there(manifest) || is_there(path))
        return;
    assert_int_equal(host_read(program->host, manifest, 100000, &pod, &len, NULL), 0);
    assert_int_equal(json_read(pod, len, "Pod", &json, NULL), 0);
    /* nobody listens there: the node's own probes are refused at once */
    text = xasprintf("winjoin-heartbeat 1\nname winjoin-probe-%c\nrun %s\nhost h\naddresses "
                     "0.0.0.0\nbeat 1\ntcp 1\nudp 1\nend\n",
                     which, json_text_at(json, "spec.containers.0.command.11"));
    put(path, text);
}

static void answer(const char *mailbox, unsigned *asked) {
    _cleanup_(freep) char *go = xasprintf("%s\\go-%u", mailbox, *asked + 1);
    _cleanup_(freep) char *path = xasprintf("%s\\results-%u.txt", mailbox, *asked + 1);
    _cleanup_(freep) char *questions = xasprintf("%s\\probes.txt", mailbox);
    _cleanup_(freep) char *text = NULL, *reply = NULL;
    _cleanup_(probe_results_free) struct probe_results results = {0};
    _cleanup_(probe_list_free) struct probe_list list = {0};
    const char *broken = stage.broken[stage.tests - 1];
    size_t len;

    if (!is_there(go))
        return;
    ++*asked;
    assert_int_equal(host_read(program->host, questions, 100000, &text, &len, NULL), 0);
    assert_int_equal(probe_list_parse(text, len, &list, NULL), 0);
    for (size_t i = 0; i < list.count; i++) {
        bool fails = broken && text_starts_with(list.items[i].id, broken);
        struct probe_result result = {.outcome = fails ? PROBE_TIMEOUT : PROBE_OK,
                                      .attempts = 3,
                                      .succeeded = fails ? 0 : 3,
                                      .median_us = fails ? 0 : 400};

        memcpy(result.id, list.items[i].id, sizeof result.id);
        probe_results_add(&results, &result);
    }
    reply = probe_results_write(&results);
    put(path, reply);
}

static void play(void *context, struct host *host) {
    bool there = is_there("C:\\etc\\kubernetes\\manifests\\winjoin-probe-a.json");

    (void)context;
    if (there && !stage.runs) {
        stage.tests++;
        stage.asked[0] = stage.asked[1] = 0;
    }
    stage.runs = there;
    if (!there && stage.tests == stage.left_after && stage.left_after && !stage.gone++) {
        assert_int_equal(host_remove(host, BOOT_NETWORK_FILE, NULL), 0);
        assert_int_equal(host_remove(host, "C:\\etc\\kubernetes\\kubelet.conf", NULL), 0);
    }
    if (!there && (stage.tests == stage.last || stage.gone == 4))
        host_memory_interrupt(host);
    if (!stage.tests)
        return;
    for (unsigned i = 0; i < 2; i++) {
        _cleanup_(freep) char *mailbox =
            xasprintf("C:\\ProgramData\\winjoin\\probe\\%c", (char)('a' + i));

        heartbeat((char)('a' + i), mailbox);
        answer(mailbox, &stage.asked[i]);
    }
}

static int open_diag(void **state) {
    static const char *const started[] = {"containerd", "kubelet", "kube-proxy"};
    int result = open_joining(state);

    words("10.0.0.10:6443");
    succeeds(verb_join);
    freep(&program->options.join.verify);
    text_list_free(&program->words);
    for (size_t i = 0; i < ARRAY_SIZE(started); i++)
        host_memory_set_service_state(program->host, started[i], HOST_SERVICE_RUNNING);
    host_memory_advance(program->host, 3600 * 1000);
    program->verb = verb_find("diag");
    stage = (struct stage){.last = 1};
    host_memory_on_sleep(program->host, play, NULL);
    return result;
}

#define DIAG_TEST(name) cmocka_unit_test_setup_teardown(name, open_diag, close_joining)

/* ---- again and again ---- */

static size_t count_of(const char *text, const char *part) {
    size_t n = 0;

    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

/* The whole report once, then what changed alone, and what hinders a test once; until Ctrl-C, which
 * is no failure. */
static void what_changes_is_told(void **state) {
    static const char *const lines[] = {"flow  ",
                                        "  pod-to-service-ip/tcp: fail, was pass (timeout",
                                        "  pod-to-service-ip/tcp: pass, was fail"};
    struct error err;
    const char *at;

    (void)state;
    stage.last = 4;
    stage.broken[1] = stage.broken[2] = "pod-to-service-ip.tcp";
    program->options.watch = 30000;
    if (verb(verb_diag, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(stage.tests, 4);
    at = text_str(&out);
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        if (!strstr(at, lines[i]))
            fail_msg("no '%s' in\n%s", lines[i], text_str(&out));
        at = strstr(at, lines[i]) + 1;
    }
    assert_int_equal(count_of(text_str(&out), "flow  "), 1);
    assert_int_equal(count_of(text_str(&out), " was "), 2); /* nothing is told twice */
    assert_int_equal(count_of(text_str(&out), " flows work, TCP and UDP, "), 2);
}

static void a_line_is_an_object(void **state) {
    static const bool good[] = {false, false, false};
    _cleanup_(text_list_free) struct text_list lines = {0};
    struct error err;

    (void)state;
    stage.last = 3;
    stage.broken[1] = "pod-to-service-ip.tcp";
    program->options.watch = 30000;
    program->options.output = (char *)"json";
    assert_int_equal(verb(verb_diag, &err), 0);
    text_list_split(&lines, text_str(&out), '\n');
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        _cleanup_json_ json_t *line = json_loads(lines.items[i], 0, NULL);

        assert_non_null(line);
        assert_int_equal(json_bool_at(line, "good", true), good[i]);
        assert_int_equal(json_array_size(json_object_get(line, "cells")) != 0, true);
    }
}

/* What hinders the first test is the end of it; a later one is told once, however often. */
static void a_test_that_cannot_be_made(void **state) {
    struct error err;

    stage.last = 0;
    stage.left_after = 1;
    program->options.watch = 30000;
    assert_int_equal(verb(verb_diag, &err), 0);
    assert_int_equal(stage.tests, 1);
    assert_int_equal(stage.gone, 4);
    assert_int_equal(count_of(text_str(&out), "  not measured: "), 1);
    close_joining(state);
    open_diag(state);
    assert_int_equal(host_remove(program->host, BOOT_NETWORK_FILE, NULL), 0);
    assert_int_equal(host_remove(program->host, "C:\\etc\\kubernetes\\kubelet.conf", NULL), 0);
    program->options.watch = 30000;
    assert_int_equal(verb(verb_diag, &err), -1);
    assert_false(has(&out, "not measured"));
}

/* ---- what is shown meanwhile ---- */

static void the_table_fills_in(void **state) {
    static const struct {
        unsigned columns, lines;
        bool color, shown;
        const char *progress;
    } rows[] = {
        {100, 24, true, true, NULL},     {100, 12, true, true, NULL},   /* as high as it is */
        {100, 11, true, false, NULL},    {100, 24, false, false, NULL}, /* TERM=dumb */
        {100, 24, true, false, "plain"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *last, *gone;
        struct error err;

        if (i) {
            close_joining(state);
            open_diag(state);
        }
        stage.broken[0] = "pod-to-service-ip.tcp";
        program->options.progress = (char *)rows[i].progress;
        program->terminal = (struct terminal){.err_is_terminal = true,
                                              .color = rows[i].color,
                                              .columns = rows[i].columns,
                                              .lines = rows[i].lines};
        assert_int_equal(verb(verb_diag, &err), -1);
        assert_int_equal(err.kind, ERROR_FLOWS);
        for (size_t k = 0; k < 3; k++) {
            static const char *const shown[] = {"\n  pod-to-service-ip         waiting  waiting\n",
                                                "\n  pod-to-service-ip         running  running\n",
                                                "\n  pod-to-service-ip         fails    works\n"};

            if (has(&err_out, shown[k]) != rows[i].shown)
                fail_msg("row %zu: %s: %s", i, shown[k], text_str(&err_out));
        }
        /* The last one is taken away before the phase's end is told. */
        if (rows[i].shown && (!(last = strstr(text_str(&err_out), "  works\n")) ||
                              !(gone = strstr(last, "A\x1b[J")) || !strstr(gone, "failed")))
            fail_msg("row %zu: %s", i, text_str(&err_out));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIAG_TEST(what_changes_is_told),
        DIAG_TEST(a_line_is_an_object),
        DIAG_TEST(a_test_that_cannot_be_made),
        DIAG_TEST(the_table_fills_in),
    };

    return cmocka_run_group_tests_name("verb_diag", tests, NULL, free_output);
}
