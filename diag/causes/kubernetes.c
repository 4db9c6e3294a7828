/* Finds causes where HNS does not have what Kubernetes says (diag/drift/drift.h). */
#include "base/cidr.h"
#include "diag/causes/cause_rows.h"
#include "diag/evidence.h"
#include "netsetup/netsetup.h"
#include "netsetup/routes/routes.h"

/* Returns the part from the colon on, because for ports HNS makes no difference between
 * "10.96.0.10:53/UDP" and ":53/UDP". */
static const char *port_of(const char *frontend) {
    const char *colon = strrchr(frontend, ':');

    return colon ? colon : frontend;
}

/* Services that lack a load balancer. With "orphan", only those whose port a load balancer of no
 * Service holds. Other rows cover a node without any load balancer, and one where kube-proxy does
 * not run. */
enum level judge_svc_lost(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *dns = expected(symptoms, "dnsIP"), *kubernetes = expected(symptoms, "kubernetesIP");
    const json_t *balancers = json_object_get(symptoms->evidence, "loadBalancers");
    bool orphans = finding->what;

    if (!orphans && balancers && !json_array_size(balancers))
        return NO;
    json_each(json_object_get(symptoms->drift, "servicesWithoutLoadBalancer"), i, row) {
        const char *frontend = json_text_or(row, "frontend", ""), *port = port_of(frontend);
        size_t len = strcspn(frontend, ":");
        const json_t *orphan = NULL;
        uint32_t cells = 0;

        json_each(json_object_get(symptoms->drift, "loadBalancersWithoutService"), k, other)
            if (!orphan && text_equal(port_of(json_text_or(other, "frontend", "")), port))
                orphan = other;
        /* The cells whose packets the missing load balancer would carry. */
        if (dns && strlen(dns) == len && strncmp(frontend, dns, len) == 0)
            cells = text_equal(port, ":53/UDP") ? CELLS_DNS : CELL_TCP(SVC_SHORT);
        else if (kubernetes && strlen(kubernetes) == len && strncmp(frontend, kubernetes, len) == 0)
            cells = CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN);

        if (cells & symptoms->green & (CELL_BOTH(SVC_IP) | CELL_TCP(SVC_SHORT)))
            continue; /* These cells pass, so the load balancer has been made by now. */
        if (orphans != (orphan != NULL))
            continue;
        if (orphan)
            finding_note(finding,
                         "Service %s (%s) has no load balancer; %s, which is no Service's, holds "
                         "%s",
                         json_text_or(row, "service", ""), frontend, json_text_or(orphan, "id", ""),
                         json_text_or(orphan, "frontend", ""));
        else
            finding_note(finding, "Service %s (%s) has no load balancer",
                         json_text_or(row, "service", ""), frontend);
        finding->may |= cells;
    }
    return finding->evidence.count ? CONFIRMED : NO;
}

enum level judge_pod_noep(const struct symptoms *symptoms, struct cause_finding *finding) {
    json_each(json_object_get(symptoms->drift, "podsWithoutEndpoint"), i, row)
        finding_note(finding, "pod %s (%s) has no endpoint in HNS", json_text_or(row, "pod", ""),
                     json_text_or(row, "address", ""));
    return finding->evidence.count ? CONFIRMED : NO;
}

enum level judge_proxy_two(const struct symptoms *symptoms, struct cause_finding *finding) {
    json_each(json_object_get(symptoms->drift, "kubeProxyPods"), i, row)
        finding_note(finding, "pod %s runs kube-proxy, and so does the service of this node",
                     json_text_or(row, "pod", ""));
    return finding->evidence.count ? CONFIRMED : NO;
}

/* ---- endpoints, namespaces, routes and load balancers that are left over ---- */

static bool note_waiting(const struct symptoms *symptoms, const char *word,
                         struct cause_finding *finding) {
    bool any = false;

    for (const struct probed_pod *pod = symptoms->pods; pod < symptoms->pods + PODS; pod++) {
        const char *waiting = json_text_at(pod->said, "waiting");

        if (!waiting || !strstr(waiting, word))
            continue;
        finding_note(finding, "%s is waiting: %s", json_text_or(pod->said, "name", ""), waiting);
        any = true;
    }
    return any;
}

