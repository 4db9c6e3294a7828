/* --install-features: when dism.exe is started, and what its exit code means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/phases/phases.h"
#include "join/preflight/features.h"
#include "preflight_scene.h"

static bool through_phase;

/* What comes of it on a machine whose feature is in this state. */
static int install(int state, bool asked, bool dry, struct error *err) {
    struct join join = {.host = r.host, .http = r.http, .asked = &r.options};
    int result;

    r.options.install_features = asked;
    r.options.dry_run = dry;
    assert_int_equal(join_open(&join, err), 0);
    join.found.facts.containers_feature = state;
    result = through_phase ? phase_preflight(&join, err) : features_install(&join, err);
    join_close(&join);
    return result;
}

static unsigned started;
static bool count(void *context, struct host *host, const struct host_process *process,
                  int *ret_code, struct text *ret_said, struct error *err) {
    (void)host, (void)ret_code, (void)ret_said, (void)err, (void)context;
    if (strstr(process->argv[0], "\\dism.exe")) {
        started++;
        assert_string_equal(process->argv[3], "/featurename:Containers");
        assert_string_equal(process->argv[5], "/norestart");
    }
    return false;
}

static void what_dism_says(void **state) {
    static const struct {
        int code;
        enum error_kind kind;
        const char *output, *message;
    } rows[] = {
        {0, ERROR_NONE, "The operation completed successfully.\r\n", ""},
        {3010, ERROR_RESTART, "",
         "the Windows feature Containers is installed; a restart of Windows is needed first"},
        {14098, ERROR_HOST,
         "\r\nError: 14098\r\n\r\nThe component store has been corrupted.\r\n\r\n",
         "install the Windows feature Containers: dism.exe failed with exit code 14098: The "
         "component store has been corrupted."},
        {5, ERROR_HOST, "",
         "install the Windows feature Containers: dism.exe failed with exit code 5: "},
    };

    (void)state;
    open_fit();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};

        host_memory_set_program(r.host, "dism.exe", rows[i].code, rows[i].output);
        assert_int_equal(install(0, true, false, &err), rows[i].kind ? -1 : 0);
        assert_int_equal(err.kind, rows[i].kind);
        assert_string_equal(err.message, rows[i].message);
    }
    assert_int_equal(error_exit_code(ERROR_RESTART), 6);
    close_run(&r);
}

static void when_it_is_not_started(void **state) {
    struct error err = {0};

    (void)state;
    open_fit();
    host_memory_on_run(r.host, count, NULL);
    host_memory_set_program(r.host, "dism.exe", 3010, "");
    started = 0;
    assert_int_equal(install(0, false, false, &err), 0);
    assert_int_equal(install(0, true, true, &err), 0);
    assert_int_equal(install(1, true, false, &err), 0);
    assert_int_equal(install(-1, true, false, &err), 0);
    assert_int_equal(started, 0);
    through_phase = true;
    assert_int_equal(install(0, true, false, &err), -1);
    assert_int_equal(err.kind, ERROR_RESTART);
    assert_int_equal(started, 1);
    through_phase = false;
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_dism_says),
        cmocka_unit_test(when_it_is_not_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
