/* Kinds of network adapters that servers have: the right one is chosen, keeps everything when a
 * virtual switch comes, and has everything back when it goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "netsetup/nic/nic.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"
#include "tests/scene/nic_scene.h"

static const struct kind kinds[] = {
    {.name = "several adapters with default routes",
     .node_ip = "10.1.0.21",
     .adapters = {{"Ethernet", MAC_A, {"10.0.0.21/24"}, {0}, {"10.0.0.1"}, {"10.0.0.2"}},
                  {"Ethernet 2", MAC_B, {"10.1.0.21/24"}, {0}, {"10.1.0.1"}, {"10.1.0.2"}},
                  {"Storage", MAC_C, {"192.168.9.2/24"}}},
     .routes = {{"0.0.0.0/0", "10.0.0.1", 4, 10, false}, {"0.0.0.0/0", "10.1.0.1", 5, 20, false}},
     .alias = "Ethernet 2"},
    {.name = "a team: its members have its MAC",
     .adapters = {{"NIC 1", MAC_A},
                  {"NIC 2", MAC_A},
                  {"Team 1", MAC_A, {"10.0.0.21/24"}, {0}, {0}, {"10.0.0.2"}}},
     .routes = {{"0.0.0.0/0", "10.0.0.1", 6, 256, false}},
     .alias = "Team 1"},
    {.name = "a VLAN of a team, which has an address itself",
     .node_ip = "10.20.0.21",
     .adapters = {{"NIC 1", MAC_A},
                  {"Team 1", MAC_A, {"10.0.0.21/24"}, {0}, {0}, {"10.0.0.2"}},
                  {"Team 1 - VLAN 20", MAC_A, {"10.20.0.21/24"}, {0}, {0}, {"10.20.0.2"}}},
     .routes = {{"0.0.0.0/0", "10.20.0.1", 6, 256, false}},
     .alias = "Team 1 - VLAN 20"},
    {.name = "spaces and letters of other alphabets",
     .adapter = "B\xc3\xbcro Netz 2 (\xd1\x81\xd0\xb5\xd1\x82\xd1\x8c)",
     .adapters = {{"B\xc3\xbcro Netz 2 (\xd1\x81\xd0\xb5\xd1\x82\xd1\x8c)",
                   MAC_A,
                   {"10.0.0.21/24"},
                   {0},
                   {0},
                   {"10.0.0.2"}}},
     .routes = {{"0.0.0.0/0", "10.0.0.1", 4, 256, false}},
     .alias = "B\xc3\xbcro Netz 2 (\xd1\x81\xd0\xb5\xd1\x82\xd1\x8c)"},
    {.name = "a virtual switch that exists, on a team",
     .adapters = {{"NIC 1", MAC_A},
                  {"Team 1", MAC_A},
                  {"vEthernet (Team 1)", MAC_A, {"10.0.0.21/24"}, {0}, {0}, {"10.0.0.2"}}},
     .routes = {{"0.0.0.0/0", "10.0.0.1", 6, 256, false}},
     .alias = "Team 1",
     .no_outage = true},
    {.name = "a NAT network with a default route of its own",
     .adapters = {{"vEthernet (nat)", MAC_B, {"172.20.0.1/20"}, {0}, {"172.20.0.2"}},
                  {"Ethernet", MAC_A, {"10.0.0.21/24"}, {0}, {0}, {"10.0.0.2"}}},
     .routes = {{"0.0.0.0/0", "172.20.0.2", 4, 1, false}, {"0.0.0.0/0", "10.0.0.1", 5, 256, false}},
     .alias = "Ethernet"},
    {.name = "static, with two addresses, three DNS servers and a metric",
     .adapters = {{"Ethernet",
                   MAC_A,
                   {"10.0.0.21/24", "10.0.0.22/24"},
                   {0},
                   {0},
                   {"10.0.0.3", "10.0.0.2", "fd00::2"},
                   .metric = 15,
                   .metric6 = 20}},
     .routes = {{"0.0.0.0/0", "10.0.0.1", 4, 5, false}},
     .alias = "Ethernet"},
    {.name = "IPv6 set by hand and advertised",
     .adapters = {{"Ethernet",
                   MAC_A,
                   {"10.0.0.21/24", "fd00::21/64", "2001:db8::15ff:fe01/64", "fe80::1/64"},
                   {"2001:db8::15ff:fe01/64"},
                   {0},
                   {"10.0.0.2"}}},
     .routes = {{"0.0.0.0/0", "10.0.0.1", 4, 256, false},
                {"fd01::/48", "fd00::1", 4, 10, false},
                {"::/0", "fd00::ff", 4, 300, false}},
     .alias = "Ethernet"},
    {.name = "routes of an administrator",
     .adapters = {{"Ethernet", MAC_A, {"10.0.0.21/24"}, {0}, {0}, {"10.0.0.2"}}},
     .routes = {{"0.0.0.0/0", "10.0.0.1", 4, 256, false},
                {"172.16.0.0/12", "10.0.0.6", 4, 1, false},
                {"169.254.169.254/32", "0.0.0.0", 4, 1, false}},
     .alias = "Ethernet"},
    {.name = "DHCP",
     .adapters =
         {{"Ethernet", MAC_A, {"10.0.0.21/24"}, {0}, {0}, {"10.0.0.2", "10.0.0.3"}, false, true}},
     .routes = {{"0.0.0.0/0", "10.0.0.1", 4, 256, false}},
     .alias = "Ethernet"},
    {.name = "an interface of converged networking: a MAC of its own, and a named adapter",
     .adapter = "NIC 2",
     .adapters = {{"NIC 1", MAC_A},
                  {"NIC 2", MAC_B},
                  {"vEthernet (nat)", "00-15-5D-01-02-06", {"172.20.0.1/20"}},
                  {"vEthernet (Mgmt)", MAC_C, {"10.0.0.21/24"}, {0}, {0}, {"10.0.0.2"}}},
     .routes = {{"0.0.0.0/0", "10.0.0.1", 7, 256, false}},
     .alias = "NIC 2",
     .no_outage = true},
};

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Everything that the interface with the node's address has, in one text. */
static char *settings_of(struct host *host, const char *address) {
    struct host_adapters adapters = {0};
    struct host_routes routes = {0};
    struct text_list lines = {0};
    uint32_t index = 0;
    char *joined;

    assert_int_equal(nic_index_of(host, address, &index, NULL), 0);
    assert_int_equal(host_adapters(host, &adapters, NULL), 0);
    assert_int_equal(host_routes(host, &routes, NULL), 0);
    for (size_t i = 0; i < adapters.count; i++) {
        const struct host_adapter *a = &adapters.items[i];
        _cleanup_(freep) char *dns = text_list_join(&a->dns_servers, " ");

        if (a->index != index)
            continue;
        for (size_t k = 0; k < a->addresses.count; k++)
            if (!text_starts_with(a->addresses.items[k], "fe80:"))
                text_list_add(&lines, a->addresses.items[k]);
        text_list_add_owned(&lines, xasprintf("dns %s metric %u %u", dns, a->metric, a->metric6));
    }
    for (size_t i = 0; i < routes.count; i++)
        if (routes.items[i].interface_index == index)
            text_list_add_owned(&lines,
                                xasprintf("%s %s %u", routes.items[i].destination,
                                          routes.items[i].next_hop, routes.items[i].metric));
    qsort(lines.items, lines.count, sizeof *lines.items, by_text);
    joined = text_list_join(&lines, "\n");
    text_list_free(&lines);
    host_adapters_free(&adapters);
    host_routes_free(&routes);
    return joined;
}

