/* What single phases leave on the host: programs from a bundle; and what is told while a kubelet
 * becomes healthy. */
#include "tests/scene/join_scene.h"

#include "pki/digest.h"
#include "services/artifacts/artifacts.h"
#include "services/containerd_settings.h"
#include "services/runtime_files.h"

static void put(struct run *r, const char *path, const char *content) {
    assert_int_equal(host_write(r->host, path, content, strlen(content), HOST_PUBLIC, NULL), 0);
}

static void assert_content(struct run *r, const char *path, const char *wanted) {
    _cleanup_(freep) char *text = NULL;
    size_t len;

    assert_int_equal(host_read(r->host, path, 65536, &text, &len, NULL), 0);
    assert_string_equal(text, wanted);
}

/* ---- programs from a bundle ---- */

/* A folder with all that a node may need; each file holds its own name. */
static void make_bundle(struct run *r, const char *folder) {
    struct artifact items[ARTIFACTS_MAX] = {0};
    struct artifacts lock = {items, 0};
    _cleanup_(freep) char *path = xasprintf("%s\\" ARTIFACT_LOCK_NAME, folder);
    _cleanup_(freep) char *text = NULL;
    struct artifact_target target;

    for (; artifact_target_at(lock.count, &target); lock.count++) {
        struct artifact *a = &items[lock.count];
        _cleanup_(freep) char *at = xasprintf("%s\\%s.exe", folder, target.name);
        bool cluster = target.service && target.service->kubernetes;

        put(r, at, target.name);
        *a = (struct artifact){.name = (char *)target.name,
                               .version = (char *)(cluster ? "v1.37.1" : "v2.4.2"),
                               .size = strlen(target.name),
                               .path = xasprintf("%s.exe", target.name),
                               .target = (char *)target.target};
        digest_sha256(target.name, a->size, a->sha256);
    }
    host_memory_set_program(r->host, "ctr.exe", 0, ""); /* imports the sandbox image */
    text = artifact_lock_make(&lock, NULL);
    put(r, path, text);
    for (size_t i = 0; i < lock.count; i++)
        free(items[i].path);
}

static void a_bundle_is_installed_and_undone(void **state) {
    struct error err = {0};
    json_t *before, *after;
    struct artifact_target target;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    for (size_t i = 0; artifact_target_at(i, &target); i++)
        if (host_file_type(r.host, target.target) == HOST_FILE && i % 2)
            assert_int_equal(host_remove(r.host, target.target, NULL), 0); /* others are replaced */
    make_bundle(&r, "D:\\b");
    r.options.bundle = xstrdup("D:\\b");
    before = state_of(&r);
    if (join_once(&r, &err) < 0)
        fail_msg("join: %s", err.message);
    for (size_t i = 0; artifact_target_at(i, &target); i++)
        assert_content(&r, target.target, target.name);
    if (reset_once(&r, &err) < 0)
        fail_msg("reset: %s", err.message);
    after = state_of(&r);
    assert_same(before, after, "bundle");
    json_decref(before);
    json_decref(after);
    close_run(&r);
}

/* A program that runs cannot be written over: of winjoin's own nothing is written where it runs
 * from its place; of another which services may run it is said. */
static void what_runs_is_not_replaced(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    host_memory_hold(r.host, "C:\\k\\winjoin.exe");
    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(reset_once(&r, &err), 0);
    make_bundle(&r, "D:\\b");
    set_options(&r, "overlay");
    r.options.bundle = xstrdup("D:\\b");
    host_memory_hold(r.host, "C:\\k\\kubelet.exe");
    assert_int_equal(join_once(&r, &err), -1);
    assert_non_null(strstr(err.hints[0], "sc.exe stop containerd, kubelet, "));
    close_run(&r);
}

