/* The probe's files, what it refuses in them, and measuring over the loopback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/probe/probe.h"
#include "host/socket.h"
#include "host/socket_dns.h"

static const char list_text[] =
    "winjoin-probes 1\n"
    "pod-to-pod-ip.tcp tcp 10.244.1.6 18080 1400 - winjoin-probe-b 2000 3\n"
    "pod-to-service-ip.udp dns 10.96.0.10 53 0 kubernetes.default.svc.cluster.local address 2000 "
    "3\n"
    "x-resolve-fqdn resolve kubernetes.default.svc.cluster.local 0 0 - - 1000 1\n";

static void list_reads_back_as_written(void **state) {
    _cleanup_(probe_list_free) struct probe_list list = {0};
    _cleanup_(freep) char *text = NULL;

    (void)state;
    assert_int_equal(probe_list_parse(list_text, strlen(list_text), &list, NULL), 0);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[0].id, "pod-to-pod-ip.tcp");
    assert_int_equal(list.items[0].kind, PROBE_TCP);
    assert_int_equal(list.items[0].payload, 1400);
    assert_string_equal(list.items[0].expect, "winjoin-probe-b");
    assert_string_equal(list.items[1].question, "kubernetes.default.svc.cluster.local");
    assert_string_equal(list.items[2].expect, "");
    text = probe_list_write(&list);
    assert_string_equal(text, list_text);
}

static void list_refuses(void **state) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "decode winjoin-probes: the first line is not 'winjoin-probes 1'"},
        {"winjoin-probes 2\n", "decode winjoin-probes: the first line is not 'winjoin-probes 1'"},
        {"winjoin-probes 1\na tcp h 1\n", "decode winjoin-probes: line 2: a probe has 9 fields"},
        {"winjoin-probes 1\na icmp h 1 0 - - 1 1\n", "decode winjoin-probes: line 2: unknown kind"},
        {"winjoin-probes 1\nA tcp h 1 0 - - 1 1\n",
         "decode winjoin-probes: line 2: the id is not 1..64 characters of a-z, 0-9, '.' and '-'"},
        {"winjoin-probes 1\na tcp h;x 1 0 - - 1 1\n",
         "decode winjoin-probes: line 2: the target is neither an address nor a name"},
        {"winjoin-probes 1\na tcp h 65536 0 - - 1 1\n",
         "decode winjoin-probes: line 2: port is not a number 0..65535"},
        {"winjoin-probes 1\na tcp h 1 2001 - - 1 1\n",
         "decode winjoin-probes: line 2: payload is not a number 0..2000"},
        {"winjoin-probes 1\na tcp h 1 0 - - 0 1\n",
         "decode winjoin-probes: line 2: timeout is not a number 1..60000"},
        {"winjoin-probes 1\na tcp h 1 0 - - 1 101\n",
         "decode winjoin-probes: line 2: attempts is not a number 1..100"},
        {"winjoin-probes 1\na dns h 53 0 - - 1 1\n",
         "decode winjoin-probes: line 2: the question does not fit the kind"},
        {"winjoin-probes 1\na udp h 53 0 - - 1 1\n",
         "decode winjoin-probes: line 2: a udp or http probe needs a payload"},
        {"winjoin-probes 1\na http h 80 0 x - 1 1\n",
         "decode winjoin-probes: line 2: a udp or http probe needs a payload"},
        {"winjoin-probes 1\na http h 80 1 - - 1 1\n",
         "decode winjoin-probes: line 2: the question does not fit the kind"},
        {"winjoin-probes 1\na dns h 53 1 x - 1 1\n",
         "decode winjoin-probes: line 2: the payload does not fit the kind"},
        {"winjoin-probes 1\na resolve h 53 0 - - 1 1\n",
         "decode winjoin-probes: line 2: the port does not fit the kind"},
        {"winjoin-probes 1\na tcp h 1 0 - - 1 1\r\n\r\na tcp h 1 0 - - 1 1\n",
         "decode winjoin-probes: line 4: duplicate ID"},
        {"winjoin-probes 1\na tcp h\t 1 0 - - 1 1\n",
         "decode winjoin-probes: line 2: a character is not printable ASCII"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct probe_list list = {0};
        struct error err = {0};

        assert_int_equal(probe_list_parse(rows[i].text, strlen(rows[i].text), &list, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_string_equal(err.message, rows[i].message);
        assert_null(list.items);
    }
}

static void list_is_capped(void **state) {
    _cleanup_(freep) char *many = NULL, *huge = xmalloc(PROBE_FILE_MAX + 1);
    struct probe_list list = {0};
    struct error err = {0};
    struct text t = {0};

    (void)state;
    text_add(&t, "winjoin-probes 1\n");
    for (int i = 0; i <= PROBE_LIST_MAX; i++)
        text_addf(&t, "p%d tcp h 1 0 - - 1 1\n", i);
    many = text_take(&t);
    assert_int_equal(probe_list_parse(many, strlen(many), &list, &err), -1);
    assert_string_equal(err.message, "decode winjoin-probes: line 258: too many probes");
    memset(huge, '\n', PROBE_FILE_MAX + 1);
    assert_int_equal(probe_list_parse(huge, PROBE_FILE_MAX + 1, &list, &err), -1);
    assert_string_equal(err.message, "decode winjoin-probes: more than 131072 bytes");
    assert_int_equal(probe_list_parse(huge, PROBE_FILE_MAX, &list, &err),
                     -1); /* as long as it may be */
    assert_string_equal(err.message,
                        "decode winjoin-probes: the first line is not 'winjoin-probes 1'");
}

