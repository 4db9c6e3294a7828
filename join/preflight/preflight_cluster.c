/* Preflight checks that need the cluster: trust, clock, configuration, name, plan. Nothing is sent
 * but reads. */
#include "join/files/ca_file.h"
#include "join/found/node_name.h"
#include "join/preflight/preflight_checks.h"
#include "join/programs/programs.h"
#include "netsetup/agents/agent.h"
#include "netsetup/hcn_network.h"
#include "services/artifacts.h"
#include "join/found/need.h"
#include "join/found/network_fit.h"
#include "join/services/rights.h"
#include "kube/access.h"

enum { CLOCK_MAX = 60 };

/* By an error that is a fault of this machine. */
static enum verdict failed_here(struct finding *finding, const struct error *why) {
    (void)check_failed(finding, why);
    finding->cause = ERROR_NONE;
    return CHECK_BAD;
}

enum verdict check_need(struct join *join, struct finding *finding) {
    struct error why = {0};

    return join_need(join, finding->check->number, &why) < 0 ? check_failed(finding, &why)
                                                             : CHECK_FINE;
}

enum verdict check_bundle(struct join *join, struct finding *finding) {
    struct bundle *bundle = NULL;
    struct error why = {0};

    if (programs_bundle(join, &bundle, &why) < 0)
        return check_failed(finding, &why);
    if (!bundle)
        return check_not_run(finding, "no --bundle or --mirror was given");
    if (!bundle_mirror(bundle) && bundle_verify(bundle, NULL, &why) < 0)
        return check_failed(finding, &why);
    return CHECK_FINE;
}

enum verdict check_discovery(struct join *join, struct finding *finding) {
    struct error why = {0};

    if (!discovery_is_asked(join->asked))
        return check_not_run(finding, "no token and no discovery file were given");
    return join_need(join, NEED_CLIENT, &why) < 0 ? check_failed(finding, &why) : CHECK_FINE;
}

/* kubeadm keeps a ca.crt that is there, whosever it is. */
enum verdict check_ca_file(struct join *join, struct finding *finding) {
    _cleanup_(freep) char *path = NULL, *difference = NULL;

    path = join_ca_file(&join->found.options);
    difference = ca_file_difference(join->host, path, join->found.client.ca_pem);
    return difference ? check_bad(finding, "%s", difference) : CHECK_FINE;
}

/* Certificates and tokens are judged by both clocks. */
enum verdict check_clock(struct join *join, struct finding *finding) {
    long long behind = (long long)join->found.discovery.clock_difference;

    if (!join->found.discovery.kubeconfig)
        return check_not_run(finding, "needs Discovery");
    return behind >= -CLOCK_MAX && behind <= CLOCK_MAX
               ? CHECK_FINE
               : check_bad(finding, "this machine's clock is %lld s %s the API server's",
                           behind < 0 ? -behind : behind, behind > 0 ? "behind" : "ahead of");
}

enum verdict check_node_name(struct join *join, struct finding *finding) {
    enum node_name_state state;
    struct error why = {0};

    if (node_name_look(join->host, &join->found.client, join->found.node_name, &state, &why) < 0)
        return check_failed(finding, &why);
    if (state != NODE_NAME_TAKEN && state != NODE_NAME_EARLIER)
        return CHECK_FINE;
    check_hint(finding, "kubectl delete node %s", join->found.node_name);
    if (state == NODE_NAME_TAKEN)
        return check_bad(
            finding, "a Node with name \"%s\" and status \"Ready\" already exists in the cluster",
            join->found.node_name);
    return check_warn(finding,
                      "Node \"%s\" is still Ready from an earlier join of this machine; a join "
                      "waits until it is not Ready",
                      join->found.node_name);
}

/* Only kubeadm's file is seen: its manifest may have been changed by hand. */
enum verdict check_pod_prefix(struct join *join, struct finding *finding) {
    if (!found_waits_for_prefix(&join->found))
        return check_not_run(finding, "this node does not wait for the controller manager's");
    return join->found.cluster.assigns_pod_prefixes
               ? CHECK_FINE
               : check_bad(finding, "kubeadm-config has no networking.podSubnet, without which the "
                                    "controller manager gives Nodes no pod prefix");
}

/* The approver asks whether the request's sender has this right; so does this check. */
enum verdict check_approval(struct join *join, struct finding *finding) {
    static const struct kube_right own = {"create", "certificates.k8s.io",
                                          "certificatesigningrequests/nodeclient"};
    struct error why = {0};
    bool allowed;

    if (join->found.client_is_node || join_has_certificate(join->host, &join->found, &why))
        return check_not_run(finding, "this node has a certificate");
    if (kube_may(&join->found.client, &own, &allowed, &why) < 0)
        return check_unknown(finding, "%s", why.message);
    return allowed ? CHECK_FINE
                   : check_bad(finding,
                               "the token's certificate requests are not approved automatically: "
                               "the join waits until an administrator approves them");
}

/* What is missing is put right as a fault of this machine is: then again. */
enum verdict check_rights(struct join *join, struct finding *finding) {
    struct error why = {0};

    if (rights_check(join, &why) == 0)
        return CHECK_FINE;
    return failed_here(finding, &why);
}

enum verdict check_clash(struct join *join, struct finding *finding) {
    struct error why = {0};

    if (join->found.plan.agent->in_cluster)
        return check_not_run(finding, "the cluster's network agent makes the network");
    if (hcn_clash_check(join->host, &join->found.plan, &why) == 0)
        return CHECK_FINE;
    return failed_here(finding, &why);
}

enum verdict check_network_agent(struct join *join, struct finding *finding) {
    struct error why = {0};

    if (hcn_external_check(join->host, &join->found.plan, &why) == 0 &&
        network_fit_check_nodes(join, &why) == 0)
        return CHECK_FINE;
    return failed_here(finding, &why);
}

/* The bundle's versions, or the installed ones'. */
enum verdict check_skew(struct join *join, struct finding *finding) {
    struct bundle *bundle = NULL;
    struct error why = {0};

    if (programs_bundle(join, &bundle, &why) < 0)
        return check_not_run(finding, "needs Bundle");
    if (programs_check_versions(join, bundle ? bundle_artifacts(bundle) : NULL, &why) == 0)
        return CHECK_FINE;
    (void)check_failed(finding, &why);
    finding->cause = why.kind == ERROR_PREFLIGHT ? ERROR_NONE : why.kind;
    return CHECK_BAD;
}

enum verdict check_programs(struct join *join, struct finding *finding) {
    struct bundle *bundle = NULL;
    _cleanup_(text_list_free) struct text_list missing = {0};
    struct error why = {0};

    if (programs_bundle(join, &bundle, &why) < 0)
        return check_not_run(finding, "needs Bundle");
    if (bundle && bundle_check_published(bundle, &why) < 0)
        return check_failed(finding, &why);
    if (programs_missing(join->host, &join->found, bundle ? bundle_artifacts(bundle) : NULL,
                         &missing, &why) < 0)
        return check_unknown(finding, "%s", why.message);
    if (missing.count) {
        _cleanup_(freep) char *names = text_list_join(&missing, ", ");

        (void)check_bad(finding, "%s missing: neither on this machine nor in the bundle", names);
    }
    return finding->message[0] ? CHECK_BAD : CHECK_FINE;
}
