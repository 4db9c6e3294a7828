/* The network that a service of the node makes, with hybrid-overlay-node and ovnkube played. */
#include "tests/scene/join_scene.h"
#include "netsetup/hns/hcn_network.h"
#include "tests/memory/http_memory.h"

#include "tests/scene/access_scene.h"

#define SUBNET "k8s.ovn.org/hybrid-overlay-node-subnet"
#define NETWORK "OVNKubernetesHybridOverlayNetwork"
#define SERVICE "hybrid-overlay-node"
/* O=system:ovn-nodes, CN=system:ovn-node:win-7k2 */
#define REQUEST                                                                                    \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIM01JR2ZBZ0VBTUQweEdUQVhCZ05WQkFvTUVI"     \
    "TjVjM1JsYlRwdmRtNHRibTlrWlhNeElEQWVCZ05WQkFNTQpGM041YzNSbGJUcHZkbTR0Ym05a1pUcDNhVzR0TjJz"     \
    "eU1Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERBUWNEClFnQUVXdVZLMFg2S3l2emxab3dtajlINU54ZFg1Nncw"     \
    "TGtObFFjb25qS0dsdU5jckZZM0Fsdzg2dVI2YVZmaFYKeDR2UW1aRVQ2RmorZEx0MGpQNlJNOVMzR2FBQU1Bb0dD"     \
    "Q3FHU000OUJBTUNBMGNBTUVRQ0lEZkhOcGZMbUY3UwovWXdMU2JmT1NrSTZSK1JqbTBNcWhWOWVOVXRFWHJaTkFp"     \
    "QngySWVGVWRRWUpUdnJHMmxaNld6alBibzNheGRXClpjeDFaOE5wY01HeHV3PT0KLS0tLS1FTkQgQ0VSVElGSUNB"     \
    "VEUgUkVRVUVTVC0tLS0tCg=="

struct ovn {
    struct run run;
    const char *subnet;   /* the annotation; NULL: ovnkube never writes it */
    const char *made_for; /* prefix of the network that the program makes */
    const char *twin;     /* machineID of another Node */
    const char *decision; /* of its certificate request: "Denied"; "" while pending */
    unsigned works_after; /* so many starts does it do nothing */
    unsigned starts;
    unsigned made_at; /* with which start the program made its networks; 0: not yet */
};

static json_t *request_json(const struct ovn *o) {
    json_t *status = json_object();

    if (*o->decision)
        json_object_set_new(status, "conditions",
                            json_pack("[{s:s, s:s, s:s, s:s}]", "type", o->decision, "status",
                                      "True", "reason", "No", "message", "not today"));
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s}, s:o}", "apiVersion",
                     "certificates.k8s.io/v1", "kind", "CertificateSigningRequest", "metadata",
                     "name", "csr-ovn1", "uid", "u2", "spec", "request", REQUEST, "signerName",
                     "kubernetes.io/kube-apiserver-client", "status", status);
}

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct ovn *o = context;
    json_t *node;

    ret->retry_after = -1;
    if (o->decision && scene_runs(&o->run.scene, SERVICE) &&
        strstr(request->url, "certificatesigningrequests"))
        return scene_json(ret, 200, scene_list("CertificateSigningRequestList", request_json(o)));
    if (!request->client_key_pem || strstr(request->url, "watch=") ||
        strstr(request->url, "fieldSelector") || !strstr(request->url, "/api/v1/nodes"))
        return scene_answer(&o->run.scene, request, ret, err);
    if (!strstr(request->url, "/api/v1/nodes/"))
        return scene_json(
            ret, 200,
            scene_list("NodeList",
                       o->twin ? json_pack("{s:{s:s}, s:{s:{s:s}}}", "metadata", "name", "other",
                                           "status", "nodeInfo", "machineID", o->twin)
                               : NULL));
    node = scene_node(&o->run.scene);
    if (!node)
        return scene_answer(&o->run.scene, request, ret, err);
    if (o->subnet)
        json_object_set_new(json_object_get(node, "metadata"), "annotations",
                            json_pack("{s:s}", SUBNET, o->subnet));
    return scene_json(ret, 200, node);
}

