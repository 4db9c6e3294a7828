/* Chooses which node asks which: among few nodes each asks each, among more nodes as few pairs as
 * still show every kind of path. */
#include "base/text.h"
#include "diag/cluster/cells.h"

enum {
    ALL_MAX = 5,      /* Up to this many nodes, each asks each. */
    PAIRED_MAX = 50,  /* Up to this many kinds, each pair of kinds is asked. */
    WIDENED_MAX = 24, /* The most failing pairs that get further pairs. */
    SUSPECTS_MAX = 8, /* The most nodes without a working pair that ask each other. */
    /* The most nodes with lossy Services for which the nodes behind the Services are asked. */
    LOSSY_MAX = 4,
};

size_t *cluster_alike_make(const struct cluster_nodes *nodes, enum cluster_alike what) {
    size_t *first = xcalloc(nodes->count, sizeof *first);
    _cleanup_json_ json_t *firsts = json_object();

    for (size_t i = 0; i < nodes->count; i++) {
        _cleanup_(freep) char *key = cluster_node_text(&nodes->items[i], what);

        if (!json_object_get(firsts, key))
            json_object_set_new(firsts, key, json_integer((json_int_t)i));
        first[i] = (size_t)json_integer_value(json_object_get(firsts, key));
    }
    return first;
}

/* The nodes that have a probe, sorted by kind. */
struct kinds {
    size_t *of;      /* The kind of each node, counted from 0. */
    size_t *members; /* Indexes of nodes, kind after kind. */
    size_t *begin;   /* Where each kind begins in `members`, and the end. */
    size_t *turn;    /* For each kind, the node whose turn is next. */
    size_t count;
};

static void kinds_make(const struct cluster_nodes *nodes, enum cluster_alike what,
                       struct kinds *ret) {
    size_t *alike = cluster_alike_make(nodes, what);

    *ret = (struct kinds){.of = xcalloc(nodes->count, sizeof *ret->of),
                          .members = xcalloc(nodes->count, sizeof *ret->members),
                          .begin = xcalloc(nodes->count + 1, sizeof *ret->begin),
                          .turn = xcalloc(nodes->count + 1, sizeof *ret->turn)};
    for (size_t i = 0; i < nodes->count; i++) {
        ret->of[i] = alike[i] == i ? ret->count++ : ret->of[alike[i]];
        ret->begin[ret->of[i] + 1] += !nodes->items[i].waiting;
    }
    for (size_t k = 0; k < ret->count; k++)
        ret->turn[k + 1] = ret->begin[k + 1] += ret->begin[k];
    for (size_t i = 0; i < nodes->count; i++)
        if (!nodes->items[i].waiting)
            ret->members[ret->turn[ret->of[i]]++] = i;
    memset(ret->turn, 0, (ret->count + 1) * sizeof *ret->turn);
    free(alike);
}

/* Returns the nodes of a kind in turn, but never `other`; SIZE_MAX when there is none. */
static size_t next_of(struct kinds *kinds, size_t kind, size_t other) {
    size_t count = kinds->begin[kind + 1] - kinds->begin[kind];

    for (size_t tries = 0; count && tries < 2; tries++) {
        size_t node = kinds->members[kinds->begin[kind] + kinds->turn[kind]++ % count];

        if (node != other)
            return node;
    }
    return SIZE_MAX;
}

