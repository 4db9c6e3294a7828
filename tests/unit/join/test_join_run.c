/* What the runner says of each phase: outcomes, details, and what a failure leaves not run. */
#include "tests/scene/join_scene.h"

struct told {
    struct text lines; /* "state phase: message", a line an event */
};

static void listen(void *context, const struct join_event *event) {
    static const char *const states[] = {"begin", "waiting", "warning",
                                         "done",  "skipped", "failed"};
    struct told *told = context;

    text_addf(&told->lines, "%s %s: %s\n", states[event->state], event->phase->id, event->message);
}

static void assert_phase(const json_t *result, const char *id, const char *outcome,
                         const char *detail) {
    const json_t *row = row_of(result, id);
    const char *said = json_text_at(row, "detail");

    assert_string_equal(json_text_at(row, "outcome"), outcome);
    if (detail && (!said || !strstr(said, detail)))
        fail_msg("%s: '%s' lacks '%s'", id, said ? said : "", detail);
}

/* One join; *ret_result: new reference. */
static int join_told(struct run *r, struct told *told, json_t **ret_result, struct error *err) {
    struct join join = {.host = r->host,
                        .http = r->http,
                        .asked = &r->options,
                        .progress = {.listener = listen, .context = told}};
    int result = join_open(&join, err);

    if (result == 0)
        result = join_run(&join, err);
    *ret_result = join_result_json(&join);
    join_close(&join);
    return result;
}

static void each_phase_says_what_it_did(void **state) {
    struct told told = {0};
    struct error err = {0};
    json_t *first, *again;
    struct run r;
    size_t count = 0;

    (void)state;
    open_run(&r, "overlay");
    text_list_add(&r.options.skip_phases, "ready");
    assert_int_equal(join_told(&r, &told, &first, &err), 0);
    assert_phase(first, "discovery", "done", "matches the pin");
    assert_phase(first, "configuration", "done", "v1.37.1, pods ");
    assert_phase(first, "certificate", "done", "approved");
    assert_phase(first, "pod-network", "done",
                 "overlay flannel.4096, VNI 4096; win-overlay; source VIP");
    assert_phase(first, "ready", "skipped", NULL);
    assert_phase(first, "verify", "done", NULL);
    while (join_phases[count].id)
        count++;
    assert_int_equal(json_array_size(json_object_get(first, "phases")), count);
    assert_string_equal(json_text_at(first, "phases.0.id"), "preflight");
    assert_string_equal(json_text_at(first, "cluster"), SCENE_SERVER);
    assert_null(json_object_get(first, "flows")); /* verify was told to ask nothing */
    assert_non_null(strstr(text_str(&told.lines), "begin vswitch: \n"));
    assert_non_null(strstr(text_str(&told.lines), "skipped ready: --skip-phases\n"));
    assert_int_equal(join_told(&r, &told, &again, &err), 0);
    assert_phase(again, "certificate", "done", "keeping the stored certificate, valid until 20");
    json_decref(first);
    json_decref(again);
    text_free(&told.lines);
    close_run(&r);
}

/* The facts of the cluster, for people and as data. */
static void a_phase_that_is_none_cannot_be_skipped(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    text_list_add(&r.options.skip_phases, "no-such-phase");
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_true(text_starts_with(err.message, "--skip-phases: "));
    close_run(&r);
}

