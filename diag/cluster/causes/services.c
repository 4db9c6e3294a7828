/* Causes of Services and names that fail: load balancers, kube-proxy, the DNS. */
#include "diag/cluster/causes/cause_row.h"
#include "diag/network_report.h"

static bool is_full_name(const struct diag_cell *c) {
    return c->flow->id == FLOW_SVC_FQDN || c->flow->id == FLOW_POD_NAME;
}

static bool no_answer(const struct diag_cell *c) {
    return !diag_cell_is_open(c) || c->result.outcome == PROBE_DNS_TIMEOUT ||
           c->result.outcome == PROBE_DNS_SERVFAIL;
}

/* Red for another reason than the DNS: no cell of these rows. */
static bool is_short_unknown(const struct diag_cell *c) {
    return c->flow->id == FLOW_SVC_SHORT &&
           (no_answer(c) || c->result.outcome == PROBE_DNS_NXDOMAIN);
}

static bool is_unanswered(const struct diag_cell *c) {
    return cluster_cell_is_by_name(c) && no_answer(c);
}

/* Neither an answer nor a reason other than the DNS. */
static bool is_unresolved(const struct diag_cell *c) {
    return cluster_cell_is_by_name(c) && (!diag_cell_is_open(c) || cluster_cell_has_dns_failed(c));
}

/* Some questions are answered, others not. */
static bool is_name_sometimes(const struct diag_cell *c) {
    return is_unresolved(c) && cluster_cell_passes_some(c);
}

static bool is_unresolved_red(const struct diag_cell *c) {
    return diag_cell_is_open(c) && is_unresolved(c);
}

static bool is_service_udp(const struct diag_cell *c) {
    return cluster_cell_is_to_service(c) && c->udp;
}

static bool is_service_tcp(const struct diag_cell *c) {
    return cluster_cell_is_to_service(c) && !c->udp;
}

/* Not even some attempts fail: otherwise Services are at fault. */
static bool is_service_well(const struct diag_cell *c) {
    return cluster_cell_is_to_service(c) && !cluster_cell_is_lossy(c);
}

static bool is_udp_well(const struct diag_cell *c) {
    return is_service_well(c) && c->udp;
}

static bool is_tcp_well(const struct diag_cell *c) {
    return is_service_well(c) && !c->udp;
}

/* The DNS is asked by UDP. */
static bool is_by_service_udp(const struct diag_cell *c) {
    return cluster_cell_is_by_service(c) && (c->udp || cluster_cell_has_dns_failed(c));
}

static bool is_by_service_tcp(const struct diag_cell *c) {
    return cluster_cell_is_by_service(c) && !c->udp;
}

static bool is_full_unresolved(const struct diag_cell *c) {
    return is_unresolved(c) && is_full_name(c);
}

static bool is_alias(const struct diag_cell *c) {
    return is_unresolved(c) && text_ends_with(c->to, ":443");
}

static bool is_pod_name(const struct diag_cell *c) {
    return is_unresolved(c) && c->flow->id == FLOW_POD_NAME;
}

static bool is_service_name(const struct diag_cell *c) {
    return is_unresolved(c) && c->flow->id == FLOW_SVC_FQDN && !is_alias(c);
}

static bool is_hairpin(const struct diag_cell *c) {
    return c->flow->id == FLOW_SELF;
}

/* Some attempts succeed, others do not. */
static bool is_service_sometimes(const struct diag_cell *c) {
    return cluster_cell_is_to_service(c) && cluster_cell_passes_some(c);
}

static bool is_sometimes(const struct diag_cell *c) {
    return cluster_cell_is_by_service(c) && cluster_cell_is_lossy(c);
}

/* Of few attempts all may fail; the DNS is behind a Service, too. */
static bool is_sometimes_or_never(const struct diag_cell *c) {
    return is_sometimes(c) || cluster_cell_is_to_service(c) ||
           (cluster_cell_is_by_name(c) && is_unresolved_red(c));
}

/* Before Windows Server 2022 HNS has none. */
static const char *says_no_affinity(const struct cluster_node *n) {
    bool old = text_equal(n->os, "windows") && (!n->build || strcmp(n->build, "10.0.20348") < 0);

    return n->sticky && !n->fixed && !old
               ? "different pods answered one pod by a Service with sessionAffinity ClientIP"
               : NULL;
}

