/* Sets the Node's condition while its network does not exist. */
#include "node/keeper/network_keeper.h"

#include "base/log.h"
#include "kube/kubeconfig.h"
#include "kube/node.h"
#include "netsetup/agents/daemon_set_agent.h"
#include "netsetup/netsetup.h"
#include "netsetup/hns/hcn_network.h"
#include "node/chosen.h"

enum { AGAIN_MS = 5000, REQUEST_MS = 3000 };

/* ---- the network in HNS ---- */

static bool stands(struct host *host, const struct network_input *input) {
    const struct network_agent *agent = network_agent_by_plugin(input->plugin);
    const struct network_mode *mode = network_mode_by_name(input->mode);
    const struct daemon_set_network *wanted =
        mode ? daemon_set_agent_network(daemon_set_agent_by_name(input->daemon_set_agent), mode)
             : NULL;
    _cleanup_(freep) char *path = NULL, *folder = NULL;
    _cleanup_json_ json_t *conf = NULL;
    struct hcn_network network;

    if (agent && agent->pods_make_network)
        return true; /* The first Pod makes the network, so Pods must not be kept away. */
    if (!agent || !agent->in_cluster)
        return hcn_network_find(host, input->name, &network, ERROR_IGNORED) == 0;
    folder = containerd_cni_folder(host);
    return cni_config_read(host, folder, &path, &conf, ERROR_IGNORED) == 0 &&
           (!wanted || daemon_set_network_find(host, wanted, &network, ERROR_IGNORED) == 0);
}

/* ---- the Node's condition ---- */

static int say(struct host *host, struct http *http, const char *node, bool pending,
               struct network_pending *known, struct error *err) {
    _cleanup_(kube_client_close) struct kube_client client = {0};
    _cleanup_(kube_node_free) struct kube_node now = {0};

    if (kube_client_open_file(http, host, NODE_KUBECONFIG, &client, err) < 0)
        return -1;
    client.timeout_ms = REQUEST_MS;
    if (!known->asked) {
        if (kube_node_get(&client, node, &now, err) < 0)
            return -1;
        known->asked = true;
        known->pending = now.network_pending;
    }
    if (known->pending == pending)
        return 0;
    if (kube_node_network_pending_set(&client, node, pending, err) < 0)
        return -1;
    known->pending = pending;
    log_message(LOG_INFO, "NetworkUnavailable of node %s is %s", node, pending ? "True" : "False");
    return 0;
}

void network_pending_update(struct host *host, struct http *http, bool booting, bool restored,
                            struct network_pending *known) {
    _cleanup_(chosen_free) struct chosen chosen = {0};
    const struct network_agent *agent;
    struct error why = {0};
    bool pending;

    if (known->over || host_monotonic_ms(host) < known->again_ms ||
        chosen_load(host, &chosen, &why) < 0)
        return;
    agent = network_agent_by_plugin(chosen.network.plugin);
    known->over = !booting && !(agent && agent->makes_network);
    pending = !restored || !stands(host, &chosen.network);
    if (known->over)
        return;
    if (say(host, http, chosen.node, pending, known, &why) < 0)
        log_message(LOG_RETRY, "%s", why.message);
    known->over = known->asked && !known->pending && !pending;
    known->again_ms = host_monotonic_ms(host) + AGAIN_MS;
}

int network_pending_clear(struct host *host, struct http *http, struct error *err) {
    _cleanup_(chosen_free) struct chosen chosen = {0};
    struct network_pending known = {0};
    const struct network_agent *agent;

    if (chosen_load(host, &chosen, NULL) < 0)
        return 0;
    agent = network_agent_by_plugin(chosen.network.plugin);
    return agent && agent->makes_network ? say(host, http, chosen.node, false, &known, err) : 0;
}
