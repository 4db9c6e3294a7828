/* Causes that show where HNS does not have what Kubernetes says (diag/drift/drift.h). */
#include "base/cidr.h"
#include "diag/causes/rows.h"
#include "diag/evidence.h"
#include "netsetup/netsetup.h"
#include "netsetup/routes/routes.h"

static const json_t *drift_of(const struct scene *scene, const char *key) {
    return json_object_get(json_object_get(scene->evidence, "kubernetes"), key);
}

static const char *text_of(const json_t *row, const char *key) {
    return json_text_or(row, key, "");
}

/* "10.96.0.10:53/UDP" and ":53/UDP" are the same place where HNS is concerned with its ports. */
static const char *port_of(const char *frontend) {
    const char *colon = strrchr(frontend, ':');

    return colon ? colon : frontend;
}

static const json_t *orphan_at(const struct scene *scene, const char *port) {
    json_each(drift_of(scene, "loadBalancersWithoutService"), i, orphan) {
        if (text_equal(port_of(text_of(orphan, "frontend")), port))
            return orphan;
    }
    return NULL;
}

/* Which cells a load balancer carries that is missing. */
static uint32_t cells_of_frontend(const struct scene *scene, const char *frontend) {
    const char *dns = expected(scene, "dnsIP"), *kubernetes = expected(scene, "kubernetesIP");
    size_t len = strcspn(frontend, ":");

    if (dns && strlen(dns) == len && strncmp(frontend, dns, len) == 0)
        return text_equal(port_of(frontend), ":53/UDP") ? CELLS_DNS : CELL_TCP(SVC_SHORT);
    if (kubernetes && strlen(kubernetes) == len && strncmp(frontend, kubernetes, len) == 0)
        return CELL_TCP(SVC_IP) | CELL_TCP(SVC_FQDN);
    return 0;
}

/* Notes each Service that lacks a load balancer, with `orphans` only those whose port another one
 * holds. */
static void note_missing(const struct scene *scene, bool orphans, struct finding *finding) {
    json_each(drift_of(scene, "servicesWithoutLoadBalancer"), i, row) {
        const char *frontend = text_of(row, "frontend");
        const json_t *orphan = orphan_at(scene, port_of(frontend));
        uint32_t cells = cells_of_frontend(scene, frontend);

        if (cells & scene->green & (CELL_BOTH(SVC_IP) | CELL_TCP(SVC_SHORT)))
            continue; /* it has one by now */
        if (orphans && orphan)
            finding_note(finding,
                         "Service %s (%s) has no load balancer; %s, which is no Service's, holds "
                         "%s",
                         text_of(row, "service"), frontend, text_of(orphan, "id"),
                         text_of(orphan, "frontend"));
        else if (!orphans && !orphan)
            finding_note(finding, "Service %s (%s) has no load balancer", text_of(row, "service"),
                         frontend);
        else
            continue;
        finding->may |= cells;
    }
}

enum level look_hns_orphan(const struct scene *scene, struct finding *finding) {
    note_missing(scene, true, finding);
    return finding->evidence.count ? CONFIRMED : NO;
}

/* Where all are gone or kube-proxy does not run, other rows say so. */
enum level look_svc_lost(const struct scene *scene, struct finding *finding) {
    const json_t *balancers = json_object_get(scene->evidence, "loadBalancers");

    if (balancers && !json_array_size(balancers))
        return NO;
    note_missing(scene, false, finding);
    return finding->evidence.count ? CONFIRMED : NO;
}

enum level look_pod_noep(const struct scene *scene, struct finding *finding) {
    json_each(drift_of(scene, "podsWithoutEndpoint"), i, row)
        finding_note(finding, "pod %s (%s) has no endpoint in HNS", text_of(row, "pod"),
                     text_of(row, "address"));
    return finding->evidence.count ? CONFIRMED : NO;
}

