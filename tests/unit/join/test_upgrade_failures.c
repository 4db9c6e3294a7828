/* Each call of the host that an upgrade makes fails once: what it says of it, and which node it
 * leaves. */
#include "tests/scene/expected_scene.h"
#include "tests/scene/upgrade_scene.h"

static struct text_list usual; /* what each upgrade of this node warns of */

static void add_failure(struct text *said, const char *call, const json_t *document,
                        const struct error *err) {
    text_addf(said, "%.*s\n", (int)strcspn(call, "\n"), call);
    json_each(json_object_get(document, "warnings"), i, warning)
        if (!text_list_has(&usual, json_string_value(warning)))
            text_addf(said, "  warning: %s\n", json_string_value(warning));
    if (err->kind)
        text_addf(said, "  %s: %s\n", error_kind_name(err->kind), err->message);
    for (size_t i = 0; i < ARRAY_SIZE(err->hints) && *err->hints[i]; i++)
        text_addf(said, "  hint: %s\n", err->hints[i]);
}

/* Does the n-th call exist? 0: none fails. */
static bool fails_once(size_t n, struct text *said) {
    struct error err = {0};
    struct ran ran = {0};
    json_t *before;
    struct run r;
    size_t calls;
    bool reached;
    int result;

    open_node(&r, &before);
    put(&r, "D:\\winjoin.exe", "MZ newer winjoin");
    host_memory_set_program_path(r.host, "D:\\winjoin.exe");
    calls = host_memory_calls(r.host);
    host_memory_fail(r.host, n);
    result = upgrade_once(&r, false, false, &ran, &err);
    reached = host_memory_calls(r.host) - calls >= n;
    if (!n)
        json_read_texts(json_object_get(ran.document, "warnings"), &usual);
    else if (reached)
        add_failure(said, host_memory_failed(r.host), ran.document, &err);
    assert_said(result, &err, text_str(said));
    host_memory_fail(r.host, 0);
    if (host_file_type(r.host, UPGRADE_FOLDER) == HOST_ABSENT)
        result < 0 ? assert_old(&r) : assert_new(&r);
    ran_free(&ran);
    close_node(&r, before);
    return reached;
}

static void each_call_fails_once(void **state) {
    _cleanup_(text_free) struct text said = {0};
    bool reached = true;

    (void)state;
    for (size_t n = 0; reached; n += next_run()) {
        _cleanup_(text_free) struct text run = {0};

        reached = fails_once(n, &run);
        expect_run("failures-upgrade", &said, text_str(&run));
    }
    text_list_free(&usual);
    expect_no_other_run("failures-upgrade", &said);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_call_fails_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
