/* Finds causes of failures of Services and names: load balancers, kube-proxy, the DNS. */
#include "diag/cluster/causes/cluster_cause_rows.h"

#define HNS_LACKS                                                                                  \
    "winjoin status on that node names all of it, and the commands; load balancers come back "     \
    "with sc.exe stop kube-proxy, then sc.exe start kube-proxy there"

#define SVC_SOURCE "kubernetes/kubernetes#135802"
#define DNS_NODE                                                                                   \
    "CL-DNS-NODE", "names from the node's pods", "pods there resolve no name of the cluster",      \
        "compare the DNS servers inside its pods with the Service kube-dns (clusterDNS of "        \
        "its kubelet), and check the route from there to the DNS pods",                            \
        NULL
#define DNS_SOME                                                                                   \
    "CL-DNS-SOME", "some names from the node's pods",                                              \
        "pods there resolve some names of the cluster, but not all",                               \
        "ask for the name from a pod there and from one of another node, kubectl exec POD -- "     \
        "nslookup NAME: where both fail, kubectl -n kube-system logs -l k8s-app=kube-dns; "        \
        "otherwise look at the DNS settings inside that node's pods",                              \
        NULL

static const struct cluster_row rows[] = {
    {.kind = PUBLISHED_BY_NODE,
     .titles[OUT] =
         {"CL-HNS-DNS", "names from the node's pods",
          "HNS there has no load balancer for the cluster's DNS, as the node itself reports",
          HNS_LACKS, "microsoft/Windows-Containers#278"},
     .lacks = "kube-system/kube-dns",
     .unfit = NOT_NAMED,
     .breaks = {BY_NAME, .fits = IS_GREEN | IS_DNS_SILENT},
     .spares = {SERVICES, .but = IS_LOSSY}},
    {.kind = PUBLISHED_BY_NODE,
     .titles[OUT] = {"CL-HNS", "Services from the node's pods, or its pods",
                     "HNS there lacks what Kubernetes has, as the node itself reports", HNS_LACKS,
                     SVC_SOURCE},
     .unfit = NAMED_LAST,
     .breaks = {SERVICES},
     .spares = {PODS},
     .follows = {BY_SERVICE},
     .follows_to_node = true},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-SVC", "Services, names", "no pod reaches a Service by its cluster IP",
                     "kubectl -n kube-system get pods -l k8s-app=kube-proxy; compare the Service "
                     "range with the API server's",
                     SVC_SOURCE},
     .titles[NODE] = {"CL-SVC-NODE", "Services from the node's pods",
                      "pods there reach other pods, but no Service by its cluster IP",
                      "look at kube-proxy on that node: winjoin logs kube-proxy on a Windows node",
                      NULL},
     .breaks = {SERVICES},
     .spares = {PODS},
     .follows = {BY_SERVICE},
     .follows_to_node = true,
     .pattern = {.pods_work = true}},
    {.kind = PATTERN,
     .titles[NODE] =
         {"CL-SVC-UDP", "Services by UDP, from the node's pods",
          "pods there reach Services by TCP, but not by UDP",
          "look at kube-proxy there, and for a policy or firewall that lets TCP pass only", NULL},
     .breaks = {SERVICES, ONLY_UDP},
     .spares = {SERVICES, ONLY_TCP, .but = IS_LOSSY},
     .follows = {BY_SERVICE, .fits = IS_OF_UDP},
     .follows_to_node = true,
     .pattern = {.pods_work = true}},
    {.kind = PATTERN,
     .titles[NODE] =
         {"CL-SVC-TCP", "Services by TCP, from the node's pods",
          "pods there reach Services by UDP, but not by TCP",
          "look at kube-proxy there, and for a policy or firewall that lets UDP pass only", NULL},
     .breaks = {SERVICES, ONLY_TCP},
     .spares = {SERVICES, ONLY_UDP, .but = IS_LOSSY},
     .follows = {BY_SERVICE, ONLY_TCP},
     .follows_to_node = true,
     .pattern = {.pods_work = true}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-DNS", "names", "the cluster's DNS answers no pod",
                     "kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide; then look at "
                     "the nodes where they run",
                     "kubernetes/kubernetes#111323"},
     .titles[OUT] = {DNS_NODE},
     .breaks = {BY_NAME, .fits = IS_GREEN | IS_DNS_SILENT},
     .spares = {SERVICES, .but = IS_LOSSY},
     .pattern = {.least = 2, .shows_dns = true}},
    {.kind = PATTERN,
     .titles[ALL] = {"CL-DNS-UNKNOWN", "names",
                     "the cluster's DNS does not know names of the cluster",
                     "kubectl -n kube-system logs -l k8s-app=kube-dns; compare the domain in its "
                     "Corefile with clusterDomain of the kubelets",
                     NULL},
     .titles[OUT] = {DNS_NODE},
     .breaks = {BY_NAME, .fits = IS_GREEN | IS_NO_NAME},
     .spares = {SERVICES, .but = IS_LOSSY},
     .pattern = {.least = 2, .shows_dns = true}},
    {.kind = PATTERN,
     .titles[OUT] = {DNS_NODE},
     .breaks = {BY_NAME, .fits = IS_GREEN | IS_UNRESOLVED},
     .spares = {SERVICES, .but = IS_LOSSY},
     .pattern = {.least = 2, .shows_dns = true}},
    {.kind = LOSS,
     .titles[ALL] = {"CL-DNS-HALF", "names, now and then",
                     "the cluster's DNS answers some questions only",
                     "kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide, then ask each "
                     "of them, from a pod: nslookup kubernetes.default.svc.cluster.local ADDRESS",
                     "kubernetes/kubernetes#131387"},
     .titles[OUT] = {"CL-DNS-HALF", "names from the node's pods, now and then",
                     "pods there get answers to some questions for names only",
                     "one of several DNS pods does not answer them: restart kube-proxy there, "
                     "which may still send to one that is gone",
                     "kubernetes-sigs/sig-windows-tools#380"},
     .loss = LOSES_SOME,
     .breaks = {BY_NAME, .fits = IS_GREEN | IS_LOSSY_UNRESOLVED},
     .spares = {SERVICES, ONLY_UDP, .but = IS_LOSSY},
     .follows = {BY_NAME, .fits = IS_UNRESOLVED},
     .pattern = {.outward = true, .shows_dns = true}},
    {.kind = PATTERN,
     .titles[NODE] = {"CL-DNS-SHORT", "short names from the node's pods",
                      "pods there resolve full names, but no short ones",
                      "compare the DNS suffixes inside its pods with NAMESPACE.svc and the "
                      "cluster's domain: clusterDomain of its kubelet, \"dns\" of its CNI file",
                      "kubernetes/kubernetes#65016"},
     .breaks = {SHORT_NAMES, .fits = IS_GREEN | IS_UNRESOLVED},
     .spares = {FULL_NAMES},
     .pattern = {.shows_dns = true}},
    {.kind = PATTERN,
     .titles[NODE] =
         {"CL-LOCAL", "Services whose traffic policy is Local, on the node",
          "kube-proxy there knows no pod of its own node",
          "compare the name that kube-proxy has for its node (--hostname-override, the computer's "
          "name) with that of kubectl get nodes, capitals and small letters, too",
          "kubernetes/kubernetes#106640"},
     .breaks = {OWN_SERVICE},
     .local_port = true},
    {.kind = PATTERN,
     .titles[NODE] = {"CL-HAIRPIN", "a pod's own Service",
                      "a pod there does not reach itself by its Service",
                      "set loopbackDSR (\"loopbackDSR\": true) in the CNI file of a Windows node; "
                      "hairpin mode of a Linux node's bridge",
                      "projectcalico/calico#5522"},
     .breaks = {OWN_SERVICE},
     .follows = {BY_SERVICE, .fits = IS_LOSSY},
     .pattern = {.split = BY_PROTOCOL}},
    {.kind = LOSS,
     .titles[ALL] =
         {"CL-SVC-SOME", "some connections to Services", "Services answer some connections only",
          "compare the addresses of kubectl get endpointslices -A with those of the pods, kubectl "
          "get pods -A -o wide: one that no pod has, or whose pod does not answer",
          "kubernetes/kubernetes#131387"},
     .titles[NODE] = {"CL-SVC-SOME", "some connections to Services from the node's pods",
                      "Services answer pods there some connections only",
                      "restart kube-proxy there: it may still send to a pod that is gone; on "
                      "Windows winjoin diag there names the load balancer",
                      "microsoft/Windows-Containers#631"},
     .loss = LOSES_SOME,
     .breaks = {SERVICES, .fits = IS_GREEN | IS_LOSSY},
     .follows = {BY_SERVICE, .fits = IS_LOSSY | IS_OF_SERVICE},
     .follows_to_node = true,
     .pattern = {.split = BY_PROTOCOL, .pods_work = true}},
    /* These rows come after those of Services, because the DNS is a Service, too. */
    {.kind = PATTERN,
     .titles[OUT] = {DNS_SOME},
     .breaks = {FULL_NAMES, .fits = IS_GREEN | IS_UNRESOLVED},
     .spares = {SERVICES, .but = IS_LOSSY},
     .pattern = {.several_flows = true, .shows_dns = true}},
    {.kind = PATTERN,
     .titles[OUT] = {DNS_SOME},
     .breaks = {POD_NAMES, .fits = IS_GREEN | IS_UNRESOLVED},
     .pattern = {.shows_dns = true}},
    {.kind = PATTERN,
     .titles[OUT] = {DNS_SOME},
     .breaks = {SERVICE_NAMES, .fits = IS_GREEN | IS_UNRESOLVED},
     .spares = {SERVICES, .but = IS_LOSSY},
     .pattern = {.shows_dns = true}},
    {.kind = PATTERN,
     .titles[OUT] = {DNS_SOME},
     .breaks = {API_NAME, .fits = IS_GREEN | IS_UNRESOLVED},
     .spares = {SERVICES, .but = IS_LOSSY},
     .pattern = {.shows_dns = true}},
    {.kind = READ_ON_NODE,
     .titles[NODE] =
         {"CL-AFFINITY", "clients of Services with sessionAffinity ClientIP, on the node",
          "kube-proxy there does not keep a client at one pod",
          "restart kube-proxy on that node, and compare its version and mode with another node's",
          "kubernetes.io: Networking on Windows"},
     .says = SAYS_NO_AFFINITY},
};

const struct cluster_rows cluster_rows_of_services = {rows, ARRAY_SIZE(rows)};
