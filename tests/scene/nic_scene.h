/* Servers by the network adapters that they have. */
#pragma once

#include "base/memory.h"
#include "netsetup/nic/nic.h"
#include "tests/memory/host_memory.h"

#define MAC_A "00-15-5D-01-02-03"
#define MAC_B "00-15-5D-01-02-04"
#define MAC_C "00-15-5D-01-02-05"
enum { ADAPTERS = 4, TEXTS = 4, FIRST_INDEX = 4 };

struct given_adapter {
    const char *alias, *mac;
    const char *addresses[TEXTS], *advertised[TEXTS], *gateways[TEXTS], *dns[TEXTS];
    bool down, dhcp;
    uint32_t metric, metric6;
};
struct kind {
    const char *name, *adapter, *node_ip; /* as asked for; NULL: not */
    struct given_adapter adapters[ADAPTERS];
    struct host_route routes[TEXTS];
    const char *alias; /* the chosen one's */
    bool no_outage;
};

static inline void add_texts(const char *const *texts, struct text_list *ret) {
    for (size_t i = 0; i < TEXTS && texts[i]; i++)
        text_list_add(ret, texts[i]);
}

static inline void play_kind(struct host *host, const struct kind *kind) {
    struct host_adapters adapters = {xcalloc(ADAPTERS, sizeof *adapters.items), 0};
    struct host_routes old = {0};

    for (size_t i = 0; i < ADAPTERS && kind->adapters[i].alias; i++) {
        const struct given_adapter *given = &kind->adapters[i];
        struct host_adapter *to = &adapters.items[adapters.count++];

        *to = (struct host_adapter){.alias = xstrdup(given->alias),
                                    .description = xstrdup("card"),
                                    .index = FIRST_INDEX + (uint32_t)i,
                                    .mtu = 1500,
                                    .up = !given->down,
                                    .dhcp = given->dhcp,
                                    .metric = given->metric,
                                    .metric6 = given->metric6};
        (void)text_format(to->mac, sizeof to->mac, "%s", given->mac);
        add_texts(given->addresses, &to->addresses);
        add_texts(given->advertised, &to->advertised);
        add_texts(given->gateways, &to->gateways);
        add_texts(given->dns, &to->dns_servers);
    }
    assert_int_equal(host_routes(host, &old, NULL), 0);
    for (size_t i = 0; i < old.count; i++)
        assert_int_equal(host_route_remove(host, &old.items[i], NULL), 0);
    host_routes_free(&old);
    host_memory_set_adapters(host, &adapters);
    host_adapters_free(&adapters);
    for (size_t i = 0; i < TEXTS && *kind->routes[i].destination; i++)
        assert_int_equal(host_route_add(host, &kind->routes[i], NULL), 0);
}
