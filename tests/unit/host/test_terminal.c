/* What the standard streams can show, after the environment, and streams that the caller closed. On
 * Windows neither decides: nothing is tested there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/path.h"
#include "host/terminal.h"

static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG", "TERM"};
static char kept[ARRAY_SIZE(names)][64]; /* putenv() keeps what it is given */

static void set_variable(size_t n, const char *value) {
    assert_true(text_format(kept[n], sizeof kept[n], "%s=%s", names[n], value) >= 0);
    assert_int_equal(putenv(kept[n]), 0);
}

static bool on_linux(void) {
    return access("/dev/full", F_OK) == 0;
}

static void the_environment_says_what_can_be_shown(void **state) {
    static const struct {
        const char *values[ARRAY_SIZE(names)];
        bool utf8, color;
    } rows[] = {
        {{"", "", "", "xterm"}, false, true},
        {{"", "", "en_US.UTF-8", "dumb"}, true, false},
        {{"", "de_DE.utf8", "C", "xterm"}, true, true},
        {{"C.UTF-8", "C", "C", "xterm"}, true, true},
        {{"C", "C.UTF-8", "C.UTF-8", "xterm"}, false, true}, /* the first that is set decides */
        {{"", "POSIX", "C.UTF-8", "xterm"}, false, true},
    };

    (void)state;
    if (!on_linux())
        return;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct terminal terminal;

        for (size_t n = 0; n < ARRAY_SIZE(names); n++)
            set_variable(n, rows[i].values[n]);
        terminal_open(&terminal);
        if (terminal.utf8 != rows[i].utf8 || terminal.color != rows[i].color)
            fail_msg("row %zu: utf8 %d, color %d", i, terminal.utf8, terminal.color);
    }
}

/* Each of the three stays taken, and reading what is written to (writing what is read) fails. */
static void closed_streams_are_filled(void **state) {
    char byte = 'x';

    (void)state;
    if (!on_linux())
        return;
    (void)fflush(stdout);
    for (int fd = 0; fd <= 2; fd++) {
        int was = dup(fd);
        struct terminal terminal;
        ssize_t done;
        int next;

        close(fd);
        terminal_open(&terminal);
        next = dup(was);
        done = fd ? write(fd, &byte, 1) : read(fd, &byte, 1);
        dup2(was, fd);
        close(was);
        close(next);
        assert_true(next > 2);
        assert_int_equal(done, -1);
    }
}

static void paths_are_shown_as_a_person_gave_them(void **state) {
    _cleanup_(freep) char *given = NULL, *shown = NULL, *other = path_shown("C:\\k\\a");

    (void)state;
    assert_string_equal(other, "C:\\k\\a");
    if (!on_linux())
        return;
    given = terminal_full_path("/etc/x/../y");
    assert_string_equal(given, "Z:\\etc\\y");
    shown = path_shown(given);
    assert_string_equal(shown, "/etc/y");
}

static void a_log_grows_at_its_end(void **state) {
    static const char path[] = "build/terminal-append";
    char read[8] = "";

    (void)state;
    (void)remove(path);
    for (int i = 0; i < 2; i++) {
        FILE *file = terminal_append(path);

        assert_non_null(file);
        assert_true(fputs(i ? "b" : "a", file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_int_equal(fread(read, 1, sizeof read, file), 2);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(read, "ab");
    assert_int_equal(remove(path), 0);
    assert_null(terminal_append("build/no-such-folder/x"));
}

/* winjoin-probe.exe is a resource of winjoin.exe alone. */
static void no_probe_program_is_carried(void **state) {
    const void *data = NULL;
    size_t len = 0;

    (void)state;
    if (on_linux())
        assert_false(terminal_probe_program(&data, &len));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_says_what_can_be_shown),
        cmocka_unit_test(closed_streams_are_filled),
        cmocka_unit_test(paths_are_shown_as_a_person_gave_them),
        cmocka_unit_test(a_log_grows_at_its_end),
        cmocka_unit_test(no_probe_program_is_carried),
    };

    return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
