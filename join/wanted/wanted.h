/* What a node shall have by a join: its files and registry values.
 *
 * The files that a join writes are a row each, whose function computes the file from what
 * was found (the client, the cluster, the plan, the kubelet's configuration). A phase writes its
 * own, a dry run shows them all, an upgrade writes those that follow from versions and the cluster.
 * What was written is noted for `winjoin status` (join/undo/journal.h), and a reset takes it back.
 * A new file is a row of wanted_files.c with its function. */
#pragma once

#include "join/join.h"
#include "services/service_table.h"

/* What a row's function gets, borrowed, and says beside the text. */
struct wanting {
    struct host *host;
    struct join_found *found;
    struct error *err;
    int result; /* -1: failed with err */
    char *path; /* where the row has none; its owner is whoever called */
    size_t len; /* of bytes */
};
struct wanted_row {
    const char *phase; /* that writes it */
    const char *path;  /* NULL: its function says */
    /* that reads it: a node without that one has no such file; NULL: the network agent's, or
     * none */
    const struct service *service;
    enum host_access access;
    enum {
        UPGRADE_LEAVES,
        UPGRADE_WRITES,      /* and starts the service again */
        UPGRADE_WITH_PROGRAM /* the same where it replaces the service's program: until then an
                                administrator's own settings stay in it */
    } upgrade;
    bool program;      /* a dry run names its digest */
    bool with_network; /* a dry run shows it as the network's CNI file */
    /* Its text; NULL: this node has no such file, or, with w->path, its phase makes it, a secret.
     * Changes nothing on the host. */
    char *(*make)(struct wanting *w);
};
struct wanted_file {
    const struct wanted_row *row;
    char *path, *text;
    size_t len;
};
/* Zero-initialise; wanted_files_free(). */
struct wanted_files {
    struct wanted_file *items;
    size_t count;
};
void wanted_files_free(struct wanted_files *files);

/* Which rows; NULL, false: all. */
struct wanted_choice {
    const char *phase;
    const struct service *service;
    bool upgrade; /* those that an upgrade writes */
};
/* Adds the files of those rows, in the order of the table, without what only the other nodes tell
 * while that is not known (found.peers). Kinds: those of kube_proxy_config_make(), and of
 * host_read() for winjoin's own program. */
int wanted_files_make(struct host *host, struct join_found *found, struct wanted_choice choice,
                      struct wanted_files *ret, struct error *err);
/* Writes them, each recorded in the journal first. */
int wanted_files_write(struct journal *journal, const struct wanted_files *files,
                       struct error *err);
/* Makes the files of these rows and writes them. */
int wanted_files_apply(struct join *join, struct wanted_choice choice, struct error *err);

/* ---- registry values, each in the journal before it is set ---- */

/* The registry values that this join would set, as in a JoinPlan: [{key, value, data or adds, why,
 * ..}]. *ret: new reference; untouched where there is none and none was asked for. Kinds: those of
 * host_registry_get(). */
int wanted_registry(struct join *join, json_t **ret, struct error *err);
/* Sets those of netsetup/windows_builds.h that this Windows lacks, when that was asked for, each
 * told as a warning with its reason. */
int host_fixes_apply(struct join *join, struct error *err);
/* The value that HNS must have read before its first network, for the plan's agent; HNS is started
 * again for it. Kinds: those of host_registry_get() and of services. */
int agent_registry_apply(struct join *join, struct error *err);
/* PROGRAM_FOLDER on the machine's Path, so that winjoin and the tools beside it are found by name.
 */
int machine_path_apply(struct join *join, struct error *err);

/* ---- ca.crt ---- */

/* What the file holds, by public keys as pins name them: "sha256:.. (CN=kubernetes)",
 * of several the first three; "no certificate" when it is none. NULL when there is no file. The
 * caller frees. */
char *ca_file_describe(struct host *host, const char *path);
/* One line with what both hold when the file's keys are not those of the proven CA; NULL when they
 * are, there is no file, or no CA (NULL). kubeadm keeps such a file as it is. The caller frees. */
char *ca_file_difference(struct host *host, const char *path, const char *proven_pem);

/* A ca.crt of another cluster makes kubelets fail with errors that mislead: warns of the one
 * that will be replaced. */
void ca_file_warn(struct host *host, const struct join_found *found,
                  struct join_progress *progress);
