/* Compares the rows of a cluster's causes with its cells: where the effect of each row is
 * (scopes.c), and the id and names of its cause there. */
#include "diag/cluster/cluster.h"
#include "diag/cluster/causes/cluster_cause_rows.h"
#include "diag/network_report.h"

enum { NAMES = 8 };

/* A cause while its places are being found; places with the same id become one cause. Kept in the
 * order in which they were found. */
struct naming {
    const struct cluster_row *row; /* The first row that named the cause. */
    struct diag_cause_row title;
    struct diag_cause cause;
    struct text_list names;
    json_t *named; /* A JSON object with each name as a member, so that no name is added twice. */
    /* The nodes that each pair has when all places are pairs; SIZE_MAX for none. */
    size_t shared[2];
    bool pairs; /* All places are pairs of nodes. */
    bool one;   /* The only place is one node. */
};
struct judging {
    struct diag_report *report;
    struct cluster_map map;
    struct naming *namings;
    size_t count;
};

/* ---- facts about each node ---- */

/* Finds nodes whose NodePort of externalTrafficPolicy Local answers nobody. Each node asks that
 * NodePort of the first node that it is paired with. A missing answer counts only where the asker
 * reaches the other NodePort there and was asked at all: nodes whose TCP fails do not get all
 * questions. */
static void judge_local_ports(struct judging *f) {
    const struct diag_report *report = f->report;
    struct look {
        const struct cluster_pair *at;
        /* Whether the other NodePort answers, whether any TCP fails, whether TCP between pods
         * fails. */
        bool answers, fails, pods_fail;
    } *looks = xcalloc(report->nodes.count + 1, sizeof *looks);

    for (size_t i = report->pairs.count; i-- > 0;)
        looks[report->pairs.items[i].from].at = &report->pairs.items[i];
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *c = &report->cells.items[i];
        struct look *from = &looks[c->from_node], *to = &looks[c->to_node];

        if (c->udp)
            continue;
        if (diag_cell_is_open(c)) {
            from->fails = to->fails = true;
            from->pods_fail |= cluster_cell_is_between_pods(c);
            to->pods_fail |= cluster_cell_is_between_pods(c);
        } else {
            from->answers |=
                c->flow->id == FLOW_NODE_PORT && from->at && from->at->to == c->to_node;
        }
    }
    for (size_t i = 0; i < report->nodes.count; i++) {
        const struct cluster_node *asker = &report->nodes.items[i];
        struct cluster_map_node *at = looks[i].at ? &f->map.nodes[looks[i].at->to] : NULL;

        if (!at || asker->local_ip || asker->by_exec)
            continue;
        at->local_port_fails = looks[i].answers && !looks[i].fails;
        at->local_port_may_fail = looks[i].answers && !looks[i].pods_fail;
    }
    free(looks);
}

static void sort_cells(struct judging *f) {
    const struct diag_cells *cells = &f->report->cells;
    struct cluster_map_node *nodes = f->map.nodes;
    size_t end = 0;

    f->map.touching = xcalloc(2 * cells->count + 1, sizeof *f->map.touching);
    for (size_t i = 0; i < cells->count; i++) {
        nodes[cells->items[i].from_node].cells_end++;
        nodes[cells->items[i].to_node].cells_end +=
            cells->items[i].to_node != cells->items[i].from_node;
    }
    for (size_t i = 0, own; i < f->report->nodes.count; i++, end += own) {
        own = nodes[i].cells_end;
        /* Where the node's cells begin; the loop below moves it to their end. */
        nodes[i].cells_end = end;
    }
    for (size_t i = 0; i < cells->count; i++) {
        size_t from = cells->items[i].from_node, to = cells->items[i].to_node;

        f->map.touching[nodes[from].cells_end++] = i;
        if (to != from)
            f->map.touching[nodes[to].cells_end++] = i;
    }
}

/* ---- causes ---- */

