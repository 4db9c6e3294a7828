/* Finds where an effect is. Each cell lies in at most sixteen places. A place is possible when none
 * of its cells is green. Of the possible places the one that explains most cells is taken, until
 * all are explained. */
#include "diag/cluster/causes/cluster_cause_rows.h"

enum {
    PLACES = 16, /* The most places that a cell is in. */
    /* So many places are chosen by how much they explain; any more are taken as they come. */
    BEST_MAX = 64,
    GREEN_SHARE = 4, /* One of this many cells may have lost nothing by chance. */
    /* A green cell counts against a place as much as this many red cells count for it. */
    GREEN_COST = 2,
    ENOUGH = 10, /* Attempts of each cell, on average, that are enough. */
    /* From this number on, pairs may be all cells between two groups of nodes. */
    PAIRS = 4,
};
#define BY_CHANCE 0.01 /* An event that is less likely than this is taken as impossible. */

/* ---- count the cells of each place ---- */

struct entry {
    struct cluster_place place;
    size_t cell;
};
/* Counts different nodes: the first two of them, how often a node was noted as a new one, and
 * whether there are more than one. */
struct several {
    size_t first, second;
    unsigned count;
    bool many;
};
/* A place, with what its cells show. */
struct candidate {
    struct cluster_place place;
    size_t red, green;
    /* The number of red cells that no cause explains yet, and the index of the first. */
    size_t open, first;
    bool spared;                  /* A cell works that the row's cause spares. */
    bool pairs, others;           /* Red cells between two nodes; red cells of a single node. */
    const struct diag_flow *flow; /* The flow of a red cell. */
    bool flows;                   /* The red cells have several flows. */
    /* Nodes of red cells: those that ask, those that are asked, those of the set, those at the
     * other end. */
    struct several from, to, set, beyond;
    size_t tries, lost, green_tries;
    bool possible;
};
struct search {
    const struct cluster_map *map;
    const struct cluster_row *row;
    struct entry *entries;
    size_t entry_count;
    struct candidate *candidates;
    size_t candidate_count;
};

