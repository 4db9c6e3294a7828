/* These phases report the cluster and read its configuration. */
#include "join/configuration/join_options.h"
#include "join/found/need.h"
#include "join/phases/phases.h"
#include "join/preflight/preflight.h"
#include "join/services/node_rights.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/netsetup.h"

/* Reports the result of discovery. The runner has found the cluster before, because this phase
 * needs NEED_CLIENT. */
int phase_discovery(struct join *join, struct error *) {
    const struct discovery_result *d = &join->found.discovery;
    size_t len = strlen(d->matched_pin);

    if (!d->kubeconfig) {
        text_addf(&join->progress.detail, "already joined: %s, as this node",
                  join->found.client.server);
        return 0;
    }
    text_addf(&join->progress.detail, "%s", d->config.server);
    join_fact(&join->progress, "server", json_string(d->config.server));
    if (d->matched_pin[0]) {
        join_fact(&join->progress, "caHash", json_string(d->matched_pin));
        if (len < 20)
            text_addf(&join->progress.detail, ", CA %s matches the pin", d->matched_pin);
        /* "sha256:3b79...dd8a" is enough for a person to compare. */
        else
            text_addf(&join->progress.detail, ", CA %.11s...%s matches the pin", d->matched_pin,
                      d->matched_pin + len - 4);
    }
    return 0;
}

/* Ends the join after a failed check, or warns when the user ignores the check. */
static int judge(struct join *join, const char *check, int result, struct error *err) {
    if (result == 0)
        return 0;
    (void)error_prefix(err, "[%s]", check);
    if (!ignored_checks_have(&join->found.options.ignore_preflight_errors, check))
        return -1;
    join_warn(&join->progress, "%s", err->message);
    error_clear(err);
    return 0;
}

int phase_configuration(struct join *join, struct error *err) {
    const struct cluster_config *c = &join->found.cluster;
    const struct network_plan *plan = &join->found.plan;

    if (node_name_claim(join, err) < 0 ||
        join_need(join, NEED_KUBELET_CONFIG | NEED_PLAN, err) < 0 ||
        node_rights_need(join, err) < 0)
        return -1;
    /* Missing parts for the cluster's network agent, and HNS networks that conflict with winjoin's,
     * are reported before anything is changed. */
    if (judge(join, NETWORK_AGENT_CHECK, daemon_set_network_check(join->host, plan, err), err) < 0)
        return -1;
    if (!join->upgrade && !plan->agent->makes_network && !plan->agent->in_cluster &&
        judge(join, HNS_CLASH_CHECK, network_clash_check(join->host, plan, err), err) < 0)
        return -1;
    text_addf(&join->progress.detail, "%s", c->kubernetes_version);
    join_fact(&join->progress, "kubernetesVersion", json_string(c->kubernetes_version));
    join_fact(&join->progress, "podSubnets", json_texts(&c->pod_subnets));
    join_fact(&join->progress, "serviceSubnets", json_texts(&c->service_subnets));
    join_fact(&join->progress, "networkMode", json_string(plan->mode->name));
    join_fact(&join->progress, "networkPlugin", json_string(plan->plugin));
    if (c->pod_subnets.count)
        text_addf(&join->progress.detail, ", pods %s", c->pod_subnets.items[0]);
    if (c->service_subnets.count)
        text_addf(&join->progress.detail, ", services %s", c->service_subnets.items[0]);
    if (c->cluster_dns.count)
        text_addf(&join->progress.detail, ", DNS %s", c->cluster_dns.items[0]);
    return 0;
}
