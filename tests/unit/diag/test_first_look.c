/* The first look of a diagnosis on a joined host: what is down is named at once, before any pod is
 * started, and an API server that is away keeps nobody from measuring. */
#include "tests/scene/join_scene.h"

#include "node/chosen.h"

#include "diag/first_look.h"
#include "diag/network_report.h"
#include "services/service_status.h"

static const struct service *const started[] = {&service_containerd, &service_kubelet,
                                                &service_kube_proxy};

static int no_server(void *context, const struct http_request *request, struct http_response *ret,
                     struct error *err) {
    (void)context, (void)ret;
    return error_set(err, ERROR_NETWORK, "%s: connection refused", request->url);
}

static void open_joined(struct run *r) {
    struct error err = {0};

    open_run(r, "overlay");
    if (join_once(r, &err) < 0)
        fail_msg("%s", err.message);
    free(r->options.verify);
    r->options.verify = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(started); i++)
        host_memory_set_service_state(r->host, started[i]->name, HOST_SERVICE_RUNNING);
}

/* The verify phase alone, as winjoin diag runs it: the ids of the causes; how long it took. */
static char *diagnose(struct run *r, uint64_t *ret_ms, char **ret_reason) {
    struct join join = {.host = r->host, .http = r->http, .asked = &r->options};
    uint64_t begin = host_monotonic_ms(r->host);
    struct error err = {0};
    struct text ids = {0};

    assert_int_equal(join_open(&join, &err), 0);
    (void)join_run_phase(&join, "verify", &err);
    *ret_ms = host_monotonic_ms(r->host) - begin;
    text_add(&ids, "");
    for (size_t i = 0; i < join.found.report.causes.count; i++)
        text_addf(&ids, "%s%s", i ? " " : "", join.found.report.causes.items[i].id);
    if (!join.found.report.cells.count)
        fail_msg("no matrix: %s", err.message);
    *ret_reason = xstrdup(join.found.report.cells.items[0].reason);
    if (join.found.report.causes.count) {
        assert_int_equal(err.kind, ERROR_FLOWS);
        assert_true(text_starts_with(err.hints[0], join.found.report.causes.items[0].id));
    }
    if (json_object_get(join.found.report.evidence, "networks"))
        assert_non_null(json_at(join.found.report.evidence, "services.hns"));
    join_close(&join);
    return text_take(&ids);
}

/* The cluster that is played has no Node object of it when it is asked first. */
static void what_stops_pods_is_named_at_once(void **state) {
    static const struct {
        const char *service, *causes, *reason;
    } rows[] = {
        {"kubelet", "SVC-DOWN NODE-GONE", "no pod can start without the kubelet"},
        {"containerd", "SVC-DOWN", "no pod can start without containerd"},
        {"hns", "SVC-DOWN", "no pod can start without HNS"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *causes = NULL, *reason = NULL;
        struct run r;
        uint64_t ms;

        open_joined(&r);
        host_memory_end_service(r.host, rows[i].service, 255);
        causes = diagnose(&r, &ms, &reason);
        assert_string_equal(causes, rows[i].causes);
        assert_string_equal(reason, rows[i].reason);
        assert_true(ms < 1000);
        assert_int_equal(host_file_type(r.host, "C:\\ProgramData\\winjoin\\probe"), HOST_ABSENT);
        close_run(&r);
    }
}

/* Who looks at the services alone sees it, or nothing of it. */
static const char *state_seen(struct host *host, const char *name, json_t *look) {
    diag_look_services(host, look);
    json_each(json_object_get(look, "services"), i, status)
        if (text_equal(json_text_at(status, "name"), name))
            return json_text_at(status, "state");
    return NULL;
}

/* A node without kube-proxy as a service has no settings of it either. */
static void a_service_that_was_deleted_is_missed(void **state) {
    _cleanup_json_ json_t *look = json_object();
    struct run r;

    (void)state;
    open_joined(&r);
    assert_string_equal(state_seen(r.host, "kube-proxy", look), "running");
    assert_int_equal(host_service_delete(r.host, "kube-proxy", 0, NULL), 0);
    assert_string_equal(state_seen(r.host, "kube-proxy", look), "absent");
    assert_null(state_seen(r.host, "hybrid-overlay-node", look));
    assert_int_equal(host_remove(r.host, service_kube_proxy.settings_file, NULL), 0);
    assert_null(state_seen(r.host, "kube-proxy", look));
    close_run(&r);
}

static struct text published; /* as the Node's annotation, once */
static bool refuses;

static int keep_report(void *context, const struct http_request *request, struct http_response *ret,
                       struct error *err) {
    _cleanup_json_ json_t *patch = NULL;
    const char *text;

    if (text_equal(request->method, "PATCH") && refuses)
        return scene_status(ret, 403, "Forbidden");
    if (text_equal(request->method, "PATCH") &&
        json_read(request->body, request->body_len, "patch", &patch, NULL) == 0) {
        text = json_string_value(
            json_object_get(json_at(patch, "metadata.annotations"), NETWORK_REPORT_ANNOTATION));
        text_add(&published, text ? text : "");
    }
    return scene_answer(context, request, ret, err);
}

/* And what came of it is there for the diagnosis of the whole cluster; that this fails harms
 * nothing. */
static void what_was_found_is_published(void **state) {
    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        _cleanup_(freep) char *causes = NULL, *reason = NULL;
        _cleanup_json_ json_t *report = NULL;
        struct run r;
        uint64_t ms;

        open_joined(&r);
        http_free(r.http);
        r.http = http_memory_new(keep_report, &r.scene);
        r.scene.registered = true;
        refuses = refused;
        host_memory_end_service(r.host, "kubelet", 255);
        causes = diagnose(&r, &ms, &reason);
        assert_string_equal(causes, "SVC-DOWN");
        if (!refused) {
            assert_int_equal(network_report_read(text_str(&published), &report, NULL), 0);
            assert_string_equal(json_text_at(report, "network"), "flannel.4096");
            assert_string_equal(json_text_at(report, "diag.causes.0.id"), "SVC-DOWN");
            assert_int_equal(json_number_at(report, "diag.passed", -1), 0);
        } else {
            assert_string_equal(text_str(&published), "");
        }
        text_free(&published);
        close_run(&r);
    }
}

