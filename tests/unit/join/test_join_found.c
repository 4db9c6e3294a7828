/* What phases need and a join finds once: the network, the adapter, the client, the programs'
 * source.
 */
#include "tests/scene/join_scene.h"

#include "base/memory.h"

/* ---- the network ---- */

static void a_joined_node_keeps_its_network(void **state) {
    static const struct {
        const char *name, *mode;
        unsigned vni, port;
        const char *is;
        unsigned is_vni, is_port;
    } rows[] = {
        {NULL, NULL, 0, 0, "pods", 5000, 4800},
        {"other", NULL, 6000, 4900, "other", 6000, 4900},
        {NULL, "overlay", 0, 0, "flannel.4096", 4096, 4789},
    };
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    r.options.network_plugin = xstrdup("win-overlay");
    r.options.network_name = xstrdup("pods");
    r.options.vni = 5000;
    r.options.vxlan_port = 4800;
    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct join join = {.host = r.host, .http = r.http, .asked = &r.options};

        set_options(&r, "overlay");
        freep(&r.options.network_mode);
        r.options.network_mode = xstrdup_null(rows[i].mode);
        r.options.network_plugin = rows[i].mode ? xstrdup("win-overlay") : NULL;
        r.options.network_name = xstrdup_null(rows[i].name);
        r.options.vni = rows[i].vni;
        r.options.vxlan_port = rows[i].port;
        assert_int_equal(join_open(&join, &err), 0);
        if (join_need(&join, NEED_PLAN, &err) < 0)
            fail_msg("row %zu: %s", i, err.message);
        assert_string_equal(join.found.plan.name, rows[i].is);
        assert_int_equal(join.found.plan.vni, rows[i].is_vni);
        assert_int_equal(join.found.plan.vxlan_port, rows[i].is_port);
        join_close(&join);
    }
    close_run(&r);
}

