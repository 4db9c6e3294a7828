/* How the rows of a cluster's causes are compared with its cells. A cause is the same for one node,
 * one direction or all: the row's group says which. */
#include "diag/cluster/cause_row.h"
#include "diag/cluster/causes.h"
#include "diag/network_report.h"

enum { NAMES = 8 };

/* ---- groups ---- */

struct finding {
    struct cluster_report *report;
    size_t *kinds;   /* of each node: the first node of its kind */
    bool *explained; /* of each cell */
    size_t cut;      /* the first cause by which pods behind Services are cut off; SIZE_MAX: none */
    bool *works;     /* of each node: a pod of another node and its own reach each other somehow */
    bool *reported;  /* of each node: a cause was named that it has reported itself */
    bool ending;     /* each row was compared with the cells */
};
/* One group of a kind: which nodes it is about. */
struct key {
    enum cluster_group group;
    size_t a, b;
};

static bool is_windows(const struct finding *f, size_t node) {
    return text_equal(f->report->nodes.items[node].os, "windows");
}

static bool is_in(const struct finding *f, const struct key *key, const struct cluster_cell *c) {
    switch (key->group) {
    case ALL:
        return true;
    case FROM:
        return c->from == key->a;
    case TO:
        return c->to == key->a && c->from != c->to;
    case NODE:
        return c->from == key->a || c->to == key->a;
    case PAIR:
        return c->from == key->a && c->to == key->b && c->from != c->to;
    case SYSTEMS:
        return c->from != c->to && is_windows(f, c->from) == is_windows(f, key->a) &&
               is_windows(f, c->to) == is_windows(f, key->b);
    case KINDS:
        return c->from != c->to && f->kinds[c->from] == f->kinds[key->a] &&
               f->kinds[c->to] == f->kinds[key->b];
    }
    return false;
}

static bool is_partly(const struct cluster_cell *c) {
    return cluster_cell_is_large_lost(c) || cluster_cell_is_lossy(c);
}

/* Red for such a row: a cell that some packets pass has rows of its own. */
static bool is_red(const struct cluster_row *row, const struct cluster_cell *c) {
    return cluster_cell_is_red(c) && row->partly == is_partly(c);
}

/* Does this node work with somebody? One whose peers are all cut off is not to blame. */
static bool works_elsewhere(const struct finding *f, const struct cluster_row *row, size_t node,
                            size_t but) {
    for (size_t i = 0; i < f->report->cells.count; i++) {
        const struct cluster_cell *c = &f->report->cells.items[i];

        if (cluster_cell_is_between_pods(c) && !is_red(row, c) &&
            (c->from == node || c->to == node) && c->from != but && c->to != but)
            return true;
    }
    return false;
}

struct seen {
    size_t red, open; /* open: not explained yet */
    bool green, spared, in, out, elsewhere;
    bool cut;                         /* not all of those that would be spared work */
    bool sources, targets, third;     /* more than one; and a node beside the first cell's two */
    bool alive;                       /* each node of a red cell works with some other */
    const struct cluster_cell *first; /* an open one */
};

static bool is_end(const struct cluster_cell *c, size_t node) {
    return c->from == node || c->to == node;
}

static void look_at(const struct finding *f, const struct cluster_row *row, const struct key *key,
                    struct seen *ret) {
    const struct cluster_cells *cells = &f->report->cells;
    const struct key beside = {.group = row->beside, .a = key->a, .b = key->b};
    const struct cluster_cell *one = NULL;

    *ret = (struct seen){.spared = !row->spared, .elsewhere = row->group != NODE, .alive = true};
    for (size_t i = 0; i < cells->count; i++) {
        const struct cluster_cell *c = &cells->items[i];

        if (row->spared && row->spared(c) && is_in(f, &beside, c)) {
            ret->spared |= !is_red(row, c);
            ret->cut |= is_red(row, c);
        }
        if (!row->among(c) || !is_in(f, key, c))
            continue;
        ret->green |= !is_red(row, c);
        if (!is_red(row, c))
            continue;
        ret->red++;
        ret->in |= c->to == key->a;
        ret->out |= c->from == key->a;
        one = one ? one : c;
        ret->sources |= c->from != one->from;
        ret->targets |= c->to != one->to;
        ret->third |= !is_end(one, c->from) || !is_end(one, c->to);
        ret->alive = ret->alive && f->works[c->from] && f->works[c->to];
        if (!ret->elsewhere)
            ret->elsewhere = works_elsewhere(f, row, c->from == key->a ? c->to : c->from, key->a);
        if (!f->explained[i] && !ret->open++)
            ret->first = c;
    }
}

