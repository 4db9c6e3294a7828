/* Services that a phase has started and whose work it waits for: one that ends meanwhile is started
 * again as the SCM's failure actions would (Wine's SCM has none, and Windows' are some seconds
 * late), a bounded number of times. */
#pragma once

#include "join/progress/progress.h"
#include "join/undo/journal.h"
#include "kube/client.h"
#include "services/service_table.h"

/* How often a service is started again, and the longest pause before (else that of its failure
 * actions: 5 s, 10 s, 30 s; for containerd 15 s). */
enum { SERVICE_RESTARTS_MAX = 3, SERVICE_PAUSE_MAX_MS = 10000 };

struct service_watch {
    /* given; borrowed */
    struct host *host;
    struct join_progress *progress;
    const struct kube_client *client; /* of the node's own identity; NULL: not known */
    /* kept */
    const struct service *service;
    unsigned ends;      /* how often it ended */
    uint64_t again_ms;  /* host_monotonic_ms() at which it is started again; 0: it runs */
    unsigned refused;   /* how often in a row the API server refused what it reads */
    uint64_t rights_ms; /* when the API server is asked again */
};

/* Starts the service, which from now on is the one that service_watch_look() looks at. One that
 * ends while it comes up counts as one that ended. */
int service_watch_start(struct service_watch *watch, const struct service *service,
                        struct error *err);
/* For each look of a phase: 0 when the service runs (*ret_runs, may be NULL: true) or will be
 * started again after its pause. ERROR_HOST when somebody removed it, or when it has ended once too
 * often: with its exit code, and hints that name its log and the log's last errors. */
int service_watch_look(struct service_watch *watch, bool *ret_runs, struct error *err);
/* For those looks too: every few seconds asks the API server for `path` with the node's identity,
 * which is the service's. When the server refuses that, waiting is in vain: ERROR_DENIED, with the
 * hint how an administrator gives the rights. Anything else is not a failure. */
int service_watch_rights(struct service_watch *watch, const char *path, struct error *err);
/* Hints at the service's log, and at the errors that it ends with. Returns -1. */
int service_watch_hint(struct service_watch *watch, struct error *err);

/* Records and registers the service and starts it (again, when something changed); from now on it
 * is the one that `watch` looks at. Flags of ours that its program does not know are left out, with
 * a warning. Kinds: those of the host and of service_watch_start(), ERROR_DENIED (a program that a
 * stranger put there: host/host.h). */
int service_start(struct service_watch *watch, struct journal *journal,
                  const struct service *service, const struct service_settings *settings,
                  struct error *err);

/* Records and registers it, and does not start it: one that starts with Windows, and with what
 * depends on it. *ret_changed (or NULL) as service_ensure()'s. */
int service_register(struct journal *journal, const struct service *service,
                     const struct service_settings *settings, bool *ret_changed, struct error *err);
