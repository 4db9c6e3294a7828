/* Each modelled fault is put into a healthy node's evidence: what is named first is counted and
 * stands in docs/design/faults.md, too; all that is said of it is compared with a file of
 * tests/unit/expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/scene/diag_fault_scene.h"
#include "tests/scene/diag_route_rows.h"
#include "tests/scene/expected_scene.h"
#include "tests/scene/said_causes.h"

enum { HEALTHY_RUNS = 200 };

static void no_line_twice(const struct text_list *evidence) {
    for (size_t i = 0; i < evidence->count; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(evidence->items[i], evidence->items[k]);
}

static char *table_make(size_t *ret_right, size_t *ret_wrong) {
    struct text t = {0};

    text_add(&t, "| fault | cause | named first |\n|---|---|---|\n");
    for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
        struct diag_report report;
        bool right;

        assert_true(judge(&faults[i], NULL, &report));
        right = text_equal(named(&report, 0), faults[i].cause);
        *ret_right += right;
        for (size_t k = 0; k < report.causes.count; k++)
            no_line_twice(&report.causes.items[k].evidence);
        for (size_t k = 0; k < report.causes.count; k++)
            *ret_wrong += report.causes.items[k].confirmed &&
                          !text_equal(report.causes.items[k].id, faults[i].cause);
        text_addf(&t, "| %s | %s | %s%s |\n", faults[i].title, faults[i].cause, named(&report, 0),
                  !report.causes.count               ? ""
                  : report.causes.items[0].confirmed ? ", confirmed"
                                                     : ", likely");
        if (!right)
            print_message("not right: %s\n", faults[i].title);
        diag_report_free(&report);
    }
    return text_take(&t);
}

static char *documented(void) {
    struct text t = {0};
    FILE *file = fopen("docs/design/faults.md", "rb");
    char line[512];

    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        text_add(&t, line);
    (void)fclose(file);
    return text_take(&t);
}

/* Nine in ten are named first, and what is called confirmed is right. */
static void each_fault_is_named(void **state) {
    size_t right = 0, wrong = 0;
    _cleanup_(freep) char *table = table_make(&right, &wrong);
    _cleanup_(freep) char *document = documented();

    (void)state;
    (void)fputs(table, stdout); /* longer than cmocka prints */
    print_message("%u of %u faults named first, %u confirmed wrongly\n", (unsigned)right,
                  (unsigned)ARRAY_SIZE(faults), (unsigned)wrong);
    assert_true(ARRAY_SIZE(faults) >= 40);
    assert_true(right * 10 >= ARRAY_SIZE(faults) * 9);
    assert_int_equal(wrong, 0);
    if (!strstr(document, table))
        fail_msg("docs/design/faults.md has another confusion table: copy the one above");
}

/* With flows that work nothing is named: evidence is left out, and what differs between nodes. */
static void a_healthy_node_has_no_cause(void **state) {
    unsigned seed = 1;

    (void)state;
    for (int run = 0; run < HEALTHY_RUNS; run++) {
        static const struct fault none = {"", "", "", "", false}, bridge = {"", "", "", "", true};
        struct diag_report report;
        const char *key;
        json_t *value;
        void *next;

        judge(run % 2 ? &bridge : &none, NULL, &report);
        json_object_foreach_safe(report.evidence, next, key, value) {
            seed = seed * 1103515245 + 12345;
            if ((seed >> 16) % 4 == 0 && run > 1)
                json_object_del(report.evidence, key);
        }
        diag_causes_find(&report);
        if (report.causes.count)
            fail_msg("run %d: %s", run, named(&report, 0));
        diag_report_free(&report);
    }
}

static void add_causes(struct text *ret, const char *title, struct diag_report *report) {
    text_addf(ret, "==== %s\n", title);
    said_causes_add(ret, &report->causes, true);
    diag_report_free(report);
}

/* Of these faults, and of the scenes of test_diag_causes.c. */
static void what_is_said_is_expected(void **state) {
    _cleanup_(text_free) struct text t = {.cap = 1 << 20};
    const struct row *row;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
        struct diag_report report;

        judge(&faults[i], NULL, &report);
        add_causes(&t, faults[i].title, &report);
    }
    for (size_t i = 0; (row = row_at(i)); i++) {
        struct diag_report report;

        scene_report_make(row->red, row->evidence, &report);
        diag_causes_find(&report);
        add_causes(&t, row->name, &report);
    }
    assert_expected_exactly("diag-causes", text_str(&t));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_named),
        cmocka_unit_test(a_healthy_node_has_no_cause),
        cmocka_unit_test(what_is_said_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
