/* `winjoin diag` on a node that has joined: all that it prints, compared with files of
 * tests/unit/expected, where all is well, where flows are broken and where its evidence is packed;
 * and every call of the host that it makes fails once. */
#include "tests/scene/played_pods_scene.h"

#include "tests/scene/access_scene.h"
#include "tests/scene/expected_scene.h"

static const struct {
    const char *name;
    const char *broken, *collect, *output;
} rows[] = {
    {"diag-good", NULL, NULL, NULL},
    {"diag-broken", "pod-", NULL, NULL},
    {"diag-document", "pod-to-service", NULL, "json"},
    {"diag-collect", NULL, "D:\\c.zip", NULL},
};

static void open_row(size_t i) {
    (void)open_diag(NULL);
    record_free(program);
    json_decref(program->result);
    program->result = NULL;
    stage = (struct stage){
        .broken = {rows[i].broken, rows[i].broken, rows[i].broken, rows[i].broken, rows[i].broken}};
    put("D:\\x", "");
    program->options.collect = (char *)rows[i].collect;
    program->options.output = (char *)rows[i].output;
}

/* They ask by real sockets, which say and take what the machine does. */
static void leave_out_nodes_own(json_t *report) {
    json_t *flows = json_object_get(report, "flows");

    for (size_t i = json_array_size(flows); i--;)
        if (text_equal(json_text_at(json_array_get(flows, i), "id"), "node-to-pod"))
            json_array_remove(flows, i);
}

static void a_report_is_as_expected(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct text t = {.cap = 1 << 20};
        struct error err;

        open_row(i);
        host_memory_check_access(r.host);
        (void)verb(verb_diag, &err);
        assert_no_openings(r.host, rows[i].name);
        text_addf(&t, "%s==== standard error\n%s==== error\n%s\n==== document\n", text_str(&out),
                  text_str(&err_out), err.message);
        leave_out_nodes_own(program->result);
        add_document(&t, program->result);
        (void)close_joining(NULL);
        assert_expected(rows[i].name, text_str(&t));
        text_free(&t);
    }
}

/* Whether the diagnosis came to its n-th call. */
static bool fails_once(size_t row, size_t n) {
    size_t calls;
    struct error err = {0};
    bool reached;

    open_row(row);
    calls = host_memory_calls(r.host);
    host_memory_fail(r.host, n);
    (void)verb(verb_diag, &err); /* which holds it to an error and -1, or neither */
    reached = host_memory_calls(r.host) - calls >= n;
    host_memory_fail(r.host, 0);
    if (is_there("C:\\etc\\kubernetes\\manifests\\winjoin-probe-a.json") && err.kind == ERROR_NONE)
        fail_msg("%s, call %zu failed: a pod was left", rows[row].name, n);
    (void)close_joining(NULL);
    return reached;
}

static void a_diagnosis_passes_over_nothing(void **state) {
    const size_t longest = ARRAY_SIZE(rows) - 1;

    (void)state;
    for (size_t n = 1; fails_once(longest, n); n += 3 * next_call())
        ;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_report_is_as_expected),
                                       cmocka_unit_test(a_diagnosis_passes_over_nothing)};

    return cmocka_run_group_tests(tests, NULL, free_output);
}
