/* What the cluster is told of a join's or an upgrade's end: an Event on the Node, or none. */
#include "tests/scene/upgrade_scene.h"

static struct text told; /* "Normal Joined: ..." */

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    _cleanup_json_ json_t *event = NULL;

    if (!text_ends_with(request->url, "/api/v1/namespaces/default/events"))
        return scene_answer(context, request, ret, err);
    assert_string_equal(request->method, "POST");
    assert_int_equal(json_read(request->body, strlen(request->body), "event", &event, NULL), 0);
    assert_string_equal(json_text_at(event, "involvedObject.name"), "win-7k2");
    text_addf(&told, "%s %s: %s\n", json_text_at(event, "type"), json_text_at(event, "reason"),
              json_text_at(event, "message"));
    ret->status = 201;
    ret->body = xstrdup("{}");
    ret->body_len = 2;
    return 0;
}

static int close_told(void **state) {
    (void)state;
    text_free(&told);
    return 0;
}

static void a_join_is_told_once(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    answer_with(&r, answer);
    if (join_once(&r, &err) < 0)
        fail_msg("%s", err.message);
    set_options(&r, "overlay");
    assert_int_equal(join_once(&r, &err), 0); /* changes nothing */
    close_run(&r);
    assert_string_equal(text_str(&told), "Normal Joined: winjoin joined this node: kubelet "
                                         "v1.37.1, network mode overlay, pod network not tested\n");
}

/* The Node is there, and stays when the join is undone. */
static void a_failed_join_is_told_before_it_is_undone(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    answer_with(&r, answer);
    r.options.on_failure = xstrdup("rollback");
    r.scene.unprepared = true; /* kube-proxy is refused */
    assert_int_equal(join_once(&r, &err), -1);
    close_run(&r);
    assert_true(
        text_starts_with(text_str(&told), "Warning JoinFailed: winjoin join, phase kube-proxy: "));
}

static void without_a_node_nothing_is_told(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_run(&r, "overlay");
    answer_with(&r, answer);
    r.scene.approve = false;
    assert_int_equal(join_once(&r, &err), -1);
    close_run(&r);
    assert_string_equal(text_str(&told), "");
}

static void an_upgrade_names_its_programs(void **state) {
    struct error err = {0};
    json_t *before;
    struct run r;

    (void)state;
    open_node(&r, &before);
    answer_with(&r, answer);
    if (upgrade_once(&r, false, false, NULL, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(upgrade_once(&r, false, false, NULL, &err), 0); /* nothing to do */
    close_node(&r, before);
    assert_true(text_starts_with(text_str(&told), "Normal Upgraded: winjoin upgraded this node: "));
    assert_non_null(strstr(text_str(&told), "kubelet v1.36.2 -> v1.37.1"));
    assert_null(strstr(strchr(text_str(&told), '\n'), "Upgraded"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_join_is_told_once, close_told),
        cmocka_unit_test_teardown(a_failed_join_is_told_before_it_is_undone, close_told),
        cmocka_unit_test_teardown(without_a_node_nothing_is_told, close_told),
        cmocka_unit_test_teardown(an_upgrade_names_its_programs, close_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
