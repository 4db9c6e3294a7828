/* A process of its own that restores the adapter when winjoin dies while a virtual switch comes or
 * goes: `winjoin adapter-watchdog`, started before the outage, ended after it. */
#pragma once

#include "netsetup/nic/nic.h"

#define NIC_WATCHDOG_VERB "adapter-watchdog"
#define NIC_WATCHDOG_FILE HOST_OWN_FOLDER "\\adapter.json"

/* Writes the snapshot to the file and starts the process; NULL when that failed: it is logged, and
 * the caller goes on without. */
struct host_watcher *nic_watchdog_start(struct host *host, const struct nic_snapshot *snapshot);
/* Ends it (NULL: none runs) and removes the file. */
void nic_watchdog_end(struct host *host, struct host_watcher *watcher);
/* What the process does: returns once it hears that all is well. When the other one is gone, or
 * says nothing for ten minutes, it restores the adapter, for 20 s again and again, since what HNS
 * was asked for may still come. *ret_restored: it was needed. Kinds: those of host_read(),
 * ERROR_MALFORMED, and those of nic_restore(). */
int nic_watchdog_run(struct host *host, bool *ret_restored, struct error *err);
