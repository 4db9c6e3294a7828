/* Finds causes in the node's own network: pods, HNS objects, encapsulation and routes. */
#include "base/cidr.h"
#include "base/vxlan.h"
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"

/* ---- pods that do not run ---- */

enum level judge_pod_img(const struct symptoms *symptoms, struct cause_finding *finding) {
    static const char *const words[] = {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull",
                                        "no matching manifest", "InvalidImageName"};

    finding->may &= symptoms->red & ~symptoms->failed;
    for (const struct probed_pod *pod = symptoms->pods; pod < symptoms->pods + PODS; pod++)
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
            const char *waiting = json_text_at(pod->said, "waiting");

            if (waiting && !pod->ip && strstr(waiting, words[i])) {
                finding_note(finding, "%s is waiting: %s", pod->name, waiting);
                return CONFIRMED;
            }
        }
    return NO;
}

/* Notes when another program wrote the first file of the CNI folder, which containerd uses. */
static bool note_other_cni(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *file = json_text_at(symptoms->evidence, "cni.file"),
               *name = json_text_at(symptoms->evidence, "cni.conf.name"),
               *network = expected(symptoms, "networkName");

    if (!file || !name || !network || text_equal(name, network))
        return false;
    finding_note(finding, "%s is used, whose network is %s; that of this node is %s", file, name,
                 network);
    finding->hint = xasprintf("if no other network plugin is to be used, delete %s, and the "
                              "program that writes it",
                              file);
    return true;
}

#define PROBE_PROGRAM "C:\\ProgramData\\winjoin\\probe\\bin\\winjoin-probe.exe"

#define NO_PROGRAM_HINT                                                                            \
    "a virus scanner or an application control policy may keep " PROBE_PROGRAM                     \
    " from running; winjoin logs kubelet and winjoin logs containerd show what becomes of it"

enum level judge_pod_sbx(const struct symptoms *symptoms, struct cause_finding *finding) {
    /* When this many starts of the program failed in the same way, the next will fail, too. */
    enum { FAILS_ALWAYS = 3 };
    bool no_sandbox = false, no_program = false;

    finding->may &= symptoms->red & ~symptoms->failed;
    for (const struct probed_pod *pod = symptoms->pods; pod < symptoms->pods + PODS; pod++) {
        const char *waiting = json_text_at(pod->said, "waiting");

        if (!pod->said || pod->ip)
            continue;
        if (waiting)
            finding_note(finding, "%s is waiting: %s", pod->name, waiting);
        else
            finding_note(finding, "%s sent no results", pod->name);
        if (waiting && (strstr(waiting, "SandBox") || strstr(waiting, "sandbox")))
            no_sandbox = true;
        else
            no_program |= json_number_at(pod->said, "failures", 0) >= FAILS_ALWAYS;
    }
    if (!finding->evidence.count)
        return NO;
    finding->in_vain = no_sandbox || no_program;
    if (note_other_cni(symptoms, finding))
        return CONFIRMED;
    /* The CNI configuration of winjoin's network is unreadable, so no sandbox gets a network. */
    json_each(json_object_get(symptoms->evidence, "missing"), i, line) {
        const char *text = json_string_value(line);

        if (!text || !text_starts_with(text, "cni: ") || !expected(symptoms, "networkName"))
            continue;
        finding_note(finding, "the CNI configuration cannot be read: %s", text + strlen("cni: "));
        finding->hint = xstrdup("winjoin join phase pod-network writes the CNI configuration "
                                "again");
        return CONFIRMED;
    }
    if (!no_sandbox) {
        finding->message =
            xstrdup(no_program ? "the program of the probe pods does not run"
                               : "the probe pods do not start, or their program does not");
        finding->hint = xstrdup(NO_PROGRAM_HINT);
    }
    /* A change of something that winjoin wrote is the cause (NODE-CHANGED). */
    return json_at(symptoms->evidence, "changed.0") || !finding->in_vain ? LIKELY : CONFIRMED;
}