static void explain(struct judging *f, const struct cluster_row *row,
                    const struct cluster_place *place, struct naming *ret) {
    const struct cluster_map_node *nodes = f->map.nodes;
    bool one = place->set == ONE && !place->group;
    size_t begin = one && place->a ? nodes[place->a - 1].cells_end : 0,
           end = one ? nodes[place->a].cells_end : f->report->cells.count;
    struct cluster_place wide = *place; /* The place of the cells that follow from the cause. */

    if (row->follows_to_node && place->direction == FROM)
        wide.direction = TOUCHING;
    for (size_t at = begin; at < end; at++) {
        size_t i = one ? f->map.touching[at] : at;
        const struct diag_cell *c = &f->report->cells.items[i];
        bool breaks = cluster_selects(&row->breaks, c) && cluster_place_has(&f->map, place, c);
        bool follows = cluster_selects(&row->follows, c) && cluster_place_has(&f->map, &wide, c);

        if (!(breaks || follows) || !diag_cell_is_open(c) || f->map.explained[i])
            continue;
        f->map.explained[i] = true;
        text_list_add_owned(&ret->cause.cells, diag_report_cell_name(f->report, c));
    }
    begin = one ? place->a : 0;
    end = one ? place->a + 1 : f->report->nodes.count;
    for (size_t i = begin; i < end && row->local_port; i++)
        f->map.nodes[i].local_named = true;
}

/* The direction in words, for a cause whose id does not tell it. */
static const char *const directions[SCOPES] = {[ALL] = "",
                                               [SYSTEMS] = "",
                                               [KINDS] = "",
                                               [NODE] = " (from and to there)",
                                               [OUT] = " (from there)",
                                               [IN] = " (to there)",
                                               [PAIR] = ""};

/* Adds a place to the cause of a row, and explains the cells there. `sure` says that the cause is
 * proved for that place. */
static void name_place(struct judging *f, const struct cluster_row *row,
                       const struct cluster_found *found, const char *evidence, bool sure) {
    const struct cluster_place *place = &found->place;
    enum cluster_scope scope = cluster_place_scope(place), as;
    const struct diag_cause_row title = cluster_row_title(row, scope, &as);
    bool says_direction = found->pairs && as != scope, first;
    _cleanup_(freep) char *name = cluster_place_name(&f->map, place);
    _cleanup_(freep) char *whole = xasprintf("%s%s", name, says_direction ? directions[scope] : "");
    struct naming *naming;
    size_t at = 0;

    while (at < f->count && !text_equal(f->namings[at].title.id, title.id))
        at++;
    if (at == f->count)
        array_add(f->namings, f->count,
                  (struct naming){.row = row,
                                  .title = title,
                                  .pairs = true,
                                  .named = json_object(),
                                  .cause.confirmed = true});
    naming = &f->namings[at];
    first = !naming->names.count;
    naming->pairs = naming->pairs && scope == PAIR;
    for (size_t i = 0; i < ARRAY_SIZE(naming->shared); i++)
        if (first)
            naming->shared[i] = i ? place->b : place->a;
        else if (naming->shared[i] != place->a && naming->shared[i] != place->b)
            naming->shared[i] = SIZE_MAX;
    naming->one = first && place->set == ONE && place->direction != BETWEEN;
    if (!json_object_get(naming->named, whole)) {
        json_object_set_new(naming->named, whole, json_true());
        text_list_add(&naming->names, whole);
    }
    if (naming->cause.evidence.count < NAMES)
        text_list_add(&naming->cause.evidence, evidence);
    naming->cause.confirmed = naming->cause.confirmed && sure;
    if (row->kind != PUBLISHED_BY_NODE || found->red)
        explain(f, row, place, naming);
}

/* Joins the names of the places: "win-1, linux-1". Of pairs that all have one node in common, that
 * node comes first. The caller frees it. */