void cluster_pairs_make(const struct cluster_nodes *nodes, struct cluster_pairs *ret) {
    static const enum cluster_alike kinds_of[] = {ALIKE_PLACE, ALIKE_POOL, ALIKE_ZONE, ALIKE_KIND};
    _cleanup_(freep) size_t *live = xcalloc(nodes->count, sizeof *live);
    size_t count = 0;

    *ret = (struct cluster_pairs){0};
    for (size_t i = 0; i < nodes->count; i++)
        if (!nodes->items[i].waiting)
            live[count++] = i;
    /* The nodes with a probe form a circle, in which each node asks the next one. When there are
     * few nodes, each node asks all others. */
    for (size_t step = 1; step < (count <= ALL_MAX ? count : 2); step++)
        for (size_t i = 0; i < count; i++)
            array_add(ret->items, ret->count,
                      (struct cluster_pair){live[i], live[(i + step) % count]});

    /* Cover each pair of kinds, unless there are too many. A pair that was added for one sort of
     * kinds counts for the following sorts, too. */
    for (size_t k = 0; k < ARRAY_SIZE(kinds_of); k++) {
        _cleanup_(freep) bool *covered = NULL;
        struct kinds kinds;
        size_t all;

        kinds_make(nodes, kinds_of[k], &kinds);
        all = kinds.count <= PAIRED_MAX ? kinds.count * kinds.count : 0;
        covered = xcalloc(all, sizeof *covered);
        for (size_t i = 0; i < ret->count && all; i++)
            covered[kinds.of[ret->items[i].from] * kinds.count + kinds.of[ret->items[i].to]] = true;
        for (size_t i = 0; i < all; i++) {
            size_t from = covered[i] ? SIZE_MAX : next_of(&kinds, i / kinds.count, SIZE_MAX);
            size_t to = from == SIZE_MAX ? SIZE_MAX : next_of(&kinds, i % kinds.count, from);

            if (to != SIZE_MAX)
                array_add(ret->items, ret->count, (struct cluster_pair){from, to});
        }
        free_all(kinds.of, kinds.members, kinds.begin, kinds.turn);
    }
}

static int by_number(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return x < y ? -1 : x > y;
}

void cluster_pairs_count(const struct cluster_nodes *nodes, const struct cluster_pairs *pairs,
                         size_t *ret_all, size_t *ret_asked) {
    size_t *asked = xcalloc(pairs->count, sizeof *asked), live = 0, alone = 0;
    struct kinds kinds;

    kinds_make(nodes, ALIKE_PLACE, &kinds);
    for (size_t k = 0; k < kinds.count; k++) {
        size_t count = kinds.begin[k + 1] - kinds.begin[k];

        live += count > 0;
        alone += count == 1; /* Such a kind has a single node, so no pair within it is possible. */
    }
    *ret_all = live * live - alone;
    *ret_asked = 0;
    for (size_t i = 0; i < pairs->count; i++)
        asked[i] = kinds.of[pairs->items[i].from] * kinds.count + kinds.of[pairs->items[i].to];
    qsort(asked, pairs->count, sizeof *asked, by_number);
    for (size_t i = 0; i < pairs->count; i++)
        *ret_asked += !i || asked[i] != asked[i - 1];
    free(asked);
    free_all(kinds.of, kinds.members, kinds.begin, kinds.turn);
}

/* ---- more pairs, where some fail ---- */

/* Chooses a third node that takes the place of `b` in a pair with `a`. A node of b's kind comes
 * first, then one of b's operating system, then one without failed pairs; of equal nodes the next
 * one after b. With `other`, only nodes with another operating system than b's are chosen. Returns
 * SIZE_MAX when no node is suitable. */
static size_t witness_for(const struct diag_report *report, const size_t *kinds, const bool *well,
                          size_t a, size_t b, bool other) {
    const struct cluster_node *nodes = report->nodes.items;
    size_t best = SIZE_MAX;
    int most = -1;

    for (size_t k = 1; k < report->nodes.count; k++) {
        size_t i = (b + k) % report->nodes.count;
        bool same = text_equal(nodes[i].os, nodes[b].os);
        int worth = 4 * (kinds[i] == kinds[b]) + 2 * same + well[i];

        if (i == a || (other && same) || nodes[i].waiting || nodes[i].unreached || worth <= most)
            continue;
        best = i;
        most = worth;
    }
    return best;
}

/* Returns a node that reached this node, or with `reached`, a node that this node reached; SIZE_MAX
 * when none is known. */
static size_t friend_of(const struct cluster_pairs *pairs, const bool *fails, size_t count,
                        size_t node, bool reached) {
    for (size_t i = 0; i < count; i++)
        if (!fails[i] && (reached ? pairs->items[i].from : pairs->items[i].to) == node)
            return reached ? pairs->items[i].to : pairs->items[i].from;
    return SIZE_MAX;
}

