/* The node's name: free, taken by another machine, this machine's own of an earlier life. */
#include "tests/scene/join_scene.h"

#include "join/found/need.h"
#include "tests/memory/http_memory.h"

static struct run r;
static struct {
    const char *address; /* of the Node that has the name; NULL = no Node */
    bool ready;
    unsigned ready_until; /* this many looks, then NotReady; 0 = for ever */
    unsigned looks;
    long status; /* instead, when not 0 */
} node;
static unsigned waits;
static char hint[200];

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    bool ready = node.ready && (!node.ready_until || node.looks < node.ready_until);

    if (!strstr(request->url, "/api/v1/nodes/"))
        return scene_answer(context, request, ret, err);
    node.looks++;
    if (node.status)
        return scene_status(ret, node.status, "Forbidden");
    if (!node.address)
        return scene_status(ret, 404, "NotFound");
    return scene_json(ret, 200,
                      json_pack("{s:s, s:s, s:{s:s}, s:{s:[{s:s, s:s}], s:[{s:s, s:s}]}}",
                                "apiVersion", "v1", "kind", "Node", "metadata", "name", "win-7k2",
                                "status", "addresses", "type", "InternalIP", "address",
                                node.address, "conditions", "type", "Ready", "status",
                                ready ? "True" : "Unknown"));
}

static void on_progress(void *context, const struct join_event *event) {
    (void)context;
    if (event->state != JOIN_WAITING)
        return;
    waits++;
    (void)text_format(hint, sizeof hint, "%s", event->hint);
}

static struct join open_name(const char *address, bool ready) {
    struct join join;
    struct error err = {0};

    memset(&node, 0, sizeof node);
    waits = 0;
    node.address = address;
    node.ready = ready;
    open_run(&r, "overlay");
    answer_with(&r, answer);
    join = (struct join){
        .host = r.host, .http = r.http, .asked = &r.options, .progress.listener = on_progress};
    if (join_open(&join, &err) < 0 || join_need(&join, NEED_CLIENT, &err) < 0)
        fail_msg("%s", err.message);
    return join;
}

static void close_name(struct join *join) {
    join_close(join);
    close_run(&r);
}

static void expect(const char *address, bool ready, enum node_name_state expected) {
    struct join join = open_name(address, ready);
    enum node_name_state found;
    struct error err = {0};

    assert_int_equal(
        node_name_owner(join.host, &join.found.client, join.found.node_name, &found, &err), 0);
    assert_int_equal(found, expected);
    assert_int_equal(err.kind, ERROR_NONE); /* that there is no Node is none */
    close_name(&join);
}

static void whose_it_is(void **state) {
    (void)state;
    expect(NULL, false, NODE_NAME_FREE);
    expect("10.0.0.99", false, NODE_NAME_NOT_READY);
    expect("10.0.0.99", true, NODE_NAME_TAKEN);
    expect("10.0.0.21", true, NODE_NAME_EARLIER);
    expect("10.0.0.2", true, NODE_NAME_TAKEN);
}

static void a_joined_machine_has_its_name(void **state) {
    struct join join = open_name("10.0.0.99", true);
    struct error err = {0};

    (void)state;
    assert_int_equal(
        host_write(r.host, "C:\\etc\\kubernetes\\kubelet.conf", "x", 1, HOST_SECRET, NULL), 0);
    assert_int_equal(node_name_claim(&join, &err), 0);
    assert_int_equal(waits, 0);
    close_name(&join);
}

static void another_machines_is_refused(void **state) {
    struct join join = open_name("10.0.0.99", true);
    struct error err = {0};

    (void)state;
    assert_int_equal(node_name_claim(&join, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_non_null(strstr(err.message, "a Node with that name and status \"Ready\""));
    assert_string_equal(err.hints[0], "kubectl delete node win-7k2");
    assert_non_null(strstr(err.hints[1], "--node-name"));
    assert_int_equal(waits, 0);
    close_name(&join);
}

static void an_earlier_life_is_waited_for(void **state) {
    struct join join = open_name("10.0.0.21", true);
    struct error err = {0};

    (void)state;
    node.ready_until = 20;
    if (node_name_claim(&join, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(waits, 20);
    assert_string_equal(hint, "kubectl delete node win-7k2");
    close_name(&join);
}

static void the_wait_has_an_end(void **state) {
    struct join join = open_name("10.0.0.21", true);
    struct error err = {0};
    uint64_t begin = host_monotonic_ms(r.host);

    (void)state;
    assert_int_equal(node_name_claim(&join, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_non_null(strstr(err.message, "still Ready after 90 s"));
    assert_in_range(host_monotonic_ms(r.host) - begin, 90000, 92000);
    close_name(&join);
}

static void a_dry_run_does_not_wait(void **state) {
    struct join join = open_name("10.0.0.21", true);
    struct error err = {0};

    (void)state;
    join.found.options.dry_run = true;
    assert_int_equal(node_name_claim(&join, &err), 0);
    assert_int_equal(waits, 0);
    assert_int_equal(join.progress.warnings.count, 1);
    close_name(&join);
}

static void what_cannot_be_asked_is_an_error(void **state) {
    struct join join = open_name(NULL, false);
    struct error err = {0};

    (void)state;
    node.status = 403;
    assert_int_equal(node_name_claim(&join, &err), -1);
    assert_int_equal(err.kind, ERROR_DENIED);
    close_name(&join);
}

/* Whose addresses these are is not known then: another machine's is not taken. */
static void without_its_own_addresses_it_is_anothers(void **state) {
    struct join join = open_name("10.0.0.21", true);
    enum node_name_state found;
    struct error err = {0};

    (void)state;
    host_memory_fail(r.host, 1);
    assert_int_equal(
        node_name_owner(join.host, &join.found.client, join.found.node_name, &found, &err), 0);
    assert_int_equal(found, NODE_NAME_TAKEN);
    close_name(&join);
}

static void ctrl_c_ends_the_wait(void **state) {
    struct join join = open_name("10.0.0.21", true);
    struct error err = {0};

    (void)state;
    host_memory_interrupt(r.host);
    assert_int_equal(node_name_claim(&join, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    close_name(&join);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_it_is),
        cmocka_unit_test(a_joined_machine_has_its_name),
        cmocka_unit_test(another_machines_is_refused),
        cmocka_unit_test(an_earlier_life_is_waited_for),
        cmocka_unit_test(the_wait_has_an_end),
        cmocka_unit_test(a_dry_run_does_not_wait),
        cmocka_unit_test(what_cannot_be_asked_is_an_error),
        cmocka_unit_test(without_its_own_addresses_it_is_anothers),
        cmocka_unit_test(ctrl_c_ends_the_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