/* containerd 1 reads files of another shape; one that does not say is taken for a newer one. */
static void the_shape_of_containerds_file(void **state) {
    static const struct {
        const char *says, *line;
    } rows[] = {{"containerd github.com/containerd/containerd v1.7.20 abc\n", "version = 2\n"},
                {"containerd github.com/containerd/containerd/v2 v2.4.2 abc\n", "version = 3\n"},
                {"?\n", "version = 3\n"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *text = NULL;
        struct error err = {0};
        size_t len;
        struct run r;

        open_run(&r, "overlay");
        host_memory_set_program(r.host, "containerd.exe", 0, rows[i].says);
        if (join_once(&r, &err) < 0)
            fail_msg("%s: %s", rows[i].says, err.message);
        assert_int_equal(host_read(r.host, CONTAINERD_CONFIG_PATH, 65536, &text, &len, NULL), 0);
        if (!strstr(text, rows[i].line))
            fail_msg("%s: %s", rows[i].says, text);
        close_run(&r);
    }
}

/* The same files on a web server, which is away at first. */
static bool mirror_fails;

static int answer_as_mirror(void *context, const struct http_request *request,
                            struct http_response *ret, struct error *err) {
    struct api_scene *scene = context;
    const char *name = strstr(request->url, "https://m.test/w/");
    _cleanup_(freep) char *path = NULL;

    if (!name)
        return scene_answer(context, request, ret, err);
    if (mirror_fails) {
        mirror_fails = false;
        return error_set(err, ERROR_NETWORK, "connection refused");
    }
    path = xasprintf("D:\\b\\%s", strrchr(name, '/') + 1);
    ret->status =
        host_read(scene->host, path, 65536, &ret->body, &ret->body_len, err) < 0 ? 404 : 200;
    ret->retry_after = -1;
    return 0;
}

/* What the mirror is waited for: no limit is named that is not one. */
static void listen_to_waits(void *context, const struct join_event *event) {
    if (event->state == JOIN_WAITING && text_equal(event->phase->id, "artifacts"))
        text_addf(context, "%s (%u left)\n", event->message, event->left_ms);
}

static void a_mirror_is_installed(void **state) {
    struct error err = {0};
    struct artifact_target target;
    struct text told = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    answer_with(&r, answer_as_mirror);
    make_bundle(&r, "D:\\b");
    r.options.mirror = xstrdup("https://m.test/w");
    mirror_fails = true;
    text_list_add(&r.options.skip_phases, "preflight"); /* which reads the mirror's lock already */
    join = (struct join){.host = r.host,
                         .http = r.http,
                         .asked = &r.options,
                         .progress = {.listener = listen_to_waits, .context = &told}};
    assert_int_equal(join_open(&join, &err), 0);
    if (join_run(&join, &err) < 0)
        fail_msg("join: %s", err.message);
    join_close(&join);
    assert_non_null(strstr(text_str(&told), "connection refused; next try in "));
    assert_non_null(strstr(text_str(&told), " (0 left)\n"));
    text_free(&told);
    for (size_t i = 0; artifact_target_at(i, &target); i++)
        assert_content(&r, target.target, target.name);
    close_run(&r);
}

/* One wrong file, and nothing of the bundle is installed. */
static void a_wrong_bundle_leaves_the_host_alone(void **state) {
    struct error err = {0};
    json_t *before, *after;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    make_bundle(&r, "D:\\b");
    put(&r, "D:\\b\\kube-proxy.exe", "KUBE-PROXY");
    r.options.bundle = xstrdup("D:\\b");
    text_list_add(&r.options.skip_phases, "preflight");
    before = state_of(&r);
    assert_int_equal(join_once(&r, &err), -1);
    assert_int_equal(err.kind, ERROR_UNTRUSTED);
    assert_non_null(strstr(err.message, "kube-proxy"));
    assert_int_equal(reset_once(&r, &err), 0);
    after = state_of(&r);
    assert_same(before, after, "wrong bundle");
    json_decref(before);
    json_decref(after);
    close_run(&r);
}

/* ---- the adapter and the ports ---- */

static void vxlan_on_another_port(void **state) {
    struct error err = {0};
    json_t *joined;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    r.options.vxlan_port = 4800;
    r.options.network_plugin = xstrdup("win-overlay");
    assert_int_equal(join_once(&r, &err), 0);
    joined = state_of(&r);
    assert_int_equal(
        json_number_at(json_object_get(json_object_get(joined, "firewall"), "winjoin vxlan"),
                       "port", 0),
        4800);
    json_decref(joined);
    close_run(&r);
}

/* The call decides, whatever the Node says. */
static void a_pod_prefix_that_is_given(void **state) {
    _cleanup_(freep) char *config = NULL;
    struct error err = {0};
    struct run r;
    size_t len;

    (void)state;
    open_run(&r, "overlay");
    text_list_add(&r.options.pod_cidrs, "10.244.9.0/24");
    r.options.network_plugin = xstrdup("win-overlay");
    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(
        host_read(r.host, "C:\\etc\\cni\\net.d\\10-winjoin.conf", 65536, &config, &len, NULL), 0);
    assert_non_null(strstr(config, "10.244.9."));
    assert_null(strstr(config, "10.244.3."));
    close_run(&r);
}

/* What the API server says of its Services' addresses, unless the call names others. */
static void service_prefixes_that_are_given(void **state) {
    static const char *const given[] = {NULL, "10.112.0.0/12"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
        struct error err = {0};
        struct join join;
        struct run r;

        open_run(&r, "l2bridge");
        r.options.network_plugin = xstrdup("win-bridge");
        if (given[i])
            text_list_add(&r.options.service_cidrs, given[i]);
        open_join(&r, &join);
        if (join_need(&join, NEED_PLAN, &err) < 0)
            fail_msg("%s", err.message);
        assert_int_equal(join.found.plan.service_cidrs.count, 1);
        assert_string_equal(join.found.plan.service_cidrs.items[0],
                            given[i] ? given[i] : "10.96.0.0/12");
        join_close(&join);
        close_run(&r);
    }
}

/* What the join chose goes on to hold, unless the call says something else. */
static int answer_without_nodes(void *context, const struct http_request *request,
                                struct http_response *ret, struct error *err) {
    if (strstr(request->url, "/api/v1/nodes/"))
        return scene_status(ret, 403, "Forbidden");
    return scene_answer(context, request, ret, err);
}

/* Without its Node there is no pod prefix to go on with. */
static void a_node_that_may_not_be_read(void **state) {
    struct error err = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    assert_int_equal(join_once(&r, &err), 0);
    answer_with(&r, answer_without_nodes);
    open_join(&r, &join);
    assert_int_equal(join_need(&join, NEED_NODE, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    join_close(&join);
    close_run(&r);
}

/* The administrator gave the node's adapter another address since: the join's notes do not undo it.
 */
/* ---- health ---- */

static unsigned unhealthy;

static int answer_late(void *context, const struct http_request *request, struct http_response *ret,
                       struct error *err) {
    if (unhealthy && strstr(request->url, "127.0.0.1:10248")) {
        unhealthy--;
        return scene_json(ret, 500, json_string("etcd failed"));
    }
    return scene_answer(context, request, ret, err);
}

static void listen(void *context, const struct join_event *event) {
    if (event->state == JOIN_WAITING)
        text_addf(context, "%s: %s\n", event->phase->id, event->message);
}

static void a_kubelet_that_is_not_healthy_yet(void **state) {
    struct text told = {0};
    struct error err = {0};
    struct join join;
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    answer_with(&r, answer_late);
    unhealthy = 3;
    join = (struct join){.host = r.host,
                         .http = r.http,
                         .asked = &r.options,
                         .progress = {.listener = listen, .context = &told}};
    assert_int_equal(join_open(&join, &err), 0);
    if (join_run(&join, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(unhealthy, 0);
    if (!strstr(text_str(&told), ": not yet\n"))
        fail_msg("%s", text_str(&told));
    join_close(&join);
    text_free(&told);
    close_run(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bundle_is_installed_and_undone),
        cmocka_unit_test(what_runs_is_not_replaced),
        cmocka_unit_test(the_shape_of_containerds_file),
        cmocka_unit_test(a_mirror_is_installed),
        cmocka_unit_test(a_wrong_bundle_leaves_the_host_alone),
        cmocka_unit_test(vxlan_on_another_port),
        cmocka_unit_test(a_pod_prefix_that_is_given),
        cmocka_unit_test(service_prefixes_that_are_given),
        cmocka_unit_test(a_node_that_may_not_be_read),
        cmocka_unit_test(a_kubelet_that_is_not_healthy_yet),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
