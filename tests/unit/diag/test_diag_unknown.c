/* What is told of red cells that no row of the decision table explains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/causes/causes.h"
#include "tests/scene/diag_rows.h"
#include "tests/scene/diag_scene.h"

/* A red cell never stands alone: the first one, who was asked beside it, what is well. */
static void what_no_row_explains_is_told(void **state) {
    static const struct row row = {.red = "pod-to-node/tcp=wrong-responder pod-to-node/udp=-",
                                   .evidence = OVERLAY
                                   "," VIPS "}," PODS ",endpoints:[" ENDPOINT_A
                                   "Policies:[]}," ENDPOINT_B "],"
                                   "networks:[{Name:'flannel.4096',Type:'Overlay'}],extra:{"
                                   "'x-dns-pod':{outcome:'ok'},'x-peer':{outcome:'refused'},"
                                   "'node-external':{outcome:'timeout'}},kubernetes:{stale:[]},"
                                   "changed:[{kind:'file'}]"}; /* of what, nobody knows */
    static const char *const lines[] = {
        "pod-to-node/tcp from  to 10.0.0.21:10250: wrong-responder",
        "an answer came from: a pod of the DNS, at its own address; the node of that pod, asked by "
        "a pod",
        "no answer came from: the target outside, asked by this node",
        "ruled out: HNS has what Kubernetes says; the pods' network is there; both pods have their "
        "endpoints, and no ACL policy blocks them",
    };
    struct diag_report report;
    const struct diag_cause *cause;

    (void)state;
    scene_report_make(row.red, row.evidence, &report);
    diag_causes_find(&report);
    assert_int_equal(report.causes.count, 1);
    cause = &report.causes.items[0];
    assert_string_equal(cause->id, DIAG_CAUSE_UNKNOWN);
    assert_false(cause->confirmed);
    assert_string_equal(cause->message,
                        "no known cause explains what fails from pods to their own node");
    assert_int_equal(cause->cells.count, 2);
    assert_int_equal(cause->evidence.count, ARRAY_SIZE(lines));
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        assert_string_equal(cause->evidence.items[i], lines[i]);
    diag_report_free(&report);
}

/* The evidence still says between whom packets are lost, and by which protocol. */
static void where_it_fails_is_told(void **state) {
    static const struct {
        const char *red, *message;
    } told[] = {
        {"pod-to-node/udp=wrong-responder",
         "no known cause explains what fails from pods to their own node (UDP alone)"},
        {"pod-to-external-ip/tcp=failed pod-to-node/tcp=wrong-responder "
         "pod-to-node/udp=wrong-responder",
         "no known cause explains what fails from pods to their own node, from pods to outside "
         "(TCP alone)"},
        {"pod-to-external-dns/tcp=failed", "no known cause explains these failures"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
        struct diag_report report;

        scene_report_make(told[i].red, "expected:{}", &report);
        diag_causes_find(&report);
        assert_string_equal(report.causes.items[report.causes.count - 1].message, told[i].message);
        diag_report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_row_explains_is_told),
        cmocka_unit_test(where_it_fails_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
