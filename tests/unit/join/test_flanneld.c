/* The phase that starts flanneld and waits for what it is there for, with flanneld played. */
#include "join/services/service_watch.h"
#include "netsetup/routes/routes.h"
#include "tests/memory/http_memory.h"
#include "tests/scene/join_scene.h"

#include "tests/scene/access_scene.h"

#define SUBNET_FILE "C:\\run\\flannel\\subnet.env"
#define PEER_MAC "0a-58-0a-f4-01-00"

/* What flanneld does, and how the API server answers about Nodes. */
struct flannel {
    struct run run;
    const char *mode;
    const char *peer_data; /* backend-data of node l1; NULL: it has no annotations */
    bool never_up, writes_nothing, may_not_list, interrupted;
    unsigned slow; /* sleeps until it is up, and again until it adds its routes */
    unsigned slept;
    bool up;
};

static bool is_overlay(const struct flannel *f) {
    return text_equal(f->mode, "overlay");
}

static void annotate(const struct flannel *f, json_t *node, const char *data, const char *ip) {
    json_t *metadata = json_object_get(node, "metadata");

    json_object_set_new(metadata, "annotations",
                        json_pack("{s:s, s:s, s:s, s:s}", "flannel.alpha.coreos.com/backend-data",
                                  data, "flannel.alpha.coreos.com/backend-type",
                                  is_overlay(f) ? "vxlan" : "host-gw",
                                  "flannel.alpha.coreos.com/public-ip", ip,
                                  "flannel.alpha.coreos.com/kube-subnet-manager", "true"));
}

static json_t *peer(const struct flannel *f) {
    json_t *node = json_pack("{s:s, s:{s:s}, s:{s:s}, s:{s:[{s:s, s:s}]}}", "kind", "Node",
                             "metadata", "name", "l1", "spec", "podCIDR", "10.244.1.0/24", "status",
                             "addresses", "type", "InternalIP", "address", "10.0.0.31");

    if (f->peer_data)
        annotate(f, node, f->peer_data, "10.0.0.31");
    return node;
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct flannel *f = context;
    json_t *list, *node;

    if (!strstr(request->url, "/api/v1/nodes") || strstr(request->url, "/api/v1/nodes/") ||
        strstr(request->url, "watch=") || strstr(request->url, "fieldSelector") ||
        !request->client_key_pem)
        return scene_answer(&f->run.scene, request, ret, err);
    if (f->may_not_list)
        return scene_status(ret, 403, "Forbidden");
    node = scene_node(&f->run.scene);
    if (f->up && node)
        annotate(f, node, "{\"VNI\":4096,\"VtepMAC\":\"00:15:5d:01:02:03\"}", "10.0.0.21");
    list = scene_list("NodeList", node);
    json_array_append_new(json_object_get(list, "items"), peer(f));
    ret->retry_after = -1;
    return scene_json(ret, 200, list);
}

static void add_route(const struct flannel *f, struct host *host) {
    const struct network_peer remote = {
        .pod_cidr = "10.244.1.0/24", .address = "10.0.0.31", .router_mac = PEER_MAC};
    char name[] = "flannel.4096";
    const struct network_plan plan = {.name = name, .vni = 4096};
    struct host_route route = {.destination = "10.244.1.0/24", .next_hop = "10.0.0.31"};
    struct host_adapters adapters = {0};
    struct error ignored = {0}; /* it tries again */

    if (is_overlay(f)) {
        _cleanup_json_ json_t *routes = json_pack("[o]", remote_subnet_to(&plan, &remote));
        (void)remote_subnets_write(host, &plan, routes, true, &ignored);
        return;
    }
    (void)host_adapters(host, &adapters, &ignored);
    for (size_t i = 0; i < adapters.count; i++)
        if (text_list_has(&adapters.items[i].addresses, "10.0.0.21/24"))
            route.interface_index = adapters.items[i].index;
    host_adapters_free(&adapters);
    (void)host_route_add(host, &route, &ignored); /* there already, mostly */
}

static void on_sleep(void *context, struct host *host) {
    static const char text[] = "FLANNEL_SUBNET=10.244.3.1/24\n";
    struct flannel *f = context;

    scene_on_sleep(&f->run.scene, host);
    if (!scene_runs(&f->run.scene, "flanneld")) {
        f->slept = 0;
        f->up = false;
        return;
    }
    f->slept++;
    if (f->slept > f->slow && !f->never_up && !f->up) {
        f->up = host_write(host, SUBNET_FILE, text, strlen(text), HOST_PUBLIC, NULL) == 0;
    }
    if (f->up && f->slept > 2 * f->slow && !f->writes_nothing)
        add_route(f, host);
    if (f->up && f->interrupted && f->slept > 2 * f->slow + 3)
        host_memory_interrupt(host);
}

