/* A modelled server, call by call: what is answered, and what has changed of the server. All of it
 * is compared with a file. */
#include "tests/scene/expected_scene.h"

#include "host/model/model.h"

struct seen {
    struct text said;
    struct text_list lines; /* of the server, as it was seen last */
    json_t *server;
};

static void add_line(struct text_list *lines, const char *where, const json_t *json) {
    _cleanup_(freep) char *text = json_write(json);

    text_list_add_owned(lines, xasprintf("%s %s", where, text));
}

/* A line for each item of each member; of HNS for each object. */
static void add_lines(struct text_list *lines, const char *where, const json_t *json, int depth) {
    if (!json_is_object(json) && !json_is_array(json))
        depth = 0;
    if (!depth)
        add_line(lines, where, json);
    json_each(depth ? json : NULL, i, item) {
        _cleanup_(freep) char *at = xasprintf("%s[%zu]", where, i);

        add_line(lines, at, item);
    }
    json_each_member(depth ? json : NULL, key, value) {
        _cleanup_(freep) char *at = xasprintf("%s%s%s", where, *where ? "." : "", key);

        add_lines(lines, at, value, text_equal(key, "hns") ? 2 : depth - 1);
    }
}

static void say_changes(struct seen *s) {
    struct text_list now = {0};

    add_lines(&now, "", s->server, 2);
    for (size_t i = 0; i < s->lines.count; i++)
        if (!text_list_has(&now, s->lines.items[i]))
            text_addf(&s->said, "  - %s\n", s->lines.items[i]);
    for (size_t i = 0; i < now.count; i++)
        if (!text_list_has(&s->lines, now.items[i]))
            text_addf(&s->said, "  + %s\n", now.items[i]);
    text_list_free(&s->lines);
    s->lines = now;
}

static void open_server(struct seen *s) {
    *s = (struct seen){.server = model_new()};
    add_lines(&s->lines, "", s->server, 2);
}

/* One with a second adapter, whose address is from DHCP. */
static void open_dhcp_server(struct seen *s) {
    static const char adapter[] =
        "{\"alias\":\"Ethernet 2\",\"mac\":\"00-15-5D-00-00-09\",\"index\":9,\"mtu\":1400,"
        "\"up\":true,\"dhcp\":true,\"metric\":7,\"metric6\":8,\"forwarding\":true,\"addresses\":["
        "\"10.0.0.99/24\",\"fd00::99/64\",\"fd00::5/64\"],\"advertised\":[\"fd00::99/64\"],"
        "\"gateways\":[\"10.0.0.1\"],\"dnsServers\":[\"10.0.0.2\"]}";
    static const char routes[] =
        "[{\"destination\":\"0.0.0.0/0\",\"nextHop\":\"10.0.0.1\",\"interfaceIndex\":4},"
        "{\"destination\":\"0.0.0.0/0\",\"nextHop\":\"10.0.0.1\",\"interfaceIndex\":9},"
        "{\"destination\":\"10.9.0.0/16\",\"nextHop\":\"10.0.0.7\",\"interfaceIndex\":9}]";
    json_t *json = NULL;

    open_server(s);
    assert_int_equal(json_read(adapter, strlen(adapter), "", &json, NULL), 0);
    json_array_append_new(json_object_get(s->server, "adapters"), json);
    json_array_append_new(json_object_get(s->server, "adapters"),
                          json_pack("{s:s, s:i}", "alias", "bare", "index", 11));
    assert_int_equal(json_read(routes, strlen(routes), "", &json, NULL), 0);
    json_object_set_new(s->server, "routes", json);
    text_list_free(&s->lines);
    add_lines(&s->lines, "", s->server, 2);
}

static void close_server(struct seen *s, const char *name) {
    assert_expected_exactly(name, text_str(&s->said));
    text_free(&s->said);
    text_list_free(&s->lines);
    json_decref(s->server);
}

static void say_end(struct seen *s, int result, const struct error *err) {
    text_addf(&s->said, " -> %d%s%s\n", result, result ? " " : "", result ? err->message : "");
    say_changes(s);
}

