/* Where a DaemonSet makes the pod network: the wait for what it writes, its CNI configuration,
 * which containerd then takes, and for its HNS network. Whether pods get anywhere is the proof's
 * question. */
#include "join/phases/steps.h"

#include "host/wait.h"
#include "netsetup/agents/external_agent.h"
#include "netsetup/netsetup.h"
#include "netsetup/nic/nic.h"

enum { POLL_MS = 1000 };

struct external_wait {
    struct join *join;
    const struct external_network *wanted; /* NULL: of an agent that is not known */
    const char *title;                     /* the agent's */
    char *path;                            /* of the CNI configuration, */
    json_t *conf;                          /* and what it says */
    char network[256];                     /* in HNS */
    unsigned outage_ms;
    bool restored; /* a static address, by us */
};

static enum wait_look look_network(struct external_wait *e, struct error *err) {
    struct hcn_network network;

    if (!e->wanted)
        return LOOK_DONE;
    if (external_network_find(e->join->host, e->wanted, &network, err) < 0)
        return err->kind == ERROR_ABSENT ? LOOK_AGAIN : LOOK_FAILED;
    (void)text_format(e->network, sizeof e->network, "%s", network.name); /* the same size */
    return LOOK_DONE;
}

static enum wait_look look(void *context, struct wait *, struct error *err) {
    struct external_wait *e = context;
    struct nic_restored guard = {0};

    /* the agent's virtual switch may cost a static address, and then the agent waits for it, too */
    if (nic_restore(e->join->host, &e->join->found.nic, NULL, NULL, &guard, err) < 0)
        return LOOK_FAILED;
    e->outage_ms += guard.outage_ms;
    e->restored |= guard.address_restored;
    if (!e->conf && cni_config_read(e->join->host, e->join->found.containerd.conf_dir, &e->path,
                                    &e->conf, err) < 0)
        return err->kind == ERROR_ABSENT || err->kind == ERROR_MALFORMED ? LOOK_AGAIN : LOOK_FAILED;
    return look_network(e, err);
}

static void tell(void *context, const struct wait *wait, const struct error *) {
    struct external_wait *e = context;

    if (e->conf)
        join_tell_waiting(&e->join->progress, wait->waited_ms, wait_left_ms(wait), "",
                          "for %s to make its HNS network (%s)", e->title, e->wanted->hns_type);
    else
        join_tell_waiting(&e->join->progress, wait->waited_ms, wait_left_ms(wait), "",
                          "for %s to write a file in %s", e->title,
                          e->join->found.containerd.conf_dir);
}

static void describe(struct join *join, const struct external_wait *e) {
    text_addf(&join->progress.detail, "made by %s: %s in %s",
              e->wanted ? e->title : "the cluster's own agent", cni_config_type(e->conf), e->path);
    if (*e->network)
        text_addf(&join->progress.detail, ", HNS network %s", e->network);
    if (e->outage_ms)
        text_addf(&join->progress.detail, "; offline for %.1f s, %s %s", e->outage_ms / 1000.0,
                  join->found.nic.address, e->restored ? "restored" : "kept");
}

static int explain(const struct external_wait *e, const struct error *missing, struct error *err) {
    (void)error_set(err, ERROR_TIMED_OUT, "%s has set up no network after %u min: %s", e->title,
                    network_agent_wait(e->join->found.plan.agent) / 60, missing->message);
    return error_hint(err,
                      "look at its pod on this node: kubectl get pods -A -o wide "
                      "--field-selector spec.nodeName=%s",
                      e->join->found.node_name);
}

static int await(struct external_wait *e, struct error *err) {
    struct error missing = {0};
    struct wait wait = {.limit_ms = network_agent_wait(e->join->found.plan.agent) * 1000,
                        .pause_ms = POLL_MS,
                        .look = look,
                        .tell = tell,
                        .context = e,
                        .tell_context = e};
    enum wait_look end = wait_until(e->join->host, &wait, &missing);

    if (end == LOOK_DONE)
        return 0;
    if (end == LOOK_AGAIN)
        return explain(e, &missing, err);
    return error_pass(err, &missing);
}

int external_network_await(struct join *join, struct error *err) {
    const struct external_agent *agent = join->found.plan.external;
    struct external_wait context = {
        .join = join,
        .wanted = external_agent_network(agent, join->found.plan.mode),
        .title = agent ? agent->title : "the cluster's network agent",
    };
    int result = await(&context, err);

    if (result == 0)
        describe(join, &context);
    free(context.path);
    json_decref(context.conf);
    return result;
}

int external_network_pending(struct join *join, bool pending, struct error *err) {
    if (pending == join->found.node.network_pending)
        return 0;
    join->found.node.network_pending = pending;
    return kube_node_network_pending_set(&join->found.client, join->found.node_name, pending, err);
}