/* Notes endpoints that hold addresses which new pods should get, because HNS makes no second
 * endpoint with the same address. Counts local (or with `remote`, remote) endpoints of no pod that
 * have an address of the pods, not the node's own. A single one stops no pod, since the next free
 * address is used, so it takes two. */
static bool note_holders(const struct symptoms *symptoms, bool remote,
                         struct cause_finding *finding) {
    const char *subnet = symptoms->subnet;
    const json_t *balancers = json_object_get(symptoms->evidence, "loadBalancers");
    size_t count = 0;

    if (!note_waiting(symptoms, "object already exists", finding))
        return false;
    json_each(json_object_get(symptoms->evidence, "endpoints"), i, endpoint) {
        const char *ip = json_text_at(endpoint, "IpConfigurations.0.IpAddress");

        if (!ip || (json_number_at(endpoint, "Flags", 0) & 1) != remote ||
            endpoint_is_attached(endpoint) ||
            !(prefix_holds(expected(symptoms, "podCIDR"), ip) || prefix_holds(subnet, ip)) ||
            adapter_with(symptoms, ip, NULL) || item_with(balancers, "SourceVIP", ip))
            continue;
        finding_note(finding, "endpoint %s has the address %s, and is of no pod of this node",
                     json_text_or(endpoint, "ID", ""), ip);
        count++;
    }
    if (count < 2)
        return false;
    finding->message =
        xstrdup("endpoints that were left behind have the addresses that new pods get");
    return true;
}

/* No new sandbox gets an address. Pods that are gone may still hold addresses, in HNS or only as
 * files of host-local. */
enum level judge_hns_left(const struct symptoms *symptoms, struct cause_finding *finding) {
    size_t left = json_array_size(json_object_get(symptoms->drift, "endpointsWithoutPod")) +
                  json_array_size(json_object_get(symptoms->drift, "namespacesWithoutPod"));
    bool used_up = note_waiting(symptoms, "no IP addresses available", finding) ||
                   note_waiting(symptoms, "No available addresses", finding);

    finding->may &= symptoms->red & ~symptoms->failed;
    if (!used_up && note_holders(symptoms, false, finding)) {
        finding->hint = xstrdup("remove each: powershell -Command \"Get-HnsEndpoint -Id ID | "
                                "Remove-HnsEndpoint\"; if no pod starts a minute later, restart "
                                "containerd and the kubelet");
        return CONFIRMED;
    }
    if (!used_up)
        return NO;
    if (!left) {
        if (json_object_get(symptoms->evidence, "kubernetes"))
            finding_note(finding, "no endpoint of HNS is of a pod that is gone");
        finding->message = xstrdup("the node's addresses for pods are used up");
        finding->hint = xstrdup(
            "each file in a folder of " CNI_STATE_DIR
            " is a reserved address, with its container inside: delete those of containers that "
            "crictl pods does not list; or let fewer pods run here");
    }
    json_each(json_object_get(symptoms->drift, "endpointsWithoutPod"), i, row)
        finding_note(finding, "endpoint %s (%s) is of no pod", json_text_or(row, "id", ""),
                     json_text_or(row, "address", ""));
    json_each(json_object_get(symptoms->drift, "namespacesWithoutPod"), i, row)
        finding_note(finding, "namespace %s is of no pod", json_text_or(row, "id", ""));
    return CONFIRMED;
}

/* Endpoints of kube-proxy for pods of other nodes hold the addresses that new pods get. */
enum level judge_hns_epstale_new(const struct symptoms *symptoms, struct cause_finding *finding) {
    finding->may &= symptoms->red & ~symptoms->failed;
    return note_holders(symptoms, true, finding) ? CONFIRMED : NO;
}

/* A narrower route wins over the route to a node's whole pod prefix. If its next hop is a node,
 * the route may be right: agents that give nodes several prefixes (Calico's blocks) write such
 * routes. */