static void guard(struct host *host, const struct kind *kind, const struct nic_snapshot *snapshot) {
    _cleanup_(freep) char *before = settings_of(host, snapshot->address), *made = NULL,
                          *after = NULL;
    struct nic_restored result = {0};
    struct error err = {0};
    struct scene scene;

    scene_open(&scene, "overlay");
    assert_int_equal(scene_plan(&scene), 0);
    free(scene.plan.adapter);
    scene.plan.adapter = xstrdup(snapshot->alias);
    if (nic_guard_ensure(host, &scene.plan, snapshot, NULL, NULL, &result, &err) < 0)
        fail_msg("%s: %s", kind->name, err.message);
    made = settings_of(host, snapshot->address);
    if (!text_equal(before, made) || *result.differs)
        fail_msg("%s: %s\nwas\n%s\nis\n%s", kind->name, result.differs, before, made);
    assert_int_equal(result.outage_ms != 0, !kind->no_outage && !snapshot->dhcp);
    if (nic_guard_remove(host, scene.plan.base_name, snapshot, NULL, NULL, &result, &err) < 0)
        fail_msg("%s: remove: %s", kind->name, err.message);
    after = settings_of(host, snapshot->address);
    if (!text_equal(before, after) || *result.differs)
        fail_msg("%s, removed: %s\nwas\n%s\nis\n%s", kind->name, result.differs, before, after);
    scene_close(&scene);
}

static void what_is_virtual(void **state) {
    (void)state;
    assert_true(nic_is_virtual_alias("vEthernet (nat)"));
    assert_true(nic_is_virtual_alias("br-int")); /* Antrea's */
    assert_false(nic_is_virtual_alias("Ethernet"));
}

