/* The confusion table: each modelled fault is put into a healthy node's evidence, and what is named
 * first is counted. The table stands in docs/diag.md, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "diag_faults.h"
#include "diag_scene.h"

enum { HEALTHY_RUNS = 200 };

/* ---- a fault is put into a document ---- */

static size_t place(const char *key) {
    long long n = 0;

    assert_int_equal(text_to_number(key, 0, 99, &n), 0);
    return (size_t)n;
}

static json_t *member(json_t *at, const char *key) {
    return json_is_array(at) ? json_array_get(at, place(key)) : json_object_get(at, key);
}

static void set(json_t *at, const char *key, json_t *value) {
    if (!json_is_array(at))
        json_object_set_new(at, key, value);
    else if (place(key) < json_array_size(at))
        json_array_set_new(at, place(key), value);
    else
        json_array_append_new(at, value);
}

/* A removed element leaves a null behind, so that the places of the others stay. */
static bool change(json_t *document, const char *line) {
    bool drops = *line == '-';
    _cleanup_(text_list_free) struct text_list path = {0};
    const char *equals = strchr(line, '=');
    _cleanup_(freep) char *names =
        xstrndup(line + drops, drops ? strlen(line + 1) : (size_t)(equals - line));
    _cleanup_(freep) char *wrapped = drops ? NULL : xasprintf("v:%s", equals + 1);
    _cleanup_json_ json_t *value = drops ? json_pack("{s:n}", "v") : relaxed_json(wrapped);
    json_t *at = document;
    const char *last;

    text_list_split(&path, names, '|');
    last = path.items[path.count - 1];
    for (size_t i = 0; at && i + 1 < path.count; i++)
        at = member(at, path.items[i]);
    if (!json_is_object(at) && !json_is_array(at))
        return false;
    if (drops && json_is_object(at))
        json_object_del(at, last);
    else
        set(at, last, json_incref(json_object_get(value, "v")));
    return true;
}

/* false: what it changes is not there. */
static bool changes_make(json_t *document, const char *changes) {
    _cleanup_(text_list_free) struct text_list lines = {0};
    bool made = true;

    text_list_split(&lines, changes, '\n');
    for (size_t i = 0; i < lines.count; i++)
        if (*lines.items[i])
            made = change(document, lines.items[i]) && made;
    return made;
}

/* Nulls that were left behind go. */
static void compact(json_t *at) {
    json_t *item;
    const char *key;
    size_t i;

    if (json_is_array(at))
        for (i = json_array_size(at); i-- > 0;) {
            if (json_is_null(json_array_get(at, i)))
                json_array_remove(at, i);
            else
                compact(json_array_get(at, i));
        }
    json_object_foreach(at, key, item) compact(item);
}

static bool stops_pods(const struct fault *fault) {
    return text_equal(fault->red, ALL_NOT_RUN);
}

/* false: the one takes away what the other changes. */
static bool judge(const struct fault *first, const struct fault *second,
                  struct diag_report *report) {
    bool unmeasured = stops_pods(first) || (second && stops_pods(second)), made;
    _cleanup_(freep) char *red =
        unmeasured ? xstrdup(ALL_NOT_RUN)
                   : xasprintf("%s%s%s", first->red, second ? " " : "", second ? second->red : "");

    scene_report_make(*red == ' ' ? red + 1 : red, HEALTHY, report);
    if (first->bridge || (second && second->bridge))
        changes_make(report->evidence, AS_BRIDGE);
    made = changes_make(report->evidence, first->changes) &&
           (!second || changes_make(report->evidence, second->changes));
    if (unmeasured)
        json_object_del(report->evidence, "extra");
    compact(report->evidence);
    diag_causes_find(report);
    return made;
}

static const char *named(const struct diag_report *report, size_t i) {
    return i < report->causes.count ? report->causes.items[i].id : "-";
}

/* ---- the tests ---- */

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
            for (size_t k = 0; k < report.causes.count; k++)
                print_message("not right: %s: %s (%s)\n", faults[i].title, named(&report, k),
                              report.causes.items[k].evidence.count
                                  ? report.causes.items[k].evidence.items[0]
                                  : "");
        diag_report_free(&report);
    }
    return text_take(&t);
}

