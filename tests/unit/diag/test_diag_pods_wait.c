/* What keeps probe pods from starting, as the kubelet's log and the Pod object tell it, and when
 * waiting for them is in vain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/rfc3339.h"
#include "diag/ask/mailbox.h"
#include "diag/causes/causes.h"
#include "kube/object.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/static_pods_scene.h"

struct mirror {
    const char *url;
    const char *pod;
    unsigned asked;
};

static int mirror_answer(void *context, const struct http_request *request,
                         struct http_response *ret, struct error *err) {
    struct mirror *mirror = context;

    mirror->asked++;
    if (!mirror->pod)
        return error_set(err, ERROR_NETWORK, "no route");
    ret->status = *mirror->pod ? 200 : 404;
    assert_string_equal(request->url, mirror->url);
    assert_int_equal(request->timeout_ms, 2000); /* the pods are looked at meanwhile */
    ret->body = xstrdup(mirror->pod);
    ret->body_len = strlen(mirror->pod);
    return 0;
}

#define KUBELET_LOG "C:\\var\\log\\kubelet\\kubelet.log"

/* One line, so many seconds after now. The caller frees. */
static char *log_line(const struct host *host, int seconds, const char *level, const char *pod,
                      const char *why) {
    time_t t = (time_t)(host_now((struct host *)host) + seconds);
    const struct tm *tm = localtime(&t);

    return xasprintf("%s%02d%02d %02d:%02d:%02d.000000 9 pod_workers.go:1] \"Error syncing pod\" "
                     "err=\"%s\" pod=\"kube-system/%s-win-7k2\"\n",
                     level, tm->tm_mon + 1, tm->tm_mday, tm->tm_hour, tm->tm_min, tm->tm_sec, why,
                     pod);
}

/* The log has this line alone. */
static void put_log(struct host *host, int seconds, const char *level, const char *pod,
                    const char *why) {
    _cleanup_(freep) char *line = log_line(host, seconds, level, pod, why);

    assert_int_equal(host_write(host, KUBELET_LOG, line, strlen(line), HOST_PUBLIC, NULL), 0);
}

/* An error of the sandbox has passed where the Pod says that there was one later. */
static void assert_a_sandbox_made_since_counts(struct host *host, struct diag_probes *probes,
                                               struct mirror *mirror) {
#define CONDITION(type, status)                                                                    \
    "{'phase':'Pending','conditions':[{'type':'" type "','status':'" status                        \
    "','lastTransitionTime':'",                                                                    \
        "'}]}"
#define CONTAINER(state, more)                                                                     \
    "{'phase':'Running','containerStatuses':[{" more state ":{'startedAt':'", "'}}}]}"
    static const struct {
        const char *when, *before, *after;
        int seconds;
        bool passed;
    } rows[] = {
        {"another condition", CONDITION("Ready", "True"), 20, false},
        {"the condition", CONDITION("PodReadyToStartContainers", "True"), 20, true},
        {"none any more", CONDITION("PodReadyToStartContainers", "False"), 20, false},
        {"a container", CONTAINER("'state':{'running'", ""), 20, true},
        {"at the same time", CONTAINER("'state':{'terminated'", ""), 10, true},
        {"that ended",
         CONTAINER("'lastState':{'terminated'", "'state':{'waiting':{'reason':'CrashLoop'}},"), 20,
         true},
        {"before", CONTAINER("'state':{'running'", ""), 9, false},
    };

    put_log(host, 10, "E", "winjoin-probe-b", "failed to setup network for sandbox: HNS failed");
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char *status =
            text_replace(xasprintf("{'status':%s%s%s}", rows[i].before,
                                   RFC3339_TEXT(host_now(host) + rows[i].seconds), rows[i].after),
                         "'", '"');
        char *why;

        mirror->pod = status;
        why = diag_probe_waiting(probes, 1);
        if (rows[i].passed == (why && strstr(why, "sandbox")))
            fail_msg("%s: %s", rows[i].when, why);
        free(why);
        free(status);
    }
}