static void each_kind_is_kept(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        const struct kind *kind = &kinds[i];
        struct host *host = host_memory_new();
        struct nic_snapshot snapshot = {0};
        struct error err = {0};

        play_kind(host, kind);
        if (nic_choose(host, kind->adapter, kind->node_ip, &snapshot, &err) < 0)
            fail_msg("%s: %s", kind->name, err.message);
        assert_string_equal(snapshot.alias, kind->alias);
        guard(host, kind, &snapshot);
        nic_snapshot_free(&snapshot);
        host_free(host);
    }
}

static void note_waited(void *context, unsigned waited_ms, const char *waiting_for) {
    (void)waited_ms;
    assert_string_equal(waiting_for, "its IPv6 address to come back");
    ++*(unsigned *)context;
}

/* A router that is slow: the node goes on without the address, and says so. */
static void an_advertised_address_that_stays_away_is_told(void **state) {
    static const struct kind kind = {
        .name = "advertised",
        .adapters = {{"Ethernet", MAC_A, {"10.0.0.21/24", "2001:db8::21/64"}, {"2001:db8::21/64"}}},
        .routes = {{"0.0.0.0/0", "10.0.0.1", 4, 256, false}}};
    struct host *host = host_memory_new();
    struct nic_snapshot snapshot = {0};
    struct nic_restored result = {0};
    struct host_adapters adapters = {0};
    uint64_t begin = host_monotonic_ms(host);
    unsigned told = 0;

    (void)state;
    play_kind(host, &kind);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_string_equal(snapshot.address6, "2001:db8::21/64");
    assert_int_equal(snapshot.addresses6.count, 0);
    assert_int_equal(host_adapters(host, &adapters, NULL), 0);
    free(adapters.items[0].addresses.items[--adapters.items[0].addresses.count]);
    adapters.items[0].metric = 25; /* Windows' choice: none was set before */
    host_memory_set_adapters(host, &adapters);
    host_adapters_free(&adapters);
    assert_int_equal(nic_restore(host, &snapshot, note_waited, &told, &result, NULL), 0);
    assert_true(told > 1);
    assert_string_equal(result.differs, "no address 2001:db8::21/64");
    assert_null(strstr(host_memory_log(host), "metric"));
    assert_in_range(host_monotonic_ms(host) - begin, 10000, 12000);
    nic_snapshot_free(&snapshot);
    host_free(host);
}

static void what_the_journal_keeps_is_the_whole(void **state) {
    struct host *host = host_memory_new();
    struct nic_snapshot snapshot = {0}, again = {0};
    json_t *first, *second;

    (void)state;
    for (size_t i = 6; i < 8; i++) {
        play_kind(host, &kinds[i]);
        assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
        first = nic_snapshot_json(&snapshot);
        assert_int_equal(nic_snapshot_read(first, &again, NULL), 0);
        second = nic_snapshot_json(&again);
        assert_true(json_equal(first, second));
        assert_int_equal(again.metric, kinds[i].adapters[0].metric);
        assert_int_equal(again.addresses6.count, i == 7);
        nic_snapshot_free(&snapshot);
        nic_snapshot_free(&again);
        json_decref(first);
        json_decref(second);
    }
    host_free(host);
}

/* ---- the watchdog ---- */

static const struct kind plain = {
    .name = "plain",
    .adapters = {{"Ethernet", MAC_A, {"10.0.0.21/24", "fd00::21/64"}, {0}, {0}, {"10.0.0.2"}}},
    .routes = {{"0.0.0.0/0", "10.0.0.1", 4, 256, false}}};

/* It runs when HNS is called, and its file holds the snapshot. */
static void look_for_it(void *context, struct host *host) {
    size_t *seen = context;
    if (host_memory_watchers(host) == 1 && host_file_type(host, NIC_WATCHDOG_FILE) == HOST_FILE)
        (*seen)++;
}

static void it_runs_within_the_outage_alone(void **state) {
    struct host *host = host_memory_new();
    struct nic_snapshot snapshot = {0};
    size_t seen = 0;

    (void)state;
    play_kind(host, &plain);
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    host_memory_on_sleep(host, look_for_it, &seen);
    guard(host, &plain, &snapshot);
    assert_true(seen >= 2);
    assert_int_equal(host_memory_watchers(host), 0);
    assert_int_equal(host_file_type(host, NIC_WATCHDOG_FILE), HOST_ABSENT);
    nic_snapshot_free(&snapshot);
    host_free(host);
}

/* What is left when winjoin is killed: a vSwitch, an adapter without its address, a file. */
static void die_in_the_outage(struct host *host, struct nic_snapshot *snapshot) {
    struct scene scene;
    enum hcn_outcome outcome;
    struct hcn_network network;

    play_kind(host, &plain);
    assert_int_equal(nic_choose(host, NULL, NULL, snapshot, NULL), 0);
    assert_non_null(nic_watchdog_start(host, snapshot));
    scene_open(&scene, "overlay");
    assert_int_equal(scene_plan(&scene), 0);
    assert_int_equal(hcn_base_network_ensure(host, &scene.plan, &network, &outcome, NULL), 0);
    scene_close(&scene);
}

