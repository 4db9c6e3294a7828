/* A row of the table of a cluster's causes: an effect, and what it is called in each scope. Inside
 * diag/cluster. */
#pragma once

#include "diag/causes/causes.h"
#include "diag/cluster/cells.h"

/* Where an effect is: everywhere; between two operating systems or kinds of nodes in one direction;
 * at nodes, both from and to them, only from, only to; from one node to another. */
enum cluster_scope { ALL, SYSTEMS, KINDS, NODE, OUT, IN, PAIR, SCOPES };

typedef bool cluster_is_among(const struct diag_cell *cell);
typedef const char *cluster_says(const struct cluster_node *node);
typedef bool cluster_reports(const struct cluster_node *node);

/* Of a row's cells: all, or those of a protocol or family alone. */
enum cluster_part { WHOLE, UDP, TCP, FOUR, SIX };

struct cluster_row {
    /* By scope; one without an id is called as the nearest that has one, and the direction is said
     * besides. Texts that are NULL are those of the first scope that has them. */
    struct diag_cause_row told[SCOPES];
    cluster_says
        *says; /* what was read of a node itself: confirmed; otherwise a pattern of cells */
    cluster_reports *reports; /* what the node has published: confirmed where that is fresh and the
                                 cells from the node are as below; elsewhere told, without a cell */
    bool only_red;            /* of `reports`: told only where the cells are so */
    cluster_is_among *among;  /* cells that it breaks: in its scope each is red */
    cluster_is_among
        *spared; /* one of these in its scope works; NULL: nothing is asked of others */
    cluster_is_among
        *also;      /* red cells of the scope that follow of themselves; NULL: only `among` */
    size_t least;   /* red cells; 0 = 1 */
    bool whole;     /* all between pods works: a Service's pods may be anywhere */
    bool touching;  /* `also` counts cells to the nodes, too, where the scope is only from them */
    bool behind;    /* pods behind Services are cut off: their red cells follow, wherever from */
    bool dns;       /* the DNS settings inside the node's pod are evidence */
    bool outward;   /* only the cell's source matters: it is somewhere, or everywhere */
    bool at_target; /* a node that one other asks is enough to name it; otherwise it is a pair */
    bool protocols; /* where it is not all of them, it may be UDP or TCP alone; */
    bool families;  /* IPv4 or IPv6 */
    bool mixed;     /* cells of several flows are red */
    bool chance;    /* of some cells all packets arrive by chance: a quarter may be green */
    bool local;     /* the NodePort there of externalTrafficPolicy Local answers nobody, too */
    bool surely;    /* seen, not concluded; of chance: where attempts enough were made */
    bool fits;      /* of `says`: where none of `also` fails it is only told, as the last */
    bool aside;     /* of `says`: it breaks no cell, and no run fails for it alone */
    bool unasked;   /* cells of which nothing is known, of each node; no pattern */
    bool again;     /* cells whose packets were sent again; that all arrive at last is no matter */
    bool partly;    /* some packets arrive: of all other rows such a cell works */
};
/* Row i of all tables; NULL behind the last. */
const struct cluster_row *cluster_row(size_t i);
/* What the row is called in that scope, with all texts; *ret_as: the scope whose id it is. */
struct diag_cause_row cluster_row_told(const struct cluster_row *row, enum cluster_scope scope,
                                       enum cluster_scope *ret_as);

/* The tables: a file each. */
struct cluster_rows {
    const struct cluster_row *items;
    size_t count;
};
extern const struct cluster_rows cluster_rows_of_pods, cluster_rows_of_packets,
    cluster_rows_of_services, cluster_rows_of_targets;

/* Red for such a row: a cell that some packets pass has rows of its own; one that could not be
 * asked says nothing. */
static inline bool cluster_row_is_red(const struct cluster_row *row, const struct diag_cell *c) {
    if (row->again)
        return c->again > 0 || cluster_cell_is_lossy(c);
    return c->outcome == DIAG_FAIL &&
           row->partly == (cluster_cell_is_large_lost(c) || cluster_cell_is_lossy(c));
}
/* All attempts succeed, or some. */
static inline bool cluster_cell_passes_some(const struct diag_cell *c) {
    return cluster_cell_is_lossy(c) || !diag_cell_is_open(c);
}
static inline bool cluster_cell_is_unasked(const struct diag_cell *c) {
    return c->outcome == DIAG_NOT_RUN;
}

/* What the tables have in common. */
bool cluster_cell_is_any(const struct diag_cell *c);
bool cluster_cell_is_astray(const struct diag_cell *c); /* somebody else answers */

/* ---- where cells are ---- */

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

/* ---- where an effect is: the fewest places that hold all of it ---- */

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
