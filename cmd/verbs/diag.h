/* One run of winjoin diag, which tests this node or a whole cluster. */
#pragma once

#include "cmd/program.h"
#include "diag/collection/collection.h"
#include "diag/reports/report.h"
#include "join/join.h"
#include "kube/client.h"

struct diagnosis;
/* What a test of a node and a test of a cluster do differently. */
struct diag_operations {
    const char *kind; /* The "kind" of the report's document. */
    /* Who may read the .zip: that of a node holds data which ordinary users must not read. */
    enum host_access collected;
    void (*find_causes)(struct diag_report *report);
    /* Turns a report into the result of the program: 0, or ERROR_FLOWS with the first causes. */
    int (*judge)(const struct diag_report *report, struct error *err);
    /* Prepares a test. Where it fails, no evidence is collected. end() is called in any case. */
    int (*open)(struct diagnosis *d, struct error *err);
    /* Runs the test and fills d->report. After a failure, the report still has cells when anything
     * was measured. */
    int (*ask)(struct diagnosis *d, struct error *err);
    /* Makes the .zip of --collect. `failure` says why nothing was measured, or is NULL. free()
     * it. */
    int (*pack)(struct diagnosis *d, const char *failure, char **ret, size_t *ret_len,
                struct error *err);
    /* Ends a test. result and err are those of the test. */
    void (*end)(struct diagnosis *d, int result, const struct error *err);
};
extern const struct diag_operations diag_of_node, diag_of_cluster;

struct diagnosis {
    struct program *program;
    const struct diag_operations *ops;
    struct diag_report report;
    /* The report of the previous test, or of --compare; empty before the first. */
    struct diag_report last;
    bool begun; /* With --watch: the first test was made and printed. */
    /* Why the last test could not be made; "" after a test that was. */
    char failure[ERROR_MESSAGE_MAX];
    /* The members below belong to one test. */
    struct progress progress;
    struct join join;              /* The join that a test of this node runs. */
    struct kube_client client;     /* The connection for a test of a cluster. */
    struct collection *collection; /* The API objects for --collect in a test of a cluster. */
};
/* Returns the style of report texts for this standard output. */
struct diag_text_style diag_style(const struct program *program);
