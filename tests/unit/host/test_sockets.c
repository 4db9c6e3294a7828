/* Echo, exchanges and probes over this machine's own sockets; a thread is the other side. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cidr.h"
#include "base/memory.h"
#include "diag/probe/probe.h"
#include "host/socket.h"
#include "host/socket_os.h"

enum { ECHO_TURN_MS = 10, WAIT_MS = 20000 };

/* ---- the other side ---- */

/* The question's first label says what the answer is: yes, no, fail, empty, odd (another's answer
 * comes first), silent, huge and shut (over TCP). The answer's length. */
static size_t dns_answer(unsigned char *message, size_t len, bool other) {
    static const unsigned char record[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 10, 9, 8, 7};
    const char *label = (const char *)message + 13;

    message[0] ^= other;
    message[2] |= 0x80;
    if (strncmp(label, "no", 2) == 0)
        message[3] = 3;
    if (strncmp(label, "fail", 4) == 0)
        message[3] = 2;
    if (strncmp(label, "yes", 3) != 0 && strncmp(label, "odd", 3) != 0)
        return len;
    message[7] = 1;
    memcpy(message + len, record, sizeof record);
    message[len + 15] = other ? 1 : 7;
    return len + sizeof record;
}

static void dns_datagram(socket_handle udp) {
    unsigned char data[600];
    enum socket_outcome outcome;
    struct socket_peer from;
    long n;

    while ((n = socket_os_receive(udp, data, 300, &from, &outcome)) > 17) {
        unsigned char wrong[600];

        memcpy(wrong, data, sizeof wrong);
        if (strncmp((const char *)data + 13, "odd", 3) == 0)
            (void)socket_os_send(udp, wrong, dns_answer(wrong, (size_t)n, true), &from, &outcome);
        if (strncmp((const char *)data + 13, "silent", 6) != 0)
            (void)socket_os_send(udp, data, dns_answer(data, (size_t)n, false), &from, &outcome);
    }
}

static void dns_connection(socket_handle listener) {
    socket_handle handle = socket_os_accept(listener);
    struct socket_wait wait = {.handle = handle};
    unsigned char data[600] = {0};
    enum socket_outcome outcome;
    size_t len;
    long n;

    if (handle == -1)
        return;
    (void)socket_os_wait(&wait, 1, 2000);
    n = socket_os_receive(handle, data, 300, NULL, &outcome);
    if (n > 19 && strncmp((const char *)data + 15, "shut", 4) != 0) {
        len = dns_answer(data + 2, (size_t)n - 2, false);
        data[0] =
            strncmp((const char *)data + 15, "huge", 4) == 0 ? 0xff : (unsigned char)(len >> 8);
        data[1] = (unsigned char)len;
        (void)socket_os_send(handle, data, 1, NULL, &outcome); /* in two pieces */
        (void)socket_os_send(handle, data + 1, len + 1, NULL, &outcome);
    }
    socket_os_close(handle);
}

static socket_handle listen_on(unsigned port, bool udp) {
    struct socket_peer peer;
    socket_handle handle = socket_os_open(4, udp);

    if (socket_os_peer("127.0.0.1", port, &peer) < 0 || socket_os_bind(handle, &peer, !udp) != 0)
        exit(1);
    return handle;
}

static void families(void **state) {
    struct socket_peer peer;
    socket_handle six = socket_os_open(6, true); /* -1: a system without IPv6 */

    (void)state;
    assert_true(!socket_os_peer("127.0.0.1", 0, &peer) && socket_os_bind(six, &peer, false));
    if (six != -1)
        socket_os_close(six);
}

static pthread_t server;
static atomic_bool ended;
static unsigned port; /* echo; the next: DNS; the one after: nobody */
static struct socket_echo *served;
static socket_handle dns_udp, dns_tcp;

static void *serve(void *context) {
    while (!atomic_load(&ended)) {
        socket_echo_serve(served, ECHO_TURN_MS);
        dns_datagram(dns_udp);
        dns_connection(dns_tcp);
    }
    return context;
}

static int start_server(void **state) {
    (void)state;
    if (socket_start() < 0)
        return -1;
    port = 20000 + (unsigned)getpid() % 4000 * 3;
    dns_udp = listen_on(port + 1, true);
    dns_tcp = listen_on(port + 1, false);
    served = socket_echo_open("", port, port, "p1 ");
    return served ? pthread_create(&server, NULL, serve, NULL) : -1;
}

