/* Waits for the Pod network that a service of this node makes. */
#include "join/phases/steps.h"

#include "kube/csr.h"
#include "netsetup/agents/agent.h"
#include "netsetup/nic/nic.h"

enum { STEP_MS = 1000, STALLED_MS = 30000, STARTS_MAX = 3, STOP_MS = 30000 };

struct agent_wait {
    struct join *join;
    const struct service *service;
    struct hcn_network network;
    unsigned since_ms, starts; /* Start of the current try, and number of starts so far */
    unsigned outage_ms;
    bool restored; /* A static address was lost and set again */
};

/* ---- recording for a reset ---- */

int agent_network_record(struct join *join, struct error *err) {
    const struct network_agent *agent = join->found.plan.agent;

    for (const char *const *name = agent->networks; *name; name++) {
        struct hcn_network found = {0};
        struct error why = {0};
        bool there;

        if (journal_find(&join->journal, JOURNAL_NETWORK, *name))
            continue;
        there = hcn_network_find(join->host, *name, &found, &why) == 0;
        if (!there && why.kind != ERROR_ABSENT)
            return error_pass(err, &why);
        if (journal_record(&join->journal, JOURNAL_NETWORK, *name,
                           there ? json_pack("{s:b}", "present", 1)
                                 : json_pack("{s:s}", "agent", agent->plugin),
                           err) < 0)
            return -1;
    }
    return 0;
}

int agent_folders_own(struct join *join, struct error *err) {
    const struct network_agent *agent = join->found.plan.agent;

    for (const char *const *folder = agent->folders; folder && *folder; folder++)
        if (journal_own_folder(&join->journal, *folder, err) < 0)
            return -1;
    return agent->key_folder ? journal_own_folder(&join->journal, agent->key_folder, err) : 0;
}

/* ---- the wait for the network ---- */

static enum wait_poll poll_network(struct agent_wait *w, struct error *err) {
    const struct network_plan *plan = &w->join->found.plan;

    if (hcn_network_find(w->join->host, plan->name, &w->network, err) < 0)
        return err->kind == ERROR_ABSENT ? POLL_AGAIN : POLL_FAILED;
    if (!text_equal(w->network.subnet, plan->pod_cidr)) {
        (void)error_set(err, ERROR_TIMED_OUT, "for %s: HNS network '%s' has %s, not %s",
                        w->service->name, plan->name, w->network.subnet, plan->pod_cidr);
        return POLL_AGAIN;
    }
    if (plan->mode->vxlan && !*w->network.provider_address) {
        (void)error_set(err, ERROR_TIMED_OUT, "for the provider address of HNS network '%s'",
                        plan->name);
        return POLL_AGAIN;
    }
    return POLL_DONE;
}

/* Reads the state of the service's certificate request, without which the service cannot work. */
static enum wait_poll poll_request(struct agent_wait *w, bool *ret_pending, struct error *err) {
    const struct network_agent *agent = w->join->found.plan.agent;
    /* A copy that borrows the texts of the first client and tries each request only once. */
    struct kube_client client = w->join->found.client;
    _cleanup_(freep) char *subject = NULL;
    _cleanup_(kube_csr_free) struct kube_csr csr = {0};
    enum wait_poll found = POLL_AGAIN;

    if (!agent->user_prefix)
        return POLL_AGAIN;
    client.patience_ms = 0;
    subject = xasprintf("CN=%s%s,O=%s", agent->user_prefix, w->join->found.node_name, agent->group);
    if (kube_csr_find_subject(&client, KUBE_CSR_API_SIGNER, subject, &csr, ERROR_IGNORED) < 0)
        return POLL_AGAIN;
    *ret_pending = csr.state == KUBE_CSR_PENDING || csr.state == KUBE_CSR_APPROVED;
    if (kube_csr_is_refused(&csr)) {
        found = kube_csr_refused(&csr, err);
        (void)error_hint(err, "to ask again: kubectl delete csr %s, then run the same command",
                         csr.name);
    } else if (*ret_pending) {
        (void)error_set(err, ERROR_TIMED_OUT, "%s of %s is %s", csr.name, w->service->name,
                        kube_csr_states[csr.state]);
        if (csr.state == KUBE_CSR_PENDING)
            (void)error_hint(err, "kubectl certificate approve %s", csr.name);
    }
    return found;
}

static enum wait_poll poll_once(void *context, struct wait *wait, struct error *err) {
    struct agent_wait *w = context;
    struct join *join = w->join;
    struct nic_restored guard = {0};
    struct error missing = {0};
    bool pending = false;
    enum wait_poll found;

    if (nic_restore(join->host, &join->found.nic, NULL, NULL, &guard, err) < 0)
        return POLL_FAILED;
    w->outage_ms += guard.outage_ms;
    w->restored |= guard.address_restored;
    found = poll_network(w, err);
    if (found != POLL_AGAIN)
        return found;
    if (service_watch_check(&join->watch, NULL, &missing) < 0 ||
        poll_request(w, &pending, &missing) == POLL_FAILED) {
        *err = missing;
        return POLL_FAILED;
    }
    if (pending || join->watch.again_ms)
        w->since_ms = wait->waited_ms;
    if (missing.kind)
        *err = missing;
    else if (err->kind == ERROR_ABSENT)
        (void)error_set(err, ERROR_TIMED_OUT, "for %s to make HNS network '%s'", w->service->name,
                        join->found.plan.name);
    if (wait->waited_ms - w->since_ms < STALLED_MS)
        return POLL_AGAIN;

    /* A service that was started before it could work may do nothing forever. A new start helps. */
    w->since_ms = wait->waited_ms;
    if (w->starts == STARTS_MAX) {
        (void)error_set(err, ERROR_TIMED_OUT, "%s has not made HNS network '%s' after %u starts",
                        w->service->name, join->found.plan.name, w->starts);
        (void)service_watch_hint(&join->watch, err);
        return POLL_FAILED;
    }
    w->starts++;
    join_warn(&join->progress, "%s has not made HNS network '%s' after %u s: started again",
              w->service->name, join->found.plan.name, STALLED_MS / 1000);
    if (host_service_stop(join->host, w->service->name, STOP_MS, err) < 0 ||
        service_watch_start(&join->watch, w->service, err) < 0)
        return POLL_FAILED;
    return POLL_AGAIN;
}

int agent_network_make(struct join *join, struct hcn_network *ret, struct error *err) {
    unsigned seconds = join->found.plan.agent->wait_seconds;
    struct agent_wait w = {
        .join = join, .service = service_by_name(join->found.plan.agent->service), .starts = 1};
    struct wait wait = {
        .limit_ms = seconds * 1000, .pause_ms = STEP_MS, .poll = poll_once, .context = &w};
    enum wait_poll end;

    if (agent_network_record(join, err) < 0 || agent_folders_own(join, err) < 0 ||
        service_run(join, w.service, err) < 0)
        return -1;
    end = join_wait(join->host, &join->progress, &wait, err);
    if (end == POLL_AGAIN)
        (void)error_prefix(err, "waited %u s", seconds);
    if (end != POLL_DONE)
        return -1;
    if (w.outage_ms)
        text_addf(&join->progress.detail, "offline for %.1f s, %s %s; ", w.outage_ms / 1000.0,
                  join->found.nic.address, w.restored ? "restored" : "kept");
    *ret = w.network;
    return 0;
}
