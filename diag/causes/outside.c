/* Finds causes between pods and targets outside the cluster, or the node itself. */
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"
#include "netsetup/agents/agent.h"

/* ---- targets outside the cluster ---- */

enum level judge_ext_node(const struct symptoms *symptoms, struct cause_finding *finding) {
    const struct extra *tcp = &symptoms->extras[X_NODE_EXTERNAL],
                       *udp = &symptoms->extras[X_NODE_EXTERNAL_UDP],
                       *connect = &symptoms->extras[X_NODE_DNS];
    const char *ip = expected(symptoms, "externalIP");
    const struct diag_cell *cell =
        diag_cells_find(&symptoms->report->cells, FLOW_EXT_IP, true, false);
    /* A target that answers some attempts is reached: there the fault is packet loss. */
    bool no_tcp = (tcp->said & ~SAID_OK) && !tcp->some,
         no_udp = (udp->said & ~SAID_OK) && !udp->some;

    if (!no_tcp && no_udp && symptoms->node_is_without_udp)
        return NO;
    if (no_tcp)
        finding_note(finding, "the node itself does not reach %s: %s", ip ? ip : "the target",
                     tcp->outcome);
    if (no_udp)
        finding_note(finding, "the node itself gets no answer from %s by UDP: %s",
                     cell && *cell->to ? cell->to : "the DNS server outside", udp->outcome);
    if (no_tcp || no_udp)
        note_route(symptoms, ip, finding);
    if (!no_tcp) {
        finding->must = CELL_UDP(EXT_IP);
        finding->message =
            xstrdup("the DNS server outside does not answer the node in time either");
        /* The DNS server outside is silent by UDP and answers by TCP, so it exists, and its UDP
         * answer is late or missing. */
        if ((udp->said & SAID_NOTHING) && (connect->said & ~(SAID_NOTHING | SAID(UNREACHABLE)))) {
            finding_note(finding,
                         "by TCP it says something (%s): it is there, and answers by UDP too late "
                         "or never",
                         connect->outcome);
            if (!finding->hint)
                finding->hint = xstrdup("not a problem of the pod network: look at the load of "
                                        "that server, and which servers it asks itself; or choose "
                                        "another one (verify.external)");
        }
    }
    finding->may &=
        ~((no_tcp ? 0 : CELL_TCP(EXT_IP)) | (udp->said & SAID_OK ? CELL_UDP(EXT_IP) : 0));
    return no_tcp || no_udp ? CONFIRMED : NO;
}

/* Says whether the policy translates packets that leave the pod. An OutBoundNAT policy with
 * Destinations only covers packets of a pod to its own Service. */
static bool is_outbound_nat(const json_t *policy) {
    return text_equal(json_text_at(policy, "Type"), "OutBoundNAT") &&
           !json_array_size(json_at(policy, "Settings.Destinations"));
}

enum level judge_nat_none(const struct symptoms *symptoms, struct cause_finding *finding) {
    const struct network_mode *mode = symptoms->mode;
    const json_t *endpoint = symptoms->pods[POD_A].endpoint;
    const char *ip = expected(symptoms, "externalIP");
    _cleanup_(text_list_free) struct text_list types = {0};
    _cleanup_(freep) char *joined = NULL;

    /* Switches without VFP have no OutBoundNAT policies. */
    if (!endpoint || (mode->name && !mode->vfp))
        return NO;
    json_each(json_object_get(endpoint, "Policies"), i, policy) {
        const char *type = json_text_at(policy, "Type");

        if (is_outbound_nat(policy))
            return NO;
        if (text_equal(type, "OutBoundNAT"))
            type = "OutBoundNAT (to its own address only)";
        if (type && !text_list_has(&types, type))
            text_list_add(&types, type);
    }
    joined = text_list_join(&types, ", ");
    finding_note(finding, "endpoint %s (%s): none of its policies translates what goes out: %s",
                 json_text_at(endpoint, "ID"), symptoms->pods[POD_A].name,
                 types.count ? joined : "none");
    if (symptoms->extras[X_NODE_EXTERNAL].said & SAID_OK)
        finding_note(finding, "the node itself reaches %s", ip ? ip : "the target");
    return CONFIRMED;
}

/* Returns the OutBoundNAT exception of the endpoint that contains the address, or NULL. */
static const char *exception_of(const json_t *endpoint, const char *ip) {
    json_each(json_object_get(endpoint, "Policies"), i, policy) {
        if (!is_outbound_nat(policy))
            continue;
        json_each(json_at(policy, "Settings.Exceptions"), k, exception) {
            if (prefix_holds(json_string_value(exception), ip))
                return json_string_value(exception);
        }
    }
    return NULL;
}

/* Notes a target that is excepted from NAT but has no route back to pods: a target outside and,
 * with VXLAN, the nodes themselves. `cells` are the cells of flows to that target. */
