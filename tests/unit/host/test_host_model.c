/* The modelled server behind the hosts that are not Windows: network, firewall, services, HNS. */
#define SCENE "model"
#include "tests/scene/host_scene.h"

#include "base/cidr.h"
#include "host/model/model.h"

static const char gateway[] = "10.0.0.1";

/* One adapter "Ethernet 2" with an address from DHCP and a default route. */
static void set_dhcp_adapter(void) {
    struct host_adapter adapter = {.alias = (char *)"Ethernet 2",
                                   .mac = "00-15-5D-00-00-09",
                                   .index = 9,
                                   .mtu = 1400,
                                   .up = true,
                                   .dhcp = true};
    struct host_adapters adapters = {&adapter, 1};
    struct host_route route = {
        .destination = "0.0.0.0/0", .next_hop = "10.0.0.1", .interface_index = 9, .metric = 5};

    text_list_add(&adapter.addresses, "10.0.0.99/24");
    text_list_add(&adapter.gateways, gateway);
    text_list_add(&adapter.dns_servers, "10.0.0.2");
    host_memory_set_adapters(opened, &adapters);
    text_list_free(&adapter.addresses);
    text_list_free(&adapter.gateways);
    text_list_free(&adapter.dns_servers);
    SUCCEEDS(host_route_add(opened, &route, err));
}

static size_t count_routes(const char *destination, uint32_t index) {
    struct host_routes routes;
    size_t count = 0;

    SUCCEEDS(host_routes(opened, &routes, err));
    for (size_t i = 0; i < routes.count; i++)
        if (text_equal(routes.items[i].destination, destination) &&
            routes.items[i].interface_index == index)
            count++;
    host_routes_free(&routes);
    return count;
}

static void routes_are_kept_once(void **state) {
    struct host_route route = {
        .destination = "10.244.2.0/24", .next_hop = "10.0.0.22", .interface_index = 4, .metric = 7};
    struct host_routes routes;

    (void)state;
    SUCCEEDS(host_route_add(opened, &route, err));
    SUCCEEDS(host_route_add(opened, &route, err));
    assert_int_equal(count_routes("10.244.2.0/24", 4), 1);
    SUCCEEDS(host_routes(opened, &routes, err));
    assert_string_equal(routes.items[routes.count - 1].next_hop, "10.0.0.22");
    assert_int_equal(routes.items[routes.count - 1].metric, 7);
    host_routes_free(&routes);
    (void)text_format(route.next_hop, sizeof route.next_hop, "10.0.0.23"); /* another route */
    SUCCEEDS(host_route_remove(opened, &route, err));
    assert_int_equal(count_routes("10.244.2.0/24", 4), 1);
    (void)text_format(route.next_hop, sizeof route.next_hop, "10.0.0.22");
    SUCCEEDS(host_route_remove(opened, &route, err));
    SUCCEEDS(host_route_remove(opened, &route, err));
    assert_int_equal(count_routes("10.244.2.0/24", 4), 0);
    route.interface_index = 77;
    FAILS_WITH(ERROR_ABSENT, host_route_add(opened, &route, err));
}

static void interface_settings(void **state) {
    struct host_adapters adapters;
    struct text_list servers = {0};
    bool on = true;

    (void)state;
    text_list_add(&servers, "10.0.0.9");
    SUCCEEDS(host_dns_set(opened, 4, &servers, err));
    SUCCEEDS(host_forwarding(opened, 4, 4, &on, err));
    assert_false(on);
    SUCCEEDS(host_forwarding_set(opened, 4, 4, true, err));
    SUCCEEDS(host_forwarding(opened, 4, 4, &on, err));
    assert_true(on);
    SUCCEEDS(host_forwarding(opened, 4, 6, &on, err));
    assert_false(on); /* each family has its own */
    SUCCEEDS(host_forwarding_set(opened, 4, 6, true, err));
    SUCCEEDS(host_forwarding_set(opened, 4, 4, false, err));
    SUCCEEDS(host_forwarding(opened, 4, 6, &on, err));
    assert_true(on);
    SUCCEEDS(host_address_add(opened, 4, "10.0.0.50/24", err));
    SUCCEEDS(host_address_add(opened, 4, "10.0.0.50/24", err));
    SUCCEEDS(host_adapters(opened, &adapters, err));
    assert_int_equal(adapters.items[0].dns_servers.count, 1);
    assert_string_equal(adapters.items[0].dns_servers.items[0], "10.0.0.9");
    assert_int_equal(adapters.items[0].addresses.count, 2);
    assert_int_equal(adapters.items[0].mtu, 1500);
    assert_true(adapters.items[0].up);
    host_adapters_free(&adapters);
    FAILS_WITH(ERROR_ABSENT, host_address_add(opened, 5, "10.0.0.50/24", err));
    FAILS_WITH(ERROR_ABSENT, host_dns_set(opened, 5, &servers, err));
    FAILS_WITH(ERROR_ABSENT, host_forwarding(opened, 5, 4, &on, err));
    FAILS_WITH(ERROR_ABSENT, host_forwarding_set(opened, 5, 4, true, err));
    text_list_add(&servers, "no address");
    FAILS_WITH(ERROR_MALFORMED, host_dns_set(opened, 4, &servers, err));
    text_list_free(&servers);
}