/* ---- HNS ---- */

#define A "aaaaaaaa-0000-4000-8000-000000000001"
#define B "bbbbbbbb-0000-4000-8000-000000000002"
#define C "cccccccc-0000-4000-8000-000000000003"
#define ANY "00000000-0000-0000-0000-000000000000"
#define NETWORK(name, type, adapter)                                                               \
    "{\"Name\":\"" name "\",\"Type\":\"" type "\",\"Policies\":[{\"Type\":\"NetAdapterName\","     \
    "\"Settings\":{\"NetworkAdapterName\":\"" adapter "\"}}],\"Ipams\":[{\"Subnets\":[{"           \
    "\"IpAddressPrefix\":\"10.244.3.0/29\"}]}]}"
#define POLICIES(request, policies)                                                                \
    "{\"ResourceType\":\"Policy\",\"RequestType\":\"" request                                      \
    "\",\"Settings\":{\"Policies\":[" policies "]}}"
#define POLICY(n) "{\"Type\":\"RemoteSubnetRoute\",\"Settings\":{\"n\":" n "}}"

struct call {
    const char *function;
    size_t count;
    const char *arguments[3];
};

static const struct call networks[] = {
    {"HcnEnumerateNetworks", 1, {""}},
    {"HcnCreateNetwork", 2, {A, NETWORK("External", "l2bridge", "Ethernet 2")}},
    {"HcnCreateNetwork",
     2,
     {"BBBBBBBB-0000-4000-8000-000000000002", NETWORK("cbr0", "Overlay", "Ethernet 2")}},
    {"HcnCreateNetwork", 2, {ANY, NETWORK("first", "L2Tunnel", "")}},
    {"HcnCreateNetwork", 2, {ANY, NETWORK("inner", "NAT", "Ethernet 2")}},
    {"HcnCreateNetwork", 2, {ANY, NETWORK("bare", "L2Bridge", "bare")}},
    {"HcnCreateNetwork", 2, {C, "{\"Type\":\"Transparent\",\"NetworkAdapterName\":\"gone\"}"}},
    {"HcnEnumerateNetworks",
     1,
     {"{\"Filter\":\"{\\\"Name\\\":\\\"CBR0\\\",\\\"Type\\\":\\\"\\\"}\"}"}},
    {"HcnEnumerateNetworks", 1, {NULL}},
    {"HcnOpenNetwork", 1, {"AAAAAAAA-0000-4000-8000-000000000001"}},
    {"HcnCloseNetwork", 1, {A}},
    {"HcnQueryNetworkProperties", 2, {A, ""}},
    {"HcnQueryNetworkProperties", 2, {B, ""}},
    {"HNSCall", 3, {"GET", "/networks/", ""}},
    {"HNSCall", 3, {"GET", "/globals/version", ""}},
    {"HcnModifyNetwork", 2, {A, POLICIES("Add", POLICY("1") "," POLICY("2"))}},
    {"HcnModifyNetwork", 2, {A, POLICIES("Add", POLICY("1"))}},
    {"HcnModifyNetwork", 2, {C, POLICIES("Add", POLICY("3"))}},
    {"HcnModifyNetwork", 2, {C, POLICIES("remove", POLICY("3"))}},
    {"HcnModifyNetwork", 2, {C, "{\"Name\":\"other\"}"}},
    {"HcnModifyNetwork", 2, {C, "{\"ResourceType\":\"Subnet\"}"}},
    {"HcnDeleteNetwork", 1, {A}},
    {"HcnDeleteNetwork", 1, {"BBBBBBBB-0000-4000-8000-000000000002"}},
    {"HcnDeleteNetwork", 1, {"00000001-0000-4000-8000-000000000001"}},
    {"HcnDeleteNetwork", 1, {C}},
};

#define ENDPOINT(id) "/endpoints/" id

