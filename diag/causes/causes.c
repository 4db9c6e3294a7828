/* The decision table and how its rows compete: what evidence confirms goes before what only looks
 * like it, and the wider before the narrower. */
#include "diag/causes/causes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diag/causes/rows.h"

/* Which red cells a cause may explain. */
enum cells_of {
    MEASURED,   /* those that were tried */
    MEASURED6,  /* those of IPv6 beside IPv4 that were tried; all others are of the first family */
    STOPS_PODS, /* those that were not run, too */
    FIRST_LOOK, /* the cells of its finding; named without any, too */
};

struct row {
    struct diag_cause_row words;
    uint32_t must, may;
    row_look *look;
    enum cells_of of;
};

#define PROXY_HINT                                                                                 \
    "winjoin logs kube-proxy shows why; winjoin join phase kube-proxy sets it up again"
#define NETWORK_HINT                                                                               \
    "winjoin join phase pod-network makes the network and the CNI configuration again"

#define NEW_CERTIFICATE                                                                            \
    "print a join command on the control plane (kubeadm token create --print-join-command) and "   \
    "run it here with winjoin: it gets a new certificate"

#define SERVICE_DOWN(breaks, may, look)                                                            \
    {                                                                                              \
        {"SVC-DOWN", breaks, "a service that the node needs is not running, or keeps ending",      \
         "winjoin logs SERVICE shows why; then: sc.exe start SERVICE"},                            \
            0, may, look, FIRST_LOOK                                                               \
    }