/* Orders places; a struct that begins with a place may be compared, too. */
static int compare_places(const void *a, const void *b) {
    const struct cluster_place *x = a, *y = b;

    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    if (x->direction != y->direction)
        return x->direction < y->direction ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int order = compare_places(&x->place, &y->place);

    return order ? order : x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* Lists all places that a cell is in, at most PLACES; returns their number. */
static size_t places_of(const struct cluster_map *map, const struct diag_cell *c,
                        struct cluster_place *ret) {
    size_t count = 0;

    ret[count++] = (struct cluster_place){.set = EVERY, .direction = TOUCHING};
    for (enum cluster_set set = ONE; set <= KIND; set++) {
        size_t from = cluster_set_member(map, set, c->from_node),
               to = cluster_set_member(map, set, c->to_node);

        ret[count++] = (struct cluster_place){.set = set, .direction = FROM, .a = from};
        ret[count++] = (struct cluster_place){.set = set, .direction = TOUCHING, .a = from};
        if (c->from_node == c->to_node)
            continue;
        if (from != to)
            ret[count++] = (struct cluster_place){.set = set, .direction = TOUCHING, .a = to};
        ret[count++] = (struct cluster_place){.set = set, .direction = TO, .a = to};
        ret[count++] = (struct cluster_place){.set = set, .direction = BETWEEN, .a = from, .b = to};
    }
    return count;
}

static void note(struct several *s, size_t node) {
    if ((s->count && s->first == node) || (s->many && s->second == node))
        return;
    if (!s->count)
        s->first = node;
    else if (!s->many)
        s->second = node;
    s->many = s->count++ > 0;
}

static void add_cell(const struct search *s, size_t cell, struct candidate *ret) {
    const struct diag_cell *c = &s->map->report->cells.items[cell];
    bool red = cluster_row_is_red(s->row, c), pair = c->from_node != c->to_node;
    bool out = cluster_set_member(s->map, ret->place.set, c->from_node) == ret->place.a,
         in = cluster_set_member(s->map, ret->place.set, c->to_node) == ret->place.a;

    if (cluster_selects(&s->row->spares, c) && c->outcome != DIAG_NOT_RUN)
        ret->spared |= !red;
    if (!cluster_map_has(s->map, s->row, c))
        return;
    ret->tries += c->result.attempts;
    if (!red) {
        ret->green_tries += c->result.attempts;
        ret->green++;
        return;
    }
    ret->lost += c->again ? c->again : c->result.attempts - c->result.succeeded;
    ret->flows |= ret->flow && ret->flow != c->flow;
    ret->flow = c->flow;
    ret->red++;
    ret->pairs |= pair;
    ret->others |= !pair;
    note(&ret->from, c->from_node);
    note(&ret->to, c->to_node);
    if (out)
        note(&ret->set, c->from_node);
    if (in)
        note(&ret->set, c->to_node);
    if (pair)
        note(&ret->beyond, out ? c->to_node : c->from_node);
    if (!s->map->explained[cell] && !ret->open++)
        ret->first = cell;
}

/* Says whether the place is wider than a smaller place that would explain as much. */
static bool is_wide(const struct search *s, const struct candidate *g) {
    const struct cluster_place *p = &g->place;

    if (p->set == EVERY)
        return g->from.many || g->to.many;
    if (p->direction == BETWEEN)
        return p->set == ONE || (g->from.many && g->to.many && (p->a != p->b || g->set.count > 2));
    if (g->pairs && p->direction == TOUCHING && (!g->from.many || !g->to.many))
        return false;
    if (p->set != ONE)
        return p->direction == FROM ? g->from.many : p->direction == TO ? g->to.many : g->set.many;
    return !g->pairs || g->others || g->beyond.many ||
           (p->direction == TO && s->row->pattern.at_target);
}

/* Returns how likely all of `attempts` packets arrive where `lost` of `tries` were lost. */
static double arrives_all(size_t lost, size_t tries, size_t attempts) {
    double share = tries ? 1 - (double)lost / (double)tries : 0, all = 1;

    for (size_t i = 0; i < attempts && all > 0; i++)
        all *= share;
    return all;
}

/* Says whether the green cells may have lost nothing by chance, if all cells of the place lose as
 * much. Allows two standard deviations more than expected of cells with as many attempts as
 * these. */
static bool is_by_chance(const struct candidate *g) {
    double cells = (double)(g->green + g->red),
           all = g->green ? arrives_all(g->lost, g->tries, g->green_tries / g->green) : 1,
           more = (double)g->green - 0.5 - cells * all, variance = cells * all * (1 - all);

    return g->green * GREEN_SHARE <= g->green + g->red &&
           (more <= 0 || more * more <= 4 * variance);
}

/* Says whether two systems or kinds of nodes within the place lose nothing at all between them:
 * then the loss is not in the whole place. */
static bool has_whole_part(const struct search *s, const struct candidate *g) {
    const struct cluster_place *place = &g->place;

    for (size_t i = 0; i < s->candidate_count; i++) {
        const struct candidate *part = &s->candidates[i];
        const struct cluster_place *within = &part->place;

        if (within->direction == BETWEEN && within->set != ONE && place->set != ONE &&
            within->set >= place->set && !part->red &&
            cluster_place_has_direction(s->map, place, within->a, within->b) &&
            arrives_all(g->lost, g->tries - part->tries, part->tries) < BY_CHANCE)
            return true;
    }
    return false;
}

static bool is_possible(const struct search *s, const struct candidate *g) {
    const struct cluster_row *row = s->row;
    const struct cluster_pattern *pattern = &row->pattern;
    bool all = g->place.set == EVERY;

    if (g->place.direction == TOUCHING && !all && !g->pairs)
        /* Cells within a single node belong to the place that the node sends from. */
        return false;
    if (pattern->outward && !all && g->place.direction != FROM)
        return false; /* Only the node that sends counts. */
    if (!g->open || g->red < pattern->least)
        return false; /* Too few cells fail. */
    if (row->spares.flows && !g->spared)
        return false; /* The cells that this cause spares fail, so a wider cause broke them. */
    if (pattern->several_flows && !g->flows)
        return false; /* The fault may be in that one flow. */
    if (!is_wide(s, g))
        return false; /* A smaller place explains as much. */
    return cluster_row_is_of_chance(row) ? is_by_chance(g) && !has_whole_part(s, g) : !g->green;
}

static void search_open(struct search *s) {
    const struct diag_cells *cells = &s->map->report->cells;
    bool open = false;

    /* Without a red cell that is still unexplained there is nothing to find. */
    for (size_t i = 0; i < cells->count && !open; i++)
        open = !s->map->explained[i] && cluster_map_has(s->map, s->row, &cells->items[i]) &&
               cluster_row_is_red(s->row, &cells->items[i]);
    if (!open)
        return;

    s->entries = xcalloc(PLACES * (cells->count + 1), sizeof *s->entries);
    for (size_t i = 0; i < cells->count; i++) {
        const struct diag_cell *c = &cells->items[i];
        struct cluster_place places[PLACES];
        size_t count = 0;

        if (cluster_map_has(s->map, s->row, c) || cluster_selects(&s->row->spares, c))
            count = places_of(s->map, c, places);
        for (size_t k = 0; k < count; k++)
            s->entries[s->entry_count++] = (struct entry){places[k], i};
    }
    qsort(s->entries, s->entry_count, sizeof *s->entries, compare_entries);

    s->candidates = xcalloc(s->entry_count + 1, sizeof *s->candidates);
    for (size_t i = 0; i < s->entry_count; i++) {
        const struct entry *e = &s->entries[i];

        if (!i || compare_places(&e->place, &e[-1].place) != 0)
            s->candidates[s->candidate_count++].place = e->place;
        add_cell(s, e->cell, &s->candidates[s->candidate_count - 1]);
    }
    for (size_t i = 0; i < s->candidate_count; i++)
        s->candidates[i].possible = is_possible(s, &s->candidates[i]);
}

/* ---- choose places ---- */

static struct candidate *best_candidate(const struct search *s, size_t taken, size_t *from) {
    struct candidate *best = NULL;
    long most = 0;

    for (size_t i = taken < BEST_MAX ? 0 : *from; i < s->candidate_count; i++) {
        struct candidate *g = &s->candidates[i];
        /* For a pair whose target no other node asked, the target is named, if the row says that
         * this is likely. */
        bool target = s->row->pattern.at_target && g->place.set == ONE && g->place.direction == TO;
        long worth = 2 * ((long)g->open - GREEN_COST * (long)g->green) + target;

        *from = i;
        if (!g->possible || !g->open || (best && worth <= most))
            continue;
        best = g;
        most = worth;
        if (taken >= BEST_MAX)
            break;
    }
    return best;
}

/* Marks the unexplained cells of the chosen place as done, and takes them off the count of all
 * other places. */
static void take(const struct search *s, const struct candidate *chosen, bool *done) {
    const struct diag_report *report = s->map->report;
    const struct cluster_place place = chosen->place;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *c = &report->cells.items[i];
        struct cluster_place places[PLACES];
        size_t count;

        if (done[i] || s->map->explained[i] || !cluster_row_is_red(s->row, c) ||
            !cluster_map_has(s->map, s->row, c) || !cluster_place_has(s->map, &place, c))
            continue;
        done[i] = true;
        count = places_of(s->map, c, places);
        for (size_t k = 0; k < count; k++) {
            struct candidate *g = bsearch(&places[k], s->candidates, s->candidate_count,
                                          sizeof *s->candidates, compare_places);

            if (g)
                g->open--;
        }
    }
}