static int end_server(void **state) {
    (void)state;
    atomic_store(&ended, true);
    (void)pthread_join(server, NULL);
    socket_os_close(dns_udp);
    socket_os_close(dns_tcp);
    socket_echo_close(served);
    return 0;
}

/* ---- probes by hand ---- */

/* `line` with every "#" as the echo's port, "@" the DNS server's, "!" nobody's. */
static int probe(const char *line, struct text *said, struct error *err) {
    _cleanup_(text_list_free) struct text_list words = {0};
    struct text whole = {0};
    int result;

    for (; *line; line++) {
        const char *place = strchr("#@!", *line);

        if (place)
            text_addf(&whole, "%u", port + (unsigned)(place - "#@!"));
        else
            text_add_char(&whole, *line);
    }
    text_list_split(&words, text_str(&whole), ' ');
    text_free(&whole);
    text_clear(said);
    text_add(said, "");
    *err = (struct error){0};
    result = probe_command((int)words.count, words.items, said, err);
    return result;
}

/* "ok 3/3  0.123 ms  from p1\n" without the time, which is a number above nothing and below a
 * minute. */
static void assert_said(const char *line, const struct text *said, const char *wanted) {
    _cleanup_(freep) char *text = xstrdup(text_str(said));
    char *time = strstr(text, "  "), *end = time ? strstr(time, " ms") : NULL;

    if (end) {
        double ms = strtod(time, NULL);

        assert_true(ms > 0 && ms < 60000);
        memmove(time, end + 3, strlen(end + 3) + 1);
    }
    if (strcmp(text, wanted) != 0)
        fail_msg("%s: '%s', not '%s'", line, text_str(said), wanted);
}

static const struct {
    const char *line, *said, *message; /* of the error; NULL = none */
} by_hand[] = {
    {"tcp 127.0.0.1:#", "ok 3/3\n", NULL},
    {"tcp 127.0.0.1:# --payload 1", "ok 3/3  from p1\n", NULL},
    {"tcp 127.0.0.1:# --payload 13", "ok 3/3  from p1\n", NULL},
    {"tcp --payload=2000 127.0.0.1:# --expect p1", "ok 3/3  from p1\n", NULL},
    {"tcp 127.0.0.1:# --payload 20 --expect p2", "wrong-responder 0/2  from p1\n",
     "probe '127.0.0.1': wrong-responder"},
    {"tcp localhost:#", "ok 3/3  127.0.0.1", NULL},
    {"tcp 127.0.0.1:!", "refused 0/2\n", "probe '127.0.0.1': refused"},
    {"tcp 224.0.0.1:# --attempts 1", "unreachable 0/1\n", "probe '224.0.0.1': unreachable"},
    {"udp 127.0.0.1:#", "ok 3/3  from p1\n", NULL},
    {"udp 127.0.0.1:# --payload 1400 --expect p1", "ok 3/3  from p1\n", NULL},
    {"udp 127.0.0.1:! --attempts 1", "refused 0/1\n", "probe '127.0.0.1': refused"},
    {"udp-any 127.0.0.1:#", "ok 3/3  from p1\n", NULL},
    {"udp-any 127.0.0.1:! --timeout 200", "no-reply 0/3\n", "probe '127.0.0.1': no-reply"},
    {"resolve localhost", "ok 3/3  127.0.0.1", NULL},
    {"dns 127.0.0.1:@ --question yes.test --expect address", "ok 3/3  10.9.8.7\n", NULL},
    {"dns 127.0.0.1:@ --question odd.test", "ok 3/3  10.9.8.7\n", NULL},
    {"dns 127.0.0.1:@ --question empty", "ok 3/3\n", NULL},
    {"dns 127.0.0.1:@ --question empty --expect address", "dns-nxdomain 0/2\n",
     "probe '127.0.0.1': dns-nxdomain"},
    {"dns 127.0.0.1:@ --question no.test", "ok 3/3\n", NULL},
    {"dns 127.0.0.1:@ --question no.test --expect address", "dns-nxdomain 0/2\n",
     "probe '127.0.0.1': dns-nxdomain"},
    {"dns 127.0.0.1:@ --question fail.test", "ok 3/3\n", NULL},
    {"dns 127.0.0.1:@ --question fail.test --expect address", "dns-servfail 0/2\n",
     "probe '127.0.0.1': dns-servfail"},
    {"dns 127.0.0.1:@ --question silent.test --timeout 200", "dns-timeout 0/3\n",
     "probe '127.0.0.1': dns-timeout"},
    {"dns 127.0.0.1:@", "ok 3/3\n", NULL},
    {"dns localhost:@ --question no.test", "ok 3/3  127.0.0.1", NULL},
    {"dns-tcp 127.0.0.1:@ --question yes.test", "ok 3/3  10.9.8.7\n", NULL},
    {"dns-tcp 127.0.0.1:@ --question huge --expect address", "dns-servfail 0/2\n",
     "probe '127.0.0.1': dns-servfail"},
    {"dns-tcp 127.0.0.1:@ --question shut.test", "reset 0/2\n", "probe '127.0.0.1': reset"},
    {"http 127.0.0.1:# --question page --payload 48", "ok 3/3\n", NULL}, /* as three lines have */
    {"http 127.0.0.1:# --question page --payload 49 --timeout 200", "no-reply 0/3\n",
     "probe '127.0.0.1': no-reply"},
    {"http 127.0.0.1:@ --question 0123456789shut", "reset 0/2\n", "probe '127.0.0.1': reset"},
    {"dns-tcp 127.0.0.1:! --question yes.test", "refused 0/2\n", "probe '127.0.0.1': refused"},
};