static const char results_text[] = "winjoin-results 1\n"
                                   "pod-to-pod-ip.tcp ok 3 3 53 89 89 160 winjoin-probe-b -\n"
                                   "x-dns-udp dns-timeout 2 0 0 0 0 0 - -\n"
                                   "x-resolve-fqdn ok 1 1 900 900 900 900 - 10.96.0.1,fd00::1\n"
                                   "end 3\n";

static void results_read_back_as_written(void **state) {
    _cleanup_(probe_results_free) struct probe_results results = {0};
    _cleanup_(freep) char *text = NULL;
    const struct probe_result *found;

    (void)state;
    assert_int_equal(probe_results_parse(results_text, strlen(results_text), &results, NULL), 0);
    assert_int_equal(results.count, 3);
    found = probe_results_find(&results, "x-dns-udp");
    assert_non_null(found);
    assert_int_equal(found->outcome, PROBE_DNS_TIMEOUT);
    assert_int_equal(found->attempts, 2);
    assert_int_equal(results.items[0].median_us, 89);
    assert_string_equal(results.items[2].addresses[1], "fd00::1");
    assert_null(probe_results_find(&results, "x"));
    text = probe_results_write(&results);
    assert_string_equal(text, results_text);
    probe_results_free(&results);
    assert_null(results.items); /* freed once more at the end */
    assert_int_equal(results.count, 0);
}

#define FIRST_LINE "decode winjoin-results: the first line is not 'winjoin-results 1'"

static void results_refuse(void **state) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"winjoin-list 1\nend 0\n", FIRST_LINE},
        {"winjoin-results 2\nend 0\n", FIRST_LINE},
        {"winjoin-results 1 1\nend 0\n", FIRST_LINE},
        {"winjoin-results\nend 0\n", FIRST_LINE},
        {"winjoin-results 1\nerror no probes.txt\n",
         "decode winjoin-results: line 2: a result has 10 fields"},
        {"winjoin-results 1\na ok 1 1 1 1 1 1 - -\n",
         "decode winjoin-results: line 2: the text ends before its last line"},
        {"winjoin-results 1\nend x\n",
         "decode winjoin-results: line 2: count is not a number 0..256"},
        {"winjoin-results 1\na ok 1 1 1 1 1 1 - -\nend 2\n",
         "decode winjoin-results: line 3: the count does not match the results"},
        {"winjoin-results 1\na fine 1 1 1 1 1 1 - -\nend 1\n",
         "decode winjoin-results: line 2: unknown outcome"},
        {"winjoin-results 1\na ok 1 2 1 1 1 1 - -\nend 1\n",
         "decode winjoin-results: line 2: succeeded is not a number 0..1"},
        {"winjoin-results 1\na ok 1 1 1 1 1 1 - 10.0.0.1,\nend 1\n",
         "decode winjoin-results: line 2: the addresses are not valid"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct probe_results results = {0};
        struct error err = {0};

        assert_int_equal(probe_results_parse(rows[i].text, strlen(rows[i].text), &results, &err),
                         -1);
        assert_string_equal(err.message, rows[i].message);
    }
}

