/* Keeps the server reachable while HNS makes or removes a vSwitch, and has both ends of the
 * watchdog process. */
#include "base/log.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/netsetup.h"
#include "netsetup/nic/nic.h"

/* ---- the watchdog: a separate process that restores the adapter ---- */

enum { FILE_MAX = 1024 * 1024, LIMIT_MS = 600000, SETTLE_MS = 20000, PAUSE_MS = 1000 };

struct host_watcher *nic_watchdog_start(struct host *host, const struct nic_snapshot *snapshot) {
    _cleanup_json_ json_t *json = nic_snapshot_json(snapshot);
    _cleanup_(freep) char *text = json_write(json), *program = host_program_path(host);
    const char *const argv[] = {program, NIC_WATCHDOG_VERB, NULL};
    struct host_watcher *watcher = NULL;
    struct error why = {0};

    if (!program)
        (void)error_set(&why, ERROR_HOST, "the path of this program is unknown");
    else if (host_write(host, NIC_WATCHDOG_FILE, text, strlen(text), HOST_SECRET, &why) == 0 &&
             host_watcher_start(host, argv, &watcher, &why) == 0)
        return watcher;
    log_message(LOG_WARNING, "if winjoin is killed now, the adapter is not restored: %s",
                why.message);
    return NULL;
}

/* Ends the watchdog (NULL when no watchdog runs) and removes its file. */
static void nic_watchdog_end(struct host *host, struct host_watcher *watcher) {
    host_watcher_end(host, watcher);
    if (host_remove(host, NIC_WATCHDOG_FILE, NULL) < 0) /* The watchdog may be reading the file. */
        (void)host_remove(host, NIC_WATCHDOG_FILE, NULL);
}

int nic_watchdog_run(struct host *host, bool *ret_restored, struct error *err) {
    _cleanup_(nic_snapshot_free) struct nic_snapshot snapshot = {0};
    _cleanup_json_ json_t *json = NULL;
    uint64_t end;
    int result;

    *ret_restored = false;
    if (host_read_json(host, NIC_WATCHDOG_FILE, FILE_MAX, &json, err) < 0 ||
        nic_snapshot_read(json, &snapshot, err) < 0)
        return -1;
    if (host_watched_well(host, LIMIT_MS))
        return 0;
    end = host_monotonic_ms(host) + SETTLE_MS;
    do {
        struct nic_restored found = {0};

        error_clear(err);
        result = nic_restore(host, &snapshot, NULL, NULL, &found, err);
        *ret_restored |= found.address_restored || found.addresses6_restored ||
                         found.dns_restored || found.routes_restored;
    } while (host_monotonic_ms(host) < end && host_sleep(host, PAUSE_MS, NULL) == 0);
    (void)host_remove(host, NIC_WATCHDOG_FILE, NULL);
    return result;
}

/* ---- the vSwitch ---- */

/* Waits for the adapter and restores it. `start` is the time before the request to HNS, when the
 * outage began. */
static int wait_back(struct host *host, const struct nic_snapshot *snapshot, uint64_t start,
                     nic_progress *progress, void *context, struct nic_restored *ret,
                     struct error *err) {
    uint64_t asked = host_monotonic_ms(host);
    if (nic_restore(host, snapshot, progress, context, ret, err) < 0)
        return -1;
    if (ret->outage_ms)
        ret->outage_ms += (unsigned)(asked - start);
    return 0;
}

static int ensure(struct host *host, const struct network_plan *plan,
                  const struct nic_snapshot *snapshot, nic_progress *progress, void *context,
                  struct nic_restored *ret, struct error *err) {
    struct nic_restored result = {0};
    struct hcn_network network = {0};
    enum hcn_outcome outcome = HCN_REUSED;
    uint64_t start = host_monotonic_ms(host);
    if (hcn_base_network_ensure(host, plan, &network, &outcome, err) < 0) {
        struct error restore_err = {0};
        /* HNS may have failed after it had made the vSwitch. */
        if (nic_restore(host, snapshot, progress, context, &result, &restore_err) < 0)
            (void)error_hint(err, "%s", restore_err.message);
        return error_prefix(err, "make the virtual switch on '%s'", snapshot->alias);
    }
    if (wait_back(host, snapshot, start, progress, context, &result, err) == 0) {
        if (!nic_same_address(result.address, snapshot->address)) {
            /* The plan has the old address. The next run makes a plan with the new one. */
            (void)error_set(
                err, ERROR_CONFLICT,
                "adapter '%s' now has %s, not %s: DHCP gave the virtual switch another address",
                snapshot->alias, result.address, snapshot->address);
            return error_hint(err, "run the same command again: it continues with %s",
                              result.address);
        }
        *ret = result;
        return 0;
    }
    /* The new network has cost the adapter its address, so the network is removed again. */
    if (outcome == HCN_CREATED && err->kind != ERROR_INTERRUPTED) {
        struct error back_err = {0};
        if (hcn_network_remove(host, plan->base_name, true, NULL, &back_err) < 0 ||
            nic_restore(host, snapshot, NULL, NULL, &result, &back_err) < 0)
            (void)error_hint(err, "removing the virtual switch failed, too: %s", back_err.message);
        else
            (void)error_hint(err, "the virtual switch was removed; '%s' is back on '%s'",
                             snapshot->address, snapshot->alias);
    }
    return error_prefix(err, "make the virtual switch on '%s'", snapshot->alias);
}

int nic_guard_ensure(struct host *host, const struct network_plan *plan,
                     const struct nic_snapshot *snapshot, nic_progress *progress, void *context,
                     struct nic_restored *ret, struct error *err) {
    struct host_watcher *watchdog = NULL;
    if (network_clash_check(host, plan, err) < 0)
        return error_prefix(err, "make the virtual switch on '%s'", snapshot->alias);
    if (!snapshot->has_switch)
        watchdog = nic_watchdog_start(host, snapshot);
    int result = ensure(host, plan, snapshot, progress, context, ret, err);
    nic_watchdog_end(host, watchdog);
    return result;
}

int nic_guard_remove(struct host *host, const char *base_name, const struct nic_snapshot *snapshot,
                     nic_progress *progress, void *context, struct nic_restored *ret,
                     struct error *err) {
    struct host_watcher *watchdog = nic_watchdog_start(host, snapshot);
    uint64_t start = host_monotonic_ms(host);
    bool done = hcn_network_remove(host, base_name, true, NULL, err) == 0 &&
                wait_back(host, snapshot, start, progress, context, ret, err) == 0;
    nic_watchdog_end(host, watchdog);
    return done ? 0 : error_prefix(err, "remove the virtual switch from '%s'", snapshot->alias);
}