static const struct call endpoints[] = {
    {"HcnCreateNetwork", 2, {A, NETWORK("cbr0", "Overlay", "Ethernet 2")}},
    {"HcnCreateEndpoint", 3, {A, B, "{\"Name\":\"one\"}"}},
    {"HNSCall", 3, {"POST", "/endpoints/", "{\"Name\":\"two\",\"VirtualNetwork\":\"" A "\"}"}},
    {"HcnCreateEndpoint",
     3,
     {A, C,
      "{\"MacAddress\":\"00-15-5D-00-00-01\",\"IpConfigurations\":["
      "{\"IpAddress\":\"10.244.3.9\",\"PrefixLength\":25},"
      "{\"IpAddress\":\"fd00::9\"}],\"Name\":\"three\"}"}},
    {"HcnEnumerateEndpoints", 1, {"{\"Filter\":\"{\\\"VirtualNetwork\\\":\\\"" A "\\\"}\"}"}},
    {"HcnQueryEndpointProperties", 2, {B, ""}},
    {"HNSCall", 3, {"GET", ENDPOINT(B), ""}},
    {"HNSCall", 3, {"POST", ENDPOINT(B) "/attach", ""}},
    {"HNSCall", 3, {"POST", ENDPOINT(B) "/attach", ""}},
    {"HNSCall", 3, {"POST", ENDPOINT(C) "/attach", ""}},
    {"HcnCreateEndpoint", 3, {C, ANY, "{\"Name\":\"no address\"}"}},
    {"HNSCall", 3, {"POST", ENDPOINT("00000001-0000-4000-8000-000000000002") "/attach", ""}},
    {"HcnModifyEndpoint", 2, {C, "{\"Name\":\"other\"}"}},
    {"HcnCreateEndpoint", 3, {A, ANY, "{}"}},
    {"HcnCreateEndpoint", 3, {A, ANY, "{}"}},
    {"HcnCreateEndpoint", 3, {A, ANY, "{}"}},
    {"HcnCreateEndpoint", 3, {A, ANY, "{}"}},
    {"HcnDeleteEndpoint", 1, {C}},
    {"HcnCreateNamespace", 2, {C, "{}"}},
    {"HcnDeleteNamespace", 1, {C}},
    {"HcnCreateLoadBalancer", 2, {C, "{}"}},
    {"HcnEnumerateLoadBalancers", 1, {""}},
    {"HcnDeleteNetwork", 1, {A}},
};

static const struct call refused[] = {
    {"HcnCreateNetwork", 2, {A, NULL}},
    {"HcnCreateNetwork", 2, {A, "{"}},
    {"HcnModifyNetwork", 2, {A, "{}"}},
    {"HcnCreateNetwork", 2, {A, "{}"}},
    {"HcnModifyNetwork", 2, {A, NULL}},
    {"HcnModifyNetwork", 2, {A, "{"}},
    {"HcnDeleteNetwork", 1, {B}},
    {"HcnOpenEndpoint", 1, {A}},
    {"HcnOpenNetwork", 1, {NULL}},
    {"HcnOpenSwitch", 1, {A}},
    {"HcnBreakNetwork", 1, {A}},
    {"HcsOpenNetwork", 1, {A}},
    {"HNSCall", 3, {"GET", "/odd", ""}},
    {"HNSCall", 3, {"GET", ENDPOINT(B), ""}},
    {"HNSCall", 3, {"POST", ENDPOINT(B) "/attach", ""}},
    {"HNSCall", 3, {"POST", "/endpoints/", "{"}},
};

static void play(const struct call *calls, size_t count, const char *name) {
    struct seen s;

    open_dhcp_server(&s);
    for (size_t i = 0; i < count; i++) {
        const struct call *c = &calls[i];
        _cleanup_(freep) char *result = NULL, *record = NULL;
        uint32_t hresult =
            model_hns(s.server, NULL, NULL, c->function, c->arguments, c->count, &result, &record);

        text_addf(&s.said, "%s", c->function);
        for (size_t k = 0; k < c->count; k++)
            text_addf(&s.said, " %s", c->arguments[k] ? c->arguments[k] : "NULL");
        text_addf(&s.said, "\n  = 0x%08x %s\n", hresult, result ? result : "NULL");
        assert_null(record);
        say_changes(&s);
    }
    close_server(&s, name);
}