static bool is_unknown(const struct diag_cell *c) {
    return cluster_cell_is_by_name(c) &&
           (!diag_cell_is_open(c) || c->result.outcome == PROBE_DNS_NXDOMAIN);
}

static bool reports_lacks(const struct cluster_node *n) {
    return network_report_lacks(n->own_report);
}

static bool reports_no_dns(const struct cluster_node *n) {
    return network_report_lacks_service(n->own_report, "kube-system/kube-dns");
}

#define HNS_LACKS                                                                                  \
    "winjoin status on that node names all of it, and the commands; load balancers come back "     \
    "with sc.exe stop kube-proxy, then sc.exe start kube-proxy there"

#define SVC_SOURCE "kubernetes/kubernetes#135802"
#define DNS_NODE                                                                                   \
    {                                                                                              \
        "CL-DNS-NODE", "names from the node's pods", "pods there resolve no name of the cluster",  \
            "compare the DNS servers inside its pods with the Service kube-dns (clusterDNS of "    \
            "its "                                                                                 \
            "kubelet), and check the route from there to the DNS pods",                            \
            NULL                                                                                   \
    }
#define DNS_SOME                                                                                   \
    {                                                                                              \
        "CL-DNS-SOME", "some names from the node's pods",                                          \
            "pods there resolve some names of the cluster, but not all",                           \
            "ask for the name from a pod there and from one of another node, kubectl exec POD -- " \
            "nslookup NAME: where both fail, kubectl -n kube-system logs -l k8s-app=kube-dns; "    \
            "otherwise "                                                                           \
            "look at the DNS settings inside that node's pods",                                    \
            NULL                                                                                   \
    }