static void ports_pipes_firewall(void **state) {
    struct host_firewall_rule rule = {.name = "winjoin-kubelet", .description = "x", .port = 10250};
    bool yes = true;

    (void)state;
    SUCCEEDS(host_port_in_use(opened, false, 10250, &yes, err));
    assert_false(yes);
    host_memory_set_port(opened, false, 10250);
    SUCCEEDS(host_port_in_use(opened, false, 10250, &yes, err));
    assert_true(yes);
    SUCCEEDS(host_port_in_use(opened, true, 10250, &yes, err));
    assert_false(yes);
    FAILS_WITH(ERROR_USAGE, host_port_in_use(opened, true, 0, &yes, err));
    SUCCEEDS(host_firewall_put(opened, &rule, err));
    SUCCEEDS(host_firewall_put(opened, &rule, err));
    SUCCEEDS(host_firewall_has(opened, "winjoin-kubelet", &yes, err));
    assert_true(yes);
    SUCCEEDS(host_firewall_remove(opened, "winjoin-kubelet", err));
    SUCCEEDS(host_firewall_remove(opened, "winjoin-kubelet", err));
    SUCCEEDS(host_firewall_has(opened, "winjoin-kubelet", &yes, err));
    assert_false(yes);
    FAILS_WITH(ERROR_USAGE, host_firewall_remove(opened, "", err));
    rule.name = "";
    FAILS_WITH(ERROR_USAGE, host_firewall_put(opened, &rule, err));
}

static void events_are_kept(void **state) {
    _cleanup_json_ json_t *now = NULL;

    (void)state;
    SUCCEEDS(host_event(opened, 'e', 1004, "not trusted", err));
    FAILS_WITH(ERROR_USAGE, host_event(opened, 'x', 1, "", err));
    now = host_memory_state(opened);
    assert_string_equal(json_text_at(now, "events.0.level"), "e");
    assert_int_equal(json_number_at(now, "events.0.id", 0), 1004);
    assert_string_equal(json_text_at(now, "events.0.text"), "not trusted");
}

static void put_service(const char *name, const char *needs) {
    char *items[] = {(char *)needs, NULL};
    struct host_service service = {.name = (char *)name,
                                   .command = (char *)"C:\\k\\x.exe",
                                   .depends_on = {items, needs ? 1 : 0}};

    SUCCEEDS(host_service_put(opened, &service, err));
}

static void a_service_of_no_text_is_refused(void **state) {
    struct host_service service = {
        .name = (char *)"x", .description = (char *)"\xff", .command = (char *)"C:\\k\\x.exe"};

    (void)state;
    FAILS_WITH(ERROR_USAGE, host_service_put(opened, &service, err));
}

static void services_depend(void **state) {
    (void)state;
    put_service("containerd", NULL);
    put_service("kubelet", "containerd");
    put_service("alone", "no-such-service");
    put_service("far", "alone");
    FAILS_WITH(ERROR_ABSENT, host_service_start(opened, "alone", 1000, err));
    FAILS_WITH(ERROR_ABSENT, host_service_start(opened, "far", 1000, err));
    expect_service("far", HOST_SERVICE_STOPPED, NULL);
    SUCCEEDS(host_service_start(opened, "KUBELET", 1000, err));
    expect_service("containerd", HOST_SERVICE_RUNNING, NULL);
    put_service("kubelet", "containerd"); /* changing it does not stop it */
    expect_service("kubelet", HOST_SERVICE_RUNNING, NULL);
    SUCCEEDS(host_service_stop(opened, "containerd", 1000, err));
    expect_service("kubelet", HOST_SERVICE_STOPPED, NULL);
    SUCCEEDS(host_service_delete(opened, "containerd", 1000, err));
    expect_service("containerd", HOST_SERVICE_ABSENT, NULL);
    host_memory_set_service_state(opened, "kubelet", HOST_SERVICE_PAUSED);
    expect_service("kubelet", HOST_SERVICE_PAUSED, NULL);
}

