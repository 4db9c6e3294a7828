/* Waits for the Pod network that a DaemonSet makes: for the agent's CNI configuration, which
 * containerd then uses, and for its HNS network. Phase verify later tests whether Pods can
 * connect. */
#include "join/phases/steps.h"

#include "host/wait.h"
#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/netsetup.h"
#include "netsetup/nic/nic.h"

enum { POLL_MS = 1000 };

struct daemon_set_wait {
    struct join *join;
    /* The HNS network that the agent makes; NULL when it makes none or is unknown. */
    const struct daemon_set_network *wanted;
    const char *title; /* Name of the agent for messages */
    char *path;        /* Path of the agent's CNI configuration */
    json_t *conf;      /* Content of the agent's CNI configuration */
    char network[256]; /* Name of the agent's HNS network */
    unsigned outage_ms;
    bool restored; /* A static address was lost and set again */
};

static enum wait_poll poll_once(void *context, struct wait *, struct error *err) {
    struct daemon_set_wait *e = context;
    struct nic_restored guard = {0};
    struct hcn_network network;

    /* The agent's virtual switch may remove a static address from the adapter, and then the agent
     * itself cannot continue. */
    if (nic_restore(e->join->host, &e->join->found.nic, NULL, NULL, &guard, err) < 0)
        return POLL_FAILED;
    e->outage_ms += guard.outage_ms;
    e->restored |= guard.address_restored;
    if (!e->conf && cni_config_read(e->join->host, e->join->found.containerd.conf_dir, &e->path,
                                    &e->conf, err) < 0)
        return err->kind == ERROR_ABSENT || err->kind == ERROR_MALFORMED ? POLL_AGAIN : POLL_FAILED;
    if (!e->wanted)
        return POLL_DONE;
    if (daemon_set_network_find(e->join->host, e->wanted, &network, err) < 0)
        return err->kind == ERROR_ABSENT ? POLL_AGAIN : POLL_FAILED;
    /* Both arrays have the same size. */
    (void)text_format(e->network, sizeof e->network, "%s", network.name);
    return POLL_DONE;
}

static void tell(void *context, const struct wait *wait, const struct error *) {
    struct daemon_set_wait *e = context;

    if (e->conf)
        join_tell_waiting(&e->join->progress, wait->waited_ms, wait_left_ms(wait), "",
                          "for %s to make its HNS network (%s)", e->title, e->wanted->hns_type);
    else
        join_tell_waiting(&e->join->progress, wait->waited_ms, wait_left_ms(wait), "",
                          "for %s to write a file in %s", e->title,
                          e->join->found.containerd.conf_dir);
}

int daemon_set_network_await(struct join *join, struct error *err) {
    const struct daemon_set_agent *agent = join->found.plan.daemon_set_agent;
    struct daemon_set_wait e = {
        .join = join,
        .wanted = daemon_set_agent_network(agent, join->found.plan.mode),
        .title = agent ? agent->title : "the cluster's network agent",
    };
    unsigned seconds = join->found.plan.agent->wait_seconds;
    struct wait wait = {.limit_ms = seconds * 1000,
                        .pause_ms = POLL_MS,
                        .poll = poll_once,
                        .tell = tell,
                        .context = &e,
                        .tell_context = &e};
    struct error missing = {0};
    enum wait_poll end = wait_until(join->host, &wait, &missing);
    struct text *detail = &join->progress.detail;

    if (end == POLL_DONE) {
        text_addf(detail, "made by %s: %s in %s", e.wanted ? e.title : "the cluster's own agent",
                  cni_config_type(e.conf), e.path);
        if (*e.network)
            text_addf(detail, ", HNS network %s", e.network);
        if (e.outage_ms)
            text_addf(detail, "; offline for %.1f s, %s %s", e.outage_ms / 1000.0,
                      join->found.nic.address, e.restored ? "restored" : "kept");
    } else if (end == POLL_AGAIN) {
        (void)error_set(err, ERROR_TIMED_OUT, "%s has set up no network after %u min: %s", e.title,
                        seconds / 60, missing.message);
        (void)error_hint(err,
                         "look at its pod on this node: kubectl get pods -A -o wide "
                         "--field-selector spec.nodeName=%s",
                         join->found.node_name);
    } else {
        (void)error_pass(err, &missing);
    }
    free(e.path);
    json_decref(e.conf);
    return end == POLL_DONE ? 0 : -1;
}

int daemon_set_network_pending(struct join *join, bool pending, struct error *err) {
    if (pending == join->found.node.network_pending)
        return 0;
    join->found.node.network_pending = pending;
    return kube_node_network_pending_set(&join->found.client, join->found.node_name, pending, err);
}
