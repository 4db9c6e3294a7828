/* winjoin-network: HNS restarts, and what was lost comes back; what was not stays as it is. */
#include "tests/memory/http_memory.h"
#include "tests/scene/keeper_scene.h"

/* A node that has joined: its networks, its file, its services. */
static void join(const char *mode, const char *plugin) {
    const struct network_peer peer = {.pod_cidr = "10.244.2.0/24",
                                      .address = "10.0.0.22",
                                      .node_address = "10.0.0.22",
                                      .router_mac = "00-15-5D-00-00-02"};

    scene_make_networks(&scene, host, mode, plugin);
    scene_write_chosen(&scene, host,
                       scene.plan.mode->route_to ? scene_routes(&scene.plan, &peer, 1) : NULL);
    put_service(&service_network);
    put_service(&service_kube_proxy);
    put_service(&service_flanneld);
    add_balancer();
}

/* ---- what was lost comes back ---- */

static void overlay_comes_back_with_what_stands_on_it(void **state) {
    (void)state;
    join("overlay", "flannel");
    run(8, restart_at_5);
    assert_true(has_network("flannel.4096"));
    assert_string_equal(text_str(&told), "w HNS was restarted: made the HNS network flannel.4096 "
                                         "again, restarted flanneld, restarted kube-proxy\n");
    assert_int_equal(count("service_stop kube-proxy"), 1);
    assert_int_equal(count("service_start kube-proxy"), 1);
    assert_int_equal(host_file_type(host, ADAPTER_FILE), HOST_ABSENT);
}

static void without_an_agent_its_routes_come_back(void **state) {
    json_t *peers = NULL;

    (void)state;
    join("overlay", "win-overlay");
    run(8, restart_at_5);
    assert_int_equal(node_routes_read(host, &scene.plan, &peers, NULL), 0);
    assert_int_equal(json_array_size(peers), 1);
    json_decref(peers);
    assert_null(strstr(text_str(&told), "flanneld"));
}

static void a_bridge_stays_but_its_load_balancers_go(void **state) {
    (void)state;
    join("l2bridge", "flannel");
    run(8, restart_at_5);
    assert_string_equal(text_str(&told), "w HNS was restarted: restarted kube-proxy\n");
}

/* ---- who is told of each look ---- */

static unsigned looks, restored, others; /* by news */

static void on_check(void *context, const struct network_check *check) {
    enum network_news news = check->news;

    assert_ptr_equal(context, &looks);
    looks++;
    restored += news == NEWS_RESTORED;
    others += news == NEWS_BALANCERS;
}

static void add_balancers(unsigned sleep) {
    if (sleep == 20 || sleep == 60)
        add_balancer();
    restart_at_5(sleep);
}

static int no_answer(void *context, const struct http_request *request, struct http_response *ret,
                     struct error *err) {
    (void)context, (void)request, (void)ret;
    return error_set(err, ERROR_NETWORK, "connection refused");
}

static void each_look_is_told_with_its_news(void **state) {
    struct http *http = http_memory_new(no_answer, NULL);

    (void)state;
    join("overlay", "flannel");
    looks = restored = others = 0;
    keeper.on_check = on_check;
    keeper.check_context = &looks;
    keeper.http = http;
    run(100, add_balancers);
    assert_true(looks >= 90);
    assert_int_equal(restored, 1);
    assert_in_range(others, 2, 6);
    http_free(http);
}

static void without_a_cluster_nobody_is_told(void **state) {
    (void)state;
    join("overlay", "flannel");
    looks = 0;
    keeper.on_check = on_check;
    run(8, NULL);
    assert_int_equal(looks, 0);
}

static void forget_nat_at_5(unsigned sleep) {
    if (sleep == 5)
        assert_int_equal(hcn_network_remove(host, "nat", true, NULL, NULL), 0);
    restart_at_5(sleep);
}

/* Windows forgets it; there is no switch on the adapter to make again. */
static void nat_comes_back_without_a_base_network(void **state) {
    (void)state;
    join("nat", "nat");
    run(8, forget_nat_at_5);
    assert_true(has_network("nat"));
    assert_false(has_network("External"));
    assert_string_equal(text_str(&told),
                        "w HNS was restarted: made the HNS network nat again, restarted "
                        "kube-proxy\n");
}

static void restarts_follow_each_other(unsigned sleep) {
    if (sleep % 3 == 0)
        host_memory_restart_hns(host);
}

static void each_restart_is_noticed(void **state) {
    (void)state;
    join("overlay", "flannel");
    run(31, restarts_follow_each_other);
    assert_true(has_network("flannel.4096"));
    assert_int_equal(count("service_stop flanneld"), 10);
}

/* ---- nothing is lost ---- */

static void one_that_stays_is_left_alone(void **state) {
    (void)state;
    join("overlay", "flannel");
    run(200, NULL);
    assert_string_equal(text_str(&told), "");
    assert_int_equal(count("service_stop"), 0);
    assert_int_equal(count("HcnCreateNetwork"), 2); /* the join's */
    assert_int_equal(count("write " ADAPTER_FILE), 0);
}

