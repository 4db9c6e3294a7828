/* Months in a minute: HNS restarts, services restart, logs rotate; what a run needs does not grow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "diag/network_report.h"
#include "node/chosen.h"
#include "node/keeper/network_keeper.h"
#include "services/hosted_service.h"
#include "services/service_table.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/network_scene.h"

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void); /* NOLINT: of the sanitizers */

static size_t soak_bytes(void) {
    return __sanitizer_get_current_allocated_bytes();
}
#else
static size_t soak_bytes(void) {
    return 0; /* measured under the sanitizers alone */
}
#endif

/* The lowest descriptor that is free: what stays open below it moves it up. */
static int soak_handles(void) {
    FILE *file = fopen("build/soak.txt", "wb"); /* there wherever tests run */
    int number = file ? fileno(file) : -1;

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(remove("build/soak.txt"), 0);
    return number;
}

enum { FEW = 300, WARM = 100, MARGIN = 64 * 1024 };

static struct scene scene;
static struct host *host;
static unsigned sleeps, restarts, wanted;
static size_t at_first;

static void on_tell(void *context, char level, const char *text) {
    (void)context, (void)text;
    assert_int_not_equal(level, 'e');
}

/* Two looks after a restart all stands again; what the played host itself notes is let go. */
static void on_sleep(void *context, struct host *sleeping) {
    (void)context;
    if (++sleeps % 3)
        return;
    host_memory_forget(sleeping);
    if (restarts == WARM)
        at_first = soak_bytes();
    if (restarts++ == wanted)
        host_memory_interrupt(sleeping);
    else
        host_memory_restart_hns(sleeping);
}

static void join(void) {
    const struct service_settings settings = {.kube_proxy_version = "v1.37.1", .node_name = "w"};

    scene_make_networks(&scene, host, "overlay", "flannel");
    scene_write_chosen(&scene, host, NULL);
    assert_int_equal(service_ensure(host, &service_network, &settings, NULL, NULL), 0);
    host_memory_set_service_state(host, service_network.name, HOST_SERVICE_RUNNING);
    assert_int_equal(service_ensure(host, &service_kube_proxy, &settings, NULL, NULL), 0);
    assert_int_equal(service_ensure(host, &service_flanneld, &settings, NULL, NULL), 0);
}

static void restarts_of_hns(void **state) {
    struct network_keeper keeper = {.tell = on_tell};
    struct error err = {0};
    int handles;

    (void)state;
    host = keeper.host = host_memory_new();
    host_memory_restart_hns(host);
    join();
    host_memory_on_sleep(host, on_sleep, NULL);
    handles = soak_handles();
    assert_int_equal(network_keeper_begin(&keeper, &err), 0);
    assert_int_equal(network_keeper_run(&keeper, &err), 0);
    print_message(
        "%u restarts of HNS: %lu bytes after %d, %lu at the end; descriptor %d, then %d\n", wanted,
        (unsigned long)at_first, (int)WARM, (unsigned long)soak_bytes(), handles, soak_handles());
    assert_in_range(soak_bytes(), 0, at_first + MARGIN);
    assert_int_equal(soak_handles(), handles);
    network_keeper_free(&keeper);
    scene_close(&scene);
    host_free(host);
}

/* A Node whose annotation is never the same, and nothing else. */
static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    (void)context, (void)request, (void)err;
    ret->status = 200;
    ret->body = xstrdup("{\"items\":[]}");
    ret->body_len = strlen(ret->body);
    return 0;
}

static void reports_of_the_network(void **state) {
    static const char config[] =
        "{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://k\"}}],\"users\":[{"
        "\"name\":\"u\",\"user\":{\"token\":\"t\"}}],\"contexts\":[{\"name\":\"x\",\"context\":{"
        "\"cluster\":\"c\",\"user\":\"u\"}}],\"current-context\":\"x\"}";
    static const char file[] = "{\"mode\":\"overlay\",\"plugin\":\"flannel\",\"name\":\"f\","
                               "\"podCIDR\":\"10.244.1.0/24\",\"management\":\"10.0.0.21/24\","
                               "\"node\":\"w\"}";
    struct http *http = http_memory_new(answer, NULL);
    size_t before = 0;

    (void)state;
    host = host_memory_new();
    host_memory_restart_hns(host);
    join();
    host_memory_set_service_state(host, service_kube_proxy.name, HOST_SERVICE_RUNNING);
    assert_int_equal(host_write(host, CHOSEN_FILE, file, strlen(file), HOST_SECRET, NULL), 0);
    assert_int_equal(host_write(host, NODE_KUBECONFIG, config, strlen(config), HOST_SECRET, NULL),
                     0);
    for (unsigned i = 0; i < wanted; i++) {
        struct error err = {0};

        if (network_report_publish(host, http, NULL, &err) < 0)
            fail_msg("%s", err.message);
        host_memory_forget(host);
        if (i == WARM)
            before = soak_bytes();
    }
    assert_in_range(soak_bytes(), 0, before + MARGIN);
    http_free(http);
    scene_close(&scene);
    host_free(host);
}

static void rotations_of_a_log(void **state) {
    const struct service_host_settings settings = {
        .log_file = (char *)"C:\\var\\log\\x\\x.log", .max_log_bytes = 4096, .max_log_files = 3};
    struct host *own = host_memory_new();
    size_t before = 0;

    (void)state;
    for (unsigned i = 0; i < wanted; i++) {
        assert_int_equal(host_write(own, settings.log_file, "x", 1, HOST_PUBLIC, NULL), 0);
        assert_int_equal(service_log_rotate(own, &settings, NULL), 0);
        host_memory_forget(own);
        before = i == WARM ? soak_bytes() : before;
    }
    assert_in_range(soak_bytes(), 0, before + MARGIN);
    host_free(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restarts_of_hns),
        cmocka_unit_test(reports_of_the_network),
        cmocka_unit_test(rotations_of_a_log),
    };
    const char *given = getenv("SOAK");

    wanted = given ? (unsigned)strtoul(given, NULL, 10) : FEW;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
