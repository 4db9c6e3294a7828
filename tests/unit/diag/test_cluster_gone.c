/* Nodes and pods that go away while they are asked. */
#include "tests/scene/cluster_scene.h"

#include "base/rfc3339.h"

#define UNREACHED                                                                                  \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":503,\"message\":\"error trying to "      \
    "reach "                                                                                       \
    "service: dial tcp 10.244.2.5:8080: i/o timeout\"}"

static unsigned dials, lives; /* dials before win-2 goes away */
static bool others_reach, server_fails;

/* The names of pods are asked last; then its pod says nothing, and nobody reaches it. */
static bool goes_away(const struct dial *d, long *ret_status, const char **ret_body) {
    bool gone = dials++ >= lives;

    if (!gone || (text_starts_with(d->host, "10.244.2.") && others_reach && d->from != 2))
        return false;
    if (d->from == 2 || server_fails) {
        *ret_status = 503;
        *ret_body = UNREACHED;
        return true;
    }
    *ret_status = 200;
    *ret_body = "{\"errors\":[\"i/o timeout\"]}";
    return text_starts_with(d->host, "10.244.2.") || text_starts_with(d->host, "10.96.");
}

static void play(void) {
    struct error err;

    dials = 0;
    c.dialed = goes_away;
    assert_int_equal(diagnose(&err), 0);
}

static const struct diag_cause *cause(const char *id) {
    for (size_t i = 0; i < c.report.causes.count; i++)
        if (text_equal(c.report.causes.items[i].id, id))
            return &c.report.causes.items[i];
    return NULL;
}

static void assert_gone(const char *node, const char *why) {
    const struct diag_cause *gone = &c.report.causes.items[0];

    assert_string_equal(gone->id, "CL-GONE");
    assert_true(gone->confirmed);
    assert_true(text_starts_with(gone->message, node));
    assert_non_null(strstr(gone->evidence.items[0], why));
    assert_null(cause("CL-API-POD"));
    assert_null(cause("CL-SVC-SOME"));
}

static size_t asked(const char *what) {
    size_t count = 0;

    for (size_t i = 0; i < c.paths.count; i++)
        count += strstr(c.paths.items[i], what) != NULL;
    return count;
}

static void an_old_lease(void **state) {
    (void)state;
    c.renewed = RFC3339_TEXT(host_now(c.host) - 40);
    play();
    assert_gone("win-2: ", "its kubelet renewed its Lease 4");
    assert_int_equal(asked("/leases/"), 1);
    assert_int_equal(asked("host=127.0.0.1"), 3);
    for (size_t i = 0; i < c.report.cells.count; i++) { /* nothing of before is left */
        const struct diag_cell *cell = &c.report.cells.items[i];

        if (cell->from_node == 1)
            assert_int_equal(cell->outcome, DIAG_NOT_RUN);
    }
}

/* No Lease, or a fresh one: nobody reaches it is enough. */
static void nobody_reaches_it(void **state) {
    (void)state;
    play();
    assert_gone("win-2: ", "it answered, and does not any more, and no other node's pod reaches");
    diag_report_free(&c.report);
    c.renewed = RFC3339_TEXT(host_now(c.host));
    play();
    assert_gone("win-2: ", "it answered, and does not any more");
}

static void only_the_server_does_not_reach_it(void **state) {
    (void)state;
    others_reach = true;
    play();
    assert_null(cause("CL-GONE"));
    assert_non_null(cause("CL-API-POD"));
    others_reach = false;
}

/* One that reaches no pod any more says nothing of a node. */
static void the_server_fails(void **state) {
    (void)state;
    server_fails = true;
    play();
    assert_null(cause("CL-GONE"));
    server_fails = false;
}

static void unready_now(const char *method, const char *path) {
    (void)method;
    c.not_ready[1] |= strstr(path, "host=127.0.0.1") != NULL;
}

static void a_node_that_is_not_ready_any_more(void **state) {
    (void)state;
    c.before = unready_now;
    c.not_ready_why = "NodeStatusUnknown";
    play();
    assert_gone("win-2: ", "the node is not Ready any more: NodeStatusUnknown: no message");
    assert_false(c.report.nodes.items[1].ready);
    assert_null(cause("CL-NOTREADY"));
}

static void one_less(const char *method, const char *path) {
    (void)method;
    if (strstr(path, "host=127.0.0.1"))
        c.nodes = 2; /* lin-1 */
}

static bool fails_there(const struct dial *d, long *ret_status, const char **ret_body) {
    *ret_status = 200;
    *ret_body = "{\"errors\":[\"i/o timeout\"]}";
    return text_starts_with(d->host, "10.244.3.") && d->from != 3;
}

static void a_pod_that_is_deleted(void **state) {
    struct error err;

    (void)state;
    c.before = one_less;
    c.dialed = fails_there;
    assert_int_equal(diagnose(&err), 0);
    assert_gone("lin-1: ", "its pod was deleted");
    assert_false(c.report.nodes.items[2].ready);
}

static void nothing_is_asked_where_all_is_well(void **state) {
    struct error err;

    (void)state;
    assert_int_equal(diagnose(&err), 0);
    assert_int_equal(asked("host=127.0.0.1") + asked("/leases/"), 0);
    assert_int_equal(asked("/api/v1/nodes"), 1);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_cluster, close_cluster)
    const struct CMUnitTest tests[] = {CASE(an_old_lease),
                                       CASE(nobody_reaches_it),
                                       CASE(only_the_server_does_not_reach_it),
                                       CASE(the_server_fails),
                                       CASE(a_node_that_is_not_ready_any_more),
                                       CASE(a_pod_that_is_deleted),
                                       CASE(nothing_is_asked_where_all_is_well)};

    lives = 60;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