static void probes_by_hand(void **state) {
    struct text said = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(by_hand); i++) {
        struct error err;
        int result = probe(by_hand[i].line, &said, &err);

        if (text_starts_with(by_hand[i].line, "udp 127.0.0.1:!") && getenv("WINEPREFIX"))
            continue; /* Wine 8 does not tell that the port is closed */
        if (result != (by_hand[i].message ? -1 : 0) ||
            strcmp(err.message, by_hand[i].message ? by_hand[i].message : "") != 0)
            fail_msg("%s: %d %s: %s", by_hand[i].line, result, err.message, text_str(&said));
        if (by_hand[i].message)
            assert_int_equal(err.kind, ERROR_NETWORK);
        if (strchr(by_hand[i].said, '\n'))
            assert_said(by_hand[i].line, &said, by_hand[i].said);
        else if (!strstr(text_str(&said), " ms  127.0.0.1") &&
                 !strstr(text_str(&said), ", 127.0.0.1"))
            fail_msg("%s: %s", by_hand[i].line, text_str(&said));
    }
    text_free(&said);
}

static void wrong_calls(void **state) {
    static const struct {
        const char *line, *message;
    } rows[] = {
        {"", "read the command line: '' is not a probe"},
        {"icmp 127.0.0.1", "read the command line: 'icmp' is not a probe"},
        {"tcp", "read flags: the target is missing"},
        {"tcp 127.0.0.1", "read target '127.0.0.1': it is not HOST:PORT"},
        {"tcp 127.0.0.1:0", "read target '127.0.0.1:0': it is not HOST:PORT"},
        {"tcp a_/b:1", "read target 'a_/b:1': it is neither an address nor a name"},
        {"tcp a:1 b:1", "read flags: one target only, not 'b:1'"},
        {"tcp a:1 --colour", "read flags: unknown flag '--colour'"},
        {"tcp a:1 --timeouts 4", "read flags: unknown flag '--timeouts'"},
        {"tcp a:1 --timeout", "read flag --timeout: value missing"},
        {"tcp a:1 --timeout 60001", "read flag --timeout: '60001' is not a number 0..60000"},
        {"tcp a:1 --payload 2001", "read flag --payload: '2001' is not a number 0..2000"},
        {"tcp a:1 --attempts=101", "read flag --attempts: '101' is not a number 0..100"},
        {"serve", "read flags: serve needs --mailbox and --name"},
        {"serve --mailbox x", "read flags: serve needs --mailbox and --name"},
        {"serve --name x", "read flags: serve needs --mailbox and --name"},
        {"serve --mailbox x --name x/", "read flag --name: 'x/' is not a name"},
        {"serve --mailbox x --name x --run /", "read flag --run: '/' is not a name"},
        {"serve --mailbox x --name x --address 1234567890123456789012345678901234567890123456",
         "read flag --address: '1234567890123456789012345678901234567890123456' is not an address"},
        {"serve --tcp 65536", "read flag --tcp: '65536' is not a number 0..65535"},
        {"serve --udp 65536", "read flag --udp: '65536' is not a number 0..65535"},
    };
    _cleanup_(freep) char *long_name = xcalloc(300, 1), *line = NULL;
    struct text said = {0};
    struct error err;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_int_equal(probe(rows[i].line, &said, &err), -1);
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_int_equal(said.len, 0);
    }
    memset(long_name, 'a', 254);
    line = xasprintf("resolve %s", long_name);
    assert_int_equal(probe(line, &said, &err), -1);
    assert_string_equal(err.message, "read target: it is too long");
    line = (free(line), xasprintf("dns a:53 --question %s", long_name));
    assert_int_equal(probe(line, &said, &err), -1);
    assert_string_equal(err.message, "read flags: a name is too long");
    line = (free(line), xasprintf("tcp a:53 --expect %.65s", long_name));
    assert_int_equal(probe(line, &said, &err), -1);
    assert_string_equal(err.message, "read flags: a name is too long");
    for (int kind = PROBE_TCP; kind <= PROBE_RESOLVE; kind++)
        assert_non_null(strstr(probe_usage, probe_kind_names[kind]));
    text_free(&said);
}

