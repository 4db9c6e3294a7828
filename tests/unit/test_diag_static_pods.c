/* The probe pods' manifests, literally, and laying and removing them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/transports/static_pods.h"
#include "host/host_memory.h"

static void the_manifest(void **state) {
    const struct diag_pod_options options = {.sandbox_image = "registry.k8s.io/pause:3.10",
                                             .run = "5eed"};
    _cleanup_json_ json_t *pod = diag_pod_make(&options, 'a'), *expected = NULL;

    (void)state;
    expected = json_loads(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"winjoin-probe-a\","
        "\"namespace\":\"kube-system\",\"labels\":{\"app.kubernetes.io/name\":\"winjoin-probe\","
        "\"app.kubernetes.io/managed-by\":\"winjoin\"}},\"spec\":{\"os\":{\"name\":\"windows\"},"
        "\"nodeSelector\":{\"kubernetes.io/os\":\"windows\"},\"restartPolicy\":\"OnFailure\","
        "\"automountServiceAccountToken\":false,\"enableServiceLinks\":false,\"dnsPolicy\":"
        "\"ClusterFirst\",\"terminationGracePeriodSeconds\":1,\"tolerations\":[{\"operator\":"
        "\"Exists\"}],\"securityContext\":{\"windowsOptions\":{\"runAsUserName\":"
        "\"ContainerUser\"}},\"containers\":[{\"name\":\"probe\",\"image\":"
        "\"registry.k8s.io/pause:3.10\",\"imagePullPolicy\":\"IfNotPresent\",\"command\":["
        "\"C:\\\\ProgramData\\\\winjoin\\\\probe\\\\bin\\\\winjoin-probe.exe\",\"serve\","
        "\"--mailbox\",\"C:\\\\ProgramData\\\\winjoin\\\\probe\\\\a\",\"--name\","
        "\"winjoin-probe-a\",\"--tcp\",\"18080\",\"--udp\",\"18080\",\"--run\",\"5eed\"],"
        "\"resources\":{"
        "\"requests\":{\"cpu\":\"10m\",\"memory\":\"32Mi\"}},\"volumeMounts\":[{\"name\":"
        "\"program\",\"mountPath\":\"C:\\\\ProgramData\\\\winjoin\\\\probe\\\\bin\","
        "\"readOnly\":true},{\"name\":\"mailbox\",\"mountPath\":"
        "\"C:\\\\ProgramData\\\\winjoin\\\\probe\\\\a\"}]}],\"volumes\":[{\"name\":\"program\","
        "\"hostPath\":{\"path\":\"C:\\\\ProgramData\\\\winjoin\\\\probe\\\\bin\",\"type\":"
        "\"Directory\"}},{\"name\":\"mailbox\",\"hostPath\":{\"path\":"
        "\"C:\\\\ProgramData\\\\winjoin\\\\probe\\\\a\",\"type\":\"Directory\"}}]}}",
        0, NULL);
    assert_non_null(expected);
    assert_true(json_equal(pod, expected));
}

static void options_reach_the_manifest(void **state) {
    const struct diag_pod_options options = {
        .sandbox_image = "mirror/pause:1", .namespace_ = "default", .echo_port = 9};
    _cleanup_json_ json_t *pod = diag_pod_make(&options, 'b');

    (void)state;
    assert_string_equal(json_text_at(pod, "metadata.name"), "winjoin-probe-b");
    assert_string_equal(json_text_at(pod, "metadata.namespace"), "default");
    assert_string_equal(json_text_at(pod, "spec.containers.0.image"), "mirror/pause:1");
    assert_string_equal(json_text_at(pod, "spec.containers.0.command.7"), "9");
}

/* Who may read and write what: the whole record of calls. */
static void laying_and_removing(void **state) {
    const struct diag_pod_options options = {0};
    struct host *host = host_memory_new();
    _cleanup_json_ json_t *before = host_memory_state(host), *after = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(diag_pods_lay(host, &options, "MZ", 2, &err), 0);
    assert_non_null(strstr(host_memory_log(host), "write C:\\ProgramData\\winjoin\\probe\\bin\\"
                                                  "winjoin-probe.exe probe-program 2 bytes\n"));
    after = host_memory_state(host);
    assert_string_equal(json_text_at(after, "files.C:\\ProgramData\\winjoin\\probe\\a.access"),
                        "probe-mailbox");
    assert_string_equal(json_text_at(after, "files.C:\\ProgramData\\winjoin\\probe\\bin.access"),
                        "probe-program");
    assert_int_equal(host_file_type(host, "C:\\etc\\kubernetes\\manifests\\winjoin-probe-b.json"),
                     HOST_FILE);
    assert_int_equal(diag_pods_remove(host, &options, &err), 0);
    assert_int_equal(host_file_type(host, "C:\\ProgramData\\winjoin\\probe"), HOST_ABSENT);
    assert_int_equal(host_file_type(host, "C:\\etc\\kubernetes\\manifests\\winjoin-probe-a.json"),
                     HOST_ABSENT);
    assert_int_equal(diag_pods_remove(host, &options, &err), 0); /* absent is success */
    host_free(host);
}

