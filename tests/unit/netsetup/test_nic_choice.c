/* Adapters that no virtual switch can be made on, and one that nobody can tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/scene/nic_scene.h"

static void set_adapter(struct host *host, const char *alias, const char *mac, const char *driver) {
    struct host_adapters adapters = {0};

    assert_int_equal(host_adapters(host, &adapters, NULL), 0);
    text_set(&adapters.items[0].alias, xstrdup(alias));
    text_set(&adapters.items[0].description, xstrdup(driver));
    (void)text_format(adapters.items[0].mac, sizeof adapters.items[0].mac, "%s", mac);
    host_memory_set_adapters(host, &adapters);
    host_adapters_free(&adapters);
}

/* What a virtual switch cannot be made on is told by its driver's name, in each language. */
static void teams_and_tunnels(void **state) {
    static const struct {
        const char *mac, *driver;
        bool team, tunnel;
    } rows[] = {
        {MAC_A, "Microsoft Hyper-V Network Adapter", false, false},
        {MAC_A, "Microsoft Network Adapter Multiplexor Driver #2", true, false},
        {MAC_A, "Microsoft-Netzwerkadapter-Multiplexortreiber", true, false},
        {MAC_A,
         "\xd0\x94\xd1\x80\xd0\xb0\xd0\xb9\xd0\xb2\xd0\xb5\xd1\x80 "
         "\xd0\xbc\xd1\x83\xd0\xbb\xd1\x8c\xd1\x82\xd0\xb8\xd0\xbf\xd0\xbb\xd0\xb5\xd0\xba"
         "\xd1\x81\xd0\xbe\xd1\x80\xd0\xb0",
         true, false},
        {"", "WireGuard Tunnel", false, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct host *host = host_memory_new();
        _cleanup_(nic_snapshot_free) struct nic_snapshot snapshot = {0};

        set_adapter(host, "Ethernet", rows[i].mac, rows[i].driver);
        assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
        if (snapshot.is_team != rows[i].team || snapshot.is_tunnel != rows[i].tunnel)
            fail_msg("%s: %d %d", rows[i].driver, snapshot.is_team, snapshot.is_tunnel);
        host_free(host);
    }
}

/* It has all that the node needs: that is not denied. */
static void a_switch_that_nobody_can_place(void **state) {
    static const struct {
        const char *adapter, *node_ip;
    } calls[] = {{NULL, NULL}, {"vEthernet (Mgmt)", NULL}, {NULL, "10.0.0.21"}};
    struct kind kind = {.name = "converged",
                        .adapters = {{"NIC 1", MAC_A},
                                     {"NIC 2", MAC_B},
                                     {"vEthernet (Mgmt)", MAC_C, {"10.0.0.21/24"}}},
                        .routes = {{"0.0.0.0/0", "10.0.0.1", 6, 256, false}}};

    (void)state;
    for (size_t bare = 2; bare; bare--) {
        struct host *host = host_memory_new();

        kind.adapters[0].addresses[0] = bare < 2 ? "10.9.0.1/24" : NULL;
        kind.adapters[1].addresses[0] = bare < 1 ? "10.9.1.1/24" : NULL;
        play_kind(host, &kind);
        for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
            struct nic_snapshot snapshot = {0};
            struct error err = {0};

            assert_int_equal(nic_choose(host, calls[i].adapter, calls[i].node_ip, &snapshot, &err),
                             -1);
            assert_int_equal(err.kind, ERROR_PREFLIGHT);
            if (!strstr(err.message, "'vEthernet (Mgmt)' is on a virtual switch"))
                fail_msg("%zu %zu: %s", bare, i, err.message);
            assert_string_equal(
                err.hints[0],
                bare == 2 ? "name it: --adapter \"NIC 1\" (without an address are 'NIC 1', 'NIC 2')"
                          : "name it: --adapter \"NIC 2\" (without an address are 'NIC 2')");
        }
        host_free(host);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(teams_and_tunnels),
        cmocka_unit_test(a_switch_that_nobody_can_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