static void hns_networks(void **state) {
    (void)state;
    play(networks, ARRAY_SIZE(networks), "model-networks");
}

static void hns_endpoints(void **state) {
    (void)state;
    play(endpoints, ARRAY_SIZE(endpoints), "model-endpoints");
}

static void hns_refuses(void **state) {
    (void)state;
    play(refused, ARRAY_SIZE(refused), "model-refused");
}

/* ---- services ---- */

static void say_service(struct seen *s, const char *name) {
    struct host_service found = {0};
    _cleanup_(freep) char *needs = NULL, *environment = NULL;

    assert_int_equal(model_service_query(s->server, name, &found, NULL), 0);
    needs = text_list_join(&found.depends_on, ",");
    environment = text_list_join(&found.environment, ",");
    text_addf(&s->said, "%s is %s: %s, %s, %s, needs %s, %s, %d %u %u %u %d %u %u, %u %u %lld\n",
              name, found.name, found.display_name ? found.display_name : "no name",
              found.description ? found.description : "no description",
              found.command ? found.command : "no command", needs, environment, found.auto_start,
              found.restart_delays_ms[0], found.restart_delays_ms[1], found.restart_delays_ms[2],
              found.restart_on_error, found.reset_seconds, found.preshutdown_ms, found.process_id,
              found.exit_code, (long long)found.started);
    text_addf(&s->said, "  %s\n",
              found.state == HOST_SERVICE_ABSENT ? "absent" : host_service_states[found.state]);
    host_service_free(&found);
}

static void put_service(struct seen *s, const char *name, const char *needs, bool full) {
    struct host_service service = {.name = (char *)name, .command = (char *)"C:\\k\\x.exe"};
    struct error err = {0};
    int result;

    if (full)
        service = (struct host_service){.name = (char *)name,
                                        .display_name = (char *)"Name",
                                        .description = (char *)"What it is",
                                        .command = (char *)"C:\\k\\y.exe",
                                        .auto_start = true,
                                        .restart_delays_ms = {1, 2, 3},
                                        .restart_on_error = true,
                                        .reset_seconds = 4,
                                        .preshutdown_ms = 5};
    if (needs)
        text_list_add(&service.depends_on, needs);
    if (full)
        text_list_add(&service.environment, "A=1");
    result = model_service_put(s->server, &service, &err);
    text_addf(&s->said, "put %s", name);
    say_end(s, result, &err);
    text_list_free(&service.depends_on);
    text_list_free(&service.environment);
}

static void services_run(void **state) {
    static const char *const starts[] = {"alone", "far", "KUBELET", "gone", "lonely"};
    static const char *const all[] = {"containerd", "Kubelet", "alone", "gone"};
    struct error err = {0};
    struct seen s;
    int result;

    (void)state;
    open_server(&s);
    put_service(&s, "containerd", NULL, false);
    put_service(&s, "kubelet", "containerd", true);
    put_service(&s, "kube-proxy", "containerd", true);
    put_service(&s, "alone", "no-such-service", false);
    put_service(&s, "far", "alone", false);
    put_service(&s, "lonely", NULL, false);
    for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
        result = model_service_start(s.server, starts[i], &err);
        text_addf(&s.said, "start %s", starts[i]);
        say_end(&s, result, &err);
    }
    put_service(&s, "KUBELET", "containerd", false); /* it runs on */
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        say_service(&s, all[i]);
    model_service_stop(s.server, "Containerd");
    text_add(&s.said, "Containerd is stopped\n");
    say_changes(&s);
    assert_int_equal(model_service_start(s.server, "kubelet", &err), 0);
    say_changes(&s);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        model_service_delete(s.server, all[i]);
        text_addf(&s.said, "%s is deleted\n", all[i]);
        say_changes(&s);
    }
    close_server(&s, "model-services");
}

/* ---- network and machine ---- */

