/* winjoin diag on a joined node as a person sees it, its pods played: again and again with
 * --watch, and the table that fills in on a terminal. */
#include "tests/scene/played_pods_scene.h"

#include "services/runtime_files.h"

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
    _cleanup_(text_list_free) struct text_list reports = {0};
    struct error err;
    const char *at;

    (void)state;
    stage.last = 4;
    stage.broken[1] = stage.broken[2] = "pod-to-service-ip.tcp";
    program->options.watch = 30000;
    if (verb(verb_diag, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(stage.tests, 4);
    assert_int_equal(host_list(program->host, REPORTS_FOLDER, &reports, NULL), 0);
    assert_int_equal(reports.count, 2); /* of the first, and of the join */
    assert_true(text_starts_with(reports.items[0], "diag-"));
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

/* Where a flow fails, a file that is not as the join wrote it is in the report. */
static void what_was_changed_is_told(void **state) {
    struct error err;

    (void)state;
    put(KUBE_PROXY_CONFIG_PATH, "{}");
    stage.broken[0] = "pod-to-service-pqdn.udp";
    program->options.watch = 30000;
    program->options.output = (char *)"json";
    assert_int_equal(verb(verb_diag, &err), 0);
    if (!has(&out, "its content differs") || !has(&out, "winjoin join phase kube-proxy"))
        fail_msg("%s", text_str(&out));
}

/* What hinders the first test is the end of it; a later one is told once, however often. */
static void a_test_that_cannot_be_made(void **state) {
    struct error err;

    for (int json = 0; json < 2; json++) {
        stage.last = 0;
        stage.left_after = 1;
        program->options.watch = 30000;
        program->options.output = json ? (char *)"json" : NULL;
        assert_int_equal(verb(verb_diag, &err), 0);
        assert_int_equal(stage.tests, 1);
        assert_int_equal(stage.gone, 4);
        assert_int_equal(count_of(text_str(&out), "  not measured: "), !json);
        assert_int_equal(count_of(text_str(&out), "\"error\":"), json);
        close_joining(state);
        open_diag(state);
    }
    assert_int_equal(host_remove(program->host, CHOSEN_FILE, NULL), 0);
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

/* A node's evidence holds what ordinary users of the server may not read, and not all of its
 * secrets are known. */
static void the_evidence_is_for_administrators(void **state) {
    _cleanup_(freep) char *access = NULL;
    struct error err;

    (void)state;
    stage.last = 2; /* so that this one is not interrupted */
    program->options.collect = (char *)"D:\\diag.zip";
    (void)verb(verb_diag, &err); /* whatever became of the test */
    access = host_memory_access(program->host, "D:\\diag.zip");
    assert_string_equal(access, "secret");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DIAG_TEST(what_changes_is_told),     DIAG_TEST(a_line_is_an_object),
        DIAG_TEST(what_was_changed_is_told), DIAG_TEST(a_test_that_cannot_be_made),
        DIAG_TEST(the_table_fills_in),       DIAG_TEST(the_evidence_is_for_administrators),
    };

    return cmocka_run_group_tests_name("verb_diag", tests, NULL, free_output);
}
