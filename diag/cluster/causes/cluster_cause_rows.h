/* The rows of the tables of a cluster's causes, and the places where their cells are looked for.
 * Only for diag/cluster/causes/. */
#pragma once

#include "diag/causes/causes.h"
#include "diag/cluster/cells.h"

/* ---- the rows of the tables ---- */

/* Says where an effect is: everywhere; between two operating systems or two kinds of nodes, in one
 * direction; at nodes (both directions, only from them, only to them); from one node to another. */
enum cluster_scope { ALL, SYSTEMS, KINDS, NODE, OUT, IN, PAIR, SCOPES };

/* Kinds of texts about a node's state. They come from its Node and pod, from a value that two Nodes
 * share, or from the answers of its probe. */
enum cluster_words {
    SAYS_NOTHING,
    SAYS_GONE,
    SAYS_NOT_READY,
    SAYS_EVICTED,
    SAYS_NO_POD,       /* The node is Ready, but its pod does not run for another reason. */
    SAYS_TWIN_PODS,    /* Pods of another node have the same addresses. */
    SAYS_TWIN_OVERLAY, /* Packets to the pods of one node arrive at another node. */
    SAYS_TWIN,         /* Two nodes share another value that must be unique. */
    SAYS_UNREACHED,    /* The API server does not reach the node's probe. */
    SAYS_NO_AFFINITY,
    SAYS_NO_LOCAL_PORT,
};
/* Returns the text of that kind about the node (borrowed); NULL when it has no such problem. */
const char *cluster_words_of(const struct cluster_node *node, enum cluster_words words);

/* Says what makes a row name its cause. */
enum cluster_row_kind {
    /* The state of a node or its pod, or an answer of its probe, names the cause. */
    READ_ON_NODE,
    /* A report that a node has published names the cause, and the node's cells fail accordingly. */
    PUBLISHED_BY_NODE,
    /* In some place all cells of the row fail, and cells elsewhere do not. */
    PATTERN,
    /* In some place all cells of the row lose packets, and some packets arrive. */
    LOSS,
    UNASKED, /* Cells of a node were not asked. */
};
/* Says whether the state of a node names the cause even if no failed cell fits it; the cause is
 * then only likely. */
enum cluster_unfit { NAMED_ANYWAY, NAMED_LAST, NOT_NAMED };
enum cluster_loss {
    LOSES_LARGE, /* Large packets are lost, short ones arrive. */
    /* Each packet may be lost by chance: up to a quarter of the cells may have lost none. */
    LOSES_SOME,
    /* As LOSES_SOME, for TCP, which sends packets again until all have arrived. */
    SENDS_AGAIN,
};
/* Says whether the cells of only one protocol, or of only one IP family, may fail by a cause. */
enum cluster_split { UNDIVIDED, BY_PROTOCOL, BY_FAMILY };

struct cluster_row {
    enum cluster_row_kind kind;
    /* Id and texts of the cause for each scope. A scope without an id takes those of the nearest
     * scope that has one, and the cause then also names the direction. A NULL text is taken from
     * the first scope that has it. */
    struct diag_cause_row titles[SCOPES];
    /* The evidence proves the cause; otherwise the cause is likely. Loss by chance is proved only
     * by enough attempts, and a node's own report only when it is fresh. */
    bool confirmed;
    /* The cells that the cause breaks. A row of the kind READ_ON_NODE breaks no cells by itself; it
     * has only `follows`. */
    struct cluster_selector breaks;
    /* Further failed cells of the place, which the cause explains, too. */
    struct cluster_selector follows;
    /* When the place is what nodes send, `follows` also means the cells to these nodes. */
    bool follows_to_node;
    /* The cause cuts off pods behind Services, so it explains failed Service cells on all nodes. */
    bool cuts_off;
    /* Only for nodes whose NodePort of externalTrafficPolicy Local answers nobody. */
    bool local_port;

    /* For READ_ON_NODE: the kind of text that names the cause and is its evidence. */
    enum cluster_words says;
    /* For PUBLISHED_BY_NODE: the Service. The node's own report names the cause when HNS on that
     * node lacks the load balancer of this Service; NULL means that HNS lacks anything. */
    const char *lacks;
    /* This member is used for READ_ON_NODE and PUBLISHED_BY_NODE. */
    enum cluster_unfit unfit;
    enum cluster_loss loss; /* This member is used for LOSS. */

    /* For PUBLISHED_BY_NODE, PATTERN and LOSS: one or more of these cells must work there. */
    struct cluster_selector spares;
    struct cluster_pattern { /* Used for PATTERN and LOSS. */
        enum cluster_split split;
        size_t least;       /* The fewest cells that must fail; 0 means one. */
        bool several_flows; /* Cells of several flows must fail. */
        bool outward;       /* The place must be all nodes, or what some nodes send. */
        /* One pair of nodes is enough to name the target of the pair; otherwise two are needed. */
        bool at_target;
        /* No cell between pods may fail, because the pods of a Service may be on any node. */
        bool pods_work;
        /* The DNS settings inside the node's pod are added to the evidence. */
        bool shows_dns;
    } pattern;
};
/* Returns row i of all tables together; NULL behind the last row. */
const struct cluster_row *cluster_row(size_t i);
/* Returns id and texts of the row's cause in that scope. *ret_as is the scope that the id is
 * from. */
struct diag_cause_row cluster_row_title(const struct cluster_row *row, enum cluster_scope scope,
                                        enum cluster_scope *ret_as);