bool note_unready(const json_t *node, struct cause_finding *finding) {
    json_each(json_at(node, "status.conditions"), i, condition) {
        const char *status = json_text_at(condition, "status");
        const char *message = json_text_at(condition, "message");

        if (text_equal(json_text_at(condition, "type"), "Ready") && status &&
            !text_equal(status, "True")) {
            finding_note(finding, "Ready is %s: %s", status, message ? message : "no message");
            return true;
        }
    }
    return false;
}

enum level judge_notready(const struct symptoms *symptoms, struct cause_finding *finding) {
    bool full = false;

    /* Windows refuses to write what a container needs, and the kubelet reports DiskPressure. */
    json_each(json_at(symptoms->evidence, "node.status.conditions"), i, condition)
        full |= text_equal(json_text_at(condition, "type"), "DiskPressure") &&
                text_equal(json_text_at(condition, "status"), "True");
    for (const struct probed_pod *pod = symptoms->pods; full && pod < symptoms->pods + PODS;
         pod++) {
        const char *waiting = json_text_at(pod->said, "waiting");

        if (waiting && !pod->ip && strstr(waiting, "not enough space on the disk"))
            finding_note(finding, "%s is waiting: %s", pod->name, waiting);
    }
    if (finding->evidence.count) {
        finding_note(finding, "the Node has the condition DiskPressure");
        finding->message = xstrdup("the node's disk is full");
        finding->hint = xstrdup("free space where containerd keeps its images and containers: "
                                "crictl rmi --prune; then run winjoin diag again");
        return CONFIRMED;
    }
    if (!note_unready(json_object_get(symptoms->evidence, "node"), finding))
        return NO;
    return json_at(symptoms->evidence, "changed.0") &&
                   strstr(finding->evidence.items[0], "container runtime")
               ? LIKELY
               : CONFIRMED;
}

/* The pod runs without an address: only its mailbox folder shows that. */
enum level judge_hns_ep_none(const struct symptoms *symptoms, struct cause_finding *finding) {
    finding->may &= symptoms->red & ~symptoms->failed;
    for (const struct probed_pod *pod = symptoms->pods; pod < symptoms->pods + PODS; pod++)
        if (json_is_true(json_object_get(pod->said, "noAddress")))
            finding_note(finding, "%s runs, and its network has no address", pod->name);
    return finding->evidence.count ? CONFIRMED : NO;
}

/* ---- the HNS network ---- */

/* Each call to HNS waits without an answer, so HNS objects that pods need later will wait, too. */
enum level judge_hns_hung(const struct symptoms *symptoms, struct cause_finding *finding) {
    finding->may &= symptoms->red & ~symptoms->failed;
    if (!json_is_true(json_object_get(symptoms->evidence, "hnsSilent")) ||
        json_object_get(symptoms->evidence, "networks"))
        return NO;
    finding_note(finding, "HNS runs, but gave no answer in %d s", DIAG_EVIDENCE_MS / 1000);
    return CONFIRMED;
}

enum level judge_hns_net(const struct symptoms *symptoms, struct cause_finding *finding) {
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *joined = NULL;
    const char *wanted = expected(symptoms, "networkName");
    const struct network_mode *mode = symptoms->mode;
    const json_t *network = symptoms->network;
    const char *type = network ? json_text_at(network, "Type") : NULL;

    if (!wanted || !json_object_get(symptoms->evidence, "networks"))
        return NO;
    json_each(json_object_get(symptoms->evidence, "networks"), i, one) {
        const char *name = json_text_at(one, "Name");

        if (name)
            text_list_add(&names, name);
    }
    joined = text_list_join(&names, ", ");
    if (!network)
        finding_note(finding, "HNS has no network '%s'; it has: %s", wanted,
                     names.count ? joined : "none");
    else if (mode->name && type && !text_equal_nocase(type, mode->hns_type))
        finding_note(finding, "network '%s' has type %s, not %s", wanted, type, mode->hns_type);
    else
        return NO;
    return CONFIRMED;
}