#define NETWORK(name, type, adapter)                                                               \
    "{\"Name\":\"" name "\",\"Type\":\"" type "\",\"Policies\":[{\"Type\":\"NetAdapterName\","     \
    "\"Settings\":{\"NetworkAdapterName\":\"" adapter "\"}}],\"Ipams\":[{\"Subnets\":[{"           \
    "\"IpAddressPrefix\":\"10.244.3.0/24\"}]}]}"
static const char first[] = "aaaaaaaa-0000-4000-8000-000000000001";
static const char second[] = "aaaaaaaa-0000-4000-8000-000000000002";

static void dhcp_address_moves_with_the_switch(void **state) {
    struct host_adapters adapters;

    (void)state;
    set_dhcp_adapter();
    SUCCEEDS(hcn_create(opened, HCN_NETWORK, NULL, first,
                        NETWORK("External", "l2bridge", "Ethernet 2"), NULL, err));
    SUCCEEDS(host_adapters(opened, &adapters, err));
    assert_int_equal(adapters.count, 2);
    assert_string_equal(adapters.items[1].alias, "vEthernet (Ethernet 2)");
    assert_string_equal(adapters.items[1].addresses.items[0], "10.0.0.99/24");
    assert_string_equal(adapters.items[1].gateways.items[0], gateway);
    assert_int_equal(count_routes("0.0.0.0/0", adapters.items[1].index), 1);
    host_adapters_free(&adapters);
    /* A second network shares the switch; an internal one has none. */
    SUCCEEDS(hcn_create(opened, HCN_NETWORK, NULL, second,
                        NETWORK("cbr0", "L2Bridge", "Ethernet 2"), NULL, err));
    SUCCEEDS(hcn_create(opened, HCN_NETWORK, NULL, NULL, NETWORK("nat", "NAT", "Ethernet 2"), NULL,
                        err));
    SUCCEEDS(hcn_delete(opened, HCN_NETWORK, second, err));
    SUCCEEDS(host_adapters(opened, &adapters, err));
    assert_int_equal(adapters.count, 2);
    host_adapters_free(&adapters);
    SUCCEEDS(hcn_delete(opened, HCN_NETWORK, first, err));
    SUCCEEDS(host_adapters(opened, &adapters, err));
    assert_int_equal(adapters.count, 1);
    assert_string_equal(adapters.items[0].addresses.items[0], "10.0.0.99/24");
    host_adapters_free(&adapters);
}

static void endpoints_live_in_networks(void **state) {
    _cleanup_(freep) char *endpoint = NULL;
    _cleanup_(freep) char *found = NULL;
    _cleanup_(freep) char *left = NULL;

    (void)state;
    FAILS_WITH(ERROR_USAGE, hcn_create(opened, HCN_ENDPOINT, NULL, second, "{}", NULL, err));
    FAILS_WITH(ERROR_ABSENT, hcn_create(opened, HCN_ENDPOINT, first, second, "{}", NULL, err));
    SUCCEEDS(hcn_create(opened, HCN_NETWORK, NULL, first,
                        NETWORK("flannel.4096", "Overlay", "Ethernet"), NULL, err));
    SUCCEEDS(hcn_create(opened, HCN_ENDPOINT, first, second, "{\"Name\":\"pod\"}", &endpoint, err));
    assert_non_null(strstr(endpoint, "\"IpAddress\":\"10.244.3."));
    assert_non_null(strstr(endpoint, "\"MacAddress\":\""));
    SUCCEEDS(hcn_enumerate(opened, HCN_ENDPOINT,
                           "{\"Filter\":\"{\\\"VirtualNetwork\\\":\\\"AAAAAAAA-0000-4000-8000-"
                           "000000000001\\\"}\"}",
                           &found, err));
    assert_non_null(strstr(found, second));
    FAILS_WITH(ERROR_HOST, hcn_modify(opened, HCN_NETWORK, first, "no JSON", err));
    SUCCEEDS(hcn_delete(opened, HCN_NETWORK, first, err));
    SUCCEEDS(hcn_enumerate(opened, HCN_ENDPOINT, NULL, &left, err));
    assert_string_equal(left, "[]");
}

#define CHANGE(request)                                                                            \
    "{\"ResourceType\":\"Policy\",\"RequestType\":\"" request "\",\"Settings\":{\"Policies\":[{"   \
    "\"Type\":\"RemoteSubnetRoute\",\"Settings\":{}}]}}"

