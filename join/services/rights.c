/* Rights are asked for before the network adapter goes away, and not found missing after that. */
#include "join/services/rights.h"

#include "join/configuration/join_options.h"
#include "join/found/need.h"
#include "join/programs/programs.h"
#include "kube/client.h"
#include "netsetup/agents/agent.h"
#include "services/service_table.h"

enum { WANTED_MAX = 16 };

static int refuse(struct error *err, const char *who, const struct kube_right *right) {
    return error_set(err, ERROR_PREFLIGHT, "[" RIGHTS_CHECK "] %s is not allowed to %s %s", who,
                     right->verb, right->resource);
}

static int hint_at_manifest(struct error *err) {
    return error_hint(err, "apply once, as an administrator: winjoin config cluster --kubeconfig "
                           "admin.conf | kubectl apply -f -");
}

static int check_token(struct join *join, struct error *err) {
    static const struct kube_right request = {"create", "certificates.k8s.io",
                                              "certificatesigningrequests"};
    bool allowed;

    if (join_has_certificate(join->host, &join->found, ERROR_IGNORED) ||
        kube_may(&join->found.client, &request, &allowed, ERROR_IGNORED) < 0 || allowed)
        return 0;
    (void)refuse(err, "the token", &request);
    return error_hint(err, TOKEN_GROUP_HINT);
}

/* Of kube-proxy and of an agent that has the node's identity: one that asks for another later has
 * its rights. */
static size_t list_wanted(const struct network_agent *agent, bool kube_proxy,
                          struct text_list *verbs, struct kube_right *ret) {
    static const struct kube_right proxy[] = {{"list", "", "services"},
                                              {"list", "discovery.k8s.io", "endpointslices"}};
    size_t count = 0;

    for (; kube_proxy && count < ARRAY_SIZE(proxy); count++)
        ret[count] = proxy[count];
    for (const struct agent_right *r = agent->group ? NULL : agent->rights; r && r->resource; r++) {
        size_t first = verbs->count;

        text_list_split(verbs, r->verbs, ',');
        for (size_t i = first; i < verbs->count && count < WANTED_MAX; i++)
            ret[count++] = (struct kube_right){verbs->items[i], "", r->resource};
    }
    return count;
}

/* A question without an answer does not count as refused. */
static int check_node(struct join *join, bool kube_proxy, struct error *err) {
    _cleanup_(text_list_free) struct text_list verbs = {0};
    struct kube_right wanted[WANTED_MAX];
    bool may[WANTED_MAX];
    size_t count = list_wanted(join->found.plan.agent, kube_proxy, &verbs, wanted);

    if (kube_may_all(&join->found.client, wanted, count, may, ERROR_IGNORED) < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!may[i]) {
            (void)refuse(err, "this node", &wanted[i]);
            return hint_at_manifest(err);
        }
    return 0;
}

/* What the node's services will need. */
static int check_services(struct join *join, struct error *err) {
    bool kube_proxy = programs_wanted(&join->found, &service_kube_proxy);

    if (join->found.client_is_node)
        return check_node(join, kube_proxy, err);
    if (!join->found.cluster.unprepared || (!kube_proxy && !join->found.plan.agent->rights))
        return 0;
    (void)error_set(err, ERROR_PREFLIGHT,
                    "[" RIGHTS_CHECK "] this cluster has not granted Windows nodes their rights: "
                    "ConfigMap kube-system/winjoin cannot be read (403), and %s would be refused",
                    kube_proxy ? "kube-proxy" : join->found.plan.agent->service);
    (void)hint_at_manifest(err);
    return error_hint(err,
                      "where they were granted otherwise: --ignore-preflight-errors " RIGHTS_CHECK);
}

int rights_check(struct join *join, struct error *err) {
    return !join->found.client_is_node && check_token(join, err) < 0 ? -1
                                                                     : check_services(join, err);
}

/* Does this run send a certificate request itself, before the network is interrupted? Then that is
 * the question. */
static bool will_ask(const struct join *join) {
    return !join->found.options.dry_run && !text_list_has(&join->skipped, "certificate") &&
           !join_kubelet_bootstraps(join->host, &join->found);
}

int rights_need(struct join *join, struct error *err) {
    if ((will_ask(join) ? check_services(join, err) : rights_check(join, err)) == 0)
        return 0;
    if (!ignored_checks_have(&join->found.options.ignore_preflight_errors, RIGHTS_CHECK))
        return -1;
    join_warn(&join->progress, "%s", err->message);
    error_clear(err);
    return 0;
}