static bool is_so(const struct cluster_row *row, const struct seen *s) {
    if (!s->open || s->green || !s->spared || s->red < row->least || !s->elsewhere ||
        (row->many && !(row->group == TO ? s->sources : s->targets)))
        return false;
    if ((row->group == NODE && (!s->in || !s->out)) || (row->whole && s->cut))
        return false;
    /* One node of a kind is a node, not a kind. */
    return (row->group != SYSTEMS && row->group != KINDS) ||
           (s->sources && s->targets && s->third && s->alive);
}

static bool is_port_between(const struct cluster_cell *c, const struct cluster_pair *pair) {
    return c->from == pair->from && c->to == pair->to && !c->cell.udp &&
           text_equal(c->cell.flow->id, "nodeport-remote");
}

/* A node that is well but for the NodePort of the node it looks at. */
static bool hears_no_local(const struct finding *f, const struct cluster_pair *pair) {
    const struct cluster_node *asker = &f->report->nodes.items[pair->from];
    bool answers = false;

    for (size_t i = 0; i < f->report->cells.count; i++) {
        const struct cluster_cell *c = &f->report->cells.items[i];

        if (cluster_cell_is_between_pods(c) && is_end(c, pair->from) && cluster_cell_is_red(c))
            return false; /* it was not asked */
        answers |= is_port_between(c, pair) && !cluster_cell_is_red(c);
    }
    return answers && !asker->local_ip && !asker->by_exec;
}

/* Each node looks at the first of those that it is paired with. */
static bool is_local_silent(const struct finding *f, size_t node) {
    const struct cluster_pairs *pairs = &f->report->pairs;

    for (size_t i = 0; i < pairs->count; i++) {
        size_t first = 0;

        while (pairs->items[first].from != pairs->items[i].from)
            first++;
        if (first == i && pairs->items[i].to == node && hears_no_local(f, &pairs->items[i]))
            return true;
    }
    return false;
}

/* ---- causes ---- */

char *cluster_cell_name(const struct cluster_report *report, const struct cluster_cell *c) {
    _cleanup_(freep) char *flow = diag_cell_name(&c->cell);

    if (c->from == c->to)
        return xasprintf("%s %s", flow, c->cell.from);
    return xasprintf("%s %s -> %s", flow, c->cell.from, report->nodes.items[c->to].name);
}

static char *key_name(const struct finding *f, const struct key *key) {
    const struct cluster_node *nodes = f->report->nodes.items;
    _cleanup_(freep) char *a = NULL, *b = NULL;

    switch (key->group) {
    case ALL:
        return xstrdup("all nodes");
    case PAIR:
        return xasprintf("%s to %s", nodes[key->a].name, nodes[key->b].name);
    case SYSTEMS:
        return xasprintf("%s to %s nodes", nodes[key->a].os, nodes[key->b].os);
    case KINDS:
        a = cluster_node_kind(&nodes[key->a]);
        b = cluster_node_kind(&nodes[key->b]);
        return xasprintf("%s to %s", a, b);
    default:
        return xstrdup(nodes[key->a].name);
    }
}

/* The row's cause, made when its first group is found; each further group adds to it. */
struct naming {
    struct diag_cause cause;
    struct text_list names;
    size_t shared[2]; /* of pairs: nodes that are in each of them; SIZE_MAX: none */
    bool sure;        /* of `reports`: fresh, and as the cells are */
};

/* Red for what is named, though it is no cell of the group. */
static bool follows(const struct finding *f, const struct cluster_row *row, const struct key *key,
                    const struct cluster_cell *c) {
    const struct key node = {.group = NODE, .a = key->a};

    return row->touching && row->also && row->also(c) && is_in(f, &node, c);
}

static void add_name(const struct finding *f, const struct key *key, const char *evidence,
                     struct naming *ret) {
    _cleanup_(freep) char *name = key_name(f, key);
    bool first = !ret->names.count;

    for (size_t i = 0; i < ARRAY_SIZE(ret->shared); i++)
        if (first)
            ret->shared[i] = i ? key->b : key->a;
        else if (ret->shared[i] != key->a && ret->shared[i] != key->b)
            ret->shared[i] = SIZE_MAX;
    if (!text_list_has(&ret->names, name))
        text_list_add(&ret->names, name);
    if (ret->cause.evidence.count < NAMES)
        text_list_add(&ret->cause.evidence, evidence);
}

