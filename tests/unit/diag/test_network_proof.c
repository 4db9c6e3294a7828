/* The condition PodNetworkProved: what it says of which report, and since when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rfc3339.h"
#include "diag/network_report.h"

#define REPORT(rest) "{\"version\":1,\"time\":\"2026-11-28T10:00:00Z\"" rest "}"
#define DIAG(rest) REPORT(",\"diag\":{\"time\":\"2026-11-28T09:00:00Z\",\"passed\":14," rest "}")
#define WELL "\"flows\":9,\"flowsPassed\":9,\"causes\":[]"
#define LACKS                                                                                      \
    ",\"drift\":{\"servicesWithoutLoadBalancer\":{\"count\":2,\"first\":[\"d/a 10.96.0.9:80/"      \
    "TCP\"]}}"
#define NOW "2026-11-28T10:00:00Z"

static int64_t at(const char *time) {
    int64_t seconds;

    assert_int_equal(rfc3339_parse(time, &seconds, NULL), 0);
    return seconds;
}

/* As it comes from the annotation. */
static json_t *condition_of(const char *text, const json_t *before, const char *now) {
    _cleanup_json_ json_t *report = NULL;
    struct error err = {0};

    if (network_report_read(text, &report, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return network_proof_condition(report, before, at(now));
}

static void what_it_says(void **state) {
    static const struct {
        const char *report, *now, *status, *reason, *message;
    } rows[] = {
        {DIAG(WELL), NOW, "True", "FlowsWork", "9 of 9 flows worked at 2026-11-28T09:00:00Z"},
        {DIAG(WELL), "2026-12-05T09:00:00Z", "True", "FlowsWork",
         "9 of 9 flows worked at 2026-11-28T09:00:00Z"},
        {DIAG(WELL), "2026-12-05T09:00:01Z", "Unknown", "TooOld",
         "9 of 9 flows worked at 2026-11-28T09:00:00Z, too long ago; run winjoin diag on the node"},
        {DIAG("\"flows\":9,\"flowsPassed\":7,\"failed\":{\"count\":3,\"first\":[\"pod-to-node/"
              "tcp\"]},\"causes\":[{\"id\":\"NAT-NONE\",\"confidence\":\"confirmed\"},{\"id\":"
              "\"X\",\"confidence\":\"likely\"}],\"message\":\"no OutBoundNAT\""),
         NOW, "False", "NAT-NONE", "7 of 9 flows worked at 2026-11-28T09:00:00Z: no OutBoundNAT"},
        {DIAG("\"flows\":9,\"flowsPassed\":7,\"failed\":{\"count\":3,\"first\":[\"pod-to-node/"
              "tcp\",\"pod-to-node/udp\"]},\"causes\":[]"),
         NOW, "False", "FlowsFailed",
         "7 of 9 flows worked at 2026-11-28T09:00:00Z; failed: pod-to-node/tcp, pod-to-node/udp"},
        {DIAG("\"flows\":9,\"flowsPassed\":0,\"causes\":[{\"id\":\"SVC-DOWN\",\"confidence\":"
              "\"confirmed\"}],\"message\":\"the kubelet is not running\""),
         NOW, "False", "SVC-DOWN",
         "0 of 9 flows worked at 2026-11-28T09:00:00Z: the kubelet is not running"},
        {DIAG("\"flows\":9,\"flowsPassed\":8,\"causes\":[]"), NOW, "Unknown", "NotMeasured",
         "not all flows of the pod network were measured; run winjoin diag on the node"},
        {DIAG("\"causes\":[]"), NOW, "Unknown", "NotMeasured", NULL},
        {REPORT(""), NOW, "Unknown", "NotMeasured", NULL},
        {REPORT(LACKS), NOW, "False", "CL-HNS", NULL},
        {REPORT(LACKS ",\"diag\":{\"time\":\"2026-11-28T09:00:00Z\",\"passed\":14," WELL "}"), NOW,
         "False", "CL-HNS",
         "HNS has otherwise than Kubernetes: 2 Services without a load balancer in HNS (d/a "
         "10.96.0.9:80/TCP, ...)"},
        {REPORT(",\"drift\":{\"otherEndpoints\":{\"count\":1,\"first\":[]}},\"diag\":{\"time\":"
                "\"2026-11-28T09:00:00Z\",\"passed\":14," WELL "}"),
         NOW, "True", "FlowsWork", NULL}, /* nothing is lacking */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *is = condition_of(rows[i].report, NULL, rows[i].now);

        assert_string_equal(json_text_at(is, "type"), NETWORK_PROOF_CONDITION);
        assert_string_equal(json_text_at(is, "status"), rows[i].status);
        assert_string_equal(json_text_at(is, "reason"), rows[i].reason);
        if (rows[i].message)
            assert_string_equal(json_text_at(is, "message"), rows[i].message);
        assert_string_equal(json_text_at(is, "lastHeartbeatTime"), rows[i].now);
        assert_string_equal(json_text_at(is, "lastTransitionTime"), rows[i].now);
    }
}

/* The time of the last change is the status' own, whatever else is said. */
static void since_when(void **state) {
    _cleanup_json_ json_t *first = condition_of(DIAG(WELL), NULL, NOW), *later = NULL, *old = NULL,
                          *restored = NULL, *again = NULL;

    (void)state;
    later = condition_of(DIAG(WELL), first, "2026-11-28T11:00:00Z");
    assert_string_equal(json_text_at(later, "lastHeartbeatTime"), "2026-11-28T11:00:00Z");
    assert_string_equal(json_text_at(later, "lastTransitionTime"), NOW);
    assert_true(network_proof_equal(first, later));
    old = condition_of(DIAG(WELL), later, "2026-12-28T11:00:00Z");
    assert_string_equal(json_text_at(old, "lastTransitionTime"), "2026-12-28T11:00:00Z");
    assert_false(network_proof_equal(later, old));
    restored = network_proof_restored(old, at("2026-12-28T12:00:00Z"));
    assert_string_equal(json_text_at(restored, "lastTransitionTime"), "2026-12-28T11:00:00Z");
    assert_string_equal(json_text_at(restored, "reason"), "NetworkRestored");
    assert_false(network_proof_equal(restored, old)); /* Unknown, for another reason */
    again = network_proof_restored(first, at("2026-11-28T12:00:00Z"));
    assert_string_equal(json_text_at(again, "status"), "Unknown");
    assert_string_equal(json_text_at(again, "lastTransitionTime"), "2026-11-28T12:00:00Z");
    assert_false(network_proof_equal(NULL, first));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says),
        cmocka_unit_test(since_when),
    };

    return cmocka_run_group_tests_name("PodNetworkProved", tests, NULL, NULL);
}
