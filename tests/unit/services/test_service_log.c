/* What the log of a service says: why it ended, and when a line was written; what the service host
 * writes down of an end, and what is told of a service. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rfc3339.h"
#include "services/hosted_service.h"
#include "services/service_status.h"
#include "services/service_table.h"
#include "tests/memory/host_memory.h"

/* ---- why ---- */

static const struct {
    const char *log, *words;
} logs[] = {
    {"", ""},
    {"one\ntwo\nthree\n", "two|three"},
    {"only", "only"},
    {"I1122 01:02:03.0 1 main.go:1] a\r\nE1122 01:02:03.1 1 main.go:2] no way\r\nI1122 x] bye\r\n",
     "E1122 01:02:03.1 1 main.go:2] no way"},
    {"E1122 a\nF1122 b\nE1122 c\nI1122 d\n", "F1122 b|E1122 c"},
    {"time=\"x\" level=info msg=a\ntime=\"x\" level=fatal msg=b\n\n\n",
     "time=\"x\" level=fatal msg=b"},
    {"panic: runtime error\n\ngoroutine 1 [running]:\nmain.main()\n", "panic: runtime error"},
    {"E112 is no mark\nEnd\n", "E112 is no mark|End"},
    {"E1122 bad token abcdef.0123456789abcdef\n", "E1122 bad token abcdef.****************"},
};

static void a_log_tells_why(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(logs); i++) {
        _cleanup_(text_list_free) struct text_list words = {0};
        _cleanup_(freep) char *joined = NULL;

        service_log_words(logs[i].log, 2, &words);
        joined = text_list_join(&words, "|");
        assert_string_equal(joined, logs[i].words);
    }
}

static void a_long_line_is_cut(void **state) {
    _cleanup_(text_list_free) struct text_list words = {0};
    char log[2000];

    (void)state;
    memset(log, 'x', sizeof log);
    log[sizeof log - 1] = '\0';
    service_log_words(log, 2, &words);
    assert_int_equal(words.count, 1);
    assert_true(strlen(words.items[0]) <= ERROR_HINT_MAX - 10);
}

/* ---- when ---- */

/* Of 2026-11-22T10:15:02Z, which is `now`; local time is UTC. */
static void a_line_says_when(void **state) {
    static const int64_t now = 1795342502;
    static const struct {
        const char *line;
        int64_t us; /* after now; INT64_MIN: it does not say */
    } lines[] = {
        {"2026-11-22T10:15:02Z INFO  join: x", 0},
        {"2026-11-22T11:15:02.25+01:00 x", 250000},
        {"E1122 10:15:01.500000 1 main.go:2] x", -500000},
        {"I1122 10:15:02 x", 0},
        {"I1123 10:15:02.000001 x", 86400000001},
        {"W1231 10:15:02.000000 x", (39 - 365) * (int64_t)86400000000},
        {"time=\"2026-11-22T10:15:03.000000001Z\" level=info msg=x", 1000000},
        {"panic: no time", INT64_MIN},
        {"goroutine 1 [running]:", INT64_MIN},
        {"E112 10:15:02", INT64_MIN},
        {"X1122 10:15:02.0", INT64_MIN},
        {"2026-11-22 nor this", INT64_MIN},
        {"", INT64_MIN},
    };

    (void)state;
    (void)putenv((char *)"TZ=UTC0");
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        int64_t us = INT64_MIN;
        bool says = service_log_time(lines[i].line, strlen(lines[i].line), now, &us);

        assert_int_equal(says, lines[i].us != INT64_MIN);
        if (says && us - now * 1000000 != lines[i].us)
            fail_msg("%s: %lld", lines[i].line, (long long)(us - now * 1000000));
    }
}

static void the_end_of_a_log_is_whole_lines(void **state) {
    static const char log[] = "first\nsecond\nthird\n";
    struct host *host = host_memory_new();
    char *tail;

    (void)state;
    assert_null(service_log_tail(host, "C:\\x.log", 100));
    assert_int_equal(host_write(host, "C:\\x.log", log, strlen(log), HOST_PUBLIC, NULL), 0);
    tail = service_log_tail(host, "C:\\x.log", 100);
    assert_string_equal(tail, log);
    free(tail);
    tail = service_log_tail(host, "C:\\x.log", 9);
    assert_string_equal(tail, "third\n");
    free(tail);
    host_free(host);
}

/* ---- what a service did ---- */

static json_t *status_of(struct host *host, const char *name) {
    json_t *status = NULL;

    assert_int_equal(service_status_read(host, name, &status, NULL), 0);
    return status;
}

static struct host *with_service(const struct service *row) {
    struct host *host = host_memory_new();
    struct host_service service = {.name = (char *)row->name,
                                   .description = (char *)row->description,
                                   .command = (char *)"x.exe",
                                   .auto_start = true};

    assert_int_equal(host_service_put(host, &service, NULL), 0);
    return host;
}

static void one_that_is_absent(void **state) {
    struct host *host = host_memory_new();
    json_t *status = status_of(host, "kubelet");

    (void)state;
    assert_string_equal(json_text_at(status, "state"), "absent");
    assert_true(service_status_is_down(status));
    json_decref(status);
    host_free(host);
}