static char *names_make(const struct judging *f, struct naming *naming) {
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

/* ---- compare rows with cells ---- */

/* Says whether the row fits a failed cell of any node. A node and its twin have the same words and
 * the same fault, so a cell of either of them counts for both. */
static bool fits_any(const struct judging *f, const struct cluster_row *row) {
    const struct cluster_node *nodes = f->report->nodes.items;

    for (size_t i = 0; i < f->report->cells.count; i++) {
        const struct diag_cell *c = &f->report->cells.items[i];

        if (c->outcome == DIAG_FAIL && !f->map.explained[i] && cluster_selects(&row->follows, c) &&
            (cluster_words_of(&nodes[c->from_node], row->says) ||
             (row->follows_to_node && cluster_words_of(&nodes[c->to_node], row->says))))
            return true;
    }
    return false;
}

/* What nodes have published about themselves is searched in three steps: first reports that fit
 * failed cells and are fresh; without any, those that only fit; and at the very end, if the row's
 * cause is not named yet, those that fit no cell. */
enum published_look { FITS_AND_FRESH, FITS, FITS_NONE };

static void find_published(struct judging *f, const struct cluster_row *row, bool last) {
    enum published_look look = last ? FITS_NONE : FITS_AND_FRESH;
    bool any = false;

    for (; look <= (last ? FITS_NONE : FITS) && !any; look++)
        for (size_t i = 0; i < f->report->nodes.count; i++) {
            const struct cluster_node *n = &f->report->nodes.items[i];
            struct cluster_found found = {.place = {.set = ONE, .direction = FROM, .a = i}};
            _cleanup_(freep) char *line = NULL, *evidence = NULL;

            if (!(row->lacks ? network_report_lacks_service(n->own_report, row->lacks)
                             : network_report_lacks(n->own_report)))
                continue;
            if (look == FITS_NONE ? f->map.nodes[i].published
                                  : !cluster_scopes_find_from(&f->map, row, i, &found))
                continue;
            if (look == FITS_AND_FRESH && !network_report_is_fresh(n->own_report, f->report->time))
                continue;
            line = cluster_own_report_line(f->report, n);
            evidence = xasprintf("%s: %s", n->name, line);
            name_place(f, row, &found, evidence, look == FITS_AND_FRESH);
            any = f->map.nodes[i].published = true;
        }
}

static char *evidence_make(const struct judging *f, const struct cluster_row *row,
                           const struct cluster_found *found) {
    const struct diag_cell *first = &f->report->cells.items[found->first];
    const struct cluster_node *n = &f->report->nodes.items[first->from_node];
    _cleanup_(freep) char *cell = diag_report_cell_name(f->report, first);
    struct text evidence = {0};

    if (found->red > 1)
        text_addf(&evidence, "each of %zu cells %s, such as ", found->red,
                  row->loss == SENDS_AGAIN ? "sends packets again" : "fails");
    text_addf(&evidence, "%s: %s", cell, first->reason);
    if (row->pattern.shows_dns && found->place.set == ONE)
        text_addf(&evidence, "; inside the pod: DNS servers %s, suffixes %s",
                  n->servers ? n->servers : "unknown", n->suffixes ? n->suffixes : "unknown");
    return text_take(&evidence);
}

/* Searches all cells of the row for its pattern, then the parts into which the row may be split. */
static void find_patterns(struct judging *f, const struct cluster_row *row) {
    static const enum cluster_part parts[][3] = {[UNDIVIDED] = {WHOLE},
                                                 [BY_PROTOCOL] = {WHOLE, ONLY_UDP, ONLY_TCP},
                                                 [BY_FAMILY] = {WHOLE, ONLY_IPV4, ONLY_IPV6}};
    const enum cluster_part *part = parts[row->pattern.split];

    for (size_t i = 0; row->pattern.pods_work && i < f->report->cells.count; i++) {
        const struct diag_cell *c = &f->report->cells.items[i];

        if (cluster_cell_is_between_pods(c) && c->outcome == DIAG_FAIL &&
            (row->kind == LOSS || cluster_row_is_red(row, c)))
            return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(parts[0]) && (!i || part[i]); i++) {
        struct cluster_founds founds;

        f->map.part = part[i];
        /* The widest scope is named first. */
        cluster_scopes_find(&f->map, row, &founds);
        for (enum cluster_scope scope = ALL; scope < SCOPES; scope++)
            for (size_t k = 0; k < founds.count; k++) {
                const struct cluster_found *found = &founds.items[k];
                _cleanup_(freep) char *evidence = NULL;

                if (cluster_place_scope(&found->place) != scope)
                    continue;
                evidence = evidence_make(f, row, found);
                name_place(f, row, found, evidence,
                           row->confirmed && (!cluster_row_is_of_chance(row) ||
                                              cluster_found_is_sure(&f->map, row, &founds, found)));
            }
        free_all(founds.items, founds.group);
    }
    f->map.part = WHOLE;
}

static void find_unasked(struct judging *f, const struct cluster_row *row) {
    for (size_t i = 0, at = 0; i < f->report->nodes.count; i++) {
        struct cluster_found found = {.place = {.set = ONE, .direction = FROM, .a = i}};
        _cleanup_(freep) char *evidence = NULL;

        for (; at < f->map.nodes[i].cells_end; at++) {
            size_t k = f->map.touching[at];
            const struct diag_cell *c = &f->report->cells.items[k];

            if (c->from_node == i && !f->map.explained[k] && cluster_selects(&row->breaks, c) &&
                !found.red++)
                found.first = k;
        }
        if (!found.red)
            continue;
        evidence = evidence_make(f, row, &found);
        name_place(f, row, &found, evidence, false);
    }
}

static void find_row(struct judging *f, const struct cluster_row *row, bool last) {
    switch (row->kind) {
    case READ_ON_NODE: {
        /* `last` is set when the row's cause was not named for cells that it fits. */
        if (row->unfit != NAMED_LAST || fits_any(f, row) != last) {
            for (size_t i = 0; i < f->report->nodes.count; i++) {
                const struct cluster_node *n = &f->report->nodes.items[i];
                const struct cluster_map_node *known = &f->map.nodes[i];
                const struct cluster_found found = {
                    .place = {.set = ONE, .direction = FROM, .a = i}};
                const char *words = cluster_words_of(n, row->says);
                _cleanup_(freep) char *evidence = NULL;

                if (!words || (row->local_port && (!known->local_port_fails || known->local_named)))
                    continue;
                evidence = xasprintf("%s: %s", n->name, words);
                name_place(f, row, &found, evidence, row->confirmed && !last);
            }
        }
    } break;
    case PUBLISHED_BY_NODE:
        find_published(f, row, last);
        break;
    case PATTERN:
    case LOSS:
        find_patterns(f, row);
        break;
    case UNASKED:
        find_unasked(f, row);
        break;
    }
}

/* Names causes of this kind of row that nodes report without a failed cell, if not named
 * already. */
static void find_last(struct judging *f, enum cluster_row_kind kind) {
    const struct cluster_row *row;

    for (size_t i = 0; (row = cluster_row(i)); i++) {
        enum cluster_scope as;
        bool named = false;

        if (row->kind != kind || row->unfit != NAMED_LAST)
            continue;
        for (size_t k = 0; k < f->count; k++)
            named |= text_equal(f->namings[k].title.id, cluster_row_title(row, OUT, &as).id);
        if (!named)
            find_row(f, row, true);
    }
}

void cluster_causes_find(struct diag_report *report) {
    struct judging f = {.report = report};
    const struct cluster_nodes *nodes = &f.report->nodes;
    size_t *kinds = cluster_alike_make(nodes, ALIKE_KIND);
    size_t *systems = cluster_alike_make(nodes, ALIKE_SYSTEM), cut = 0;
    struct diag_causes *causes;

    f.map = (struct cluster_map){.report = f.report,
                                 .nodes = xcalloc(nodes->count + 1, sizeof *f.map.nodes),
                                 .explained =
                                     xcalloc(f.report->cells.count + 1, sizeof *f.map.explained)};
    for (size_t i = 0; i < nodes->count; i++) {
        f.map.nodes[i].kind = kinds[i];
        f.map.nodes[i].system = systems[i];
    }
    judge_local_ports(&f);
    sort_cells(&f);
    free_all(kinds, systems);
    diag_causes_free(&report->causes);
    for (size_t i = 0; cluster_row(i); i++)
        find_row(&f, cluster_row(i), false);
    /* A Service chooses its pod by chance. When a cause cuts off pods, the red cells of Services
     * that no cause explains yet are attributed to that cause. */
    while (cut < f.count && !f.namings[cut].row->cuts_off)
        cut++;
    for (size_t i = 0; i < report->cells.count && cut < f.count; i++) {
        const struct diag_cell *c = &report->cells.items[i];

        if (c->outcome == DIAG_FAIL && !f.map.explained[i] && (c->flow->is & FLOW_SERVICE))
            text_list_add_owned(&f.namings[cut].cause.cells, diag_report_cell_name(report, c));
    }
    find_last(&f, PUBLISHED_BY_NODE);
    find_last(&f, READ_ON_NODE);
    causes = &f.report->causes;
    causes->items = xcalloc(f.count + 1, sizeof *causes->items);
    for (size_t i = 0; i < f.count; i++) {
        struct naming *naming = &f.namings[i];
        _cleanup_(freep) char *names = names_make(&f, naming);
        const char *hint = naming->title.hint, *at = strstr(hint, " NAME ");
        bool one = naming->one && naming->names.count == 1;

        naming->cause.id = naming->title.id;
        naming->cause.message = xasprintf("%s: %s", names, naming->title.message);
        /* In the hint for a cause of one node, NAME becomes that node's name. */
        naming->cause.hint = at && one ? xasprintf("%.*s %s %s", (int)(at - hint), hint,
                                                   naming->names.items[0], at + strlen(" NAME "))
                                       : xstrdup(hint);
        causes->items[causes->count++] = naming->cause;
        text_list_free(&naming->names);
        json_decref(naming->named);
    }
    free(take_ptr(f.namings));
    free_all(f.map.nodes, f.map.touching, f.map.explained);
}
