/* Where an effect is: the fewest nodes, pairs, systems or kinds of nodes that hold all of its red
 * cells and no green one. Inside diag/cluster. */
#pragma once

#include "diag/cluster/causes/places.h"

/* A place with red cells of a row, and no green ones. */
struct cluster_found {
    struct cluster_place place;
    size_t red;   /* cells */
    size_t first; /* of those that nothing explained */
    bool pairs;   /* cells of other nodes are among them */
};
struct cluster_founds {
    struct cluster_found *items;
    size_t count;
    bool *side; /* of a place */
};
/* The places that explain what is open of the row's cells; free() the items and the side. In the
 * order of their first cells. */
void cluster_scopes_find(const struct cluster_map *map, const struct cluster_row *row,
                         struct cluster_founds *ret);
/* Of a row of chance: whether attempts enough tell that it is this place and no other. Ten a cell
 * there, on average; and elsewhere so many without a loss that some would be lost, were it the same
 * there. Never where questions of such a cell came to nothing: who answers late, answers what
 * arrives sooner than what is lost. */
bool cluster_found_is_sure(const struct cluster_map *map, const struct cluster_row *row,
                           const struct cluster_founds *founds, const struct cluster_found *found);
/* Joins pairs that are all that is between two groups of nodes to one place. */
void cluster_sides_join(const struct cluster_map *map, const struct cluster_row *row,
                        struct cluster_founds *founds);
/* The same of what goes out from one node; false: it is not so there. */
bool cluster_scopes_find_from(const struct cluster_map *map, const struct cluster_row *row,
                              size_t node, struct cluster_found *ret);
