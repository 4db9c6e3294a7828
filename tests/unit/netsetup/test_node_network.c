/* What of the network lies on the node: routes, forwarding, CNI files, the source VIP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/netsetup.h"
#include "netsetup/nic/nic.h"
#include "netsetup/routes/routes.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"

#define STORE "C:\\var\\lib\\cni\\networks\\flannel.4096\\"

static struct scene scene;
static struct host *host;

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    scene_open(&scene, "overlay");
    return scene_plan(&scene);
}

static int close_host(void **state) {
    (void)state;
    scene_close(&scene);
    host_free(host);
    return 0;
}

static void put(const char *path, const char *content) {
    assert_int_equal(host_write(host, path, content, strlen(content), HOST_PUBLIC, NULL), 0);
}

static bool is_there(const char *path) {
    return host_file_type(host, path) == HOST_FILE;
}

static void assert_content(const char *path, const char *expected) {
    _cleanup_(freep) char *content = NULL;
    size_t len = 0;
    assert_int_equal(host_read(host, path, 1000, &content, &len, NULL), 0);
    assert_string_equal(content, expected);
}

static const char *next_hop(const char *destination) {
    static char hop[46];
    struct host_routes routes = {0};
    size_t found = 0;
    hop[0] = '\0';
    assert_int_equal(host_routes(host, &routes, NULL), 0);
    for (size_t i = 0; i < routes.count; i++) {
        if (!text_equal(routes.items[i].destination, destination))
            continue;
        (void)text_format(hop, sizeof(hop), "%s", routes.items[i].next_hop);
        found++;
    }
    host_routes_free(&routes);
    assert_in_range(found, 0, 1);
    return hop;
}

static void pod_routes(void **state) {
    struct pod_route routes[] = {{"10.244.2.0/24", "10.0.0.22"}, {"10.244.3.0/24", "10.0.0.23"}};
    _cleanup_(host_routes_free) struct host_routes all = {0};
    struct error err = {0};
    size_t changed = 0;
    (void)state;
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", routes, 2, &changed, &err), 0);
    assert_int_equal(changed, 2);
    assert_string_equal(next_hop("10.244.2.0/24"), "10.0.0.22");
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", routes, 2, &changed, &err), 0);
    assert_int_equal(changed, 0);
    (void)text_format(routes[0].node_address, IP_TEXT_MAX, "10.0.0.99");
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", routes, 2, &changed, &err), 0);
    assert_int_equal(changed, 1);
    assert_string_equal(next_hop("10.244.2.0/24"), "10.0.0.99");
    assert_int_equal(pod_routes_remove(host, routes, 1, &err), 0);
    assert_string_equal(next_hop("10.244.2.0/24"), "");
    assert_string_equal(next_hop("10.244.3.0/24"), "10.0.0.23");
    assert_int_equal(pod_routes_remove(host, routes, 2, &err), 0);
    assert_string_equal(next_hop("0.0.0.0/0"), "10.0.0.1");
    /* Without a default route a pod's is the first of all. */
    assert_int_equal(host_routes(host, &all, &err), 0);
    for (size_t i = 0; i < all.count; i++)
        assert_int_equal(host_route_remove(host, &all.items[i], &err), 0);
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", routes, 2, NULL, &err), 0);
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", routes, 2, &changed, &err), 0);
    assert_int_equal(changed, 0);
    assert_int_equal(pod_routes_ensure(host, "10.0.0.77", routes, 2, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    (void)text_format(routes[0].pod_cidr, CIDR_TEXT_MAX, "10.244.2.0");
    assert_int_equal(pod_routes_ensure(host, "10.0.0.21", routes, 1, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
}

static void forwarding(void **state) {
    uint32_t index;
    bool on = true;
    (void)state;
    assert_int_equal(nic_index_of(host, "10.0.0.21", &index, NULL), 0);
    assert_int_equal(host_forwarding(host, index, 4, &on, NULL), 0);
    assert_false(on);
    assert_int_equal(forwarding_ensure(host, "10.0.0.21", NULL), 0);
    assert_int_equal(host_forwarding(host, index, 4, &on, NULL), 0);
    assert_true(on);
    assert_int_equal(forwarding_ensure(host, "10.0.0.21", NULL), 0);
}

static void conflicting_files(void **state) {
    struct text_list conflicts = {0};
    (void)state;
    assert_int_equal(cni_conflicts(host, CNI_CONF_DIR, &conflicts, NULL), 0);
    assert_int_equal(conflicts.count, 0);
    put("C:\\etc\\cni\\net.d\\0-containerd-nat.conf", "{}");
    put("C:\\etc\\cni\\net.d\\05-x.conflist", "{}");
    put("C:\\etc\\cni\\net.d\\05-x.txt", "{}");
    put("C:\\etc\\cni\\net.d\\10-flannel.conf", "{}");
    put("C:\\etc\\cni\\net.d\\10-winjoin.conf", "{}");
    put("C:\\etc\\cni\\net.d\\99-later.conf", "{}");
    assert_int_equal(cni_conflicts(host, CNI_CONF_DIR, &conflicts, NULL), 0);
    char *all = text_list_join(&conflicts, " ");
    assert_string_equal(all, "C:\\etc\\cni\\net.d\\0-containerd-nat.conf "
                             "C:\\etc\\cni\\net.d\\05-x.conflist "
                             "C:\\etc\\cni\\net.d\\10-flannel.conf");
    free(all);
    text_list_free(&conflicts);
}

static void source_vip(void **state) {
    struct error err = {0};
    (void)state;
    put(STORE "10.244.9.2", "winjoin\r\nsource-vip");
    put(STORE "10.244.9.7", "c0ffee\r\neth0");
    put(STORE "last_reserved_ip.0", "10.244.9.7");
    put(STORE "lock", "");
    put(STORE ".first", "");
    assert_int_equal(ipam_stale_remove(host, &scene.plan, &err), 0);
    assert_false(is_there(STORE "10.244.9.7"));
    put(STORE "10.244.1.77", "winjoin\r\nsource-vip");
    put(STORE "10.244.1.78", "c0ffee\r\neth0");
    assert_int_equal(source_vip_ensure(host, &scene.plan, &err), 0);
    assert_content(STORE "10.244.1.2", "winjoin\r\nsource-vip");
    assert_false(is_there(STORE "10.244.1.77"));
    assert_true(is_there(STORE "10.244.1.78"));
    assert_true(is_there(STORE "lock"));
    json_t *before = host_memory_state(host);
    assert_int_equal(source_vip_ensure(host, &scene.plan, &err), 0);
    json_t *after = host_memory_state(host);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
    assert_int_equal(source_vip_remove(host, "flannel.4096", &err), 0);
    assert_false(is_there(STORE "10.244.1.2"));
    assert_true(is_there(STORE "10.244.1.78"));
    assert_int_equal(source_vip_remove(host, "never-made", &err), 0);
}

static void source_vip_is_taken(void **state) {
    struct error err = {0};
    (void)state;
    put(STORE "10.244.1.2", "c0ffee\r\neth0");
    assert_int_equal(source_vip_ensure(host, &scene.plan, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_content(STORE "10.244.1.2", "c0ffee\r\neth0");
    assert_int_equal(source_vip_remove(host, "flannel.4096", &err), 0);
    assert_true(is_there(STORE "10.244.1.2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pod_routes, open_host, close_host),
        cmocka_unit_test_setup_teardown(forwarding, open_host, close_host),
        cmocka_unit_test_setup_teardown(conflicting_files, open_host, close_host),
        cmocka_unit_test_setup_teardown(source_vip, open_host, close_host),
        cmocka_unit_test_setup_teardown(source_vip_is_taken, open_host, close_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
