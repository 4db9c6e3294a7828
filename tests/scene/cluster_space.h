/* Faults of a cluster by enumeration: what fails (an effect) and between whom (a scope), in
 * clusters of several shapes. The cells are those that a run asks, and fail as they would there. */
#pragma once

#include "tests/scene/cluster_causes_scene.h"

enum { MOST = 25 };

struct shape {
    const char *name;
    unsigned windows, old, lin; /* old: of the Windows nodes, those of an older build */
};

/* A cell's letter is that of cluster_causes_scene.h. */
struct effect {
    const char *name;
    const char *flows; /* that fail in the scope */
    char only; /* 'u' UDP, 't' TCP, '6' IPv6, 'L' large packets, 'c' some by chance; 0 all */
    enum probe_outcome outcome;
    unsigned tries;  /* of a Service: pods that do not answer are behind it; 0: they do */
    bool of_nodes;   /* the scope is nodes that ask, no pairs */
    const char *ids; /* of causes that say so */
    char symptom; /* beside red cells: 'a' no affinity, 'p' no pod, 'r' not Ready, 'x' no proxy, 'l'
                   no Local NodePort; 'n' names time out, 'o' node ports of the nodes refuse */
    unsigned percent; /* lost by chance */
};

/* Between whom. 'A' all, 'F' from x, 'T' to x, 'B' both, 'D' from x to y, 'X' and back. */
struct scope {
    char kind;
    bool x[MOST], y[MOST];
    char words[60];
};

struct fault {
    const struct shape *shape;
    const struct effect *effect;
    struct scope scope;
    uint64_t chance;
};

static inline unsigned draw_number(uint64_t *chance, unsigned below) {
    *chance = *chance * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)((*chance >> 33) % below);
}

static inline bool scope_has(const struct scope *s, size_t a, size_t b) {
    switch (s->kind) {
    case 'A':
        return true;
    case 'F':
        return s->x[a];
    case 'T':
        return s->x[b];
    case 'B':
        return s->x[a] || s->x[b];
    case 'D':
        return s->x[a] && s->y[b];
    default:
        return (s->x[a] && s->y[b]) || (s->y[a] && s->x[b]);
    }
}

/* ---- a cluster of this shape ---- */

static inline void add_shaped_nodes(const struct fault *f, struct cluster_nodes *ret) {
    const struct shape *shape = f->shape;

    ret->count = shape->windows + shape->lin;
    ret->items = xcalloc(ret->count, sizeof *ret->items);
    for (unsigned i = 0; i < ret->count; i++) {
        struct cluster_node *n = &ret->items[i];
        bool windows = i >= shape->lin;
        unsigned number = windows ? i - shape->lin : i;

        n->name = xasprintf("%s-%03u", windows ? "win" : "lin", number);
        n->os = xstrdup(windows ? "windows" : "linux");
        n->build = xstrdup(!windows ? "" : number < shape->old ? "10.0.17763" : "10.0.20348");
        n->version = xstrdup("v1.37.1");
        n->network = xstrdup("flannel vxlan");
        n->ip = xasprintf("10.0.0.%u", i);
        n->pod = xasprintf("probe-%u", i);
        n->pod_ip = xasprintf("10.244.%u.2", i);
        n->pod_ip6 =
            strchr("6", f->effect->only) && f->effect->only ? xasprintf("fd00::%u:2", i) : NULL;
        n->suffixes = xstrdup("x.svc.cluster.local");
        n->servers = xstrdup("10.96.0.10");
        n->local_ip = xstrdup("10.244.9.9");
        n->sticky = n->fixed = n->ready = n->pod_ready = true;
    }
}

static inline void break_nodes(const struct fault *f, struct cluster_nodes *nodes) {
    for (size_t i = 0; i < nodes->count; i++) {
        struct cluster_node *n = &nodes->items[i];

        if (!f->scope.x[i] && f->scope.kind != 'A')
            continue;
        n->fixed &= f->effect->symptom != 'a';
        n->ready &= f->effect->symptom != 'r';
        if (f->effect->symptom == 'p' || f->effect->symptom == 'r')
            n->waiting = xstrdup("of the model");
        if (f->effect->symptom == 'x')
            n->unreached = xstrdup("i/o timeout");
    }
}

/* ---- its cells ---- */

static inline bool is_protocol(const struct effect *e, const struct diag_cell *c) {
    return e->only == 't' || e->only == 'L'   ? !c->udp
           : e->only == 'u' || e->only == 'c' ? c->udp
           : e->only == '6'                   ? c->family == 6
                                              : true;
}

