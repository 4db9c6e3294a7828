/* The probe inside a pod, one turn at a time: `stop` lies in its mailbox from the beginning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/probe/probe.h"
#include "host/socket.h"

/* A folder that is there wherever tests run. */
#define MAILBOX "build"
#define LIST "winjoin-probes 1\nx tcp 127.0.0.1 1 0 - - 2000 1\n"

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* "" when there is none. */
static char *get(const char *path) {
    char *text = xcalloc(4096, 1);
    FILE *file = fopen(path, "rb");

    if (!file)
        return text;
    (void)fread(text, 1, 4095, file);
    (void)fclose(file);
    return text;
}

static int clean(void **state) {
    static const char *const files[] = {
        "stop", "go-1",          "results-1.txt", "results-1.txt.part",
        "go-2", "results-2.txt", "probes.txt",    "heartbeat.txt"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        _cleanup_(freep) char *path = xasprintf(MAILBOX "/%s", files[i]);

        (void)remove(path);
    }
    return socket_start();
}

static void a_turn_answers_what_is_asked(void **state) {
    static const struct {
        const char *probes; /* NULL = no list */
        const char *before; /* the answer that is there already, NULL = none */
        const char *after;  /* how the answer begins */
    } rows[] = {
        {LIST, NULL, "winjoin-results 1\nx refused 1 0 0 0 0 0 - -\nend 1\n"},
        {"winjoin-probes 1\nx\n", NULL, "winjoin-results 1\nerror decode winjoin-probes: line 2"},
        {NULL, NULL, "winjoin-results 1\nerror no probes.txt\n"},
        {LIST, "of the probe before a restart\n", "of the probe before a restart\n"},
    };
    const struct probe_server server = {MAILBOX, "p", "5eed", "127.0.0.1", 0, 0};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *answer = NULL, *part = NULL, *beat = NULL, *second = NULL;

        assert_int_equal(clean(state), 0);
        put(MAILBOX "/stop", "");
        put(MAILBOX "/go-1", "go\n");
        put(MAILBOX "/go-2", "go\n"); /* for the turn after this one, which does not come */
        if (rows[i].probes)
            put(MAILBOX "/probes.txt", rows[i].probes);
        if (rows[i].before)
            put(MAILBOX "/results-1.txt", rows[i].before);
        probe_serve(&server);
        answer = get(MAILBOX "/results-1.txt");
        if (!text_starts_with(answer, rows[i].after))
            fail_msg("row %zu: %s", i, answer);
        part = get(MAILBOX "/results-1.txt.part");
        second = get(MAILBOX "/results-2.txt");
        beat = get(MAILBOX "/heartbeat.txt"); /* it ends with the probe */
        assert_string_equal(part, "");
        assert_string_equal(second, "");
        assert_string_equal(beat, "");
    }
}

static void what_is_not_asked_is_not_answered(void **state) {
    const struct probe_server server = {MAILBOX, "p", "", "", 0, 0};
    _cleanup_(freep) char *answer = NULL;

    (void)state;
    put(MAILBOX "/stop", "");
    put(MAILBOX "/go-2", "go\n");
    put(MAILBOX "/probes.txt", LIST);
    probe_serve(&server);
    answer = get(MAILBOX "/results-2.txt");
    assert_string_equal(answer, "");
    answer = (free(answer), get(MAILBOX "/results-1.txt"));
    assert_string_equal(answer, "");
}

/* Its own port answers as soon as it is asked, be it of one protocol alone. */
static void one_port_is_enough(void **state) {
    const struct probe_server server = {MAILBOX, "p", "5eed", "127.0.0.1", 18099, 0};
    _cleanup_(freep) char *answer = NULL;

    (void)state;
    put(MAILBOX "/stop", "");
    put(MAILBOX "/go-1", "go\n");
    put(MAILBOX "/probes.txt", "winjoin-probes 1\nx tcp 127.0.0.1 18099 0 - - 2000 1\n");
    probe_serve(&server);
    answer = get(MAILBOX "/results-1.txt");
    assert_true(text_starts_with(answer, "winjoin-results 1\nx ok 1 1 "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_turn_answers_what_is_asked, clean, clean),
        cmocka_unit_test_setup_teardown(what_is_not_asked_is_not_answered, clean, clean),
        cmocka_unit_test_setup_teardown(one_port_is_enough, clean, clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
