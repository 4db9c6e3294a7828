/* What takes its time: a thread, on which the system's resolver runs, names, one who does not
 * listen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "host/socket.h"
#include "host/socket_os.h"

enum { LARGE = 32 * 1024 * 1024, WAIT_MS = 20000 };

enum { TRIES = 100 };

/* Others have ports, too; below those that systems give to clients. */
static unsigned port_of(unsigned i) {
    return 20000 + ((unsigned)getpid() * TRIES + i) % 12000;
}

static unsigned bind_any(socket_handle s) {
    struct socket_peer peer;

    for (unsigned i = 0; i < TRIES; i++) {
        assert_int_equal(socket_os_peer("127.0.0.1", port_of(i), &peer), 0);
        if (socket_os_bind(s, &peer, true) == 0)
            return port_of(i);
    }
    fail_msg("no port is free");
    return 0;
}

static struct socket_echo *open_any(unsigned *ret_port) {
    struct socket_echo *echo = NULL;

    for (unsigned i = 0; i < TRIES && !echo; i++) {
        *ret_port = port_of(i);
        echo = socket_echo_open("127.0.0.1", 0, *ret_port, "p1 ");
    }
    assert_non_null(echo);
    return echo;
}

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

/* However short the time is: it is in time, or too late, and no other failure. */
static void a_name_may_come_too_late(void **state) {
    char addresses[4][46];
    unsigned late = 0;

    (void)state;
    for (int i = 0; i < 50; i++) {
        size_t count = 7;
        enum socket_outcome outcome = socket_resolve("localhost", 0, addresses, 4, &count);

        assert_true(outcome == SOCKET_OK || outcome == SOCKET_DNS_TIMEOUT);
        assert_true(outcome == SOCKET_OK || !count);
        late += outcome == SOCKET_DNS_TIMEOUT;
    }
    assert_true(late > 0);
}

/* One who takes nothing is waited for, and no longer than the time. */
static void what_nobody_takes(void **state) {
    _cleanup_(freep) char *text = xmalloc(LARGE + 1);
    socket_handle listener = socket_os_open(4, false);
    unsigned port = bind_any(listener);
    char answer[64];
    uint64_t begin;

    (void)state;
    memset(text, 'x', LARGE);
    text[LARGE] = '\0';
    begin = socket_now_us();
    assert_int_equal(socket_tcp_exchange("127.0.0.1", port, text, answer, sizeof answer, 300),
                     SOCKET_NO_REPLY);
    assert_in_range(socket_now_us() - begin, 300000, 20000000);
    socket_os_close(listener);
}

static atomic_bool served;

static void serve(void *echo) {
    socket_echo_serve(echo, 2000);
    atomic_store(&served, true);
}

/* A byte is sent once; no question leaves a socket open. */
static void little_is_sent_and_nothing_left(void **state) {
    unsigned port;
    struct socket_echo *echo = open_any(&port);
    socket_handle before, after;
    char answer[64], addresses[4][46];
    size_t count;

    (void)state;
    assert_int_equal(socket_thread(serve, echo, 1), 0);
    before = socket_os_open(4, true);
    socket_os_close(before);
    assert_int_equal(
        socket_udp_exchange("127.0.0.1", port, false, "x", answer, sizeof answer, WAIT_MS),
        SOCKET_OK);
    assert_string_equal(answer, "p1 x");
    assert_int_equal(
        socket_udp_exchange("127.0.0.1", port, true, "y", answer, sizeof answer, WAIT_MS),
        SOCKET_OK);
    assert_string_equal(answer, "p1 y");
    assert_int_equal(socket_dns_query("127.0.0.1", port, 0, "x.y", 0, 50, addresses, 4, &count),
                     SOCKET_DNS_TIMEOUT);
    after = socket_os_open(4, true);
    assert_true(after == before);
    socket_os_close(after);
    while (!atomic_load(&served))
        socket_sleep(10);
    socket_echo_close(echo);
}

/* A datagram of that port whose sender was forged would set two echoes on each other. */
static void the_same_port_is_not_answered(void **state) {
    unsigned port;
    struct socket_echo *echo = open_any(&port);
    socket_handle twin = socket_os_open(4, true), other = socket_os_open(4, true);
    uint64_t begin = socket_now_us();
    enum socket_outcome outcome;
    struct socket_peer to, from;
    char answer[8] = "";
    long n = SOCKET_OS_AGAIN;

    (void)state;
    assert_int_equal(socket_os_peer("127.0.0.2", port, &from), 0);
    assert_int_equal(socket_os_port(&from), port);
    assert_int_equal(socket_os_peer("127.0.0.1", port, &to), 0);
    /* Wine gives a port to one socket, whatever the address. */
    if (!getenv("WINEPREFIX")) {
        assert_int_equal(socket_os_bind(twin, &from, false), 0);
        assert_int_equal(socket_os_send(twin, "x", 1, &to, &outcome), 1);
    }
    assert_int_equal(socket_os_send(other, "y", 1, &to, &outcome), 1);
    while (n == SOCKET_OS_AGAIN && socket_now_us() - begin < WAIT_MS * UINT64_C(1000)) {
        socket_echo_serve(echo, 20);
        n = socket_os_receive(other, answer, sizeof answer - 1, &from, &outcome);
    }
    assert_int_equal(n, 4);
    assert_string_equal(answer, "p1 y");
    if (!getenv("WINEPREFIX"))
        assert_int_equal(socket_os_receive(twin, answer, sizeof answer, &from, &outcome),
                         SOCKET_OS_AGAIN);
    assert_int_equal(socket_os_peer("::1", port, &from), 0);
    assert_int_equal(socket_os_port(&from), port);
    socket_os_close(twin);
    socket_os_close(other);
    socket_echo_close(echo);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_is_waited_for),
        cmocka_unit_test(a_name_may_come_too_late),
        cmocka_unit_test(what_nobody_takes),
        cmocka_unit_test(little_is_sent_and_nothing_left),
        cmocka_unit_test(the_same_port_is_not_answered),
    };

    return socket_start() || cmocka_run_group_tests(tests, NULL, NULL);
}