enum level look_proxy_two(const struct scene *scene, struct finding *finding) {
    json_each(drift_of(scene, "kubeProxyPods"), i, row)
        finding_note(finding, "pod %s runs kube-proxy, and so does the service of this node",
                     text_of(row, "pod"));
    return finding->evidence.count ? CONFIRMED : NO;
}

/* ---- what is left over ---- */

static bool note_waiting(const struct scene *scene, const char *word, struct finding *finding) {
    static const char *const pods[] = {"pods.a", "pods.b"};
    bool any = false;

    for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
        const json_t *pod = json_at(scene->evidence, pods[i]);
        const char *waiting = json_text_at(pod, "waiting");

        if (!waiting || !strstr(waiting, word))
            continue;
        finding_note(finding, "%s is waiting: %s", text_of(pod, "name"), waiting);
        any = true;
    }
    return any;
}

static bool is_source_vip(const struct scene *scene, const char *ip) {
    json_each(json_object_get(scene->evidence, "loadBalancers"), i, balancer)
        if (text_equal(json_text_at(balancer, "SourceVIP"), ip))
            return true;
    return false;
}

static bool is_for_pods(const struct scene *scene, const char *ip) {
    return prefix_holds(expected(scene, "podCIDR"), ip) ||
           prefix_holds(json_text_at(network_of(scene), "Ipams.0.Subnets.0.IpAddressPrefix"), ip);
}

/* HNS makes no second endpoint with an address, whoever has the first: those of pods' addresses
 * that are neither a pod's nor the node's own. One alone is passed by: the next address is given.
 */
static bool note_holders(const struct scene *scene, bool remote, struct finding *finding) {
    size_t count = 0;

    if (!note_waiting(scene, "object already exists", finding))
        return false;
    json_each(json_object_get(scene->evidence, "endpoints"), i, endpoint) {
        const char *ip = json_text_at(endpoint, "IpConfigurations.0.IpAddress");

        if (!ip || (json_number_at(endpoint, "Flags", 0) & 1) != remote ||
            endpoint_is_attached(endpoint) || !is_for_pods(scene, ip) ||
            adapter_with(scene, ip, NULL) || is_source_vip(scene, ip))
            continue;
        finding_note(finding, "endpoint %s has the address %s, and is of no pod of this node",
                     text_of(endpoint, "ID"), ip);
        count++;
    }
    if (count < 2)
        return false;
    finding->message =
        xstrdup("endpoints that were left behind have the addresses that new pods get");
    return true;
}

/* No sandbox gets an address. Pods that are gone may have some, in HNS or as files of host-local
 * alone. */
enum level look_hns_left(const struct scene *scene, struct finding *finding) {
    size_t left = json_array_size(drift_of(scene, "endpointsWithoutPod")) +
                  json_array_size(drift_of(scene, "namespacesWithoutPod"));
    bool used_up = note_waiting(scene, "no IP addresses available", finding) ||
                   note_waiting(scene, "No available addresses", finding);

    finding->may &= scene->red & ~scene->failed;
    if (!used_up && note_holders(scene, false, finding)) {
        finding->hint = xstrdup("remove each: powershell -Command \"Get-HnsEndpoint -Id ID | "
                                "Remove-HnsEndpoint\"; if no pod starts a minute later, restart "
                                "containerd and the kubelet");
        return CONFIRMED;
    }
    if (!used_up)
        return NO;
    if (!left) {
        if (json_object_get(scene->evidence, "kubernetes"))
            finding_note(finding, "no endpoint of HNS is of a pod that is gone");
        finding->message = xstrdup("the node's addresses for pods are used up");
        finding->hint = xstrdup(
            "each file in a folder of " CNI_STATE_DIR
            " is a reserved address, with its container inside: delete those of containers that "
            "crictl pods does not list; or let fewer pods run here");
    }
    json_each(drift_of(scene, "endpointsWithoutPod"), i, row)
        finding_note(finding, "endpoint %s (%s) is of no pod", text_of(row, "id"),
                     text_of(row, "address"));
    json_each(drift_of(scene, "namespacesWithoutPod"), i, row)
        finding_note(finding, "namespace %s is of no pod", text_of(row, "id"));
    return CONFIRMED;
}