enum level judge_hns_mgmt(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *network = symptoms->network;
    const char *provider = json_string_value(
        json_object_get(policy_of(network, "ProviderAddress"), "ProviderAddress"));
    const char *ip = provider ? provider : network ? json_text_at(network, "ManagementIP") : NULL;
    const char *node = symptoms->own_address;
    const json_t *endpoint = symptoms->pods[POD_A].endpoint;
    const char *own = json_text_at(policy_of(endpoint, "ProviderAddress"), "ProviderAddress");
    const char *nat = json_text_at(policy_of(endpoint, "OutBoundNAT"), "VirtualIP");

    /* The pods' packets leave with a source address that this node does not have, so answers do not
     * come back. */
    if (nat && *nat && json_array_size(json_object_get(symptoms->evidence, "adapters")) &&
        !adapter_with(symptoms, nat, NULL)) {
        finding->message =
            xstrdup("pods' packets are translated to an address that is not the node's");
        finding->must = CELL_BOTH(EXT_IP);
        finding->may = CELL_BOTH(EXT_IP) | CELL_TCP(EXT_DNS) | CELL_BOTH(POD_NODE) |
                       CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN);
        finding_note(finding,
                     "packets of %s are translated to %s, which no adapter of this node has",
                     symptoms->pods[POD_A].name, nat);
        return CONFIRMED;
    }
    if (!ip || !*ip)
        return NO;
    if (own && *own && !text_equal(own, ip))
        finding_note(finding, "the endpoint of %s is behind %s, its network behind %s",
                     symptoms->pods[POD_A].name, own, ip);
    else if (text_starts_with(ip, "169.254."))
        finding_note(finding,
                     "the network's management address is %s: the adapter had no address when the "
                     "network was made",
                     ip);
    else if (adapter_with(symptoms, ip, NULL) && !adapter_with(symptoms, node, NULL))
        /* The Node object has the wrong address, not the network: row NIC-WRONG covers that. */
        return NO;
    else if (node && !text_equal(ip, node))
        finding_note(finding, "the network's management address is %s, the node's is %s", ip, node);
    else
        return NO;
    return CONFIRMED;
}

enum level judge_hns_cidr(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *wanted = expected(symptoms, "podCIDR");
    const char *prefix = symptoms->subnet;

    if (!wanted || !*wanted || !prefix)
        return NO;
    if (!text_equal(wanted, prefix))
        finding_note(finding, "network '%s' has the prefix %s, the Node has %s",
                     expected(symptoms, "networkName"), prefix, wanted);
    else if (symptoms->pods[POD_A].ip && !prefix_holds(wanted, symptoms->pods[POD_A].ip))
        finding_note(finding,
                     "%s has the address %s: the CNI configuration has another prefix "
                     "than the Node, %s",
                     symptoms->pods[POD_A].name, symptoms->pods[POD_A].ip, wanted);
    return finding->evidence.count ? CONFIRMED : NO;
}

/* No packet of any size gets from one pod of this node to the other, but the node reaches both. */
enum level judge_pod_local(const struct symptoms *symptoms, struct cause_finding *finding) {
    const uint32_t silent = symptoms->outcome[PROBE_TIMEOUT] | symptoms->outcome[PROBE_NO_REPLY];
    unsigned tcp = symptoms->extras[X_SMALL_TCP].said, udp = symptoms->extras[X_SMALL_UDP].said;
    const uint32_t refused = symptoms->outcome[PROBE_UNREACHABLE] |
                             symptoms->outcome[PROBE_REFUSED] | symptoms->outcome[PROBE_RESET];
    uint32_t lost = (silent | refused) & CELL_BOTH(POD_IP) & ~symptoms->partly;

    if (!tcp || (tcp & SAID_OK))
        lost &= ~CELL_TCP(POD_IP) | symptoms->back;
    if (!udp || (udp & SAID_OK))
        lost &= ~CELL_UDP(POD_IP) | symptoms->back;
    if (!lost || !(symptoms->green & CELL_BOTH(NODE_POD)) || !(symptoms->green & CELL_BOTH(SVC_IP)))
        return NO;
    finding->may &= lost | (lost & ~symptoms->back) << (2 * (FLOW_POD_NAME - FLOW_POD_IP));
    if (lost & ~symptoms->back)
        finding_note(finding, "%s does not reach the other, %s", symptoms->pods[POD_A].name,
                     symptoms->pods[POD_B].name);
    if (lost & symptoms->back)
        finding_note(finding, "%s does not reach the other, %s, which reaches it",
                     symptoms->pods[POD_B].name, symptoms->pods[POD_A].name);
    return LIKELY;
}