static void without_a_join_there_is_nothing_to_do(void **state) {
    (void)state;
    run(40, restart_at_5);
    assert_string_equal(text_str(&told),
                        "w HNS was restarted: nothing of the pod network was lost\n");
    assert_int_equal(count("HcnCreateNetwork"), 0);
}

/* ---- the adapter ---- */

static void lose_address(void) {
    struct host_adapters adapters = {0};

    assert_int_equal(host_adapters(host, &adapters, NULL), 0);
    for (size_t i = 0; i < adapters.count; i++) {
        if (!text_equal(adapters.items[i].alias, ALIAS))
            continue;
        text_list_free(&adapters.items[i].addresses);
        text_list_add(&adapters.items[i].addresses, "169.254.1.1/16");
    }
    host_memory_set_adapters(host, &adapters);
    host_adapters_free(&adapters);
}

static bool has_address(void) {
    uint32_t index;

    return nic_index_of(host, "10.0.0.21", &index, NULL) == 0;
}

static void restart_without_address(unsigned sleep) {
    if (sleep == 20) { /* after an inspection */
        host_memory_restart_hns(host);
        lose_address();
    }
}

static void the_adapter_gets_its_address_back(void **state) {
    (void)state;
    join("overlay", "flannel");
    run(40, restart_without_address);
    assert_true(has_address());
    assert_non_null(strstr(text_str(&told), "restored 10.0.0.21/24 on 'vEthernet (Ethernet)'"));
}

/* HNS may take the address away: what is to come back is known before it is asked. */
static void without_the_adapter_no_network_is_made(void **state) {
    (void)state;
    join("overlay", "flannel");
    lose_address();
    host_memory_restart_hns(host);
    run(3, NULL);
    assert_false(has_network("flannel.4096"));
    assert_int_equal(host_file_type(host, ADAPTER_FILE), HOST_ABSENT);
}

/* Killed in between: the next start has the adapter from the file. */
static void what_a_killed_one_left_is_finished(void **state) {
    struct nic_snapshot snapshot = {0};
    json_t *json;
    char *text;

    (void)state;
    join("overlay", "flannel");
    assert_int_equal(nic_choose(host, "Ethernet", "10.0.0.21", &snapshot, NULL), 0);
    json = nic_snapshot_json(&snapshot);
    text = json_write(json);
    assert_int_equal(host_write(host, ADAPTER_FILE, text, strlen(text), HOST_SECRET, NULL), 0);
    free(text);
    json_decref(json);
    nic_snapshot_free(&snapshot);
    lose_address();
    run(20, NULL);
    assert_true(has_address());
    assert_int_equal(host_file_type(host, ADAPTER_FILE), HOST_ABSENT);
    assert_int_equal(count("service_start flanneld"), 1);
}

/* ---- what fails is tried again ---- */

static void each_failure_is_survived(void **state) {
    size_t calls, first;

    (void)state;
    join("overlay", "flannel");
    host_memory_restart_hns(host);
    first = host_memory_calls(host);
    run(4, NULL);
    calls = host_memory_calls(host) - first;
    for (size_t n = 1; n <= calls; n++) {
        close_host(NULL);
        open_host(NULL);
        join("overlay", "flannel");
        host_memory_restart_hns(host);
        host_memory_fail(host, n);
        run(12, NULL);
        if (!has_network("flannel.4096") || host_file_type(host, ADAPTER_FILE) != HOST_ABSENT ||
            !count("service_start flanneld") || !count("service_start kube-proxy"))
            fail_msg("call %zu:\n%s\n%s", n, text_str(&told), host_memory_log(host));
    }
}

static void break_file(unsigned sleep) {
    if (sleep == 1)
        assert_int_equal(host_write(host, CHOSEN_FILE, "{", 1, HOST_SECRET, NULL), 0);
    if (sleep == 5 || sleep == 30)
        host_memory_restart_hns(host);
}

static void a_lasting_failure_is_told_once(void **state) {
    (void)state;
    join("overlay", "flannel");
    run(100, break_file);
    assert_int_equal(text_str(&told)[0], 'e');
    assert_non_null(strstr(text_str(&told), "network.json"));
    assert_non_null(strstr(text_str(&told), "; trying again every 5 s\n"));
    assert_null(strchr(strchr(text_str(&told), '\n') + 1, '\n'));
}

/* ---- HNS and kube-proxy ---- */

static void end_hns(unsigned sleep) {
    if (sleep == 2)
        host_memory_set_service_state(host, "hns", HOST_SERVICE_STOPPED);
}

static void hns_that_stays_down_is_started(void **state) {
    (void)state;
    join("overlay", "flannel");
    run(20, end_hns);
    assert_int_equal(count("service_start hns"), 1);
    assert_string_equal(text_str(&told), /* once, when it is back */
                        "w HNS was restarted: nothing of the pod network was lost\n");
}

