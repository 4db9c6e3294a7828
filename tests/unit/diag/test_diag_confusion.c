/* Of each two modelled faults that a healthy node is given at once, one is named first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/scene/diag_fault_scene.h"

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
 * named once that is gone (test_diag_faults.c). */
static void of_two_faults_one_is_named_first(void **state) {
    size_t pairs = 0, first = 0, both = 0, wrong = 0;
    const char *tests = getenv("TESTS_PART");
    size_t step = tests && !text_equal(tests, "full") ? 4 : 1,
           shift = 0; /* Of all pairs a fourth */

#ifdef _WIN32 /* Others than under the sanitizers */
    shift = 2;
#endif
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
        for (size_t k = i + 1 + (i + shift) % step; k < ARRAY_SIZE(faults); k += step) {
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
        cmocka_unit_test(of_two_faults_one_is_named_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