/* ---- packet size ---- */

/* Notes the largest size that arrives below the smallest that does not. `arrives` and `lost` are
 * sizes known before. */
static void note_sizes(const struct symptoms *symptoms, struct cause_finding *finding,
                       enum diag_extra_id first, const char *where, unsigned arrives,
                       unsigned lost) {
    for (enum diag_extra_id extra = first; extra < first + X_SIZES; extra++) {
        unsigned bytes = diag_extras[extra].bytes, said = symptoms->extras[extra].said;

        if (bytes < lost && (said & ~SAID_OK))
            lost = bytes;
        else if (bytes < lost && bytes > arrives && said)
            arrives = bytes;
    }
    finding_note(finding, "%s: %u bytes arrive, %u do not", where, arrives, lost);
}

/* Notes the MTU of the node's adapter. */
static void note_mtu(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *adapter = adapter_with(symptoms, symptoms->own_address, NULL);
    long long mtu = json_number_at(adapter, "mtu", 0);

    if (mtu)
        finding_note(finding, "the MTU of '%s' is %lld", json_text_at(adapter, "alias"), mtu);
}

enum level judge_mtu(const struct symptoms *symptoms, struct cause_finding *finding) {
    uint32_t explained = 0;

    if (symptoms->extras[X_SMALL_TCP].said & SAID_OK)
        explained |= CELL_TCP(POD_IP) | CELL_TCP(NODE_POD);
    if (symptoms->extras[X_SMALL_UDP].said & SAID_OK)
        explained |= CELL_UDP(POD_IP) | CELL_UDP(NODE_POD);
    finding->may &= explained & ~symptoms->partly & ~symptoms->back &
                    (symptoms->outcome[PROBE_TIMEOUT] | symptoms->outcome[PROBE_NO_REPLY]);
    if (!(finding->may & CELL_BOTH(POD_IP)))
        return NO;
    if (finding->may & CELL_TCP(POD_IP))
        note_sizes(symptoms, finding, X_SIZE_TCP_1000, "TCP to the other pod", 16, 1400);
    if (finding->may & CELL_UDP(POD_IP))
        note_sizes(symptoms, finding, X_SIZE_UDP_1000, "UDP to the other pod", 16, 1400);
    note_mtu(symptoms, finding);
    return CONFIRMED;
}

/* No flow of the matrix sends large packets to another node. These extra questions show what an
 * application would meet there. */
enum level judge_mtu_nodes(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *backend =
        diag_evidence_backend(symptoms->evidence, expected(symptoms, "dnsIP"), TCP, DNS_PORT);
    const char *prefix = expected(symptoms, "podCIDR");
    const struct extra *largest = &symptoms->extras[X_SIZE_DNS_2000];
    /* `questions` says that messages of 2000 bytes to the DNS Service, which answers with short
     * ones, are lost. `answers` says that a large page of the DNS pod does not arrive, while a
     * short page does. */
    bool questions = (symptoms->extras[X_DNS_TCP].said & SAID_OK) && !symptoms->dns_is_slow &&
                     !symptoms->dns_is_split && !(symptoms->partly & CELLS_DNS) && !largest->some &&
                     (largest->said & SAID_NOTHING),
         answers = (symptoms->extras[X_PAGE_SMALL].said & SAID_OK) &&
                   (symptoms->extras[X_PAGE_LARGE].said & SAID(NO_REPLY)) &&
                   !symptoms->extras[X_PAGE_LARGE].some;

    /* When even a connection, with the smallest packets, has no answer, size is not the cause. */
    if (!(symptoms->green & CELL_TCP(POD_IP)) || !backend ||
        (symptoms->extras[X_DNS_CONNECT].said & SAID_NOTHING) || !prefix ||
        prefix_holds(prefix, backend) || !(questions || answers))
        return NO;
    if (questions)
        note_sizes(symptoms, finding, X_SIZE_DNS_1000, "TCP to the DNS Service", 64, 2000);
    if (answers)
        finding_note(finding,
                     "TCP from pod %s, port 9153: a short answer arrives, 2000 bytes do "
                     "not",
                     backend);
    if (answers && largest->some)
        finding_note(finding, "questions of 2000 bytes arrive there: only what comes from other "
                              "nodes is lost");
    note_mtu(symptoms, finding);
    return CONFIRMED;
}