/* ---- join many pairs into one place ---- */

/* Returns the nodes that this node reaches or is reached by, then those that do so with these, and
 * so on; free() it. */
static bool *group_make(const struct cluster_map *map, const struct cluster_row *row, size_t node) {
    const struct diag_report *report = map->report;
    bool *group = xcalloc(report->nodes.count + 1, sizeof *group), grows = true;

    for (group[node] = true; grows;) {
        grows = false;
        for (size_t i = 0; i < report->cells.count; i++) {
            const struct diag_cell *c = &report->cells.items[i];

            if (group[c->from_node] != group[c->to_node] && cluster_map_has(map, row, c) &&
                !cluster_row_is_red(row, c))
                grows = group[c->from_node] = group[c->to_node] = true;
        }
    }
    return group;
}

static void join_pairs(const struct cluster_map *map, const struct cluster_row *row,
                       struct cluster_founds *founds) {
    size_t pairs = 0, first = 0, kept = 0;
    long more = 0; /* How many more nodes the group of `a` has than the group of `b`. */
    bool *of_a, *of_b, *small, between = true;

    for (size_t i = founds->count; i-- > 0;)
        if (cluster_place_scope(&founds->items[i].place) == PAIR) {
            first = i;
            pairs++;
        }
    if (pairs < PAIRS)
        return;
    of_a = group_make(map, row, founds->items[first].place.a);
    of_b = group_make(map, row, founds->items[first].place.b);
    for (size_t i = 0; i < map->report->nodes.count; i++)
        more += of_a[i] - of_b[i];
    small = more <= 0 ? of_a : of_b;
    free(more <= 0 ? of_b : of_a);
    for (size_t i = 0; i < founds->count; i++) {
        const struct cluster_place *place = &founds->items[i].place;

        between &= cluster_place_scope(place) != PAIR || small[place->a] != small[place->b];
    }
    if (!between) {
        free(small);
        return;
    }

    /* All pairs become one place, the first of them. */
    for (size_t i = 0; i < founds->count; i++) {
        if (cluster_place_scope(&founds->items[i].place) == PAIR && i != first) {
            founds->items[first].red += founds->items[i].red;
            continue;
        }
        founds->items[kept++] = founds->items[i];
    }
    founds->group = small;
    founds->items[first].place.group = small;
    founds->count = kept;
}