static void drop_balancers(unsigned sleep) {
    char *ids = NULL;
    json_t *list = NULL;

    if (sleep != 20)
        return;
    assert_int_equal(hcn_enumerate(host, HCN_LOAD_BALANCER, "", &ids, NULL), 0);
    assert_int_equal(json_read(ids, strlen(ids), "ids", &list, NULL), 0);
    assert_int_equal(
        hcn_delete(host, HCN_LOAD_BALANCER, json_string_value(json_array_get(list, 0)), NULL), 0);
    json_decref(list);
    free(ids);
}

static void kube_proxy_without_load_balancers_is_restarted_once(void **state) {
    (void)state;
    join("overlay", "flannel");
    run(400, drop_balancers);
    assert_string_equal(text_str(&told), "w HNS has no load balancers: restarted kube-proxy\n");
    assert_int_equal(count("service_stop kube-proxy"), 1);
}

/* Routes to other nodes' pods follow the cluster where there is one to ask: as this node. */
static void the_cluster_is_asked_where_it_can_be(void **state) {
    struct http *http = http_memory_new(NULL, NULL);

    for (int known = 0; known < 2; known++) {
        close_host(state);
        open_host(state);
        join("overlay", "win-overlay");
        keeper.http = known ? http : NULL;
        run(1, NULL);
        assert_int_equal(count("read C:\\etc\\kubernetes\\kubelet.conf"), known);
    }
    http_free(http);
}

/* ---- boot ---- */

static void start_windows(void) {
    struct host_facts facts;

    assert_int_equal(host_facts(host, &facts, NULL), 0);
    facts.uptime_seconds = 30;
    host_memory_set_facts(host, &facts);
}

static void at_boot_services_are_left_to_windows(void **state) {
    (void)state;
    join("overlay", "flannel");
    start_windows();
    host_memory_restart_hns(host);
    run(1, NULL);
    assert_true(has_network("flannel.4096"));
    assert_string_equal(text_str(&told),
                        "w Windows was started: made the HNS network flannel.4096 again\n");
    assert_int_equal(count("service_stop"), 0);
}

static void a_restart_right_after_the_boot_is_noticed(void **state) {
    (void)state;
    join("overlay", "flannel");
    start_windows();
    assert_int_equal(network_keeper_begin(&keeper, NULL), 0);
    host_memory_restart_hns(host);
    stop_at = 3;
    also = NULL;
    at = until_stop;
    assert_int_equal(network_keeper_run(&keeper, NULL), 0);
    assert_true(has_network("flannel.4096"));
    assert_non_null(strstr(text_str(&told), "HNS was restarted: made the HNS network"));
}

/* flanneld depends on winjoin-network: what restarts it waits until that has started. */
static void services_are_restarted_once_it_has_started(void **state) {
    (void)state;
    join("overlay", "flannel");
    host_memory_restart_hns(host);
    assert_int_equal(network_keeper_begin(&keeper, NULL), 0);
    assert_int_equal(count("service_stop"), 0);
    assert_string_equal(text_str(&told), "");
    run(2, NULL);
    assert_true(has_network("flannel.4096"));
    assert_string_equal(text_str(&told),
                        "w winjoin-network was started: made the HNS network flannel.4096 again, "
                        "restarted flanneld, restarted kube-proxy\n");
}

static void a_plugin_that_nobody_knows_is_an_error(void **state) {
    struct text_list did = {0};
    struct error err = {0};
    static const char file[] =
        "{\"plugin\":\"none\",\"podCIDR\":\"10.244.1.0/24\",\"management\":\"10.0.0.21/24\"}";

    (void)state;
    assert_int_equal(host_write(host, CHOSEN_FILE, file, strlen(file), HOST_SECRET, NULL), 0);
    assert_int_equal(network_restore(&keeper, false, &did, &err), -1);
    assert_int_equal(err.kind, ERROR_MALFORMED);
    text_list_free(&did);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(overlay_comes_back_with_what_stands_on_it),
        TEST(without_an_agent_its_routes_come_back),
        TEST(a_bridge_stays_but_its_load_balancers_go),
        TEST(nat_comes_back_without_a_base_network),
        TEST(each_look_is_told_with_its_news),
        TEST(without_a_cluster_nobody_is_told),
        TEST(each_restart_is_noticed),
        TEST(one_that_stays_is_left_alone),
        TEST(without_a_join_there_is_nothing_to_do),
        TEST(the_adapter_gets_its_address_back),
        TEST(without_the_adapter_no_network_is_made),
        TEST(what_a_killed_one_left_is_finished),
        TEST(each_failure_is_survived),
        TEST(a_lasting_failure_is_told_once),
        TEST(hns_that_stays_down_is_started),
        TEST(kube_proxy_without_load_balancers_is_restarted_once),
        TEST(the_cluster_is_asked_where_it_can_be),
        TEST(at_boot_services_are_left_to_windows),
        TEST(a_restart_right_after_the_boot_is_noticed),
        TEST(services_are_restarted_once_it_has_started),
        TEST(a_plugin_that_nobody_knows_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
