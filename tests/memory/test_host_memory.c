/* The host in memory: record of calls, the failing n-th, the scene, and its plain HNS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

#define OVERLAY                                                                                    \
    "{\"SchemaVersion\":{\"Major\":2,\"Minor\":0},\"Name\":\"flannel.4096\",\"Type\":\"Overlay\"," \
    "\"Policies\":[{\"Type\":\"NetAdapterName\",\"Settings\":{\"NetworkAdapterName\":"             \
    "\"Ethernet\"}}],\"Ipams\":[{\"Type\":\"Static\",\"Subnets\":[{\"IpAddressPrefix\":"           \
    "\"10.244.3.0/24\"}]}]}"

static void files_and_log(void **state) {
    struct host *host = host_memory_new();
    struct error err = {0};
    _cleanup_(freep) char *data = NULL;
    size_t len = 0;
    json_t *after;

    (void)state;
    assert_int_equal(host_write(host, "c:/etc/kubernetes/a.conf", "abc", 3, HOST_SECRET, &err), 0);
    assert_int_equal(host_read(host, "C:\\ETC\\kubernetes\\a.conf", 10, &data, &len, &err), 0);
    assert_string_equal(data, "abc");
    assert_int_equal(len, 3);
    assert_string_equal(host_memory_log(host), "write C:\\etc\\kubernetes\\a.conf secret 3 bytes\n"
                                               "read C:\\ETC\\kubernetes\\a.conf\n");
    after = host_memory_state(host);
    assert_string_equal(json_text_at(after, "files.C:\\etc\\kubernetes\\a\\.conf.content"), "abc");
    assert_string_equal(json_text_at(after, "files.C:\\etc.type"), "folder");
    json_decref(after);
    host_free(host);
}

/* Windows' names have no case: winjoin's own folder is closed however it is spelled. */
static void own_folder_in_any_case(void **state) {
    struct host *host = host_memory_new();
    json_t *after;

    (void)state;
    assert_int_equal(host_write(host, "c:/programdata/WINJOIN/x", "abc", 3, HOST_PUBLIC, NULL), 0);
    after = host_memory_state(host);
    assert_string_equal(json_text_at(after, "files.C:\\ProgramData\\winjoin.access"), "secret");
    json_decref(after);
    host_memory_give_to_user(host, "C:\\ProgramData\\winjoin\\x");
    assert_int_equal(host_write(host, "c:/PROGRAMDATA/winjoin/x/y", "abc", 3, HOST_PUBLIC, NULL),
                     -1);
    host_free(host);
}

static void nth_call_fails(void **state) {
    struct host *host = host_memory_new();
    struct error err = {0};

    (void)state;
    host_memory_fail(host, 2);
    assert_int_equal(host_write(host, "C:\\a", "", 0, HOST_PUBLIC, &err), 0);
    assert_int_equal(host_write(host, "C:\\b", "", 0, HOST_PUBLIC, &err), -1);
    assert_int_equal(err.kind, ERROR_HOST);
    assert_int_equal(host_file_type(host, "C:\\b"), HOST_ABSENT);
    assert_int_equal(host_write(host, "C:\\c", "", 0, HOST_PUBLIC, &err), 0);
    assert_int_equal(host_memory_calls(host), 3);
    host_free(host);
}

