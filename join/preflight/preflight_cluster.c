/* Preflight checks that need the cluster: trust, clock, configuration, name, plan. Nothing is sent
 * but reads. */
#include <stdlib.h>

#include "base/memory.h"
#include "join/phases/ca_file.h"
#include "join/phases/node_name.h"
#include "join/preflight/preflight_checks.h"
#include "join/phases/programs.h"
#include "netsetup/hcn_network.h"
#include "services/artifacts.h"

enum { CLOCK_MAX = 60 };

static bool can_discover(const struct join *join) {
    const struct join_options *o = join->options;

    return o->discovery_file || o->token || o->discovery_token;
}

static enum verdict after(struct finding *finding, const char *what) {
    return check_not_run(finding, "needs %s", what);
}

enum verdict check_discovery(struct join *join, const struct preflight_check *check,
                             struct finding *finding) {
    struct error why = {0};

    (void)check;
    if (!can_discover(join))
        return check_not_run(finding, "no token and no discovery file were given");
    return join_need_client(join, &why) < 0 ? check_failed(finding, &why) : CHECK_FINE;
}

/* kubeadm keeps a ca.crt that is there, whosever it is. */
enum verdict check_ca_file(struct join *join, const struct preflight_check *check,
                           struct finding *finding) {
    _cleanup_(freep) char *difference = NULL;

    (void)check;
    if (!join->has_client)
        return after(finding, "Discovery");
    difference = ca_file_difference(join);
    return difference ? check_bad(finding, "%s", difference) : CHECK_FINE;
}

/* Certificates and tokens are judged by both clocks. */
enum verdict check_clock(struct join *join, const struct preflight_check *check,
                         struct finding *finding) {
    long long behind = (long long)join->discovery.clock_difference;

    (void)check;
    if (!join->has_discovery)
        return after(finding, "Discovery");
    return behind >= -CLOCK_MAX && behind <= CLOCK_MAX
               ? CHECK_FINE
               : check_bad(finding, "this clock is %lld s %s the API server's",
                           behind < 0 ? -behind : behind, behind > 0 ? "behind" : "ahead of");
}

enum verdict check_configuration(struct join *join, const struct preflight_check *check,
                                 struct finding *finding) {
    struct error why = {0};

    (void)check;
    if (!join->has_client)
        return after(finding, "Discovery");
    return join_need_cluster(join, &why) < 0 ? check_failed(finding, &why) : CHECK_FINE;
}

enum verdict check_node_name(struct join *join, const struct preflight_check *check,
                             struct finding *finding) {
    enum node_name_state state;
    struct error why = {0};

    (void)check;
    if (!join->has_client)
        return after(finding, "Discovery");
    if (node_name_look(join, &state, &why) < 0)
        return check_failed(finding, &why);
    if (state != NODE_NAME_TAKEN && state != NODE_NAME_EARLIER)
        return CHECK_FINE;
    check_hint(finding, "kubectl delete node %s", join->node_name);
    if (state == NODE_NAME_TAKEN)
        return check_bad(finding,
                         "a Node with name \"%s\" and status \"Ready\" already exists in the "
                         "cluster",
                         join->node_name);
    return check_warn(finding,
                      "Node \"%s\" is still Ready from an earlier join of this machine; a join "
                      "waits until it is not",
                      join->node_name);
}

enum verdict check_plan(struct join *join, const struct preflight_check *check,
                        struct finding *finding) {
    struct error why = {0};

    (void)check;
    if (!join->has_cluster)
        return after(finding, "ClusterConfiguration");
    return join_need_plan(join, &why) < 0 ? check_failed(finding, &why) : CHECK_FINE;
}

enum verdict check_clash(struct join *join, const struct preflight_check *check,
                         struct finding *finding) {
    struct error why = {0};

    (void)check;
    if (!join->has_plan)
        return after(finding, "NetworkPlan");
    if (hcn_clash_check(join->host, &join->plan, &why) == 0)
        return CHECK_FINE;
    (void)check_failed(finding, &why);
    finding->cause = ERROR_NONE; /* this machine's */
    return CHECK_BAD;
}

/* The bundle's versions, or the installed ones'. */
enum verdict check_skew(struct join *join, const struct preflight_check *check,
                        struct finding *finding) {
    struct bundle *bundle = NULL;
    struct error why = {0};

    (void)check;
    if (!join->has_cluster)
        return after(finding, "ClusterConfiguration");
    if (programs_bundle(join, &bundle, &why) < 0)
        return after(finding, "Bundle");
    if (programs_check_versions(join, bundle ? bundle_artifacts(bundle) : NULL, &why) == 0)
        return CHECK_FINE;
    (void)check_failed(finding, &why);
    finding->cause = why.kind == ERROR_PREFLIGHT ? ERROR_NONE : why.kind;
    return CHECK_BAD;
}

enum verdict check_programs(struct join *join, const struct preflight_check *check,
                            struct finding *finding) {
    struct bundle *bundle = NULL;
    struct text_list missing = {0};
    struct error why = {0};

    (void)check;
    if (!join->has_plan)
        return after(finding, "NetworkPlan");
    if (programs_bundle(join, &bundle, &why) < 0)
        return after(finding, "Bundle");
    if (artifacts_missing(join->host, bundle ? bundle_artifacts(bundle) : NULL,
                          network_cni_type(&join->plan), join->plan.plugin == NETWORK_FLANNEL,
                          !text_equal(join->options->kube_proxy, "none"), &missing, &why) < 0)
        return check_unknown(finding, "%s", why.message);
    if (missing.count) {
        _cleanup_(freep) char *names = text_list_join(&missing, ", ");

        (void)check_bad(finding, "%s missing: neither on this machine nor in a bundle", names);
    }
    text_list_free(&missing);
    return finding->message[0] ? CHECK_BAD : CHECK_FINE;
}
