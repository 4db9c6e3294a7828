/* Progress for programs: one JSON object a line, with the documented keys and no others. */
#include "tests/scene/program_scene.h"

#include "cmd/program.h"
#include "join/phases/phases.h"

static const struct join_phase certificate = {.id = "certificate", .title = "certificate"};

static void expect(struct join_event event, const char *line) {
    char *found;

    event.message = event.message ? event.message : "";
    event.hint = event.hint ? event.hint : "";
    found = progress_json(&event, 1795255204);
    assert_string_equal(found, line);
    free(found);
}

#define AT "{\"time\":\"2026-11-21T10:00:04Z\",\"phase\":\"certificate\",\"state\":"

static void each_state_has_its_keys(void **state) {
    (void)state;
    expect((struct join_event){.state = JOIN_BEGIN, .phase = &certificate}, AT "\"started\"}");
    expect((struct join_event){.state = JOIN_WAITING,
                               .phase = &certificate,
                               .message = "csr-x7k2p pending",
                               .waited_ms = 25000},
           AT "\"waiting\",\"message\":\"csr-x7k2p pending\",\"waitedSeconds\":25.0}");
    expect((struct join_event){.state = JOIN_WAITING,
                               .phase = &certificate,
                               .message = "m",
                               .hint = "kubectl certificate approve csr-x7k2p",
                               .waited_ms = 500,
                               .left_ms = 1500},
           AT "\"waiting\",\"message\":\"m\",\"hint\":\"kubectl certificate approve csr-x7k2p\","
              "\"waitedSeconds\":0.5,\"leftSeconds\":1.5}");
    expect((struct join_event){.state = JOIN_WARNING, .phase = &certificate, .message = "w"},
           AT "\"warning\",\"message\":\"w\"}");
    expect(
        (struct join_event){
            .state = JOIN_DONE, .phase = &certificate, .message = "d", .duration_ms = 250},
        AT "\"done\",\"message\":\"d\",\"durationSeconds\":0.25}");
    expect((struct join_event){.state = JOIN_FAILED, .phase = &certificate, .message = "f"},
           AT "\"failed\",\"message\":\"f\",\"durationSeconds\":0.0}");
    expect((struct join_event){.state = JOIN_SKIPPED,
                               .phase = &certificate,
                               .message = "--skip-phases"},
           AT "\"skipped\",\"message\":\"--skip-phases\"}");
}

/* preflight asks the cluster outside of any phase. */
static void without_a_phase_there_is_no_key(void **state) {
    (void)state;
    expect((struct join_event){.state = JOIN_WARNING, .message = "w"},
           "{\"time\":\"2026-11-21T10:00:04Z\",\"state\":\"warning\",\"message\":\"w\"}");
}

/* A line stays one, whatever a server wrote into it. */
static void a_line_is_one_line(void **state) {
    struct join_event event = {
        .state = JOIN_WAITING, .phase = &certificate, .message = "a\nb\r\"\x1b[2J", .hint = ""};
    json_t *json = NULL;
    char *line = progress_json(&event, 0);

    (void)state;
    assert_null(strchr(line, '\n'));
    assert_null(strchr(line, '\x1b'));
    assert_int_equal(json_read(line, strlen(line), "line", &json, NULL), 0);
    assert_string_equal(json_text_at(json, "message"), event.message);
    json_decref(json);
    free(line);
}

/* What a server said goes to people, logs and programs through one place. */
static void no_token_is_shown(void **state) {
    _cleanup_(freep) char *shown = join_shown("token abcdef.0123456789abcdef\nis wrong");
    struct join_progress progress = {0};

    (void)state;
    assert_string_equal(shown, "token abcdef.****************\\nis wrong");
    join_tell_waiting(&progress, 0, 0, "", "for %s", "one");
    join_tell_waiting(&progress, 0, 0, "", "for %s", "two");
    assert_string_equal(text_str(&progress.waiting), "for two");
    text_free(&progress.waiting);
}

static void a_long_message_keeps_both_ends(void **state) {
    static const struct {
        const char *message, *shown;
        size_t room;
    } rows[] = {
        {"short", "short", 20},
        {"exactly twenty bytes", "exactly twenty bytes", 20},
        {"failed to request the ConfigMap: connection refused", "failed ... refused", 20},
        {"aaaaa\xc3\xa9"
         "bbbbbbbbbbbbbbbb\xc3\xa9"
         "cccccccccc",
         "aaaaa...cccccccccc", 20},
        {"abcdefghijklmnopqrstuvwxyz", "abcdef...pqrstuvwxyz", 20},
        {"abcdef ghijklmnop qrstuvwxy", "abcdef ... qrstuvwxy", 20},
        {"GET 'https://a-control-plane.example.org:6443/api': connection refused",
         "GET ... connection refused", 40},
        {"nothing fits", "noth", 4},
        {"nothing fits", "", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *shown = progress_fit(rows[i].message, rows[i].room);

        assert_string_equal(shown, rows[i].shown);
        assert_true(strlen(shown) <= rows[i].room);
    }
}

static size_t times_in(const char *text, const char *part) {
    size_t times = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        times++;
    return times;
}

/* A live line is written again and again; the hint of each wait once, also of the second one. */
static void each_wait_of_a_live_line_has_its_hint(void **state) {
    static const char *const hints[] = {"do a", "do a", "do b", "do b"};
    struct progress progress = {.mode = PROGRESS_LIVE, .columns = 80, .host = host_memory_new()};
    struct capture captured;

    (void)state;
    capture_begin(&captured, stderr);
    for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
        progress_show(&progress, &(struct join_event){.state = JOIN_WAITING,
                                                      .phase = &certificate,
                                                      .message = "for it",
                                                      .hint = hints[i],
                                                      .waited_ms = (unsigned)i * 1000});
    progress_close(&progress);
    capture_end(&captured, &err_out);
    assert_int_equal(times_in(text_str(&err_out), "for it"), ARRAY_SIZE(hints));
    assert_int_equal(times_in(text_str(&err_out), "do a\n"), 1);
    assert_int_equal(times_in(text_str(&err_out), "do b\n"), 1);
    host_free(progress.host);
    text_free(&err_out);
}

/* A live table is written over itself; one that has no room is not begun. */
static void a_table_is_written_over_itself(void **state) {
    struct progress progress = {
        .mode = PROGRESS_LIVE, .columns = 80, .lines = 4, .host = host_memory_new()};
    struct text_list two = {0};
    struct capture captured;

    (void)state;
    text_list_add(&two, "a");
    text_list_add(&two, "b");
    capture_begin(&captured, stderr);
    progress_table(&progress, &two);
    progress_table(&progress, &two);
    text_list_add(&two, "c");
    progress_table(&progress, &two);
    progress_close(&progress);
    capture_end(&captured, &err_out);
    assert_string_equal(text_str(&err_out), "  a\n  b\n\x1b[2A\x1b[J  a\n  b\n\x1b[2A\x1b[J");
    text_list_free(&two);
    host_free(progress.host);
    text_free(&err_out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_has_its_keys),
        cmocka_unit_test(without_a_phase_there_is_no_key),
        cmocka_unit_test(a_line_is_one_line),
        cmocka_unit_test(no_token_is_shown),
        cmocka_unit_test(a_long_message_keeps_both_ends),
        cmocka_unit_test(a_table_is_written_over_itself),
        cmocka_unit_test(each_wait_of_a_live_line_has_its_hint),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