static void add_group(struct finding *f, const struct cluster_row *row, const struct key *key,
                      const char *evidence, struct naming *ret) {
    const struct cluster_cells *cells = &f->report->cells;

    add_name(f, key, evidence, ret);
    for (size_t i = 0; i < cells->count; i++) {
        const struct cluster_cell *c = &cells->items[i];
        bool mine = (is_in(f, key, c) && (row->among(c) || (row->also && row->also(c)))) ||
                    follows(f, row, key, c);

        if (!mine || !cluster_cell_is_red(c) || f->explained[i])
            continue;
        f->explained[i] = true;
        text_list_add_owned(&ret->cause.cells, cluster_cell_name(f->report, c));
    }
}

static void look_at_node(struct finding *f, const struct cluster_row *row, size_t node,
                         struct naming *ret) {
    const struct cluster_node *n = &f->report->nodes.items[node];
    const struct key key = {.group = FROM, .a = node};
    _cleanup_(freep) char *evidence = NULL;

    if (!row->says(n))
        return;
    evidence = xasprintf("%s: %s", n->name, row->says(n));
    add_group(f, row, &key, evidence, ret);
}

/* The group that a red cell is in; `other`: of the two nodes that it touches, the one it goes to.
 */
static struct key key_of(enum cluster_group group, const struct cluster_cell *c, bool other) {
    switch (group) {
    case ALL:
        return (struct key){.group = ALL};
    case FROM:
        return (struct key){.group = FROM, .a = c->from};
    case TO:
        return (struct key){.group = TO, .a = c->to};
    case NODE:
        return (struct key){.group = NODE, .a = other ? c->to : c->from};
    default:
        return (struct key){group, c->from, c->to};
    }
}

static void look_at_group(struct finding *f, const struct cluster_row *row, const struct key *key,
                          struct naming *ret) {
    const struct cluster_node *n = &f->report->nodes.items[key->a];
    _cleanup_(freep) char *cell = NULL;
    struct text evidence = {0};
    struct seen seen;

    look_at(f, row, key, &seen);
    if (!is_so(row, &seen) || (row->local && !is_local_silent(f, key->a)))
        return;
    cell = cluster_cell_name(f->report, seen.first);
    if (seen.red > 1)
        text_addf(&evidence, "each of %zu cells fails, such as ", seen.red);
    text_addf(&evidence, "%s: %s", cell, seen.first->cell.reason);
    if (row->dns)
        text_addf(&evidence, "; inside the pod: DNS servers %s, suffixes %s",
                  n->servers ? n->servers : "unknown", n->suffixes ? n->suffixes : "unknown");
    add_group(f, row, key, text_str(&evidence), ret);
    text_free(&evidence);
}

/* What nodes have published, three times: first what fits the cells and is fresh; otherwise what
 * fits; and at the end, where the row is not named yet, what fits none. */
enum report_look { SURE, FITS, TOLD };

static void look_at_report(struct finding *f, const struct cluster_row *row, size_t node,
                           enum report_look look, struct naming *ret) {
    const struct cluster_node *n = &f->report->nodes.items[node];
    const struct key key = {.group = FROM, .a = node};
    _cleanup_(freep) char *line = NULL, *evidence = NULL;
    struct seen seen;

    if (!row->reports(n))
        return;
    look_at(f, row, &key, &seen);
    if (look == TOLD ? f->reported[node] : !is_so(row, &seen))
        return;
    if (look == SURE && !network_report_is_fresh(n->own_report, f->report->time))
        return;
    line = cluster_own_report_line(f->report, n);
    evidence = xasprintf("%s: %s", n->name, line);
    if (look == TOLD)
        add_name(f, &key, evidence, ret);
    else
        add_group(f, row, &key, evidence, ret);
    f->reported[node] = true;
    ret->sure = look == SURE;
}

static void look_at_reports(struct finding *f, const struct cluster_row *row, struct naming *ret) {
    enum report_look last = f->ending ? TOLD : FITS;

    for (enum report_look look = f->ending ? TOLD : SURE; look <= last && !ret->names.count; look++)
        for (size_t i = 0; i < f->report->nodes.count; i++)
            look_at_report(f, row, i, look, ret);
}

static void look_at_groups(struct finding *f, const struct cluster_row *row, struct naming *ret) {
    struct key last[2] = {{.a = SIZE_MAX}, {.a = SIZE_MAX}}; /* cells of one are side by side */

    for (size_t i = 0; row->says && i < f->report->nodes.count; i++)
        look_at_node(f, row, i, ret);
    if (row->reports)
        look_at_reports(f, row, ret);
    for (size_t i = 0; !row->says && !row->reports && i < f->report->cells.count; i++) {
        const struct cluster_cell *c = &f->report->cells.items[i];
        int ends = row->group == NODE ? 2 : 1;

        for (int other = 0; other < ends; other++) {
            const struct key key = key_of(row->group, c, other);

            if (!is_red(row, c) || f->explained[i] || !row->among(c) ||
                (key.a == last[other].a && key.b == last[other].b)) /* it was not so */
                continue;
            look_at_group(f, row, &key, ret);
            last[other] = key;
        }
    }
}

