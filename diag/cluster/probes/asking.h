/* The questions of a run to its probes, many at the same time. */
#pragma once

#include "diag/cluster/cells.h"
#include "diag/cluster/cluster.h"

/* What is known of a node's probe itself, whatever it reaches. */
struct cluster_hearing {
    bool listens; /* it was not refused */
    bool heard;   /* it has said something */
    bool late;    /* it has said something seconds too late, or nothing: what does not come in
                     time from there says nothing of the network */
    bool silent;  /* it said something, and at the end nothing */
    unsigned slowest_ms; /* of a round: an answer of one that was dialed by its address, */
    unsigned udp_ms;     /* by UDP */
};
/* A run and its questions. Borrowed, but for the lists. */
struct cluster_asking {
    struct kube_client *client;
    const struct cluster_options *options;
    struct diag_report *report;
    struct cluster_addresses addresses;
    bool *mixed;   /* of each cell: packets were lost by chance; by a Service: some attempts failed,
                      in a round that counts */
    bool *delayed; /* of each cell of TCP between pods: an answer took as long as a packet that is
                      sent again */
    struct cluster_hearing *hearing; /* of each node */
    bool shown;                      /* the cells; and when */
    uint64_t shown_ms;
};
/* When the cells are made. */
void cluster_asking_open(struct cluster_asking *asking);
void cluster_asking_close(struct cluster_asking *asking);

/* More pairs, where some fail (cluster_pairs_widen()); their cells are not asked yet. */
void cluster_asking_widen(struct cluster_asking *asking);

/* What is asked at the same time. */
struct cluster_round {
    bool (*asks)(const struct diag_cell *cell); /* of the red cells; NULL: none */
    bool sights[SIGHTS];                        /* those of each node that are not seen yet */
    unsigned soon_ms; /* what takes longer is asked again in another round; 0 = each has its time */
    unsigned look_ms; /* of a sight, where it is another time; 0 = the same */
    bool again;       /* a cell that is red did fail */
    bool closely;     /* a red cell that passes some packets is asked several times: that tells loss
                         by chance from large packets alone being lost. So is one of a Service */
    bool evenly;      /* each, red or not, as often as the others */
};
struct cluster_asked {
    size_t red;       /* cells that were asked, and still are */
    size_t unseen;    /* sights that were asked, and are not seen */
    unsigned wait_ms; /* of the sight that was answered last, without its connection */
};
/* Judges each answer when it comes, and shows it (options->cells). */
struct cluster_asked cluster_ask(struct cluster_asking *asking, const struct cluster_round *round);
/* Whether something fails between pods: what a Service leads to may be cut off. */
bool cluster_has_cut_pods(const struct diag_report *report);
/* Any cell. */
bool cluster_asks_all(const struct diag_cell *cell);
/* Shows the cells, at most five times a second but for the last time. */
void cluster_asking_show(struct cluster_asking *asking, bool at_last);
/* ERROR_INTERRUPTED where somebody ends the run. */
int cluster_check_interrupted(struct host *host, struct error *err);