static void ids_are_guids(void **state) {
    static const char *const bad[] = {
        "",
        "aaaaaaaa-0000-4000-8000-00000000000",
        "aaaaaaaa-0000-4000-8000-0000000000011",
        "aaaaaaaa00000-4000-8000-000000000001",
        "aaaaaaaa-00000400008000-000000000001",
        "aaaaaaaa-0000-4000-80000000000000001",
        "gaaaaaaa-0000-4000-8000-000000000001",
        "{aaaaaaa-0000-4000-8000-000000000001",
    };
    char *properties = NULL;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        FAILS_WITH(ERROR_USAGE, hcn_query(opened, HCN_NETWORK, bad[i], NULL, &properties, err));
        FAILS_WITH(ERROR_USAGE, hcn_modify(opened, HCN_NETWORK, bad[i], "{}", err));
        FAILS_WITH(ERROR_USAGE, hcn_delete(opened, HCN_NETWORK, bad[i], err));
        FAILS_WITH(ERROR_USAGE, hcn_create(opened, HCN_NETWORK, NULL, bad[i], "{}", NULL, err));
    }
    FAILS_WITH(ERROR_ABSENT, hcn_query(opened, HCN_NETWORK, first, NULL, &properties, err));
}

static void policies_come_and_go(void **state) {
    _cleanup_(freep) char *with = NULL, *without = NULL;

    (void)state;
    SUCCEEDS(hcn_create(opened, HCN_NETWORK, NULL, first,
                        NETWORK("flannel.4096", "Overlay", "Ethernet"), NULL, err));
    SUCCEEDS(hcn_modify(opened, HCN_NETWORK, first, CHANGE("Add"), err));
    SUCCEEDS(hcn_query(opened, HCN_NETWORK, first, NULL, &with, err));
    assert_non_null(strstr(with, "RemoteSubnetRoute"));
    assert_non_null(strstr(with, "DrMacAddress"));
    SUCCEEDS(hcn_modify(opened, HCN_NETWORK, first, CHANGE("Remove"), err));
    SUCCEEDS(hcn_query(opened, HCN_NETWORK, first, NULL, &without, err));
    assert_null(strstr(without, "RemoteSubnetRoute"));
}

/* Who gives no id gets the next one. */
static void ids_are_given_in_a_row(void **state) {
    (void)state;
    for (int i = 1; i <= 2; i++) {
        _cleanup_(freep) char *id = xasprintf("00000001-0000-4000-8000-%012x", i);
        _cleanup_(freep) char *properties = NULL;

        SUCCEEDS(hcn_create(opened, HCN_NETWORK, NULL, NULL, NETWORK("nat", "NAT", "Ethernet"),
                            NULL, err));
        SUCCEEDS(hcn_query(opened, HCN_NETWORK, id, NULL, &properties, err));
    }
}

static void endpoints_are_attached_once(void **state) {
    static const struct {
        const char *method, *path, *answer;
    } rows[] = {
        {"GET", "", "\"State\":1"},
        {"POST", "/attach", "\"State\":2"},
        {"GET", "", "\"State\":2"},
        {"POST", "/attach", "already attached"},
    };

    (void)state;
    SUCCEEDS(hcn_create(opened, HCN_NETWORK, NULL, first,
                        NETWORK("flannel.4096", "Overlay", "Ethernet"), NULL, err));
    SUCCEEDS(hcn_create(opened, HCN_ENDPOINT, first, second, "{\"Name\":\"pod\"}", NULL, err));
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *path = xasprintf("/endpoints/%s%s", second, rows[i].path);
        _cleanup_(freep) char *answer = NULL;

        SUCCEEDS(hns_call(opened, rows[i].method, path, "", &answer, err));
        if (!strstr(answer, rows[i].answer))
            fail_msg("row %zu: %s", i, answer);
    }
}

static uint32_t say_nothing(void *context, const char *function, const char *const *arguments,
                            size_t count, char **ret_result, char **ret_error_record) {
    (void)context, (void)function, (void)arguments, (void)count, (void)ret_result;
    (void)ret_error_record;
    return 0;
}

static void success_without_an_answer_is_a_failure(void **state) {
    char *answer = NULL;

    (void)state;
    host_memory_set_hns(opened, say_nothing, NULL);
    FAILS_WITH(ERROR_HOST, hcn_enumerate(opened, HCN_NETWORK, NULL, &answer, err));
    FAILS_WITH(ERROR_HOST, hns_call(opened, "GET", "/networks/", "", &answer, err));
}

