/* What is wrong with a call is said before its first check and its first packet; and what its
 * reader gets at the end. */
#include "tests/scene/joining_scene.h"

static void a_wrong_call_ends_before_preflight(void **state) {
    static const struct {
        size_t field;
        const char *value, *message;
    } rows[] = {
#define FIELD(name) offsetof(struct join_options, name)
        {FIELD(endpoint), "127.0.0.1:99999", "check the endpoint \"127.0.0.1:99999\": the port"},
        {FIELD(endpoint), "127.0.0.1:0", "check the endpoint \"127.0.0.1:0\": the port"},
        {FIELD(endpoint), "a b:1", "check the endpoint \"a b:1\": it must be HOST:PORT"},
        {FIELD(endpoint), "127.1:1", "check the endpoint \"127.1:1\": its host is neither"},
        {FIELD(bundle), "D:\\none.zip", "bundle 'D:\\none.zip': no such file or folder"},
        {FIELD(bundle), "D:\\broken.zip", "bundle 'D:\\broken.zip': read archive: "},
        {FIELD(patches), "D:\\none", "patches folder 'D:\\none': no such folder"},
        {FIELD(network_name), "a/b", "network name 'a/b' is not possible"},
#undef FIELD
    };
    int (*const calls[])(struct program *, struct error *) = {verb_join, verb_preflight};

    (void)state;
    put("D:\\broken.zip", "PK");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char **field = (char **)((char *)&program->options.join + rows[i].field);
        char *before = *field;

        for (size_t k = 0; k < ARRAY_SIZE(calls); k++) {
            struct error err;

            *field = xstrdup(rows[i].value);
            if (verb(calls[k], &err) != -1 || error_exit_code(err.kind) != 3 ||
                !text_starts_with(err.message, rows[i].message) ||
                strstr(text_str(&err_out), "preflight") || out.len)
                fail_msg("%s: %s; %s%s", rows[i].value, err.message, text_str(&err_out),
                         text_str(&out));
            freep(field);
        }
        *field = before;
    }
}

/* Whoever reads the lines gets the document at their end, whatever --output is. */
static void the_last_line_is_the_result(void **state) {
    static const struct {
        const char *line, *result, *end;
    } rows[] = {
        {"reset --force --progress json",
         "\"result\":{\"apiVersion\":\"winjoin.io/v1alpha1\",\"kind\":"
         "\"ResetResult\",\"changed\":false,",
         "},\"exitCode\":0}\n"},
        {"bundle show C:\\no.zip --progress json", "\"result\":{\"error\":{\"kind\":\"usage\",",
         "},\"exitCode\":3}\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *last;

        (void)call(rows[i].line);
        last = strstr(text_str(&err_out), "{\"time\":");
        if (!last || !strstr(last, rows[i].result) || !text_ends_with(last, rows[i].end))
            fail_msg("%s: %s", rows[i].line, text_str(&err_out));
    }
    (void)call("reset --force --progress plain");
    assert_null(strstr(text_str(&err_out), "\"result\""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_wrong_call_ends_before_preflight, open_joining,
                                        close_joining),
        cmocka_unit_test(the_last_line_is_the_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
