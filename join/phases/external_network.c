/* Where a DaemonSet makes the pod network: the wait for what it writes last, its CNI configuration,
 * which containerd then takes. Whether pods get anywhere is the proof's question. */
#include "join/phases/external_network.h"

#include <stdlib.h>

#include "base/memory.h"
#include "host/wait.h"
#include "netsetup/cni_config.h"
#include "netsetup/nic_guard.h"

enum { NETWORK_WAIT_MS = 900000, POLL_MS = 1000 }; /* its images may be some gigabytes */

struct external_wait {
    struct join *join;
    char *path;   /* of the CNI configuration, */
    json_t *conf; /* and what it says */
    unsigned outage_ms;
    bool restored; /* a static address, by us */
};

static enum wait_look look_cni(void *context, struct wait *wait, struct error *err) {
    struct external_wait *e = context;
    struct nic_guard_result guard = {0};
    (void)wait;
    /* the agent's virtual switch may cost a static address, and then the agent waits for it, too */
    if (nic_guard_restore(e->join->host, &e->join->found.nic, NULL, NULL, &guard, err) < 0)
        return LOOK_FAILED;
    e->outage_ms += guard.outage_ms;
    e->restored |= guard.address_restored;
    if (cni_config_read(e->join->host, CNI_CONF_DIR, &e->path, &e->conf, err) == 0)
        return LOOK_DONE;
    return err->kind == ERROR_ABSENT || err->kind == ERROR_MALFORMED ? LOOK_AGAIN : LOOK_FAILED;
}

static void tell_cni(void *context, const struct wait *wait, const struct error *missing) {
    (void)missing;
    join_tell_waiting(context, wait->waited_ms, wait_left_ms(wait), "",
                      "for the cluster's network agent to write a file in %s", CNI_CONF_DIR);
}

static void describe(struct join *join, const struct external_wait *e) {
    const char *type = cni_config_type(e->conf);

    text_addf(&join->progress.detail, "made by the cluster's own agent: %s in %s",
              type ? type : "a plugin without a type", e->path);
    if (e->outage_ms)
        text_addf(&join->progress.detail, "; offline for %.1f s, %s %s", e->outage_ms / 1000.0,
                  join->found.nic.address, e->restored ? "restored" : "kept");
}

static int explain(const struct join *join, const struct error *missing, struct error *err) {
    (void)error_set(err, ERROR_TIMED_OUT,
                    "the cluster's network agent has set up no network after %d min: %s",
                    NETWORK_WAIT_MS / 60000, missing->message);
    return error_hint(err,
                      "look at its pod on this node: kubectl get pods -A -o wide "
                      "--field-selector spec.nodeName=%s",
                      join->found.node_name);
}

int external_network_await(struct join *join, struct error *err) {
    struct external_wait context = {.join = join};
    struct error missing = {0};
    struct wait wait = {.limit_ms = NETWORK_WAIT_MS,
                        .pause_ms = POLL_MS,
                        .look = look_cni,
                        .tell = tell_cni,
                        .context = &context,
                        .tell_context = &join->progress};
    enum wait_look end = wait_until(join->host, &wait, &missing);

    if (end == LOOK_DONE)
        describe(join, &context);
    free(context.path);
    json_decref(context.conf);
    if (end == LOOK_AGAIN)
        return explain(join, &missing, err);
    if (end != LOOK_DONE)
        *err = missing;
    return end == LOOK_DONE ? 0 : -1;
}