/* From a node's pods to those of another one. */
static inline bool is_blocked(const struct fault *f, size_t a, size_t b) {
    return a != b && scope_has(&f->scope, a, b);
}

/* The DNS runs on the first and the last Linux node, or outside of what is asked. */
static inline bool is_dns_blocked(const struct fault *f, size_t from) {
    unsigned lin = f->shape->lin;

    return lin && is_blocked(f, from, 0) && is_blocked(f, from, lin - 1) && f->effect->only != 't';
}

/* A Service that is asked several times leads to a pod that answers, sooner or later. */
static inline bool is_behind(struct fault *f, const struct diag_cell *c) {
    size_t count = f->shape->windows + f->shape->lin;

    for (unsigned i = 0; i < f->effect->tries; i++)
        if (!is_blocked(f, c->to_node, draw_number(&f->chance, (unsigned)count)))
            return false;
    return true;
}

static inline enum probe_outcome outcome_of(struct fault *f, const struct diag_cell *c) {
    const struct effect *e = f->effect;
    bool name = strchr("nqfaE", letter(c)) != NULL;
    size_t asker = c->from_node;

    if (e->symptom == 'o' && letter(c) == 'o' && scope_has(&f->scope, c->to_node, c->to_node))
        return PROBE_REFUSED;
    if (e->symptom == 'n' && name && scope_has(&f->scope, asker, asker))
        return PROBE_DNS_TIMEOUT;
    if (strchr(e->flows, letter(c)) && is_protocol(e, c) &&
        scope_has(&f->scope, asker, e->of_nodes ? asker : c->to_node))
        return e->outcome;
    if (e->tries && name && is_dns_blocked(f, asker))
        return PROBE_DNS_TIMEOUT;
    if (e->tries && strchr("sqfo", letter(c)) && is_protocol(e, c) && is_behind(f, c))
        return e->outcome;
    return PROBE_OK;
}

static inline void break_cell(struct fault *f, struct diag_cell *c) {
    enum probe_outcome outcome = outcome_of(f, c);
    unsigned lost = 0, percent = f->effect->percent;

    for (unsigned i = 0; i < 20 && outcome != PROBE_OK; i++)
        lost += percent ? draw_number(&f->chance, 100) < percent : 1;
    c->outcome = lost ? DIAG_FAIL : DIAG_PASS;
    c->result.outcome = lost ? outcome : PROBE_OK;
    c->result.attempts = percent ? 20 : 3;
    c->result.succeeded = lost && !percent ? 0 : c->result.attempts - lost;
    c->counted = percent;
    c->large = lost && f->effect->only == 'L' ? LARGE_LOST : LARGE_ARRIVE;
    text_format(c->reason, sizeof c->reason, "%s", lost ? "of the model" : "");
}

static inline void break_cells(struct fault *f, struct diag_report *report, size_t first) {
    for (size_t i = first; i < report->cells.count; i++) {
        struct diag_cell *c = &report->cells.items[i];

        if (report->nodes.items[c->from_node].waiting)
            continue;
        if (report->nodes.items[c->from_node].unreached)
            cluster_cell_unasked(c, "i/o timeout");
        else
            break_cell(f, c);
    }
}

/* Nobody gets an answer at the NodePort that leads to a node's own pod. */
static inline void break_local(const struct fault *f, struct diag_report *report) {
    for (size_t i = report->pairs.count; f->effect->symptom == 'l' && i-- > 0;) {
        const struct cluster_pair *pair = &report->pairs.items[i];
        struct cluster_node *asker = &report->nodes.items[pair->from];

        free(asker->local_ip);
        asker->local_ip = f->scope.kind == 'A' || f->scope.x[pair->to] ? NULL : xstrdup("10.0.0.9");
    }
}

