/* A network adapter that loses what it had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "netsetup/nic/nic.h"
#include "tests/memory/host_memory.h"

enum { DOWN_MS = 2000, UP_AGAIN_MS = 4000, GRACE_MS = 3000 };

static void set_adapter(struct host *host, bool up) {
    struct host_adapters adapters = {0};

    assert_int_equal(host_adapters(host, &adapters, NULL), 0);
    adapters.items[0].up = up;
    host_memory_set_adapters(host, &adapters);
    host_adapters_free(&adapters);
}

static void take_address(struct host *host) {
    struct host_adapters adapters = {0};

    assert_int_equal(host_adapters(host, &adapters, NULL), 0);
    text_list_free(&adapters.items[0].addresses);
    text_list_free(&adapters.items[0].gateways);
    host_memory_set_adapters(host, &adapters);
    host_adapters_free(&adapters);
}

/* 10.0.0.20 stays of two addresses. */
static void lose_second(struct host *host, bool dhcp, struct nic_snapshot *ret) {
    struct host_adapters adapters = {0};
    struct text_list *addresses;

    assert_int_equal(host_adapters(host, &adapters, NULL), 0);
    adapters.items[0].dhcp = dhcp;
    addresses = &adapters.items[0].addresses;
    text_list_free(addresses);
    text_list_add(addresses, "10.0.0.20/24");
    text_list_add(addresses, "10.0.0.21/24");
    host_memory_set_adapters(host, &adapters);
    assert_int_equal(nic_choose(host, NULL, "10.0.0.20", ret, NULL), 0);
    free(addresses->items[--addresses->count]);
    host_memory_set_adapters(host, &adapters);
    host_adapters_free(&adapters);
}

/* For DHCP what stays is all there is to get. */
static void a_second_address_that_is_lost(void **state) {
    (void)state;
    for (int dhcp = 0; dhcp < 2; dhcp++) {
        struct host *host = host_memory_new();
        struct nic_snapshot snapshot = {0};
        struct nic_restored result = {0};

        lose_second(host, dhcp, &snapshot);
        assert_int_equal(nic_restore(host, &snapshot, NULL, NULL, &result, NULL), 0);
        assert_int_equal(result.address_restored, !dhcp);
        assert_string_equal(result.differs, dhcp ? "no address 10.0.0.21/24" : "");
        nic_snapshot_free(&snapshot);
        host_free(host);
    }
}

/* What fails at one look is done at the next. */
static void a_failure_is_tried_again(void **state) {
    size_t calls = 1;

    (void)state;
    for (size_t n = 1; n <= calls; n++) {
        struct host *host = host_memory_new();
        struct nic_snapshot snapshot = {0};
        struct nic_restored result = {0};

        lose_second(host, false, &snapshot);
        calls = host_memory_calls(host);
        host_memory_fail(host, n);
        assert_int_equal(nic_restore(host, &snapshot, NULL, NULL, &result, NULL), 0);
        calls = host_memory_calls(host) - calls;
        assert_true(result.address_restored);
        assert_string_equal(result.differs, "");
        nic_snapshot_free(&snapshot);
        host_free(host);
    }
}

struct flap {
    uint64_t start;
    bool was_down;
};

static void play(void *context, struct host *host) {
    struct flap *flap = context;
    uint64_t after = host_monotonic_ms(host) - flap->start;
    bool down = after >= DOWN_MS && after < UP_AGAIN_MS;

    if (down != flap->was_down)
        set_adapter(host, !down);
    flap->was_down = down;
}

/* Up, down and up again while a virtual switch is made: Windows has three seconds from when it came
 * up for good. */
static void a_static_address_waits_for_the_last_time_up(void **state) {
    struct host *host = host_memory_new();
    struct nic_snapshot snapshot = {0};
    struct nic_restored result = {0};
    struct error err = {0};
    struct flap flap = {0};
    uint64_t waited;

    (void)state;
    assert_int_equal(nic_choose(host, NULL, NULL, &snapshot, NULL), 0);
    assert_false(snapshot.dhcp);
    take_address(host);
    flap.start = host_monotonic_ms(host);
    host_memory_on_sleep(host, play, &flap);
    if (nic_restore(host, &snapshot, NULL, NULL, &result, &err) < 0)
        fail_msg("%s", err.message);
    waited = host_monotonic_ms(host) - flap.start;
    assert_true(result.address_restored);
    assert_in_range(waited, UP_AGAIN_MS + GRACE_MS, UP_AGAIN_MS + GRACE_MS + 2000);
    nic_snapshot_free(&snapshot);
    host_free(host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_address_that_is_lost),
        cmocka_unit_test(a_failure_is_tried_again),
        cmocka_unit_test(a_static_address_waits_for_the_last_time_up),
    };

    return cmocka_run_group_tests_name("adapter that flaps", tests, NULL, NULL);
}
