/* A cluster's diagnosis from start to end, with an API server in memory. */
#include "tests/scene/cluster_scene.h"

#include "base/rfc3339.h"
#include "diag/cluster/probes/asking.h"

/* What it asks of the API server, makes and takes away, and what it finds where all is well. */
static void a_healthy_cluster(void **state) {
    _cleanup_(freep) char *space = NULL, *wanted = NULL;
    struct error err;

    (void)state;
    assert_int_equal(diagnose(&err), 0);
    space = xasprintf("/api/v1/namespaces/%s", c.report.namespace_);
    assert_true(text_starts_with(c.report.namespace_, "winjoin-diag-"));
    assert_int_equal(strlen(c.report.namespace_), strlen("winjoin-diag-01234567"));
    wanted = xasprintf("POST /api/v1/namespaces\nPOST %s/services\nPOST %s/services\n"
                       "POST %s/services\nPOST %s/services\nPOST %s/services\nPOST %s/services\n"
                       "POST %s/pods\nPOST %s/pods\nPOST %s/pods\nDELETE %s\n",
                       space, space, space, space, space, space, space, space, space, space);
    assert_string_equal(text_str(&c.log), wanted);
    assert_int_equal(cells_with(DIAG_PASS), c.report.cells.count);
    assert_true(c.report.cells.count > 50);
    assert_true(diag_report_is_good(&c.report));
    assert_int_equal(c.report.causes.count, 0);
    assert_false(c.report.left);
    assert_int_equal(c.report.requests, http_memory_requests(c.http));
    assert_true(c.report.milliseconds < 100); /* no time passes but where it waits */
    assert_string_equal(c.report.domain, "cluster.local");
    assert_string_equal(c.report.server, "https://k");
    for (size_t i = 0; i < c.paths.count; i++) /* it is asked only where probes are not reached */
        assert_false(text_starts_with(c.paths.items[i], "/version"));
    for (unsigned i = 0; i < NODES; i++) {
        const struct probe_result *ready = &cell_of("node-to-pod", false, node_names[i], 0)->result;

        assert_int_equal(ready->attempts, 1);
        assert_int_equal(ready->succeeded, 1);
        assert_int_equal(ready->outcome, PROBE_OK);
    }
}

static void takes_time(const char *method, const char *path) {
    (void)method;
    if (strstr(path, "request=hostname"))
        host_memory_advance(c.host, 50);
}

static size_t shown, waiting_at_first, waiting_at_last;
static void show(void *context, const struct diag_report *report) {
    size_t waiting = 0;

    (void)context;
    for (size_t i = 0; i < report->cells.count; i++)
        waiting += report->cells.items[i].outcome == DIAG_NOT_RUN;
    if (!shown++)
        waiting_at_first = waiting;
    assert_true(waiting <= waiting_at_first);
    waiting_at_last = waiting;
}

/* Each answer is judged when it comes, so that somebody who looks sees the cells fill in; five
 * times a second. */
static void cells_are_shown_meanwhile(void **state) {
    struct error err;

    (void)state;
    shown = 0;
    c.options.cells = show;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(shown, 3); /* no time passes here: the first one, all, and Services again */
    assert_int_equal(waiting_at_first, c.report.cells.count - 1);
    assert_int_equal(waiting_at_last, NODES); /* the kubelets' are judged last */
    close_cluster(state);
    open_cluster(state);
    shown = 0;
    c.options.cells = show;
    c.before = takes_time;
    assert_int_equal(diagnose(&err), 0); /* the first one, about each fourth after it, and all */
    assert_in_range(shown, (c.report.cells.count - NODES) / 4,
                    3 + c.report.cells.count / 4 + 2 * NODES); /* the Services once more */
}