static void add_new(struct diag_report *report, size_t from, size_t to) {
    struct cluster_pairs *pairs = &report->pairs;

    if (from == SIZE_MAX || to == SIZE_MAX || report->nodes.items[from].unreached)
        return;
    for (size_t i = 0; i < pairs->count; i++)
        if (pairs->items[i].from == from && pairs->items[i].to == to)
            return;
    array_add(pairs->items, pairs->count, (struct cluster_pair){from, to});
}

/* Nodes without any working pair ask each other, because they may reach such nodes. */
static void add_suspects(struct diag_report *report, const bool *well, const bool *fails,
                         size_t pairs) {
    size_t count = 0;

    for (size_t i = 0; i < report->nodes.count; i++)
        count += !well[i];
    for (size_t i = 0; i < report->nodes.count && count <= SUSPECTS_MAX; i++)
        for (size_t k = 0; k < report->nodes.count && !well[i]; k++)
            if (i != k && !well[k] &&
                friend_of(&report->pairs, fails, pairs, i, true) == SIZE_MAX &&
                friend_of(&report->pairs, fails, pairs, i, false) == SIZE_MAX) {
                add_new(report, i, k);
                add_new(report, k, i);
            }
}

/* When Services answer a few nodes only sometimes, these nodes may not reach one of the Services'
 * pods: they ask all nodes. */
static void add_behind_services(struct diag_report *report) {
    bool *lossy = xcalloc(report->nodes.count + 1, sizeof *lossy);
    size_t count = 0;

    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *c = &report->cells.items[i];

        if (cluster_cell_is_lossy(c) && c->flow->id == FLOW_SVC_IP && !lossy[c->from_node]) {
            lossy[c->from_node] = true;
            count++;
        }
    }
    for (size_t i = 0; i < report->nodes.count && count <= LOSSY_MAX; i++)
        for (size_t k = 0; k < report->nodes.count && lossy[i]; k++)
            if (i != k && !report->nodes.items[k].waiting)
                add_new(report, i, k);
    free(lossy);
}

void cluster_pairs_widen(struct diag_report *report) {
    size_t count = report->pairs.count, red = 0,
           *kinds = cluster_alike_make(&report->nodes, ALIKE_KIND);
    bool *well = xcalloc(report->nodes.count, sizeof *well), *fails = xcalloc(count + 1, 1);
    _cleanup_(text_table_free) struct text_table reds = {0};

    /* Finds the pairs with a failed cell. No answer in time counts as a failure, too, except from a
     * probe that cannot be asked. */
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *c = &report->cells.items[i];
        bool asked = !report->nodes.items[c->from_node].unreached;

        if (c->outcome == DIAG_FAIL || (asked && c->outcome == DIAG_NOT_RUN)) {
            _cleanup_(freep) char *pair = xasprintf("%zu %zu", c->from_node, c->to_node);

            text_table_add(&reds, pair, "");
        }
    }
    for (size_t i = 0; i < report->nodes.count; i++)
        well[i] = true;
    for (size_t i = 0; i < count; i++) {
        const struct cluster_pair *pair = &report->pairs.items[i];
        _cleanup_(freep) char *text = xasprintf("%zu %zu", pair->from, pair->to);

        fails[i] = text_table_get(&reds, text) != NULL;
        if (fails[i])
            well[pair->from] = well[pair->to] = false;
    }
    for (size_t i = 0; i < count && red < WIDENED_MAX; i++) {
        const struct cluster_pair pair = report->pairs.items[i];

        if (!fails[i])
            continue;
        red++;
        for (int other = 0; other < 2; other++) {
            add_new(report, pair.from, witness_for(report, kinds, well, pair.from, pair.to, other));
            add_new(report, witness_for(report, kinds, well, pair.to, pair.from, other), pair.to);
        }
        add_new(report, pair.to, pair.from);
        add_new(report, pair.from, friend_of(&report->pairs, fails, count, pair.from, false));
        add_new(report, friend_of(&report->pairs, fails, count, pair.to, true), pair.to);
    }
    add_suspects(report, well, fails, count);
    add_behind_services(report);
    free_all(kinds, well, fails);
}