/* A command of one node's cause has its name. */
static char *hint_make(const struct cluster_row *row, const struct text_list *names) {
    bool node = row->group == FROM || row->group == TO || row->group == NODE;
    const char *hint = row->told.hint, *at = strstr(hint, " NAME ");

    if (!at || !node || names->count != 1)
        return xstrdup(hint);
    return xasprintf("%.*s %s %s", (int)(at - hint), hint, names->items[0], at + strlen(" NAME "));
}

/* "win-1, linux-1"; of pairs that have one node in common that one comes first. */
static char *names_make(const struct finding *f, const struct cluster_row *row,
                        struct naming *naming) {
    const size_t *shared = naming->shared;
    bool one = row->group == PAIR && (shared[0] == SIZE_MAX) != (shared[1] == SIZE_MAX);
    _cleanup_(freep) char *more = NULL, *names = NULL;
    size_t all = naming->names.count;

    while (naming->names.count > NAMES)
        free(naming->names.items[--naming->names.count]);
    names = text_list_join(&naming->names, ", ");
    more = all > NAMES ? xasprintf(" and %zu more", all - NAMES) : xstrdup("");
    if (!one)
        return xasprintf("%s%s", names, more);
    return xasprintf("%s (%s%s)", f->report->nodes.items[shared[shared[0] == SIZE_MAX]].name, names,
                     more);
}

static void find_row(struct finding *f, const struct cluster_row *row) {
    struct diag_causes *causes = &f->report->causes;
    struct naming naming = {0};

    look_at_groups(f, row, &naming);
    if (naming.names.count) {
        _cleanup_(freep) char *names = names_make(f, row, &naming);

        naming.cause.id = row->told.id;
        naming.cause.confirmed = (row->says && !row->aside) || row->surely || naming.sure;
        naming.cause.message = xasprintf("%s: %s", names, row->told.message);
        naming.cause.hint = hint_make(row, &naming.names);
        causes->items = xrealloc(causes->items, (causes->count + 1) * sizeof *causes->items);
        if (row->behind && f->cut == SIZE_MAX)
            f->cut = causes->count;
        causes->items[causes->count++] = naming.cause;
    }
    text_list_free(&naming.names);
}

static bool is_named(const struct finding *f, const struct cluster_row *row) {
    for (size_t i = 0; i < f->report->causes.count; i++)
        if (f->report->causes.items[i].id == row->told.id)
            return true;
    return false;
}

/* Which pod a Service chooses is chance: what is red of Services besides follows. */
static void explain_services(struct finding *f) {
    for (size_t i = 0; i < f->report->cells.count && f->cut != SIZE_MAX; i++) {
        const struct cluster_cell *c = &f->report->cells.items[i];

        if (c->cell.outcome == DIAG_FAIL && !f->explained[i] && cluster_cell_is_by_service(c))
            text_list_add_owned(&f->report->causes.items[f->cut].cells,
                                cluster_cell_name(f->report, c));
    }
}

void cluster_causes_find(struct cluster_report *report) {
    struct finding f = {.report = report,
                        .cut = SIZE_MAX,
                        .kinds = cluster_kinds_make(&report->nodes),
                        .explained = xcalloc(report->cells.count, sizeof *f.explained),
                        .works = xcalloc(report->nodes.count, sizeof *f.works),
                        .reported = xcalloc(report->nodes.count, sizeof *f.reported)};

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct cluster_cell *c = &report->cells.items[i];

        if (cluster_cell_is_between_pods(c) && (!cluster_cell_is_red(c) || is_partly(c)))
            f.works[c->from] = f.works[c->to] = true;
    }
    diag_causes_free(&report->causes);
    for (size_t i = 0; cluster_row(i); i++)
        find_row(&f, cluster_row(i));
    explain_services(&f);
    f.ending = true;
    for (size_t i = 0; cluster_row(i); i++)
        if (cluster_row(i)->reports && !cluster_row(i)->only_red && !is_named(&f, cluster_row(i)))
            find_row(&f, cluster_row(i));
    free(f.kinds);
    free(f.explained);
    free(f.works);
    free(f.reported);
}
