/* Many pairs that are one place: all that is between two groups of nodes, as two racks or the
 * machines of two hypervisors. */
#include "diag/cluster/causes/cause_row.h"

enum { PAIRS = 4 };

static bool is_pair(const struct cluster_found *found) {
    return found->place.set == ONE && found->place.way == BETWEEN;
}

/* The nodes that this one works with, with which these do, and so on. */
static bool *side_make(const struct cluster_map *map, const struct cluster_row *row, size_t node) {
    const struct diag_report *report = map->report;
    bool *side = xcalloc(report->nodes.count + 1, sizeof *side), grows = true;

    for (side[node] = true; grows;) {
        grows = false;
        for (size_t i = 0; i < report->cells.count; i++) {
            const struct diag_cell *c = &report->cells.items[i];

            if (side[c->from_node] != side[c->to_node] && cluster_map_has(map, row, c) &&
                !cluster_row_is_red(row, c))
                grows = side[c->from_node] = side[c->to_node] = true;
        }
    }
    return side;
}

static size_t size_of(const bool *side, size_t count) {
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += side[i];
    return size;
}

static bool are_between(const bool *side, const struct cluster_founds *founds) {
    for (size_t i = 0; i < founds->count; i++) {
        const struct cluster_place *place = &founds->items[i].place;

        if (is_pair(&founds->items[i]) && side[place->a] == side[place->b])
            return false;
    }
    return true;
}

/* The first pair stands for all. */
static void join(struct cluster_founds *founds, size_t first) {
    size_t kept = 0;

    for (size_t i = 0; i < founds->count; i++) {
        if (is_pair(&founds->items[i]) && i != first) {
            founds->items[first].red += founds->items[i].red;
            continue;
        }
        founds->items[kept++] = founds->items[i];
    }
    founds->items[first].place.side = founds->side;
    founds->count = kept;
}

void cluster_sides_join(const struct cluster_map *map, const struct cluster_row *row,
                        struct cluster_founds *founds) {
    size_t nodes = map->report->nodes.count, pairs = 0, first = 0;
    bool *of_a, *of_b, *small;

    for (size_t i = founds->count; i-- > 0;)
        if (is_pair(&founds->items[i])) {
            first = i;
            pairs++;
        }
    if (pairs < PAIRS)
        return;
    of_a = side_make(map, row, founds->items[first].place.a);
    of_b = side_make(map, row, founds->items[first].place.b);
    small = size_of(of_a, nodes) <= size_of(of_b, nodes) ? of_a : of_b;
    if (are_between(small, founds)) {
        founds->side = small;
        join(founds, first);
    }
    free(of_a == founds->side ? NULL : of_a);
    free(of_b == founds->side ? NULL : of_b);
}