/* ---- other nodes (routes.c judges the routes to them) ---- */

enum level judge_ovl_udp(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *pod = symptoms->dns_pod;
    long long port =
        json_number_at(policy_of(symptoms->network, "VxlanPort"), "Port", VXLAN_WINDOWS_PORT);

    if (!symptoms->mode->vxlan || symptoms->dns_refuses || symptoms->reaches_other_nodes ||
        !(symptoms->green & (CELL_BOTH(POD_IP) | CELL_BOTH(NODE_POD))))
        return NO;
    finding_note(finding,
                 "pods on this node reach each other, but DNS on other nodes does not answer");
    if (pod && symptoms->extras[X_DNS_POD].said)
        finding_note(finding, "not at its pod's own address %s either", pod);
    if (port != VXLAN_WINDOWS_PORT)
        finding_note(finding, "this node's network uses UDP %lld: do the others?", port);
    return LIKELY;
}

/* The route back from the control plane's machine is missing, because pods reach it with their own
 * addresses as source. */
enum level judge_l2_route_node(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *prefix = expected(symptoms, "podCIDR"), *vip = expected(symptoms, "kubernetesIP");
    const char *backend = diag_evidence_backend(symptoms->evidence, vip, TCP, HTTPS_PORT);
    const char *here = symptoms->own_address;

    if (!symptoms->mode->host_routes || !backend || !prefix || prefix_holds(prefix, backend) ||
        !(symptoms->green & CELL_UDP(SVC_IP)) || !symptoms->extras[X_API_NODE].said ||
        (symptoms->extras[X_API_NODE].said & SAID_THERE))
        return NO;
    finding_note(finding, "other Services answer; pods get nothing from %s, at port 10250 either",
                 backend);
    finding_note(finding, "check that %s has a route to %s via %s", backend, prefix,
                 here ? here : "this node");
    name_network_routes(symptoms, finding);
    return LIKELY;
}

/* Judges the forwarding of IPv4, or of IPv6 when the second family is judged. */
enum level judge_forwarding(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *key = symptoms->second ? "forwarding6" : "forwarding";
    const char *node = symptoms->second ? expected(symptoms, "nodeIP6") : symptoms->own_address;
    const char *prefix = expected(symptoms, symptoms->second ? "podCIDR6" : "podCIDR");

    if (!symptoms->mode->forwarding)
        return NO;
    json_each(json_object_get(symptoms->evidence, "adapters"), i, adapter) {
        if (json_is_false(json_object_get(adapter, key)) && adapter_holds(adapter, node, prefix))
            finding_note(finding, "%s forwarding is off on '%s'",
                         symptoms->second ? "IPv6" : "IPv4", json_text_at(adapter, "alias"));
    }
    return finding->evidence.count ? CONFIRMED : NO;
}

enum level judge_l2_gateway(const struct symptoms *symptoms, struct cause_finding *finding) {
    const json_t *endpoint = symptoms->pods[POD_A].endpoint;
    const char *hop = json_text_at(endpoint, "Routes.0.NextHop");

    if (!symptoms->mode->fabric_gateway || !(symptoms->green & CELL_BOTH(POD_IP)))
        return NO;
    finding_note(finding, "pods reach each other; the gateway of pod %s is %s",
                 symptoms->pods[POD_A].name, hop ? hop : "not known");
    return LIKELY;
}