static void what_was_found_is_said(void **state) {
    static const char *const facts[][2] = {
        {"server", "\"" SCENE_SERVER "\""},    {"kubernetesVersion", "\"v1.37.1\""},
        {"podSubnets", "[\"10.244.0.0/16\"]"}, {"serviceSubnets", "[\"10.96.0.0/12\"]"},
        {"networkMode", "\"overlay\""},        {"networkPlugin", "\"win-overlay\""},
    };
    _cleanup_(freep) char *said = NULL, *checks = NULL;
    struct told told = {0};
    struct error err = {0};
    json_t *result;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(join_told(&r, &told, &result, &err), 0);
    said = xasprintf(SCENE_SERVER ", CA %.11s...%s matches the pin", r.scene.pin,
                     r.scene.pin + strlen(r.scene.pin) - 4);
    assert_string_equal(json_text_at(row_of(result, "discovery"), "detail"), said);
    assert_string_equal(json_text_at(row_of(result, "discovery"), "data.caHash"), r.scene.pin);
    assert_string_equal(json_text_at(row_of(result, "configuration"), "detail"),
                        "v1.37.1, pods 10.244.0.0/16, services 10.96.0.0/12, DNS 10.96.0.10");
    for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
        const json_t *data =
            json_object_get(row_of(result, i ? "configuration" : "discovery"), "data");
        _cleanup_(freep) char *fact = json_write(json_object_get(data, facts[i][0]));

        assert_string_equal(fact, facts[i][1]);
    }
    checks = xasprintf(" checks, %zu warnings",
                       json_array_size(json_at(row_of(result, "preflight"), "data.checks")));
    assert_true(text_ends_with(json_text_at(row_of(result, "preflight"), "detail"), checks));
    json_decref(result);
    freep(&r.options.token);
    text_clear(&told.lines);
    assert_int_equal(join_told(&r, &told, &result, &err), 0);
    assert_string_equal(json_text_at(row_of(result, "discovery"), "detail"),
                        "already joined: " SCENE_SERVER ", as this node");
    json_decref(result);
    text_free(&told.lines);
    close_run(&r);
}

