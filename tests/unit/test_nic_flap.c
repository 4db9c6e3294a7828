/* A network adapter with a static address that goes up, down and up again while a virtual switch is
 * made: Windows has three seconds from when it came up for good. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "netsetup/nic/nic_restore.h"
#include "tests/memory/host_memory.h"

enum { DOWN_MS = 2000, UP_AGAIN_MS = 4000, GRACE_MS = 3000 };

static void set_card(struct host *host, bool up) {
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

struct flap {
    uint64_t start;
    bool was_down;
};

static void play(void *context, struct host *host) {
    struct flap *flap = context;
    uint64_t after = host_monotonic_ms(host) - flap->start;
    bool down = after >= DOWN_MS && after < UP_AGAIN_MS;

    if (down != flap->was_down)
        set_card(host, !down);
    flap->was_down = down;
}

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
        cmocka_unit_test(a_static_address_waits_for_the_last_time_up),
    };

    return cmocka_run_group_tests_name("adapter that flaps", tests, NULL, NULL);
}