static const struct cluster_row rows[] = {
    {{[OUT] = {"CL-HNS-DNS", "names from the node's pods",
               "HNS there has no load balancer for the cluster's DNS, as the node itself reports",
               HNS_LACKS, "microsoft/Windows-Containers#278"}},
     .reports = reports_no_dns,
     .only_red = true,
     .among = is_unanswered,
     .spared = is_service_well},
    {{[OUT] = {"CL-HNS", "Services from the node's pods, or its pods",
               "HNS there lacks what Kubernetes has, as the node itself reports", HNS_LACKS,
               SVC_SOURCE}},
     .reports = reports_lacks,
     .among = cluster_cell_is_to_service,
     .spared = cluster_cell_is_between_pods,
     .also = cluster_cell_is_by_service,
     .touching = true},
    {{[ALL] = {"CL-SVC", "Services, names", "no pod reaches a Service by its cluster IP",
               "kubectl -n kube-system get pods -l k8s-app=kube-proxy; compare the Service range "
               "with the API server's",
               SVC_SOURCE},
      [NODE] = {"CL-SVC-NODE", "Services from the node's pods",
                "pods there reach other pods, but no Service by its cluster IP",
                "look at kube-proxy on that node: winjoin logs kube-proxy on a Windows node",
                NULL}},
     .among = cluster_cell_is_to_service,
     .spared = cluster_cell_is_between_pods,
     .also = cluster_cell_is_by_service,
     .whole = true,
     .touching = true},
    {{[NODE] = {"CL-SVC-UDP", "Services by UDP, from the node's pods",
                "pods there reach Services by TCP, but not by UDP",
                "look at kube-proxy there, and for a policy or firewall that lets TCP pass only",
                NULL}},
     .among = is_service_udp,
     .spared = is_tcp_well,
     .also = is_by_service_udp,
     .whole = true,
     .touching = true},
    {{[NODE] = {"CL-SVC-TCP", "Services by TCP, from the node's pods",
                "pods there reach Services by UDP, but not by TCP",
                "look at kube-proxy there, and for a policy or firewall that lets UDP pass only",
                NULL}},
     .among = is_service_tcp,
     .spared = is_udp_well,
     .also = is_by_service_tcp,
     .whole = true,
     .touching = true},
    {{[ALL] = {"CL-DNS", "names", "the cluster's DNS answers no pod",
               "kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide; then look at the "
               "nodes where they run",
               "kubernetes/kubernetes#111323"},
      [OUT] = DNS_NODE},
     .among = is_unanswered,
     .spared = is_service_well,
     .least = 2,
     .dns = true},
    {{[ALL] = {"CL-DNS-UNKNOWN", "names", "the cluster's DNS does not know names of the cluster",
               "kubectl -n kube-system logs -l k8s-app=kube-dns; compare the domain in its "
               "Corefile with clusterDomain of the kubelets",
               NULL},
      [OUT] = DNS_NODE},
     .among = is_unknown,
     .spared = is_service_well,
     .least = 2,
     .dns = true},
    {{[OUT] = DNS_NODE},
     .among = is_unresolved,
     .spared = is_service_well,
     .least = 2,
     .dns = true},
    {{[ALL] = {"CL-DNS-HALF", "names, now and then",
               "the cluster's DNS answers some questions only",
               "kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide, then ask each of "
               "them, from a pod: nslookup kubernetes.default.svc.cluster.local ADDRESS",
               "kubernetes/kubernetes#131387"},
      [OUT] = {"CL-DNS-HALF", "names from the node's pods, now and then",
               "pods there get answers to some questions for names only",
               "one of several DNS pods does not answer them: restart kube-proxy there, which may "
               "still send to one that is gone",
               "kubernetes-sigs/sig-windows-tools#380"}},
     .among = is_name_sometimes,
     .spared = is_udp_well, /* the DNS is a Service, too */
     .outward = true,
     .also = is_unresolved_red,
     .chance = true,
     .partly = true,
     .dns = true},
    {{[NODE] = {"CL-DNS-SHORT", "short names from the node's pods",
                "pods there resolve full names, but no short ones",
                "compare the DNS suffixes inside its pods with NAMESPACE.svc and the cluster's "
                "domain: clusterDomain of its kubelet, \"dns\" of its CNI file",
                "kubernetes/kubernetes#65016"}},
     .among = is_short_unknown,
     .spared = is_full_name,
     .dns = true},
    {{[NODE] = {"CL-LOCAL", "Services whose traffic policy is Local, on the node",
                "kube-proxy there knows no pod of its own node",
                "compare the name that kube-proxy has for its node (--hostname-override, the "
                "computer's name) with that of kubectl get nodes, capitals and small letters, too",
                "kubernetes/kubernetes#106640"}},
     .among = is_hairpin,
     .local = true},
    {{[NODE] = {"CL-HAIRPIN", "a pod's own Service",
                "a pod there does not reach itself by its Service",
                "set loopbackDSR (\"loopbackDSR\": true) in the CNI file of a Windows node; "
                "hairpin mode "
                "of a Linux node's bridge",
                "projectcalico/calico#5522"}},
     .among = is_hairpin,
     .also = is_sometimes,
     .protocols = true},
    {{[ALL] = {"CL-SVC-SOME", "some connections to Services",
               "Services answer some connections only",
               "compare the addresses of kubectl get endpointslices -A with those of the pods, "
               "kubectl get pods -A -o wide: one that no pod has, or whose pod does not answer",
               "kubernetes/kubernetes#131387"},
      [NODE] = {"CL-SVC-SOME", "some connections to Services from the node's pods",
                "Services answer pods there some connections only",
                "restart kube-proxy there: it may still send to a pod that is gone; on Windows "
                "winjoin diag there names the load balancer",
                "microsoft/Windows-Containers#631"}},
     .among = is_service_sometimes,
     .also = is_sometimes_or_never,
     .touching = true,
     .whole = true,
     .protocols = true,
     .chance = true,
     .partly = true},
    /* Behind Services: the DNS is one, too. */
    {{[OUT] = DNS_SOME},
     .among = is_full_unresolved,
     .mixed = true,
     .spared = is_service_well,
     .dns = true},
    {{[OUT] = DNS_SOME}, .among = is_pod_name, .dns = true},
    {{[OUT] = DNS_SOME}, .among = is_service_name, .spared = is_service_well, .dns = true},
    {{[OUT] = DNS_SOME}, .among = is_alias, .spared = is_service_well, .dns = true},
    {{[NODE] = {"CL-AFFINITY", "clients of Services with sessionAffinity ClientIP, on the node",
                "kube-proxy there does not keep a client at one pod",
                "restart kube-proxy on that node, and compare its version and mode with another "
                "node's",
                "kubernetes.io: Networking on Windows"}},
     .says = says_no_affinity,
     .aside = true},
};

const struct cluster_rows cluster_rows_of_services = {rows, ARRAY_SIZE(rows)};