/* One that no default would choose. */
static void a_joined_node_keeps_its_mode(void **state) {
    struct error err = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "l2bridge");
    r.options.network_plugin = xstrdup("win-bridge");
    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    set_options(&r, NULL);
    r.scene.flannel = "{\"Network\": \"10.244.0.0/16\", \"Backend\": {\"Type\": \"vxlan\", "
                      "\"VNI\": 4096, \"Port\": 4789}}";
    open_join(&r, &join);
    if (join_need(&join, NEED_PLAN, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(join.found.plan.mode->name, "l2bridge");
    assert_string_equal(join.found.plan.cni_plugin, "win-bridge");
    join_close(&join);
    close_run(&r);
}

/* One that is new gets no plugin whose packets the other nodes do not understand. */
static void a_new_node_fits_the_cluster(void **state) {
    struct error err = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "l2bridge");
    r.options.network_plugin = xstrdup("win-bridge");
    r.scene.flannel = "{\"Network\": \"10.244.0.0/16\", \"Backend\": {\"Type\": \"vxlan\", "
                      "\"VNI\": 4096, \"Port\": 4789}}";
    open_join(&r, &join);
    assert_int_equal(join_need(&join, NEED_PLAN, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_non_null(strstr(err.message, "'win-bridge' in mode 'l2bridge' does not fit"));
    join_close(&join);
    close_run(&r);
}

static int answer_kube_proxy(void *context, const struct http_request *request,
                             struct http_response *ret, struct error *err) {
    if (!strstr(request->url, "/kube-system/configmaps/winjoin"))
        return scene_answer(context, request, ret, err);
    return scene_json(ret, 200,
                      json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                                "data", "NodeConfiguration",
                                "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n"
                                "kubeProxy: {run: service}\n"));
}

/* The call and the cluster's ConfigMap are right alone; together they are not, and it is said whose
 * value that is. */
static void the_cluster_s_values_are_judged_with_the_call_s(void **state) {
    struct error err = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, NULL);
    answer_with(&r, answer_kube_proxy);
    r.options.network_plugin = xstrdup("external");
    open_join(&r, &join);
    assert_int_equal(join_need(&join, NEED_CLUSTER, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    assert_true(text_starts_with(err.message, "ConfigMap kube-system/winjoin: "));
    assert_non_null(strstr(err.message, "kube-proxy cannot be a service"));
    join_close(&join);
    close_run(&r);
}

static int answer_without_pod_cidr(void *context, const struct http_request *request,
                                   struct http_response *ret, struct error *err) {
    json_t *node;

    if (!strstr(request->url, "/api/v1/nodes/"))
        return scene_answer(context, request, ret, err);
    node = scene_node(context);
    json_object_del(json_object_get(node, "spec"), "podCIDR");
    json_object_del(json_object_get(node, "spec"), "podCIDRs");
    return scene_json(ret, 200, node);
}

/* A phase by itself waits for no pod subnet; once there is one it is read. */
static void a_node_without_a_pod_subnet(void **state) {
    struct error err = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(join_once(&r, &err), 0);
    answer_with(&r, answer_without_pod_cidr);
    open_join(&r, &join);
    assert_int_equal(join_need(&join, NEED_NODE | NEED_PLAN, &err), -1);
    assert_string_equal(err.message, "read podCIDR of node 'win-7k2': not assigned yet");
    assert_non_null(strstr(err.hints[0], "--pod-cidr"));
    answer_with(&r, scene_answer);
    join.http = join.found.client.http = r.http;
    error_clear(&err);
    if (join_need(&join, NEED_NODE | NEED_PLAN, &err) < 0)
        fail_msg("%s", err.message);
    join_close(&join);
    close_run(&r);
}

/* ---- the adapter ---- */

static void an_adapter_that_works_is_left_alone(void **state) {
    struct host_adapters adapters = {0};
    struct error err = {0};
    json_t *before, *after;
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(join_once(&r, &err), 0);
    assert_int_equal(host_adapters(r.host, &adapters, NULL), 0);
    for (size_t i = 0; i < adapters.count; i++)
        if (text_list_has(&adapters.items[i].addresses, "10.0.0.21/24")) {
            text_list_free(&adapters.items[i].addresses);
            text_list_add(&adapters.items[i].addresses, "10.0.0.50/24");
            text_list_free(&adapters.items[i].gateways);
            text_list_add(&adapters.items[i].gateways, "10.0.0.1");
        }
    host_memory_set_adapters(r.host, &adapters);
    host_adapters_free(&adapters);
    before = host_memory_state(r.host);
    open_join(&r, &join);
    if (join_run_phase(&join, "discovery", &err) < 0)
        fail_msg("%s", err.message);
    join_close(&join);
    after = host_memory_state(r.host);
    assert_same(json_object_get(before, "adapters"), json_object_get(after, "adapters"), "card");
    json_decref(before);
    json_decref(after);
    close_run(&r);
}

/* Windows gives an adapter that lost its address one that leads nowhere: the adapter's own comes
 * back.
 */
static void an_adapter_without_a_way_out_is_restored(void **state) {
    static const char *const left[] = {"169.254.7.7/16", "fe80::7/64", NULL};

    (void)state;
    for (size_t n = 0; n < ARRAY_SIZE(left); n++) {
        struct host_adapters adapters = {0};
        struct error err = {0};
        _cleanup_(freep) char *text = NULL;
        json_t *after;
        struct join join;
        struct run r;

        open_run(&r, "overlay");
        assert_int_equal(join_once(&r, &err), 0);
        assert_int_equal(host_adapters(r.host, &adapters, NULL), 0);
        for (size_t i = 0; i < adapters.count; i++) {
            if (!text_list_has(&adapters.items[i].addresses, "10.0.0.21/24"))
                continue;
            text_list_free(&adapters.items[i].addresses);
            if (left[n])
                text_list_add(&adapters.items[i].addresses, left[n]);
        }
        host_memory_set_adapters(r.host, &adapters);
        host_adapters_free(&adapters);
        open_join(&r, &join);
        if (join_run_phase(&join, "discovery", &err) < 0)
            fail_msg("%s", err.message);
        join_close(&join);
        after = host_memory_state(r.host);
        text = json_write(json_object_get(after, "adapters"));
        assert_non_null(strstr(text, "10.0.0.21/24"));
        json_decref(after);
        close_run(&r);
    }
}

/* Whether there is one may not be known: what follows tells. */
static void adapters_that_are_not_told(void **state) {
    struct error err = {0};
    struct join join;
    struct run r;
    bool asked = false;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(join_once(&r, &err), 0);
    for (size_t n = 1; !asked; n++) {
        open_join(&r, &join);
        host_memory_fail(r.host, n);
        error_clear(&err);
        int result = join_run_phase(&join, "discovery", &err);
        host_memory_fail(r.host, 0);
        assert_non_null(host_memory_failed(r.host));
        asked = text_starts_with(host_memory_failed(r.host), "adapters");
        if (asked) {
            assert_int_equal(result, 0);
            assert_null(strstr(host_memory_failed(r.host), "\nadapters"));
        }
        join_close(&join);
    }
    close_run(&r);
}

/* ---- a token that is gone ---- */

static void listen_to_warnings(void *context, const struct join_event *event) {
    if (event->state == JOIN_WARNING)
        text_addf(context, "%s\n", event->message);
}

static bool token_is_gone;

static int answer_to_an_old_token(void *context, const struct http_request *request,
                                  struct http_response *ret, struct error *err) {
    const struct api_scene *scene = context;

    if (!token_is_gone || !strstr(request->url, "configmaps/cluster-info"))
        return scene_answer(context, request, ret, err);
    return scene_json(ret, 200,
                      json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                                "data", "kubeconfig", scene->kubeconfig));
}

/* It ends the call, unless the machine is a node of that cluster already. */
static void an_old_token_is_enough_for_a_node(void **state) {
    struct text told = {0};
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    answer_with(&r, answer_to_an_old_token);
    for (int joined = 0; joined < 2; joined++) {
        struct join join = {.host = r.host,
                            .http = r.http,
                            .asked = &r.options,
                            .progress = {.listener = listen_to_warnings, .context = &told}};

        token_is_gone = true;
        assert_int_equal(join_open(&join, &err), 0);
        assert_int_equal(join_need(&join, NEED_CLIENT, &err), joined ? 0 : -1);
        assert_int_equal(join.found.client_is_node, joined);
        if (!joined)
            assert_int_equal(err.kind, ERROR_DENIED);
        join_close(&join);
        token_is_gone = false;
        if (!joined && join_once(&r, &err) < 0)
            fail_msg("%s", err.message);
    }
    assert_non_null(
        strstr(text_str(&told),
               ": continuing with the identity of the node that this machine already is"));
    text_free(&told);
    close_run(&r);
}

/* What the plan warns of is told once it is found. */
static void a_plan_warns(void **state) {
    struct text told = {0};
    struct error err = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    text_list_add(&r.options.pod_cidrs, "172.30.1.0/24");
    open_join(&r, &join);
    join.progress.listener = listen_to_warnings;
    join.progress.context = &told;
    if (join_need(&join, NEED_NODE | NEED_PLAN, &err) < 0)
        fail_msg("%s", err.message);
    assert_non_null(strstr(text_str(&told), "winjoin itself keeps the routes to other nodes'"));
    join_close(&join);
    close_run(&r);
    text_free(&told);
}

/* The cluster is to bring the network, and nothing is seen of it: it is not there, or may not be
 * read. */
static void an_agent_that_is_not_found_is_told(void **state) {
    static const struct {
        const char *hides, *said;
    } rows[] = {
        {NULL, "the cluster has no DaemonSet of a network agent that winjoin knows: what it needs"},
        {"/daemonsets", "may not be read (403): what it needs on this machine is not checked"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct text told = {0};
        struct error err = {0};
        struct join join;
        struct run r;

        open_run(&r, NULL);
        r.scene.hides = rows[i].hides;
        r.options.network_plugin = xstrdup("external");
        open_join(&r, &join);
        join.progress.listener = listen_to_warnings;
        join.progress.context = &told;
        if (join_need(&join, NEED_PLAN, &err) < 0)
            fail_msg("%s", err.message);
        if (!strstr(text_str(&told), rows[i].said))
            fail_msg("%s", text_str(&told));
        join_close(&join);
        close_run(&r);
        text_free(&told);
    }
}

/* flannel whose settings may not be read: what is not known is not made up. */
static void flannel_that_may_not_be_read(void **state) {
    static const char *const modes[] = {NULL, "overlay"}; /* NULL: not said */

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        struct error err = {0};
        struct join join;
        struct run r;

        open_run(&r, modes[i]);
        r.scene.hides = "kube-flannel-cfg";
        r.options.network_plugin = xstrdup("flannel");
        open_join(&r, &join);
        assert_int_equal(join_need(&join, NEED_PLAN, &err), modes[i] ? 0 : -1);
        if (!modes[i]) {
            assert_int_equal(err.kind, ERROR_DENIED);
            assert_string_equal(err.message,
                                "the mode, VNI and port of the cluster's flannel are not known: "
                                "reading its ConfigMap kube-flannel-cfg is not allowed (403)");
            assert_non_null(strstr(err.hints[0], "winjoin config cluster --kubeconfig"));
            assert_string_equal(err.hints[1], "or say them: --network-mode, --vni, --vxlan-port");
        }
        join_close(&join);
        close_run(&r);
    }
}

/* ---- from where upstream publishes it ---- */

static struct text asked_upstream;

static int answer_as_upstream(void *context, const struct http_request *request,
                              struct http_response *ret, struct error *err) {
    if (!strstr(request->url, "https://dl.k8s.io/"))
        return scene_answer(context, request, ret, err);
    text_addf(&asked_upstream, "%s%s\n", request->url, request->follow_redirects ? "" : " (here)");
    ret->status = 404;
    ret->retry_after = -1;
    return 0;
}

/* The cluster names a version of which upstream has no folder, or one that is no name of a folder.
 */
static void versions_that_upstream_has_not(void **state) {
    static const struct {
        const char *version, *message;
        enum error_kind kind;
    } rows[] = {
        {"v1.37", "\"v1.37\": a Kubernetes version must be complete, like v1.37.1", ERROR_USAGE},
        {"v1.37.1-../../x", "the cluster's version is unusable: v1.37.1-../../x", ERROR_MALFORMED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct join join;
        struct run r;

        open_run(&r, "overlay");
        answer_with(&r, answer_as_upstream);
        r.scene.server_version = rows[i].version;
        assert_int_equal(host_remove(r.host, "C:\\k\\kube-proxy.exe", NULL), 0);
        open_join(&r, &join);
        assert_int_equal(join_run_phase(&join, "artifacts", &err), -1);
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.kind, rows[i].kind);
        assert_int_equal(asked_upstream.len, 0);
        join_close(&join);
        close_run(&r);
    }
}

/* Of the cluster's version, or of the one that the call names; upstream sends on to its mirrors. */
static void what_is_missing_is_asked_of_upstream(void **state) {
    static const struct {
        const char *wanted, *kubelet, *url;
        enum error_kind kind;
    } rows[] = {
        {NULL, NULL, "https://dl.k8s.io/release/v1.37.1/bin/windows/amd64/kube-proxy.exe.sha256\n",
         ERROR_ABSENT},
        {"v1.36.2", "Kubernetes v1.36.2\n",
         "https://dl.k8s.io/release/v1.36.2/bin/windows/amd64/kube-proxy.exe.sha256\n",
         ERROR_ABSENT},
        {"v1.19.0", "Kubernetes v1.19.0\n", "", ERROR_PREFLIGHT},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};
        struct join join;
        struct run r;

        open_run(&r, "overlay");
        answer_with(&r, answer_as_upstream);
        r.options.kubernetes_version = xstrdup_null(rows[i].wanted);
        if (rows[i].kubelet)
            host_memory_set_program(r.host, "kubelet.exe", 0, rows[i].kubelet);
        assert_int_equal(host_remove(r.host, "C:\\k\\kube-proxy.exe", NULL), 0);
        open_join(&r, &join);
        assert_int_equal(join_run_phase(&join, "artifacts", &err), -1);
        if (err.kind != rows[i].kind || !text_equal(text_str(&asked_upstream), rows[i].url))
            fail_msg("%s: %s%s", rows[i].wanted, text_str(&asked_upstream), err.message);
        join_close(&join);
        text_free(&asked_upstream);
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_joined_node_keeps_its_network),
        cmocka_unit_test(a_joined_node_keeps_its_mode),
        cmocka_unit_test(a_new_node_fits_the_cluster),
        cmocka_unit_test(the_cluster_s_values_are_judged_with_the_call_s),
        cmocka_unit_test(a_node_without_a_pod_subnet),
        cmocka_unit_test(an_adapter_that_works_is_left_alone),
        cmocka_unit_test(an_adapter_without_a_way_out_is_restored),
        cmocka_unit_test(adapters_that_are_not_told),
        cmocka_unit_test(an_old_token_is_enough_for_a_node),
        cmocka_unit_test(what_is_missing_is_asked_of_upstream),
        cmocka_unit_test(a_plan_warns),
        cmocka_unit_test(an_agent_that_is_not_found_is_told),
        cmocka_unit_test(flannel_that_may_not_be_read),
        cmocka_unit_test(versions_that_upstream_has_not),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests_name("what a join finds", tests, NULL, NULL);
}
