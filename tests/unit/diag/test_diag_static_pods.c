/* The probe pods' manifests, literally, and laying and removing them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/ask/mailbox.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/static_pods_scene.h"

static void the_manifest(void **state) {
    const struct diag_probe_options options = {.sandbox_image = "registry.k8s.io/pause:3.10",
                                               .run = "5eed"};
    _cleanup_json_ json_t *pod = static_pod_make(&options, "winjoin-probe-a"), *expected = NULL;

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

/* Who may read and write what: the whole record of calls. */
static void starting_and_removing(void **state) {
    const struct diag_probe_options options = {.program = "MZ", .program_len = 2};
    struct host *host = host_memory_new();
    _cleanup_json_ json_t *after = NULL;
    struct diag_probes probes = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(start(host, &options, &probes), 0);
    assert_non_null(strstr(host_memory_log(host), "write C:\\ProgramData\\winjoin\\probe\\bin\\"
                                                  "winjoin-probe.exe probe-program 2 bytes\n"));
    after = host_memory_state(host);
    assert_string_equal(json_text_at(after, "files.C:\\ProgramData\\winjoin\\probe\\a.access"),
                        "probe-mailbox");
    assert_string_equal(json_text_at(after, "files.C:\\ProgramData\\winjoin\\probe\\bin.access"),
                        "probe-program");
    assert_int_equal(host_file_type(host, "C:\\etc\\kubernetes\\manifests\\winjoin-probe-b.json"),
                     HOST_FILE);
    assert_int_equal(diag_probes_remove(&probes, &err), 0);
    assert_int_equal(host_file_type(host, DIAG_PROBES_FOLDER), HOST_ABSENT);
    assert_int_equal(host_file_type(host, "C:\\etc\\kubernetes\\manifests\\winjoin-probe-a.json"),
                     HOST_ABSENT);
    assert_int_equal(host_file_type(host, "C:\\etc\\kubernetes\\manifests\\winjoin-probe-b.json"),
                     HOST_ABSENT);
    assert_int_equal(diag_probes_remove(&probes, &err), 0); /* absent is success */
    free(probes.items);
    host_free(host);
}

static void starting_again_keeps_the_program_and_empties_mailboxes(void **state) {
    const struct diag_probe_options options = {.program = "MZ", .program_len = 2};
    const struct diag_probe_options longer = {.program = "MZ2", .program_len = 3};
    struct host *host = host_memory_new();
    struct diag_probes probes = {0};
    size_t before;

    (void)state;
    assert_int_equal(start(host, &options, &probes), 0);
    assert_int_equal(host_write(host, "C:\\ProgramData\\winjoin\\probe\\b\\results-1.txt", "x", 1,
                                HOST_PUBLIC, NULL),
                     0);
    before = strlen(host_memory_log(host));
    assert_int_equal(start(host, &options, &probes), 0);
    assert_null(strstr(host_memory_log(host) + before, "winjoin-probe.exe probe-program"));
    assert_int_equal(host_file_type(host, "C:\\ProgramData\\winjoin\\probe\\b\\results-1.txt"),
                     HOST_ABSENT);
    assert_int_equal(start(host, &longer, &probes), 0);
    assert_non_null(strstr(host_memory_log(host) + before, "probe-program 3 bytes"));
    free(probes.items);
    host_free(host);
}

/* The probes of a killed run are told to stop before their folders are taken. */
static void what_a_killed_run_left_is_stopped_first(void **state) {
    const struct diag_probe_options options = {.program = "MZ", .program_len = 2};

    (void)state;
    for (const char *which = "ab"; *which; which++) {
        _cleanup_(freep) char *beat =
            xasprintf("C:\\ProgramData\\winjoin\\probe\\%c\\heartbeat.txt", *which);
        _cleanup_(freep) char *stop =
            xasprintf("write C:\\ProgramData\\winjoin\\probe\\%c\\stop", *which);
        struct host *host = host_memory_new();
        struct diag_probes probes = {0};
        uint64_t begin;

        assert_int_equal(start(host, &options, &probes), 0);
        assert_int_equal(host_write(host, beat, "x", 1, HOST_PUBLIC, NULL), 0);
        begin = host_monotonic_ms(host);
        assert_int_equal(start(host, &options, &probes), 0);
        assert_non_null(strstr(host_memory_log(host), stop));
        /* Nobody takes the heartbeat away: that is waited for, not for ever. */
        assert_in_range(host_monotonic_ms(host) - begin, 4000, 6000);
        assert_int_equal(host_file_type(host, beat), HOST_ABSENT);
        free(probes.items);
        host_free(host);
    }
}

