/* These phases wait for the Node: first until it is registered, later until it is Ready. */
#include "join/found/need.h"
#include "join/phases/steps.h"
#include "kube/csr.h"
#include "netsetup/agents/daemon_set_agent.h"

enum { REGISTER_TIMEOUT_MS = 120000, READY_TIMEOUT_MS = 180000, SUBNET_STEP_MS = 1000 };

struct node_wait {
    struct join *join;
    unsigned limit_ms;
};

static int on_node(void *context, const struct kube_node *node, unsigned waited_ms) {
    const struct node_wait *wait = context;
    struct join *join = wait->join;
    unsigned left_ms = waited_ms < wait->limit_ms ? wait->limit_ms - waited_ms : 0;

    if (!node)
        join_tell_waiting(&join->progress, waited_ms, left_ms, "",
                          "for the kubelet to register node %s", join->found.node_name);
    else if (!node->pod_cidrs.count)
        join_tell_waiting(&join->progress, waited_ms, left_ms, "", "for the pod subnet of node %s",
                          join->found.node_name);
    else
        join_tell_waiting(&join->progress, waited_ms, left_ms, "", "Ready is False: %s",
                          node->ready_message ? node->ready_message : "no reason given");
    return host_interrupted(join->host);
}

static int wait_node(struct join *join, enum kube_node_wanted wanted, unsigned timeout_ms,
                     struct error *err) {
    struct node_wait wait = {join, timeout_ms};
    struct kube_node node = {0};

    if (kube_node_wait(&join->found.client, join->found.node_name, wanted, timeout_ms, on_node,
                       &wait, &node, err) < 0)
        return -1;
    if (join->found.node.name)
        kube_node_free(&join->found.node);
    join->found.node = node;
    return 0;
}

static enum wait_poll poll_subnet(void *context, struct wait *, struct error *err) {
    struct join *join = context;
    struct join_found *found = &join->found;
    struct kube_node node = {0};

    if (found_pod_prefix(found, found->plan.agent))
        return POLL_DONE;
    if (kube_node_get(&found->client, found->node_name, &node, err) < 0)
        return err->kind == ERROR_ABSENT ? POLL_AGAIN : POLL_FAILED;
    kube_node_free(&found->node);
    found->node = node;
    (void)error_set(err, ERROR_TIMED_OUT, "for the annotation %s of node %s",
                    found->plan.agent->subnet_annotation, found->node_name);
    return found_pod_prefix(found, found->plan.agent) ? POLL_DONE : POLL_AGAIN;
}

int phase_node(struct join *join, struct error *err) {
    const struct network_agent *agent = join->found.plan.agent;
    bool waits = found_waits_for_prefix(&join->found);
    enum kube_node_wanted wanted = waits ? KUBE_NODE_HAS_POD_CIDR : KUBE_NODE_REGISTERED;
    struct wait wait = {.limit_ms = REGISTER_TIMEOUT_MS,
                        .pause_ms = SUBNET_STEP_MS,
                        .poll = poll_subnet,
                        .context = join};
    struct error full = {0};
    bool pending;

    if (wait_node(join, wanted, REGISTER_TIMEOUT_MS, err) < 0) {
        if (err->kind != ERROR_TIMED_OUT || !waits)
            return -1;
        /* The controller manager gives the reason only in an Event, which a node may not read. A
         * node can see whether any Pod prefix is left. */
        if (pod_room_check_cluster(join, &full) < 0) {
            (void)error_prefix(&full, "%s", err->message);
            full.kind = err->kind;
            return error_pass(err, &full);
        }
        (void)error_hint(err,
                         "kubectl describe node %s tells why: with the event CIDRNotAvailable the "
                         "pod subnet is full (a larger podSubnet, or a larger "
                         "--node-cidr-mask-size)",
                         join->found.node_name);
        if (!join->found.cluster.assigns_pod_prefixes)
            (void)error_hint(err, "pod prefixes need kube-controller-manager "
                                  "--allocate-node-cidrs=true");
        return error_hint(err, "the kubelet's log: C:\\var\\log\\kubelet");
    }
    /* The CNI configuration of a cluster's agent makes the Node Ready before its network works. */
    pending = agent->in_cluster && !join->found.node.ready &&
              /* Without phase pod-network nothing would remove the mark later. */
              !text_list_has(&join->skipped, "pod-network");
    if (daemon_set_network_pending(join, pending, err) < 0)
        return -1;
    text_addf(&join->progress.detail, "%s registered", join->found.node_name);

    /* A program of the agent that starts before the prefix is known may do nothing forever, so the
     * prefix is waited for. */
    if (agent->subnet_annotation && !join->found.options.pod_cidrs.count) {
        enum wait_poll end = join_wait(join->host, &join->progress, &wait, err);

        if (end == POLL_AGAIN) {
            (void)error_prefix(err, "waited %u s", wait.limit_ms / 1000);
            (void)error_hint(err, "it is written by %s", agent->subnet_giver);
        }
        if (end != POLL_DONE)
            return -1;
    }
    join_fact(&join->progress, "podCIDRs", json_texts(&join->found.node.pod_cidrs));
    if (found_pod_prefix(&join->found, agent))
        text_addf(&join->progress.detail, ", pods %s", found_pod_prefix(&join->found, agent));
    return 0;
}

int phase_ready(struct join *join, struct error *err) {
    /* A copy that borrows the texts of the first client and tries each request only once. */
    struct kube_client client;
    _cleanup_(kube_csr_free) struct kube_csr csr = {0};
    uint64_t begin = host_monotonic_ms(join->host);
    struct error why = {0};

    if (wait_node(join, KUBE_NODE_READY, READY_TIMEOUT_MS, err) < 0)
        return -1;
    text_addf(&join->progress.detail, "after %.1f s",
              (double)(host_monotonic_ms(join->host) - begin) / 1000.0);

    /* Serving certificates are approved only by an administrator or an approver. Until then,
     * kubectl logs and exec fail with "tls: internal error", so the join says it now. */
    if (!json_bool_at(join->found.kubelet_config ? join->found.kubelet_config
                                                 : join->found.cluster.kubelet,
                      "serverTLSBootstrap", false))
        return 0;
    client = join->found.client;
    client.patience_ms = 0;
    if (kube_csr_find(&client, KUBE_CSR_SERVING_SIGNER, join->found.node_name, &csr, &why) < 0) {
        text_list_add(&join->progress.next,
                      "kubectl logs and exec work once the kubelet's serving certificate is "
                      "approved (serverTLSBootstrap is on): kubectl get csr");
        return 0;
    }
    if (csr.state == KUBE_CSR_PENDING)
        text_list_add_owned(&join->progress.next,
                            xasprintf("kubectl logs and exec work once the kubelet's serving "
                                      "certificate is approved: kubectl certificate approve %s",
                                      csr.name));
    if (csr.state == KUBE_CSR_DENIED || csr.state == KUBE_CSR_FAILED) {
        (void)kube_csr_refused(&csr, &why);
        join_warn(&join->progress, "kubectl logs and exec will not work: %s", why.message);
    }
    return 0;
}
