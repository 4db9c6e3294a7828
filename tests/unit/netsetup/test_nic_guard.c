/* The network adapter: chosen, remembered, guarded while a vSwitch comes and goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/nic/nic.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"

static struct scene scene;
static struct host *host;
static struct nic_snapshot snapshot;

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    scene_open(&scene, "overlay");
    return scene_plan(&scene);
}

static int close_host(void **state) {
    (void)state;
    nic_snapshot_free(&snapshot);
    scene_close(&scene);
    host_free(host);
    return 0;
}

struct given_adapter {
    const char *alias, *mac, *address, *gateway;
    bool up, dhcp;
};

static void set_adapters(const struct given_adapter *given, size_t count) {
    struct host_adapters adapters = {xcalloc(count, sizeof(*adapters.items)), count};
    for (size_t i = 0; i < count; i++) {
        struct host_adapter *adapter = &adapters.items[i];
        *adapter = (struct host_adapter){.alias = xstrdup(given[i].alias),
                                         .description = xstrdup("card"),
                                         .index = (uint32_t)i + 4,
                                         .mtu = 1500,
                                         .up = given[i].up,
                                         .dhcp = given[i].dhcp};
        (void)text_format(adapter->mac, sizeof(adapter->mac), "%s", given[i].mac);
        if (given[i].address)
            text_list_add(&adapter->addresses, given[i].address);
        if (given[i].gateway)
            text_list_add(&adapter->gateways, given[i].gateway);
    }
    host_memory_set_adapters(host, &adapters);
    host_adapters_free(&adapters);
}

static void assert_refused(const char *adapter, const char *node_ip, const char *says) {
    struct error err = {0};
    assert_int_equal(nic_choose(host, adapter, node_ip, &snapshot, &err), -1);
    assert_int_equal(err.kind, ERROR_PREFLIGHT);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
}

static void the_only_adapter(void **state) {
    (void)state;
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_string_equal(snapshot.alias, "Ethernet");
    assert_string_equal(snapshot.current_alias, "Ethernet");
    assert_string_equal(snapshot.address, "10.0.0.21/24");
    assert_string_equal(snapshot.mac, "00-15-5D-01-02-03");
    assert_false(snapshot.has_switch);
    assert_false(snapshot.dhcp);
    assert_int_equal(snapshot.dns_servers.count, 2);
    assert_int_equal(snapshot.routes.count, 1);
    assert_string_equal(snapshot.routes.items[0].next_hop, "10.0.0.1");
}

#define MAC_A "00-15-5D-01-02-03"
#define MAC_B "00-15-5D-01-02-04"
#define MAC_C "00-15-5D-01-02-05"

static void choosing(void **state) {
    static const struct given_adapter adapters[] = {
        {"Ethernet", MAC_A, NULL, NULL, true, false},
        {"vEthernet (Ethernet)", MAC_A, "10.0.0.21/24", "10.0.0.1", true, true},
        {"vEthernet (nat)", MAC_C, "172.20.0.1/20", "172.20.0.2", true, false},
        {"Storage", MAC_B, "192.168.9.2/24", NULL, true, false},
        {"Spare", MAC_C "", "169.254.3.4/16", "10.0.0.1", true, false},
    };
    struct error err = {0};
    (void)state;
    set_adapters(adapters, ARRAY_SIZE(adapters) - 1);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_string_equal(snapshot.alias, "Ethernet");
    assert_string_equal(snapshot.current_alias, "vEthernet (Ethernet)");
    assert_true(snapshot.has_switch);
    assert_true(snapshot.dhcp);
    nic_snapshot_free(&snapshot);
    assert_int_equal(nic_choose(host, "storage", NULL, &snapshot, NULL), 0);
    assert_string_equal(snapshot.alias, "Storage");
    nic_snapshot_free(&snapshot);
    assert_int_equal(nic_choose(host, NULL, "192.168.9.2", &snapshot, NULL), 0);
    assert_string_equal(snapshot.alias, "Storage");
    nic_snapshot_free(&snapshot);
    assert_int_equal(nic_choose(host, "Ethernet", NULL, &snapshot, NULL), 0);
    assert_string_equal(snapshot.current_alias, "vEthernet (Ethernet)");
    nic_snapshot_free(&snapshot);
    assert_refused("vEthernet (nat)", NULL, "adapter 'vEthernet (nat)' does not exist");
    assert_refused("Ethernet", "192.168.9.2", "does not have the node address");
    assert_refused(NULL, "10.0.0.2", "no adapter has the node address '10.0.0.2'");
    set_adapters(&adapters[4], 1);
    assert_refused(NULL, NULL, "no adapter that is up has a usable IPv4 address");
    set_adapters(&adapters[2], 2); /* a network without a gateway */
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, &err), -1);
    assert_non_null(strstr(err.hints[0], "'Storage'"));
    assert_non_null(strstr(err.hints[0], "; --adapter NAME or --node-ip ADDRESS"));
    assert_int_equal(nic_choose(host, NULL, "192.168.9.2", &snapshot, NULL), 0);
    nic_snapshot_free(&snapshot);
    set_adapters(&adapters[4], 1);
    assert_refused("Spare", NULL, "no usable IPv4 address");
}