/* The tables; each is in a file of its own. */
struct cluster_rows {
    const struct cluster_row *items;
    size_t count;
};
extern const struct cluster_rows cluster_rows_of_pods, cluster_rows_of_packets,
    cluster_rows_of_services, cluster_rows_of_targets;

/* Is the row about loss by chance, which leaves some cells green? */
static inline bool cluster_row_is_of_chance(const struct cluster_row *row) {
    return row->kind == LOSS && row->loss != LOSES_LARGE;
}
/* Does the cell fail as the row describes? If some packets arrive, it is only for rows of LOSS. */
static inline bool cluster_row_is_red(const struct cluster_row *row, const struct diag_cell *c) {
    bool partly = cluster_cell_is_large_lost(c) || cluster_cell_is_lossy(c);

    if (row->kind == LOSS && row->loss == SENDS_AGAIN)
        return c->again || cluster_cell_is_lossy(c);
    return c->outcome == DIAG_FAIL && partly == (row->kind == LOSS);
}

/* ---- places: sets of cells that a cause may be about ---- */

/* The nodes of a place (all, one, those of an operating system, those of a kind), and the direction
 * of its cells as seen from these nodes. Of two places with as many cells, the one that is listed
 * first is preferred. */
enum cluster_set { EVERY, ONE, SYSTEM, KIND };
enum cluster_direction { BETWEEN, FROM, TO, TOUCHING };

struct cluster_place {
    enum cluster_set set;
    enum cluster_direction direction;
    /* Indexes of nodes; `b` is used for BETWEEN. A system or a kind is named by its first node. */
    size_t a, b;
    /* Marks the nodes of one group, such as those in one of two racks. The place is then what goes
     * between the group and all other nodes, and the other fields do not count. NULL when there is
     * no group. Borrowed. */
    const bool *group;
};
/* Facts about a node while causes are looked for. */
struct cluster_map_node {
    /* The first node with the same operating system, and the first of the same kind. */
    size_t system, kind;
    /* The end of the node's cells in map->touching; they begin at the end of the previous
     * node's. */
    size_t cells_end;
    /* local_port_fails: the node's NodePort of externalTrafficPolicy Local answers nobody.
     * local_port_may_fail: the same, but other TCP from or to the node fails, too, though none
     * between pods. */
    bool local_port_fails, local_port_may_fail;
    bool local_named; /* A cause that explains the failing NodePort was named. */
    bool published;   /* A cause from the node's own report was named. */
};
struct cluster_map {
    const struct diag_report *report; /* The report is borrowed. */
    struct cluster_map_node *nodes;
    /* Indexes of the cells from and to each node, in their order, node after node. */
    size_t *touching;
    bool *explained;        /* Says of each cell whether a cause explains it. */
    enum cluster_part part; /* The part of the row's cells that counts at the moment. */
};
/* Returns the group of the set to which the node belongs, as the index of that group's first node;
 * 0 for the set EVERY. */
size_t cluster_set_member(const struct cluster_map *map, enum cluster_set set, size_t node);
/* Says whether the row breaks the cell, which must be of the map's part and have been asked. */
bool cluster_map_has(const struct cluster_map *map, const struct cluster_row *row,
                     const struct diag_cell *cell);
bool cluster_place_has(const struct cluster_map *map, const struct cluster_place *place,
                       const struct diag_cell *cell);
/* Says whether cells from one node to the other lie in the place, without regard to its group. */
bool cluster_place_has_direction(const struct cluster_map *map, const struct cluster_place *place,
                                 size_t from, size_t to);
enum cluster_scope cluster_place_scope(const struct cluster_place *place);
/* Returns the name of a place: "all nodes", "win-1", "win-1 to win-2", "windows nodes", "linux to
 * windows nodes", "win-1, win-2 and the other nodes". The caller frees it. */
char *cluster_place_name(const struct cluster_map *map, const struct cluster_place *place);

/* ---- find the fewest places that hold all of an effect ---- */

/* A place with red cells of a row, and without green ones. */
struct cluster_found {
    struct cluster_place place;
    size_t red;   /* The number of red cells. */
    size_t first; /* The index of the first cell that no cause explained. */
    bool pairs;   /* Some of the cells are between two nodes. */
};
struct cluster_founds {
    struct cluster_found *items;
    size_t count;
    bool *group; /* The group of one of the places; NULL when no place is a group. */
};
/* Finds the places that explain all red cells of the row which no cause has explained, in the order
 * of their first cells. When many pairs are together all cells between two groups of nodes, they
 * become one place. The caller frees the items and the group with free(). */
void cluster_scopes_find(const struct cluster_map *map, const struct cluster_row *row,
                         struct cluster_founds *ret);
/* Says whether the cells that the node asks are a place of the row's effect; fills *ret then. */
bool cluster_scopes_find_from(const struct cluster_map *map, const struct cluster_row *row,
                              size_t node, struct cluster_found *ret);
/* Says whether there were enough attempts to tell that packets are lost by chance in this place and
 * nowhere else: on average ten for each cell there, and elsewhere so many without a loss that the
 * same loss would have shown. Never when some questions of such cells were not answered at all,
 * because those that arrive are answered sooner than those that are lost. */
bool cluster_found_is_sure(const struct cluster_map *map, const struct cluster_row *row,
                           const struct cluster_founds *founds, const struct cluster_found *found);
