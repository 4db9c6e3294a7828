/* The rows of the table of a cluster's causes, and the places where their cells are looked for. For
 * diag/cluster/causes/ alone. */
#pragma once

#include "diag/causes/causes.h"
#include "diag/cluster/cells.h"

/* ---- rows ---- */

/* Where an effect is: everywhere; between two operating systems or kinds of nodes in one direction;
 * at nodes, both from and to them, only from, only to; from one node to another. */
enum cluster_scope { ALL, SYSTEMS, KINDS, NODE, OUT, IN, PAIR, SCOPES };

/* What is read of a node: of its Node and pod, of two Nodes that have something in common, or of
 * the answers of its probe. */
enum cluster_words {
    SAYS_NOTHING,
    SAYS_GONE,
    SAYS_NOT_READY,
    SAYS_EVICTED,
    SAYS_NO_POD,       /* It is Ready, and its pod does not run for another reason. */
    SAYS_TWIN_PODS,    /* Pods of another node have the same addresses. */
    SAYS_TWIN_OVERLAY, /* What is sent to one node's pods comes to the other's. */
    SAYS_TWIN,         /* The two have something else in common. */
    SAYS_UNREACHED,    /* The API server does not reach its probe. */
    SAYS_NO_AFFINITY,
    SAYS_NO_LOCAL_PORT,
};
/* The words, which are borrowed; NULL: nothing of that kind is known of the node. */
const char *cluster_words_of(const struct cluster_node *node, enum cluster_words words);

/* What makes a row name its cause. */
enum cluster_row_kind {
    READ_ON_NODE,      /* what was read of a node, its pod or its probe's answers */
    PUBLISHED_BY_NODE, /* what a node has published of itself, and how its cells fail */
    PATTERN,           /* in some place all cells of the row fail, and others do not */
    LOSS,              /* in some place all cells of the row lose packets, and some arrive */
    UNASKED,           /* cells of a node that were not asked */
};
/* When a node's words name the cause though no failed cell fits them; then it is likely only. */
enum cluster_unfit { NAMED_ANYWAY, NAMED_LAST, NOT_NAMED };
enum cluster_loss {
    LOSES_LARGE, /* large packets are lost, short ones arrive */
    LOSES_SOME,  /* each packet is lost by chance: a quarter of the cells may have lost none */
    SENDS_AGAIN, /* the same of TCP, which sends again until all arrives */
};
/* Whether a pattern that is not there may be there for one protocol or family alone. */
enum cluster_split { UNDIVIDED, BY_PROTOCOL, BY_FAMILY };

struct cluster_row {
    enum cluster_row_kind kind;
    /* A scope without an id is called as the nearest scope that has one, and the cause says the
     * direction besides. A text that is NULL is that of the first scope that has one. */
    struct diag_cause_row titles[SCOPES];
    /* What names the cause proves it; otherwise it is likely. A loss by chance is proved only where
     * there were attempts enough. What a node has published proves it where that is fresh. */
    bool confirmed;
    /* Cells that the cause breaks. Of READ_ON_NODE: none, they follow. */
    struct cluster_selector breaks;
    /* More failed cells of the place that the cause explains. */
    struct cluster_selector follows;
    bool follows_to_node; /* Where the place is what goes out from nodes, also what goes to them. */
    /* The cause cuts off pods behind Services: it explains failed cells by Services of all nodes.
     */
    bool cuts_off;
    /* Of nodes alone whose NodePort of externalTrafficPolicy Local answers nobody, too. */
    bool local_port;

    enum cluster_words says; /* READ_ON_NODE: what names the cause, as evidence */
    /* PUBLISHED_BY_NODE: the node's own report names the cause where HNS there lacks the load
     * balancer of this Service; NULL: where HNS lacks anything. */
    const char *lacks;
    enum cluster_unfit unfit; /* READ_ON_NODE, PUBLISHED_BY_NODE */
    enum cluster_loss loss;   /* LOSS */

    /* PUBLISHED_BY_NODE, PATTERN, LOSS: one of these cells works in the place. */
    struct cluster_selector spares;
    struct cluster_pattern { /* PATTERN, LOSS */
        enum cluster_split split;
        size_t least;       /* so many cells fail; 0: one */
        bool several_flows; /* Cells of several flows fail. */
        bool outward;       /* The place is all nodes, or what goes out from some. */
        bool at_target;     /* One pair of nodes is enough to name its target; otherwise: two. */
        bool pods_work;     /* No cell between pods fails: a Service's pods may be anywhere. */
        bool shows_dns;     /* The DNS settings inside the node's pod are evidence, too. */
    } pattern;
};
/* Row i of all tables; NULL behind the last. */
const struct cluster_row *cluster_row(size_t i);
/* What the row's cause is called in that scope, with all texts. *ret_as: the scope that has this
 * id. */
