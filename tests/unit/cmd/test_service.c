/* winjoin service run: whose program it starts, and whose file it writes to. */
#include "tests/scene/program_scene.h"

#include "services/hosted_service.h"

#define PROGRAM "C:\\k\\played.exe"
#define LOG "C:\\winjoin-played-service.log"

static void open_service(void) {
    struct service_host_settings settings = {.working_folder = (char *)"C:\\k",
                                             .log_file = (char *)LOG,
                                             .max_log_bytes = 4096,
                                             .max_log_files = 2};
    char *text;

    text_list_add(&settings.command, PROGRAM);
    text = service_host_settings_make(&settings);
    put(SERVICE_SETTINGS_DIR "\\played.json", text);
    put(PROGRAM, "MZ");
    put(LOG, "");
    free(text);
    text_list_free(&settings.command);
    text_list_split(&program->words, "run played", ' ');
}

/* The service runs as SYSTEM. */
static void a_stranger_s_program(void **state) {
    struct error err;

    (void)state;
    open_service();
    host_memory_give_to_user(program->host, PROGRAM);
    assert_int_equal(verb(verb_service, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_string_equal(err.message, "service 'played': '" PROGRAM "' belongs to SRV\\eve");
}

/* The played host holds no such file: one that is made is on this machine's own disk. */
static void a_stranger_s_log(void **state) {
    struct error err;

    (void)state;
    open_service();
    host_memory_give_to_user(program->host, LOG);
    (void)verb(verb_service, &err); /* here is no such program */
    assert_int_equal(access(LOG, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stranger_s_program, open_program, close_program),
        cmocka_unit_test_setup_teardown(a_stranger_s_log, open_program, close_program),
    };

    return cmocka_run_group_tests_name("service run", tests, NULL, free_output);
}