/* Widest first. */
static const struct row rows[] = {
    {{"CERT-EXPIRED", "nothing at once; the kubelet at its next start",
      "the node's client certificate has expired", NEW_CERTIFICATE},
     0,
     0,
     look_cert_expired,
     FIRST_LOOK},
    SERVICE_DOWN("every flow", CELLS_ALL, look_svc_hns),
    SERVICE_DOWN("every flow", CELLS_ALL, look_svc_containerd),
    SERVICE_DOWN("every flow", CELLS_ALL, look_svc_kubelet),
    SERVICE_DOWN("new nodes and their pods", 0, look_svc_flanneld),
    SERVICE_DOWN("new Services and their changes", 0, look_svc_kube_proxy),
    {{"API-DOWN", "from pods to the Service kubernetes", "this node does not reach the API server",
      "check that the API server runs and that no firewall is in between"},
     0,
     CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN),
     look_api_down,
     FIRST_LOOK},
    {{"API-REFUSED", "nothing at once; the kubelet's reports to the API server",
      "the API server refuses this node, or is not trusted", NEW_CERTIFICATE},
     0,
     0,
     look_api_refused,
     FIRST_LOOK},
    {{"CLOCK-OFF", "nothing at once; certificates and tokens",
      "this node's clock differs from the API server's",
      "w32tm.exe /resync; w32tm.exe /query /status shows where the time comes from"},
     0,
     0,
     look_clock_off,
     FIRST_LOOK},
    {{"POD-IMG", "every flow", "the image of the probe pods is not available on this node",
      "check that the sandbox image named in containerd's configuration is on the node: crictl "
      "images"},
     0,
     CELLS_ALL,
     look_pod_img,
     STOPS_PODS},
    {{"HNS-NET", "every flow", "the HNS network of the pods is missing or has the wrong type",
      NETWORK_HINT},
     CELLS_ALL,
     CELLS_ALL,
     look_hns_net,
     STOPS_PODS},
    {{"POD-SBX", "every flow", "the probe pods do not start: their sandbox cannot be created",
      "search the kubelet's log for FailedCreatePodSandBox; the error of CNI and HNS follows it"},
     0,
     CELLS_ALL,
     look_pod_sbx,
     STOPS_PODS},
    {{"NOTREADY", "every flow", "the node is not Ready, so its pods cannot be tested",
      "fix what the Ready condition reports, then run winjoin diag again"},
     CELLS_FROM_POD & ~CELL_BOTH(POD_NODE),
     CELLS_ALL,
     look_notready,
     STOPS_PODS},
    {{"HNS-MGMT", "from pods to other nodes and outside",
      "the HNS network was made with an address that is not the node's",
      "winjoin join phase pod-network makes the network again; then check the kubelet's --node-ip"},
     CELL_BOTH(EXT_IP) | CELL_UDP(SVC_IP),
     CELLS_FROM_POD & ~CELL_BOTH(POD_IP),
     look_hns_mgmt,
     MEASURED},
    {{"HNS-EP", "every flow of one pod", "the pod's HNS endpoint is missing or not attached",
      "delete the pod; if it happens again: powershell Restart-Service hns, then kube-proxy"},
     CELLS_FROM_POD,
     CELLS_ALL,
     look_hns_ep_a,
     MEASURED},
    {{"HNS-EP", "every flow of one pod", "the pod's HNS endpoint is missing or not attached",
      "delete the pod; if it happens again: powershell Restart-Service hns, then kube-proxy"},
     CELL_BOTH(POD_IP) | CELL_BOTH(NODE_POD),
     CELL_BOTH(POD_IP) | CELL_BOTH(POD_NAME) | CELL_BOTH(NODE_POD),
     look_hns_ep_b,
     MEASURED},
    {{"CNI-POLICY", "the traffic that the rule blocks",
      "an HNS ACL policy blocks packets of the pods",
      "winjoin sets none, but network policy agents do: check the NetworkPolicies of the namespace "
      "and the agent's log; deleting the pod makes a new endpoint"},
     0,
     CELLS_ALL,
     look_cni_policy,
     MEASURED},
    {{"HNS-EPSTALE", "flows that the wrong pod answers", "two endpoints have the same address",
      "delete the stale endpoint (in PowerShell: Get-HnsEndpoint, Remove-HnsEndpoint), then "
      "restart kube-proxy"},
     0,
     CELL_BOTH(POD_IP) | CELL_BOTH(POD_NAME) | CELL_BOTH(NODE_POD),
     look_hns_epstale,
     MEASURED},
    {{"MTU", "large packets", "small packets arrive, large ones are lost",
      "set the MTU of the pod network (CNI, flannel) below that of the underlying network"},
     0,
     CELL_BOTH(POD_IP) | CELL_BOTH(NODE_POD),
     look_mtu,
     MEASURED},
    {{"OVL-VNI", "from pods to other nodes' pods", "the nodes do not use the same VNI",
      "set VNI 4096 and Port 4789 in flannel's net-conf.json for all nodes and restart flannel"},
     CELLS_DNS,
     CELLS_DNS | CELL_TCP(SVC_SHORT),
     look_ovl_vni,
     MEASURED},
    {{"OVL-PEER", "from pods to other nodes' pods",
      "the network has no correct route to another node's pods",
      "check the node annotations flannel.alpha.coreos.com/*, then restart flanneld on both nodes; "
      "without an agent: winjoin join phase pod-network"},
     CELLS_DNS,
     CELLS_DNS,
     look_ovl_peer,
     MEASURED},
    {{"NAT-EXC", "from pods to other nodes' pods",
      "packets to the cluster's own prefixes are translated (NAT) to the node's address",
      "winjoin join phase pod-network writes the CNI configuration again; new pods get the "
      "exceptions"},
     CELLS_DNS,
     CELLS_DNS,
     look_nat_pods,
     MEASURED},
    {{"L2-FWD", "from pods to anything outside the node", "the node does not forward packets",
      "winjoin join phase pod-network turns forwarding on again"},
     CELL_UDP(SVC_IP) | CELL_BOTH(EXT_IP),
     CELLS_FROM_POD & ~CELL_BOTH(POD_IP),
     look_l2_fwd,
     MEASURED},
    {{"SVC-ALL", "from pods to Services", "no Service is programmed on this node", PROXY_HINT},
     CELL_BOTH(SVC_IP),
     CELL_BOTH(SVC_IP) | CELLS_NAMES,
     look_svc_all,
     MEASURED},
    {{"SVC-VIP", "from pods to Services with backends on other nodes",
      "the load balancers' source address is missing, wrong or from an old subnet",
      "winjoin join phase kube-proxy writes its configuration again; then powershell "
      "Restart-Service kube-proxy, which makes the address's endpoint and all load balancers "
      "again"},
     CELL_UDP(SVC_IP),
     CELLS_DNS,
     look_svc_vip,
     MEASURED},
    {{"DNS-LB", "names", "the DNS Service is not programmed for UDP or TCP 53",
      "powershell Restart-Service kube-proxy"},
     CELL_UDP(SVC_IP),
     CELLS_DNS,
     look_dns_lb,
     MEASURED},
    {{"SVC-LB", "one Service", "the Service kubernetes is not programmed on this node", PROXY_HINT},
     CELL_TCP(SVC_IP),
     CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN),
     look_svc_lb,
     MEASURED},
    {{"SVC-ROUTE", "from pods to Services",
      "the pods' endpoints do not pass packets for cluster IPs to the load balancers",
      "winjoin join phase pod-network writes the CNI configuration again; new pods get the policy"},
     CELL_BOTH(SVC_IP),
     CELL_BOTH(SVC_IP) | CELLS_NAMES,
     look_svc_route,
     MEASURED},
    {{"SVC-EP0", "from pods to the DNS Service", "no pod behind the DNS Service answers",
      "not a network problem: kubectl -n kube-system get pods -l k8s-app=kube-dns"},
     CELL_UDP(SVC_IP),
     CELLS_DNS,
     look_svc_ep0,
     MEASURED},
    {{"L2-ROUTE", "from pods to other nodes' pods",
      "packets for other nodes' pods, or their answers, have no route",
      "add the missing routes on this node, on the other nodes, or in the network (cloud route "
      "table)"},
     CELLS_DNS,
     CELLS_DNS | CELL_TCP(SVC_IP),
     look_l2_route,
     MEASURED},
    {{"L2-ROUTE", "from pods to Services with backends on nodes",
      "packets for other nodes' pods, or their answers, have no route",
      "add the missing routes on this node, on the other nodes, or in the network (cloud route "
      "table)"},
     CELL_TCP(SVC_IP),
     CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN),
     look_l2_route_node,
     MEASURED},
    {{"OVL-UDP", "from pods to other nodes' pods",
      "encapsulated (VXLAN) packets do not pass between the nodes",
      "open UDP 4789 between all nodes in firewalls and security groups; VMware NSX uses the same "
      "port"},
     CELLS_DNS,
     CELLS_DNS,
     look_ovl_udp,
     MEASURED},
    {{"DNS-SRV", "names", "the pod uses a DNS server other than the cluster's",
      "check clusterDNS in the kubelet's configuration and dns in the CNI configuration"},
     CELL_BOTH(SVC_FQDN) | CELL_BOTH(SVC_SHORT),
     CELL_BOTH(POD_NAME) | CELL_BOTH(SVC_SHORT) | CELL_BOTH(SVC_FQDN) | CELL_TCP(EXT_DNS),
     look_dns_srv,
     MEASURED},
    {{"DNS-WRONG", "names", "Service names resolve to addresses that the Services do not have",
      "check the CoreDNS configuration for rewrite, hosts or template lines, and which server "
      "answers: nslookup -debug kubernetes.default.svc.cluster.local."},
     0,
     CELLS_NAMES,
     look_dns_wrong,
     MEASURED},
    {{"DNS-SFX", "short names", "the pod does not add its namespace's suffix to short names",
      "check clusterDomain in the kubelet's configuration and capabilities.dns in the CNI "
      "configuration"},
     CELL_BOTH(SVC_SHORT),
     CELL_BOTH(SVC_SHORT),
     look_dns_sfx,
     MEASURED},
    {{"EXT-NODE", "from pods to outside",
      "the node cannot reach anything outside the cluster either",
      "not a problem of the pod network: check the node's gateway and firewall, or choose another "
      "target (verify.external)"},
     CELL_TCP(EXT_IP),
     CELL_BOTH(EXT_IP) | CELL_BOTH(EXT_DNS),
     look_ext_node,
     MEASURED},
    {{"NAT-NONE", "from pods to outside",
      "pods' packets leave the node with the pods' own addresses: no OutBoundNAT policy of their "
      "endpoints translates them",
      "winjoin join phase pod-network writes the CNI configuration again; new pods get the policy"},
     CELL_BOTH(EXT_IP),
     CELL_BOTH(EXT_IP) | CELL_BOTH(EXT_DNS) | CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN) |
         CELL_BOTH(POD_NODE),
     look_nat_none,
     MEASURED},
    {{"NAT-EXC", "from pods to some addresses outside",
      "the target is excluded from NAT and has no route back to the pods",
      "remove the prefix from the OutBoundNAT exceptions (network.excludeFromNAT) and recreate the "
      "pods"},
     CELL_TCP(EXT_IP),
     CELL_BOTH(EXT_IP) | CELL_TCP(EXT_DNS),
     look_nat_exc,
     MEASURED},
    {{"EXT-DNS", "names outside the cluster",
      "the cluster's DNS does not resolve names outside the cluster",
      "check the forward line in the CoreDNS configuration and the resolver that it names"},
     CELL_BOTH(EXT_DNS),
     CELL_BOTH(EXT_DNS),
     look_ext_dns,
     MEASURED},
    {{"L2-GATEWAY", "from pods to everything but each other",
      "the pods' gateway, a router of the physical network, does not carry their packets",
      "give the router the first address of the node's pod prefix on this node's segment; on a "
      "virtual machine allow MAC address spoofing"},
     CELL_BOTH(EXT_IP) | CELL_BOTH(POD_NODE),
     CELLS_ALL & ~CELL_BOTH(POD_IP),
     look_l2_gateway,
     MEASURED},
    {{"L2-NODE", "from pods to their own node",
      "the pods' endpoints have no route to their own node",
      "winjoin join phase pod-network writes the CNI configuration again; new pods get the policy"},
     CELL_BOTH(POD_NODE),
     CELL_BOTH(POD_NODE),
     look_l2_node,
     MEASURED},
    {{"FW-IN", "from pods to the node", "the node's firewall drops packets from its pods",
      "allow inbound TCP 10250 (kubelet) in the Windows Firewall: winjoin join phase vswitch"},
     0,
     CELL_BOTH(POD_NODE),
     look_fw_in,
     MEASURED},
    {{"PORT-POOL", "names and new connections to Services",
      "the load balancers without DSR use up the dynamic TCP ports: each takes 64",
      "use DSR: winjoin join phase kube-proxy --dsr auto; or more ports: netsh int ipv4 set "
      "dynamicportrange tcp start=34000 num=31536"},
     0,
     CELLS_FROM_POD,
     look_port_pool,
     MEASURED},
    {{"SVC-BACKENDS", "Services with many backends",
      "a Service has more backends than this Windows may support",
      "split the Service, or install the newest cumulative update of Windows"},
     0,
     CELL_BOTH(SVC_IP) | CELL_BOTH(SVC_SHORT) | CELL_BOTH(SVC_FQDN),
     look_svc_backends,
     MEASURED},
    {{"IP6-ADDR", "IPv6 beside IPv4", "the node's IPv6 address is not on any adapter",
      "set it again (netsh interface ipv6 show address), then winjoin join phase pod-network"},
     0,
     CELLS_ALL,
     look_ip6_addr,
     MEASURED6},
    {{"IP6-FWD", "IPv6 from pods to anything outside the node",
      "the node does not forward packets of IPv6",
      "winjoin join phase pod-network turns forwarding on again"},
     0,
     CELLS_ALL & ~CELL_BOTH(POD_IP),
     look_ip6_fwd,
     MEASURED6},
    {{"IP6-LB", "IPv6 from pods to Services",
      "the DNS Service's IPv6 address is not programmed on this node", PROXY_HINT},
     0,
     CELL_BOTH(SVC_IP),
     look_ip6_lb,
     MEASURED6},
    {{"IP6-ROUTE", "IPv6 from pods to other nodes' pods",
      "packets of IPv6 for other nodes' pods have no route",
      "winjoin join phase pod-network writes the routes again"},
     0,
     CELL_BOTH(SVC_IP),
     look_ip6_route,
     MEASURED6},
    {{"WIN-PATCH", "what the update breaks", "a known fault of this Windows may be the cause",
      "install the newest cumulative update of Windows; winjoin capabilities lists known faults"},
     0,
     CELLS_ALL,
     look_win_patch,
     MEASURED},
};