static void open_flannel(struct flannel *f, const char *mode) {
    static const char *const data[] = {"{\"VNI\":4096,\"VtepMAC\":\"0a:58:0a:f4:01:00\"}", "null"};

    *f = (struct flannel){.mode = mode, .peer_data = data[text_equal(mode, "l2bridge")]};
    open_run(&f->run, mode);
    http_free(f->run.http);
    f->run.http = http_memory_new(answer, f);
    host_memory_on_sleep(f->run.host, on_sleep, f);
    assert_int_equal(host_write(f->run.host, "C:\\k\\flanneld.exe", "MZ", 2, HOST_PUBLIC, NULL), 0);
    f->run.options.network_plugin = xstrdup("flannel");
    host_memory_check_access(f->run.host);
}

static void close_flannel(struct flannel *f) {
    assert_no_openings(f->run.host, "flannel");
    close_run(&f->run);
}

static void want_flannel(struct flannel *f) {
    set_options(&f->run, f->mode);
    f->run.options.network_plugin = xstrdup("flannel");
}

/* What the phase said: its detail, and every warning of the join. */
struct said {
    char *detail;
    char *warnings;
};

static void said_free(struct said *said) {
    free(said->detail);
    free(said->warnings);
}

static int join_flannel(struct flannel *f, struct said *ret, struct error *err) {
    struct join join = {.host = f->run.host, .http = f->run.http, .asked = &f->run.options};
    int result = join_open(&join, err);

    if (result == 0)
        result = join_run(&join, err);
    for (size_t i = 0; join_phases[i].id; i++)
        if (text_equal(join_phases[i].id, "flanneld"))
            ret->detail =
                xstrdup(join.progress.results[i].detail ? join.progress.results[i].detail : "");
    ret->warnings = text_list_join(&join.progress.warnings, "\n");
    join_close(&join);
    return result;
}

static void assert_joins(struct flannel *f, const char *detail, const char *warning) {
    _cleanup_(said_free) struct said said = {0};
    struct error err = {0};

    if (join_flannel(f, &said, &err) < 0)
        fail_msg("%s: %s", f->mode, err.message);
    assert_string_equal(said.detail, detail);
    if (warning)
        assert_non_null(strstr(said.warnings, warning));
    else
        assert_null(strstr(said.warnings, "flanneld"));
}

static const char *const modes[] = {"overlay", "l2bridge"};
static const char *const details[] = {"running, vxlan; routes to 1 of 1 other node",
                                      "running, host-gw; routes to 1 of 1 other node"};

/* ---- it comes up ---- */

static void the_routes_are_waited_for(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        for (unsigned slow = 0; slow < 60; slow += 20) {
            struct flannel f;
            json_t *before, *after;

            open_flannel(&f, modes[i]);
            before = state_of(&f.run);
            f.slow = slow;
            assert_joins(&f, details[i], NULL);
            add_route(&f, f.run.host); /* flanneld goes on while reset runs */
            assert_int_equal(reset_once(&f.run, NULL), 0);
            after = state_of(&f.run);
            json_object_del(before, "routes"); /* flanneld's own, until it goes with the adapter */
            json_object_del(after, "routes");
            assert_same(before, after, modes[i]);
            json_decref(before);
            json_decref(after);
            close_flannel(&f);
        }
    }
}

/* Its settings and its identity are on the node before it starts. */
static void its_files_are_written(void **state) {
    struct flannel f;
    _cleanup_(freep) char *conf = NULL, *kubeconfig = NULL;
    size_t len;

    (void)state;
    open_flannel(&f, "overlay");
    assert_joins(&f, details[0], NULL);
    assert_int_equal(
        host_read(f.run.host, "C:\\etc\\kube-flannel\\net-conf.json", 4096, &conf, &len, NULL), 0);
    assert_non_null(strstr(conf, "\"VNI\": 4096"));
    assert_int_equal(
        host_read(f.run.host, "C:\\k\\flanneld.kubeconfig", 65536, &kubeconfig, &len, NULL), 0);
    assert_non_null(strstr(kubeconfig, "flannel"));
    close_flannel(&f);
}

static size_t routes_to_peer(struct host *host) {
    _cleanup_(host_routes_free) struct host_routes routes = {0};
    size_t count = 0;

    assert_int_equal(host_routes(host, &routes, NULL), 0);
    for (size_t i = 0; i < routes.count; i++)
        count += text_equal(routes.items[i].destination, "10.244.1.0/24") &&
                 text_equal(routes.items[i].next_hop, "10.0.0.31");
    return count;
}

