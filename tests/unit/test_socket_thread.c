/* How long one waits for a thread, on which the system's resolver runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/socket.h"

static void end_at_once(void *context) {
    *(bool *)context = true;
}

static void take_long(void *) {
    socket_sleep(400);
}

/* It is waited for, but no longer than it may take. */
static void a_thread_is_waited_for(void **state) {
    bool done = false;
    uint64_t begin;

    (void)state;
    assert_int_equal(socket_thread(end_at_once, &done, 20000), 1);
    assert_true(done);
    begin = socket_now_us();
    assert_int_equal(socket_thread(take_long, NULL, 20), 0);
    assert_true(socket_now_us() - begin >= 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_thread_is_waited_for)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
