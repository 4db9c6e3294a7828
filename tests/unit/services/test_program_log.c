/* Where the program logs. */
#include "tests/scene/program_scene.h"

static void a_log_file_takes_what_is_logged(void **state) {
    static const char path[] = "build/test_program_log.log";
    char line[200] = "";
    FILE *file;

    (void)state;
    (void)remove(path);
    variable = "WINJOIN_QQQQQQ";
    for (int i = 0; i < 2; i++) {
        assert_int_equal(call("version --log-file build/test_program_log.log"), 0);
        assert_string_equal(text_str(&err_out), "");
    }
    variable = NULL;
    file = fopen(path, "r");
    assert_non_null(file);
    for (int i = 0; i < 2; i++) { /* the second run's comes behind the first one's */
        assert_non_null(fgets(line, sizeof line, file));
        assert_non_null(strstr(line, "WINJOIN_QQQQQQ matches no flag"));
    }
    assert_null(fgets(line, sizeof line, file));
    (void)fclose(file);
    assert_int_equal(remove(path), 0);
    assert_int_equal(call("version --log-file build/no/such/folder.log"),
                     error_exit_code(ERROR_USAGE));
    assert_has(&err_out, "open log file 'build/no/such/folder.log': ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_file_takes_what_is_logged),
    };

    (void)open_program, (void)close_program, (void)verb, (void)put;
    return cmocka_run_group_tests(tests, NULL, free_output);
}