static void add_route(const char *destination, const char *next_hop, uint32_t index) {
    struct host_route route = {.interface_index = index, .metric = 5};
    (void)text_format(route.destination, sizeof(route.destination), "%s", destination);
    (void)text_format(route.next_hop, sizeof(route.next_hop), "%s", next_hop);
    assert_int_equal(host_route_add(host, &route, NULL), 0);
}

static bool snapshot_has(const char *destination) {
    for (size_t i = 0; i < snapshot.routes.count; i++) {
        if (text_equal(snapshot.routes.items[i].destination, destination))
            return true;
    }
    return false;
}

static void routes_worth_keeping(void **state) {
    (void)state;
    add_route("10.0.0.0/24", "0.0.0.0", 4);
    add_route("10.0.0.255/32", "0.0.0.0", 4);
    add_route("224.0.0.0/4", "0.0.0.0", 4);
    add_route("255.255.255.255/32", "0.0.0.0", 4);
    add_route("fe80::/64", "::", 4);
    add_route("169.254.169.254/32", "0.0.0.0", 4);
    add_route("10.0.0.64/26", "10.0.0.5", 4);
    add_route("172.16.0.0/12", "10.0.0.6", 4);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_int_equal(snapshot.routes.count, 4);
    assert_true(snapshot_has("0.0.0.0/0"));
    assert_true(snapshot_has("169.254.169.254/32"));
    assert_true(snapshot_has("10.0.0.64/26"));
    assert_true(snapshot_has("172.16.0.0/12"));
}

/* The default route may stand in the table alone, and then not behind the first entries. */
static void default_route_in_the_table(void **state) {
    static const struct given_adapter adapters[] = {
        {"Storage", MAC_B, "192.168.9.2/24", NULL, true, false},
        {"Ethernet", MAC_A, "10.0.0.21/24", NULL, true, false},
    };
    struct host_routes routes = {0};
    (void)state;
    assert_int_equal(host_routes(host, &routes, NULL), 0);
    assert_int_equal(host_route_remove(host, &routes.items[0], NULL), 0);
    host_routes_free(&routes);
    set_adapters(adapters, 2);
    assert_refused(NULL, NULL, "no adapter that is up");
    add_route("172.16.0.0/12", "192.168.9.1", 4);
    add_route("0.0.0.0/0", "10.0.0.1", 5);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_string_equal(snapshot.alias, "Ethernet");
    assert_int_equal(snapshot.routes.count, 1);
}

