/* Finds out who has the node's name in the cluster, and what to do when a Ready Node has it
 * already. */
#include "join/found/need.h"

#include "join/kubelet/kubelet_files.h"
#include "netsetup/nic/nic.h"

enum { WAIT_MS = 90000, POLL_MS = 2000 };

int node_name_owner(struct host *host, struct kube_client *client, const char *name,
                    enum node_name_state *ret, struct error *err) {
    _cleanup_(kube_node_free) struct kube_node node = {0};
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};

    if (kube_node_get(client, name, &node, err) < 0) {
        *ret = NODE_NAME_FREE;
        return error_forgive(err, ERROR_ABSENT);
    }
    *ret = host_file_type(host, KUBELET_KUBECONFIG_FILE) != HOST_ABSENT ? NODE_NAME_OURS
           : !node.ready                                                ? NODE_NAME_NOT_READY
                                                                        : NODE_NAME_TAKEN;
    if (*ret != NODE_NAME_TAKEN || host_adapters(host, &adapters, ERROR_IGNORED) < 0)
        return 0;
    /* A Node with an address of this machine is its earlier Node, because no other machine has that
     * address at the same time. */
    for (size_t i = 0; i < adapters.count; i++)
        for (size_t a = 0; a < adapters.items[i].addresses.count; a++)
            for (size_t n = 0; n < node.addresses.count; n++)
                if (nic_same_address(adapters.items[i].addresses.items[a], node.addresses.items[n]))
                    *ret = NODE_NAME_EARLIER;
    return 0;
}

static enum wait_poll poll_claim(void *context, struct wait *, struct error *err) {
    struct join *join = context;
    enum node_name_state state;

    if (node_name_owner(join->host, &join->found.client, join->found.node_name, &state, err) < 0)
        return POLL_FAILED;
    if (state == NODE_NAME_TAKEN) {
        (void)error_set(
            err, ERROR_CONFLICT,
            "node name '%s' is taken: a Node with that name and status \"Ready\" already "
            "exists in the cluster, and none of its addresses is this machine's",
            join->found.node_name);
        (void)error_hint(err, "kubectl delete node %s", join->found.node_name);
        return error_hint(err, "or choose another name with --node-name");
    }
    if (state != NODE_NAME_EARLIER)
        return POLL_DONE;
    if (join->found.options.dry_run) {
        join_warn(&join->progress,
                  "Node %s is still Ready from an earlier join of this machine: the join waits "
                  "until the control plane marks it not Ready",
                  join->found.node_name);
        return POLL_DONE;
    }
    (void)error_set(err, ERROR_CONFLICT,
                    "Node %s is still Ready from an earlier join of this machine",
                    join->found.node_name);
    (void)error_hint(err, "kubectl delete node %s", join->found.node_name);
    return POLL_AGAIN;
}

int node_name_claim(struct join *join, struct error *err) {
    struct wait wait = {
        .limit_ms = WAIT_MS, .pause_ms = POLL_MS, .poll = poll_claim, .context = join};
    enum wait_poll end = join_wait(join->host, &join->progress, &wait, err);

    if (end != POLL_AGAIN)
        return end;
    (void)error_set(err, ERROR_CONFLICT,
                    "node name '%s' is taken: a Node with that name and this machine's address is "
                    "still Ready after %d s",
                    join->found.node_name, WAIT_MS / 1000);
    return error_hint(err, "kubectl delete node %s", join->found.node_name);
}
