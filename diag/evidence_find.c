/* Finds load balancers, and the pods behind them, in the evidence document. */
#include "diag/evidence.h"

#include "netsetup/routes/peers.h"

static const json_t *mapping_of(const json_t *balancer, int protocol, int port) {
    json_each(json_object_get(balancer, "PortMappings"), i, mapping)
        if (json_number_at(mapping, "Protocol", 0) == protocol &&
            json_number_at(mapping, "ExternalPort", 0) == port)
            return mapping;
    return NULL;
}

json_t *diag_evidence_balancer(const json_t *evidence, const char *vip, int protocol, int port) {
    json_each(json_object_get(evidence, "loadBalancers"), i, balancer)
        if (vip && json_has_text(json_object_get(balancer, "FrontendVIPs"), vip) &&
            mapping_of(balancer, protocol, port))
            return balancer;
    return NULL;
}

unsigned diag_evidence_backend_port(const json_t *evidence, const char *vip, int protocol,
                                    int port) {
    const json_t *balancer = diag_evidence_balancer(evidence, vip, protocol, port);
    long long own = json_number_at(mapping_of(balancer, protocol, port), "InternalPort", 0);

    return own > 0 && own <= 65535 ? (unsigned)own : 0;
}

size_t diag_evidence_backends(const json_t *evidence, const char *vip, int protocol, int port,
                              const char **ret, size_t max) {
    const json_t *balancer = diag_evidence_balancer(evidence, vip, protocol, port);
    const json_t *members = json_object_get(balancer, "HostComputeEndpoints");
    size_t n = 0;

    for (int remote = 1; remote >= 0; remote--)
        json_each(json_object_get(evidence, "endpoints"), i, endpoint) {
            const char *id = json_text_at(endpoint, "ID");
            const char *ip = json_text_at(endpoint, "IpConfigurations.0.IpAddress");

            if (n < max && id && ip && json_has_text(members, id) &&
                (json_number_at(endpoint, "Flags", 0) & 1) == remote)
                ret[n++] = ip;
        }
    return n;
}

const char *diag_evidence_backend(const json_t *evidence, const char *vip, int protocol, int port) {
    const char *first = NULL;

    (void)diag_evidence_backends(evidence, vip, protocol, port, &first, 1);
    return first;
}

/* The prefix of a node's pods that holds the address. */
static bool prefix_of(const json_t *node, const struct ip *ip, struct cidr *ret) {
    struct network_peer peer;

    network_peer_read(node, &peer);
    return peer.pod_cidr && cidr_parse(peer.pod_cidr, ret, NULL) == 0 && cidr_contains(ret, ip);
}

json_t *diag_evidence_node_of(const json_t *evidence, const char *ip) {
    struct cidr prefix;
    struct ip address;

    if (!ip || ip_parse(ip, &address, NULL) < 0)
        return NULL;
    json_each(json_object_get(evidence, "nodes"), i, node)
        if (prefix_of(node, &address, &prefix))
            return node;
    return NULL;
}

const char *diag_evidence_node_address(const json_t *evidence, const char *ip) {
    struct network_peer peer = {0};
    const json_t *node = diag_evidence_node_of(evidence, ip);

    if (node)
        network_peer_read(node, &peer);
    return peer.node_address;
}

bool diag_evidence_gateway(const json_t *evidence, const char *ip, char ret[IP_TEXT_MAX]) {
    const json_t *node = diag_evidence_node_of(evidence, ip);
    struct cidr prefix;
    struct ip address;

    if (!node || ip_parse(ip, &address, NULL) < 0 || !prefix_of(node, &address, &prefix) ||
        cidr_address(&prefix, 1, &address, NULL) < 0)
        return false;
    ip_format(&address, ret);
    return true;
}
