/* Causes of the second family of a dual-stack node. */
#include "base/cidr.h"
#include "diag/causes/rows.h"

enum level look_ip6_addr(const struct scene *scene, struct finding *finding) {
    const json_t *adapters = json_object_get(scene->evidence, "adapters");
    const char *ip = expected(scene, "nodeIP6");

    if (!ip || !adapters || adapter_with(scene, ip, NULL))
        return NO;
    finding_note(finding, "no adapter has the address %s", ip);
    return CONFIRMED;
}

enum level look_ip6_fwd(const struct scene *scene, struct finding *finding) {
    json_each(json_object_get(scene->evidence, "adapters"), i, adapter) {
        if (json_is_false(json_object_get(adapter, "forwarding6")) &&
            adapter_holds(adapter, expected(scene, "nodeIP6"), expected(scene, "podCIDR6")))
            finding_note(finding, "IPv6 forwarding is off on '%s'", json_text_at(adapter, "alias"));
    }
    return mode_of(scene)->forwarding && finding->evidence.count ? CONFIRMED : NO;
}

enum level look_ip6_lb(const struct scene *scene, struct finding *finding) {
    const char *vip = expected(scene, "dnsIP6");

    if (!vip || !json_object_get(scene->evidence, "loadBalancers"))
        return NO;
    for (int udp = 0; udp < 2; udp++)
        if (!load_balancer_of(scene, vip, udp ? UDP : TCP, DNS_PORT))
            finding_note(finding, "HNS has no load balancer for [%s]:53 over %s", vip,
                         udp ? "UDP" : "TCP");
    return finding->evidence.count ? CONFIRMED : NO;
}

static const char *ipv6_of(const json_t *list, const char *key) {
    json_each(list, i, item) {
        const char *text = key ? json_text_at(item, key) : json_string_value(item);

        if (text && strchr(text, ':'))
            return text;
    }
    return NULL;
}

static bool route_stands(const struct scene *scene, const char *prefix) {
    char wanted[CIDR_TEXT_MAX], there[CIDR_TEXT_MAX];
    struct cidr cidr;

    if (cidr_parse(prefix, &cidr, NULL) < 0)
        return true; /* nothing to look for */
    cidr_format(&cidr, wanted);
    json_each(json_object_get(scene->evidence, "routes"), i, route) {
        const char *text = json_text_at(route, "destination");

        if (!text || cidr_parse(text, &cidr, NULL) < 0)
            continue;
        cidr_format(&cidr, there);
        if (text_equal(wanted, there))
            return true;
    }
    return false;
}

enum level look_ip6_route(const struct scene *scene, struct finding *finding) {
    const char *routes = expected(scene, "routes");

    if (!json_object_get(scene->evidence, "routes") || (routes && !text_equal(routes, "own")))
        return NO;
    json_each(json_at(scene->evidence, "nodes"), i, node) {
        const char *prefix = ipv6_of(json_at(node, "spec.podCIDRs"), NULL);
        const char *hop = ipv6_of(json_at(node, "status.addresses"), "address");

        if (prefix && hop && is_peer(scene, node) && !route_stands(scene, prefix))
            finding_note(finding, "no route to %s via %s (node %s)", prefix, hop,
                         json_text_at(node, "metadata.name"));
    }
    return finding->evidence.count ? CONFIRMED : NO;
}