/* The address that others see, which DNS a pod has, whether a Service keeps its clients. */
static void what_is_only_looked_at(void **state) {
    struct error err;

    (void)state;
    assert_int_equal(diagnose(&err), 0);
    for (unsigned i = 0; i < NODES; i++) {
        const struct cluster_node *node = &c.report.nodes.items[i];
        _cleanup_(freep) char *own = xasprintf("10.244.%u.5", i + 1);
        assert_string_equal(node->name, node_names[i]);
        assert_string_equal(node->client_ip, own);
        assert_string_equal(node->service_ip, own);
        assert_string_equal(node->local_ip, own);
        assert_string_equal(node->servers, "10.96.0.10");
        assert_string_equal(node->suffixes, c.suffixes);
        assert_true(node->sticky && node->fixed && node->pod_ready);
        assert_null(node->unreached);
        assert_null(node->waiting);
    }
    for (size_t i = 0; i < c.paths.count; i++) { /* another probe is asked which client it sees */
        assert_false(strstr(c.paths.items[i], "probe-1:8080/proxy/dial?host=10.244.1.5&port=8080&"
                                              "protocol=http&request=clientip"));
    }
}

/* The domain is what pods say, not what most clusters have. */
static void the_domain_is_that_of_the_pods(void **state) {
    struct error err;
    bool asked = false;

    (void)state;
    c.suffixes = "ns.svc.example.org,svc.,svc.example.org,example.org";
    assert_int_equal(diagnose(&err), 0);
    assert_string_equal(c.report.domain, "example.org");
    for (size_t i = 0; i < c.paths.count; i++)
        asked |= strstr(c.paths.items[i], ".svc.example.org&port=80&protocol=http") != NULL;
    assert_true(asked);
}

static bool of_the_first(const struct dial *d, long *ret_status, const char **ret_body) {
    (void)ret_status;
    *ret_body = d->from == 1 ? "{\"output\":\"svc.example.org,a\\n\"}" : "{\"output\":\"a\\n\"}";
    return !*d->host; /* the shell is asked */
}

static void the_domain_that_one_pod_says(void **state) {
    struct error err;

    (void)state;
    c.dialed = of_the_first;
    assert_int_equal(diagnose(&err), 0);
    assert_string_equal(c.report.domain, "example.org");
}

/* Both addresses of a pod and of a Service, whichever comes first, make cells. */
static void two_families(void **state) {
    struct error err;

    for (unsigned first = 0; first < 2; first++) {
        close_cluster(state);
        open_cluster(state);
        c.dual = true;
        c.six_first = first;
        assert_int_equal(diagnose(&err), 0);
        assert_int_equal(cells_with(DIAG_PASS), c.report.cells.count);
        for (unsigned i = 0; i < NODES; i++) {
            const struct cluster_node *node = &c.report.nodes.items[i];
            _cleanup_(freep) char *four = xasprintf("10.244.%u.5", i + 1);
            _cleanup_(freep) char *six = xasprintf("fd00:0:0:%u::5", i + 1);

            assert_string_equal(node->pod_ip, four);
            assert_string_equal(node->pod_ip6, six);
            assert_true(cell_of("pod-to-pod-ip", true, node->name, 1)->family == 6);
        }
    }
}

