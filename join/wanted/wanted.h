/* What a node gets by a join: its files and registry values.
 *
 * Each file that a join writes is a row of wanted_files.c. The row's function computes the file
 * from what was found (the client, the cluster, the plan, the kubelet's configuration). A phase
 * writes its own files, a dry run shows all, and an upgrade writes those that depend on versions
 * and the cluster. Files that were written are noted for `winjoin status` (join/undo/journal.h),
 * and a reset undoes them. */
#pragma once

#include "join/join.h"
#include "services/service_table.h"

/* Input of a row's function (borrowed), and its results besides the text. */
struct wanting {
    struct host *host;
    struct join_found *found;
    struct error *err;
    int result; /* -1 when the function failed with err */
    char *path; /* Path when the row has none; the caller owns it */
    size_t len; /* Length when the result is bytes and not a text */
};
struct wanted_row {
    const char *phase; /* Phase that writes the file */
    const char *path;  /* Path of the file; NULL means that the function sets it */
    /* Service that reads the file; a node without this service does not get it. NULL when the file
     * is for the network agent or for no service. */
    const struct service *service;
    enum host_access access;
    enum {
        UPGRADE_LEAVES,
        UPGRADE_WRITES, /* An upgrade writes the file and restarts the service */
        /* An upgrade writes the file only when it replaces the service's program. Until then,
         * settings of an administrator stay in it. */
        UPGRADE_WITH_PROGRAM
    } upgrade;
    bool program;      /* The file is a program: a dry run shows its digest */
    bool with_network; /* A dry run shows it as the network's CNI file */
    /* Returns the file's text. NULL when this node has no such file or, when w->path is set, the
     * phase makes the file, which is a secret. Changes nothing on the host. */
    char *(*make)(struct wanting *w);
};
struct wanted_file {
    const struct wanted_row *row;
    char *path, *text;
    size_t len;
};
/* Zero-initialize before use; wanted_files_free() frees the files. */
struct wanted_files {
    struct wanted_file *items;
    size_t count;
};
void wanted_files_free(struct wanted_files *files);

/* Selects rows; NULL and false select all rows. */
struct wanted_choice {
    const char *phase;
    const struct service *service;
    bool upgrade; /* Only rows that an upgrade writes */
};
/* Adds the files of the selected rows, in the order of the table. The routes to other nodes are
 * left out when they are unknown (found.peers). Fails as kube_proxy_config_make(), and as
 * host_read() for winjoin's own program. */
int wanted_files_make(struct host *host, struct join_found *found, struct wanted_choice choice,
                      struct wanted_files *ret, struct error *err);
/* Records each file in the journal, then writes the files. */
int wanted_files_write(struct journal *journal, const struct wanted_files *files,
                       struct error *err);
/* Makes the files of these rows and writes them as wanted_files_write() does. */
int wanted_files_apply(struct join *join, struct wanted_choice choice, struct error *err);

/* ---- registry values; each is recorded in the journal before it is set ---- */

/* Gets the registry values that this join would set, in the form of a JoinPlan: [{key, value, data
 * or adds, why, ..}]. *ret is a new reference; it stays untouched if no value was requested and
 * none is needed. Fails as host_registry_get(). */
int wanted_registry(struct join *join, json_t **ret, struct error *err);
/* With --apply-host-fixes, sets the values of netsetup/windows_builds.h that this Windows lacks.
 * Each is shown as a warning with its reason. */
int host_fixes_apply(struct join *join, struct error *err);
/* Sets the value that the plan's agent needs and that HNS must read before its first network. HNS
 * is restarted for it. Fails as host_registry_get() and services. */
int agent_registry_apply(struct join *join, struct error *err);
/* Adds PROGRAM_FOLDER to the machine's Path, so that shells find winjoin and the tools there. */
int machine_path_apply(struct join *join, struct error *err);

/* ---- ca.crt ---- */

/* Describes the certificates in a file by their public keys, as in pins: "sha256:..
 * (CN=kubernetes)", at most the first three; "no certificate" when it has none. NULL when there is
 * no such file. The caller frees it. */
char *ca_file_describe(struct host *host, const char *path);
/* Returns one line that describes both when the file's keys are not those of the verified CA. NULL
 * when they are equal, there is no file, or proven_pem is NULL. kubeadm keeps such a file. The
 * caller frees it. */
char *ca_file_difference(struct host *host, const char *path, const char *proven_pem);

/* Warns of a ca.crt of another cluster, which the join replaces: with that file kubelets fail with
 * errors that mislead. */
void ca_file_warn(struct host *host, const struct join_found *found,
                  struct join_progress *progress);
