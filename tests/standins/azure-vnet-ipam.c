/* Stand-in for azure-vnet-ipam.exe: addresses of the node's own subnet, as Azure gives them to its
 * network interface (upstream's asks the virtual machine's host): the last 50 but for the
 * broadcast, kept in the working directory. */
#include "base/cidr.h"
#include "base/memory.h"
#include "base/text.h"
#include "tests/standins/lib/cni_plugin.h"

#include <stdio.h>

#define STATE "azure-vnet-ipam.json"
enum { COUNT = 50 };

/* address -> container */
static json_t *state_read(void) {
    json_t *json = json_load_file(STATE, 0, NULL);

    return json ? json : json_object();
}

static int state_write(const json_t *state, struct error *err) {
    return json_dump_file(state, STATE, JSON_INDENT(1))
               ? error_set(err, ERROR_HOST, "cannot write " STATE)
               : 0;
}

/* Of the interface that has a gateway. */
static int subnet_of(const struct cni_call *call, struct cidr *ret, char gateway[IP_TEXT_MAX],
                     struct error *err) {
    struct host_adapters adapters = {0};
    int result = error_set(err, ERROR_ABSENT, "no interface has a gateway");

    if (host_adapters(call->host, &adapters, err) < 0)
        return -1;
    for (size_t i = 0; i < adapters.count && result; i++) {
        const struct host_adapter *adapter = &adapters.items[i];

        if (adapter->gateways.count && adapter->addresses.count &&
            cidr_parse(adapter->addresses.items[0], ret, err) == 0)
            result = text_format(gateway, IP_TEXT_MAX, "%s", adapter->gateways.items[0]);
    }
    host_adapters_free(&adapters);
    return result;
}

static int on_add(const struct cni_call *call, json_t **ret, struct error *err) {
    _cleanup_(json_decrefp_) json_t *state = state_read();
    char gateway[IP_TEXT_MAX], text[IP_TEXT_MAX];
    struct cidr subnet = {0};
    struct ip ip;
    uint64_t size;

    if (subnet_of(call, &subnet, gateway, err))
        return -1;
    size = (uint64_t)1 << (32 - subnet.length);
    for (uint64_t n = size - 1 - COUNT; n < size - 1; n++) {
        if (cidr_address(&subnet, n, &ip, err))
            return -1;
        ip_format(&ip, text);
        if (json_object_get(state, text))
            continue;
        (void)json_object_set_new(state, text, json_string(call->container));
        *ret = json_pack("{s:s,s:[{s:s,s:o,s:s}]}", "cniVersion", "0.3.0", "ips", "version", "4",
                         "address", json_sprintf("%s/%d", text, subnet.length), "gateway", gateway);
        return state_write(state, err);
    }
    return error_set(err, ERROR_HOST, "no more free addresses available");
}

static int on_del(const struct cni_call *call, json_t **ret, struct error *err) {
    _cleanup_(json_decrefp_) json_t *state = state_read();
    const char *address;
    json_t *container;
    void *next;

    (void)ret;
    json_object_foreach_safe(state, next, address, container) {
        if (text_equal(json_string_value(container), call->container))
            (void)json_object_del(state, address);
    }
    return state_write(state, err);
}

int main(void) {
    return cni_main(on_add, on_del);
}
