/* flannel's host-gw backend: an L2Bridge network by version 1 of HNS, the host's own endpoint at
 * base + 2, a route for each other node. */
#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/flanneld/backend.h"
#include "tests/standins/lib/klog.h"
#include "tests/standins/lib/lifetime.h"

#include <string.h>

enum { TRIES = 10, PAUSE_MS = 500 };

/* One version 1 call; *ret is the answer's Output. "Success":false is ERROR_HOST with its Error. */
static int call(struct host *host, const char *method, const char *path, json_t *request,
                json_t **ret, struct error *err) {
    _cleanup_(json_decrefp_) json_t *given = request, *envelope = NULL;
    _cleanup_(freep) char *body = given ? json_write(given) : xstrdup(""), *answer = NULL;

    if (hns_call(host, method, path, body, &answer, err) ||
        json_read(answer, strlen(answer), path, &envelope, err))
        return -1;
    if (!json_bool_at(envelope, "Success", false)) {
        const char *why = json_text_at(envelope, "Error");
        return error_set(err, ERROR_HOST, "hnsCall failed in Win32: %s", why ? why : "?");
    }
    if (ret)
        *ret = json_incref(json_object_get(envelope, "Output"));
    return 0;
}

static json_t *by_name(const json_t *list, const char *name) {
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item) {
        if (text_equal(json_text_at(item, "Name"), name))
            return item;
    }
    return NULL;
}

static int nth_address(const char *subnet, uint64_t n, char out[IP_TEXT_MAX], struct error *err) {
    struct cidr cidr;
    struct ip ip;

    if (cidr_parse(subnet, &cidr, err) || cidr_address(&cidr, n, &ip, err))
        return -1;
    ip_format(&ip, out);
    return 0;
}

static int ensure_network(struct host *host, const struct flannel_settings *settings, json_t **ret,
                          struct error *err) {
    _cleanup_(json_decrefp_) json_t *list = NULL;
    char gateway[IP_TEXT_MAX];

    if (nth_address(settings->subnet, 1, gateway, err) ||
        call(host, "GET", "/networks/", NULL, &list, err))
        return -1;
    json_t *found = by_name(list, settings->name);
    if (found && text_equal(json_text_at(found, "Subnets.0.AddressPrefix"), settings->subnet) &&
        text_equal(json_text_at(found, "Subnets.0.GatewayAddress"), gateway)) {
        *ret = json_incref(found);
        return 0;
    }
    if (found) {
        _cleanup_(freep) char *path = xasprintf("/networks/%s", json_text_at(found, "ID"));
        if (call(host, "DELETE", path, NULL, NULL, err))
            return -1;
    }
    return call(host, "POST", "/networks/",
                json_pack("{s:s,s:s,s:[{s:s,s:s}]}", "Name", settings->name, "Type", "L2Bridge",
                          "Subnets", "AddressPrefix", settings->subnet, "GatewayAddress", gateway),
                ret, err);
}

static int wait_for_management(struct host *host, const char *id, struct error *err) {
    _cleanup_(freep) char *path = xasprintf("/networks/%s", id);

    for (int i = 0; i < TRIES && !lifetime_wait(i ? PAUSE_MS : 0); i++) {
        _cleanup_(json_decrefp_) json_t *network = NULL;
        if (call(host, "GET", path, NULL, &network, err))
            return -1;
        const char *address = json_text_at(network, "ManagementIP");
        if (address && *address)
            return 0;
    }
    return error_set(err, ERROR_TIMED_OUT, "timeout, failed to get management IP");
}

static int ensure_endpoint(struct host *host, const struct flannel_settings *settings,
                           const char *network, json_t **ret, struct error *err) {
    _cleanup_(freep) char *name = xasprintf("%s_ep", settings->name);
    _cleanup_(json_decrefp_) json_t *list = NULL;
    char address[IP_TEXT_MAX];

    if (nth_address(settings->subnet, 2, address, err) ||
        call(host, "GET", "/endpoints/", NULL, &list, err))
        return -1;
    json_t *found = by_name(list, name);
    if (found && text_equal(json_text_at(found, "IPAddress"), address)) {
        *ret = json_incref(found);
        return 0;
    }
    if (found) {
        _cleanup_(freep) char *path = xasprintf("/endpoints/%s", json_text_at(found, "ID"));
        if (call(host, "DELETE", path, NULL, NULL, err))
            return -1;
    }
    return call(
        host, "POST", "/endpoints/",
        json_pack("{s:s,s:s,s:s}", "Name", name, "VirtualNetwork", network, "IPAddress", address),
        ret, err);
}

