/* The log: levels, one line each, and no secret ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/text.h"
#include "host/host.h"
#include "host/http.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

static struct text last;
static int lines;

static void keep(void *context, enum log_level level, const char *line) {
    assert_ptr_equal(context, &last);
    (void)level;
    text_clear(&last);
    text_add(&last, line);
    lines++;
}

static int begin(void **state) {
    (void)state;
    lines = 0;
    return 0;
}

static int end(void **state) {
    (void)state;
    log_open(NULL, NULL, 0);
    log_forget_secrets();
    text_free(&last);
    return 0;
}

static void levels_pass_or_not(void **state) {
    (void)state;
    log_message(LOG_WARNING, "to nobody");
    log_open(keep, &last, 1);
    log_message(LOG_WARNING, "one %d", 1);
    log_message(LOG_INFO, "two");
    log_message(LOG_RETRY, "three");
    assert_int_equal(lines, 2);
    assert_string_equal(text_str(&last), "two");
}

static void a_line_is_one_line(void **state) {
    (void)state;
    log_open(keep, &last, 0);
    log_message(LOG_WARNING, "got %s", "a\nb\x1b[m");
    assert_string_equal(text_str(&last), "got a\\nb\\x1b[m");
}

static void secrets_are_redacted(void **state) {
    (void)state;
    log_open(keep, &last, 0);
    log_hide_secret("0123456789abcdef");
    log_hide_secret("0123456789abcdef");
    log_hide_secret("short");
    log_hide_secret(NULL);
    log_message(LOG_WARNING, "x 0123456789abcdef, 0123456789abcdef0123456789abcdef short");
    assert_string_equal(text_str(&last), "x <redacted>, <redacted><redacted> short");
    log_forget_secrets();
    log_message(LOG_WARNING, "0123456789abcdef");
    assert_string_equal(text_str(&last), "0123456789abcdef");
}

/* ---- what each level adds ---- */

static struct text all_lines;

static void keep_all(void *context, enum log_level level, const char *line) {
    (void)context;
    text_addf(&all_lines, "%d %s\n", (int)level, line);
}

static int nobody_answers(void *context, const struct http_request *request,
                          struct http_response *ret, struct error *err) {
    (void)context;
    ret->status = 200;
    return strstr(request->url, "nobody") ? error_set(err, ERROR_NETWORK, "no route") : 0;
}

static void act(int level) {
    struct host *host = host_memory_new();
    struct http *http = http_memory_new(nobody_answers, NULL);
    struct host_route route = {.destination = "10.0.0.0/8", .next_hop = "10.1.0.1"};
    struct http_response response = {0};
    char *networks = NULL;

    text_clear(&all_lines);
    text_add(&all_lines, "");
    log_open(keep_all, NULL, level);
    (void)host_write(host, "C:\\a", "12", 2, HOST_PUBLIC, NULL);
    (void)host_service_start(host, "kubelet", 1, NULL);
    (void)host_route_add(host, &route, NULL);
    (void)hcn_enumerate(host, HCN_NETWORK, NULL, &networks, NULL);
    (void)http_perform(http, &(struct http_request){.url = "https://u:p@a:1/x?token=y"}, &response,
                       NULL);
    http_response_free(&response);
    (void)http_perform(http, &(struct http_request){.url = "https://nobody/"}, &response, NULL);
    http_response_free(&response);
    free(networks);
    http_free(http);
    host_free(host);
}

static void each_level_adds_its_lines(void **state) {
    static const char requests[] = "3 GET https://a:1/x?...: 200, 0 bytes in 0 ms\n"
                                   "3 no route\n";
    static const char *const calls[] = {
        "4 write 'C:\\a' (2 bytes)\n", "4 start service 'kubelet'\n",
        "4 add route to 10.0.0.0/8 through 10.1.0.1\n", "4 HcnEnumerateNetworks\n"};

    (void)state;
    act(2);
    assert_string_equal(text_str(&all_lines), "");
    act(3);
    assert_string_equal(text_str(&all_lines), requests);
    act(4);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strstr(text_str(&all_lines), calls[i]))
            fail_msg("%s is not in %s", calls[i], text_str(&all_lines));
    assert_non_null(strstr(text_str(&all_lines), requests));
    assert_null(strstr(text_str(&all_lines), "\n5 "));
    act(5);
    assert_non_null(strstr(text_str(&all_lines), "\n5 HcnEnumerateNetworks is given {"));
    assert_non_null(
        strstr(text_str(&all_lines), "\n5 HcnEnumerateNetworks answers 0x00000000 []\n"));
    text_free(&all_lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(levels_pass_or_not, begin, end),
        cmocka_unit_test_setup_teardown(a_line_is_one_line, begin, end),
        cmocka_unit_test_setup_teardown(secrets_are_redacted, begin, end),
        cmocka_unit_test_setup_teardown(each_level_adds_its_lines, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