const struct diag_cause_row *diag_cause_row(size_t i) {
    return i < ARRAY_SIZE(rows) ? &rows[i].words : NULL;
}

static void scene_make(const struct diag_report *report, const json_t *evidence, bool second,
                       struct scene *ret) {
    *ret = (struct scene){.report = report, .evidence = evidence, .second = second};
    for (size_t i = 0; i < report->cells.count; i++) {
        const struct diag_cell *cell = &report->cells.items[i];
        uint32_t bit;

        if (cell->flow->extra || cell->second != second)
            continue;
        bit = cell_bit(cell);
        if (cell->outcome == DIAG_PASS || cell->outcome == DIAG_SLOW)
            ret->green |= bit;
        if (cell->outcome == DIAG_FAIL || cell->outcome == DIAG_NOT_RUN)
            ret->red |= bit;
        if (cell->outcome == DIAG_FAIL) {
            ret->failed |= bit;
            ret->outcome[cell->result.outcome] |= bit;
            if (cell->result.outcome >= PROBE_DNS_NXDOMAIN &&
                cell->result.outcome <= PROBE_DNS_SERVFAIL && !cell->result.address_count)
                ret->unresolved |= bit;
        }
    }
}

static void cells_add(const struct scene *scene, uint32_t bits, struct text_list *ret) {
    size_t count;
    const struct diag_flow *flows = diag_flows(&count);

    for (size_t i = 0; i < 18; i++)
        if (bits & (1u << i)) {
            const struct diag_cell *cell =
                (scene->second ? diag_cells_find_second : diag_cells_find)(
                    &scene->report->cells, flows[i / 2].id, i % 2 != 0);

            if (cell)
                text_list_add_owned(ret, diag_cell_name(cell));
        }
}