static void say_network(struct seen *s) {
    struct host_adapters adapters;
    struct host_routes routes;
    struct host_neighbors neighbors;

    model_adapters(s->server, &adapters);
    for (size_t i = 0; i < adapters.count; i++) {
        const struct host_adapter *a = &adapters.items[i];
        _cleanup_(freep) char *addresses = text_list_join(&a->addresses, ","),
                              *advertised = text_list_join(&a->advertised, ","),
                              *gateways = text_list_join(&a->gateways, ","),
                              *servers = text_list_join(&a->dns_servers, ",");

        text_addf(
            &s->said, "adapter %s, %s, %s, %u, mtu %u, up %d, dhcp %d, %u %u: %s; %s; %s; %s\n",
            a->alias, a->description ? a->description : "no description", a->mac, a->index, a->mtu,
            a->up, a->dhcp, a->metric, a->metric6, addresses, advertised, gateways, servers);
    }
    model_routes(s->server, &routes);
    for (size_t i = 0; i < routes.count; i++)
        text_addf(&s->said, "route %s %s %u %u\n", routes.items[i].destination,
                  routes.items[i].next_hop, routes.items[i].interface_index,
                  routes.items[i].metric);
    model_neighbors(s->server, &neighbors);
    for (size_t i = 0; i < neighbors.count; i++)
        text_addf(&s->said, "neighbor %s %s %d\n", neighbors.items[i].address,
                  neighbors.items[i].mac, neighbors.items[i].fixed);
    host_adapters_free(&adapters);
    host_routes_free(&routes);
    host_neighbors_free(&neighbors);
}

/* What says little of itself, beside what says all. */
static void add_odd_ones(struct seen *s) {
    json_array_append_new(json_object_get(s->server, "adapters"), json_object());
    json_object_set_new(s->server, "neighbors",
                        json_pack("[{}, {s:s, s:s, s:b}]", "address", "10.0.0.7", "mac",
                                  "00-15-5D-00-00-07", "fixed", 1));
    json_array_append_new(
        json_object_get(s->server, "routes"),
        json_pack("{s:s, s:s}", "destination", "0.0.0.0/0", "nextHop", "10.0.0.8"));
    say_changes(s);
}

static void add_and_remove(struct seen *s, struct host_route route) {
    struct error err = {0};
    int result = model_route_set(s->server, &route, true, &err);

    text_addf(&s->said, "route to %s over %s at %u", route.destination, route.next_hop,
              route.interface_index);
    say_end(s, result, &err);
    (void)model_route_set(s->server, &route, false, NULL); /* absent is success */
    say_changes(s);
}

static void network_of_a_server(void **state) {
    _cleanup_(text_list_free) struct text_list servers = {0};
    struct error err = {0};
    bool on = true;
    struct seen s;

    (void)state;
    open_dhcp_server(&s);
    add_odd_ones(&s);
    say_network(&s);
    add_and_remove(&s, (struct host_route){"10.1.0.0/16", "10.0.0.2", 9, 6, 0});
    add_and_remove(&s, (struct host_route){"0.0.0.0/0", "10.0.0.2", 9, 6, 0});
    add_and_remove(&s, (struct host_route){"10.1.0.0/16", "10.0.0.2", 5, 6, 0});
    add_and_remove(&s, (struct host_route){"10.9.0.0/16", "10.0.0.7", 9, 6, 0}); /* is there */
    text_list_add(&servers, "10.0.0.8");
    for (unsigned index = 4; index <= 5; index++) {
        text_addf(&s.said, "DNS of %u", index);
        say_end(&s, model_dns_set(s.server, index, &servers, &err), &err);
        text_addf(&s.said, "address of %u", index);
        say_end(&s, model_address_add(s.server, index, "10.0.0.9/24", &err), &err);
        text_addf(&s.said, "the same of %u", index);
        say_end(&s, model_address_add(s.server, index, "10.0.0.9/24", &err), &err);
        for (int family = 4; family <= 6; family += 2) {
            text_addf(&s.said, "metric %d of %u", family, index);
            say_end(&s,
                    model_interface_set(s.server, index, family, HOST_INTERFACE_METRIC, 3, &err),
                    &err);
            text_addf(&s.said, "forwarding %d of %u", family, index);
            say_end(&s, model_forwarding(s.server, index, family, &on, &err), &err);
            assert_int_equal(on, index == 5);
            say_end(
                &s,
                model_interface_set(s.server, index, family, HOST_INTERFACE_FORWARDING, true, &err),
                &err);
            say_end(&s, model_forwarding(s.server, index, family, &on, &err), &err);
            assert_true(on);
            error_clear(&err);
        }
    }
    close_server(&s, "model-network");
}