/* Without it the join writes the routes itself, and reset takes them away again. */
static void without_it_the_join_writes_the_routes(void **state) {
    _cleanup_(said_free) struct said said = {0};
    struct journal journal = {0};
    struct error err = {0};
    struct flannel f;

    (void)state;
    open_flannel(&f, "l2bridge");
    free(f.run.options.network_plugin);
    f.run.options.network_plugin = xstrdup("win-bridge");
    f.writes_nothing = true;
    if (join_flannel(&f, &said, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(said.detail, "not needed by the plugin win-bridge");
    assert_int_equal(routes_to_peer(f.run.host), 1);
    assert_int_equal(journal_open(f.run.host, WINJOIN_FOLDER, &journal, &err), 0);
    assert_non_null(journal_find(&journal, JOURNAL_ROUTE, "10.244.1.0/24"));
    journal_close(&journal);
    assert_int_equal(reset_once(&f.run, NULL), 0);
    assert_int_equal(routes_to_peer(f.run.host), 0);
    close_flannel(&f);
}

static void a_second_join_believes_what_stands(void **state) {
    struct flannel f;
    json_t *first, *second;

    (void)state;
    open_flannel(&f, "overlay");
    assert_joins(&f, details[0], NULL);
    first = state_of(&f.run);
    want_flannel(&f);
    assert_joins(&f, details[0], NULL);
    second = state_of(&f.run);
    assert_same(first, second, "second join");
    json_decref(first);
    json_decref(second);
    close_flannel(&f);
}

/* HNS refused winjoin after a restart of Windows, and flanneld made the network. */
static void reset_takes_the_network_that_it_made(void **state) {
    static const char name[] = "flannel.4096";
    _cleanup_(freep) char *properties = NULL, *text = NULL;
    _cleanup_json_ json_t *document = NULL;
    struct hcn_network found;
    struct flannel f;

    (void)state;
    open_flannel(&f, "overlay");
    assert_joins(&f, details[0], NULL);
    assert_int_equal(hcn_network_find_json(f.run.host, name, &found, &document, NULL), 0);
    json_object_set_new(document, "Owner", json_string("flanneld"));
    json_object_del(document, "ID");
    text = json_write(document);
    assert_int_equal(hcn_network_remove(f.run.host, name, false, NULL, NULL), 0);
    assert_int_equal(hcn_create(f.run.host, HCN_NETWORK, NULL, NULL, text, &properties, NULL), 0);
    assert_int_equal(hcn_network_find(f.run.host, name, &found, NULL), 0);
    assert_int_equal(reset_once(&f.run, NULL), 0);
    assert_int_equal(hcn_network_find(f.run.host, name, &found, NULL), -1);
    close_flannel(&f);
}

/* Nodes that it passes over, rightly: of another VNI, not published yet, without flannel. */
static void not_every_node_is_waited_for(void **state) {
    static const char *const data[] = {"{\"VNI\":1,\"VtepMAC\":\"0a:58:0a:f4:01:00\"}",
                                       "{\"VNI\":4096,\"VtepMAC\":\"\"}", "no JSON", NULL};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(data); i++) {
        struct flannel f;

        open_flannel(&f, "overlay");
        f.peer_data = data[i];
        f.writes_nothing = true;
        assert_joins(&f, "running, vxlan; routes to 0 of 0 other nodes", NULL);
        close_flannel(&f);
    }
}

/* Whether flows suffer is for the proof to say. */
static void a_way_that_never_comes_is_warned_of(void **state) {
    static const char *const warnings[] = {
        "flanneld has not added every route: no RemoteSubnetRoute for 10.244.1.0/24 (node l1)",
        "flanneld has not added every route: no route to 10.244.1.0/24 via 10.0.0.31 (node l1)"};
    static const char *const none[] = {"running, vxlan; routes to 0 of 1 other node",
                                       "running, host-gw; routes to 0 of 1 other node"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        struct flannel f;

        open_flannel(&f, modes[i]);
        f.writes_nothing = true;
        assert_joins(&f, none[i], warnings[i]);
        close_flannel(&f);
    }
}

static void one_that_may_not_list_nodes_is_warned_of(void **state) {
    struct flannel f;

    (void)state;
    open_flannel(&f, "overlay");
    f.may_not_list = true;
    assert_joins(&f, "running, vxlan", "this node is not allowed to list Nodes");
    close_flannel(&f);
}

/* ---- it does not ---- */

static void an_interrupted_wait_for_routes_ends_the_join(void **state) {
    struct error err = {0};
    struct flannel f;

    (void)state;
    open_flannel(&f, "overlay");
    f.writes_nothing = f.interrupted = true;
    assert_int_equal(join_once(&f.run, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    if (!strstr(err.message, "waiting for flanneld's routes"))
        fail_msg("%s", err.message);
    close_flannel(&f);
}

static void one_that_ends_once_is_started_again(void **state) {
    struct flannel f;

    (void)state;
    open_flannel(&f, "overlay");
    host_memory_end_service_starts(f.run.host, "flanneld", 1);
    assert_joins(&f, details[0],
                 "flanneld ended with exit code 1: restarted after 5 s (its log: "
                 "C:\\var\\log\\flanneld)");
    close_flannel(&f);
}

static void assert_fails(struct flannel *f, enum error_kind kind, const char *message,
                         const char *hint) {
    _cleanup_(said_free) struct said said = {0};
    struct error err = {0};

    assert_int_equal(join_flannel(f, &said, &err), -1);
    assert_string_equal(err.message, message);
    assert_int_equal(err.kind, kind);
    assert_non_null(strstr(err.hints[0], hint));
}

/* A file of an earlier life of flanneld is not a sign of this one's, and comes back with a reset.
 */
static void one_that_never_comes_up_is_told(void **state) {
    (void)state;
    for (int earlier = 0; earlier < 2; earlier++) {
        struct flannel f;
        json_t *before, *after;

        open_flannel(&f, "overlay");
        if (earlier)
            assert_int_equal(host_write(f.run.host, SUBNET_FILE, "old", 3, HOST_PUBLIC, NULL), 0);
        host_memory_check_access(f.run.host);
        before = state_of(&f.run);
        f.never_up = true;
        assert_fails(&f, ERROR_TIMED_OUT,
                     "wait for flanneld: it runs but has not registered this node after 90 s",
                     "its log: C:\\var\\log\\flanneld\\flanneld.log");
        assert_int_equal(reset_once(&f.run, NULL), 0);
        after = state_of(&f.run);
        assert_same(before, after, "never up");
        json_decref(before);
        json_decref(after);
        close_flannel(&f);
    }
}

static void one_without_rights_is_told(void **state) {
    struct flannel f;

    (void)state;
    open_flannel(&f, "overlay");
    f.never_up = f.may_not_list = true;
    assert_fails(&f, ERROR_DENIED,
                 "wait for flanneld: GET /api/v1/nodes?limit=1: Forbidden (403 Forbidden)",
                 "winjoin config cluster");
    close_flannel(&f);
}

static void one_that_always_ends_is_told(void **state) {
    struct flannel f;

    (void)state;
    open_flannel(&f, "overlay");
    host_memory_end_service_starts(f.run.host, "flanneld", 1000);
    assert_fails(&f, ERROR_HOST,
                 "keep flanneld running: it ended 4 times, the last time with exit code 1",
                 "its log: C:\\var\\log\\flanneld\\flanneld.log");
    close_flannel(&f);
}

/* ---- every call of the phase fails once ---- */

static void phase_alone(struct flannel *f) {
    struct join join = {.host = f->run.host, .http = f->run.http, .asked = &f->run.options};
    struct error err = {0};

    if (join_open(&join, &err) == 0)
        (void)join_run_phase(&join, "flanneld", &err); /* some calls may fail without harm */
    join_close(&join);
}

static bool fails_once(size_t n) {
    struct error err = {0};
    struct flannel f;
    json_t *before, *after;
    size_t calls;
    bool reached;

    open_flannel(&f, "overlay");
    before = state_of(&f.run);
    text_list_add(&f.run.options.skip_phases, "flanneld");
    assert_int_equal(join_once(&f.run, &err), 0);
    want_flannel(&f);
    calls = host_memory_calls(f.run.host);
    host_memory_fail(f.run.host, n);
    phase_alone(&f);
    reached = host_memory_calls(f.run.host) - calls >= n;
    host_memory_fail(f.run.host, 0);
    want_flannel(&f);
    assert_joins(&f, details[0], NULL);
    assert_int_equal(reset_once(&f.run, NULL), 0);
    after = state_of(&f.run);
    assert_same(before, after, "a call failed");
    json_decref(before);
    json_decref(after);
    close_flannel(&f);
    return reached;
}

static void every_call_fails_once(void **state) {
    size_t n = 1;

    (void)state;
    while (fails_once(n))
        n += next_call();
    assert_true(n > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_routes_are_waited_for),
        cmocka_unit_test(its_files_are_written),
        cmocka_unit_test(without_it_the_join_writes_the_routes),
        cmocka_unit_test(a_second_join_believes_what_stands),
        cmocka_unit_test(reset_takes_the_network_that_it_made),
        cmocka_unit_test(not_every_node_is_waited_for),
        cmocka_unit_test(a_way_that_never_comes_is_warned_of),
        cmocka_unit_test(one_that_may_not_list_nodes_is_warned_of),
        cmocka_unit_test(an_interrupted_wait_for_routes_ends_the_join),
        cmocka_unit_test(one_that_ends_once_is_started_again),
        cmocka_unit_test(one_that_never_comes_up_is_told),
        cmocka_unit_test(one_without_rights_is_told),
        cmocka_unit_test(one_that_always_ends_is_told),
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
