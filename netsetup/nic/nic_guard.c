/* The outage of a vSwitch: guarded, or undone. */
#include "netsetup/nic/nic_restore.h"

#include "netsetup/hns/hcn_network.h"
#include "netsetup/network_clash.h"

/* Takes the network away that took the address away. err already holds the reason. */
static void roll_back(struct host *host, const char *name, const struct nic_snapshot *snapshot,
                      struct error *err) {
    struct nic_restored result = {0};
    struct error back_err = {0};
    if (hcn_network_remove(host, name, NULL, &back_err) < 0 ||
        nic_restore(host, snapshot, NULL, NULL, &result, &back_err) < 0) {
        (void)error_hint(err, "removing the virtual switch failed, too: %s", back_err.message);
        return;
    }
    (void)error_hint(err, "the virtual switch was removed; '%s' is back on '%s'", snapshot->address,
                     snapshot->alias);
}

/* Waits and restores; its outage began at `start`, before HNS was asked. */
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
        /* HNS may have failed half-way, with the vSwitch made */
        if (nic_restore(host, snapshot, progress, context, &result, &restore_err) < 0)
            (void)error_hint(err, "%s", restore_err.message);
        return error_prefix(err, "make the virtual switch on '%s'", snapshot->alias);
    }
    if (wait_back(host, snapshot, start, progress, context, &result, err) == 0) {
        if (!nic_same_address(result.address, snapshot->address)) {
            /* The plan was made with the old address: the next run makes it with the new one. */
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
    if (outcome == HCN_CREATED && err->kind != ERROR_INTERRUPTED)
        roll_back(host, plan->base_name, snapshot, err);
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
    bool done = hcn_network_remove(host, base_name, NULL, err) == 0 &&
                wait_back(host, snapshot, start, progress, context, ret, err) == 0;
    nic_watchdog_end(host, watchdog);
    return done ? 0 : error_prefix(err, "remove the virtual switch from '%s'", snapshot->alias);
}
