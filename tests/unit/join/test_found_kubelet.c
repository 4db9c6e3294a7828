/* What a join finds of the kubelet: where it says that it is healthy, where its static pods and the
 * cluster's CA are; and which network and identity a joined node goes on with. */
#include "tests/scene/join_scene.h"

#include "base/yaml.h"
#include "join/kubelet/kubelet_files.h"

static struct run r;
static struct join join;

static int open_found(void **state) {
    (void)state;
    open_run(&r, "overlay");
    open_join(&r, &join);
    return 0;
}

static int close_found(void **state) {
    (void)state;
    join_close(&join);
    close_run(&r);
    return 0;
}

static void put(const char *path, const char *text) {
    assert_int_equal(host_write(r.host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

/* ---- the configuration of this run, else the one that an earlier run wrote ---- */

static void where_it_says_that_it_is_healthy(void **state) {
    static const struct {
        const char *config, *url; /* url: NULL: nowhere */
    } rows[] = {
        {"{}", "http://127.0.0.1:10248/healthz"},
        {"healthzPort: 10999", "http://127.0.0.1:10999/healthz"},
        {"healthzPort: 0", NULL},
        {"healthzBindAddress: 0.0.0.0", "http://127.0.0.1:10248/healthz"},
        {"healthzBindAddress: 10.0.0.21", "http://10.0.0.21:10248/healthz"},
        {"healthzBindAddress: '::'", "http://[::1]:10248/healthz"},
        {"healthzBindAddress: fd00::21\nhealthzPort: 1", "http://[fd00::21]:1/healthz"},
        {"healthzPort: 7\n---\nhealthzPort: 8",
         "http://127.0.0.1:10248/healthz"}, /* no kubelet's */
        {"healthzPort: [", "http://127.0.0.1:10248/healthz"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *url = NULL;

        put(KUBELET_CONFIG_FILE, rows[i].config);
        url = join_kubelet_health_url(&join);
        if (!text_equal(url, rows[i].url))
            fail_msg("%s: %s", rows[i].config, url ? url : "nowhere");
    }
    join.found.kubelet_config = json_pack("{s:i}", "healthzPort", 11111);
    _cleanup_(freep) char *url = join_kubelet_health_url(&join);
    assert_string_equal(url, "http://127.0.0.1:11111/healthz");
}

static void where_its_static_pods_are(void **state) {
    static const struct {
        const char *config, *folder;
    } rows[] = {
        {"{}", KUBERNETES_MANIFESTS_FOLDER},
        {"staticPodPath: 'D:/pods/x'", "D:\\pods\\x"},
        {"staticPodPath: pods", KUBERNETES_MANIFESTS_FOLDER},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *folder = NULL;

        put(KUBELET_CONFIG_FILE, rows[i].config);
        folder = join_manifest_folder(&join);
        assert_string_equal(folder, rows[i].folder);
    }
}

static void where_the_clusters_ca_is(void **state) {
    static const struct {
        const char *given, *path;
    } rows[] = {{NULL, KUBERNETES_CA_FILE}, {"D:/pki/ca.crt", "D:\\pki\\ca.crt"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct join_options options = {.ca_cert_path = (char *)rows[i].given};
        _cleanup_(freep) char *path = join_ca_file(&options);

        assert_string_equal(path, rows[i].path);
    }
}

/* Made once, with the patches; a folder that cannot be read is an error. */
static void its_configuration_is_made_once(void **state) {
    struct error err = {0};
    json_t *made;

    (void)state;
    join.found.options.patches = xstrdup("D:\\none");
    assert_int_equal(find_patches(&join, &err), -1);
    assert_non_null(strstr(err.message, "D:\\none"));
    freep(&join.found.options.patches);
    join.found.options.patches = NULL;
    error_clear(&err);
    assert_int_equal(join_need(&join, NEED_KUBELET_CONFIG, &err), 0);
    made = join.found.kubelet_config;
    assert_string_equal(json_text_at(made, "kind"), "KubeletConfiguration");
    assert_int_equal(join_need(&join, NEED_KUBELET_CONFIG, &err), 0);
    assert_ptr_equal(join.found.kubelet_config, made);
}

/* ---- a joined node ---- */

/* Without a pin the endpoint tells whether it is a node of that cluster. */
static int answer_to_an_old_token(void *context, const struct http_request *request,
                                  struct http_response *ret, struct error *err) {
    const struct api_scene *scene = context;

    if (!strstr(request->url, "configmaps/cluster-info"))
        return scene_answer(context, request, ret, err);
    return scene_json(ret, 200,
                      json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                                "data", "kubeconfig", scene->kubeconfig));
}

static void whose_node_it_is(void **state) {
    static const struct {
        const char *endpoint;
        bool unsafe, node; /* unsafe: no pin is given */
    } rows[] = {{"10.0.0.10:6443", false, true},
                {"10.0.0.10:6443", true, true},
                {"10.0.0.10:6444", true, false},
                {"other:6443", true, false}};
    struct error err = {0};

    (void)state;
    assert_int_equal(join_once(&r, &err), 0);
    answer_with(&r, answer_to_an_old_token);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        int result;

        join_close(&join);
        set_options(&r, "overlay");
        freep(&r.options.endpoint);
        r.options.endpoint = xstrdup(rows[i].endpoint);
        if (rows[i].unsafe) {
            text_list_free(&r.options.discovery_token_ca_cert_hash);
            r.options.discovery_token_unsafe_skip_ca_verification = true;
        }
        error_clear(&err);
        open_join(&r, &join);
        result = join_need(&join, NEED_CLIENT, &err);
        if ((result == 0) != rows[i].node || join.found.client_is_node != rows[i].node)
            fail_msg("row %zu: %s", i, err.message);
    }
}

/* What was chosen for routes and name holds until this call chooses. */
static void what_a_joined_node_remembers(void **state) {
    struct error err = {0};

    (void)state;
    join_close(&join);
    set_options(&r, "l2bridge");
    r.options.network_plugin = xstrdup("win-bridge");
    r.options.routes = xstrdup("print");
    assert_int_equal(join_once(&r, &err), 0);
    for (unsigned asks = 0; asks < 2; asks++) {
        set_options(&r, NULL);
        r.options.routes = asks ? xstrdup("none") : NULL;
        open_join(&r, &join);
        if (join_need(&join, NEED_PLAN, &err) < 0)
            fail_msg("%s", err.message);
        assert_string_equal(join.found.options.routes, asks ? "none" : "print");
        assert_string_equal(join.found.node_ips, "10.0.0.21");
        if (!asks)
            join_close(&join);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_found, close_found)
    const struct CMUnitTest tests[] = {
        CASE(where_it_says_that_it_is_healthy),
        CASE(where_its_static_pods_are),
        CASE(where_the_clusters_ca_is),
        CASE(its_configuration_is_made_once),
        CASE(whose_node_it_is),
        CASE(what_a_joined_node_remembers),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests_name("what a join finds of the kubelet", tests, NULL, NULL);
}