static void several_addresses(void **state) {
    struct host_adapters adapters = {0};
    struct nic_restored result = {0};
    uint32_t index = 0;
    (void)state;
    assert_int_equal(host_adapters(host, &adapters, NULL), 0);
    text_list_free(&adapters.items[0].addresses);
    text_list_add(&adapters.items[0].addresses, "fe80::1/64");
    text_list_add(&adapters.items[0].addresses, "169.254.1.1/16");
    text_list_add(&adapters.items[0].addresses, "10.0.0.20/24");
    text_list_add(&adapters.items[0].addresses, "10.0.0.21/24");
    host_memory_set_adapters(host, &adapters);
    host_adapters_free(&adapters);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_string_equal(snapshot.address, "10.0.0.20/24");
    nic_snapshot_free(&snapshot);
    assert_int_equal(nic_choose(host, NULL, "10.0.0.21", &snapshot, NULL), 0);
    assert_string_equal(snapshot.address, "10.0.0.21/24");
    assert_int_equal(snapshot.addresses.count, 2);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, NULL), 0);
    assert_string_equal(result.address, "10.0.0.21/24");
    assert_int_equal(nic_index_of(host, "10.0.0.20", &index, NULL), 0);
}

static void several_adapters(void **state) {
    static const struct given_adapter adapters[] = {
        {"Ethernet", MAC_A, "10.0.0.21/24", "10.0.0.1", true, false},
        {"Ethernet 2", MAC_B, "10.1.0.21/24", "10.1.0.1", true, false},
        {"Ethernet 3", MAC_C, "10.2.0.21/24", "10.2.0.1", false, false},
    };
    (void)state;
    set_adapters(adapters, ARRAY_SIZE(adapters));
    assert_refused(NULL, NULL, "'Ethernet' and 'Ethernet 2'");
    assert_refused("Ethernet 3", NULL, "not up");
    assert_int_equal(nic_choose(host, "Ethernet 2", NULL, &snapshot, NULL), 0);
    nic_snapshot_free(&snapshot);
    set_adapters(
        (const struct given_adapter[]){adapters[0],
                                       {"Storage", MAC_B, "10.9.0.2/24", NULL, true, false}},
        2);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_string_equal(snapshot.alias, "Ethernet"); /* by its gateway: no route is in the table */
}