/* kube-proxy's, of pods of other nodes. */
enum level look_hns_epstale_new(const struct scene *scene, struct finding *finding) {
    finding->may &= scene->red & ~scene->failed;
    return note_holders(scene, true, finding) ? CONFIRMED : NO;
}

/* The node within whose pods' prefix that one lies. */
static const json_t *node_around(const struct scene *scene, const char *prefix) {
    struct cidr inner, outer;
    struct network_peer peer;

    json_each(json_object_get(scene->evidence, "nodes"), i, node) {
        network_peer_read(node, &peer);
        if (peer.pod_cidr && cidr_parse(peer.pod_cidr, &outer, NULL) == 0 &&
            cidr_parse(prefix, &inner, NULL) == 0 && cidr_contains_cidr(&outer, &inner))
            return node;
    }
    return NULL;
}

/* The narrower route wins over the one to the node's whole prefix. One that leads to a node may be
 * right: agents that give nodes several prefixes (Calico's blocks) write such routes. */
enum level look_route_stale(const struct scene *scene, struct finding *finding) {
    const char *dns = dns_pod(scene);

    json_each(drift_of(scene, "routesWithoutNode"), i, row) {
        const char *prefix = text_of(row, "prefix"), *by = text_of(row, "by");
        const json_t *node = node_around(scene, prefix);
        bool catches_dns = dns && prefix_holds(prefix, dns);

        if (!node || node_of_address(scene, by) || (catches_dns && reaches_other_nodes(scene)))
            continue;
        finding_note(finding, "%s' route to %s via %s is within %s of node %s", text_of(row, "in"),
                     prefix, by, json_text_at(node, "spec.podCIDR"),
                     json_text_at(node, "metadata.name"));
        finding->may |= catches_dns ? CELLS_DNS : 0;
    }
    return finding->evidence.count ? CONFIRMED : NO;
}

static bool is_of(const json_t *row, const json_t *balancer) {
    const char *id = json_text_at(balancer, "ID");

    return id && text_equal_nocase(text_of(row, "id"), id);
}

static bool is_named(const json_t *rows, const json_t *balancer) {
    json_each(rows, i, row) {
        if (is_of(row, balancer))
            return true;
    }
    return false;
}

enum level look_svc_port(const struct scene *scene, struct finding *finding) {
    uint32_t cells = 0;

    for (size_t k = 0; k < ASKED_SERVICES; k++) {
        const char *vip = expected(scene, asked_services[k].key);
        const json_t *balancer =
            load_balancer_of(scene, vip, asked_services[k].protocol, asked_services[k].port);

        if (!is_named(drift_of(scene, "loadBalancersToOtherPort"), balancer))
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

/* Backends that are no more, or another Service's, of a Service that the flows ask. */
enum level look_svc_stale(const struct scene *scene, struct finding *finding) {
    uint32_t cells = 0;

    for (size_t k = 0; k < ASKED_SERVICES; k++) {
        const char *vip = expected(scene, asked_services[k].key);
        const json_t *balancer =
            load_balancer_of(scene, vip, asked_services[k].protocol, asked_services[k].port);

        if (is_named(drift_of(scene, "loadBalancersWithoutEndpoint"), balancer)) {
            finding_note(finding, "the load balancer of %s port %d has none of its endpoints", vip,
                         asked_services[k].port);
            cells |= asked_services[k].cells;
        }
        json_each(drift_of(scene, "loadBalancersToOtherPods"), i, row) {
            if (!is_of(row, balancer))
                continue;
            finding_note(finding,
                         "the load balancer of %s port %d sends to %s, which no EndpointSlice of "
                         "its Service has",
                         vip, asked_services[k].port, text_of(row, "address"));
            cells |= asked_services[k].cells;
        }
    }
    finding->may &= cells;
    return finding->may ? CONFIRMED : NO;
}