/* What is not an address is not a management address, however long. */
static void addresses_have_a_longest_length(void **state) {
    struct host_adapter adapter = {.alias = (char *)"Ethernet 2", .index = 9};
    struct host_adapters adapters = {&adapter, 1};
    _cleanup_(freep) char *all = NULL;
    char address[IP_TEXT_MAX + 4];

    (void)state;
    adapter.dhcp = true;
    memset(address, '1', IP_TEXT_MAX);
    memcpy(address + IP_TEXT_MAX, "/24", 4);
    text_list_add(&adapter.addresses, address);
    host_memory_set_adapters(opened, &adapters);
    text_list_free(&adapter.addresses);
    SUCCEEDS(hcn_create(opened, HCN_NETWORK, NULL, first,
                        NETWORK("External", "l2bridge", "Ethernet 2"), NULL, err));
    SUCCEEDS(hns_call(opened, "GET", "/networks/", "", &all, err));
    assert_null(strstr(all, "ManagementIP"));
}

static void version_1_paths(void **state) {
    _cleanup_(freep) char *gone = NULL, *odd = NULL, *all = NULL, *bad = NULL;

    (void)state;
    SUCCEEDS(hcn_create(opened, HCN_NETWORK, NULL, first,
                        NETWORK("flannel.4096", "Overlay", "Ethernet"), NULL, err));
    SUCCEEDS(host_address_add(opened, 20, "10.0.0.21/24", err));
    SUCCEEDS(hns_call(opened, "GET", "/networks/", "", &all, err));
    assert_non_null(strstr(all, "\"ManagementIP\":\"10.0.0.21\""));
    SUCCEEDS(hns_call(opened, "POST", "/endpoints/aaaaaaaa/attach", "", &gone, err));
    assert_non_null(strstr(gone, "\"Success\":false"));
    SUCCEEDS(hns_call(opened, "GET", "/odd", "", &odd, err));
    assert_non_null(strstr(odd, "\"Success\":false"));
    SUCCEEDS(hns_call(opened, "POST", "/endpoints/", "no JSON", &bad, err));
    assert_non_null(strstr(bad, "\"Success\":false"));
}

/* A played machine that says little of itself is a Server 2022 that a join may use; what only a
 * machine knows is unknown. */
static void facts_that_are_not_given(void **state) {
    _cleanup_json_ json_t *little =
        json_pack("{s:{s:i, s:b}}", "facts", "build", 17763, "restartPending", 0);
    _cleanup_json_ json_t *nothing = json_object();
    struct host_facts facts;

    (void)state;
    model_facts(nothing, &facts);
    assert_int_equal(facts.major, 10);
    assert_int_equal(facts.minor, 0);
    assert_int_equal(facts.build, 20348);
    assert_true(facts.elevated);
    assert_int_equal(facts.containers_feature, -1);
    assert_int_equal(facts.restart_pending, -1);
    assert_int_equal(facts.memory_bytes + facts.page_file_bytes + facts.revision, 0);
    assert_int_equal(facts.uptime_seconds, 0);
    assert_string_equal(facts.product, "");
    model_facts(little, &facts);
    assert_int_equal(facts.build, 17763);
    assert_int_equal(facts.restart_pending, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(routes_are_kept_once, open_memory, close_host),
        cmocka_unit_test_setup_teardown(interface_settings, open_memory, close_host),
        cmocka_unit_test_setup_teardown(ports_pipes_firewall, open_memory, close_host),
        cmocka_unit_test_setup_teardown(events_are_kept, open_memory, close_host),
        cmocka_unit_test_setup_teardown(a_service_of_no_text_is_refused, open_memory, close_host),
        cmocka_unit_test_setup_teardown(services_depend, open_memory, close_host),
        cmocka_unit_test_setup_teardown(dhcp_address_moves_with_the_switch, open_memory,
                                        close_host),
        cmocka_unit_test_setup_teardown(endpoints_live_in_networks, open_memory, close_host),
        cmocka_unit_test_setup_teardown(ids_are_guids, open_memory, close_host),
        cmocka_unit_test_setup_teardown(policies_come_and_go, open_memory, close_host),
        cmocka_unit_test_setup_teardown(version_1_paths, open_memory, close_host),
        cmocka_unit_test(facts_that_are_not_given),
        cmocka_unit_test_setup_teardown(ids_are_given_in_a_row, open_memory, close_host),
        cmocka_unit_test_setup_teardown(endpoints_are_attached_once, open_memory, close_host),
        cmocka_unit_test_setup_teardown(success_without_an_answer_is_a_failure, open_memory,
                                        close_host),
        cmocka_unit_test_setup_teardown(addresses_have_a_longest_length, open_memory, close_host),
    };

    (void)open_own, (void)expect_content;
    return cmocka_run_group_tests_name("host_model", tests, NULL, NULL);
}
