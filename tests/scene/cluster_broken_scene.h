/* Cells of that cluster that fail, as a fault has them. */
#pragma once

#include "tests/scene/cluster_causes_scene.h"

enum { ANY = 99, WINDOWS = 98, LINUX = 97, OLD = 96 }; /* OLD: Windows of the older build */

static inline bool fits(int wanted, size_t node) {
    switch (wanted) {
    case ANY:
        return true;
    case WINDOWS:
        return node < 3;
    case LINUX:
        return node >= 3;
    case OLD:
        return node < 2;
    default:
        return node == (size_t)wanted;
    }
}

/* Red cells: of these flows, from these nodes to those (both directions with `both`), of a
 * protocol. */
struct broken {
    const char *flows;
    int from, to;
    bool both;
    char only; /* 'u' UDP, 't' TCP, '6' IPv6, 'L' large ones of TCP, 'c' some of UDP, 's' some, 0
                  all */
    enum probe_outcome outcome;
    const char *cause; /* that is named first, and alone but for `also` */
    const char *also;
};

static inline bool is_broken(const struct broken *b, const struct diag_cell *c) {
    if (!strchr(b->flows, letter(c)) || (strchr("uc", b->only) && b->only && !c->udp) ||
        (b->only && strchr("Lt", b->only) && c->udp) || (b->only == '6' && c->family != 6))
        return false;
    if (b->to == ANY && b->both)
        return fits(b->from, c->from_node) ||
               (c->from_node != c->to_node && fits(b->from, c->to_node));
    return fits(b->from, c->from_node) && fits(b->to, c->to_node);
}

static inline void paint(struct diag_report *report, const struct broken *b) {
    for (size_t i = 0; i < report->cells.count; i++) {
        struct diag_cell *c = &report->cells.items[i];
        bool red = b && is_broken(b, c);

        c->outcome = red ? DIAG_FAIL : DIAG_PASS;
        c->result.outcome = red ? b->outcome : PROBE_OK;
        c->large = red && b->only == 'L' ? LARGE_LOST_BACK : LARGE_ARRIVE;
        c->result.attempts = 10;
        c->result.succeeded = red && b->only && strchr("cs", b->only) ? 6 : 0;
        text_format(c->reason, sizeof c->reason, "%s", red ? "i/o timeout" : "");
    }
}

/* "CL-SUBNET w1; ": id and places of each cause; the caller frees. */
static inline char *causes_text(const struct diag_report *report) {
    struct text text = {0};

    for (size_t i = 0; i < report->causes.count; i++) {
        const struct diag_cause *cause = &report->causes.items[i];

        text_addf(&text, "%s %.*s; ", cause->id, (int)strcspn(cause->message, ":"), cause->message);
    }
    return text_take(&text);
}
