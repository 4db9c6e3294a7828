/* What a run of winjoin diag is, of this node or of a whole cluster. */
#pragma once

#include "cmd/program.h"
#include "diag/collection/collection.h"
#include "diag/reports/report.h"
#include "join/join.h"
#include "kube/client.h"

struct diagnosis;
/* What a node and a cluster do each in its own way. */
struct diag_operations {
    const char *kind;           /* of the report's document */
    enum host_access collected; /* who may read the .zip: a node's has what users may not */
    void (*find_causes)(struct diag_report *report);
    /* How a report ends the program: 0, or ERROR_FLOWS with its first causes. */
    int (*judge)(const struct diag_report *report, struct error *err);
    /* What a test needs first; where that fails nothing is collected either. end() in any case. */
    int (*open)(struct diagnosis *d, struct error *err);
    /* Fills d->report, perhaps also where it fails: with cells if anything was measured. */
    int (*ask)(struct diagnosis *d, struct error *err);
    /* The .zip of --collect; `failure`: why nothing was measured, or NULL. The caller frees. */
    int (*pack)(struct diagnosis *d, const char *failure, char **ret, size_t *ret_len,
                struct error *err);
    /* result and err are the test's. */
    void (*end)(struct diagnosis *d, int result, const struct error *err);
};
extern const struct diag_operations diag_of_node, diag_of_cluster;

struct diagnosis {
    struct program *program;
    const struct diag_operations *ops;
    struct diag_report report;
    struct diag_report last; /* what was measured before, or --compare's; empty: nothing yet */
    bool begun;              /* --watch: a test was made and told of */
    char failure[ERROR_MESSAGE_MAX]; /* why the last one could not be made; "" = it was */
    /* of one test: */
    struct progress progress;
    struct join join;              /* of a node */
    struct kube_client client;     /* of a cluster, as what follows */
    struct collection *collection; /* what the API says, of --collect */
};
/* How a report's text is written on this standard output. */
struct diag_text_style diag_style(const struct program *program);