static void journal(void **state) {
    struct nic_snapshot again = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    json_t *json = nic_snapshot_json(&snapshot);
    assert_int_equal(nic_snapshot_read(json, &again, &err), 0);
    json_t *second = nic_snapshot_json(&again);
    assert_true(json_equal(json, second));
    nic_snapshot_free(&again);
    json_array_append_new(json_object_get(json, "routes"), json_pack("{s:s}", "destination", "x"));
    assert_int_equal(nic_snapshot_read(json, &again, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    json_array_remove(json_object_get(json, "routes"), 1);
    assert_int_equal(nic_snapshot_read(json, &again, &err), 0);
    nic_snapshot_free(&again);
    json_object_del(json, "mac");
    assert_int_equal(nic_snapshot_read(json, &again, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    json_decref(json);
    json_decref(second);
}

static void assert_adapter(const char *alias) {
    struct host_adapters adapters = {0};
    struct host_routes routes = {0};
    uint32_t index = 0;
    bool routed = false;
    assert_int_equal(nic_index_of(host, "10.0.0.21", &index, NULL), 0);
    assert_int_equal(host_adapters(host, &adapters, NULL), 0);
    for (size_t i = 0; i < adapters.count; i++) {
        if (adapters.items[i].index != index)
            continue;
        assert_string_equal(adapters.items[i].alias, alias);
        assert_true(text_list_has(&adapters.items[i].dns_servers, "10.0.0.2"));
        assert_true(text_list_has(&adapters.items[i].dns_servers, "10.0.0.3"));
    }
    assert_int_equal(host_routes(host, &routes, NULL), 0);
    for (size_t i = 0; i < routes.count; i++)
        routed |= routes.items[i].interface_index == index &&
                  text_equal(routes.items[i].destination, "0.0.0.0/0") &&
                  text_equal(routes.items[i].next_hop, "10.0.0.1");
    assert_true(routed);
    host_adapters_free(&adapters);
    host_routes_free(&routes);
}

static unsigned told;
static void count_told(void *context, unsigned milliseconds, const char *waiting_for) {
    (void)milliseconds;
    assert_ptr_equal(context, &told);
    assert_non_null(waiting_for);
    told++;
}

static void static_address_is_put_back(void **state) {
    struct nic_restored result = {0};
    struct error err = {0};
    (void)state;
    told = 0;
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    if (nic_guard_ensure(host, &scene.plan, &snapshot, count_told, &told, &result, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(result.address_restored);
    assert_true(result.dns_restored);
    assert_int_equal(result.routes_restored, 1);
    assert_in_range(result.outage_ms, 1000, 10000);
    assert_in_range(told, 1, 20);
    assert_string_equal(result.address, "10.0.0.21/24");
    assert_adapter("vEthernet (Ethernet)");
    /* again: nothing to do, and nothing done */
    json_t *before = host_memory_state(host);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, &err), 0);
    assert_int_equal(result.outage_ms, 0);
    assert_false(result.address_restored);
    json_t *after = host_memory_state(host);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
}

static void dhcp_comes_back_alone(void **state) {
    static const struct given_adapter adapter = {"Ethernet", MAC_A, "10.0.0.21/24",
                                                 "10.0.0.1", true,  true};
    struct nic_restored result = {0};
    (void)state;
    set_adapters(&adapter, 1);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, NULL), 0);
    assert_false(result.address_restored);
    assert_string_equal(result.address, "10.0.0.21/24");
}

/* DHCP gives the vSwitch another address than the adapter had. */
static void give_another_address(void *context, struct host *at) {
    struct host_adapters adapters = {0};
    (void)context;
    assert_int_equal(host_adapters(at, &adapters, NULL), 0);
    text_list_free(&adapters.items[adapters.count - 1].addresses);
    text_list_add(&adapters.items[adapters.count - 1].addresses, "10.0.0.50/24");
    host_memory_set_adapters(at, &adapters);
    host_adapters_free(&adapters);
}

static void dhcp_gives_another_address(void **state) {
    static const struct given_adapter adapter = {"Ethernet", MAC_A, "10.0.0.21/24",
                                                 "10.0.0.1", true,  true};
    struct nic_restored result = {0};
    struct error err = {0};
    (void)state;
    set_adapters(&adapter, 1);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    struct hcn_network network = {0};
    assert_int_equal(hcn_base_network_ensure(host, &scene.plan, &network, NULL, NULL), 0);
    give_another_address(NULL, host);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_non_null(strstr(err.message, "now has 10.0.0.50/24"));
    assert_non_null(strstr(err.hints[0], "again"));
    nic_snapshot_free(&snapshot);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, &err), 0);
    assert_string_equal(result.address, "10.0.0.50/24");
}

static void taken_away_again(void **state) {
    struct nic_restored result = {0};
    struct error err = {0};
    (void)state;
    json_t *before = host_memory_state(host);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, &err), 0);
    if (nic_guard_remove(host, "External", &snapshot, NULL, NULL, &result, &err) < 0)
        fail_msg("%s", err.message);
    assert_adapter("Ethernet");
    json_t *after = host_memory_state(host);
    assert_int_equal(json_array_size(json_object_get(after, "adapters")), 1);
    assert_int_equal(json_object_size(json_at(after, "hns.networks")), 0);
    json_decref(before);
    json_decref(after);
}

/* Somebody takes the address away for as long as the vSwitch is there. */
static void steal_address(void *context, struct host *at) {
    struct host_adapters adapters = {0};
    (void)context;
    assert_int_equal(host_adapters(at, &adapters, NULL), 0);
    if (adapters.count > 1) {
        for (size_t i = 0; i < adapters.count; i++)
            adapters.items[i].up = false;
        host_memory_set_adapters(at, &adapters);
    } else {
        adapters.items[0].up = true;
        host_memory_set_adapters(at, &adapters);
    }
    host_adapters_free(&adapters);
}

static void rolled_back(void **state) {
    struct nic_restored result = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    host_memory_on_sleep(host, steal_address, NULL);
    uint64_t start = host_monotonic_ms(host);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(strstr(err.message, "did not come back"));
    if (!strstr(err.hints[0], "virtual switch was removed"))
        fail_msg("%s", err.hints[0]);
    assert_in_range(host_monotonic_ms(host) - start, 120000, 260000);
    assert_adapter("Ethernet");
    json_t *after = host_memory_state(host);
    assert_int_equal(json_object_size(json_at(after, "hns.networks")), 0);
    json_decref(after);
}

