/* The network of a node as a picture in its page: who asks, who is asked, an arrow each flow. What
 * its color says its words say, too; a red arrow leads to its cause. */
#include "diag/reports/forms.h"

enum { WIDTH = 760, LEFT = 160, RIGHT = 570, BOX = 180, TOP = 10, STEP = 32, GAP = 14 };

/* What a pod of this node talks to: a box each, beside the flows that lead to it. */
static const struct place {
    const char *title, *what;
    enum diag_flow_id flows[4]; /* the last is followed by FLOW_COUNT */
} places[] = {
    {"another pod", "by the cluster's DNS", {FLOW_POD_IP, FLOW_POD_NAME, FLOW_COUNT}},
    {"Services", "load balancers, DNS", {FLOW_SVC_IP, FLOW_SVC_SHORT, FLOW_SVC_FQDN, FLOW_COUNT}},
    {"outside", "beyond the cluster", {FLOW_EXT_IP, FLOW_EXT_DNS, FLOW_COUNT}},
    {"this node", "kubelet, host", {FLOW_NODE_POD, FLOW_POD_NODE, FLOW_COUNT}},
};

/* How bad, the worst last. */
static unsigned badness(enum diag_outcome outcome) {
    static const unsigned order[] = {
        [DIAG_SKIP] = 0, [DIAG_PASS] = 1, [DIAG_SLOW] = 2, [DIAG_NOT_RUN] = 3, [DIAG_FAIL] = 4};

    return order[outcome];
}

/* The worst cell of a flow, or NULL; its outcomes as words ("TCP pass, UDP fail"), and those alone
 * that are not pass. */
static const struct diag_cell *worst_of(const struct diag_report *report, enum diag_flow_id flow,
                                        struct text *words, struct text *shown) {
    const struct diag_cell *worst = NULL;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];

        if (cell->flow->id != flow)
            continue;
        text_addf(words, "%s%s%s %s", words->len ? ", " : "", cell->udp ? "UDP" : "TCP",
                  cell->second ? " IPv6" : "", diag_outcome_name(cell->outcome));
        if (cell->outcome != DIAG_PASS)
            text_addf(shown, "%s%s%s %s", shown->len ? ", " : "", cell->udp ? "UDP" : "TCP",
                      cell->second ? " IPv6" : "", diag_outcome_name(cell->outcome));
        if (!worst || badness(cell->outcome) > badness(worst->outcome))
            worst = cell;
    }
    return worst;
}

static void add_arrow(struct text *t, const struct diag_report *report, enum diag_flow_id id,
                      unsigned y) {
    const struct diag_flow *flow = &diag_flows[id];
    _cleanup_(text_free) struct text words = {0}, shown = {0};
    const struct diag_cell *worst = worst_of(report, id, &words, &shown);
    _cleanup_(freep) char *name = worst ? diag_cell_name(worst) : NULL;
    const struct diag_cause *cause =
        worst && diag_cell_is_red(worst) ? diag_cause_of(&report->causes, name) : NULL;
    bool back = flow->is & FLOW_FROM_NODE;
    unsigned from = back ? RIGHT - 6 : LEFT + 6, to = back ? LEFT + 6 : RIGHT - 6,
             wing = back ? to + 9 : to - 9;

    if (!worst)
        return;
    if (cause)
        text_addf(t, "<a href=\"#%s\">", cause->id);
    text_addf(t, "<g role=\"img\" class=\"%s\" aria-label=\"%s to %s%s%s: %s%s%s\">",
              diag_outcome_name(worst->outcome), flow->from, flow->to, *flow->by ? ", " : "",
              flow->by, text_str(&words), cause ? "; cause " : "", cause ? cause->id : "");
    text_addf(t, "<path d=\"M%u %uH%u\"/><path class=\"head\" d=\"M%u %ul%d -5v10z\"/>", from, y,
              wing, to, y, (int)wing - (int)to);
    text_addf(t, "<text x=\"%u\" y=\"%u\">%s%s%s%s%s</text></g>%s\n", (LEFT + RIGHT) / 2, y - 6,
              flow->by, *flow->by ? ": " : "", shown.len ? text_str(&shown) : "pass",
              cause ? " - " : "", cause ? cause->id : "", cause ? "</a>" : "");
}

/* Of four lines: what measures contrast takes a rectangle for something over the words. */
static void add_box(struct text *t, unsigned x, unsigned y, unsigned width, unsigned height,
                    const char *title, const char *what) {
    text_addf(t, "<g role=\"img\" aria-label=\"%s, ", title);
    markup_add(t, what);
    text_addf(t,
              "\"><path d=\"M%u %uh%u\"/><path d=\"M%u %uh%u\"/><path d=\"M%u %uv%u\"/>"
              "<path d=\"M%u %uv%u\"/><text x=\"%u\" y=\"%u\">%s</text>"
              "<text class=\"what\" x=\"%u\" y=\"%u\">",
              x, y, width, x, y + height, width, x, y, height, x + width, y, height, x + width / 2,
              y + height / 2 - 3, title, x + width / 2, y + height / 2 + 15);
    markup_add(t, what);
    text_add(t, "</text></g>\n");
}

void diag_picture_add_html(struct text *t, const struct diag_report *report) {
    struct diag_summary s;
    unsigned y = TOP;
    struct text boxes = {0};

    if (!report->cells.count)
        return;
    diag_summary_make(report, &s);
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        const struct place *p = &places[i];
        unsigned rows = 0;

        while (p->flows[rows] != FLOW_COUNT)
            rows++;
        add_box(&boxes, RIGHT, y, BOX, rows * STEP, p->title, p->what);
        for (unsigned k = 0; k < rows; k++)
            add_arrow(&boxes, report, p->flows[k], y + k * STEP + STEP / 2 + 6);
        y += rows * STEP + GAP;
    }
    text_addf(t,
              "<svg class=\"picture\" role=\"group\" aria-labelledby=\"picture picture-what\" "
              "viewBox=\"0 0 %d %u\"><title id=\"picture\">The pod network</title>"
              "<desc id=\"picture-what\">%u of %u flows between a pod of this node and others "
              "work.</desc>\n",
              WIDTH, y - GAP + TOP, s.flows_pass, s.flows);
    add_box(t, 10, TOP, LEFT - 10, y - GAP - TOP, "a pod",
            report->node ? report->node : "this node");
    text_add_bytes(t, text_str(&boxes), boxes.len);
    text_add(t, "</svg>\n");
    text_free(&boxes);
}