static void note_excepted(const struct symptoms *symptoms, const char *ip, uint32_t cells,
                          struct cause_finding *finding) {
    const char *exception = ip ? exception_of(symptoms->pods[POD_A].endpoint, ip) : NULL;

    if (!exception || !(cells & symptoms->failed) || (cells & (symptoms->green | symptoms->partly)))
        return;
    finding_note(finding, "%s is in the exception %s", ip, exception);
    finding->may |= cells;
}

enum level judge_nat_exc(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *ip = expected(symptoms, "externalIP");
    const char *api = diag_evidence_backend(symptoms->evidence, expected(symptoms, "kubernetesIP"),
                                            TCP, HTTPS_PORT);

    note_excepted(symptoms, ip, CELL_TCP(EXT_IP), finding);
    if (finding->may)
        finding->may |= CELL_BOTH(EXT_IP) | CELL_TCP(EXT_DNS);
    if (symptoms->mode->vxlan) {
        note_excepted(symptoms, api, CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN), finding);
        note_excepted(symptoms, symptoms->own_address, CELL_BOTH(POD_NODE), finding);
    }
    if (!finding->may)
        return NO;
    if (symptoms->extras[X_NODE_EXTERNAL].said & SAID_OK)
        finding_note(finding, "the node itself reaches %s", ip ? ip : "the target");
    return CONFIRMED;
}

/* With VXLAN, HNS does not encapsulate packets that it translates, so they are lost. In other modes
 * they arrive all the same. */
enum level judge_nat_pods(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *endpoint = symptoms->pods[POD_A].endpoint;
    const char *pod = symptoms->dns_pod;

    if (!symptoms->mode->vxlan || !pod || !policy_of(endpoint, "OutBoundNAT") ||
        exception_of(endpoint, pod) ||
        network_agent_excepts_services(json_text_at(symptoms->network, "Name")))
        return NO;
    finding_note(finding,
                 "no OutBoundNAT exception of endpoint %s (%s) contains %s, a pod of another node",
                 json_text_at(endpoint, "ID"), symptoms->pods[POD_A].name, pod);
    return CONFIRMED;
}

/* The node itself reaches the target outside, its pods do not, although their packets are
 * translated. */
enum level judge_ext_pods(const struct symptoms *symptoms, struct cause_finding *finding) {
    static const struct {
        enum diag_extra_id extra;
        const char *how;
        uint32_t cell;
    } reached[] = {{X_NODE_EXTERNAL, "TCP", CELL_TCP(EXT_IP)},
                   {X_NODE_EXTERNAL_UDP, "UDP", CELL_UDP(EXT_IP)}};
    uint32_t lost = 0;

    for (size_t i = 0; i < ARRAY_SIZE(reached); i++) {
        if (!(symptoms->failed & ~symptoms->partly & reached[i].cell) ||
            !(symptoms->extras[reached[i].extra].said & SAID_OK))
            continue;
        lost |= reached[i].cell;
        finding_note(finding, "the node itself reaches the target outside by %s", reached[i].how);
    }
    if (lost & CELL_TCP(EXT_IP))
        lost |= CELL_TCP(EXT_DNS);
    finding->may &= lost;
    return lost && (symptoms->green & CELL_BOTH(SVC_IP)) ? LIKELY : NO;
}

/* The name outside resolves to an address that does not answer; the other target outside does. */
static enum level ext_name_leads_nowhere(const struct symptoms *symptoms,
                                         const struct diag_cell *cell,
                                         struct cause_finding *finding) {
    const struct extra *node = &symptoms->extras[X_NODE_NAME];

    finding->must = finding->may = CELL_TCP(EXT_DNS);
    finding_note(finding, "%s resolves to %s, which does not answer pods", cell->to,
                 cell->result.addresses[0]);
    if (node->said & SAID_OK) {
        finding->message =
            xstrdup("pods get another address for the name outside than the node, or one that "
                    "they do not reach");
        finding_note(finding, "the node itself reaches that name");
    } else if (node->said) {
        finding->message = xstrdup("nothing answers at the name outside");
        finding->hint = xstrdup("not a problem of the pod network: check that name, or choose "
                                "another target (verify.external)");
        finding_note(finding, "the node itself does not reach that name: %s", node->outcome);
    }
    return LIKELY;
}

enum level judge_ext_dns(const struct symptoms *symptoms, struct cause_finding *finding) {
    const struct extra *external = &symptoms->extras[X_DNS_EXTERNAL],
                       *node = &symptoms->extras[X_NODE_NAME],
                       *tcp = &symptoms->extras[X_NODE_EXTERNAL],
                       *udp = &symptoms->extras[X_NODE_EXTERNAL_UDP];
    const struct diag_cell *cell =
        diag_cells_find(&symptoms->report->cells, FLOW_EXT_DNS, false, false);
    /* Some attempts to targets outside have no answer, so packet loss may be why the name has
     * none. */
    bool loses_some = (symptoms->partly & CELL_BOTH(EXT_IP)) ||
                      ((tcp->said & ~SAID_OK) && tcp->some) ||
                      ((udp->said & ~SAID_OK) && udp->some);