static void make(struct host *host, const char *name, const char *subnet, const char *gateway,
                 int vsid) {
    _cleanup_json_ json_t *json = json_pack(
        "{s:s, s:s, s:[{s:s, s:[{s:s, s:[{s:s, s:{s:i}}], s:[{s:s, s:s}]}]}], s:{s:i, s:i}}",
        "Name", name, "Type", "Overlay", "Ipams", "Type", "Static", "Subnets", "IpAddressPrefix",
        subnet, "Policies", "Type", "VSID", "Settings", "IsolationId", vsid, "Routes", "NextHop",
        gateway, "DestinationPrefix", "0.0.0.0/0", "SchemaVersion", "Major", 2, "Minor", 0);
    _cleanup_(freep) char *text = json_write(json), *properties = NULL;
    struct error err = {0};
    struct hcn_network made;

    if (hcn_create(host, HCN_NETWORK, NULL, NULL, text, &properties, &err) < 0 &&
        hcn_network_find(host, name, &made, NULL) < 0 &&
        hcn_create(host, HCN_NETWORK, NULL, NULL, text, &properties, &err) < 0) /* told to fail */
        fail_msg("%s", err.message);
}

/* What the program does: base network, then the one for the pods. */
static void on_sleep(void *context, struct host *host) {
    static const char start[] = "service_start " SERVICE "\n";
    struct ovn *o = context;

    scene_on_sleep(&o->run.scene, host);
    if (!scene_runs(&o->run.scene, SERVICE) || o->made_at || o->decision)
        return;
    o->starts = 0;
    for (const char *at = host_memory_log(host); (at = strstr(at, start)); at++)
        o->starts++;
    if (o->starts <= o->works_after)
        return;
    make(host, "Base" NETWORK, "100.64.0.0/30", "100.64.0.2", 4098);
    make(host, NETWORK, o->made_for, "10.244.77.1", 4097);
    o->made_at = o->starts;
}

static void open_ovn(struct ovn *o) {
    *o = (struct ovn){.subnet = "10.244.77.0/24", .made_for = "10.244.77.0/24"};
    open_run(&o->run, "overlay");
    http_free(o->run.http);
    o->run.http = http_memory_new(answer, o);
    host_memory_on_sleep(o->run.host, on_sleep, o);
    assert_int_equal(
        host_write(o->run.host, "C:\\k\\hybrid-overlay-node.exe", "MZ", 2, HOST_PUBLIC, NULL), 0);
    o->run.options.network_plugin = xstrdup("ovn-kubernetes");
    host_memory_check_access(o->run.host);
}

static void close_ovn(struct ovn *o) {
    assert_no_openings(o->run.host, "ovn");
    close_run(&o->run);
}

static void fails(struct ovn *o, enum error_kind kind, const char *says, const char *hint) {
    struct error err = {0};
    bool hinted = !hint;

    assert_int_equal(join_once(&o->run, &err), -1);
    if (!strstr(err.message, says))
        fail_msg("'%s' does not say '%s'", err.message, says);
    assert_int_equal(err.kind, kind);
    for (size_t i = 0; hint && i < ERROR_HINTS_MAX && err.hints[i][0]; i++)
        hinted |= strstr(err.hints[i], hint) != NULL;
    assert_true(hinted);
    close_ovn(o);
}

static void joins(struct ovn *o) {
    struct error err = {0};

    if (join_once(&o->run, &err) < 0)
        fail_msg("%s; %s", err.message, err.hints[0]);
}

static char *file_of(struct ovn *o, const char *path) {
    char *text = NULL;
    size_t len;

    assert_int_equal(host_read(o->run.host, path, 65536, &text, &len, NULL), 0);
    return text;
}

static void it_stands_and_goes_again(void **state) {
    _cleanup_(freep) char *cni = NULL, *proxy = NULL, *again = NULL, *vip = NULL;
    json_t *before, *after;
    struct error err = {0};
    struct ovn o;

    (void)state;
    open_ovn(&o);
    before = state_of(&o.run);
    joins(&o);
    cni = file_of(&o, "C:\\etc\\cni\\net.d\\10-winjoin.conf");
    assert_non_null(strstr(cni, "10.244.77.0/24"));
    assert_non_null(strstr(cni, "\"Exceptions\": [\n            \"10.96.0.0/12\"\n          ]"));
    proxy = file_of(&o, "C:\\k\\kube-proxy.conf");
    assert_non_null(strstr(proxy, "sourceVip: 10.244.77.2"));
    assert_non_null(strstr(proxy, "clusterCIDR: 10.244.77.0/24"));
    vip = file_of(&o, "C:\\var\\lib\\cni\\networks\\" NETWORK "\\10.244.77.2");
    assert_string_equal(vip, "winjoin\r\nsource-vip");
    assert_int_equal(o.made_at, 1);
    set_options(&o.run, "overlay");
    o.run.options.network_plugin = xstrdup("ovn-kubernetes");
    joins(&o);
    again = file_of(&o, "C:\\k\\kube-proxy.conf");
    assert_string_equal(again, proxy);
    if (reset_once(&o.run, &err) < 0)
        fail_msg("%s", err.message);
    after = state_of(&o.run);
    assert_same(before, after, "after reset");
    json_decref(before);
    json_decref(after);
    close_ovn(&o);
}