static void switch_takes_static_address(void **state) {
    struct host *host = host_memory_new();
    struct host_adapters adapters;
    struct error err = {0};
    _cleanup_(freep) char *properties = NULL;
    _cleanup_(freep) char *again = NULL;
    _cleanup_json_ json_t *network = NULL;
    const char *id;

    (void)state;
    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, NULL, OVERLAY, &properties, &err), 0);
    assert_int_equal(json_read(properties, strlen(properties), "network", &network, &err), 0);
    id = json_text_at(network, "ID");
    assert_non_null(id);
    assert_null(strstr(properties, "ProviderAddress"));

    assert_int_equal(host_adapters(host, &adapters, &err), 0);
    assert_int_equal(adapters.count, 2);
    assert_string_equal(adapters.items[1].alias, "vEthernet (Ethernet)");
    assert_string_equal(adapters.items[1].mac, adapters.items[0].mac);
    assert_int_equal(adapters.items[0].addresses.count, 0);
    assert_string_equal(adapters.items[1].addresses.items[0], "169.254.77.7/16");
    assert_int_equal(host_address_add(host, adapters.items[1].index, "10.0.0.21/24", &err), 0);
    host_adapters_free(&adapters);

    assert_int_equal(hcn_query(host, HCN_NETWORK, id, NULL, &again, &err), 0);
    assert_non_null(strstr(again, "\"ProviderAddress\":\"10.0.0.21\""));
    assert_int_equal(hcn_delete(host, HCN_NETWORK, id, &err), 0);
    assert_int_equal(host_adapters(host, &adapters, &err), 0);
    assert_int_equal(adapters.count, 1);
    host_adapters_free(&adapters);
    assert_int_equal(hcn_delete(host, HCN_NETWORK, id, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_int_equal(err.os, 0x80070490);
    host_free(host);
}

static void hcn_filter_and_modify(void **state) {
    struct host *host = host_memory_new();
    struct error err = {0};
    _cleanup_(freep) char *properties = NULL;
    _cleanup_(freep) char *found = NULL;
    _cleanup_(freep) char *none = NULL;
    _cleanup_(freep) char *modified = NULL;
    const char *id = "11111111-2222-4333-8444-555555555555";

    (void)state;
    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, id, OVERLAY, &properties, &err), 0);
    assert_int_equal(hcn_enumerate(host, HCN_NETWORK,
                                   "{\"Filter\":\"{\\\"Name\\\":\\\"flannel.4096\\\"}\"}", &found,
                                   &err),
                     0);
    assert_string_equal(found, "[\"11111111-2222-4333-8444-555555555555\"]");
    assert_int_equal(hcn_enumerate(host, HCN_NETWORK,
                                   "{\"Filter\":\"{\\\"Name\\\":\\\"cbr0\\\"}\"}", &none, &err),
                     0);
    assert_string_equal(none, "[]");
    assert_int_equal(hcn_modify(host, HCN_NETWORK, id,
                                "{\"ResourceType\":\"Policy\",\"RequestType\":\"Add\","
                                "\"Settings\":{\"Policies\":[{\"Type\":\"HostRoute\","
                                "\"Settings\":{}}]}}",
                                &err),
                     0);
    assert_int_equal(hcn_query(host, HCN_NETWORK, id, NULL, &modified, &err), 0);
    assert_non_null(strstr(modified, "HostRoute"));
    assert_int_equal(hcn_query(host, HCN_NETWORK, "no guid", NULL, &modified, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    host_free(host);
}

static void v1_bridge_attach(void **state) {
    struct host *host = host_memory_new();
    struct host_adapters adapters;
    struct error err = {0};
    _cleanup_(freep) char *version = NULL;
    _cleanup_(freep) char *endpoint = NULL;
    _cleanup_(freep) char *attached = NULL;
    _cleanup_(freep) char *path = NULL;
    _cleanup_(freep) char *body = NULL;
    _cleanup_json_ json_t *made_endpoint = NULL;
    static const char id[] = "11111111-1111-4111-8111-111111111111";

    (void)state;
    assert_int_equal(hns_call(host, "GET", "/globals/version", "", &version, &err), 0);
    assert_string_equal(version, "{\"Success\":true,\"Output\":{\"Major\":13,\"Minor\":2}}");
    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, id,
                                "{\"Name\":\"cbr0\",\"Type\":\"L2Bridge\",\"Ipams\":[{\"Subnets\":"
                                "[{\"IpAddressPrefix\":\"10.244.1.0/24\"}]}]}",
                                NULL, &err),
                     0);
    body = xasprintf("{\"Name\":\"cbr0_ep\",\"VirtualNetwork\":\"%s\"}", id);
    assert_int_equal(hns_call(host, "POST", "/endpoints/", body, &endpoint, &err), 0);
    assert_int_equal(json_read(endpoint, strlen(endpoint), "answer", &made_endpoint, &err), 0);
    path = xasprintf("/endpoints/%s/attach", json_text_at(made_endpoint, "Output.ID"));
    assert_int_equal(hns_call(host, "POST", path, "{\"SystemType\":\"Host\",\"CompartmentId\":1}",
                              &attached, &err),
                     0);
    assert_int_equal(host_adapters(host, &adapters, &err), 0);
    assert_int_equal(adapters.count, 3);
    assert_string_equal(adapters.items[2].alias, "vEthernet (cbr0_ep)");
    assert_string_equal(adapters.items[2].addresses.items[0], "10.244.1.2/24");
    host_adapters_free(&adapters);
    host_free(host);
}

