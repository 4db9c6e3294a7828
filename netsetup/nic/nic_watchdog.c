/* The watchdog of the adapter: both its ends. */
#include "netsetup/nic/nic_restore.h"

#include "base/log.h"

enum { FILE_MAX = 1024 * 1024, LIMIT_MS = 600000, SETTLE_MS = 20000, PAUSE_MS = 1000 };

static int start(struct host *host, const struct nic_snapshot *snapshot, struct host_watcher **ret,
                 struct error *err) {
    _cleanup_json_ json_t *json = nic_snapshot_json(snapshot);
    _cleanup_(freep) char *text = json_write(json), *program = host_program_path(host);
    const char *const argv[] = {program, NIC_WATCHDOG_VERB, NULL};

    if (!program)
        return error_set(err, ERROR_HOST, "the path of this program is unknown");
    if (host_write(host, NIC_WATCHDOG_FILE, text, strlen(text), HOST_SECRET, err) < 0)
        return -1;
    return host_watcher_start(host, argv, ret, err);
}

struct host_watcher *nic_watchdog_start(struct host *host, const struct nic_snapshot *snapshot) {
    struct host_watcher *watcher = NULL;
    struct error why = {0};

    if (start(host, snapshot, &watcher, &why) < 0)
        log_message(LOG_WARNING, "if winjoin is killed now, the adapter is not restored: %s",
                    why.message);
    return watcher;
}

void nic_watchdog_end(struct host *host, struct host_watcher *watcher) {
    host_watcher_end(host, watcher);
    if (host_remove(host, NIC_WATCHDOG_FILE, NULL) < 0) /* somebody reads it just now */
        (void)host_remove(host, NIC_WATCHDOG_FILE, NULL);
}

static int read_snapshot(struct host *host, struct nic_snapshot *ret, struct error *err) {
    _cleanup_json_ json_t *json = NULL;

    return host_read_json(host, NIC_WATCHDOG_FILE, FILE_MAX, &json, err) < 0
               ? -1
               : nic_snapshot_read(json, ret, err);
}

static int restore(struct host *host, const struct nic_snapshot *snapshot, bool *ret_restored,
                   struct error *err) {
    uint64_t end = host_monotonic_ms(host) + SETTLE_MS;
    int result;

    do {
        struct nic_restored found = {0};

        error_clear(err);
        result = nic_restore(host, snapshot, NULL, NULL, &found, err);
        *ret_restored |= found.address_restored || found.addresses6_restored ||
                         found.dns_restored || found.routes_restored;
    } while (host_monotonic_ms(host) < end && host_sleep(host, PAUSE_MS, NULL) == 0);
    return result;
}

int nic_watchdog_run(struct host *host, bool *ret_restored, struct error *err) {
    _cleanup_(nic_snapshot_free) struct nic_snapshot snapshot = {0};
    int result;

    *ret_restored = false;
    if (read_snapshot(host, &snapshot, err) < 0)
        return -1;
    if (host_watched_well(host, LIMIT_MS))
        return 0;
    result = restore(host, &snapshot, ret_restored, err);
    (void)host_remove(host, NIC_WATCHDOG_FILE, NULL);
    return result;
}
