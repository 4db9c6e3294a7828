/* Checks rights before the join interrupts the network, so that it does not fail afterwards. */
#include "join/services/node_rights.h"

#include "join/configuration/join_options.h"
#include "join/found/need.h"
#include "join/programs/programs.h"
#include "kube/client.h"
#include "netsetup/agents/agent.h"
#include "services/service_table.h"

enum { WANTED_MAX = 16 };

static int hint_at_manifest(struct error *err) {
    return error_hint(err, "apply once, as an administrator: winjoin config cluster --kubeconfig "
                           "admin.conf | kubectl apply -f -");
}

/* Checks the rights that the node's services need: those of kube-proxy, and those of an agent that
 * uses the node's identity. An agent that gets an identity of its own later has its own rights. */
static int check_services(struct join *join, struct error *err) {
    static const struct kube_right proxy[] = {{"list", "", "services"},
                                              {"list", "discovery.k8s.io", "endpointslices"}};
    bool kube_proxy = programs_wanted(&join->found, &service_kube_proxy);
    const struct network_agent *agent = join->found.plan.agent;
    _cleanup_(text_list_free) struct text_list verbs = {0};
    struct kube_right wanted[WANTED_MAX];
    bool may[WANTED_MAX];
    size_t count = 0;

    if (!join->found.client_is_node) {
        if (!join->found.cluster.unprepared || (!kube_proxy && !agent->rights))
            return 0;
        (void)error_set(err, ERROR_PREFLIGHT,
                        "[" RIGHTS_CHECK "] this cluster has not granted Windows nodes their "
                        "rights: ConfigMap kube-system/winjoin cannot be read (403), and %s would "
                        "be refused",
                        kube_proxy ? "kube-proxy" : agent->service);
        (void)hint_at_manifest(err);
        return error_hint(
            err, "where they were granted otherwise: --ignore-preflight-errors " RIGHTS_CHECK);
    }

    for (; kube_proxy && count < ARRAY_SIZE(proxy); count++)
        wanted[count] = proxy[count];
    for (const struct agent_right *r = agent->group ? NULL : agent->rights; r && r->resource; r++) {
        size_t first = verbs.count;

        text_list_split(&verbs, r->verbs, ',');
        for (size_t i = first; i < verbs.count && count < WANTED_MAX; i++)
            wanted[count++] = (struct kube_right){verbs.items[i], "", r->resource};
    }
    /* A question without an answer does not count as refused. */
    if (kube_may(&join->found.client, wanted, count, may, ERROR_IGNORED) < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!may[i]) {
            (void)error_set(err, ERROR_PREFLIGHT,
                            "[" RIGHTS_CHECK "] this node is not allowed to %s %s", wanted[i].verb,
                            wanted[i].resource);
            return hint_at_manifest(err);
        }
    return 0;
}

int node_rights_check(struct join *join, struct error *err) {
    static const struct kube_right request = {"create", "certificates.k8s.io",
                                              "certificatesigningrequests"};
    bool allowed;

    if (!join->found.client_is_node &&
        !join_has_certificate(join->host, &join->found, ERROR_IGNORED) &&
        kube_may(&join->found.client, &request, 1, &allowed, ERROR_IGNORED) == 0 && !allowed) {
        (void)error_set(err, ERROR_PREFLIGHT,
                        "[" RIGHTS_CHECK "] the token is not allowed to %s %s", request.verb,
                        request.resource);
        return error_hint(err, TOKEN_GROUP_HINT);
    }
    return check_services(join, err);
}

int node_rights_need(struct join *join, struct error *err) {
    /* When this run sends a certificate request before the network is interrupted, the answer to it
     * shows the token's right. */
    bool will_ask = !join->found.options.dry_run && !text_list_has(&join->skipped, "certificate") &&
                    !join_kubelet_bootstraps(join->host, &join->found);

    if ((will_ask ? check_services(join, err) : node_rights_check(join, err)) == 0)
        return 0;
    if (!ignored_checks_have(&join->found.options.ignore_preflight_errors, RIGHTS_CHECK))
        return -1;
    join_warn(&join->progress, "%s", err->message);
    error_clear(err);
    return 0;
}