static void laying_again_keeps_the_program_and_empties_mailboxes(void **state) {
    const struct diag_pod_options options = {0};
    struct host *host = host_memory_new();
    struct error err = {0};
    size_t before;

    (void)state;
    assert_int_equal(diag_pods_lay(host, &options, "MZ", 2, &err), 0);
    assert_int_equal(host_write(host, "C:\\ProgramData\\winjoin\\probe\\a\\results-1.txt", "x", 1,
                                HOST_PUBLIC, &err),
                     0);
    before = strlen(host_memory_log(host));
    assert_int_equal(diag_pods_lay(host, &options, "MZ", 2, &err), 0);
    assert_null(strstr(host_memory_log(host) + before, "winjoin-probe.exe probe-program"));
    assert_int_equal(host_file_type(host, "C:\\ProgramData\\winjoin\\probe\\a\\results-1.txt"),
                     HOST_ABSENT);
    assert_int_equal(diag_pods_lay(host, &options, "MZ2", 3, &err), 0);
    assert_non_null(strstr(host_memory_log(host) + before, "probe-program 3 bytes"));
    host_free(host);
}

static void question_and_answer(void **state) {
    struct probe probe = {.id = "x",
                          .kind = PROBE_TCP,
                          .target = "10.0.0.1",
                          .port = 1,
                          .timeout_ms = 1,
                          .attempts = 1};
    const struct probe_list list = {.items = &probe, .count = 1};
    _cleanup_(probe_results_free) struct probe_results results = {0};
    struct host *host = host_memory_new();
    _cleanup_(freep) char *asked = NULL;
    struct probe_heartbeat beat;
    struct error err = {0};
    size_t len;

    (void)state;
    assert_int_equal(diag_pod_heartbeat(host, 'a', &beat, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_int_equal(diag_pod_ask(host, 'a', 3, &list, &err), 0);
    assert_int_equal(
        host_read(host, "C:\\ProgramData\\winjoin\\probe\\a\\probes.txt", 1000, &asked, &len, &err),
        0);
    assert_string_equal(asked, "winjoin-probes 1\nx tcp 10.0.0.1 1 0 - - 1 1\n");
    assert_int_equal(host_file_type(host, "C:\\ProgramData\\winjoin\\probe\\a\\go-3"), HOST_FILE);
    assert_int_equal(diag_pod_answer(host, 'a', 3, &results, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_int_equal(host_write(host, "C:\\ProgramData\\winjoin\\probe\\a\\results-3.txt",
                                "winjoin-results 1\nx ok 1 1 7 7 7 - -\nend 1\n", 43, HOST_PUBLIC,
                                &err),
                     0);
    assert_int_equal(diag_pod_answer(host, 'a', 3, &results, &err), 0);
    assert_int_equal(results.items[0].median_us, 7);
    host_free(host);
}

static void what_a_pod_waits_for(void **state) {
    static const struct {
        const char *pod, *text;
    } rows[] = {
        {"{\"status\":{\"phase\":\"Pending\",\"containerStatuses\":[{\"state\":{\"waiting\":{"
         "\"reason\":\"ErrImagePull\",\"message\":\"not found\"}}}]}}",
         "ErrImagePull: not found"},
        {"{\"status\":{\"phase\":\"Pending\",\"containerStatuses\":[{\"state\":{\"waiting\":{"
         "\"reason\":\"ContainerCreating\"}}}]}}",
         "ContainerCreating"},
        {"{\"status\":{\"containerStatuses\":[{\"state\":{\"waiting\":{\"reason\":\"No\","
         "\"message\":\"use abcdef.0123456789abcdef\"}}}]}}",
         "No: use abcdef.****************"},
        {"{\"status\":{\"phase\":\"Pending\"}}", "Pending"},
        {"{\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"state\":{\"running\":{}}}]}"
         "}",
         NULL},
        {"{}", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *pod = json_loads(rows[i].pod, 0, NULL);
        _cleanup_(freep) char *text = diag_pod_waiting_text(pod);

        if (!text_equal(text, rows[i].text))
            fail_msg("%s: %s", rows[i].pod, text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manifest),
        cmocka_unit_test(options_reach_the_manifest),
        cmocka_unit_test(laying_and_removing),
        cmocka_unit_test(laying_again_keeps_the_program_and_empties_mailboxes),
        cmocka_unit_test(question_and_answer),
        cmocka_unit_test(what_a_pod_waits_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
