/* Azure CNI: a join leaves the network to the first pod, and a reset takes back what that made. */
#include "tests/scene/join_scene.h"

#include "join/found/need.h"
#include "join/phases/steps.h"
#include "join/wanted/wanted.h"
#include "netsetup/hns/hcn_network.h"

#define HNS_STATE "SYSTEM\\CurrentControlSet\\Services\\hns\\State"
#define FOLDER "C:\\Windows\\System32\\"
#define CONFLIST "C:\\etc\\cni\\net.d\\10-winjoin.conflist"

static void put(struct host *host, const char *path, const char *text) {
    assert_int_equal(host_write(host, path, text, strlen(text), HOST_PUBLIC, NULL), 0);
}

/* What the first pod's ADD does; *ret_id: what azure-vnet keeps. */
static void first_pod(struct host *host, char ret_id[HCN_ID_MAX]) {
    char *properties = NULL;
    struct hcn_network network = {0};
    _cleanup_(freep) char *state = NULL;

    assert_int_equal(
        hcn_create(host, HCN_NETWORK, NULL, NULL,
                   "{\"Name\":\"azure\",\"Type\":\"L2Bridge\",\"Ipams\":[{\"Type\":\"Static\","
                   "\"Subnets\":[{\"IpAddressPrefix\":\"10.0.0.0/24\",\"Routes\":[{\"NextHop\":"
                   "\"10.0.0.1\",\"DestinationPrefix\":\"0.0.0.0/0\"}]}]}],\"Flags\":8,"
                   "\"SchemaVersion\":{\"Major\":2,\"Minor\":0}}",
                   &properties, NULL),
        0);
    free(properties);
    assert_int_equal(hcn_network_find(host, "azure", &network, NULL), 0);
    state = xasprintf("{\"Network\":{\"ExternalInterfaces\":{\"Ethernet\":{\"Networks\":{\"azure\":"
                      "{\"Id\":\"azure\",\"HnsId\":\"%s\"}}}}}}",
                      network.id);
    put(host, FOLDER "azure-vnet.json", state);
    put(host, FOLDER "azure-vnet-ipam.json", "{}");
    put(host, FOLDER "azure-vnet.lock", "");
    memcpy(ret_id, network.id, HCN_ID_MAX);
}

static void open_azure(struct run *r, const char *mode, const char *plugin) {
    open_run(r, mode);
    r->options.network_plugin = xstrdup(plugin);
    put(r->host, FOLDER "xcopy.exe", "MZ"); /* and its folder */
    put(r->host, "C:\\opt\\cni\\bin\\azure-vnet.exe", "MZ");
    if (!text_equal(plugin, "azure-cns"))
        put(r->host, "C:\\opt\\cni\\bin\\azure-vnet-ipam.exe", "MZ");
    assert_int_equal(host_remove(r->host, "C:\\opt\\cni\\bin\\host-local.exe", NULL), 0);
    r->scene.no_prefix = true;
    r->scene.conf = CONFLIST;
}

/* Without the process that HNS has. */
static json_t *host_state(const struct run *r) {
    json_t *state = state_of(r);

    json_object_del(json_at(state, "services.hns"), "processId");
    return state;
}

static void joins(struct run *r) {
    struct error err = {0};

    if (join_once(r, &err) < 0)
        fail_msg("%s; %s", err.message, err.hints[0]);
}

static void the_first_pod_makes_the_network(void **state) {
    static const char *const plugins[] = {"azure-vnet", "azure-cns"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(plugins); i++) {
        _cleanup_(freep) char *cni = NULL, *mac = NULL;
        struct hcn_network network = {0};
        struct error err = {0};
        char id[HCN_ID_MAX];
        json_t *before, *after;
        struct run r;
        size_t len;

        open_azure(&r, "l2bridge", plugins[i]);
        before = host_state(&r);
        joins(&r);
        assert_int_equal(host_registry_get(r.host, HNS_STATE, "SDNRemoteArpMacAddress", &mac, NULL),
                         0);
        assert_string_equal(mac, "12-34-56-78-9a-bc");
        assert_non_null(strstr(host_memory_log(r.host), "service_stop hns"));
        assert_int_equal(hcn_network_find(r.host, "External", &network, NULL), 0);
        assert_string_equal(network.type, "L2Bridge");
        assert_int_equal(hcn_network_find(r.host, "azure", &network, &err), -1);
        assert_int_equal(host_read(r.host, CONFLIST, 65536, &cni, &len, NULL), 0);
        assert_non_null(strstr(cni, i ? "\"azure-cns\"" : "\"azure-vnet-ipam\""));
        first_pod(r.host, id);
        set_options(&r, "l2bridge");
        r.options.network_plugin = xstrdup(plugins[i]);
        host_memory_forget(r.host);
        joins(&r);
        assert_null(strstr(host_memory_log(r.host), "service_stop hns"));
        assert_int_equal(hcn_network_find(r.host, "azure", &network, NULL), 0);
        error_clear(&err);
        if (reset_once(&r, &err) < 0)
            fail_msg("%s", err.message);
        after = host_state(&r);
        assert_same(before, after, plugins[i]);
        json_decref(before);
        json_decref(after);
        close_run(&r);
    }
}