/* The node's own mirror of the pod is read, once: a lost server costs no patience here. */
static void the_mirror_is_asked(void **state) {
    static const struct {
        int seconds;
        const char *pod, *why;
    } others[] = {
        {-10, "winjoin-probe-b", "failed to create pod sandbox: of an earlier run"},
        {10, "winjoin-probe-a", "failed to create pod sandbox: of the other pod"},
        {10, "winjoin-probe-b", "failed to pull its image"},
    };
    struct mirror mirror = {"https://s/api/v1/namespaces/kube-system/pods/winjoin-probe-b-win-7k2",
                            "{\"status\":{\"phase\":\"Pending\"}}", 0};
    struct host *host = host_memory_new();
    struct kube_client client = {.http = http_memory_new(mirror_answer, &mirror),
                                 .host = host,
                                 .server = (char *)"https://s",
                                 .patience_ms = 60000};
    struct diag_probe_options options = {
        .program = "MZ", .program_len = 2, .client = &client, .node_name = "win-7k2"};
    struct diag_probes probes = {0};
    char *why;

    (void)state;
    assert_int_equal(start(host, &options, &probes), 0);
    why = diag_probe_waiting(&probes, 1);
    assert_string_equal(why, "Pending");
    free(why);
    /* why there is no sandbox stands in the kubelet's log alone; what is older is of another run */
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        put_log(host, others[i].seconds, "E", others[i].pod, others[i].why);
        why = diag_probe_waiting(&probes, 1);
        assert_string_equal(why, "Pending");
        free(why);
    }
    put_log(host, 10, "E", "winjoin-probe-b", "failed to setup network for sandbox: HNS failed");
    why = diag_probe_waiting(&probes, 1);
    assert_string_equal(why, "failed to setup network for sandbox: HNS failed");
    free(why);
    put_log(host, 10, "E", "winjoin-probe-b", "sandbox: type=\\\"nat\\\" failed\\nin C:\\\\k");
    why = diag_probe_waiting(&probes, 1);
    assert_string_equal(why, "sandbox: type=\"nat\" failed in C:\\k");
    free(why);
    assert_a_sandbox_made_since_counts(host, &probes, &mirror);
    assert_int_equal(host_remove(host, KUBELET_LOG, NULL), 0);
    mirror.asked = 1;
    mirror.pod = NULL;
    assert_null(diag_probe_waiting(&probes, 1));
    assert_int_equal(mirror.asked, 2);
    options.client = NULL;
    assert_null(diag_probe_waiting(&probes, 1));
    free(probes.items);
    http_free(client.http);
    host_free(host);
}

/* ---- a program that does not run ---- */

#define START(reason, message)                                                                     \
    "failed to \\\"StartContainer\\\" for \\\"probe\\\" with " reason ": \\\"" message "\\\""
#define BLOCKED(id)                                                                                \
    START("RunContainerError", "failed to start containerd task " id ": Access is denied.")
#define ID_A "9bfe2196b3666848efa302d43562d07489d7697636b752f8683309915613a504"
#define ID_B "0447cba46a427b6b9b39771ef4835f3ce802d5c3a6a06004538ac097915b1d21"
#define ENDED(state, restarts, end)                                                                \
    "{'status':{'phase':'Running','containerStatuses':[{" state ",'restartCount':" restarts        \
    ",'lastState':{'terminated':{" end "}}}]}}"
#define BACKS_OFF "'state':{'waiting':{'reason':'CrashLoopBackOff'}}"

static const struct {
    const char *log[4]; /* lines that come; NULL: none */
    const char *pod;    /* the API; "": has none, NULL: is away */
    const char *why;
    unsigned failures;
} looks[] = {
    {{NULL}, "", "the kubelet has not taken it up yet", 0},
    {{BLOCKED(ID_A)},
     NULL,
     "RunContainerError: failed to start containerd task ID: Access is denied.",
     1},
    {{START("CrashLoopBackOff", "back-off 10s restarting"), BLOCKED(ID_B)},
     NULL,
     "RunContainerError: failed to start containerd task ID: Access is denied. (2 times one "
     "after the other)",
     2},
    {{BLOCKED(ID_A), "another matter"},
     "",
     "RunContainerError: failed to start containerd task ID: Access is denied. (3 times one "
     "after the other)",
     3},
    {{START("CreateContainerError", "no \\\\\\\"C:\\\\\\\\x\\\\\\\"")},
     NULL,
     "CreateContainerError: no \"C:\\x\"",
     1},
    {{START("CreateContainerError", "no such mount")},
     NULL,
     "CreateContainerError: no such mount",
     1},
    /* it runs now, whatever was before */
    {{NULL},
     "{'status':{'phase':'Running','containerStatuses':[{'state':{'running':{'startedAt':"
     "'2026-11-21T10:17:04Z'}}}]}}",
     "its container has run since 2026-11-21T10:17:04Z, but its program has said nothing yet",
     0},
    {{NULL},
     ENDED("'state':{'terminated':{'exitCode':-1073741515}}", "0", "'exitCode':0"),
     "its program ends with exit code 0xC0000135",
     1},
    {{NULL},
     ENDED(BACKS_OFF, "1", "'exitCode':-1073741515"),
     "its program ends with exit code 0xC0000135 (2 times one after the other)",
     2},
    /* another end counts from there */
    {{NULL}, ENDED(BACKS_OFF, "2", "'exitCode':3"), "its program ends with exit code 3", 1},
    {{NULL},
     ENDED("'state':{'running':{'startedAt':'x'}}", "4", "'exitCode':3"),
     "its program ends with exit code 3 (2 times one after the other)",
     2},
    {{NULL},
     ENDED(BACKS_OFF, "99999999999",
           "'exitCode':128,'message':'task " ID_A ": no abcdef."
           "0123456789abcdef'"),
     "its program ends with exit code 128: task ID: no abcdef.**************** (997 times one "
     "after the other)",
     997},
    /* it ended well: what the log says stands */
    {{NULL}, ENDED(BACKS_OFF, "3", "'exitCode':0"), "CreateContainerError: no such mount", 1},
    {{NULL}, ENDED(BACKS_OFF, "-3", "'exitCode':9"), "its program ends with exit code 9", 0},
};