/* Seen as soon as winjoin waits: the pods are written, and somebody presses Ctrl-C. */
static void on_sleep(void *context, struct host *host) {
    bool *started_pods = context;

    *started_pods =
        host_file_type(host, "C:\\etc\\kubernetes\\manifests\\winjoin-probe-a.json") == HOST_FILE;
    host_memory_interrupt(host);
}

/* A service that ends while the probe pods are waited for; `back_s`: Windows starts it again. */
struct dying {
    const char *service;
    unsigned back_s;
    uint64_t ended_ms;
};

static void let_die(void *context, struct host *host) {
    struct dying *dying = context;
    uint64_t now = host_monotonic_ms(host);

    if (host_file_type(host, "C:\\etc\\kubernetes\\manifests\\winjoin-probe-a.json") != HOST_FILE)
        return;
    host_memory_advance(host, 5999); /* the wait itself pauses for a moment only */
    if (!dying->ended_ms) {
        host_memory_end_service(host, dying->service, 255);
        dying->ended_ms = now;
    } else if (dying->back_s && now - dying->ended_ms >= dying->back_s * 1000) {
        host_memory_set_service_state(host, dying->service, HOST_SERVICE_RUNNING);
    }
}

static void what_stops_later_ends_the_wait(void **state) {
    static const struct {
        const char *service;
        unsigned back_s, least_s, most_s;
        const char *causes, *reason;
    } rows[] = {
        {"kubelet", 0, 15, 25, "SVC-DOWN", "no pod can start without the kubelet"},
        {"containerd", 0, 15, 25, "SVC-DOWN", "no pod can start without containerd"},
        {"kubelet", 8, 120, 180, NULL, "the first probe pod did not start"},    /* started again */
        {"kube-proxy", 0, 120, 180, NULL, "the first probe pod did not start"}, /* pods need none */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct dying dying = {rows[i].service, rows[i].back_s, 0};
        _cleanup_(freep) char *causes = NULL, *reason = NULL;
        struct run r;
        uint64_t ms;

        open_joined(&r);
        host_memory_on_sleep(r.host, let_die, &dying);
        causes = diagnose(&r, &ms, &reason);
        if (rows[i].causes ? !text_equal(causes, rows[i].causes) : !!strstr(causes, "the kubelet"))
            fail_msg("row %zu: %s", i, causes);
        if (strcmp(reason, rows[i].reason) != 0)
            fail_msg("row %zu: %s", i, reason);
        assert_in_range(ms, rows[i].least_s * 1000, rows[i].most_s * 1000);
        assert_int_equal(host_file_type(r.host, "C:\\ProgramData\\winjoin\\probe"), HOST_ABSENT);
        close_run(&r);
    }
}