/* As a run asks: the pairs, more beside those that fail, and what comes of it. */
static inline void ask_space(struct fault *f, struct diag_report *ret) {
    static const struct cluster_addresses four = {"10.96.0.5", "",    "10.96.0.6", "10.96.0.7",
                                                  30000,       30001, 30002};
    static const struct cluster_options options = {.external_ip = "192.0.2.1:443",
                                                   .external_name = "example.com:443"};
    struct cluster_addresses at = four;
    size_t pairs, cells;
    bool red = false;

    *ret = (struct diag_report){
        .namespace_ = xstrdup("x"), .domain = xstrdup("cluster.local"), .server = xstrdup("s")};
    add_shaped_nodes(f, &ret->nodes);
    if (f->effect->only == '6')
        text_format(at.backend_ip6, sizeof at.backend_ip6, "fd00:1::5");
    break_nodes(f, &ret->nodes);
    cluster_pairs_make(&ret->nodes, &ret->pairs);
    cluster_cells_make(ret, &options, &at, &ret->cells);
    break_local(f, ret);
    pairs = ret->pairs.count;
    cells = ret->cells.count;
    break_cells(f, ret, 0);
    for (size_t i = 0; i < cells; i++)
        red |= diag_cell_is_open(&ret->cells.items[i]);
    if (red) {
        cluster_pairs_widen(ret);
        cluster_cells_widen(ret, &at, pairs);
        break_cells(f, ret, cells);
    }
    cluster_causes_find(ret);
}

/* ---- whom a cause names ---- */

/* "win-001", "windows", "all", or a kind of nodes. */
static inline bool is_named(const struct diag_report *report, const char *words, size_t node) {
    const struct cluster_node *n = &report->nodes.items[node];
    _cleanup_(freep) char *kind = cluster_node_text(n, ALIKE_KIND);

    return text_equal(words, "all") || text_equal(words, n->name) || text_equal(words, n->os) ||
           text_equal(words, kind);
}

/* Which direction an id has by itself. */
static inline char way_of(const char *id) {
    static const char *const from[] = {"CL-NODE-OUT", "CL-BEYOND",   "CL-TARGET-PAIR",
                                       "CL-DNS-NODE", "CL-DNS-SOME", "CL-DNS-SHORT"},
                             *const to[] = {"CL-NODE-IN", "CL-SUBNET",        "CL-KUBELET",
                                            "CL-TARGET",  "CL-NODEPORT-NODE", "CL-NODEPORT-TAKEN"};

    for (size_t i = 0; i < ARRAY_SIZE(from); i++)
        if (text_equal(id, from[i]))
            return 'F';
    for (size_t i = 0; i < ARRAY_SIZE(to); i++)
        if (text_equal(id, to[i]))
            return 'T';
    return 'B';
}

/* An item of a cause's names: "a to b", "a (to there)", or one whose direction is the id's. */
static inline bool item_has(const struct diag_report *report, const char *item, char way, size_t a,
                            size_t b) {
    _cleanup_(freep) char *words = xstrdup(item);
    char *to, *more = strstr(words, " (");

    if (more) {
        way = text_equal(more, " (to there)") ? 'T' : text_equal(more, " (from there)") ? 'F' : 'B';
        *more = '\0';
    }
    if (text_ends_with(words, " nodes"))
        words[strlen(words) - strlen(" nodes")] = '\0';
    to = strstr(words, " to ");
    if (to) {
        *to = '\0';
        return is_named(report, words, a) && is_named(report, to + 4, b);
    }
    return (way != 'T' && is_named(report, words, a)) || (way != 'F' && is_named(report, words, b));
}

/* "win-1 (to there): ...", "win-1 (win-1 to lin-1, win-1 to lin-2): ...", "win-1, win-2: ...". */
static inline bool cause_has(const struct diag_report *report, const struct diag_cause *cause,
                             size_t a, size_t b) {
    _cleanup_(freep) char *names = xstrndup(cause->message, strcspn(cause->message, ":"));
    _cleanup_(text_list_free) struct text_list items = {0};
    char *shared = strstr(names, " ("), *more = strstr(names, " and ");
    bool has = false;

    if (shared && !text_starts_with(shared, " (to there") && !text_starts_with(shared, " (from")) {
        memmove(names, shared + 2, strlen(shared) - 1);
        names[strlen(names) - 1] = '\0';
    }
    if (more && text_ends_with(names, " more"))
        *more = '\0';
    text_list_split(&items, names, ',');
    for (size_t i = 0; i < items.count; i++)
        has |=
            item_has(report, items.items[i] + strspn(items.items[i], " "), way_of(cause->id), a, b);
    return has;
}

/* Behind the first names a number stands for others. */
static inline size_t names_left_out(const struct diag_cause *cause) {
    const char *more = strstr(cause->message, " more: ");

    while (more && more > cause->message && more[-1] != ' ')
        more--;
    return more ? (size_t)strtoul(more, NULL, 10) : 0;
}