/* A cluster of a hundred nodes may have a hundred lines of the same kind. */
static void evidence_cap(struct text_list *evidence) {
    enum { SHOWN = 5 };
    size_t more = evidence->count > SHOWN ? evidence->count - SHOWN : 0;

    if (more < 2)
        return;
    while (evidence->count > SHOWN)
        free(evidence->items[--evidence->count]);
    evidence->items[evidence->count] = NULL;
    text_list_add_owned(evidence, xasprintf("and %zu more", more));
}

static void cause_add(struct diag_report *report, const struct scene *scene, const struct row *row,
                      enum level level, struct finding *finding, uint32_t bits) {
    struct diag_causes *causes = &report->causes;
    struct diag_cause cause = {
        .id = row->words.id,
        .confirmed = level == CONFIRMED,
        .message = finding->message ? take_ptr(finding->message) : xstrdup(row->words.message),
        .hint = finding->hint ? take_ptr(finding->hint) : xstrdup(row->words.hint),
        .evidence = finding->evidence,
    };

    finding->evidence = (struct text_list){0};
    evidence_cap(&cause.evidence);
    cells_add(scene, bits, &cause.cells);
    causes->items = xrealloc(causes->items, (causes->count + 1) * sizeof *causes->items);
    causes->items[causes->count++] = cause;
}