/* Each look reads what the log and the API say then; how often the program failed in the same way
 * is counted. */
static void a_program_that_does_not_run(void **state) {
    struct mirror mirror = {"https://s/api/v1/namespaces/kube-system/pods/winjoin-probe-b-win-7k2",
                            NULL, 0};
    struct host *host = host_memory_new();
    struct kube_client client = {.http = http_memory_new(mirror_answer, &mirror),
                                 .host = host,
                                 .server = (char *)"https://s"};
    struct diag_probe_options options = {
        .program = "MZ", .program_len = 2, .client = &client, .node_name = "win-7k2"};
    struct diag_probes probes = {0};
    struct text log = {0};

    (void)state;
    assert_int_equal(start(host, &options, &probes), 0);
    for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
        char *pod = looks[i].pod ? text_replace(xstrdup(looks[i].pod), "'", '"') : NULL, *why;

        for (size_t k = 0; k < 4 && looks[i].log[k]; k++) {
            _cleanup_(freep) char *line =
                log_line(host, (int)(i + 1), "E", "winjoin-probe-b", looks[i].log[k]);

            text_add(&log, line);
        }
        assert_int_equal(host_write(host, KUBELET_LOG, text_str(&log), log.len, HOST_PUBLIC, NULL),
                         0);
        mirror.pod = pod;
        why = diag_probe_waiting(&probes, 1);
        if (!text_equal(why, looks[i].why) || probes.items[1].failures != looks[i].failures)
            fail_msg("look %zu: %s, %u", i, why, probes.items[1].failures);
        free(why);
        free(pod);
    }
    text_free(&log);
    free(probes.items);
    http_free(client.http);
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
        _cleanup_(freep) char *text = kube_pod_waiting(pod);

        if (!text_equal(text, rows[i].text))
            fail_msg("%s: %s", rows[i].pod, text);
    }
}

/* Evidence alone says so, whatever is named in the end. */
static void when_waiting_is_in_vain(void **state) {
    static const struct {
        const char *evidence;
        bool in_vain;
    } rows[] = {
        {"{}", false},
        {"{'pods':{'a':{'waiting':'Pending'},'b':{}}}", false},
        {"{'pods':{'a':{'waiting':'ErrImagePull: no'},'b':{}}}", true},
        {"{'pods':{'a':{},'b':{'waiting':'FailedCreatePodSandBox: no'}}}", true},
        {"{'pods':{'a':{'waiting':'sandbox: no'},'b':{}},'changed':[{}]}", true},
        {"{'pods':{'a':{'waiting':'exit code 1','failures':2},'b':{'failures':1}}}", false},
        {"{'pods':{'a':{'waiting':'exit code 1','failures':3},'b':{}}}", true},
        {"{'pods':{'a':{},'b':{'waiting':'exit code 1','failures':3}},'changed':[{}]}", true},
        {"{'pods':{'a':{'ip':'10.244.3.4','failures':3},'b':{'ip':'10.244.3.5'}}}", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = text_replace(xstrdup(rows[i].evidence), "'", '"');
        struct diag_report report = {.evidence = json_loads(text, 0, NULL)};

        assert_non_null(report.evidence);
        if (diag_causes_stop_pods(&report) != rows[i].in_vain)
            fail_msg("%s", text);
        diag_report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mirror_is_asked),
        cmocka_unit_test(a_program_that_does_not_run),
        cmocka_unit_test(what_a_pod_waits_for),
        cmocka_unit_test(when_waiting_is_in_vain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
