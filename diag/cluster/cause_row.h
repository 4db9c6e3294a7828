/* A row of the table of a cluster's causes. Inside diag/cluster. */
#pragma once

#include "diag/causes/causes.h"
#include "diag/cluster/cluster.h"

/* Which cells are looked at together: all, those of a node (from it, to it, both), those between
 * operating systems, kinds of nodes, or two nodes; the last three in one direction. */
enum cluster_group { ALL, FROM, TO, NODE, SYSTEMS, KINDS, PAIR };

typedef bool cluster_is_among(const struct cluster_cell *cell);
typedef const char *cluster_says(const struct cluster_node *node);
typedef bool cluster_reports(const struct cluster_node *node);

struct cluster_row {
    struct diag_cause_row told;
    enum cluster_group group;
    cluster_says
        *says; /* what was read of a node itself: confirmed; otherwise a pattern of cells */
    cluster_reports *reports;  /* what the node has published: confirmed where that is fresh and the
                                  group's cells are as below; elsewhere told, without a cell */
    bool only_red;             /* of `reports`: told only where the cells are so */
    cluster_is_among *among;   /* cells that it breaks: each is red */
    cluster_is_among *spared;  /* one of these at least works; NULL: nothing is asked of others */
    enum cluster_group beside; /* the cells among which `spared` are looked for */
    cluster_is_among
        *also;     /* red cells of the group that follow of themselves; NULL: only `among` */
    size_t least;  /* red cells; 0 = 1 */
    bool whole;    /* all of `spared` work: a Service's pods may be anywhere */
    bool touching; /* `also` counts cells to the node, too */
    bool behind;   /* pods behind Services are cut off: their red cells follow, wherever from */
    bool dns;      /* the DNS settings inside the node's pod are evidence */
    bool many;     /* red for more than one node at the other end */
    bool local;    /* the NodePort there of externalTrafficPolicy Local answers nobody, too */
    bool surely;   /* seen, not concluded */
    bool aside;    /* of `says`: it breaks no cell, and no run fails for it alone */
    bool partly;   /* some packets arrive: of all other rows such a cell works */
};
/* Row i of all tables; NULL behind the last. */
const struct cluster_row *cluster_row(size_t i);

/* The tables: a file each. */
struct cluster_rows {
    const struct cluster_row *items;
    size_t count;
};
extern const struct cluster_rows cluster_rows_of_pods, cluster_rows_of_packets,
    cluster_rows_of_services, cluster_rows_of_targets;

static inline bool cluster_cell_is_red(const struct cluster_cell *c) {
    return c->cell.outcome == DIAG_FAIL || c->cell.outcome == DIAG_NOT_RUN;
}
bool cluster_cell_is_between_pods(const struct cluster_cell *c);
bool cluster_cell_is_by_service(const struct cluster_cell *c); /* or by a name of one */

/* What the tables have in common. */
bool cluster_cell_is_any(const struct cluster_cell *c);
bool cluster_cell_is_of(const struct cluster_cell *c, const char *flow);
bool cluster_cell_is_to_service(const struct cluster_cell *c); /* by its address, inside */
bool cluster_cell_is_by_name(const struct cluster_cell *c);    /* of the cluster */
bool cluster_cell_has_dns_failed(const struct cluster_cell *c);
bool cluster_cell_is_astray(const struct cluster_cell *c); /* somebody else answers */
