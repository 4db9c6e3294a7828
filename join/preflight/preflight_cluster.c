/* Makes the preflight checks that need the cluster: trust, clock, configuration, name, plan. They
 * only read. */
#include "join/wanted/wanted.h"
#include "join/found/need.h"
#include "join/preflight/preflight_checks.h"
#include "join/programs/programs.h"
#include "kube/client.h"
#include "netsetup/agents/agent.h"
#include "netsetup/hns/hcn_network.h"
#include "netsetup/netsetup.h"
#include "services/artifacts/catalog.h"

enum { CLOCK_MAX = 60 };

enum check_verdict check_need(struct join *join, struct check_finding *finding) {
    if (finding->check->number == NEED_CLIENT && !discovery_is_asked(join->asked))
        return check_say(finding, CHECK_NOT_RUN, "no token and no discovery file were given");
    return join_need(join, finding->check->number, &finding->why) < 0 ? CHECK_FAILED : CHECK_FINE;
}

enum check_verdict check_bundle(struct join *join, struct check_finding *finding) {
    struct bundle *bundle = NULL;

    if (programs_bundle(join, &bundle, &finding->why) < 0)
        return CHECK_FAILED;
    if (!bundle)
        return check_say(finding, CHECK_NOT_RUN, "no --bundle or --mirror was given");
    if (!bundle_mirror(bundle) && bundle_verify(bundle, NULL, &finding->why) < 0)
        return CHECK_FAILED;
    return CHECK_FINE;
}

/* Warns of a ca.crt of another cluster. kubeadm keeps any ca.crt that exists. */
enum check_verdict check_ca_file(struct join *join, struct check_finding *finding) {
    _cleanup_(freep) char *path = NULL, *difference = NULL;

    path = join_ca_file(&join->found.options);
    difference = ca_file_difference(join->host, path, join->found.client.ca_pem);
    return difference ? check_say(finding, CHECK_BAD, "%s", difference) : CHECK_FINE;
}

/* The validity of certificates and tokens depends on both clocks. */
enum check_verdict check_clock(struct join *join, struct check_finding *finding) {
    long long behind = (long long)join->found.discovery.clock_difference;

    if (!join->found.discovery.kubeconfig)
        return check_say(finding, CHECK_NOT_RUN, "needs Discovery");
    return behind >= -CLOCK_MAX && behind <= CLOCK_MAX
               ? CHECK_FINE
               : check_say(finding, CHECK_BAD, "this machine's clock is %lld s %s the API server's",
                           behind < 0 ? -behind : behind, behind > 0 ? "behind" : "ahead of");
}

enum check_verdict check_node_name(struct join *join, struct check_finding *finding) {
    enum node_name_state state;

    if (node_name_owner(join->host, &join->found.client, join->found.node_name, &state,
                        &finding->why) < 0)
        return CHECK_FAILED;
    if (state != NODE_NAME_TAKEN && state != NODE_NAME_EARLIER)
        return CHECK_FINE;
    check_hint(finding, "kubectl delete node %s", join->found.node_name);
    if (state == NODE_NAME_TAKEN)
        return check_say(
            finding, CHECK_BAD,
            "a Node with name \"%s\" and status \"Ready\" already exists in the cluster",
            join->found.node_name);
    return check_say(finding, CHECK_WARN,
                     "Node \"%s\" is still Ready from an earlier join of this machine; a join "
                     "waits until it is not Ready",
                     join->found.node_name);
}

/* Checks that the Node will get a Pod prefix. Only kubeadm's file has the controller manager's
 * settings; its manifest may have been changed by hand. */
enum check_verdict check_pod_prefix(struct join *join, struct check_finding *finding) {
    if (!found_waits_for_prefix(&join->found))
        return check_say(finding, CHECK_NOT_RUN,
                         "this node does not wait for the controller manager's");
    if (!join->found.cluster.assigns_pod_prefixes)
        return check_say(finding, CHECK_BAD,
                         "kubeadm-config has no networking.podSubnet, without which the "
                         "controller manager gives Nodes no pod prefix");
    return pod_room_check_cluster(join, &finding->why) < 0 ? CHECK_FAILED : CHECK_FINE;
}

/* The approver of requests tests whether the sender has this right; this check does the same. */
enum check_verdict check_approval(struct join *join, struct check_finding *finding) {
    static const struct kube_right own = {"create", "certificates.k8s.io",
                                          "certificatesigningrequests/nodeclient"};
    bool allowed;

    if (join->found.client_is_node || join_has_certificate(join->host, &join->found, &finding->why))
        return check_say(finding, CHECK_NOT_RUN, "this node has a certificate");
    if (kube_may(&join->found.client, &own, 1, &allowed, &finding->why) < 0)
        return CHECK_UNKNOWN;
    return allowed ? CHECK_FINE
                   : check_say(finding, CHECK_BAD,
                               "the token's certificate requests are not approved automatically: "
                               "the join waits until an administrator approves them");
}

enum check_verdict check_clash(struct join *join, struct check_finding *finding) {
    if (join->found.plan.agent->in_cluster)
        return check_say(finding, CHECK_NOT_RUN, "the cluster's network agent makes the network");
    return network_clash_check(join->host, &join->found.plan, &finding->why) < 0 ? CHECK_FAILED_HERE
                                                                                 : CHECK_FINE;
}

enum check_verdict check_network_agent(struct join *join, struct check_finding *finding) {
    return daemon_set_network_check(join->host, &join->found.plan, &finding->why) < 0 ||
                   network_fit_check_nodes(join, &finding->why) < 0
               ? CHECK_FAILED_HERE
               : CHECK_FINE;
}

/* Checks the versions of the bundle's programs, or of the installed ones. */
enum check_verdict check_skew(struct join *join, struct check_finding *finding) {
    struct bundle *bundle = NULL;

    if (programs_bundle(join, &bundle, &finding->why) < 0)
        return check_say(finding, CHECK_NOT_RUN, "needs Bundle");
    if (programs_check_versions(join, bundle ? bundle_artifacts(bundle) : NULL, &finding->why) == 0)
        return join->found.kubelet_version
                   ? CHECK_FINE
                   : check_say(finding, CHECK_NOT_RUN,
                               "kubelet.exe is not here yet, or its file does not tell "
                               "its version; the join asks the program");
    return finding->why.kind == ERROR_PREFLIGHT ? CHECK_FAILED_HERE : CHECK_FAILED;
}

enum check_verdict check_programs(struct join *join, struct check_finding *finding) {
    struct bundle *bundle = NULL;
    _cleanup_(text_list_free) struct text_list missing = {0};
    _cleanup_(freep) char *names = NULL, *image = NULL;

    if (programs_bundle(join, &bundle, &finding->why) < 0)
        return check_say(finding, CHECK_NOT_RUN, "needs Bundle");
    if (bundle && bundle_is_upstream(bundle) &&
        upstream_check(bundle_mirror(bundle), bundle_artifacts(bundle), &finding->why) < 0)
        return CHECK_FAILED;
    if (programs_missing(join->host, &join->found, bundle ? bundle_artifacts(bundle) : NULL,
                         &missing, &finding->why) < 0)
        return CHECK_UNKNOWN;
    names = text_list_join(&missing, ", ");
    if (missing.count)
        return check_say(finding, CHECK_BAD,
                         "%s missing: neither on this machine nor in the bundle", names);
    image = programs_image_warning(join->host, &join->found);
    if (!image)
        return CHECK_FINE;
    check_hint(finding, "winjoin bundle create --kubernetes-version VERSION --images FILE.zip");
    return check_say(finding, CHECK_WARN, "%s", image);
}