struct diag_cause_row cluster_row_title(const struct cluster_row *row, enum cluster_scope scope,
                                        enum cluster_scope *ret_as);

/* The tables: a file each. */
struct cluster_rows {
    const struct cluster_row *items;
    size_t count;
};
extern const struct cluster_rows cluster_rows_of_pods, cluster_rows_of_packets,
    cluster_rows_of_services, cluster_rows_of_targets;

/* Losses by chance leave some cells green. */
static inline bool cluster_row_is_of_chance(const struct cluster_row *row) {
    return row->kind == LOSS && row->loss != LOSES_LARGE;
}
/* Fails as the row says: a cell of which some packets arrive is for the rows of LOSS alone. */
static inline bool cluster_row_is_red(const struct cluster_row *row, const struct diag_cell *c) {
    bool partly = cluster_cell_is_large_lost(c) || cluster_cell_is_lossy(c);

    if (row->kind == LOSS && row->loss == SENDS_AGAIN)
        return c->again || cluster_cell_is_lossy(c);
    return c->outcome == DIAG_FAIL && partly == (row->kind == LOSS);
}

/* ---- places ---- */

/* What a place is made of: each node, one, those of a system, those of a kind; and how its cells
 * lie to these. Of two places with as many cells the first is preferred. */
enum cluster_set { EVERY, ONE, SYSTEM, KIND };
enum cluster_way { BETWEEN, FROM, TO, TOUCHING };

struct cluster_place {
    enum cluster_set set;
    enum cluster_way way;
    size_t a, b; /* nodes (b: of BETWEEN); of a system or kind the first that is of it */
    /* Of each node whether it is of one group, as of one of two racks: then the place is what goes
     * from that group to all others or back, whatever the rest says. NULL: none; borrowed. */
    const bool *group;
};
/* What is known of a node while causes are looked for. */
struct cluster_map_node {
    size_t system, kind; /* the first node that is of the same */
    size_t cells_end;    /* behind its cells in map->touching, which begin where the last end */
    /* Its NodePort of externalTrafficPolicy Local answers nobody; perhaps: other TCP from or to it
     * fails, too, but none between pods. */
    bool local_port_fails, local_port_may_fail;
    bool local_named; /* a cause that explains the failing NodePort was named */
    bool published;   /* a cause that it has published itself was named */
};
struct cluster_map {
    const struct diag_report *report; /* borrowed */
    struct cluster_map_node *nodes;
    size_t *touching; /* places of the cells from and to a node, in their order, node by node */
    bool *explained;  /* of each cell */
    enum cluster_part part; /* of the row's cells: no others count now */
};
/* How a place of that set names the nodes that the node is one of: by their first; of EVERY by 0.
 */
size_t cluster_set_member(const struct cluster_map *map, enum cluster_set set, size_t node);
/* Whether the row breaks the cell, which must be of the map's part, and must have been asked. */
bool cluster_map_has(const struct cluster_map *map, const struct cluster_row *row,
                     const struct diag_cell *cell);
bool cluster_place_has(const struct cluster_map *map, const struct cluster_place *place,
                       const struct diag_cell *cell);
/* Whether the way from one node to another lies in the place, whatever its group says. */
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
    size_t first; /* of the cells that nothing explained */
    bool pairs;   /* cells between two nodes are among them */
};
struct cluster_founds {
    struct cluster_found *items;
    size_t count;
    bool *group; /* of a place */
};
/* The places that explain all red cells of the row that nothing has explained, in the order of
 * their first cells. Many pairs that are all that is between two groups of nodes become one place.
 * free() the items and the group. */
void cluster_scopes_find(const struct cluster_map *map, const struct cluster_row *row,
                         struct cluster_founds *ret);
/* Whether what goes out from that node is a place of the row's effect. */
bool cluster_scopes_find_from(const struct cluster_map *map, const struct cluster_row *row,
                              size_t node, struct cluster_found *ret);
/* Whether enough attempts tell that packets are lost by chance in this place and nowhere else: ten
 * a cell there, on average; and so many elsewhere without a loss that some would be lost, were it
 * the same there. Never where questions of such cells came to nothing: what arrives is answered
 * sooner than what is lost. */
bool cluster_found_is_sure(const struct cluster_map *map, const struct cluster_row *row,
                           const struct cluster_founds *founds, const struct cluster_found *found);
