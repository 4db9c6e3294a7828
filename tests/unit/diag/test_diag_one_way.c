/* Both directions between two pods are asked, and cells are told as they become known. */
#include "tests/scene/diag_run_scene.h"

/* Each table that was told, its cells as letters: w(aiting), r(unning), w(o)rks, f(ails),
 * s(kipped), n(ot run), a(gain). */
static void keep_states(void *context, const struct diag_cells *cells, bool begun) {
    struct stage *stage = context;
    struct text_list lines = {0};

    diag_cells_progress(cells, begun, &lines);
    assert_string_equal(lines.items[0], "                          TCP      UDP");
    for (size_t i = 1; i < lines.count; i++) {
        const char *tcp = lines.items[i] + 26, *udp = tcp + 9;

        text_add_char(&stage->told, text_starts_with(tcp, "works") ? 'o' : *tcp);
        text_add_char(&stage->told, text_starts_with(udp, "works") ? 'o' : *udp);
    }
    text_add_char(&stage->told, '\n');
    text_list_free(&lines);
}

/* What is known when: nothing, then all of it runs but for what cannot be asked, what the pods say,
 * what the node measured itself; what fails is asked again. */
static void cells_are_told_as_they_are_known(void **state) {
    struct stage stage = {.start_a = true,
                          .start_b = true,
                          .generation = 1,
                          .broken = "pod-to-external-ip.tcp",
                          .broken_until = 2};
    struct diag_options options = options_make(&stage);
    struct host *host = host_memory_new();
    struct diag_report report = {0};

    (void)state;
    host_memory_on_sleep(host, play, &stage);
    options.progress = NULL;
    options.cells = keep_states;
    assert_int_equal(diag_run(host, &options, &report, NULL), 0);
    assert_string_equal(text_str(&stage.told), "wwwwwwwwwwwwwwwwww\n"
                                               "rrrrrrrrrrrrrrrrnn\n"
                                               "oooooooooofooorrnn\n"
                                               "oooooooooofooooonn\n"
                                               "ooooooooooaooooonn\n"
                                               "oooooooooooooooonn\n");
    assert_clean(host);
    text_free(&stage.told);
    diag_report_free(&report);
    host_free(host);
}

/* Both directions between the pods are asked at the same time; the one that fails alone is named.
 */
static void the_other_way_is_asked(void **state) {
    static const struct {
        const char *broken, *reason;
        enum diag_one_way one_way;
        bool mute;
    } rows[] = {
        {"x-back-tcp",
         "timeout, 2 attempts, from winjoin-probe-b to winjoin-probe-a; the other way "
         "it works",
         DIAG_ONE_WAY_BACK, false},
        {"pod-to-pod-ip.tcp",
         "timeout, 2 attempts, from winjoin-probe-a to winjoin-probe-b; the "
         "other way it works",
         DIAG_ONE_WAY_THERE, false},
        {"nothing", "", DIAG_ONE_WAY_NONE,
         true}, /* the second pod does not answer: its way is unknown */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct stage stage = {.start_a = true,
                              .start_b = true,
                              .generation = 1,
                              .broken = rows[i].broken,
                              .mute_b = rows[i].mute};
        struct diag_options options = options_make(&stage);
        struct host *host = host_memory_new();
        struct diag_report report = {0};
        const struct diag_cell *cell, *udp;

        host_memory_on_sleep(host, play, &stage);
        assert_int_equal(diag_run(host, &options, &report, NULL), 0);
        cell = diag_cells_find(&report.cells, FLOW_POD_IP, false, false);
        udp = diag_cells_find(&report.cells, FLOW_POD_IP, true, false);
        assert_string_equal(cell->reason, rows[i].reason);
        assert_int_equal(cell->one_way, rows[i].one_way);
        assert_int_equal(cell->outcome, *rows[i].reason ? DIAG_FAIL : DIAG_PASS);
        assert_int_equal(udp->outcome, DIAG_PASS);
        assert_int_equal(udp->one_way, DIAG_ONE_WAY_NONE);
        assert_int_equal(strstr(text_str(&stage.told), "winjoin-probe-b did not answer") != NULL,
                         rows[i].mute);
        if (*rows[i].reason)
            assert_non_null(json_at(report.evidence, "extra.x-back-tcp"));
        assert_clean(host);
        text_free(&stage.told);
        diag_report_free(&report);
        host_free(host);
    }
}

/* Of two pods, what works from the one and not from the other. */
static void one_direction_alone(void **state) {
    const struct probe_result ok = {.outcome = PROBE_OK, .attempts = 3, .succeeded = 3};
    const struct probe_result lost = {.outcome = PROBE_TIMEOUT, .attempts = 2};
    const struct {
        const struct probe_result *there, *back;
        enum diag_one_way one_way;
        const char *line;
    } rows[] = {
        {&ok, &ok, DIAG_ONE_WAY_NONE, NULL},
        {&lost, &lost, DIAG_ONE_WAY_NONE, NULL},
        {&ok, &lost, DIAG_ONE_WAY_BACK,
         "\npod-to-pod-ip/tcp: timeout, 2 attempts, from b to a; the other way it works\n"},
        {&lost, &ok, DIAG_ONE_WAY_THERE,
         "\npod-to-pod-ip/tcp: timeout, 2 attempts, from a to b; the other way it works\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct diag_flow_input input = {
            .source = "a", .target = "b", .source_ip = "10.244.3.4", .target_ip = "10.244.3.5"};
        _cleanup_(diag_report_free) struct diag_report report = {0}, again = {0};
        _cleanup_json_ json_t *json = NULL;
        _cleanup_(freep) char *text = NULL, *written = NULL;
        struct diag_cell *cell;

        diag_cells_make(&input, &report.cells);
        cell = diag_cells_find(&report.cells, FLOW_POD_IP, false, false);
        diag_cell_judge(cell, rows[i].there, false);
        diag_cell_judge_back(cell, rows[i].back, false);
        assert_int_equal(cell->outcome, i ? DIAG_FAIL : DIAG_PASS);
        text = diag_report_text(&report, &(struct diag_text_style){0});
        if (rows[i].line ? !strstr(text, rows[i].line) : !!strstr(text, "the other way"))
            fail_msg("row %zu: %s", i, text);
        json = diag_report_json(&report);
        written = json_write(json);
        assert_int_equal(diag_report_read(written, strlen(written), NODE_REPORT_KIND, &again, NULL),
                         0);
        assert_int_equal(diag_cells_find(&again.cells, FLOW_POD_IP, false, false)->one_way,
                         rows[i].one_way);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_told_as_they_are_known),
        cmocka_unit_test(the_other_way_is_asked),
        cmocka_unit_test(one_direction_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
