/* Watches services that a phase has started and waits for. A service that ends meanwhile is started
 * again, as the SCM's failure actions would do (Wine's SCM has none, and Windows' are some seconds
 * late), a limited number of times. */
#pragma once

#include "join/progress/progress.h"
#include "join/undo/journal.h"
#include "kube/client.h"
#include "services/service_table.h"

/* Says how often a service is started again, and the longest pause before. The pauses are those of
 * the service's failure actions, but never longer than this. */
enum { SERVICE_RESTARTS_MAX = 3, SERVICE_PAUSE_MAX_MS = 10000 };

struct service_watch {
    /* Given by the caller; borrowed. */
    struct host *host;
    struct join_progress *progress;
    const struct kube_client *client; /* Client with the node's identity, or NULL. */
    /* State of the watch. */
    const struct service *service;
    unsigned ends; /* How often the service ended. */
    /* The time of host_monotonic_ms() at which the service is started again; 0 while it runs. */
    uint64_t again_ms;
    unsigned refused;   /* Consecutive refusals of the API server. */
    uint64_t rights_ms; /* When the API server is asked again. */
};

/* Starts a service and makes it the one that service_watch_check() asks about. A service that ends
 * during its start counts as ended once. */
int service_watch_start(struct service_watch *watch, const struct service *service,
                        struct error *err);
/* Checks the service; a phase that waits calls this at each check. Returns 0 when the service runs
 * (*ret_runs is true; ret_runs may be NULL) or will be started again after its pause. Fails with
 * ERROR_HOST when somebody removed the service or when it ended too often; the error has its exit
 * code, and hints with its log and the last errors there. */
int service_watch_check(struct service_watch *watch, bool *ret_runs, struct error *err);
/* Requests `path` every few seconds with the node's identity, which the service also uses; a phase
 * that waits calls this in each round, too. When the API server refuses, waiting does not
 * help: fails with ERROR_DENIED and a hint how an administrator grants the rights. Other failures
 * are ignored. */
int service_watch_rights(struct service_watch *watch, const char *path, struct error *err);
/* Adds hints with the service's log and its last errors. Returns -1. */
int service_watch_hint(struct service_watch *watch, struct error *err);

/* Records, registers and starts the service (restarts it when something changed) and watches it
 * with `watch`. winjoin's own flags that the program does not know are left out with a warning.
 * Fails as the host's calls and service_watch_start(), or with ERROR_DENIED when an ordinary user
 * made the program's file (host/host.h). */
int service_start(struct service_watch *watch, struct journal *journal,
                  const struct service *service, const struct service_settings *settings,
                  struct error *err);

/* Records and registers the service without starting it, for a service that starts with Windows and
 * with the services that depend on it. ret_changed may be NULL; *ret_changed is as in
 * service_ensure(). Fails as journal_service() and service_ensure(). */
int service_register(struct journal *journal, const struct service *service,
                     const struct service_settings *settings, bool *ret_changed, struct error *err);