static void a_server_that_is_away_does_not_keep_from_measuring(void **state) {
    struct join join;
    struct error err = {0};
    bool started_pods = false;
    struct run r;

    (void)state;
    open_joined(&r);
    http_free(r.http);
    r.http = http_memory_new(no_server, NULL);
    open_join(&r, &join);
    host_memory_on_sleep(r.host, on_sleep, &started_pods);
    assert_int_equal(join_run_phase(&join, "verify", &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_true(started_pods);
    assert_true(text_starts_with(join.progress.warnings.items[0], "API-DOWN: "));
    assert_string_equal(join.found.node_ip, "10.0.0.21");
    assert_string_equal(join.found.cluster.cluster_dns.items[0], "10.96.0.10");
    assert_string_equal(join.found.cluster.service_subnets.items[0], "10.96.0.0/12");
    assert_string_equal(join.found.cluster.dns_domain, "cluster.local");
    join_close(&join);
    close_run(&r);
}

/* With the server away, all that is known of the network stands in that file. */
static void a_damaged_network_file_is_told(void **state) {
    static const char no_address[] = "{\"podCIDR\": \"10.244.1.0/24\", \"management\": \"none\"}";
    struct join join;
    struct error err = {0};
    struct run r;

    (void)state;
    open_joined(&r);
    http_free(r.http);
    r.http = http_memory_new(no_server, NULL);
    assert_int_equal(host_write(r.host, CHOSEN_FILE, "{", 1, HOST_PUBLIC, NULL), 0);
    open_join(&r, &join);
    assert_int_equal(find_remembered(&join, &err), -1);
    assert_non_null(strstr(err.message, "network.json"));
    error_clear(&err);
    assert_int_equal(
        host_write(r.host, CHOSEN_FILE, no_address, strlen(no_address), HOST_PUBLIC, NULL), 0);
    assert_int_equal(find_remembered(&join, &err), -1);
    assert_int_not_equal(err.kind, ERROR_NONE);
    join_close(&join);
    close_run(&r);
}

static void one_that_never_joined_is_told_so(void **state) {
    struct join join;
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    free(r.options.verify);
    r.options.verify = NULL;
    open_join(&r, &join);
    assert_int_equal(join_run_phase(&join, "verify", &err), -1);
    assert_string_equal(err.hints[0],
                        "run winjoin join with a token, or winjoin status to see more");
    join_close(&join);
    close_run(&r);
}

/* ---- what is seen ---- */

static json_t *look_at(struct host *host, const struct kube_client *client) {
    const struct diag_look_options options = {.client = client,
                                              .client_error = "no kubeconfig",
                                              .node_name = "win-7k2",
                                              .certificate_file = "C:\\client.pem"};

    return diag_look(host, &options, NULL);
}

struct saying {
    long first, again; /* statuses; below 0: the kind of failure */
    unsigned long os;  /* of a failure */
    unsigned requests;
};

static int says(void *context, const struct http_request *request, struct http_response *ret,
                struct error *err) {
    struct saying *saying = context;
    long status = saying->requests++ ? saying->again : saying->first;

    assert_string_equal(request->url, "https://10.0.0.10:6443/api/v1/nodes/win-7k2");
    assert_int_equal(request->timeout_ms,
                     saying->requests > 1 ? DIAG_LOOK_AGAIN_MS : DIAG_LOOK_API_MS);
    if (status < 0) {
        (void)error_set(err, (enum error_kind) - status, "no");
        err->os = saying->os;
        return -1;
    }
    *ret = (struct http_response){.status = status,
                                  .body = xstrdup("{\"kind\":\"Node\"}"),
                                  .body_len = strlen("{\"kind\":\"Node\"}"),
                                  .date = 1795342502};
    return 0;
}

static void the_servers_answer_is_told_apart(void **state) {
    enum { NETWORK = -(int)ERROR_NETWORK, LATE = -(int)ERROR_TIMED_OUT };
    static const struct {
        struct saying says;
        const char *outcome;
        unsigned requests;
    } rows[] = {
        {{.first = 200}, "ok", 1},
        {{.first = 404}, "ok", 1},
        {{.first = 401}, "refused", 1},
        {{.first = 403}, "refused", 1},
        {{.first = 500}, "failing", 1},
        {{.first = 429}, "failing", 1},
        {{.first = -(long)ERROR_MALFORMED}, "failing", 1},
        {{.first = NETWORK}, "unreachable", 1},
        {{.first = NETWORK, .os = HTTP_CONNECTED}, "failing", 1},
        {{.first = -(long)ERROR_UNTRUSTED}, "untrusted", 1},
        {{.first = LATE, .again = LATE}, "unreachable", 2},
        {{.first = LATE, .again = LATE, .os = HTTP_CONNECTED}, "failing", 2},
        {{.first = LATE, .again = 200}, "ok", 2}, /* a server under load */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct saying saying = rows[i].says;
        struct host *host = host_memory_new();
        struct http *http = http_memory_new(says, &saying);
        struct kube_client client = {.http = http,
                                     .host = host,
                                     .server = (char *)"https://10.0.0.10:6443",
                                     .patience_ms = 60000};
        json_t *look = look_at(host, &client);

        assert_string_equal(json_text_at(look, "api.outcome"), rows[i].outcome);
        assert_int_equal(diag_look_api_answers(look), text_equal(rows[i].outcome, "ok"));
        assert_int_equal(saying.requests, rows[i].requests);
        assert_int_equal(json_at(look, "api.clockDifferenceSeconds") != NULL,
                         saying.first == 200 || saying.again == 200);
        json_decref(look);
        http_free(http);
        host_free(host);
    }
}

static int kubelet_says(void *context, const struct http_request *request,
                        struct http_response *ret, struct error *err) {
    const long *status = context;

    assert_string_equal(request->url, "http://127.0.0.1:10248/healthz");
    assert_int_equal(request->timeout_ms, DIAG_LOOK_SILENT_MS);
    if (*status < 0)
        return error_set(err, *status == -1 ? ERROR_TIMED_OUT : ERROR_NETWORK, "no answer");
    *ret = (struct http_response){.status = *status, .body = xstrdup("")};
    return 0;
}

struct containerd {
    struct host *host;
    bool answers;
};

static void containerd_says(void *context, const void *said, size_t len, struct text *answer) {
    const struct containerd *containerd = context;

    (void)said, (void)len;
    if (containerd->answers)
        text_add(answer, "not HTTP/2");
    else
        host_memory_advance(containerd->host, DIAG_LOOK_SILENT_MS + 1);
}

/* Who runs and hangs; whatever they answer, they live. */
static void who_is_silent_is_seen(void **state) {
    static const struct {
        long status; /* of the kubelet; -1: none comes, -2: it takes no connection */
        bool containerd;
        enum host_service_state state;
        const char *silent; /* "kubelet containerd" */
    } rows[] = {
        {200, true, HOST_SERVICE_RUNNING, ""},
        {500, true, HOST_SERVICE_RUNNING, ""},
        {-1, true, HOST_SERVICE_RUNNING, "kubelet"},
        {-2, true, HOST_SERVICE_RUNNING, ""}, /* nobody listens at that port */
        {200, false, HOST_SERVICE_RUNNING, "containerd"},
        {-1, false, HOST_SERVICE_STOPPED, ""},
    };
    static const char *const names[] = {"kubelet", "containerd"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        long status = rows[i].status;
        struct host *host = host_memory_new();
        struct containerd containerd = {host, rows[i].containerd};
        struct http *http = http_memory_new(kubelet_says, &status);
        const struct diag_look_options options = {.http = http,
                                                  .kubelet_health =
                                                      "http://127.0.0.1:10248/healthz",
                                                  .cri_pipe = "\\\\.\\pipe\\containerd"};
        json_t *look;

        for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
            const struct host_service service = {.name = (char *)names[k], .command = (char *)"x"};

            assert_int_equal(host_service_put(host, &service, NULL), 0);
            host_memory_set_service_state(host, names[k], rows[i].state);
        }
        host_memory_set_pipe_answer(host, containerd_says, &containerd);
        look = diag_look(host, &options, NULL);
        for (size_t k = 0; k < ARRAY_SIZE(names); k++)
            assert_int_equal(json_object_get(json_object_get(look, "silent"), names[k]) != NULL,
                             strstr(rows[i].silent, names[k]) != NULL);
        assert_int_equal(json_object_get(look, "silent") != NULL, *rows[i].silent != '\0');
        json_decref(look);
        http_free(http);
        host_free(host);
    }
}

static void without_an_identity_nobody_is_asked(void **state) {
    struct host *host = host_memory_new();
    json_t *look = look_at(host, NULL);

    (void)state;
    assert_string_equal(json_text_at(look, "api.outcome"), "no-identity");
    assert_string_equal(json_text_at(look, "api.detail"), "no kubeconfig");
    assert_non_null(json_text_at(look, "certificate.error"));
    /* nothing is installed: that no kubelet is there is said, of the others nothing */
    assert_int_equal(json_array_size(json_object_get(look, "services")), 2);
    assert_string_equal(diag_look_stops_pods(look), "containerd");
    json_decref(look);
    host_free(host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stops_pods_is_named_at_once),
        cmocka_unit_test(a_service_that_was_deleted_is_missed),
        cmocka_unit_test(what_was_found_is_published),
        cmocka_unit_test(what_stops_later_ends_the_wait),
        cmocka_unit_test(a_server_that_is_away_does_not_keep_from_measuring),
        cmocka_unit_test(a_damaged_network_file_is_told),
        cmocka_unit_test(one_that_never_joined_is_told_so),
        cmocka_unit_test(the_servers_answer_is_told_apart),
        cmocka_unit_test(who_is_silent_is_seen),
        cmocka_unit_test(without_an_identity_nobody_is_asked),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