static uint32_t refusing_hns(void *context, const char *function, const char *const *arguments,
                             size_t count, char **ret_result, char **ret_error_record) {
    (void)arguments, (void)count;
    *(const char **)context = function;
    *ret_result = NULL;
    *ret_error_record = xstrdup(
        "{\"Success\":false,\"Error\":\"The object already exists. \",\"ErrorCode\":2147947410}");
    return 0;
}

static void error_record_is_failure(void **state) {
    struct host *host = host_memory_new();
    struct error err = {0};
    const char *called = NULL;

    (void)state;
    host_memory_set_hns(host, refusing_hns, &called);
    assert_int_equal(hcn_create(host, HCN_NETWORK, NULL, NULL, "{}", NULL, &err), -1);
    assert_string_equal(called, "HcnCreateNetwork");
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_int_equal(err.os, 0x80071392);
    assert_non_null(strstr(err.message, "The object already exists"));
    host_free(host);
}

static void change_scene(void *context, struct host *host) {
    host_memory_set_pipe(host, context);
}

static void time_stands_still(void **state) {
    struct host *host = host_memory_new();
    struct error err = {0};
    char pipe[] = "\\\\.\\pipe\\containerd-containerd";
    int64_t before = host_now(host);

    (void)state;
    host_memory_on_sleep(host, change_scene, pipe);
    assert_false(host_pipe_exists(host, pipe));
    assert_int_equal(host_sleep(host, 3000, &err), 0);
    assert_true(host_pipe_exists(host, pipe));
    assert_int_equal(host_now(host), before + 3);
    host_memory_interrupt(host);
    assert_int_equal(host_sleep(host, 1, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    host_free(host);
}

static void programs_and_registry(void **state) {
    struct host *host = host_memory_new();
    struct error err = {0};
    const char *argv[] = {"C:\\opt\\cni\\bin\\host-local.exe", NULL};
    struct host_process process = {.argv = argv, .timeout_ms = 1000};
    _cleanup_(freep) char *output = NULL;
    _cleanup_(freep) char *value = NULL;
    int code = -1;

    (void)state;
    assert_int_equal(host_run(host, &process, &code, &output, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    host_memory_set_program(host, "host-local.exe", 7, "{}");
    assert_int_equal(host_run(host, &process, &code, &output, &err), 0);
    assert_int_equal(code, 7);
    assert_string_equal(output, "{}");
    host_memory_set_registry(host, "SOFTWARE\\Microsoft", "UBR", "2340");
    assert_int_equal(host_registry_get(host, "HKLM\\software\\microsoft", "ubr", &value, &err), 0);
    assert_string_equal(value, "2340");
    host_free(host);
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    (void)context;
    if (strstr(request->url, "/fail"))
        return error_set(err, ERROR_NETWORK, "told to fail");
    ret->status = 200;
    ret->body = xstrdup("0123456789");
    ret->body_len = 10;
    return 0;
}

static void in_memory(void **state) {
    struct http *http = http_memory_new(answer, NULL);
    struct http_request request = {.url = "https://a/ok"};
    struct http_response response = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(http_perform(http, &request, &response, &err), 0);
    assert_string_equal(response.body, "0123456789");
    assert_int_equal(response.retry_after, -1);
    http_response_free(&response);
    request.max_body = 9;
    assert_int_equal(http_perform(http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    http_response_free(&response);
    request.url = "https://a/fail";
    assert_int_equal(http_perform(http, &request, &response, &err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
    assert_int_equal(http_memory_requests(http), 3);
    http_response_free(&response);
    http_free(http);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_log),           cmocka_unit_test(own_folder_in_any_case),
        cmocka_unit_test(nth_call_fails),          cmocka_unit_test(switch_takes_static_address),
        cmocka_unit_test(hcn_filter_and_modify),   cmocka_unit_test(v1_bridge_attach),
        cmocka_unit_test(error_record_is_failure), cmocka_unit_test(time_stands_still),
        cmocka_unit_test(programs_and_registry),   cmocka_unit_test(in_memory),
    };

    return cmocka_run_group_tests_name("host_memory", tests, NULL, NULL);
}