/* Those pods would answer for the new run's. */
static void what_a_killed_run_left_cannot_be_removed(void **state) {
    static const char beat[] = "C:\\ProgramData\\winjoin\\probe\\a\\heartbeat.txt";
    const struct diag_probe_options options = {.program = "MZ", .program_len = 2};
    struct host *host = host_memory_new();
    struct diag_probes probes = {0};

    (void)state;
    assert_int_equal(start(host, &options, &probes), 0);
    assert_int_equal(host_write(host, beat, "x", 1, HOST_PUBLIC, NULL), 0);
    host_memory_hold(host, "C:\\etc\\kubernetes\\manifests\\winjoin-probe-a.json");
    assert_int_equal(start(host, &options, &probes), -1);
    free(probes.items);
    host_free(host);
}

/* Only a manifest that stays is a failure: a folder that a pod still holds is tried again. */
static void removing_has_patience(void **state) {
    const struct diag_probe_options options = {.program = "MZ", .program_len = 2};
    unsigned failed = 0, calls = 0;

    (void)state;
    for (size_t n = 1; n == 1 || n <= calls; n++) {
        struct host *host = host_memory_new();
        struct diag_probes probes = {0};
        struct error err = {0};
        size_t before;

        assert_int_equal(start(host, &options, &probes), 0);
        before = host_memory_calls(host);
        host_memory_fail(host, n);
        if (diag_probes_remove(&probes, &err) < 0) {
            assert_true(text_starts_with(err.message, "remove the probe pods: "));
            assert_non_null(strstr(err.message, "told to fail"));
            failed++;
        }
        assert_int_equal(host_file_type(host, DIAG_PROBES_FOLDER), HOST_ABSENT);
        calls = (unsigned)(host_memory_calls(host) - before);
        free(probes.items);
        host_free(host);
    }
    assert_int_equal(failed, 2);
}

static void fail_next(void *context, struct host *host) {
    (void)context;
    host_memory_fail(host, 1);
}

/* Nor is it waited for ever. */
static void a_folder_that_stays_is_a_failure(void **state) {
    const struct diag_probe_options options = {.program = "MZ", .program_len = 2};
    unsigned stayed = 0, calls = 0;

    (void)state;
    for (size_t n = 1; n == 1 || n <= calls; n++) {
        struct host *host = host_memory_new();
        struct diag_probes probes = {0};
        struct error err = {0};
        size_t before;
        int result;

        assert_int_equal(start(host, &options, &probes), 0);
        before = host_memory_calls(host);
        host_memory_fail(host, n);
        host_memory_on_sleep(host, fail_next, NULL);
        result = diag_probes_remove(&probes, &err);
        if (n == 1)
            calls = (unsigned)(host_memory_calls(host) - before);
        if (host_file_type(host, DIAG_PROBES_FOLDER) != HOST_ABSENT) {
            assert_int_equal(result, -1);
            assert_true(text_starts_with(err.message, "remove the probe pods: "));
            stayed++;
        }
        free(probes.items);
        host_free(host);
    }
    assert_int_equal(stayed, 1);
}

static void starting_may_fail(void **state) {
    const struct diag_probe_options options = {.program = "MZ", .program_len = 2};
    size_t failed = 0, calls = 0;

    (void)state;
    for (size_t n = 0; n <= calls; n++) { /* at first nothing fails */
        struct host *host = host_memory_new();
        struct diag_probes probes = {0};

        host_memory_fail(host, n);
        if (start(host, &options, &probes) < 0)
            failed++;
        else if (n == 0)
            calls = host_memory_calls(host);
        free(probes.items);
        host_free(host);
    }
    assert_int_equal(failed, calls - 1); /* a program that cannot be read is written again */
}