static void one_that_ended_says_since_when_and_why(void **state) {
    static const char log[] = "I1122 a\nE1122 unknown field \"foo\"\n";
    struct host *host = with_service(&service_kubelet);
    char then[RFC3339_TEXT_MAX];
    json_t *status;

    (void)state;
    host_memory_set_service_state(host, "kubelet", HOST_SERVICE_RUNNING);
    service_life_begin(host, "kubelet");
    rfc3339_format(host_now(host), then);
    service_life_end(host, "kubelet", false, 255);
    host_memory_end_service(host, "kubelet", 255);
    host_memory_advance(host, 240000);
    assert_int_equal(
        host_write(host, service_kubelet.log_file, log, strlen(log), HOST_PUBLIC, NULL), 0);
    status = status_of(host, "KUBELET");
    assert_string_equal(json_text_at(status, "name"), "kubelet");
    assert_string_equal(json_text_at(status, "state"), "stopped");
    assert_string_equal(json_text_at(status, "since"), then);
    assert_int_equal(json_number_at(status, "exitCode", -1), 255);
    assert_null(json_object_get(status, "asked"));
    assert_string_equal(json_text_at(status, "lastErrors.0"), "E1122 unknown field \"foo\"");
    assert_true(service_status_is_down(status));
    json_decref(status);
    host_free(host);
}

/* Without a record of its end the last time in its log says since when. */
static void one_that_ended_unseen_says_when_it_spoke_last(void **state) {
    static const char log[] = "I1121 09:00:01.000000 1 a.go:1] one\n"
                              "I1121 09:00:07.500000 1 a.go:1] two\n\nno time\n";
    struct host *host = with_service(&service_kubelet);
    json_t *status;

    (void)state;
    host_memory_end_service(host, "kubelet", 1);
    assert_int_equal(
        host_write(host, service_kubelet.log_file, log, strlen(log), HOST_PUBLIC, NULL), 0);
    status = status_of(host, "kubelet");
    assert_non_null(json_text_at(status, "since"));
    assert_string_equal(json_text_at(status, "since") + strlen("2026-"), "11-21T09:00:07Z");
    json_decref(status);
    host_free(host);
}

static void one_that_keeps_ending_is_down(void **state) {
    struct host *host = with_service(&service_kube_proxy);
    json_t *status;

    (void)state;
    host_memory_set_service_state(host, "kube-proxy", HOST_SERVICE_RUNNING);
    for (int i = 0; i < 12; i++)
        service_life_end(host, "kube-proxy", false, 1);
    status = status_of(host, "kube-proxy");
    assert_string_equal(json_text_at(status, "state"), "running");
    assert_int_equal(json_number_at(status, "recentEnds", 0), 10);
    assert_int_equal(json_number_at(status, "exitCode", -1), 1);
    assert_true(service_status_is_down(status));
    json_decref(status);
    host_memory_advance(host, SERVICE_RECENT_SECONDS * 1000);
    status = status_of(host, "kube-proxy");
    assert_null(json_object_get(status, "recentEnds"));
    assert_false(service_status_is_down(status));
    json_decref(status);
    host_free(host);
}

static void one_that_is_stopped_is_down_without_an_end_of_its_own(void **state) {
    struct host *host = with_service(&service_network);
    json_t *status;

    (void)state;
    host_memory_end_service(host, "winjoin-network", SERVICE_NEVER_STARTED);
    status = status_of(host, "winjoin-network");
    assert_string_equal(json_text_at(status, "state"), "stopped");
    assert_null(json_object_get(status, "exitCode"));
    assert_true(service_status_is_down(status));
    json_decref(status);
    host_free(host);
}

/* Of a service the kubelet's node log query takes these characters, and looks there last. */
static void kubectl_finds_each_log(void **state) {
    (void)state;
    for (const struct service *const *row = service_table; *row; row++) {
        _cleanup_(freep) char *file =
            xasprintf("C:\\var\\log\\%s\\%s.log", (*row)->name, (*row)->name);

        assert_int_equal(strspn((*row)->name, "abcdefghijklmnopqrstuvwxyz-_0123456789@"),
                         strlen((*row)->name));
        assert_string_equal((*row)->log_file, file);
    }
}

/* ---- rotation ---- */

static void the_oldest_is_dropped(void **state) {
    static const char path[] = "C:\\l.d\\x.log";
    const struct service_host_settings settings = {.log_file = (char *)path, .max_log_files = 3};
    struct host *host = host_memory_new();
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *all = NULL, *newest = NULL;
    size_t len = 0;

    (void)state;
    for (const char *text = "345"; *text; text++) {
        assert_int_equal(host_write(host, path, text, 1, HOST_PUBLIC, NULL), 0);
        assert_int_equal(service_log_rotate(host, &settings, NULL), 0);
    }
    assert_int_equal(host_list(host, "C:\\l.d", &names, NULL), 0);
    all = text_list_join(&names, " ");
    assert_string_equal(all, "x.1.log x.2.log");
    assert_int_equal(host_read(host, "C:\\l.d\\x.1.log", 10, &newest, &len, NULL), 0);
    assert_string_equal(newest, "5");
    host_free(host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_tells_why),
        cmocka_unit_test(a_long_line_is_cut),
        cmocka_unit_test(a_line_says_when),
        cmocka_unit_test(the_end_of_a_log_is_whole_lines),
        cmocka_unit_test(one_that_is_absent),
        cmocka_unit_test(one_that_ended_says_since_when_and_why),
        cmocka_unit_test(one_that_ended_unseen_says_when_it_spoke_last),
        cmocka_unit_test(one_that_keeps_ending_is_down),
        cmocka_unit_test(kubectl_finds_each_log),
        cmocka_unit_test(one_that_is_stopped_is_down_without_an_end_of_its_own),
        cmocka_unit_test(the_oldest_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
