/* The event log: source, id by exit code, level by kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "cmd/program.h"
#include "tests/memory/host_memory.h"

static void expect(const char *node, enum error_kind kind, const char *level, int id,
                   const char *text) {
    struct program program = {.host = host_memory_new()};
    struct error err = {0};
    json_t *state;

    if (kind)
        (void)error_set(&err, kind, "do it: no");
    record_end(&program, "join", node, kind ? -1 : 0, &err);
    state = host_memory_state(program.host);
    assert_int_equal(json_array_size(json_object_get(state, "events")), 1);
    assert_string_equal(json_text_at(state, "events.0.level"), level);
    assert_int_equal(json_number_at(state, "events.0.id", 0), id);
    assert_string_equal(json_text_at(state, "events.0.text"), text);
    json_decref(state);
    host_free(program.host);
}

static void id_and_level_follow_the_outcome(void **state) {
    (void)state;
    expect("win-7k2", ERROR_NONE, "i", 1000, "winjoin join win-7k2: done");
    expect(NULL, ERROR_NONE, "i", 1000, "winjoin join: done");
    expect("win-7k2", ERROR_NETWORK, "e", 1001, "winjoin join win-7k2: do it: no");
    expect("win-7k2", ERROR_PREFLIGHT, "e", 1002, "winjoin join win-7k2: do it: no");
    expect("win-7k2", ERROR_UNTRUSTED, "e", 1004, "winjoin join win-7k2: do it: no");
    expect("win-7k2", ERROR_FLOWS, "w", 1005, "winjoin join win-7k2: do it: no");
    expect("win-7k2", ERROR_RESTART, "e", 1006, "winjoin join win-7k2: do it: no");
    expect("win-7k2", ERROR_INTERRUPTED, "e", 1130, "winjoin join win-7k2: do it: no");
}

static void a_log_that_cannot_be_written_fails_nothing(void **state) {
    struct program program = {.host = host_memory_new()};
    struct error err = {0};

    (void)state;
    host_memory_fail(program.host, 1);
    record_end(&program, "reset", NULL, 0, &err);
    assert_int_equal(err.kind, ERROR_NONE);
    host_free(program.host);
}

/* dist/windows/events.mc becomes winjoin.exe's message table. */
static void each_id_has_a_text_for_event_viewer(void **state) {
    char table[4096];
    FILE *file = fopen("dist/windows/events.mc", "rb");
    size_t len;

    (void)state;
    assert_non_null(file);
    len = fread(table, 1, sizeof table - 1, file);
    (void)fclose(file); /* read only */
    table[len] = '\0';
    for (enum error_kind kind = ERROR_NONE; kind <= ERROR_INTERRUPTED; kind++) {
        _cleanup_(freep) char *row =
            xasprintf("MessageId=%d\n", EVENT_ID_BASE + (kind ? error_exit_code(kind) : 0));

        if (!strstr(table, row))
            fail_msg("no %s", row);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(id_and_level_follow_the_outcome),
        cmocka_unit_test(each_id_has_a_text_for_event_viewer),
        cmocka_unit_test(a_log_that_cannot_be_written_fails_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
