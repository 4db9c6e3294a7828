/* Which node is asked to reach which: as few pairs as show every kind of path. */
#include <stdlib.h>

#include "base/memory.h"
#include "diag/cluster/cluster.h"

static void add(struct cluster_pairs *pairs, size_t from, size_t to) {
    pairs->items = xrealloc(pairs->items, (pairs->count + 1) * sizeof *pairs->items);
    pairs->items[pairs->count++] = (struct cluster_pair){from, to};
}

/* Those with a probe, in a circle. */
static void add_ring(const size_t *live, size_t count, struct cluster_pairs *ret) {
    for (size_t i = 0; i < count && count > 1; i++)
        add(ret, live[i], live[(i + 1) % count]);
}

size_t *cluster_kinds_make(const struct cluster_nodes *nodes) {
    char **names = xcalloc(nodes->count, sizeof *names);
    size_t *kinds = xcalloc(nodes->count, sizeof *kinds);

    for (size_t i = 0; i < nodes->count; i++) {
        names[i] = cluster_node_kind(&nodes->items[i]);
        while (!text_equal(names[kinds[i]], names[i]))
            kinds[i]++;
    }
    for (size_t i = 0; i < nodes->count; i++)
        free(names[i]);
    free(names);
    return kinds;
}

static bool is_covered(const struct cluster_pairs *pairs, const size_t *kinds, size_t from,
                       size_t to) {
    for (size_t i = 0; i < pairs->count; i++)
        if (kinds[pairs->items[i].from] == from && kinds[pairs->items[i].to] == to)
            return true;
    return false;
}

/* The live node of that kind which stands in the fewest pairs, but not `other`; SIZE_MAX: none. */
static size_t least_used(const size_t *live, size_t count, const size_t *kinds, size_t kind,
                         size_t other, const struct cluster_pairs *pairs) {
    size_t best = SIZE_MAX, least = SIZE_MAX;

    for (size_t i = 0; i < count; i++) {
        size_t used = 0;

        if (kinds[live[i]] != kind || live[i] == other)
            continue;
        for (size_t p = 0; p < pairs->count; p++)
            used += pairs->items[p].from == live[i] || pairs->items[p].to == live[i];
        if (used < least) {
            least = used;
            best = live[i];
        }
    }
    return best;
}

void cluster_pairs_make(const struct cluster_nodes *nodes, struct cluster_pairs *ret) {
    size_t *live = xcalloc(nodes->count, sizeof *live), *kinds = cluster_kinds_make(nodes);
    size_t count = 0;

    *ret = (struct cluster_pairs){0};
    for (size_t i = 0; i < nodes->count; i++)
        if (!nodes->items[i].waiting)
            live[count++] = i;
    add_ring(live, count, ret);
    for (size_t a = 0; a < nodes->count; a++)
        for (size_t b = 0; b < nodes->count && kinds[a] == a; b++) {
            size_t from, to;

            if (kinds[b] != b || is_covered(ret, kinds, a, b))
                continue;
            from = least_used(live, count, kinds, a, SIZE_MAX, ret);
            to = least_used(live, count, kinds, b, from, ret);
            if (from != SIZE_MAX && to != SIZE_MAX)
                add(ret, from, to);
        }
    free(live);
    free(kinds);
}
