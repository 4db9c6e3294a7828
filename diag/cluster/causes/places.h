/* Where in a cluster a cell lies: nodes, pairs, systems and kinds of nodes, and their directions.
 * Inside diag/cluster. */
#pragma once

#include "diag/cluster/causes/cause_row.h"

/* What a scope is made of: each node, one, those of a system, those of a kind; and how its cells
 * lie to it. Of as many cells the first is preferred. */
enum cluster_set { EVERY, ONE, SYSTEM, KIND };
enum cluster_way { BETWEEN, FROM, TO, TOUCHING };

/* `a`, `b` (of BETWEEN): nodes; of a system or kind the first that is of it. `side`: not these two,
 * but each of some nodes and each of all others, as between two racks: of each node whether it is
 * one of the some. */
struct cluster_place {
    enum cluster_set set;
    enum cluster_way way;
    size_t a, b;
    const bool *side; /* or NULL; borrowed */
};
/* The nodes, and which cells are explained; borrowed. */
struct cluster_map {
    const struct diag_report *report;
    const size_t *systems, *kinds; /* of each node: the first that is like it */
    const bool *explained;         /* of each cell */
    enum cluster_part part;        /* of the row's cells */
    const bool *silent;            /* of each node: its Local NodePort answers nobody, perhaps */
};
/* A cell of the row and the part, of which something is known. */
bool cluster_map_has(const struct cluster_map *map, const struct cluster_row *row,
                     const struct diag_cell *cell);
bool cluster_place_has(const struct cluster_map *map, const struct cluster_place *place,
                       const struct diag_cell *cell);
/* Is the node `a`, or of its system or kind? */
bool cluster_place_has_node(const struct cluster_map *map, const struct cluster_place *place,
                            size_t node);
/* Does the way from one node to another lie in it, whatever `side` says? */
bool cluster_place_has_way(const struct cluster_map *map, const struct cluster_place *place,
                           size_t from, size_t to);
enum cluster_scope cluster_place_scope(const struct cluster_place *place);
/* "all nodes", "win-1", "win-1 to win-2", "windows nodes", "linux to windows nodes", "win-1, win-2
 * and the other nodes"; the caller frees. */
char *cluster_place_name(const struct cluster_map *map, const struct cluster_place *place);
