/* A joined node in memory whose winjoin-network runs: shared by the tests of the network's keeper.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsetup/nic/nic.h"
#include "netsetup/routes/routes.h"
#include "node/chosen.h"
#include "node/keeper/network_keeper.h"
#include "services/service_table.h"
#include "tests/memory/host_memory.h"
#include "tests/scene/network_scene.h"

#define ALIAS "vEthernet (Ethernet)"
#define ADAPTER_FILE HOST_OWN_FOLDER "\\network-adapter.json"

static struct scene scene;
static struct host *host;
static struct text told;
static struct network_keeper keeper;
static unsigned sleeps;            /* since the keeper runs */
static void (*at)(unsigned sleep); /* what happens then */

static void on_tell(void *context, char level, const char *text) {
    (void)context;
    text_addf(&told, "%c %s\n", level, text);
}

static void on_sleep(void *context, struct host *sleeping) {
    (void)context, (void)sleeping;
    sleeps++;
    if (at)
        at(sleeps);
}

static int open_host(void **state) {
    (void)state;
    host = host_memory_new();
    host_memory_restart_hns(host);
    host_memory_on_sleep(host, on_sleep, NULL);
    keeper = (struct network_keeper){.host = host, .tell = on_tell};
    sleeps = 0;
    at = NULL;
    return 0;
}

static int close_host(void **state) {
    (void)state;
    network_keeper_free(&keeper);
    text_free(&told);
    scene_close(&scene);
    host_free(host);
    return 0;
}

static void put_service(const struct service *row) {
    const struct service_settings settings = {
        .kubelet_version = "v1.37.1", .kube_proxy_version = "v1.37.1", .node_name = "win-7k2"};

    assert_int_equal(service_ensure(host, row, &settings, NULL, NULL), 0);
    host_memory_set_service_state(host, row->name, HOST_SERVICE_RUNNING);
}

static void add_balancer(void) {
    char *properties = NULL;

    assert_int_equal(hcn_create(host, HCN_LOAD_BALANCER, NULL, NULL,
                                "{\"FrontendVIPs\":[\"10.96.0.1\"]}", &properties, NULL),
                     0);
    free(properties);
}

/* Runs as the service does, until `stop` sleeps are over. */
static unsigned stop_at;
static void (*also)(unsigned sleep);
static void until_stop(unsigned sleep) {
    if (also)
        also(sleep);
    if (sleep >= stop_at)
        host_memory_interrupt(host);
}

static void run(unsigned looks, void (*meanwhile)(unsigned sleep)) {
    struct error err = {0};

    assert_int_equal(network_keeper_begin(&keeper, &err), 0);
    sleeps = 0;
    stop_at = looks;
    also = meanwhile;
    at = until_stop;
    assert_int_equal(network_keeper_run(&keeper, &err), 0);
}

static size_t count(const char *word) {
    const char *log = host_memory_log(host);
    size_t n = 0;

    while ((log = strstr(log, word))) {
        log++;
        n++;
    }
    return n;
}

static bool has_network(const char *name) {
    struct hcn_network network;

    return hcn_network_find(host, name, &network, NULL) == 0;
}

static void restart_at_5(unsigned sleep) {
    if (sleep == 5)
        host_memory_restart_hns(host);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_host, close_host)
