/* Addresses and prefixes: strict reading, RFC 5952 writing, and the arithmetic of subnets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cidr.h"
#include "base/memory.h"

static struct ip ip(const char *text) {
    struct ip ip = {0};

    assert_int_equal(ip_parse(text, &ip, NULL), 0);
    return ip;
}

static struct cidr cidr(const char *text) {
    struct cidr cidr = {0};

    assert_int_equal(cidr_parse(text, &cidr, NULL), 0);
    return cidr;
}

static void addresses_read_and_write(void **state) {
    static const char *const rows[][2] = {
        {"0.0.0.0", "0.0.0.0"},
        {"255.255.255.255", "255.255.255.255"},
        {"10.244.1.2", "10.244.1.2"},
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"fd00:0:0:1::2", "fd00:0:0:1::2"},
        {"2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
        {"0:0:1::", "0:0:1::"},
        {"::ffff:10.0.0.1", "::ffff:a00:1"},
        {"64:ff9b::10.0.0.1", "64:ff9b::a00:1"},
        {"0:0:0:0:0:0:0:1", "::1"},
        {"1:0:0:0:0:0:0:0", "1::"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct ip parsed = ip(rows[i][0]);
        char out[IP_TEXT_MAX];

        ip_format(&parsed, out);
        assert_string_equal(out, rows[i][1]);
    }
}

static void no_address(void **state) {
    static const char *const bad[] = {
        "",
        "1.2.3",
        "1.2.3.4.5",
        "256.1.1.1",
        "01.2.3.4",
        "1.2.3.04",
        "1.2.3.4 ",
        " 1.2.3.4",
        "1.2.3.-4",
        "1..2.3",
        "1.2.3.",
        "0x1.2.3.4",
        "1.2.3.1000",
        ":",
        ":::",
        "1:::2",
        "1::2::3",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8:",
        "12345::",
        "g::",
        ":1:2:3:4:5:6:7",
        "::1%eth0",
        "[::1]",
        "1::2:3:4:5:6:7:8:9",
        "::1.2.3",
        "1.2.3.4::",
        "1:2:3:4:5:6:7:1.2.3.4",
        "1:2:3:4:5:6:7::8",
    };
    struct ip kept = ip("9.9.9.9");

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct error err = {0};

        if (ip_parse(bad[i], &kept, &err) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
    assert_int_equal(kept.bytes[0], 9);
}

static void prefixes_are_masked(void **state) {
    static const char *const rows[][2] = {
        {"10.244.1.7/24", "10.244.1.0/24"}, {"10.0.0.1/32", "10.0.0.1/32"},
        {"10.9.9.9/0", "0.0.0.0/0"},        {"10.255.255.255/9", "10.128.0.0/9"},
        {"fd00::1234/64", "fd00::/64"},     {"fd00::ffff/127", "fd00::fffe/127"},
    };
    static const char *const bad[] = {"10.0.0.0",    "10.0.0.0/",    "10.0.0.0/33", "10.0.0.0/08",
                                      "10.0.0.0/-1", "10.0.0.0/-0",  "/8",          "fd00::/129",
                                      "10.0.0/8",    "10.0.0.0/8/8", "10.0.0.0/ 8"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct cidr parsed = cidr(rows[i][0]);
        char out[CIDR_TEXT_MAX];

        cidr_format(&parsed, out);
        assert_string_equal(out, rows[i][1]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct error err = {0};
        struct cidr out;

        if (cidr_parse(bad[i], &out, &err) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
}

static void what_lies_in_what(void **state) {
    struct cidr pods = cidr("10.244.0.0/16"), node = cidr("10.244.3.0/24"),
                other = cidr("10.245.0.0/16"), six = cidr("::/0"), all = cidr("0.0.0.0/0");
    struct ip in = ip("10.244.255.255"), out = ip("10.245.0.0"), v6 = ip("fd00::1");

    (void)state;
    assert_true(cidr_contains(&pods, &in));
    assert_false(cidr_contains(&pods, &out));
    assert_false(cidr_contains(&all, &v6));
    assert_true(cidr_contains(&six, &v6));
    assert_true(cidr_contains_cidr(&pods, &node));
    assert_false(cidr_contains_cidr(&node, &pods));
    assert_true(cidr_overlaps(&node, &pods));
    assert_true(cidr_overlaps(&pods, &node));
    assert_false(cidr_overlaps(&pods, &other));
    assert_false(cidr_overlaps(&all, &six));
}

static void nth_address(void **state) {
    static const struct {
        const char *prefix;
        uint64_t n;
        const char *nth;
    } rows[] = {
        {"10.244.3.0/24", 2, "10.244.3.2"}, {"10.244.3.0/24", 255, "10.244.3.255"},
        {"10.0.0.0/8", 65536, "10.1.0.0"},  {"10.0.255.0/16", 511, "10.0.1.255"},
        {"fd00::/64", 258, "fd00::102"},    {"192.0.2.1/32", 0, "192.0.2.1"},
    };
    struct error err = {0};
    struct cidr whole = cidr("0.0.0.0/0"), small = cidr("10.244.3.0/24");
    struct ip found;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct cidr prefix = cidr(rows[i].prefix);
        struct ip nth, want = ip(rows[i].nth);

        assert_int_equal(cidr_address(&prefix, rows[i].n, &nth, NULL), 0);
        assert_true(ip_equal(&nth, &want));
    }
    assert_int_equal(cidr_address(&small, 256, &found, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(cidr_address(&whole, UINT64_C(1) << 32, &found, &err), -1);
}

static void special_addresses(void **state) {
    struct ip a = ip("127.9.0.1"), b = ip("128.0.0.1"), c = ip("::1"), d = ip("::2"),
              e = ip("169.254.1.1"), f = ip("169.253.1.1"), g = ip("fe80::1"), h = ip("fec0::1"),
              i = ip("febf::1");

    (void)state;
    assert_true(ip_is_loopback(&a));
    assert_false(ip_is_loopback(&b));
    assert_true(ip_is_loopback(&c));
    assert_false(ip_is_loopback(&d));
    assert_true(ip_is_link_local(&e));
    assert_false(ip_is_link_local(&f));
    assert_true(ip_is_link_local(&g));
    assert_false(ip_is_link_local(&h));
    assert_true(ip_is_link_local(&i));
    assert_false(ip_equal(&a, &b));
    assert_false(ip_equal(&a, &c));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_read_and_write),
        cmocka_unit_test(no_address),
        cmocka_unit_test(prefixes_are_masked),
        cmocka_unit_test(what_lies_in_what),
        cmocka_unit_test(nth_address),
        cmocka_unit_test(special_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