static void create_fails(void **state) {
    struct nic_restored result = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    host_memory_fail(host, 6); /* behind the watchdog's folder, its list, file and start */
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_HOST);
    assert_non_null(strstr(err.message, "make the virtual switch on 'Ethernet'"));
    assert_adapter("Ethernet");
}

static void stay_down(void *context, struct host *at) {
    struct host_adapters adapters = {0};
    (void)context;
    assert_int_equal(host_adapters(at, &adapters, NULL), 0);
    for (size_t i = 0; i < adapters.count; i++)
        adapters.items[i].up = false;
    host_memory_set_adapters(at, &adapters);
    host_adapters_free(&adapters);
}

/* Both reasons are told: that the address stays away, and that removing the switch is no help.
 */
static void an_adapter_that_stays_down(void **state) {
    struct nic_restored result = {0};
    struct error err = {0};
    uint64_t start;
    (void)state;
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    host_memory_on_sleep(host, stay_down, NULL);
    start = host_monotonic_ms(host);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(strstr(err.message, "adapter 'Ethernet' after 120 s: "));
    assert_non_null(strstr(err.hints[0], "removing the virtual switch failed, too: "));
    assert_non_null(strstr(err.hints[0], "did not come back"));
    assert_int_equal(host_monotonic_ms(host) - start, 240000);
}

/* HNS fails, and the adapter it left does not come back. */
static void create_fails_and_the_adapter_stays_down(void **state) {
    struct nic_restored result = {0};
    struct error err = {0};
    (void)state;
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    stay_down(NULL, host);
    host_memory_fail(host, 6); /* behind the watchdog's folder, its list, file and start */
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_HOST);
    assert_non_null(strstr(err.message, "make the virtual switch on 'Ethernet'"));
    assert_non_null(strstr(err.hints[0], "adapter 'Ethernet' after 120 s: "));
}

static void press_ctrl_c(void *context, struct host *at) {
    if (host_monotonic_ms(at) >= *(uint64_t *)context)
        host_memory_interrupt(at);
}

/* The user leaves while Windows may still bring the address along: it is put back at once. */
static void the_user_leaves(void **state) {
    struct nic_restored result = {0};
    struct error err = {0};
    uint64_t when;
    (void)state;
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    when = host_monotonic_ms(host) + 2500;
    host_memory_on_sleep(host, press_ctrl_c, &when);
    assert_int_equal(nic_guard_ensure(host, &scene.plan, &snapshot, NULL, NULL, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_adapter("vEthernet (Ethernet)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_only_adapter, open_host, close_host),
        cmocka_unit_test_setup_teardown(choosing, open_host, close_host),
        cmocka_unit_test_setup_teardown(routes_worth_keeping, open_host, close_host),
        cmocka_unit_test_setup_teardown(default_route_in_the_table, open_host, close_host),
        cmocka_unit_test_setup_teardown(several_addresses, open_host, close_host),
        cmocka_unit_test_setup_teardown(several_adapters, open_host, close_host),
        cmocka_unit_test_setup_teardown(journal, open_host, close_host),
        cmocka_unit_test_setup_teardown(static_address_is_put_back, open_host, close_host),
        cmocka_unit_test_setup_teardown(dhcp_comes_back_alone, open_host, close_host),
        cmocka_unit_test_setup_teardown(dhcp_gives_another_address, open_host, close_host),
        cmocka_unit_test_setup_teardown(taken_away_again, open_host, close_host),
        cmocka_unit_test_setup_teardown(rolled_back, open_host, close_host),
        cmocka_unit_test_setup_teardown(create_fails, open_host, close_host),
        cmocka_unit_test_setup_teardown(an_adapter_that_stays_down, open_host, close_host),
        cmocka_unit_test_setup_teardown(create_fails_and_the_adapter_stays_down, open_host,
                                        close_host),
        cmocka_unit_test_setup_teardown(the_user_leaves, open_host, close_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