static void finding_free(struct finding *finding) {
    text_list_free(&finding->evidence);
    free(finding->message);
    free(finding->hint);
}

static void pass_first(struct diag_report *report, const struct scene *scene, uint32_t *covered) {
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct finding finding = {.must = rows[i].must, .may = rows[i].may};
        uint32_t explained;

        if (rows[i].of == FIRST_LOOK && rows[i].look(scene, &finding) != NO) {
            explained = finding.may & scene->red & ~*covered;
            cause_add(report, scene, &rows[i], CONFIRMED, &finding, explained);
            *covered |= explained;
        }
        finding_free(&finding);
    }
}

/* One pass over the table; *covered grows by what was explained. With `alone` a cause must explain
 * everything that is red. */
static void pass_make(struct diag_report *report, const struct scene *scene, enum level wanted,
                      bool alone, uint32_t *covered) {
    for (size_t i = 0; i < ARRAY_SIZE(rows) && (scene->red & ~*covered); i++) {
        struct finding finding = {.must = rows[i].must, .may = rows[i].may};
        bool judged = rows[i].of != FIRST_LOOK && (rows[i].of == MEASURED6) == scene->second;
        enum level level = judged ? rows[i].look(scene, &finding) : NO;
        uint32_t red = rows[i].of == STOPS_PODS ? scene->red : scene->failed;
        uint32_t explained = finding.may & red & ~*covered;

        if (level == wanted && !(finding.must & scene->green) && explained &&
            (!finding.must || (finding.must & red)) && (!alone || explained == scene->red)) {
            cause_add(report, scene, &rows[i], level, &finding, explained);
            *covered |= explained;
        }
        finding_free(&finding);
    }
}

void diag_causes_find(struct diag_report *report) {
    _cleanup_json_ json_t *none = json_object();

    diag_causes_free(&report->causes);
    for (int second = 0; second < 2; second++) {
        struct scene scene;
        uint32_t covered = 0;

        scene_make(report, report->evidence ? report->evidence : none, second, &scene);
        if (!second)
            pass_first(report, &scene, &covered);
        pass_make(report, &scene, CONFIRMED, true, &covered);
        pass_make(report, &scene, CONFIRMED, false, &covered);
        pass_make(report, &scene, LIKELY, false, &covered);
    }
}