/* A program that was started too early does nothing for ever: a new start heals that. */
static void it_is_started_again(void **state) {
    struct ovn o;

    (void)state;
    open_ovn(&o);
    o.works_after = 2;
    joins(&o);
    assert_int_equal(o.made_at, 3);
    close_ovn(&o);
    open_ovn(&o);
    o.works_after = 3;
    fails(&o, ERROR_TIMED_OUT, "has not made HNS network '" NETWORK "' after 3 starts", "its log");
}

/* A phase by itself waits for no subnet; who would write it is named. */
static void a_node_without_a_subnet(void **state) {
    struct error err = {0};
    struct join join;
    struct ovn o;

    (void)state;
    open_ovn(&o);
    joins(&o);
    o.subnet = NULL;
    set_options(&o.run, "overlay");
    o.run.options.network_plugin = xstrdup("ovn-kubernetes");
    open_join(&o.run, &join);
    assert_int_equal(join_need(&join, NEED_NODE | NEED_PLAN, &err), -1);
    assert_int_equal(err.kind, ERROR_ABSENT);
    assert_non_null(strstr(err.message, "annotation " SUBNET " of node 'win-7k2': it has none"));
    assert_non_null(strstr(err.hints[0], "it is written by "));
    assert_int_equal(join.found.plan.vni, 4097); /* that of every OVN-Kubernetes */
    join_close(&join);
    close_ovn(&o);
}

static void what_it_waits_for(void **state) {
    struct ovn o;

    (void)state;
    open_ovn(&o);
    o.subnet = NULL;
    fails(&o, ERROR_TIMED_OUT, "annotation " SUBNET, "ovnkube");
    open_ovn(&o);
    o.decision = "";
    fails(&o, ERROR_TIMED_OUT, "csr-ovn1 of " SERVICE " is pending",
          "kubectl certificate approve csr-ovn1");
    open_ovn(&o);
    o.decision = "Denied";
    fails(&o, ERROR_DENIED, "\"csr-ovn1\" is denied", "kubectl delete csr csr-ovn1");
}

static void another_has_this_name(void **state) {
    struct ovn o;

    (void)state;
    open_ovn(&o);
    o.twin = "WIN-7K2";
    fails(&o, ERROR_CONFLICT, "node 'other' has this machine's host name", "Rename-Computer");
    open_ovn(&o);
    o.twin = "WIN-7K3";
    joins(&o);
    close_ovn(&o);
}

/* One call of a join fails; the same command again finishes, and reset gives the host back. */
static bool torture_once(size_t n) {
    struct error err = {0};
    json_t *before, *after;
    struct ovn o;
    char when[64];
    size_t calls;
    bool reached;

    open_ovn(&o);
    before = state_of(&o.run);
    (void)text_format(when, sizeof when, "call %u failed", (unsigned)n);
    calls = host_memory_calls(o.run.host);
    host_memory_fail(o.run.host, n);
    (void)join_once(&o.run, &err); /* some calls may fail without harm */
    reached = host_memory_calls(o.run.host) - calls >= n;
    host_memory_fail(o.run.host, 0);
    error_clear(&err);
    set_options(&o.run, "overlay");
    o.run.options.network_plugin = xstrdup("ovn-kubernetes");
    if (join_once(&o.run, &err) < 0)
        fail_msg("%s: the same join again: %s", when, err.message);
    if (reset_once(&o.run, &err) < 0)
        fail_msg("%s: reset: %s", when, err.message);
    after = state_of(&o.run);
    assert_same(before, after, when);
    json_decref(before);
    json_decref(after);
    close_ovn(&o);
    return reached;
}

static void every_call_fails_once(void **state) {
    size_t n = 1;

    (void)state;
    tells_nothing = true;
    while (torture_once(n))
        n += 4 * next_call();
    assert_true(n > 100);
    tells_nothing = false;
}

static void users_add_nothing_where_others_made_folders(void **state) {
    struct error err = {0};
    struct ovn o;

    (void)state;
    open_ovn(&o);
    put_found_folders(o.run.host);
    host_memory_check_access(o.run.host);
    tells_nothing = true;
    if (join_once(&o.run, &err) < 0)
        fail_msg("%s", err.message);
    tells_nothing = false;
    close_ovn(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stands_and_goes_again),
        cmocka_unit_test(it_is_started_again),
        cmocka_unit_test(a_node_without_a_subnet),
        cmocka_unit_test(what_it_waits_for),
        cmocka_unit_test(another_has_this_name),
        cmocka_unit_test(every_call_fails_once),
        cmocka_unit_test(users_add_nothing_where_others_made_folders),
        cmocka_unit_test(what_was_told_is_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
