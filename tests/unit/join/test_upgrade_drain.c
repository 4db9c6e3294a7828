/* winjoin upgrade --drain: who is evicted, who stays, what is refused; the node is cordoned
 * meanwhile alone. */
#include "tests/scene/upgrade_scene.h"

#define POD(name, owner, more)                                                                     \
    "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"" name "\"" owner "},\"status\":{\"phase\":" \
    "\"Running\"}" more "}"
#define OWNED(kind) ",\"ownerReferences\":[{\"kind\":\"" kind "\",\"controller\":true}]"
#define MIRROR ",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}"

/* The API server of the scene, with pods. */
static struct drained {
    struct run run;
    json_t *before;
    json_t *pods;                /* of this node; who is evicted goes */
    struct text evicted;         /* "web-1 " */
    bool cordoned, was_cordoned; /* now, and at any time */
    int budget;                  /* how often a PodDisruptionBudget says no; -1: always */
    bool forbidden;              /* the node may not write its Node */
    bool hidden;                 /* nor list pods */
    unsigned lost_ms; /* how long the Node is not answered for once the new kubelet is there */
    uint64_t lost_since;
} d;

static int patch_node(const struct http_request *request, struct http_response *ret) {
    _cleanup_json_ json_t *patch = NULL;
    const char *mark;

    if (d.forbidden)
        return scene_status(ret, 403, "Forbidden");
    if (json_read(request->body, request->body_len, "patch", &patch, NULL) < 0)
        abort();
    if (json_at(patch, "spec.unschedulable")) {
        d.cordoned = json_bool_at(patch, "spec.unschedulable", false);
        d.was_cordoned |= d.cordoned;
        mark = json_text_at(json_at(patch, "metadata.annotations"),
                            "winjoin\\.io/cordoned-by-upgrade");
        assert_int_equal(mark != NULL, d.cordoned);
        json_decref(d.run.scene.node_patch);
        d.run.scene.node_patch = d.cordoned ? json_incref(patch) : NULL;
    }
    return scene_json(ret, 200, scene_node(&d.run.scene));
}

static int evict(const struct http_request *request, struct http_response *ret) {
    json_t *pod;
    size_t i;

    if (d.budget) {
        d.budget -= d.budget > 0;
        return scene_status(ret, 429, "TooManyRequests");
    }
    json_array_foreach(d.pods, i, pod) {
        _cleanup_(freep) char *end =
            xasprintf("/pods/%s/eviction", json_text_at(pod, "metadata.name"));

        if (text_ends_with(request->url, end)) {
            text_addf(&d.evicted, "%s ", json_text_at(pod, "metadata.name"));
            json_array_remove(d.pods, i);
            return scene_json(ret, 201, json_pack("{s:s}", "kind", "Status"));
        }
    }
    return scene_status(ret, 404, "NotFound");
}

/* Is the API server lost, as behind a network that is made again? */
static bool is_lost(void) {
    _cleanup_(freep) char *kubelet = d.lost_ms ? get(&d.run, "C:\\k\\kubelet.exe") : NULL;
    uint64_t now = host_monotonic_ms(d.run.host);

    if (!text_equal(kubelet, "MZ v1.37.1"))
        return false;
    if (!d.lost_since)
        d.lost_since = now;
    return now - d.lost_since < d.lost_ms;
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    if (strstr(request->url, "/api/v1/nodes/win-7k2") && is_lost())
        return error_set(err, ERROR_NETWORK, "told to be lost");
    if (text_equal(request->method, "PATCH") && strstr(request->url, "/api/v1/nodes/win-7k2"))
        return patch_node(request, ret);
    if (text_ends_with(request->url, "/eviction"))
        return evict(request, ret);
    if (d.hidden && strstr(request->url, "/api/v1/pods?"))
        return scene_status(ret, 403, "Forbidden");
    if (strstr(request->url, "/api/v1/pods?fieldSelector=spec.nodeName%3Dwin-7k2"))
        return scene_json(ret, 200,
                          json_pack("{s:s, s:{s:s}, s:O}", "kind", "PodList", "metadata",
                                    "resourceVersion", "9", "items", d.pods));
    return scene_answer(context, request, ret, err);
}