/* ---- the echo ---- */

static socket_handle connected(void) {
    struct socket_wait wait = {.write = true};
    enum socket_outcome outcome;
    struct socket_peer peer;

    assert_int_equal(socket_os_peer("127.0.0.1", port, &peer), 0);
    wait.handle = socket_os_open(4, false);
    assert_int_equal(socket_os_connect(wait.handle, &peer, &outcome), 0);
    assert_int_equal(socket_os_wait(&wait, 1, WAIT_MS), 1);
    assert_int_equal(socket_os_state(wait.handle), SOCKET_OK);
    return wait.handle;
}

static void say(socket_handle handle, const char *data, size_t len) {
    enum socket_outcome outcome;

    assert_int_equal(socket_os_send(handle, data, len, NULL, &outcome), (long)len);
}

/* All that comes until `len` bytes or the end; how many. */
static size_t hear(socket_handle handle, char *ret, size_t len) {
    struct socket_wait wait = {.handle = handle};
    enum socket_outcome outcome;
    size_t have = 0;
    long n = 1;

    while (have < len && n > 0) {
        assert_int_equal(socket_os_wait(&wait, 1, WAIT_MS), 1);
        n = socket_os_receive(handle, ret + have, len - have, NULL, &outcome);
        have += n > 0 ? (size_t)n : 0;
    }
    ret[have] = '\0';
    return have;
}

static void each_line_is_answered(void **state) {
    char heard[100], *long_line = xcalloc(5000, 1);
    socket_handle handle = connected();
    _cleanup_(text_free) struct text said = {0};
    struct error err;

    (void)state;
    say(handle, "one\ntwo\nthr", 11);
    assert_int_equal(hear(handle, heard, 14), 14);
    assert_string_equal(heard, "p1 one\np1 two\n");
    assert_int_equal(probe("tcp 127.0.0.1:# --payload 14 --attempts 100", &said, &err), 0);
    say(handle, "ee\n", 3); /* it stays, as those that ended made room */
    assert_int_equal(hear(handle, heard, 9), 9);
    assert_string_equal(heard, "p1 three\n");
    memset(long_line, 'x', 4096); /* without an end: nobody waits for it */
    say(handle, long_line, 4096);
    assert_int_equal(hear(handle, heard, 1), 0);
    socket_os_close(handle);
    handle = connected();
    say(handle, long_line, 4095);
    say(handle, "\nyes\n", 5);
    assert_int_equal(hear(handle, long_line, 4099 + 7), 4099 + 7);
    assert_string_equal(long_line + 4099, "p1 yes\n");
    socket_os_close(handle);
    free(long_line);
}

/* The 65th takes the place of the one that has stood longest. */
static void the_oldest_makes_room(void **state) {
    socket_handle handles[65];
    char heard[10];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(handles); i++) {
        handles[i] = connected();
        if (i == ARRAY_SIZE(handles) - 1)
            break;
        say(handles[i], "a\n", 2);
        assert_int_equal(hear(handles[i], heard, 5), 5);
    }
    assert_int_equal(hear(handles[0], heard, 1), 0);
    for (size_t i = 1; i < ARRAY_SIZE(handles); i++) {
        say(handles[i], "b\n", 2);
        assert_int_equal(hear(handles[i], heard, 5), 5);
        assert_string_equal(heard, "p1 b\n");
    }
    for (size_t i = 0; i < ARRAY_SIZE(handles); i++)
        socket_os_close(handles[i]);
}