/* ---- results ---- */

static int compare_founds(const void *a, const void *b) {
    const struct cluster_found *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

void cluster_scopes_find(const struct cluster_map *map, const struct cluster_row *row,
                         struct cluster_founds *ret) {
    struct search s = {.map = map, .row = row};
    bool *done = xcalloc(map->report->cells.count + 1, sizeof *done);
    const struct candidate *best;
    size_t from = 0;

    *ret = (struct cluster_founds){0};
    search_open(&s);
    while ((best = best_candidate(&s, ret->count, &from))) {
        array_add(ret->items, ret->count,
                  (struct cluster_found){best->place, best->red, best->first, best->pairs});
        take(&s, best, done);
    }
    for (size_t i = 0; i < ret->count; i++)
        if (ret->items[i].place.set == EVERY) { /* All others lie within it. */
            ret->items[0] = ret->items[i];
            ret->count = 1;
        }
    if (ret->count)
        qsort(ret->items, ret->count, sizeof *ret->items, compare_founds);
    join_pairs(map, row, ret);
    free_all(s.entries, s.candidates, done);
}

bool cluster_found_is_sure(const struct cluster_map *map, const struct cluster_row *row,
                           const struct cluster_founds *founds, const struct cluster_found *found) {
    const struct diag_cells *cells = &map->report->cells;
    const struct cluster_node *nodes = map->report->nodes.items;
    size_t inside = 0, tries = 0, lost = 0, outside = 0;

    for (size_t i = 0; i < cells->count; i++) {
        const struct diag_cell *c = &cells->items[i];
        const struct probe_result *r = &c->result;
        bool in_any = false;

        /* Some questions of a cell with the same flow were never answered. */
        if (c->flow == cells->items[found->first].flow && !nodes[c->from_node].waiting &&
            !nodes[c->to_node].waiting &&
            (c->outcome == DIAG_NOT_RUN ||
             (c->counted && r->succeeded == r->attempts && r->attempts < map->report->count)))
            return false;
        if (!cluster_map_has(map, row, c))
            continue;
        if (cluster_place_has(map, &found->place, c)) {
            inside++;
            tries += r->attempts;
            lost += cluster_row_is_red(row, c) ? r->attempts - r->succeeded : 0;
            continue;
        }
        for (size_t k = 0; k < founds->count && !in_any; k++)
            in_any = cluster_place_has(map, &founds->items[k].place, c);
        outside += in_any ? 0 : r->attempts;
    }
    return tries >= ENOUGH * inside &&
           (found->place.set == EVERY || arrives_all(lost, tries, outside) < BY_CHANCE);
}

bool cluster_scopes_find_from(const struct cluster_map *map, const struct cluster_row *row,
                              size_t node, struct cluster_found *ret) {
    const struct cluster_place place = {.set = ONE, .direction = FROM, .a = node};
    struct search s = {.map = map, .row = row};
    const struct candidate *g;
    bool found;

    search_open(&s);
    g = !s.candidate_count ? NULL
                           : bsearch(&place, s.candidates, s.candidate_count, sizeof *s.candidates,
                                     compare_places);
    found = g && g->possible;
    if (found)
        *ret = (struct cluster_found){g->place, g->red, g->first, g->pairs};
    free_all(s.entries, s.candidates);
    return found;
}
