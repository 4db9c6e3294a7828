/* A joined node follows the Services that it compares its network with. */
#include "tests/scene/network_publish_scene.h"

static void put(enum drift_what what, const char *text) {
    _cleanup_json_ json_t *object = json_loads(text, 0, NULL);

    drift_cluster_put(&publisher.follow.cluster, what, object);
    publisher.follow.changes++;
}

/* What is followed is not asked for; when it changes, it is compared within minutes. */
static void what_is_followed_is_not_listed(void **state) {
    struct kube_watch watches[DRIFT_WATCHES];
    unsigned asked;

    (void)state;
    assert_int_equal(network_publisher_watches(&publisher, watches), DRIFT_WATCHES);
    publisher.follow.cluster.has_services = publisher.follow.cluster.has_slices = true;
    pass(110000, NEWS_SAME);
    asked = api.requests; /* its Node, its pods, the patch */
    assert_int_equal(asked, 3);
    assert_null(strstr(text_str(&api.paths), "/services"));
    assert_null(strstr(text_str(&api.paths), "/endpointslices"));
    pass(2 * MINUTE, NEWS_SAME);
    put(DRIFT_SERVICES, SERVICE); /* HNS has nothing for it */
    put(DRIFT_SLICES, SLICE);
    pass(4 * MINUTE, NEWS_SAME);
    assert_int_equal(api.requests, asked);
    pass(2 * MINUTE, NEWS_SAME);
    assert_int_equal(api.requests, asked + 2);
    pass(75000, NEWS_SAME); /* what HNS lacks is confirmed */
    assert_non_null(strstr(api.annotation, "d/a 10.96.0.9:80/TCP"));
    host_memory_set_service_state(host, service_kube_proxy.name, HOST_SERVICE_ABSENT);
    assert_int_equal(network_publisher_watches(&publisher, watches), 0);
    drift_follow_free(&publisher.follow);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_followed_is_not_listed, open_host, close_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
