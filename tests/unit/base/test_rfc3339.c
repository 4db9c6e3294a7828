/* Times and durations as Kubernetes and HTTP write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rfc3339.h"

/* Times by the date command: date -u -d TEXT +%s. */
static void times_read_and_write(void **state) {
    static const struct {
        const char *text;
        int64_t seconds;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-21T10:00:04Z", 1795255204},
        {"2000-02-29T23:59:59Z", 951868799},
        {"1969-12-31T23:59:59Z", -1},
        {"2100-03-01T00:00:00Z", 4107542400},
        {"0000-01-01T00:00:00Z", -62167219200},
        {"0001-01-01T00:00:00Z", -62135596800},
        {"9999-12-31T23:59:59Z", 253402300799},
        {"2024-12-31T12:34:56Z", 1735648496},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char out[RFC3339_TEXT_MAX];
        int64_t back = 7;

        rfc3339_format(rows[i].seconds, out);
        assert_string_equal(out, rows[i].text);
        assert_int_equal(rfc3339_parse(rows[i].text, &back, NULL), 0);
        assert_true(back == rows[i].seconds);
    }
}

static void fractions_and_offsets(void **state) {
    int64_t t = 0;

    (void)state;
    assert_int_equal(rfc3339_parse("2026-11-21T10:00:04.123456789Z", &t, NULL), 0);
    assert_true(t == 1795255204);
    assert_int_equal(rfc3339_parse("2026-11-21T12:30:04+02:30", &t, NULL), 0);
    assert_true(t == 1795255204);
    assert_int_equal(rfc3339_parse("2026-11-21T09:00:04-01:00", &t, NULL), 0);
    assert_true(t == 1795255204);
}

static void no_time(void **state) {
    static const char *const bad[] = {
        "",
        "2026-11-21",
        "2026-11-21T10:00:04",
        "2026-11-21T10:00:04Zx",
        "2026-13-21T10:00:04Z",
        "2026-00-21T10:00:04Z",
        "2026-11-32T10:00:04Z",
        "2026-02-30T10:00:04Z",
        "2026-11-21T24:00:04Z",
        "2026-11-21T10:60:04Z",
        "2026-11-21 10:00:04Z",
        "2026-11-21T10:00:04.Z",
        "2026-11-21T10:00:04+0230",
        "26-11-21T10:00:04Z",
        "2026-11-21t10:00:04Z",
        "2026-11-21T10:00:04z",
        "2026-11-21T10:00:60Z",
    };
    int64_t t = 5;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct error err = {0};

        if (rfc3339_parse(bad[i], &t, &err) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_true(rfc3339_seconds(bad[i]) == 0);
    }
    assert_true(t == 5);
    assert_true(rfc3339_seconds(NULL) == 0);
    assert_true(rfc3339_seconds("2026-11-21T10:00:04Z") == 1795255204);
}

static void durations(void **state) {
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {
        {"0", 0},
        {"0s", 0},
        {"250ms", 250},
        {"5m0s", 300000},
        {"1m30s", 90000},
        {"1h", 3600000},
        {"1.5h", 5400000},
        {".5s", 500},
        {"1s500ms", 1500},
        {"+5s", 5000},
        {"-0s", 0},
        {"1ns", 1},
        {"1.99999999999999999999999999s", 2000},
        {"1000us", 1},
        {"1000\xc2\xb5s", 1},
        {"1000000ns", 1},
        {"24h0m0s", 86400000},
        {"8.29s", 8290},
        {"0008.29008s", 8290},
        {"0.3333333333333333333h", 1200000},
        {"2562047h", 9223369200000},
    };
    static const char *const bad[] = {"",
                                      "5",
                                      "1h0",
                                      "1e5s",
                                      "0x10s",
                                      "s",
                                      "-5s",
                                      "5 s",
                                      "5sx",
                                      "+",
                                      "-",
                                      "1hh",
                                      "9223372036854775808ns",
                                      "2562048h",
                                      "1d",
                                      "1.",
                                      ".s",
                                      "5s ",
                                      "1h-1m",
                                      "9999999999999h",
                                      "2562048h",
                                      "9223372036854775808ns",
                                      "99999999999999999999s",
                                      "2562047h2562047h"};
    int64_t ms = 5;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_int_equal(go_duration_parse(rows[i].text, &ms, NULL), 0);
        assert_true(ms == rows[i].ms);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct error err = {0};

        if (go_duration_parse(bad[i], &ms, &err) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(err.kind, ERROR_MALFORMED);
    }
}

static void durations_are_written_as_go_does(void **state) {
    static const struct {
        const char *read, *written;
    } rows[] = {
        {"0", "0s"},
        {"1ms", "1ms"},
        {"250ms", "250ms"},
        {"1500ms", "1.5s"},
        {"60s", "1m0s"},
        {"90s", "1m30s"},
        {"1h", "1h0m0s"},
        {"5430.05s", "1h30m30.05s"},
        {"1ns", "1ns"},
        {"1500ns", "1.5\xc2\xb5s"},
        {"1.000001s", "1.000001s"},
        {"-90s", "-1m30s"},
        {"2562047h47m", "2562047h47m0s"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char text[GO_DURATION_TEXT_MAX];
        int64_t nanoseconds;

        assert_int_equal(go_duration_read(rows[i].read, &nanoseconds, NULL), 0);
        go_duration_format(nanoseconds, text);
        assert_string_equal(text, rows[i].written);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_read_and_write),
        cmocka_unit_test(fractions_and_offsets),
        cmocka_unit_test(no_time),
        cmocka_unit_test(durations),
        cmocka_unit_test(durations_are_written_as_go_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
