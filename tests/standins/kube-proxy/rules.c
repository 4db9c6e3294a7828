/* What Services and EndpointSlices ask for. */
#include "tests/standins/kube-proxy/rules.h"

#include "base/memory.h"
#include "base/text.h"

#include <string.h>

static bool same_service(const json_t *service, const json_t *slice) {
    return text_equal(json_text_at(slice, "metadata.namespace"),
                      json_text_at(service, "metadata.namespace")) &&
           text_equal(json_text_at(slice, "metadata.labels.kubernetes\\.io/service-name"),
                      json_text_at(service, "metadata.name"));
}

/* The slice's port of that name (an unnamed one has the name ""). */
static long long slice_port(const json_t *slice, const json_t *port) {
    const char *name = json_text_at(port, "name");
    json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(slice, "ports"), i, entry) {
        const char *other = json_text_at(entry, "name");
        if (text_equal(other ? other : "", name ? name : "") &&
            text_equal(json_text_at(entry, "protocol"), json_text_at(port, "protocol")))
            return json_number_at(entry, "port", 0);
    }
    return 0;
}

static void add_endpoints(const json_t *slice, const char *hostname, json_t *endpoints) {
    json_t *endpoint, *address;
    size_t i, j;

    json_array_foreach(json_object_get(slice, "endpoints"), i, endpoint) {
        bool local = text_equal(json_text_at(endpoint, "nodeName"), hostname);
        if (!json_bool_at(endpoint, "conditions.ready", true))
            continue;
        json_array_foreach(json_object_get(endpoint, "addresses"), j, address)(void)
            json_array_append_new(endpoints, /* fails on no memory only */
                                  json_pack("{s:O,s:b}", "ip", address, "local", local));
    }
}

static json_t *rule_make(const json_t *service, const char *vip, const json_t *port,
                         const json_t *slices, const char *hostname) {
    json_t *endpoints = json_array(), *slice;
    const char *affinity = json_text_at(service, "spec.sessionAffinity");
    long long target = 0;
    size_t i;

    json_array_foreach(slices, i, slice) {
        long long found = same_service(service, slice) ? slice_port(slice, port) : 0;
        if (found &&
            text_equal(json_text_at(slice, "addressType"), strchr(vip, ':') ? "IPv6" : "IPv4")) {
            target = found;
            add_endpoints(slice, hostname, endpoints);
        }
    }
    return json_pack("{s:s,s:i,s:I,s:I,s:I,s:b,s:o}", "vip", vip, "protocol",
                     text_equal(json_text_at(port, "protocol"), "UDP") ? 17 : 6, "port",
                     (json_int_t)json_number_at(port, "port", 0), "targetPort", (json_int_t)target,
                     "nodePort", (json_int_t)json_number_at(port, "nodePort", 0), "affinity",
                     text_equal(affinity, "ClientIP"), "endpoints", endpoints);
}

/* A rule for each port, of one of the Service's addresses. */
static void add_rules(const json_t *service, const char *vip, const json_t *slices,
                      const char *hostname, json_t *rules) {
    json_t *port;
    size_t i;

    json_array_foreach(json_at(service, "spec.ports"), i, port) {
        _cleanup_(freep) char *key =
            xasprintf("%s/%s:%lld/%s%s", json_text_at(service, "metadata.namespace"),
                      json_text_at(service, "metadata.name"), json_number_at(port, "port", 0),
                      json_text_at(port, "protocol"), strchr(vip, ':') ? "/6" : "");
        (void)json_object_set_new(rules, key, /* fails on no memory only */
                                  rule_make(service, vip, port, slices, hostname));
    }
}

json_t *rules_make(const json_t *services, const json_t *slices, bool ipv6, const char *hostname) {
    json_t *rules = json_object(), *service, *vip;
    size_t i, j;

    json_array_foreach(services, i, service) {
        json_array_foreach(json_at(service, "spec.clusterIPs"), j, vip) {
            const char *text = json_string_value(vip);
            if (text && *text && !text_equal(text, "None") && (ipv6 || !strchr(text, ':')))
                add_rules(service, text, slices, hostname, rules);
        }
    }
    return rules;
}