static void question_and_answer(void **state) {
    static const struct {
        const char *results;
        int answered;
    } rows[] = {
        {NULL, 0},
        {"winjoin-results 1\nx ok 1 1 7 7 7 7 - -\nend 1\n", 1},
        {"winjoin-results 1\nerror the disk is full\n", -1},
    };
    const struct diag_probe_options options = {.program = "MZ", .program_len = 2};
    struct probe probe = {.id = "x",
                          .kind = PROBE_TCP,
                          .target = "10.0.0.1",
                          .port = 1,
                          .timeout_ms = 1,
                          .attempts = 1};
    const struct probe_list list = {.items = &probe, .count = 1};
    struct host *host = host_memory_new();
    struct diag_probes probes = {0};
    struct probe_heartbeat beat;
    struct error err = {0};

    (void)state;
    assert_int_equal(start(host, &options, &probes), 0);
    assert_int_equal(diag_probe_heartbeat(&probes, 0, &beat, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *go = xasprintf("C:\\ProgramData\\winjoin\\probe\\b\\go-%zu", i + 1);
        _cleanup_(freep) char *answer =
            xasprintf("C:\\ProgramData\\winjoin\\probe\\b\\results-%zu.txt", i + 1);
        _cleanup_(probe_results_free) struct probe_results results = {0};
        _cleanup_(freep) char *asked = NULL;
        size_t len;

        probes.items[1].asked++;
        assert_int_equal(diag_probe_ask(&probes, 1, &list, &err), 0);
        assert_int_equal(host_file_type(host, go), HOST_FILE);
        assert_int_equal(host_read(host, "C:\\ProgramData\\winjoin\\probe\\b\\probes.txt", 1000,
                                   &asked, &len, &err),
                         0);
        assert_string_equal(asked, "winjoin-probes 1\nx tcp 10.0.0.1 1 0 - - 1 1\n");
        if (rows[i].results)
            assert_int_equal(host_write(host, answer, rows[i].results, strlen(rows[i].results),
                                        HOST_PUBLIC, &err),
                             0);
        assert_int_equal(diag_probe_read(&probes, 1, &results, &err), rows[i].answered);
        if (rows[i].answered > 0)
            assert_int_equal(results.items[0].median_us, 7);
    }
    for (size_t n = 1; n <= 2; n++) { /* the list, and the word to go */
        host_memory_fail(host, n);
        assert_int_equal(diag_probe_ask(&probes, 1, &list, &err), -1);
        assert_true(text_starts_with(err.message, "ask winjoin-probe-b: "));
    }
    free(probes.items);
    host_free(host);
}

/* A pod's files belong to ContainerUser, who may write there; a link is none of them. */
static void a_mailbox_belongs_to_its_pod(void **state) {
    static const char file[] = "C:\\ProgramData\\winjoin\\probe\\a\\heartbeat.txt";
    static const char secret[] = "C:\\ProgramData\\winjoin\\secret";
    static const char beat_text[] = "winjoin-heartbeat 1\nname a\n";
    const struct diag_probe_options options = {.program = "MZ", .program_len = 2};
    struct host *host = host_memory_new();
    struct diag_probes probes = {0};
    struct probe_heartbeat beat;
    struct error mine = {0}, pods = {0}, link = {0}, way = {0};
    int result;

    (void)state;
    assert_int_equal(start(host, &options, &probes), 0);
    assert_int_equal(host_write(host, file, beat_text, strlen(beat_text), HOST_PUBLIC, NULL), 0);
    result = diag_probe_heartbeat(&probes, 0, &beat, &mine);
    host_memory_give_to_user(host, file);
    assert_int_equal(diag_probe_heartbeat(&probes, 0, &beat, &pods), result);
    assert_string_equal(pods.message, mine.message);
    assert_int_equal(host_remove(host, file, NULL), 0);
    assert_int_equal(host_write(host, secret, beat_text, strlen(beat_text), HOST_SECRET, NULL), 0);
    assert_int_equal(host_link(host, file, secret, NULL), 0);
    assert_int_equal(diag_probe_heartbeat(&probes, 0, &beat, &link), -1);
    assert_int_equal(link.kind, ERROR_DENIED);
    assert_string_equal(link.message, "read 'C:\\ProgramData\\winjoin\\probe\\a\\heartbeat.txt': "
                                      "it is a junction or a link");
    host_memory_give_to_user(host, "C:\\ProgramData\\winjoin\\probe\\a");
    assert_int_equal(diag_probe_heartbeat(&probes, 0, &beat, &way), -1);
    assert_non_null(strstr(way.message, "\\a' belongs to SRV\\eve"));
    free(probes.items);
    host_free(host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manifest),
        cmocka_unit_test(starting_and_removing),
        cmocka_unit_test(starting_again_keeps_the_program_and_empties_mailboxes),
        cmocka_unit_test(what_a_killed_run_left_is_stopped_first),
        cmocka_unit_test(what_a_killed_run_left_cannot_be_removed),
        cmocka_unit_test(removing_has_patience),
        cmocka_unit_test(a_folder_that_stays_is_a_failure),
        cmocka_unit_test(starting_may_fail),
        cmocka_unit_test(question_and_answer),
        cmocka_unit_test(a_mailbox_belongs_to_its_pod),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