    /* If names that the cluster's DNS knows itself fail, too, the fault is not outside. */
    if (!(symptoms->green & (CELL_UDP(SVC_IP) | CELL_BOTH(SVC_FQDN))) ||
        (symptoms->outcome[PROBE_DNS_TIMEOUT] & CELLS_NAMES & ~CELL_BOTH(EXT_DNS)))
        return NO;
    if (cell && (symptoms->green & CELL_TCP(EXT_IP)) && (symptoms->failed & CELL_TCP(EXT_DNS)) &&
        cell->result.address_count)
        return ext_name_leads_nowhere(symptoms, cell, finding);
    if (symptoms->green & CELL_BOTH(EXT_DNS)) /* Only one of the two cells failed. */
        finding->must = finding->may = symptoms->unresolved & CELL_BOTH(EXT_DNS);
    finding_note(finding, "the cluster's DNS resolves Service names");
    if (!(external->said & ~SAID_OK))
        return LIKELY;
    finding_note(finding, "for the external name it answers: %s", external->outcome);
    if ((external->said & SAID(DNS_TIMEOUT)) && loses_some)
        return symptoms->partly & CELL_BOTH(EXT_IP) ? NO : LIKELY;
    if (external->said & node->said & SAID(DNS_NXDOMAIN)) {
        finding->message = xstrdup("the name outside does not exist");
        finding->hint = xstrdup("not a problem of the pod network: check that name, or choose "
                                "another target (verify.external)");
        finding_note(finding, "the node itself does not find that name either");
    } else if (node->said & (SAID(DNS_SERVFAIL) | SAID(DNS_TIMEOUT))) {
        finding->message = xstrdup("names outside resolve neither for pods nor for the node");
        finding->hint =
            xstrdup("not a problem of the pod network: look at the DNS servers that "
                    "the node, and the forward line in the CoreDNS configuration, name");
        finding_note(finding, "the node itself gets no answer for that name either: %s",
                     node->outcome);
    }
    return CONFIRMED;
}

/* ---- the firewall of the node ---- */

/* Either the node does not reach a port of pod b, by TCP, UDP or both, while pod a does; questions
 * of pods to the node by the same protocol then have no answer either. Or the node and its pods do
 * not reach each other, while pods reach Services. A firewall that rejects packets reports that to
 * the sender, so other outcomes than silence count, too. */
enum level judge_fw_own(const struct symptoms *symptoms, struct cause_finding *finding) {
    const uint32_t silent = symptoms->outcome[PROBE_TIMEOUT] | symptoms->outcome[PROBE_NO_REPLY];
    const uint32_t lost = symptoms->failed & ~symptoms->partly & CELL_BOTH(NODE_POD) &
                          ~symptoms->outcome[PROBE_WRONG_RESPONDER];
    const uint32_t open = lost & (symptoms->green & CELL_BOTH(POD_IP))
                                     << (2 * (FLOW_NODE_POD - FLOW_POD_IP));

    if (lost == CELL_BOTH(NODE_POD) && (silent & CELL_BOTH(POD_NODE)) &&
        (symptoms->green & CELL_BOTH(SVC_IP))) {
        finding_note(finding, "pods reach Services, but not their own node");
        return LIKELY;
    }
    finding->may &=
        open | (silent & ~symptoms->partly & open << (2 * (FLOW_POD_NODE - FLOW_NODE_POD)));
    if (!open)
        return NO;
    finding_note(finding, "the other pod reaches %s, the node does not%s",
                 symptoms->pods[POD_B].name,
                 open == CELL_TCP(NODE_POD)   ? " by TCP"
                 : open == CELL_UDP(NODE_POD) ? " by UDP"
                                              : "");
    return LIKELY;
}

enum level judge_kubelet_port(const struct symptoms *symptoms, struct cause_finding *finding) {
    finding->may &= symptoms->outcome[PROBE_REFUSED] | symptoms->outcome[PROBE_RESET];
    if (!finding->may)
        return NO;
    finding_note(finding, "the node refuses connections to port 10250");
    return LIKELY;
}

enum level judge_fw_in(const struct symptoms *symptoms, struct cause_finding *finding) {
    finding->may &= symptoms->outcome[PROBE_TIMEOUT] | symptoms->outcome[PROBE_NO_REPLY] |
                    symptoms->outcome[PROBE_UNREACHABLE] |
                    (symptoms->outcome[PROBE_REFUSED] & CELL_UDP(POD_NODE));
    finding->may &= (symptoms->green & CELL_BOTH(NODE_POD))
                    << (2 * (FLOW_POD_NODE - FLOW_NODE_POD));
    if (!(finding->may & symptoms->failed))
        return NO;
    finding_note(finding, "the node reaches the pod, the pod gets no answer from the node");
    return LIKELY;
}