static int attach(struct host *host, const json_t *endpoint, struct error *err) {
    _cleanup_(freep) char *path = xasprintf("/endpoints/%s/attach", json_text_at(endpoint, "ID"));

    for (int i = 0; i < TRIES && !lifetime_wait(i ? PAUSE_MS : 0); i++) {
        error_clear(err);
        if (call(host, "POST", path,
                 json_pack("{s:s,s:i}", "SystemType", "Host", "CompartmentId", 1), NULL,
                 err) == 0 ||
            strstr(err->message, "already attached")) {
            error_clear(err);
            return 0;
        }
    }
    return -1;
}

/* The index of the interface that has the address; 0 = none. */
static uint32_t interface_of(struct host *host, const char *address) {
    struct host_adapters adapters = {0};
    struct error err = {0};
    uint32_t index = 0;

    (void)host_adapters(host, &adapters, &err); /* none: no index */
    for (size_t i = 0; i < adapters.count; i++) {
        for (size_t j = 0; j < adapters.items[i].addresses.count; j++) {
            const char *own = adapters.items[i].addresses.items[j];
            if (strncmp(own, address, strlen(address)) == 0 && own[strlen(address)] == '/')
                index = adapters.items[i].index;
        }
    }
    host_adapters_free(&adapters);
    return index;
}

/* Waits until some interface has the address: it moves to the vSwitch's, and comes back late. */
static int wait_for_interface(struct host *host, const char *address, uint32_t *ret,
                              struct error *err) {
    for (int i = 0; i < TRIES && !lifetime_wait(i ? PAUSE_MS : 0); i++) {
        *ret = interface_of(host, address);
        if (*ret)
            return 0;
    }
    return error_set(err, ERROR_TIMED_OUT, "no interface has the address %s", address);
}

/* What upstream does by PowerShell: forwarding on the management and the endpoint's interface. */
static int forward(struct host *host, const struct flannel_settings *settings, struct error *err) {
    char address[IP_TEXT_MAX];
    uint32_t endpoint;

    if (nth_address(settings->subnet, 2, address, err) ||
        wait_for_interface(host, address, &endpoint, err) ||
        host_forwarding_set(host, settings->interface, 4, true, err))
        return -1;
    return host_forwarding_set(host, endpoint, 4, true, err);
}

static int open_network(struct host *host, struct flannel_settings *settings, json_t **ret_data,
                        struct error *err) {
    _cleanup_(json_decrefp_) json_t *network = NULL, *endpoint = NULL;

    if (ensure_network(host, settings, &network, err) ||
        wait_for_management(host, json_text_at(network, "ID"), err) ||
        wait_for_interface(host, settings->public_ip, &settings->interface, err) ||
        ensure_endpoint(host, settings, json_text_at(network, "ID"), &endpoint, err) ||
        attach(host, endpoint, err) || forward(host, settings, err))
        return -1;
    *ret_data = json_null();
    return 0;
}

static void route_of(const struct flannel_settings *settings, const struct lease *lease,
                     struct host_route *ret) {
    *ret = (struct host_route){.interface_index = settings->interface};
    (void)text_format(ret->destination, sizeof(ret->destination), "%s", lease->subnet);
    (void)text_format(ret->next_hop, sizeof(ret->next_hop), "%s", lease->public_ip); /* fit */
}

static int add(struct host *host, const struct flannel_settings *settings,
               const struct lease *lease, struct error *err) {
    struct host_route route;

    route_of(settings, lease, &route);
    return host_route_add(host, &route, err);
}

static int remove_lease(struct host *host, const struct flannel_settings *settings,
                        const struct lease *lease, struct error *err) {
    struct host_route route;

    route_of(settings, lease, &route);
    return host_route_remove(host, &route, err);
}

const struct flannel_backend flannel_host_gw = {"host-gw", open_network, add, remove_lease};
