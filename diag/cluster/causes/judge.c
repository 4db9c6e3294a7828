/* How the rows of a cluster's causes are compared with its cells: where an effect is (scopes.c),
 * and what it is called there. */
#include "diag/cluster/causes/causes.h"
#include "diag/cluster/causes/cause_row.h"
#include "diag/network_report.h"

enum { NAMES = 8 };

/* A cause while its places are found: all of one id, in the order of their finding. */
struct naming {
    const struct cluster_row *row; /* the first that named it */
    struct diag_cause_row told;
    struct diag_cause cause;
    struct text_list names;
    json_t *named;    /* a member each */
    size_t shared[2]; /* of pairs: nodes that are in each of them; SIZE_MAX: none */
    bool pairs;       /* nothing but pairs */
    bool one;         /* a node */
};
struct finding {
    struct diag_report *report;
    struct cluster_map map;
    bool *explained;  /* of each cell */
    bool *reported;   /* of each node: a cause was named that it has reported itself */
    bool *silent;     /* of each node: its Local NodePort surely answers nobody */
    bool *local;      /* of each node: CL-LOCAL was named for it */
    size_t *touching; /* places of the cells from and to a node, in their order, node by node; */
    size_t *ends;     /* behind those of each node */
    struct naming *namings;
    size_t count;
};

/* ---- the NodePort that leads to a node's own pod ---- */

/* Each node looks at the first of those that it is paired with; SIZE_MAX: at none. */
static size_t *looked_at_make(const struct diag_report *report) {
    size_t *at = xcalloc(report->nodes.count + 1, sizeof *at);

    for (size_t i = 0; i < report->nodes.count; i++)
        at[i] = SIZE_MAX;
    for (size_t i = 0; i < report->pairs.count; i++)
        if (at[report->pairs.items[i].from] == SIZE_MAX)
            at[report->pairs.items[i].from] = report->pairs.items[i].to;
    return at;
}

/* Who looks must reach the other NodePort there, and have been asked: nodes whose TCP fails are not
 * asked for all. */
static bool *silent_make(const struct diag_report *report, bool surely) {
    size_t count = report->nodes.count + 1, *at = looked_at_make(report);
    bool *silent = xcalloc(count, sizeof *silent), *fails = xcalloc(count, sizeof *fails),
         *answers = xcalloc(count, sizeof *answers);

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *c = &report->cells.items[i];

        if (c->udp)
            continue;
        if (diag_cell_is_open(c) && (surely || cluster_cell_is_between_pods(c)))
            fails[c->from_node] = fails[c->to_node] = true;
        answers[c->from_node] |=
            c->to_node == at[c->from_node] && !diag_cell_is_open(c) && cluster_cell_is_to_port(c);
    }
    for (size_t i = 0; i < report->nodes.count; i++) {
        const struct cluster_node *asker = &report->nodes.items[i];

        if (!asker->local_ip && !asker->by_exec && at[i] != SIZE_MAX)
            silent[at[i]] = answers[i] && !fails[i];
    }
    free_all(at, fails, answers);
    return silent;
}

/* ---- causes ---- */

static void touching_make(struct finding *f) {
    const struct diag_cells *cells = &f->report->cells;
    size_t *ends = xcalloc(f->report->nodes.count + 1, sizeof *ends);

    f->touching = xcalloc(2 * cells->count + 1, sizeof *f->touching);
    for (size_t i = 0; i < cells->count; i++) {
        ends[cells->items[i].from_node + 1]++;
        ends[cells->items[i].to_node + 1] += cells->items[i].to_node != cells->items[i].from_node;
    }
    for (size_t i = 0; i < f->report->nodes.count; i++)
        ends[i + 1] += ends[i];
    for (size_t i = 0; i < cells->count; i++) {
        size_t from = cells->items[i].from_node, to = cells->items[i].to_node;

        f->touching[ends[from]++] = i;
        if (to != from)
            f->touching[ends[to]++] = i;
    }
    f->ends = ends;
}

static struct naming *naming_of(struct finding *f, const struct cluster_row *row,
                                const struct diag_cause_row *told) {
    for (size_t i = 0; i < f->count; i++)
        if (text_equal(f->namings[i].told.id, told->id))
            return &f->namings[i];
    array_add(f->namings, f->count,
              (struct naming){.row = row,
                              .told = *told,
                              .pairs = true,
                              .named = json_object(),
                              .cause.confirmed = true});
    return &f->namings[f->count - 1];
}

