/* Where an effect is: the fewest nodes, pairs, systems or kinds of nodes that hold all of its red
 * cells and no green one. Inside diag/cluster. */
#pragma once

#include "diag/cluster/cause_row.h"

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
    const struct cluster_report *report;
    const size_t *systems, *kinds; /* of each node: the first that is like it */
    const bool *explained;         /* of each cell */
    enum cluster_part part;        /* of the row's cells */
    const bool *silent;            /* of each node: its Local NodePort answers nobody, perhaps */
};
/* A cell of the row and the part, of which something is known. */
bool cluster_map_has(const struct cluster_map *map, const struct cluster_row *row,
                     const struct cluster_cell *cell);
bool cluster_place_has(const struct cluster_map *map, const struct cluster_place *place,
                       const struct cluster_cell *cell);
enum cluster_scope cluster_place_scope(const struct cluster_place *place);
/* "all nodes", "win-1", "win-1 to win-2", "windows nodes", "linux to windows nodes", "win-1, win-2
 * and the other nodes"; the caller frees. */
char *cluster_place_name(const struct cluster_map *map, const struct cluster_place *place);

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
/* "win-1, win-2 and the other nodes"; the caller frees. */
char *cluster_side_name(const struct cluster_map *map, const bool *side);
/* The same of what goes out from one node; false: it is not so there. */
bool cluster_scopes_find_from(const struct cluster_map *map, const struct cluster_row *row,
                              size_t node, struct cluster_found *ret);