static char *documented(void) {
    struct text t = {0};
    FILE *file = fopen("docs/diag.md", "rb");
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
        fail_msg("docs/diag.md has another confusion table: copy the one above");
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

/* The one shows only where the cluster can be asked, which the other prevents. */
static bool asks_unread(const struct fault *one, const struct fault *other) {
    return strstr(one->changes, "kubernetes|") && strstr(other->changes, "-kubernetes");
}

static bool both_lack(const struct fault *fault, const char *first, const char *second) {
    return strstr(fault->red, first) && strstr(fault->red, second);
}

/* Of one of them nothing is seen beside the other, or both look like a third. What two filters lose
 * by UDP, inside and outside, one may lose alone: VXLAN is UDP, too. */
static bool are_as_one(const struct fault *one, const struct fault *other) {
    if (strstr(one->changes, "node-external-udp") || strstr(other->changes, "node-external-udp"))
        return strstr(one->changes, DNS_SILENT) || strstr(other->changes, DNS_SILENT);
    if (text_equal(one->cause, "UDP-LOST") && text_equal(other->cause, "TCP-LOST"))
        return true;                       /* nothing arrives */
    if (text_equal(one->cause, "LATENCY")) /* no connection is left whose time is known */
        return both_lack(other, "pod-to-service-ip/tcp=", "pod-to-external-ip/tcp=");
    if (text_starts_with(one->cause, "DNS-") && text_equal(other->cause, "LOSS"))
        return strstr(other->changes, "x-dns-connect"); /* hardly an answer of the DNS is left */
    if (stops_pods(one))
        return strstr(other->changes, "pods|a|ip");
    return text_equal(one->cause, "DNS-PROTO") && text_equal(other->cause, "EXT-PODS") &&
           strstr(one->red, "pod-to-service-ip/udp") &&
           strstr(other->red, "pod-to-external-ip/udp");
}

/* Of two faults at once one of them is named first, and nothing else is confirmed; the other is
 * named once that is gone (each_fault_is_named()). */
static void of_two_faults_one_is_named_first(void **state) {
    size_t pairs = 0, first = 0, both = 0, wrong = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
        for (size_t k = i + 1; k < ARRAY_SIZE(faults); k++) {
            struct diag_report report;
            bool has_i = false, has_k = false;

            if (faults[i].bridge != faults[k].bridge || asks_unread(&faults[i], &faults[k]) ||
                asks_unread(&faults[k], &faults[i]) || are_as_one(&faults[i], &faults[k]) ||
                text_equal(faults[i].cause, faults[k].cause))
                continue;
            if (!judge(&faults[i], &faults[k], &report)) {
                diag_report_free(&report);
                continue;
            }
            for (size_t n = 0; n < report.causes.count; n++) {
                const char *id = named(&report, n);
                bool is_i = text_equal(id, faults[i].cause), is_k = text_equal(id, faults[k].cause);

                has_i |= is_i;
                has_k |= is_k;
                if (report.causes.items[n].confirmed && !is_i && !is_k) {
                    print_message("%s and %s: %s\n", faults[i].title, faults[k].title, id);
                    wrong++;
                }
            }
            pairs++;
            both += has_i && has_k;
            if (text_equal(named(&report, 0), faults[i].cause) ||
                text_equal(named(&report, 0), faults[k].cause))
                first++;
            else
                print_message("%s (%s) and %s (%s): %s first\n", faults[i].title, faults[i].cause,
                              faults[k].title, faults[k].cause, named(&report, 0));
            diag_report_free(&report);
        }
    print_message("%u pairs: one of the two first in %u, both in %u, confirmed wrongly %u\n",
                  (unsigned)pairs, (unsigned)first, (unsigned)both, (unsigned)wrong);
    assert_int_equal(wrong, 0);
    assert_int_equal(first, pairs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_named),
        cmocka_unit_test(a_healthy_node_has_no_cause),
        cmocka_unit_test(of_two_faults_one_is_named_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