/* What cannot work is found before the first phase that changes the host. */
static void a_plan_that_fails_ends_the_configuration(void **state) {
    struct told told = {0};
    struct error err = {0};
    json_t *before, *after, *result;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    text_list_add(&r.options.pod_cidrs, "10.0.0.0/24");
    before = state_of(&r);
    assert_int_equal(join_told(&r, &told, &result, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_phase(result, "discovery", "done", NULL);
    assert_phase(result, "configuration", "failed",
                 "pod prefix of the node 10.0.0.0/24 overlaps the node's network 10.0.0.0/24");
    assert_phase(result, "artifacts", "not-run", NULL);
    assert_string_equal(json_text_at(result, "cluster"), SCENE_SERVER);
    assert_non_null(strstr(text_str(&told.lines), "failed configuration: pod prefix"));
    after = state_of(&r);
    assert_same(before, after, "a plan that fails");
    json_decref(before);
    json_decref(after);
    json_decref(result);
    text_free(&told.lines);
    close_run(&r);
}

/* Each node of a flannel has its numbers; other ones are a mistake of the call, and said as such.
 */
static void numbers_of_flannel_are_kept(void **state) {
    static const struct {
        const char *conf;
        unsigned vni, port;
        const char *says, *hint;
    } rows[] = {
#define CONF(backend) "{\"Network\": \"10.244.0.0/16\", \"Backend\": " backend "}"
#define VXLAN CONF("{\"Type\": \"vxlan\", \"VNI\": 4096, \"Port\": 4789}")
        {VXLAN, 5000, 0, "--vni 5000 does not fit: the cluster's flannel uses 4096",
         "leave --vni out: winjoin reads it from ConfigMap kube-flannel/kube-flannel-cfg"},
        {VXLAN, 0, 9898, "--vxlan-port 9898 does not fit: the cluster's flannel uses 4789",
         "leave --vxlan-port out: "},
        {CONF("{\"Type\": \"vxlan\", \"VNI\": 4096, \"Port\": 8472}"), 0, 4789,
         "the cluster's flannel does not support Windows nodes: its port is 8472", "set "},
        {VXLAN, 4096, 4789, NULL, NULL},
        {CONF("{\"Type\": \"host-gw\"}"), 5000, 0, NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct run r;
        struct join join;

        open_run(&r, "overlay");
        freep(&r.options.network_mode);
        r.scene.flannel = rows[i].conf;
        r.options.vni = rows[i].vni;
        r.options.vxlan_port = rows[i].port;
        open_join(&r, &join);
        assert_int_equal(join_run_phase(&join, "configuration", &err), rows[i].says ? -1 : 0);
        if (rows[i].says) {
            assert_string_equal(err.message, rows[i].says);
            assert_true(text_starts_with(err.hints[0], rows[i].hint));
            assert_int_equal(error_exit_code(err.kind), 3);
        }
        join_close(&join);
        close_run(&r);
    }
}

/* Rights that would be missing later end a join before the network adapter goes away. */
static void rights_are_asked_for_first(void **state) {
    static const struct {
        const char *may_not, *hides, *says, *hint;
        bool dry_run; /* which sends no certificate request that would be refused */
    } rows[] = {
        {"certificatesigningrequests", NULL,
         "[ClusterRights] the token is not allowed to create certificatesigningrequests",
         "kubeadm token", true},
        {NULL, "/kube-system/configmaps/winjoin",
         "ConfigMap kube-system/winjoin cannot be read (403), and kube-proxy would be refused",
         "winjoin config cluster --kubeconfig admin.conf | kubectl apply -f -", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct told told = {0};
        struct error err = {0};
        json_t *before, *after, *result;
        struct run r;

        open_run(&r, "overlay");
        r.scene.may_not = rows[i].may_not;
        r.scene.hides = rows[i].hides;
        r.options.dry_run = rows[i].dry_run;
        before = state_of(&r);
        assert_int_equal(join_told(&r, &told, &result, &err), -1);
        assert_int_equal(error_exit_code(err.kind), 2);
        assert_non_null(strstr(err.hints[0], rows[i].hint));
        assert_phase(result, "configuration", "failed", rows[i].says);
        assert_phase(result, "vswitch", "not-run", NULL);
        after = state_of(&r);
        assert_same(before, after, rows[i].says);
        json_decref(before);
        json_decref(after);
        json_decref(result);
        text_list_add(&r.options.ignore_preflight_errors, "ClusterRights");
        text_clear(&told.lines);
        assert_int_equal(join_told(&r, &told, &result, &err), 0);
        assert_non_null(strstr(text_str(&told.lines), "warning configuration: [ClusterRights]"));
        assert_string_equal(err.message, "");
        json_decref(result);
        text_free(&told.lines);
        close_run(&r);
    }
}

/* A certificate request that is refused is, too. */
static void a_refused_request_leaves_the_adapter(void **state) {
    struct told told = {0};
    struct error err = {0};
    json_t *result;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    r.scene.hides = "certificatesigningrequests";
    assert_int_equal(join_told(&r, &told, &result, &err), -1);
    assert_phase(result, "certificate", "failed", "403");
    assert_phase(result, "vswitch", "not-run", NULL);
    assert_non_null(strstr(err.hints[0], "kubeadm token create"));
    json_decref(result);
    text_free(&told.lines);
    close_run(&r);
}

/* The node's own rights, once it has a certificate: kube-proxy's and the network agent's. */
static void rights_of_a_joined_node(void **state) {
    static const struct {
        const char *may_not, *says;
    } rows[] = {
        {"\"services\"", "[ClusterRights] this node is not allowed to list services"},
        {"\"watch\"", "[ClusterRights] this node is not allowed to watch nodes"},
        {"\"endpointslices\"", "[ClusterRights] this node is not allowed to list endpointslices"},
        {NULL, ""},
    };
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(join_once(&r, &err), 0);
    r.scene.flannel = "{\"Network\": \"10.244.0.0/16\", \"Backend\": {\"Type\": \"vxlan\", "
                      "\"VNI\": 4096, \"Port\": 4789}}";
    r.options.network_plugin = xstrdup("flannel");
    freep(&r.options.token); /* the node asks by itself */
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct join join = {.host = r.host, .http = r.http, .asked = &r.options};

        r.scene.may_not = rows[i].may_not;
        error_clear(&err);
        assert_int_equal(join_open(&join, &err), 0);
        assert_int_equal(join_run_phase(&join, "configuration", &err), rows[i].may_not ? -1 : 0);
        assert_string_equal(err.message, rows[i].says);
        join_close(&join);
    }
    close_run(&r);
}

/* What may not be read is not said to be absent, and how to allow it is said. */
static void an_unread_flannel_is_not_absent(void **state) {
    for (int chosen = 0; chosen < 2; chosen++) {
        struct told told = {0};
        struct error err = {0};
        json_t *result;
        struct run r;

        (void)state;
        open_run(&r, "overlay");
        r.scene.hides = "kube-flannel-cfg";
        freep(&r.options.network_mode);
        if (chosen)
            r.options.network_plugin = xstrdup("win-overlay");
        assert_int_equal(join_told(&r, &told, &result, &err), chosen ? 0 : -1);
        if (chosen)
            assert_phase(result, "flanneld", "done", "not needed by the plugin win-overlay");
        else
            assert_non_null(
                strstr(err.message, "which network agent the cluster runs is not known"));
        assert_int_equal(strstr(err.hints[0], "winjoin config cluster") != NULL, !chosen);
        json_decref(result);
        text_free(&told.lines);
        close_run(&r);
    }
}

static void a_joined_node_keeps_its_name(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    for (int joined = 0; joined < 2; joined++) {
        struct join join = {.host = r.host, .http = r.http, .asked = &r.options};

        if (!joined)
            r.options.node_name = xstrdup("Win-Named");
        else
            freep(&r.options.node_name);
        assert_int_equal(join_open(&join, &err), 0);
        assert_string_equal(join.found.node_name, "win-named");
        assert_int_equal(joined ? 0 : join_run_phase(&join, "discovery", &err), 0);
        assert_int_equal(joined ? 0 : join_run_phase(&join, "certificate", &err), 0);
        join_close(&join);
    }
    close_run(&r);
}

static void a_phase_that_fails_fails_the_call(void **state) {
    struct error err = {0};
    json_t *result;
    struct run r;
    struct join join;

    (void)state;
    open_run(&r, "overlay");
    open_join(&r, &join);
    assert_int_equal(join_run_phase(&join, "ready", &err), -1);
    assert_non_null(strstr(err.message, "this machine has not joined a cluster: "));
    assert_int_equal(join_run_phase(&join, "no-such-phase", &err), -1);
    join.found.odd_host_name = true;
    assert_int_equal(join_run_phase(&join, "discovery", &err), -1);
    join.found.odd_host_name = false;
    result = join_result_json(&join);
    assert_phase(result, "discovery", "failed", "cannot be a node's: give one with --node-name");
    json_decref(result);
    host_memory_interrupt(r.host);
    assert_int_equal(join_run_phase(&join, "discovery", &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    join_close(&join);
    close_run(&r);
}

/* The server takes the request and says nothing until somebody presses Ctrl-C. */
static int no_answer(void *context, const struct http_request *request, struct http_response *ret,
                     struct error *err) {
    if (strstr(request->url, "kubeadm-config"))
        return error_set(err, ERROR_INTERRUPTED, "interrupted while waiting for the answer");
    return scene_answer(context, request, ret, err);
}

static void an_interrupted_request_is_named(void **state) {
    struct error err = {0};
    struct run r;
    struct join join;

    (void)state;
    open_run(&r, "overlay");
    answer_with(&r, no_answer);
    open_join(&r, &join);
    assert_int_equal(join_run_phase(&join, "configuration", &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    assert_non_null(strstr(err.message, "request the kubeadm-config ConfigMap: interrupted while "
                                        "waiting"));
    join_close(&join);
    close_run(&r);
}

static unsigned refusals;

/* Nobody answers the first two times. */
static int late_answer(void *context, const struct http_request *request, struct http_response *ret,
                       struct error *err) {
    if (refusals) {
        refusals--;
        return error_set(err, ERROR_NETWORK, "connection refused");
    }
    return scene_answer(context, request, ret, err);
}

static void a_wait_for_the_server_is_told(void **state) {
    struct told told = {0};
    struct error err = {0};
    struct run r;
    struct join join;

    (void)state;
    open_run(&r, "overlay");
    answer_with(&r, late_answer);
    refusals = 2;
    join = (struct join){.host = r.host,
                         .http = r.http,
                         .asked = &r.options,
                         .progress = {.listener = listen, .context = &told}};
    assert_int_equal(join_open(&join, &err), 0);
    assert_int_equal(join_run_phase(&join, "discovery", &err), 0);
    assert_non_null(strstr(text_str(&told.lines), "waiting discovery: "));
    assert_non_null(strstr(text_str(&told.lines), "connection refused; next try in "));
    assert_null(strstr(text_str(&told.lines), "next try in 0 s"));
    join_close(&join);
    text_free(&told.lines);
    close_run(&r);
}

/* A joined node whose kubelet ended, then one whose network is gone: each wait says what it is for,
 * and ends in its time. */
static void a_node_that_does_not_come(void **state) {
    static const char config[] = "C:\\etc\\cni\\net.d\\10-winjoin.conf";
    struct told told = {0};
    struct error err = {0};
    struct join join;
    struct run r;
    uint64_t start;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(join_once(&r, &err), 0);
    join = (struct join){.host = r.host,
                         .http = r.http,
                         .asked = &r.options,
                         .progress = {.listener = listen, .context = &told}};
    assert_int_equal(join_open(&join, &err), 0);
    assert_int_equal(join_need(&join, NEED_NODE, &err), 0);
    host_memory_set_service_state(r.host, "kubelet", HOST_SERVICE_STOPPED);
    start = host_monotonic_ms(r.host);
    assert_int_equal(join_run_phase(&join, "node", &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(strstr(err.message, "node \"win-7k2\" is not registered: waited 120 s"));
    assert_non_null(strstr(err.hints[0], "event CIDRNotAvailable"));
    assert_int_equal(host_monotonic_ms(r.host) - start, 120000);
    assert_non_null(strstr(text_str(&told.lines), "for the kubelet to register node win-7k2"));
    host_memory_set_service_state(r.host, "kubelet", HOST_SERVICE_RUNNING);
    assert_int_equal(host_remove(r.host, config, NULL), 0);
    start = host_monotonic_ms(r.host);
    assert_int_equal(join_run_phase(&join, "ready", &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(strstr(err.message, "is not Ready: KubeletNotReady: cni config uninitialized"));
    assert_int_equal(host_monotonic_ms(r.host) - start, 180000);
    assert_non_null(strstr(text_str(&told.lines), "Ready is False: cni config uninitialized"));
    join_close(&join);
    text_free(&told.lines);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_phase_says_what_it_did),
        cmocka_unit_test(a_phase_that_is_none_cannot_be_skipped),
        cmocka_unit_test(what_was_found_is_said),
        cmocka_unit_test(a_plan_that_fails_ends_the_configuration),
        cmocka_unit_test(numbers_of_flannel_are_kept),
        cmocka_unit_test(rights_are_asked_for_first),
        cmocka_unit_test(a_refused_request_leaves_the_adapter),
        cmocka_unit_test(rights_of_a_joined_node),
        cmocka_unit_test(an_unread_flannel_is_not_absent),
        cmocka_unit_test(a_joined_node_keeps_its_name),
        cmocka_unit_test(a_phase_that_fails_fails_the_call),
        cmocka_unit_test(a_wait_for_the_server_is_told),
        cmocka_unit_test(an_interrupted_request_is_named),
        cmocka_unit_test(a_node_that_does_not_come),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