static int open_pods(void **state) {
    (void)state;
    d = (struct drained){0};
    open_node(&d.run, &d.before);
    http_free(d.run.http);
    d.run.http = http_memory_new(answer, &d.run.scene);
    return 0;
}

static int close_pods(void **state) {
    (void)state;
    json_decref(d.pods);
    json_decref(d.run.scene.node_patch);
    text_free(&d.evicted);
    close_node(&d.run, d.before);
    return 0;
}

static int upgrade(const char *pods, struct error *err) {
    d.pods = json_loads(pods, 0, NULL);
    assert_non_null(d.pods);
    return upgrade_once(&d.run, false, true, NULL, err);
}

static void pods_of_controllers_leave(void **state) {
    struct error err = {0};

    (void)state;
    d.budget = 2;
    if (upgrade("[" POD("web-1", OWNED("ReplicaSet"), "") "," POD(
                    "kube-proxy-x", OWNED("DaemonSet"),
                    "") "," POD("probe", MIRROR, "") "," POD("sql-0", OWNED("StatefulSet"), "") "]",
                &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(text_str(&d.evicted), "web-1 sql-0 ");
    assert_int_equal(json_array_size(d.pods), 2);
    assert_true(d.was_cordoned);
    assert_false(d.cordoned);
    assert_new(&d.run);
}

static void one_that_nobody_makes_again_is_kept(void **state) {
    struct error err = {0};

    (void)state;
    assert_int_equal(
        upgrade("[" POD("web-1", OWNED("ReplicaSet"), "") "," POD(
                    "mine", ",\"ownerReferences\":[{\"kind\":\"ReplicaSet\"}]", "") "]",
                &err),
        -1);
    assert_non_null(strstr(err.message, "evict pod shop/mine: it has no controller"));
    assert_hint(&err, "kubectl delete pod -n shop mine");
    assert_string_equal(text_str(&d.evicted), "");
    assert_false(d.cordoned);
    assert_old(&d.run);
}

static void a_budget_that_never_allows_it_ends_the_wait(void **state) {
    struct error err = {0};
    uint64_t begin = host_monotonic_ms(d.run.host);

    (void)state;
    d.budget = -1;
    assert_int_equal(upgrade("[" POD("web-1", OWNED("ReplicaSet"), "") "]", &err), -1);
    assert_int_equal(err.kind, ERROR_TIMED_OUT);
    assert_non_null(strstr(err.message, "a PodDisruptionBudget keeps some of them"));
    assert_hint(&err, "kubectl drain win-7k2");
    assert_true(host_monotonic_ms(d.run.host) - begin < 15 * 60 * 1000);
    assert_true(d.was_cordoned);
    assert_false(d.cordoned);
    assert_old(&d.run);
}

static void without_the_right_kubectl_is_named(void **state) {
    struct error err = {0};

    (void)state;
    d.forbidden = true;
    assert_int_equal(upgrade("[]", &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_hint(&err, "kubectl drain win-7k2");
    assert_false(d.was_cordoned);
    assert_old(&d.run);
}

static void pods_that_cannot_be_listed_may_be_there(void **state) {
    struct error err = {0};

    (void)state;
    d.hidden = true;
    assert_int_equal(upgrade("[]", &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    assert_hint(&err, "kubectl drain win-7k2");
    assert_false(d.cordoned);
    assert_old(&d.run);
}

/* A pod that has ended may have no owner; an item that is not a whole pod is passed over. */
static void pods_that_have_ended_stay(void **state) {
    struct error err = {0};

    (void)state;
    if (upgrade(
            "[{\"metadata\":{\"namespace\":\"shop\",\"name\":\"a\"},\"status\":{\"phase\":"
            "\"Succeeded\"}},{\"metadata\":{\"namespace\":\"shop\",\"name\":\"b\"},\"status\":{"
            "\"phase\":\"Failed\"}},{\"metadata\":{\"name\":\"c\"}},{\"metadata\":{\"namespace\":"
            "\"shop\"}}]",
            &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(text_str(&d.evicted), "");
    assert_false(d.cordoned);
    assert_new(&d.run);
}

static void cordoned_by_a_killed_one(void) {
    d.run.scene.node_patch =
        json_pack("{s:{s:{s:s}}, s:{s:b}}", "metadata", "annotations",
                  "winjoin.io/cordoned-by-upgrade", "true", "spec", "unschedulable", 1);
    d.cordoned = true;
}

/* A dry run asks no pod to go, and one that is refused early ends what a killed one began. */
static void what_a_killed_upgrade_cordoned(void **state) {
    struct error err = {0};
    struct ran ran = {0};

    (void)state;
    d.pods = json_array();
    assert_int_equal(upgrade_once(&d.run, true, true, &ran, &err), 0);
    assert_false(d.was_cordoned);
    ran_free(&ran);
    cordoned_by_a_killed_one();
    put_bundle(&d.run, "v1.38.0");
    assert_int_equal(upgrade_once(&d.run, false, false, NULL, &err), -1);
    assert_hint(&err, "nothing on this machine was changed");
    assert_false(d.cordoned);
}

/* One that cannot go on either, before it has asked the cluster for anything. */
static void what_a_continued_upgrade_cordoned(void **state) {
    struct error err = {0};

    (void)state;
    d.pods = json_array();
    tells_nothing = true;
    for (size_t n = 1;
         host_file_type(d.run.host, UPGRADE_FOLDER "\\journal\\journal.jsonl") != HOST_FILE; n++) {
        host_memory_die(d.run.host, n);
        assert_int_equal(upgrade_once(&d.run, false, true, NULL, &err), -1);
        host_memory_fail(d.run.host, 0);
        error_clear(&err);
    }
    tells_nothing = false;
    cordoned_by_a_killed_one();
    assert_int_equal(host_remove_tree(d.run.host, BUNDLE, NULL), 0);
    assert_int_equal(upgrade_once(&d.run, false, true, NULL, &err), -1);
    assert_hint(&err, "back in the state before");
    assert_false(d.cordoned);
    assert_old(&d.run);
}

/* While the control plane cannot be asked nothing is known of the kubelet. */
static void a_lost_control_plane_is_waited_for(void **state) {
    struct error err = {0};

    (void)state;
    d.lost_ms = 100 * 1000;
    d.pods = json_array();
    if (upgrade_once(&d.run, false, false, NULL, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(host_monotonic_ms(d.run.host) - d.lost_since >= d.lost_ms);
    assert_new(&d.run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pods_of_controllers_leave, open_pods, close_pods),
        cmocka_unit_test_setup_teardown(one_that_nobody_makes_again_is_kept, open_pods, close_pods),
        cmocka_unit_test_setup_teardown(a_budget_that_never_allows_it_ends_the_wait, open_pods,
                                        close_pods),
        cmocka_unit_test_setup_teardown(without_the_right_kubectl_is_named, open_pods, close_pods),
        cmocka_unit_test_setup_teardown(pods_that_cannot_be_listed_may_be_there, open_pods,
                                        close_pods),
        cmocka_unit_test_setup_teardown(pods_that_have_ended_stay, open_pods, close_pods),
        cmocka_unit_test_setup_teardown(what_a_killed_upgrade_cordoned, open_pods, close_pods),
        cmocka_unit_test_setup_teardown(what_a_continued_upgrade_cordoned, open_pods, close_pods),
        cmocka_unit_test_setup_teardown(a_lost_control_plane_is_waited_for, open_pods, close_pods),
        cmocka_unit_test(what_was_told_is_expected),
    };
    return cmocka_run_group_tests_name("upgrade --drain", tests, NULL, NULL);
}