static void add_name(const struct finding *f, const struct cluster_found *found, const char *way,
                     const char *evidence, struct naming *ret) {
    const struct cluster_place *place = &found->place;
    _cleanup_(freep) char *name = cluster_place_name(&f->map, place);
    _cleanup_(freep) char *whole = xasprintf("%s%s", name, way);
    bool first = !ret->names.count;

    ret->pairs = ret->pairs && cluster_place_scope(place) == PAIR;
    for (size_t i = 0; i < ARRAY_SIZE(ret->shared); i++)
        if (first)
            ret->shared[i] = i ? place->b : place->a;
        else if (ret->shared[i] != place->a && ret->shared[i] != place->b)
            ret->shared[i] = SIZE_MAX;
    ret->one = first && place->set == ONE && place->way != BETWEEN;
    if (!json_object_get(ret->named, whole)) {
        json_object_set_new(ret->named, whole, json_true());
        text_list_add(&ret->names, whole);
    }
    if (ret->cause.evidence.count < NAMES)
        text_list_add(&ret->cause.evidence, evidence);
}

/* Red for what is named, though it is perhaps no cell of the place. */
static bool follows(const struct finding *f, const struct cluster_row *row,
                    const struct cluster_place *place, const struct diag_cell *c) {
    struct cluster_place wide = *place;

    if (row->touching && place->way == FROM)
        wide.way = TOUCHING;
    return row->also && row->also(c) && cluster_place_has(&f->map, &wide, c);
}

static void explain(struct finding *f, const struct cluster_row *row,
                    const struct cluster_place *place, struct naming *ret) {
    bool one = place->set == ONE && !place->side;
    size_t begin = one && place->a ? f->ends[place->a - 1] : 0,
           end = one ? f->ends[place->a] : f->report->cells.count;

    for (size_t at = begin; at < end; at++) {
        size_t i = one ? f->touching[at] : at;
        const struct diag_cell *c = &f->report->cells.items[i];
        bool mine = (row->among && row->among(c) && cluster_place_has(&f->map, place, c)) ||
                    follows(f, row, place, c);

        if (!mine || !diag_cell_is_open(c) || f->explained[i])
            continue;
        f->explained[i] = true;
        text_list_add_owned(&ret->cause.cells, diag_report_cell_name(f->report, c));
    }
    begin = one ? place->a : 0;
    end = one ? place->a + 1 : f->report->nodes.count;
    for (size_t i = begin; i < end && row->local; i++)
        f->local[i] = true;
}

/* Where the id does not say it. */
static const char *const directions[SCOPES] = {[ALL] = "",
                                               [SYSTEMS] = "",
                                               [KINDS] = "",
                                               [NODE] = " (from and to there)",
                                               [OUT] = " (from there)",
                                               [IN] = " (to there)",
                                               [PAIR] = ""};

/* `sure`: what is said of the place is no conclusion. */
static void name_place(struct finding *f, const struct cluster_row *row,
                       const struct cluster_found *found, const char *evidence, bool sure) {
    enum cluster_scope scope = cluster_place_scope(&found->place), as;
    const struct diag_cause_row told = cluster_row_told(row, scope, &as);
    struct naming *naming = naming_of(f, row, &told);
    bool says_way = found->pairs && as != scope;

    add_name(f, found, says_way ? directions[scope] : "", evidence, naming);
    naming->cause.confirmed = naming->cause.confirmed && sure;
    if (!row->reports || found->red)
        explain(f, row, &found->place, naming);
}