/* What stood in the registry is a text, and stands again after reset. */
static void another_value_is_restored(void **state) {
    _cleanup_(freep) char *mac = NULL;
    struct error err = {0};
    struct run r;

    (void)state;
    open_azure(&r, "l2tunnel", "azure-vnet");
    assert_int_equal(host_registry_set(r.host, HNS_STATE, "SDNRemoteArpMacAddress", false,
                                       "aa-aa-aa-aa-aa-aa", NULL),
                     0);
    joins(&r);
    assert_int_equal(reset_once(&r, &err), 0);
    assert_int_equal(host_registry_get(r.host, HNS_STATE, "SDNRemoteArpMacAddress", &mac, NULL), 0);
    assert_string_equal(mac, "aa-aa-aa-aa-aa-aa");
    close_run(&r);
}

/* Before anything is touched the installed azure-vnet says that it makes no such network. */
static void a_newer_one_makes_no_tunnel(void **state) {
    static const struct {
        const char *mode, *version;
        bool refused;
    } rows[] = {{"l2tunnel", "Azure CNI Version v1.6.16\n", true},
                {"l2tunnel", "Azure CNI Version v1.6.15\n", false},
                {"l2bridge", "Azure CNI Version v1.6.16\n", false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *before = NULL, *after = NULL;
        struct error err = {0};
        struct run r;

        open_azure(&r, rows[i].mode, "azure-vnet");
        host_memory_set_program(r.host, "azure-vnet.exe", 0, rows[i].version);
        before = host_state(&r);
        if ((join_once(&r, &err) < 0) != rows[i].refused)
            fail_msg("%s, row %u: %s", rows[i].mode, (unsigned)i, err.message);
        if (rows[i].refused) {
            assert_int_equal(err.kind, ERROR_UNSUPPORTED);
            assert_non_null(strstr(err.message, "azure-vnet v1.6.16 makes no network of mode"));
            assert_int_equal(reset_once(&r, ERROR_IGNORED), 0);
            after = host_state(&r);
            assert_same(before, after, "refused");
        }
        close_run(&r);
    }
}

/* Without the value, or with an HNS that has not read it, no pod reaches another node. So the error
 * of each call is told. */
static void the_value_is_read_or_that_is_told(void **state) {
    bool fails = true;

    (void)state;
    for (size_t n = 1; fails; n++) {
        struct error err = {0};
        struct join join;
        struct run r;
        size_t calls;
        int result;

        open_azure(&r, "l2bridge", "azure-vnet");
        join = (struct join){.host = r.host, .http = r.http, .asked = &r.options};
        assert_int_equal(join_open(&join, &err), 0);
        assert_int_equal(journal_open(r.host, WINJOIN_FOLDER, &join.journal, &err), 0);
        assert_int_equal(join_need(&join, NEED_PLAN, &err), 0);
        calls = host_memory_calls(r.host);
        host_memory_fail(r.host, n);
        result = agent_registry_apply(&join, &err);
        fails = host_memory_calls(r.host) - calls >= n;
        assert_int_equal(result, err.kind == ERROR_NONE ? 0 : -1);
        if (fails && (text_starts_with(host_memory_failed(r.host), "registry_") ||
                      text_starts_with(host_memory_failed(r.host), "service_st")))
            assert_int_equal(result, -1);
        join_close(&join);
        close_run(&r);
    }
}

/* Its file would be read first, its network is in the way: refused until reset. */
static void another_plugin_before(void **state) {
    struct error err = {0};
    struct run r;

    (void)state;
    open_azure(&r, "l2bridge", "win-bridge");
    put(r.host, "C:\\opt\\cni\\bin\\host-local.exe", "MZ");
    r.scene.no_prefix = false;
    r.scene.conf = NULL;
    joins(&r);
    set_options(&r, "l2bridge");
    r.options.network_plugin = xstrdup("azure-vnet");
    assert_int_equal(join_once(&r, &err), -1);
    assert_non_null(strstr(err.message, "HNS network 'cbr0' has 10.244.3.0/24"));
    assert_int_equal(host_file_type(r.host, CONFLIST), HOST_ABSENT);
    close_run(&r);
}

/* One call of a join or of the first pod's time fails; the same command again finishes, and reset
 * gives the host back. */
static bool torture_once(size_t n) {
    struct error err = {0};
    json_t *before, *after;
    char id[HCN_ID_MAX], when[64];
    struct run r;
    size_t calls;
    bool reached;

    open_azure(&r, "l2bridge", "azure-vnet");
    before = host_state(&r);
    (void)text_format(when, sizeof when, "call %u failed", (unsigned)n);
    calls = host_memory_calls(r.host);
    host_memory_fail(r.host, n);
    (void)join_once(&r, &err); /* some calls may fail without harm */
    reached = host_memory_calls(r.host) - calls >= n;
    host_memory_fail(r.host, 0);
    error_clear(&err);
    set_options(&r, "l2bridge");
    r.options.network_plugin = xstrdup("azure-vnet");
    if (join_once(&r, &err) < 0)
        fail_msg("%s: the same join again: %s", when, err.message);
    first_pod(r.host, id);
    if (reset_once(&r, &err) < 0)
        fail_msg("%s: reset: %s", when, err.message);
    after = host_state(&r);
    assert_same(before, after, when);
    json_decref(before);
    json_decref(after);
    close_run(&r);
    return reached;
}

static void every_call_fails_once(void **state) {
    size_t n = 1;

    (void)state;
    tells_nothing = true;
    while (torture_once(n))
        n += next_call();
    assert_true(n > 100);
    tells_nothing = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_pod_makes_the_network),
        cmocka_unit_test(another_value_is_restored),
        cmocka_unit_test(a_newer_one_makes_no_tunnel),
        cmocka_unit_test(the_value_is_read_or_that_is_told),
        cmocka_unit_test(another_plugin_before),
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