static void missing_rights(void **state) {
    struct error err;

    (void)state;
    c.denied = "\"subresource\":\"proxy\"";
    assert_int_equal(diagnose(&err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_string_equal(err.message,
                        "diagnose the cluster: 'jane' is not allowed to: get pods/proxy");
    assert_int_equal(c.log.len, 0); /* nothing was made */
    assert_int_equal(json_array_size(json_at(c.grant, "items.0.rules")), 10);
    assert_string_equal(json_text_at(c.grant, "items.1.subjects.0.name"), "jane");
}

/* ---- nodes ---- */

/* What the server does not answer at first says nothing about the right. */
static void rights_that_are_asked_again(void **state) {
    struct error err;

    (void)state;
    c.reviews = 2;
    c.denied = "\"subresource\":\"proxy\"";
    c.client.patience_ms = 15000;
    assert_int_equal(diagnose(&err), -1);
    assert_string_equal(err.message,
                        "diagnose the cluster: 'jane' is not allowed to: get pods/proxy");
    close_cluster(state);
    open_cluster(state);
    c.reviews = 100;
    assert_int_equal(diagnose(&err), -1);
    assert_int_equal(err.kind, ERROR_NETWORK);
    assert_int_equal(c.log.len, 0);
}

static void a_node_that_is_not_ready(void **state) {
    struct error err;

    (void)state;
    c.not_ready[1] = true;
    assert_int_equal(diagnose(&err), 0);
    assert_null(strstr(text_str(&c.log), "probe-2"));
    assert_int_equal(c.made, 2);
    assert_string_equal(c.report.nodes.items[1].waiting, "the node is not Ready");
    assert_string_equal(cell_of("pod-to-pod-ip", false, "win-2", 0)->reason,
                        "the node is not Ready");
    assert_int_equal(cells_with(DIAG_NOT_RUN), 1);
    assert_false(diag_report_is_good(&c.report));
}

static void chosen_nodes(void **state) {
    struct text_list names = {0};
    struct error err;
    bool asked = false;

    (void)state;
    text_list_add(&names, "win-2");
    c.options.names = &names;
    c.options.selector = "pool=a,zone in (b)";
    c.options.image = "registry.example/agnhost:1";
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(c.report.nodes.count, 1);
    assert_int_equal(c.made, 1);
    assert_string_equal(c.report.nodes.items[0].name, "win-2");
    for (size_t i = 0; i < c.paths.count; i++)
        asked |= text_starts_with(c.paths.items[i],
                                  "/api/v1/nodes?labelSelector=pool%3Da%2Czone%20in%20%28b%29&");
    assert_true(asked);
    text_list_add(&names, "win-9");
    text_clear(&c.log);
    assert_int_equal(diagnose(&err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_int_equal(c.log.len, 0);
    text_list_free(&names);
}

/* ---- pods ---- */

static void a_pod_that_does_not_start(void **state) {
    struct error err;

    (void)state;
    c.waiting[0] = "ImagePullBackOff";
    assert_int_equal(diagnose(&err), 0);
    assert_string_equal(c.report.nodes.items[0].waiting, "ImagePullBackOff");
    assert_string_equal(cell_of("pod-to-pod-ip", false, "win-1", 0)->reason, "ImagePullBackOff");
    assert_int_equal(cells_with(DIAG_NOT_RUN), 1);
    assert_int_equal(cells_with(DIAG_FAIL), 0);
    assert_true(c.report.start_ms < 3000); /* that does not change any more: no wait */
    assert_false(diag_report_is_good(&c.report));
}

static char *first_told, *last_told;
static void tell(void *context, unsigned waited_ms, unsigned left_ms, const char *message) {
    (void)context;
    assert_int_equal(waited_ms + left_ms, text_starts_with(message, "waiting") ? 20000 : 0);
    if (!first_told)
        first_told = xstrdup(message);
    if (text_starts_with(message, "waiting")) {
        free(last_told);
        last_told = xstrdup(message);
    }
}

static void a_pod_that_is_waited_for_in_vain(void **state) {
    struct error err;

    (void)state;
    c.waiting[2] = "ContainerCreating";
    c.options.start_timeout_ms = 20000;
    c.options.progress = tell;
    assert_int_equal(diagnose(&err), 0);
    assert_string_equal(last_told, "waiting for 1 probe pods (lin-1: ContainerCreating)");
    assert_true(c.report.start_ms >= 20000 && c.report.start_ms < 40000);
    assert_string_equal(c.report.nodes.items[2].waiting, "ContainerCreating");
    assert_non_null(strstr(text_str(&c.log), "DELETE "));
    assert_string_equal(first_told, "starting the probe pods");
    free(take_ptr(first_told));
    free(take_ptr(last_told));
}

static void starts_later(const char *method, const char *path) {
    (void)method;
    if (strstr(path, "watch=true"))
        c.waiting[2] = NULL;
}

static void a_pod_that_takes_its_time(void **state) {
    struct error err;

    (void)state;
    c.waiting[2] = "ContainerCreating";
    c.before = starts_later;
    c.unready_pods = true;
    assert_int_equal(diagnose(&err), 0);
    if (c.report.nodes.items[2].waiting)
        fail_msg("%s", c.report.nodes.items[2].waiting);
    assert_int_equal(cell_of("node-to-pod", false, "lin-1", 0)->outcome, DIAG_FAIL);
    assert_true(c.report.milliseconds >= 4000 && c.report.milliseconds < 6000);
    assert_string_equal(cell_of("node-to-pod", false, "lin-1", 0)->reason,
                        "the kubelet's readiness probe does not reach the pod");
}

/* Which answers to a pod's making are worth another try. */
static void pods_that_are_refused(void **state) {
    static const struct {
        long status;
        const char *body;
        unsigned failures, made; /* made: POSTs of pods, all in all */
        const char *message;
    } rows[] = {
        {403, "{\"message\":\"no serviceaccount default\"}", 2, 6, NULL},
        {500, "{}", 3, 6, NULL},
        {429, "{}", 1, 6, NULL},
        {409, "{\"message\":\"exists\"}", 3, 3, NULL},
        {403, "{\"message\":\"quota\"}", 3, 3, "quota"},
        {422, "{\"message\":\"invalid\"}", 1, 3, "invalid"},
        {503, "{\"message\":\"never\"}", 1000, 63, "never"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err;
        unsigned posts = 0;
        int result;

        close_cluster(state);
        open_cluster(state);
        c.pod_status = rows[i].status;
        c.pod_error = rows[i].body;
        c.failures = rows[i].failures;
        result = diagnose(&err);
        for (const char *at = text_str(&c.log); (at = strstr(at, "/pods\n")); at++)
            posts++;
        if (posts != rows[i].made || (result == 0) != !rows[i].message)
            fail_msg("row %zu: %u pods, %s", i, posts, err.message);
        if (rows[i].message)
            assert_non_null(strstr(err.message, rows[i].message));
        if (rows[i].failures == 1000) /* soon at first, then once a second */
            assert_int_equal(host_monotonic_ms(c.host), 100 + 200 + 400 + 800 + 16 * 1000);
        assert_non_null(strstr(text_str(&c.log), "\nDELETE /api/v1/namespaces/winjoin-diag-"));
    }
}

static void services_without_an_address(void **state) {
    static const char *const names[] = {"backend", "sticky", "self"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct error err;

        close_cluster(state);
        open_cluster(state);
        c.nameless = names[i];
        assert_int_equal(diagnose(&err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_int_equal(c.made, 0);
    }
}

/* ---- what other runs left, and what this one leaves ---- */

static void namespaces_of_killed_runs(void **state) {
    char old[64], young[64];
    _cleanup_(freep) char *stale = NULL;
    struct error err;

    (void)state;
    rfc3339_format(host_now(c.host) - POD_LIFE_SECONDS, old);
    rfc3339_format(host_now(c.host) - POD_LIFE_SECONDS + 1, young);
#define SPACE(name, made, more)                                                                    \
    "{\"metadata\":{\"name\":\"" name "\",\"creationTimestamp\":\"" made "\"" more "}}"
    stale = xasprintf(
        "{\"items\":[" SPACE("winjoin-diag-1", "%s", "") "," SPACE("winjoin-diag-2", "%s", "") "," SPACE(
            "kube-system", "%s",
            "") "," SPACE("winjoin-diag-3", "%s",
                          ",\"deletionTimestamp\":\"x\"") "," SPACE("winjoin-diag-4", "long ago",
                                                                    "") "," SPACE("winjoin-diag-a/"
                                                                                  "b",
                                                                                  "%s", "") "]}",
        old, young, old, old, old);
    c.stale = stale;
    assert_int_equal(diagnose(&err), 0);
    assert_true(text_starts_with(text_str(&c.log), "DELETE /api/v1/namespaces/winjoin-diag-1\n"
                                                   "POST /api/v1/namespaces\n"));
    c.stale = "{\"items\":[]}";
}

static unsigned deletions(void) {
    unsigned count = 0;

    for (const char *at = text_str(&c.log); (at = strstr(at, "DELETE ")); at++)
        count++;
    return count;
}

static void a_namespace_that_stays(void **state) {
    struct error err;

    (void)state;
    c.deletions = 5; /* by passing failures */
    assert_int_equal(diagnose(&err), 0);
    assert_false(c.report.left);
    assert_int_equal(deletions(), 6);
    diag_report_free(&c.report);
    c.deletions = 1000;
    assert_int_equal(diagnose(&err), 0);
    assert_true(c.report.left);
    assert_int_equal(deletions(), 6 + 11);
    assert_int_equal(host_monotonic_ms(c.host), (5 + 10) * 3000);
}

static unsigned lives; /* requests of this kind before the server is gone */
static const char *last_kind;
static void dies(const char *method, const char *path) {
    if (text_equal(method, "POST") && text_ends_with(path, last_kind))
        c.dead |= lives-- == 0;
}

/* The laptop's connection is cut while pods are made. */
static void a_server_that_is_gone(void **state) {
    static const struct {
        const char *kind;
        unsigned lives;
    } rows[] = {{"/pods", 0}, {"/namespaces", 0}, {"/services", 1}, {"/services", 5}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err;

        close_cluster(state);
        open_cluster(state);
        last_kind = rows[i].kind;
        lives = rows[i].lives;
        c.before = dies;
        assert_int_equal(diagnose(&err), -1);
        assert_int_equal(err.kind, ERROR_NETWORK);
        assert_true(text_starts_with(err.hints[0], "kubectl delete namespace winjoin-diag-"));
        assert_true(host_monotonic_ms(c.host) < 120000);
    }
}

static void ready_later(const char *method, const char *path) {
    (void)method;
    c.unready_pods = c.unready_pods && !strstr(path, "watch=true");
}

/* The kubelet looks once a second, and diag is done before. */
static void pods_that_become_ready(void **state) {
    struct error err;

    (void)state;
    c.unready_pods = true;
    c.before = ready_later;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(cells_with(DIAG_PASS), c.report.cells.count);
}

static void too_late(const char *method, const char *path) {
    ready_later(method, path);
    if (strstr(path, "/proxy/"))
        c.waiting[1] = NULL;
}

/* It was given up and asked nothing. */
static void a_pod_that_starts_too_late(void **state) {
    struct error err;

    (void)state;
    c.waiting[1] = "ImagePullBackOff";
    c.unready_pods = true; /* so that all are looked at again */
    c.before = too_late;
    assert_int_equal(diagnose(&err), 0);
    assert_string_equal(c.report.nodes.items[1].waiting, "ImagePullBackOff");
    assert_string_equal(c.report.causes.items[0].id, "CL-NOPOD");
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_cluster, close_cluster)
    const struct CMUnitTest tests[] = {CASE(a_healthy_cluster),
                                       CASE(cells_are_shown_meanwhile),
                                       CASE(what_is_only_looked_at),
                                       CASE(the_domain_is_that_of_the_pods),
                                       CASE(the_domain_that_one_pod_says),
                                       CASE(two_families),
                                       CASE(missing_rights),
                                       CASE(rights_that_are_asked_again),
                                       CASE(a_node_that_is_not_ready),
                                       CASE(chosen_nodes),
                                       CASE(a_pod_that_does_not_start),
                                       CASE(a_pod_that_is_waited_for_in_vain),
                                       CASE(a_pod_that_takes_its_time),
                                       CASE(pods_that_become_ready),
                                       CASE(a_pod_that_starts_too_late),
                                       CASE(pods_that_are_refused),
                                       CASE(services_without_an_address),
                                       CASE(namespaces_of_killed_runs),
                                       CASE(a_namespace_that_stays),
                                       CASE(a_server_that_is_gone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
