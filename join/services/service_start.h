/* How a phase makes a service run. */
#pragma once

#include "join/services/service_watch.h"
#include "join/undo/journal.h"

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