/* "win-1, linux-1"; of pairs that have one node in common that one comes first. */
static char *names_make(const struct finding *f, struct naming *naming) {
    const size_t *shared = naming->shared;
    bool one = naming->pairs && (shared[0] == SIZE_MAX) != (shared[1] == SIZE_MAX);
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

/* A command of one node's cause has its name. */
static char *hint_make(const struct naming *naming) {
    const char *hint = naming->told.hint, *at = strstr(hint, " NAME ");

    if (!at || !naming->one || naming->names.count != 1)
        return xstrdup(hint);
    return xasprintf("%.*s %s %s", (int)(at - hint), hint, naming->names.items[0],
                     at + strlen(" NAME "));
}

static void add_causes(struct finding *f) {
    struct diag_causes *causes = &f->report->causes;

    causes->items = xcalloc(f->count + 1, sizeof *causes->items);
    for (size_t i = 0; i < f->count; i++) {
        struct naming *naming = &f->namings[i];
        _cleanup_(freep) char *names = names_make(f, naming);

        naming->cause.id = naming->told.id;
        naming->cause.message = xasprintf("%s: %s", names, naming->told.message);
        naming->cause.hint = hint_make(naming);
        causes->items[causes->count++] = naming->cause;
        text_list_free(&naming->names);
        json_decref(naming->named);
    }
    free(take_ptr(f->namings));
}

/* ---- rows ---- */

/* Whether one that says it fits a cell: then so do all, as twins are two. */
static bool fits_any(const struct finding *f, const struct cluster_row *row) {
    const struct cluster_node *nodes = f->report->nodes.items;

    for (size_t i = 0; i < f->report->cells.count; i++) {
        const struct diag_cell *c = &f->report->cells.items[i];

        if (c->outcome == DIAG_FAIL && !f->explained[i] && row->also && row->also(c) &&
            (row->says(&nodes[c->from_node]) || (row->touching && row->says(&nodes[c->to_node]))))
            return true;
    }
    return !row->fits;
}

/* `ending`: those that fit no cell. */
static void find_said(struct finding *f, const struct cluster_row *row, bool ending) {
    if (fits_any(f, row) == ending)
        return;
    for (size_t i = 0; i < f->report->nodes.count; i++) {
        const struct cluster_node *n = &f->report->nodes.items[i];
        const struct cluster_found found = {.place = {ONE, FROM, i, 0, NULL}};
        const char *says = row->says(n);
        _cleanup_(freep) char *evidence = NULL;

        if (!says || (row->local && (!f->silent[i] || f->local[i])))
            continue;
        evidence = xasprintf("%s: %s", n->name, says);
        name_place(f, row, &found, evidence, !row->aside && !ending);
    }
}

/* What nodes have published, three times: first what fits the cells and is fresh; otherwise what
 * fits; and at the end, where the row is not named yet, what fits none. */
enum report_look { SURE, FITS, TOLD };

static bool look_at_report(struct finding *f, const struct cluster_row *row, size_t node,
                           enum report_look look) {
    const struct cluster_node *n = &f->report->nodes.items[node];
    struct cluster_found found = {.place = {ONE, FROM, node, 0, NULL}};
    _cleanup_(freep) char *line = NULL, *evidence = NULL;

    if (!row->reports(n))
        return false;
    if (look == TOLD ? f->reported[node] : !cluster_scopes_find_from(&f->map, row, node, &found))
        return false;
    if (look == SURE && !network_report_is_fresh(n->own_report, f->report->time))
        return false;
    line = cluster_own_report_line(f->report, n);
    evidence = xasprintf("%s: %s", n->name, line);
    name_place(f, row, &found, evidence, look == SURE);
    return f->reported[node] = true;
}

static void find_reported(struct finding *f, const struct cluster_row *row, bool ending) {
    enum report_look last = ending ? TOLD : FITS;
    bool found = false;

    for (enum report_look look = ending ? TOLD : SURE; look <= last && !found; look++)
        for (size_t i = 0; i < f->report->nodes.count; i++)
            found |= look_at_report(f, row, i, look);
}

static char *evidence_make(const struct finding *f, const struct cluster_row *row,
                           const struct cluster_found *found) {
    const struct diag_cell *first = &f->report->cells.items[found->first];
    const struct cluster_node *n = &f->report->nodes.items[first->from_node];
    _cleanup_(freep) char *cell = diag_report_cell_name(f->report, first);
    struct text evidence = {0};

    if (found->red > 1)
        text_addf(&evidence, "each of %zu cells %s, such as ", found->red,
                  row->again ? "sends packets again" : "fails");
    text_addf(&evidence, "%s: %s", cell, first->reason);
    if (row->dns && found->place.set == ONE)
        text_addf(&evidence, "; inside the pod: DNS servers %s, suffixes %s",
                  n->servers ? n->servers : "unknown", n->suffixes ? n->suffixes : "unknown");
    return text_take(&evidence);
}

/* The widest scope comes first. */
static void find_pattern(struct finding *f, const struct cluster_row *row) {
    struct cluster_founds founds;

    cluster_scopes_find(&f->map, row, &founds);
    for (enum cluster_scope scope = ALL; scope < SCOPES; scope++)
        for (size_t i = 0; i < founds.count; i++) {
            const struct cluster_found *found = &founds.items[i];
            _cleanup_(freep) char *evidence = NULL;

            if (cluster_place_scope(&found->place) != scope)
                continue;
            evidence = evidence_make(f, row, found);
            name_place(f, row, found, evidence,
                       row->surely &&
                           (!row->chance || cluster_found_is_sure(&f->map, row, &founds, found)));
        }
    free_all(founds.items, founds.side);
}

/* A Service's pods may be anywhere: whether it fails by itself is not known while some are cut off.
 */
static bool is_cut(const struct diag_report *report, const struct cluster_row *row) {
    for (size_t i = 0; row->whole && i < report->cells.count; i++)
        if (cluster_cell_is_between_pods(&report->cells.items[i]) &&
            (cluster_row_is_red(row, &report->cells.items[i]) ||
             (row->partly && report->cells.items[i].outcome == DIAG_FAIL)))
            return true;
    return false;
}

static void find_parts(struct finding *f, const struct cluster_row *row) {
    for (enum cluster_part part = WHOLE; part <= SIX; part++) {
        if ((part == UDP || part == TCP) ? !row->protocols : part != WHOLE && !row->families)
            continue;
        f->map.part = part;
        find_pattern(f, row);
    }
    f->map.part = WHOLE;
}

static void find_unasked(struct finding *f, const struct cluster_row *row) {
    for (size_t i = 0, at = 0; i < f->report->nodes.count; i++) {
        struct cluster_found found = {.place = {ONE, FROM, i, 0, NULL}};
        _cleanup_(freep) char *evidence = NULL;

        for (; at < f->ends[i]; at++) {
            size_t k = f->touching[at];
            const struct diag_cell *c = &f->report->cells.items[k];

            if (c->from_node == i && !f->explained[k] && row->among(c) && !found.red++)
                found.first = k;
        }
        if (!found.red)
            continue;
        evidence = evidence_make(f, row, &found);
        name_place(f, row, &found, evidence, false);
    }
}

static void find_row(struct finding *f, const struct cluster_row *row) {
    if (row->unasked)
        find_unasked(f, row);
    else if (row->says)
        find_said(f, row, false);
    else if (row->reports)
        find_reported(f, row, false);
    else if (!is_cut(f->report, row))
        find_parts(f, row);
}

static bool is_named(const struct finding *f, const struct cluster_row *row) {
    enum cluster_scope as;

    for (size_t i = 0; i < f->count; i++)
        if (text_equal(f->namings[i].told.id, cluster_row_told(row, OUT, &as).id))
            return true;
    return false;
}

/* Which pod a Service chooses is chance: what is red of Services besides follows. */
static void explain_services(struct finding *f) {
    struct naming *cut = f->namings;

    while (cut < f->namings + f->count && !cut->row->behind)
        cut++;
    for (size_t i = 0; i < f->report->cells.count && cut < f->namings + f->count; i++) {
        const struct diag_cell *c = &f->report->cells.items[i];

        if (c->outcome == DIAG_FAIL && !f->explained[i] && cluster_cell_is_by_service(c))
            text_list_add_owned(&cut->cause.cells, diag_report_cell_name(f->report, c));
    }
}

void cluster_causes_find(struct diag_report *report) {
    size_t *kinds = cluster_alike_make(&report->nodes, cluster_node_kind);
    size_t *systems = cluster_alike_make(&report->nodes, cluster_node_system);
    bool *silent = silent_make(report, false);
    struct finding f = {.report = report,
                        .explained = xcalloc(report->cells.count + 1, sizeof *f.explained),
                        .silent = silent_make(report, true),
                        .local = xcalloc(report->nodes.count + 1, sizeof *f.local),
                        .reported = xcalloc(report->nodes.count + 1, sizeof *f.reported)};

    f.map = (struct cluster_map){.report = report,
                                 .systems = systems,
                                 .kinds = kinds,
                                 .explained = f.explained,
                                 .silent = silent};
    touching_make(&f);
    diag_causes_free(&report->causes);
    for (size_t i = 0; cluster_row(i); i++)
        find_row(&f, cluster_row(i));
    explain_services(&f);
    for (size_t i = 0; cluster_row(i); i++)
        if (cluster_row(i)->reports && !cluster_row(i)->only_red && !is_named(&f, cluster_row(i)))
            find_reported(&f, cluster_row(i), true);
    for (size_t i = 0; cluster_row(i); i++)
        if (cluster_row(i)->fits && !is_named(&f, cluster_row(i)))
            find_said(&f, cluster_row(i), true);
    add_causes(&f);
    free_all(kinds, systems, silent, f.explained, f.silent, f.local, f.reported, f.touching,
             f.ends);
}