static void it_restores_what_a_killed_winjoin_left(void **state) {
    struct host *host = host_memory_new();
    _cleanup_(freep) char *before = NULL, *after = NULL;
    struct nic_snapshot snapshot = {0};
    struct error err = {0};
    bool restored = false;
    uint32_t index = 0;
    uint64_t begin;

    (void)state;
    play_kind(host, &plain);
    before = settings_of(host, "10.0.0.21");
    die_in_the_outage(host, &snapshot);
    assert_int_equal(nic_index_of(host, "10.0.0.21", &index, NULL), -1);
    begin = host_monotonic_ms(host);
    if (nic_watchdog_run(host, &restored, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(restored);
    after = settings_of(host, "10.0.0.21");
    assert_string_equal(before, after);
    assert_in_range(host_monotonic_ms(host) - begin, 20000, 40000);
    assert_int_equal(host_file_type(host, NIC_WATCHDOG_FILE), HOST_ABSENT);
    nic_snapshot_free(&snapshot);
    host_free(host);
}

static void it_leaves_alone_what_is_well(void **state) {
    struct host *host = host_memory_new();
    struct nic_snapshot snapshot = {0};
    struct error err = {0};
    bool restored = true;
    uint32_t index = 0;

    (void)state;
    die_in_the_outage(host, &snapshot);
    host_memory_set_watched_well(host, true);
    assert_int_equal(nic_watchdog_run(host, &restored, &err), 0);
    assert_false(restored);
    assert_int_equal(nic_index_of(host, "10.0.0.21", &index, NULL), -1);
    assert_int_equal(host_remove(host, NIC_WATCHDOG_FILE, NULL), 0);
    assert_int_equal(nic_watchdog_run(host, &restored, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_int_equal(host_write(host, NIC_WATCHDOG_FILE, "{}", 2, HOST_SECRET, NULL), 0);
    assert_int_equal(nic_watchdog_run(host, &restored, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    nic_snapshot_free(&snapshot);
    host_free(host);
}

/* What Windows makes by itself of an adapter's addresses is not restored. */
static void routes_that_are_kept(void **state) {
    static const struct {
        struct host_route route;
        bool kept, kept_if_advertised;
    } rows[] = {
        {{"0.0.0.0/0", "10.0.0.1", 4, 256, false}, true, true},
        {{"172.16.0.0/12", "10.0.0.6", 4, 1, false}, true, true},
        {{"169.254.169.254/32", "0.0.0.0", 4, 1, false}, true, true},
        {{"172.16.0.0/12", "10.0.0.6", 5, 1, false}, false, false}, /* another adapter's */
        {{"10.0.0.0/24", "0.0.0.0", 4, 256, false}, false, false},
        {{"10.0.0.255/32", "0.0.0.0", 4, 256, false}, false, false},
        {{"224.0.0.0/4", "0.0.0.0", 4, 256, false}, false, false},
        {{"255.255.255.255/32", "0.0.0.0", 4, 256, false}, false, false},
        {{"no prefix", "10.0.0.6", 4, 1, false}, false, false},
        {{"fe80::/64", "::", 4, 256, false}, false, false},
        {{"fd01::/48", "fd00::1", 4, 10, false}, true, true},
        {{"::/0", "fe80::1", 4, 256, false}, true, false},
    };
    char address[] = "10.0.0.21/24", *addresses[] = {address}, name[] = "Ethernet";

    (void)state;
    for (int advertised = 0; advertised < 2; advertised++)
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
            struct host_route route = rows[i].route;
            const struct host_adapter adapter = {.alias = name,
                                                 .index = 4,
                                                 .addresses = {addresses, 1},
                                                 .advertised = {addresses, (size_t)advertised}};
            const struct host_routes routes = {&route, 1};
            _cleanup_(nic_snapshot_free) struct nic_snapshot snapshot = {0};

            nic_snapshot_take(&adapter, &adapter, &routes, NULL, &snapshot);
            if ((snapshot.routes.count == 1) !=
                (advertised ? rows[i].kept_if_advertised : rows[i].kept))
                fail_msg("%s by %s, advertised: %d", route.destination, route.next_hop, advertised);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_that_are_kept),
        cmocka_unit_test(what_is_virtual),
        cmocka_unit_test(each_kind_is_kept),
        cmocka_unit_test(an_advertised_address_that_stays_away_is_told),
        cmocka_unit_test(what_the_journal_keeps_is_the_whole),
        cmocka_unit_test(it_runs_within_the_outage_alone),
        cmocka_unit_test(it_restores_what_a_killed_winjoin_left),
        cmocka_unit_test(it_leaves_alone_what_is_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
