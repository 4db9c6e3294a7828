/* Collects what is known around red cells (failed or not run) that no row explains, so that the
 * next reader need not ask for it. */
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"

/* Extra questions beside the flows, and the machine or pod that an answer proves to be reached. */
static const struct {
    enum diag_extra_id extra;
    const char *who;
} asked[] = {
    {X_DNS_POD, "a pod of the DNS, at its own address"},
    {X_PEER, "the node of that pod, asked by a pod"},
    {X_NODE_PEER, "that node, asked by this node"},
    {X_NODE_API, "the API server, asked by this node"},
    {X_NODE_EXTERNAL, "the target outside, asked by this node"},
};

/* The two ends of each flow by address. */
static const struct {
    uint32_t tcp, udp;
    const char *where;
} between[] = {
    {CELL_TCP(POD_IP), CELL_UDP(POD_IP), "between pods of this node"},
    {CELL_TCP(NODE_POD), CELL_UDP(NODE_POD), "from this node to its pods"},
    {CELL_TCP(POD_NODE), CELL_UDP(POD_NODE), "from pods to their own node"},
    {CELL_TCP(SVC_IP), 0, "from pods to the API server"},
    {0, CELL_UDP(SVC_IP), "from pods to the cluster's DNS"},
    {CELL_TCP(EXT_IP), CELL_UDP(EXT_IP), "from pods to outside"},
};

/* Names the ends between which packets are lost: "from pods to their own node (UDP alone), ...".
 * NULL when only flows by name fail. The caller frees it. */
static char *where(const struct symptoms *symptoms, uint32_t cells) {
    _cleanup_(text_list_free) struct text_list names = {0};

    for (size_t i = 0; i < ARRAY_SIZE(between); i++) {
        const char *alone = "";

        if ((cells & between[i].udp) && (symptoms->green & between[i].tcp))
            alone = " (UDP alone)";
        if ((cells & between[i].tcp) && (symptoms->green & between[i].udp))
            alone = " (TCP alone)";
        if (cells & (between[i].tcp | between[i].udp))
            text_list_add_owned(&names, xasprintf("%s%s", between[i].where, alone));
    }
    return names.count ? text_list_join(&names, ", ") : NULL;
}

/* Notes who of `asked` replied, or with `answers` false, who did not. */
static void note_asked(const struct symptoms *symptoms, bool answers,
                       struct cause_finding *finding) {
    _cleanup_(text_list_free) struct text_list who = {0};
    _cleanup_(freep) char *names = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(asked); i++)
        if (symptoms->extras[asked[i].extra].said & (answers ? SAID_THERE : ~SAID_THERE))
            text_list_add(&who, asked[i].who);
    if (!who.count)
        return;
    names = text_list_join(&who, "; ");
    finding_note(finding, answers ? "an answer came from: %s" : "no answer came from: %s", names);
}

/* ---- what has been changed since winjoin wrote it ---- */

/* Notes each change, and the command that undoes the first one. Whether a changed file breaks
 * anything is known only for the node's kubeconfig, which the first look reads. */
enum level judge_changed(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *changed = json_object_get(symptoms->evidence, "changed");
    const char *command = json_text_at(json_array_get(changed, 0), "command"),
               *waits = json_text_at(symptoms->pods[POD_A].said, "waiting");
    const char *unread =
        text_equal(json_text_at(symptoms->evidence, "look.api.outcome"), "no-identity")
            ? json_text_at(symptoms->evidence, "look.api.detail")
            : NULL;
    bool sure = false;

    json_each(changed, i, row) {
        const char *kind = json_text_at(row, "kind"), *target = json_text_at(row, "target"),
                   *difference = json_text_at(row, "difference");

        if (kind && target && difference)
            finding_note(finding, "%s %s: %s", kind, target, difference);
        sure |= target && unread && strstr(unread, target);
    }
    if (command)
        finding->hint =
            xasprintf("if that was not meant, this undoes the first change: %s", command);
    if (sure)
        finding_note(finding, "%s", unread);
    if (finding->what) { /* The cause keeps pods from starting. */
        finding->may &= symptoms->red & ~symptoms->failed;
        if (finding->evidence.count && waits)
            finding_note(finding, "%s is waiting: %s", symptoms->pods[POD_A].name, waits);
    }
    return sure ? CONFIRMED : finding->evidence.count ? LIKELY : NO;
}

enum level judge_unknown(const struct symptoms *symptoms, struct cause_finding *finding) {
    _cleanup_(freep) char *lost = where(symptoms, symptoms->failed & ~symptoms->explained);
    uint32_t cells = symptoms->red & ~symptoms->explained;
    const json_t *drift = json_object_get(symptoms->evidence, "kubernetes");
    _cleanup_(text_list_free) struct text_list ruled_out = {0};
    _cleanup_(freep) char *names = NULL;
    bool differs = false;

    if (lost)
        finding->message = xasprintf("no known cause explains what fails %s", lost);
    for (size_t i = 0; i < symptoms->report->cells.count; i++) {
        const struct diag_cell *cell = &symptoms->report->cells.items[i];
        _cleanup_(freep) char *name = NULL;

        if (cell->second != symptoms->second || !(cell_bit(cell) & cells))
            continue;
        name = diag_cell_name(cell);
        if (cell->outcome == DIAG_NOT_RUN)
            finding_note(finding, "%s was not measured: %s", name, cell->reason);
        else
            finding_note(finding, "%s from %s to %s: %s", name, cell->from, cell->to,
                         probe_outcome_names[cell->result.outcome]);
        break; /* One example is enough. */
    }
    note_asked(symptoms, true, finding);
    note_asked(symptoms, false, finding);

    json_each_member(drift, key, rows)
        differs |= json_array_size(rows) != 0;
    if (drift && !differs)
        text_list_add(&ruled_out, "HNS has what Kubernetes says");
    if (symptoms->network)
        text_list_add(&ruled_out, "the pods' network is there");
    if (symptoms->pods[POD_A].endpoint && symptoms->pods[POD_B].endpoint)
        text_list_add(&ruled_out, "both pods have their endpoints, and no ACL policy blocks them");
    names = text_list_join(&ruled_out, "; ");
    if (ruled_out.count)
        finding_note(finding, "ruled out: %s", names);
    return LIKELY;
}