enum level judge_route_stale(const struct symptoms *symptoms, struct cause_finding *finding) {
    const char *dns = symptoms->dns_pod;

    json_each(json_object_get(symptoms->drift, "routesWithoutNode"), i, row) {
        const char *prefix = json_text_or(row, "prefix", ""), *by = json_text_or(row, "by", "");
        bool catches_dns = dns && prefix_holds(prefix, dns);
        /* The node whose pod prefix contains the prefix of this route. */
        const json_t *around = NULL;
        struct cidr inner, outer;
        struct network_peer peer;

        json_each(json_object_get(symptoms->evidence, "nodes"), k, node) {
            network_peer_read(node, &peer);
            if (!around && peer.pod_cidr && cidr_parse(peer.pod_cidr, &outer, NULL) == 0 &&
                cidr_parse(prefix, &inner, NULL) == 0 && cidr_contains_cidr(&outer, &inner))
                around = node;
        }
        if (!around || node_of_address(symptoms, by) ||
            (catches_dns && symptoms->reaches_other_nodes))
            continue;
        finding_note(finding, "%s' route to %s via %s is within %s of node %s",
                     json_text_or(row, "in", ""), prefix, by, json_text_at(around, "spec.podCIDR"),
                     json_text_at(around, "metadata.name"));
        finding->may |= catches_dns ? CELLS_DNS : 0;
    }
    return finding->evidence.count ? CONFIRMED : NO;
}

static bool is_of(const json_t *row, const json_t *balancer) {
    const char *id = json_text_at(balancer, "ID");

    return id && text_equal_nocase(json_text_or(row, "id", ""), id);
}

static bool is_named(const json_t *rows, const json_t *balancer) {
    json_each(rows, i, row) {
        if (is_of(row, balancer))
            return true;
    }
    return false;
}

enum level judge_svc_port(const struct symptoms *symptoms, struct cause_finding *finding) {
    uint32_t cells = 0;

    for (size_t k = 0; k < ASKED_SERVICES; k++) {
        const char *vip = expected(symptoms, asked_services[k].key);
        const json_t *balancer = diag_evidence_balancer(
            symptoms->evidence, vip, asked_services[k].protocol, asked_services[k].port);

        if (!is_named(json_object_get(symptoms->drift, "loadBalancersToOtherPort"), balancer))
            continue;
        finding_note(finding,
                     "the load balancer of %s port %d sends to port %lld, which the Service's pods "
                     "do not have",
                     vip, asked_services[k].port,
                     json_number_at(balancer, "PortMappings.0.InternalPort", 0));
        cells |= asked_services[k].cells;
    }
    finding->may &= cells;
    return finding->may ? CONFIRMED : NO;
}

/* The load balancer of a Service that the flows ask has backends that are gone, or that belong to
 * another Service. */
enum level judge_svc_stale(const struct symptoms *symptoms, struct cause_finding *finding) {
    uint32_t cells = 0;

    for (size_t k = 0; k < ASKED_SERVICES; k++) {
        const char *vip = expected(symptoms, asked_services[k].key);
        const json_t *balancer = diag_evidence_balancer(
            symptoms->evidence, vip, asked_services[k].protocol, asked_services[k].port);

        if (is_named(json_object_get(symptoms->drift, "loadBalancersWithoutEndpoint"), balancer)) {
            finding_note(finding, "the load balancer of %s port %d has none of its endpoints", vip,
                         asked_services[k].port);
            cells |= asked_services[k].cells;
        }
        json_each(json_object_get(symptoms->drift, "loadBalancersToOtherPods"), i, row) {
            if (!is_of(row, balancer))
                continue;
            finding_note(finding,
                         "the load balancer of %s port %d sends to %s, which no EndpointSlice of "
                         "its Service has",
                         vip, asked_services[k].port, json_text_or(row, "address", ""));
            cells |= asked_services[k].cells;
        }
    }
    finding->may &= cells;
    return finding->may ? CONFIRMED : NO;
}
