/* What the condition PodNetworkProved says, and why. */
#include "diag/network_proof.h"

#include "base/rfc3339.h"
#include "diag/drift/drift.h"
#include "diag/network_report.h"

#define UNPROVED "Unknown"

struct proof {
    const char *status, *reason;
    struct text message;
};

static json_t *condition(const struct proof *proof, const json_t *before, int64_t now) {
    const char *since = json_text_at(before, "lastTransitionTime"), *time = RFC3339_TEXT(now);

    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "type", NETWORK_PROOF_CONDITION, "status",
                     proof->status, "reason", proof->reason, "message", text_str(&proof->message),
                     "lastHeartbeatTime", time, "lastTransitionTime",
                     since && text_equal(json_text_at(before, "status"), proof->status) ? since
                                                                                        : time);
}

/* ---- what was measured ---- */

static void say_flows(struct proof *proof, const json_t *diag) {
    text_addf(&proof->message, "%lld of %lld flows worked at %s",
              json_number_at(diag, "flowsPassed", 0), json_number_at(diag, "flows", 0),
              json_text_at(diag, "time"));
}

static void judge_failed(struct proof *proof, const json_t *diag) {
    const char *id = json_text_at(diag, "causes.0.id"), *said = json_text_at(diag, "message");

    *proof = (struct proof){.status = "False", .reason = id ? id : "FlowsFailed"};
    say_flows(proof, diag);
    if (said)
        text_addf(&proof->message, ": %s", said);
    else
        json_each(json_at(diag, "failed.first"), i, cell)
            text_addf(&proof->message, "%s%s", i ? ", " : "; failed: ", json_string_value(cell));
}

static void judge_diag(struct proof *proof, const json_t *diag, int64_t now) {
    long long flows = json_number_at(diag, "flows", 0);
    bool some_not = !flows || json_number_at(diag, "flowsPassed", 0) < flows;

    if (json_object_get(diag, "failed") || (some_not && json_at(diag, "causes.0"))) {
        judge_failed(proof, diag);
        return;
    }
    *proof = (struct proof){.status = UNPROVED, .reason = "NotMeasured"};
    if (some_not) {
        text_add(&proof->message, "not all flows of the pod network were measured; run winjoin "
                                  "diag on the node");
        return;
    }
    say_flows(proof, diag);
    if (now - rfc3339_seconds(json_text_at(diag, "time")) <= NETWORK_PROOF_TERM_SECONDS) {
        proof->status = "True";
        proof->reason = "FlowsWork";
        return;
    }
    proof->reason = "TooOld";
    text_add(&proof->message, ", too long ago; run winjoin diag on the node");
}

/* ---- what HNS has since ---- */

/* As the cause of the cluster's diagnosis has it (CL-HNS). */
static void judge_lacking(struct proof *proof, const json_t *report) {
    _cleanup_(freep) char *lacking = network_report_drift(report);

    text_free(&proof->message);
    *proof = (struct proof){.status = "False", .reason = "CL-HNS"};
    text_addf(&proof->message, "HNS has otherwise than Kubernetes: %s", lacking);
}

json_t *network_proof_condition(const json_t *report, const json_t *before, int64_t now) {
    struct proof proof;
    json_t *made;

    judge_diag(&proof, json_object_get(report, "diag"), now);
    if (!text_equal(proof.status, "False") && network_report_lacks(report))
        judge_lacking(&proof, report);
    made = condition(&proof, before, now);
    text_free(&proof.message);
    return made;
}

json_t *network_proof_restored(const json_t *before, int64_t now) {
    struct proof proof = {.status = UNPROVED, .reason = "NetworkRestored"};
    json_t *made;

    text_addf(&proof.message,
              "HNS was restarted, and its networks were made again at %s; what HNS has is compared "
              "with Kubernetes within two minutes",
              RFC3339_TEXT(now));
    made = condition(&proof, before, now);
    text_free(&proof.message);
    return made;
}

bool network_proof_equal(const json_t *a, const json_t *b) {
    static const char *const keys[] = {"status", "reason", "message"};

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (!text_equal(json_text_at(a, keys[i]), json_text_at(b, keys[i])))
            return false;
    return true;
}