static void heartbeat_tells_the_address(void **state) {
    static const char text[] = "winjoin-heartbeat 1\n"
                               "name winjoin-probe-a\n"
                               "run 5eed\n"
                               "host winjoin-probe-a-win-7k2\n"
                               "addresses fe80::1,169.254.3.4,fd00::5,10.244.1.5\n"
                               "beat 7\ntcp 1\nudp 0\nend\n";
    struct probe_heartbeat beat;
    _cleanup_(freep) char *written = NULL;

    (void)state;
    assert_int_equal(probe_heartbeat_parse(text, strlen(text), &beat, NULL), 0);
    assert_string_equal(probe_heartbeat_address(&beat, false), "10.244.1.5");
    assert_int_equal(beat.beat, 7);
    assert_true(beat.tcp_echo);
    assert_false(beat.udp_echo);
    written = probe_heartbeat_write(&beat);
    assert_string_equal(written, text);
    beat.address_count = 3;
    assert_string_equal(probe_heartbeat_address(&beat, false), "fd00::5");
    beat.address_count = 2;
    assert_null(probe_heartbeat_address(&beat, false));
    assert_int_equal(probe_heartbeat_parse(text, strlen(text) - 4, &beat, NULL), -1);
}

static void heartbeats_are_read_strictly(void **state) {
    static const struct {
        const char *lines, *message;
    } rows[] = {
        {"name a b\n", "a heartbeat's line has 2 fields"},
        {"name\n", "a heartbeat's line has 2 fields"},
        {"beat x\n", "beat"},
        {"beat -1\n", "beat"},
        {"tcp 2000000001\n", "tcp"},
        {"color red\n", "unknown key"},
        {"addresses 10.0.0.1,,10.0.0.2\n", "the addresses are not valid"},
        {"addresses 10.0.0.1,here!\n", "the addresses are not valid"},
        {"name a\n", "the text ends before its last line"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = xasprintf("winjoin-heartbeat 1\n%s%s", rows[i].lines,
                                                i + 1 < ARRAY_SIZE(rows) ? "end\n" : "");
        struct probe_heartbeat beat = {.beat = 77};
        struct error err = {0};

        if (probe_heartbeat_parse(text, strlen(text), &beat, &err) != -1 ||
            err.kind != ERROR_MALFORMED || !strstr(err.message, rows[i].message))
            fail_msg("%s: %s", rows[i].lines, err.message);
        assert_int_equal(beat.beat, 77);
    }
}

static void dns_question_and_answer(void **state) {
    static const unsigned char question[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
                                            "\x01"
                                            "a\x02"
                                            "bc\x00\x00\x01\x00\x01";
    static const unsigned char answer[] = "\x12\x34\x81\x80\x00\x01\x00\x02\x00\x00\x00\x00"
                                          "\x01"
                                          "a\x02"
                                          "bc\x00\x00\x01\x00\x01"
                                          "\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x05\x00\x02\xc0\x0c"
                                          "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04\x0a\x60"
                                          "\x00\x01";
    unsigned char out[DNS_QUERY_MAX], changed[sizeof answer];
    enum socket_outcome outcome = SOCKET_FAILED;
    char addresses[2][46];
    size_t count = 9;

    (void)state;
    assert_int_equal(dns_query_make(out, 0x1234, "a.bc", false, 0), sizeof question - 1);
    assert_memory_equal(out, question, sizeof question - 1);
    assert_int_equal(dns_query_make(out, 0x1234, "a.bc", false, 1400), 1400);
    assert_int_equal(out[11], 1); /* RFC 6891, RFC 7830 */
    assert_memory_equal(out + sizeof question - 1, "\0\0\x29\x10\0\0\0\0\0\x05\x57\0\x0c\x05\x53\0",
                        16);
    assert_int_equal(dns_query_make(out, 0x1234, "a.bc", false, 20), sizeof question - 1);
    assert_int_equal(dns_query_make(out, 0x1234, "a.bc", false, DNS_QUERY_MAX + 1),
                     sizeof question - 1);
    assert_int_equal(dns_query_make(out, 1, "a..b", false, 0), 0);
    assert_int_equal(dns_query_make(out, 1, "", false, 0), 0);
    assert_int_equal(
        dns_answer_parse(answer, sizeof answer - 1, 0x1234, &outcome, addresses, 2, &count), 0);
    assert_int_equal(outcome, SOCKET_OK);
    assert_int_equal(count, 1);
    assert_string_equal(addresses[0], "10.96.0.1");
    assert_int_equal(
        dns_answer_parse(answer, sizeof answer - 1, 0x1235, &outcome, addresses, 2, &count), -1);
    memcpy(changed, answer, sizeof answer);
    changed[3] = 0x83;
    assert_int_equal(dns_answer_parse(changed, 12 + 10, 0x1234, &outcome, addresses, 2, &count), 0);
    assert_int_equal(outcome, SOCKET_DNS_NXDOMAIN);
    assert_int_equal(count, 0);
    for (size_t len = 0; len < sizeof answer - 1; len++) { /* cut short anywhere */
        unsigned char *part = memcpy(malloc(len + 1), answer, len);
        bool has_question = len >= 12 + 10;

        part = realloc(part, len ? len : 1); /* nothing behind it can be read */
        assert_int_equal(dns_answer_parse(part, len, 0x1234, &outcome, addresses, 2, &count),
                         has_question ? 0 : -1);
        assert_true(!has_question || count == 0);
        free(part);
    }
    changed[2] = 1; /* the question, sent back */
    assert_int_equal(dns_answer_parse(changed, 12 + 10, 0x1234, &outcome, addresses, 2, &count),
                     -1);
}

static void dns_of_ipv6(void **state) {
    static const unsigned char answer[] = "\x12\x34\x81\x80\x00\x00\x00\x02\x00\x00\x00\x00"
                                          "\x00\x00\x1c\x00\x01\x00\x00\x00\x05\x00\x10"
                                          "\xfd\x00\x00\x10\x00\x96\x00\x00\x00\x00\x00\x00\x00"
                                          "\x00\x00\x0a"
                                          "\x00\x00\x1c\x00\x01\x00\x00\x00\x05\x00\x04\x01\x02\x03"
                                          "\x04";
    unsigned char out[DNS_QUERY_MAX];
    enum socket_outcome outcome = SOCKET_FAILED;
    char addresses[2][46];
    size_t count = 9, len;

    (void)state;
    len = dns_query_make(out, 1, "a.bc", true, 0);
    assert_memory_equal(out + len - 4, "\0\x1c\0\1", 4);
    assert_int_equal(
        dns_answer_parse(answer, sizeof answer - 1, 0x1234, &outcome, addresses, 2, &count), 0);
    assert_int_equal(outcome, SOCKET_OK);
    assert_int_equal(count, 1); /* the second has the size of another type */
    assert_string_equal(addresses[0], "fd00:10:96:0:0:0:0:a");
}

static void measures_a_closed_port(void **state) {
    struct probe probe = {.id = "x",
                          .kind = PROBE_TCP,
                          .target = "127.0.0.1",
                          .port = 1,
                          .timeout_ms = 1000,
                          .attempts = 5};
    struct probe_result result;

    (void)state;
    assert_int_equal(socket_start(), 0);
    probe_measure(&probe, &result);
    assert_int_equal(result.outcome, PROBE_REFUSED);
    assert_int_equal(result.attempts, 2); /* a dead path is not asked five times */
    assert_int_equal(result.succeeded, 0);
    assert_int_equal(result.median_us, 0);
}

static void command_line_refuses(void **state) {
    static const struct {
        const char *words[6];
        const char *message;
    } rows[] = {
        {{"ping", "h"}, "read the command line: 'ping' is not a probe"},
        {{"tcp"}, "read flags: the target is missing"},
        {{"tcp", "10.0.0.1"}, "read target '10.0.0.1': it is not HOST:PORT"},
        {{"tcp", "10.0.0.1:0"}, "read target '10.0.0.1:0': it is not HOST:PORT"},
        {{"tcp", "fd00::1"}, "read target 'fd00::1': it is not HOST:PORT"},
        {{"tcp", "h:1", "i:2"}, "read flags: one target only, not 'i:2'"},
        {{"tcp", "h:1", "--timeout", "x"}, "read flag --timeout: 'x' is not a number 0..60000"},
        {{"tcp", "h:1", "--attempts=0"},
         "read the command line: decode winjoin-probes: line 2: attempts is not a number 1..100"},
        {{"serve", "--name", "a"}, "read flags: serve needs --mailbox and --name"},
        {{"serve", "--bogus", "a"}, "read flags: unknown flag '--bogus'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char *argv[6] = {0};
        struct text output = {0};
        struct error err = {0};
        int argc = 0;

        for (; argc < 6 && rows[i].words[argc]; argc++)
            argv[argc] = xstrdup(rows[i].words[argc]);
        assert_int_equal(probe_command(argc, argv, &output, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_string_equal(err.message, rows[i].message);
        text_free(&output);
        while (argc)
            free(argv[--argc]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_reads_back_as_written),
        cmocka_unit_test(list_refuses),
        cmocka_unit_test(list_is_capped),
        cmocka_unit_test(results_read_back_as_written),
        cmocka_unit_test(results_refuse),
        cmocka_unit_test(heartbeat_tells_the_address),
        cmocka_unit_test(heartbeats_are_read_strictly),
        cmocka_unit_test(dns_question_and_answer),
        cmocka_unit_test(dns_of_ipv6),
        cmocka_unit_test(measures_a_closed_port),
        cmocka_unit_test(command_line_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
