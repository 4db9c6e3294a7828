/* No cause contradicts what was measured: what its texts say of flows that work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/causes/causes.h"
#include "tests/scene/diag_route_rows.h"
#include "tests/scene/diag_scene.h"

/* What a text says of flows that work, and which cells (two a flow, TCP and UDP) may not be red
 * with it: a flow of theirs works. A text that says so otherwise is found by the words below. */
static const struct claim {
    const char *words, *flows; /* "" = of no cell: a probe beyond them, or another machine */
} claims[] = {
    {"pods on this node reach each other", "pod-to-pod-ip node-to-pod"},
    {"pods reach each other", "pod-to-pod-ip"},
    {"pods reach their own node", "pod-to-node"},
    {"DNS on other nodes does not answer", ""},
    {"not at its pod's own address", ""},
    {"through its Service the answers", ""},
    {"or their answers, are lost", ""},
    {"are lost", ""},
    {"packets arrive, but no program listens", ""},
    {"for the external name it answers", ""},
    {"DNS answers at", ""},
    {"nothing answers at a cluster IP", ""},
    {"other Services answer", "pod-to-service-ip"},
    {"the cluster's DNS resolves Service names", "pod-to-service-ip pod-to-service-fqdn"},
    {"the DNS Service answers direct queries", ""},
    {"the node reaches the pod, the pod gets no answer", "node-to-pod"},
    {"bytes arrive, ", ""},
    {"small packets reach pods on other nodes", ""},
    {"small packets arrive", ""},
    {"the node itself reaches", ""},
    {"the node itself does not reach", ""},
    {"has no correct route to", ""},
    {"this node does not reach", ""},
    {"the node cannot reach anything outside the cluster either", ""},
    {"no pod behind the DNS Service answers", ""},
    {"or their answers, have no route", ""},
    {"; this node talks to", ""},
    {"pods get an answer of", ""},
    {"which server answers", ""},
    {"its answer is dated", ""},
    {"that the wrong pod answers", ""},
    {"running pods are not affected", ""},
    {"undo each other's work", ""},
    {"answers over one of UDP and TCP alone", ""},
    {"the API server answers this node, but not its pods", ""},
    {"answers with an error", ""},
    {"the cluster's DNS answers slowly", ""},
    {": an answer takes", ""},
    {"some questions are answered", ""},
    {"behind a Service do not answer", ""},
    {"that do not answer", ""},
    {"it does not reach the API server", ""},
    {" answers by UDP; by TCP", ""},
    {"or answers later than in 2 s", ""},
    {"answers this node's pods, the DNS pod does not", ""},
    {"answer came from", ""},
    {"nothing reaches a pod", ""},
    {"nothing arrives that pods send", ""},
    {"pods reach each other, and nothing by their gateway", "pod-to-pod-ip"},
    {"neither the node nor", ""},
    {" reaches winjoin-probe-b", ""},
    {"does not reach the other", ""},
    {"takes TCP connections to port 53, but answers in 2 s neither by", ""},
    {"takes connections, and answers too late or never", ""},
    {"gets no answer by UDP; by TCP it does", ""},
    {"gets no answer for that name either", ""},
    {"does not answer the node in time either", ""},
    {"the node itself gets no answer from", ""},
    {"UDP to the DNS server outside works", "pod-to-external-ip"},
    {"of another node gives no answer", ""},
    {"pods reach Services, but not their own node", "pod-to-service-ip"},
    {"the other pod reaches winjoin-probe-b, the node does not", "pod-to-pod-ip"},
    {"runs, but does not answer", ""},
    {"HNS does not answer", ""},
    {"the node reaches the target outside, its pods do not", ""},
    {"the DNS pod answers by TCP; by UDP its closed port", ""},
    {": packets arrive there", ""},
    {"which does not answer pods", ""},
    {"that they do not reach", ""},
    {"does not answer this node", ""},
    {"the DNS pods on node lin-1 do not answer", ""},
    {"nothing answers at the name outside", ""},
    {"the node itself does not find", ""},
};
static const char *const says_works[] = {"reach", "answer", " talk", "arrive", " work", " go on"};

static bool any_passes(const struct diag_report *report, const char *flows) {
    _cleanup_(text_list_free) struct text_list names = {0};

    text_list_split(&names, flows, ' ');
    for (size_t i = 0; i < names.count; i++)
        for (int udp = 0; udp < 2; udp++)
            if (diag_cells_find(&report->cells, diag_flow_find(names.items[i])->id, udp, false)
                    ->outcome == DIAG_PASS)
                return true;
    return !names.count;
}

static void check_text(const struct diag_report *report, const char *scene, const char *text) {
    _cleanup_(text_free) struct text left = {0};

    text_add(&left, text);
    for (size_t i = 0; i < ARRAY_SIZE(claims); i++) {
        char *at = strstr(left.data, claims[i].words);

        if (!at)
            continue;
        if (!any_passes(report, claims[i].flows))
            fail_msg("%s: '%s', but these are red: %s", scene, text, claims[i].flows);
        memset(at, '.', strlen(claims[i].words));
    }
    for (size_t i = 0; i < ARRAY_SIZE(says_works); i++)
        if (strstr(left.data, says_works[i]))
            fail_msg("%s: what does '%s' say of '%s'? add it to the claims", scene, text,
                     says_works[i]);
    if (strstr(text, "no OutBoundNAT") && strstr(text, "policies") && strstr(text, "OutBoundNAT ("))
        fail_msg("%s: '%s' says that it is there and is not", scene, text);
}

static void check_causes(const struct diag_report *report, const char *scene) {
    for (size_t i = 0; i < report->causes.count; i++) {
        const struct diag_cause *cause = &report->causes.items[i];

        if (!cause->evidence.count)
            fail_msg("%s: %s has no evidence", scene, cause->id);
        check_text(report, scene, cause->message);
        check_text(report, scene, cause->hint);
        for (size_t k = 0; k < cause->evidence.count; k++)
            check_text(report, scene, cause->evidence.items[k]);
    }
}

/* Each scene as it is, and with each further flow red. */
static void no_cause_contradicts_the_matrix(void **state) {
    const struct row *row;

    (void)state;
    for (size_t i = 0; (row = row_at(i)); i++)
        for (size_t f = 0; f <= 9; f++) {
            struct diag_report report;

            scene_report_make(row->red, row->evidence, &report);
            for (int udp = 0; f < 9 && udp < 2; udp++) {
                struct probe_result lost = {.outcome = PROBE_TIMEOUT, .attempts = 2};

                diag_cell_judge(diag_cells_find(&report.cells, diag_flows[f].id, udp, false), &lost,
                                false);
            }
            diag_causes_find(&report);
            check_causes(&report, row->name);
            diag_report_free(&report);
        }
}

/* Of rows that no scene has, too. */
static void no_row_says_more_than_it_knows(void **state) {
    struct diag_report report;
    const struct diag_cause_row *row;

    (void)state;
    scene_report_make(rows[0].red, rows[0].evidence, &report);
    for (size_t i = 0; (row = diag_cause_row(i)); i++) {
        check_text(&report, row->id, row->message);
        check_text(&report, row->id, row->hint);
    }
    diag_report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_cause_contradicts_the_matrix),
        cmocka_unit_test(no_row_says_more_than_it_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