static void say_facts(struct seen *s) {
    struct host_facts f;

    model_facts(s->server, &f);
    text_addf(&s->said, "'%s' '%s' '%s' '%s' %u.%u.%u.%u, elevated %d, %llu %llu, %d %d, %llu\n",
              f.product, f.installation_type, f.architecture, f.host_name, f.major, f.minor,
              f.build, f.revision, f.elevated, (unsigned long long)f.memory_bytes,
              (unsigned long long)f.page_file_bytes, f.containers_feature, f.restart_pending,
              (unsigned long long)f.uptime_seconds);
}

static void say_registry(struct seen *s, const char *key, const char *value) {
    _cleanup_(freep) char *data = NULL;
    struct error err = {0};
    int result = model_registry_get(s->server, key, value, &data, &err);

    text_addf(&s->said, "%s %s is '%s'", key, value, data ? data : "");
    say_end(s, result, &err);
}

static void rest_of_a_machine(void **state) {
    const struct host_firewall_rule rules[] = {{.name = "a", .description = "x", .port = 10250},
                                               {.name = "b", .udp = true, .port = 4789}};
    struct seen s;

    (void)state;
    open_server(&s);
    say_facts(&s);
    say_registry(&s, "HKLM\\System\\CurrentControlSet\\Services\\HNS", "Start");
    say_registry(&s, "SYSTEM\\CurrentControlSet\\Services\\HNS", "End");
    model_registry_set(s.server, "HKLM\\Software\\X", "One", "1");
    model_registry_set(s.server, "software\\x", "two", "2");
    say_changes(&s);
    model_registry_set(s.server, "Software\\X", "ONE", NULL);
    say_changes(&s);
    model_registry_set(s.server, "Software\\X", "Two", NULL);
    model_registry_set(s.server, "Software\\Y", "Two", NULL);
    model_event_source_set(s.server, "C:\\k\\winjoin.exe");
    say_changes(&s);
    model_event_source_set(s.server, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        model_firewall_put(s.server, &rules[i]);
    model_event(s.server, 'w', 1001, "a text");
    json_object_set_new(s.server, "pipes", json_pack("[s]", "\\\\.\\pipe\\x"));
    json_object_set_new(s.server, "ports", json_pack("{s:[i], s:[i]}", "tcp", 80, "udp", 53));
    say_changes(&s);
    text_addf(&s.said, "pipes %d %d, ports %d %d %d %d, rules %d %d\n",
              model_pipe_exists(s.server, "\\\\.\\PIPE\\X"),
              model_pipe_exists(s.server, "\\\\.\\pipe\\y"), model_port_in_use(s.server, false, 80),
              model_port_in_use(s.server, true, 80), model_port_in_use(s.server, false, 53),
              model_port_in_use(s.server, true, 53), model_firewall_has(s.server, "b"),
              model_firewall_has(s.server, "c"));
    model_firewall_remove(s.server, "b");
    json_object_set_new(s.server, "services", json_pack("{s:{}}", "bare"));
    json_object_del(s.server, "facts");
    say_changes(&s);
    say_service(&s, "bare");
    say_facts(&s);
    close_server(&s, "model-machine");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hns_networks),        cmocka_unit_test(hns_endpoints),
        cmocka_unit_test(hns_refuses),         cmocka_unit_test(services_run),
        cmocka_unit_test(network_of_a_server), cmocka_unit_test(rest_of_a_machine),
    };

    (void)add_calls, (void)add_document, (void)assert_expected;
    return cmocka_run_group_tests_name("modelled_server", tests, NULL, NULL);
}