/* Two echoes would else talk to each other without end. */
static void an_answer_is_not_answered(void **state) {
    char answer[64] = "old";

    (void)state;
    assert_int_equal(
        socket_udp_exchange("127.0.0.1", port, false, "p2 x\n", answer, sizeof answer, 60),
        SOCKET_NO_REPLY);
    assert_string_equal(answer, "");
    assert_int_equal(
        socket_udp_exchange("127.0.0.1", port, false, "px\n", answer, sizeof answer, WAIT_MS),
        SOCKET_OK);
    assert_string_equal(answer, "p1 px\n");
    assert_int_equal(
        socket_udp_exchange("127.0.0.1", port, true, "py\n", answer, sizeof answer, WAIT_MS),
        SOCKET_OK);
    assert_string_equal(answer, "p1 py\n");
    assert_int_equal(socket_tcp_exchange("127.0.0.1", port, "pz\n", answer, sizeof answer, WAIT_MS),
                     SOCKET_OK);
    assert_string_equal(answer, "p1 pz\n");
    assert_int_equal(socket_tcp_exchange("127.0.0.1", port, "long\n", answer, 5, WAIT_MS),
                     SOCKET_OK);
    assert_string_equal(answer, "p1 l");
}

static void no_address_no_talk(void **state) {
    char answer[64], addresses[4][46], name[300];
    size_t count = 7;

    (void)state;
    assert_int_equal(socket_udp_exchange("nobody", port, false, "x", answer, sizeof answer, 50),
                     SOCKET_FAILED);
    assert_int_equal(socket_udp_exchange("nobody", port, true, "x", answer, sizeof answer, 50),
                     SOCKET_FAILED);
    assert_int_equal(socket_tcp_exchange("nobody", port, "x", answer, sizeof answer, 50),
                     SOCKET_FAILED);
    assert_int_equal(socket_dns_query("nobody", port, 0, "x", 0, 50, addresses, 4, &count),
                     SOCKET_FAILED);
    assert_int_equal(count, 0);
    assert_int_equal(socket_dns_query("127.0.0.1", port, 0, "", 0, 50, addresses, 4, &count),
                     SOCKET_FAILED);
    assert_int_equal(socket_resolve("127.0.0.1", WAIT_MS, addresses, 4, &count), SOCKET_OK);
    assert_int_equal(count, 1);
    assert_string_equal(addresses[0], "127.0.0.1");
    assert_int_equal(socket_resolve("::1", WAIT_MS, addresses, 4, &count), SOCKET_OK);
    assert_int_equal(count, 1);
    assert_string_equal(addresses[0], "::1");
    socket_host_name(name, sizeof name);
    assert_true(strlen(name) > 0 && strlen(name) < 256);
}

static void a_port_has_one_echo(void **state) {
    struct socket_echo *echo;
    struct socket_peer peer;
    uint64_t start;

    (void)state;
    assert_int_equal(socket_os_peer("127.0.0.1", port + 2, &peer), 0);
    assert_int_equal(socket_os_bind(-1, &peer, true), -1);
    assert_int_equal(socket_os_bind(-1, &peer, false), -1);
    assert_null(socket_echo_open("127.0.0.1", port, 0, "x "));
    assert_null(socket_echo_open("nobody", port + 2, 0, "x "));
    echo = socket_echo_open("127.0.0.1", port + 2, 0, "x ");
    assert_non_null(echo);
    start = socket_now_us();
    socket_echo_serve(echo, 30);
    socket_sleep(20);
    assert_in_range(socket_now_us() - start, 50000, 20000000);
    socket_echo_close(echo);
}

/* However many this machine has: addresses that others can reach, and no more than are asked for.
 */
static void own_addresses(void **state) {
    char own[9][46];

    (void)state;
    for (size_t max = 0; max < ARRAY_SIZE(own); max++) {
        size_t count;

        memset(own, 0, sizeof own);
        count = socket_own_addresses(own, max);
        assert_true(count <= max);
        for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
            struct ip ip;

            assert_int_equal(ip_parse(own[i], &ip, NULL), i < count ? 0 : -1);
            assert_false(text_starts_with(own[i], "127.") || text_equal(own[i], "::1"));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families),
        cmocka_unit_test(probes_by_hand),
        cmocka_unit_test(wrong_calls),
        cmocka_unit_test(each_line_is_answered),
        cmocka_unit_test(the_oldest_makes_room),
        cmocka_unit_test(an_answer_is_not_answered),
        cmocka_unit_test(no_address_no_talk),
        cmocka_unit_test(a_port_has_one_echo),
        cmocka_unit_test(own_addresses),
    };

    return cmocka_run_group_tests(tests, start_server, end_server);
}
