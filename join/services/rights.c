/* Rights are asked for before the network adapter goes away, and not found missing after that. */
#include "join/services/rights.h"

#include "join/configuration/ignored_checks.h"
#include "join/found/need.h"
#include "join/programs/programs.h"
#include "kube/access.h"
#include "netsetup/agents/agent.h"
#include "services/service_table.h"

static int refuse(struct error *err, const char *who, const struct kube_right *right) {
    return error_set(err, ERROR_PREFLIGHT, "[" RIGHTS_CHECK "] %s is not allowed to %s %s", who,
                     right->verb, right->resource);
}

static int hint_at_manifest(struct error *err) {
    return error_hint(err, "apply once, as an administrator: winjoin config cluster --kubeconfig "
                           "admin.conf | kubectl apply -f -");
}

/* false: refused; a question without an answer does not count as refused. */
static bool may(struct join *join, const struct kube_right *right) {
    bool allowed;

    return kube_may(&join->found.client, right, &allowed, ERROR_IGNORED) < 0 || allowed;
}

static int check_token(struct join *join, struct error *err) {
    static const struct kube_right request = {"create", "certificates.k8s.io",
                                              "certificatesigningrequests"};

    if (join_has_certificate(join->host, &join->found, ERROR_IGNORED) || may(join, &request))
        return 0;
    (void)refuse(err, "the token", &request);
    return error_hint(
        err, "the token must belong to the group system:bootstrappers:kubeadm:default-node-token, "
             "as tokens made by kubeadm token create do");
}

static int check_agent(struct join *join, struct error *err) {
    const struct agent_right *right = join->found.plan.agent->rights;

    if (join->found.plan.agent->group)
        return 0; /* rights of an identity that it asks for later */
    for (; right && right->resource; right++) {
        _cleanup_(text_list_free) struct text_list verbs = {0};

        text_list_split(&verbs, right->verbs, ',');
        for (size_t i = 0; i < verbs.count; i++) {
            const struct kube_right wanted = {verbs.items[i], "", right->resource};

            if (!may(join, &wanted)) {
                (void)refuse(err, "this node", &wanted);
                return hint_at_manifest(err);
            }
        }
    }
    return 0;
}

static int check_node(struct join *join, bool kube_proxy, struct error *err) {
    static const struct kube_right wanted[] = {{"list", "", "services"},
                                               {"list", "discovery.k8s.io", "endpointslices"}};

    for (size_t i = 0; kube_proxy && i < ARRAY_SIZE(wanted); i++) {
        if (!may(join, &wanted[i])) {
            (void)refuse(err, "this node", &wanted[i]);
            return hint_at_manifest(err);
        }
    }
    return check_agent(join, err);
}

int rights_check(struct join *join, struct error *err) {
    bool kube_proxy = programs_wanted(&join->found, &service_kube_proxy);

    if (join->found.client_is_node)
        return check_node(join, kube_proxy, err);
    if (check_token(join, err) < 0)
        return -1;
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

int rights_need(struct join *join, struct error *err) {
    if (rights_check(join, err) == 0)
        return 0;
    if (!ignored_checks_have(&join->found.options.ignore_preflight_errors, RIGHTS_CHECK))
        return -1;
    join_warn(&join->progress, "%s", err->message);
    error_clear(err);
    return 0;
}
