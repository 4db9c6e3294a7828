/* The cluster's ConfigMaps: what is read, what is tolerated, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/configuration/cluster_config.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

#define CLUSTER                                                                                    \
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: blue\n"          \
    "kubernetesVersion: v1.37.1\n"                                                                 \
    "networking:\n  dnsDomain: c.example\n  podSubnet: 10.244.0.0/16,fd00:1::/56\n"                \
    "  serviceSubnet: 10.96.0.0/12\n"
#define KUBELET "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

/* What the server holds: path's end -> data key and value; absent ones answer `status`. */
struct held {
    const char *path, *key, *value;
};
struct scene {
    struct host *host;
    struct http *http;
    struct kube_client client;
    const struct held *held;
    size_t count;
    long status;
    const char *version; /* of /version; NULL: as `status` */
    struct cluster_config config;
    struct error err;
};

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct scene *s = context;
    _cleanup_json_ json_t *map = NULL;

    (void)err;
    ret->status = s->status;
    for (size_t i = 0; i < s->count; i++) {
        if (!text_ends_with(request->url, s->held[i].path))
            continue;
        ret->status = 200;
        map = json_pack("{s:{s:s}}", "data", s->held[i].key, s->held[i].value);
    }
    if (text_ends_with(request->url, "/version") && s->version) {
        ret->status = 200;
        map = json_pack("{s:s}", "gitVersion", s->version);
    }
    ret->body = map ? json_write(map) : xstrdup("{\"message\":\"no\"}");
    ret->body_len = strlen(ret->body);
    return 0;
}

static int setup(void **state) {
    struct scene *s = xcalloc(1, sizeof *s);
    struct kubeconfig config = {
        .server = (char *)"https://k", .ca_pem = (char *)"CA", .token = (char *)"t"};

    s->host = host_memory_new();
    s->http = http_memory_new(answer, s);
    s->status = 404;
    assert_int_equal(kube_client_open(s->http, s->host, &config, &s->client, NULL), 0);
    *state = s;
    return 0;
}

static int teardown(void **state) {
    struct scene *s = *state;

    cluster_config_free(&s->config);
    kube_client_close(&s->client);
    http_free(s->http);
    host_free(s->host);
    free(s);
    return 0;
}

#define HOLD(s, ...)                                                                               \
    do {                                                                                           \
        static const struct held held_[] = {__VA_ARGS__};                                          \
        (s)->held = held_;                                                                         \
        (s)->count = ARRAY_SIZE(held_);                                                            \
        cluster_config_free(&(s)->config);                                                         \
        error_clear(&(s)->err);                                                                    \
    } while (0)

static int read_it(struct scene *s) {
    return cluster_config_read(&s->client, 3000, NULL, &s->config, &s->err);
}

static void reads_everything(void **state) {
    struct scene *s = *state;
    const struct cluster_config *c = &s->config;

    HOLD(s, {"/kube-system/configmaps/kubeadm-config", "ClusterConfiguration", CLUSTER},
         {"/kube-system/configmaps/kubelet-config", "kubelet", KUBELET "clusterDNS: [10.96.0.77]"},
         {"/kube-flannel/configmaps/kube-flannel-cfg", "net-conf.json",
          "{\"Network\":\"10.244.0.0/"
          "16\",\"Backend\":{\"Type\":\"vxlan\",\"VNI\":4096,\"Port\":4789}}"},
         {"/kube-system/configmaps/winjoin", "NodeConfiguration",
          "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nnetwork: {mode: overlay}"});
    assert_int_equal(read_it(s), 0);
    assert_string_equal(c->name, "blue");
    assert_string_equal(c->kubernetes_version, "v1.37.1");
    assert_string_equal(c->dns_domain, "c.example");
    assert_int_equal(c->pod_subnets.count, 2);
    assert_string_equal(c->pod_subnets.items[1], "fd00:1::/56");
    assert_string_equal(c->service_subnets.items[0], "10.96.0.0/12");
    assert_string_equal(c->cluster_dns.items[0], "10.96.0.77");
    assert_ptr_equal(c->network.agent, &network_agent_flannel);
    assert_string_equal(c->network.source->name_space, "kube-flannel");
    assert_int_equal(c->network.vni, 4096);
    assert_int_equal(c->network.vxlan_port, 4789);
    assert_string_equal(json_text_at(c->winjoin, "network.mode"), "overlay");
    assert_int_equal(c->warnings.count, 0);
    assert_int_equal(s->err.kind, ERROR_NONE);
}

static void tolerates_what_is_optional(void **state) {
    struct scene *s = *state;

    HOLD(s,
         {"/kubeadm-config", "ClusterConfiguration",
          "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\n"
          "kubernetesVersion: v1.30.2\nnetworking: {serviceSubnet: 10.96.0.0/12}\n"},
         {"/kubelet-config", "kubelet", KUBELET});
    s->status = 403;
    assert_int_equal(read_it(s), 0);
    assert_string_equal(s->config.name, "kubernetes");
    assert_string_equal(s->config.dns_domain, "cluster.local");
    assert_string_equal(s->config.cluster_dns.items[0], "10.96.0.10");
    assert_int_equal(s->config.pod_subnets.count, 0);
    assert_null(s->config.winjoin);
    assert_null(s->config.network.agent);
    assert_true(s->config.unprepared);
    assert_int_equal(s->config.warnings.count, 0);
    /* kubeadm's two and winjoin: flannel's two are not asked for then */
    assert_int_equal(http_memory_requests(s->http), 3);
}

/* kubeadm init without --pod-network-cidr: the network's agent knows the pods' prefixes. */
static void takes_the_prefixes_of_flannel(void **state) {
    static const struct {
        const char *net_conf, *prefixes;
    } rows[] = {
        {"{\"Network\":\"10.9.0.0/16\",\"Backend\":{\"Type\":\"vxlan\"}}", "10.9.0.0/16"},
        {"{\"Network\":\"10.9.0.0/16\",\"IPv6Network\":\"fd00:9::/56\"}", "10.9.0.0/16"},
        {"{\"Network\":\"10.9.0.0/16\",\"IPv6Network\":\"fd00:9::/56\",\"EnableIPv6\":true}",
         "10.9.0.0/16 fd00:9::/56"},
        {"{\"Network\":\"10.9.0.0/16\",\"IPv6Network\":\"fd00:9::/56\",\"EnableIPv6\":true,"
         "\"EnableIPv4\":false}",
         "fd00:9::/56"},
        {"{\"Network\":\"\"}", ""},
    };
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct held held[] = {
            {"/kubeadm-config", "ClusterConfiguration",
             "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: "
             "v1.37.1\nnetworking: {serviceSubnet: 10.96.0.0/12}\n"},
            {"/kubelet-config", "kubelet", KUBELET},
            {"/kube-flannel/configmaps/kube-flannel-cfg", "net-conf.json", rows[i].net_conf}};
        _cleanup_(freep) char *joined = NULL;

        cluster_config_free(&s->config);
        s->held = held;
        s->count = ARRAY_SIZE(held);
        assert_int_equal(read_it(s), 0);
        joined = text_list_join(&s->config.pod_subnets, " ");
        assert_string_equal(joined, rows[i].prefixes);
    }
}

/* Waiting does not help: somebody must correct the ConfigMap. */
static void names_a_broken_setting_of_flannel(void **state) {
    static const struct {
        const char *key, *net_conf, *why;
    } rows[] = {
        {"net-conf.json", "not JSON", "ConfigMap kube-flannel/kube-flannel-cfg: "},
        {"net-conf.json", "{\"Network\":\"10.9.0.0/16\",\"Backend\":{\"VNI\":\"4096\"}}",
         "Backend.VNI must be a number"},
        {"other.json", "{}",
         "ConfigMap kube-flannel/kube-flannel-cfg: it has no key net-conf.json"},
    };
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct held held[] = {
            {"/kubeadm-config", "ClusterConfiguration", CLUSTER},
            {"/kubelet-config", "kubelet", KUBELET},
            {"/kube-flannel/configmaps/kube-flannel-cfg", rows[i].key, rows[i].net_conf}};

        cluster_config_free(&s->config);
        s->held = held;
        s->count = ARRAY_SIZE(held);
        s->err = (struct error){0};
        assert_int_equal(read_it(s), -1);
        assert_int_equal(s->err.kind, ERROR_USAGE);
        assert_non_null(strstr(s->err.message, rows[i].why));
        assert_string_equal(s->err.hints[0],
                            "correct it: kubectl -n kube-flannel edit configmap kube-flannel-cfg");
    }
}

static void finds_the_older_names(void **state) {
    struct scene *s = *state;

    HOLD(s,
         {"/kubeadm-config", "ClusterConfiguration",
          "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nkubernetesVersion: "
          "v1.23.17\n"},
         {"/kubelet-config-1.23", "kubelet", KUBELET},
         {"/kube-system/configmaps/kube-flannel-cfg", "net-conf.json",
          "{\"Backend\":{\"Type\":\"Host-GW\"}}"});
    assert_int_equal(read_it(s), 0);
    assert_non_null(s->config.kubelet);
    assert_string_equal(s->config.network.source->name_space, "kube-system");
    assert_string_equal(s->config.network.backend, "host-gw");
    assert_int_equal(s->config.network.vni, 0);
}

static void needs_the_two_of_kubeadm(void **state) {
    struct scene *s = *state;

    HOLD(s, {"/kubelet-config", "kubelet", KUBELET});
    assert_int_equal(read_it(s), -1);
    assert_int_equal(s->err.kind, ERROR_ABSENT);
    assert_non_null(strstr(s->err.message, "get the kubeadm-config ConfigMap"));
    s->status = 403;
    assert_int_equal(read_it(s), -1);
    assert_int_equal(s->err.kind, ERROR_DENIED);
    assert_non_null(strstr(s->err.hints[0], "default-node-token"));
    HOLD(s, {"/kubeadm-config", "ClusterConfiguration", CLUSTER});
    assert_int_equal(read_it(s), -1);
    assert_int_equal(s->err.kind, ERROR_DENIED);
    assert_non_null(strstr(s->err.message, "get the kubelet-config ConfigMap"));
    assert_non_null(strstr(s->err.hints[0], "default-node-token"));
    s->status = 404; /* rights are not what is missing */
    HOLD(s, {"/kubeadm-config", "ClusterConfiguration", CLUSTER});
    assert_int_equal(read_it(s), -1);
    assert_int_equal(s->err.kind, ERROR_ABSENT);
    assert_non_null(strstr(s->err.hints[0], "kubeadm init phase upload-config all"));
    HOLD(s, {"/kubelet-config", "kubelet", KUBELET});
    assert_int_equal(read_it(s), -1);
    assert_null(strstr(s->err.message, "kubelet-config")); /* that one is there */
    assert_non_null(strstr(s->err.hints[0], "kubeadm init phase upload-config all"));
    HOLD(s, {"/kubeadm-config", "Other", CLUSTER});
    assert_int_equal(read_it(s), -1);
    assert_non_null(strstr(s->err.message, "ClusterConfiguration key value pair missing"));
    assert_non_null(strstr(s->err.hints[0], "kubeadm init phase upload-config all"));
    s->status = 500;
    HOLD(s, {"/kubeadm-config", "ClusterConfiguration", CLUSTER},
         {"/kubelet-config", "kubelet", KUBELET});
    assert_int_equal(read_it(s), -1); /* winjoin: neither there nor refused */
    assert_int_equal(s->err.kind, ERROR_NETWORK);
}

static void refuses_damaged_texts(void **state) {
    static const struct {
        const char *text;
        enum error_kind kind;
        const char *why;
    } rows[] = {
        {"", ERROR_MALFORMED, "it contains no ClusterConfiguration"},
        {"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta2\n", ERROR_UNSUPPORTED,
         "\"kubeadm.k8s.io/v1beta2\" is not"},
        {"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\nnetworking: {podSubnet: "
         "10.0.0.0/33}\n",
         ERROR_MALFORMED, "networking.podSubnet"},
        {"kind: [\n", ERROR_MALFORMED, "line 2"},
        {"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\nimageRepository: a'b\n",
         ERROR_MALFORMED, "test: imageRepository: 'a'b' is not a registry"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct cluster_config c = {0};
        struct error err = {0};

        assert_int_equal(cluster_config_parse(rows[i].text, "test", &c, &err), -1);
        assert_int_equal(err.kind, rows[i].kind);
        assert_non_null(strstr(err.message, rows[i].why));
    }
}

/* ---- odd inputs ---- */

#define V4                                                                                         \
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.1\n"
#define IN_CLUSTER "ConfigMap kube-system/kubeadm-config, key ClusterConfiguration: "
#define IN_KUBELET "ConfigMap kube-system/kubelet-config, key kubelet: "

/* NULL: what is there otherwise; `why` NULL: taken. */
static const struct {
    const char *cluster, *kubelet, *why;
} odd[] = {
    {V4 "future: {field: [1, 2]}\napiServer: 7\n", NULL, NULL},
    {"# made manually\n---\n" V4 "---\napiVersion: v1\nkind: Other\n", NULL, NULL},
    {V4 "networking: null\netcd: ~\n", NULL, NULL},
    {" ", NULL, IN_CLUSTER "it contains no ClusterConfiguration"},
    {"just text", NULL, IN_CLUSTER "it contains no ClusterConfiguration"},
    {"[1, 2]", NULL, IN_CLUSTER "it contains no ClusterConfiguration"},
    {"a: [\n", NULL, IN_CLUSTER "line 2 column"},
    {"a: \x01", NULL, IN_CLUSTER},
    {"a: &x 1\nb: *x\n", NULL, IN_CLUSTER "line 1"},
    {V4 V4, NULL, IN_CLUSTER "line 4"},
    {V4 "---\n" V4, NULL, IN_CLUSTER "line 5: kind \"ClusterConfiguration\" is specified twice"},
    {"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta5\n", NULL,
     IN_CLUSTER "apiVersion \"kubeadm.k8s.io/v1beta5\" is not kubeadm.k8s.io/v1beta4"},
    {"kind: ClusterConfiguration\n", NULL, IN_CLUSTER "apiVersion \"\" is not"},
    {V4 "networking: 10.0.0.0/8\n", NULL, IN_CLUSTER "line 4 column 13: networking: must be"},
    {V4 "networking: {podSubnet: [10.0.0.0/8]}\n", NULL, "networking.podSubnet: must be a string"},
    {V4 "networking: {serviceSubnet: 10.96.0.0}\n", NULL, IN_CLUSTER "networking.serviceSubnet: "},
    {V4 "networking: {dnsDomain: 5}\n", NULL, "networking.dnsDomain: must be a string"},
    {V4 "clusterName: 7\n", NULL, "line 4 column 14: clusterName: must be a string"},
    {"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\nkubernetesVersion: "
     "stable-1\n",
     NULL, IN_CLUSTER "kubernetesVersion \"stable-1\" is not a version"},
    {"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\nkubernetesVersion: 1.37\n",
     NULL, "kubernetesVersion: must be a string"},
    {NULL, KUBELET "future: 1\nmaxPods: many\n---\napiVersion: a/b\nkind: Other\n", NULL},
    {NULL, "", IN_KUBELET "it contains no KubeletConfiguration"},
    {NULL, "maxPods: 1\n", IN_KUBELET "it contains no KubeletConfiguration"},
    {NULL, "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1\n",
     IN_KUBELET "apiVersion \"kubelet.config.k8s.io/v1\" is not kubelet.config.k8s.io/v1beta1"},
    {NULL, KUBELET "---\n" KUBELET, IN_KUBELET "line 4: kind"},
    {NULL, KUBELET "healthzPort: many\n",
     IN_KUBELET "line 3 column 14: healthzPort: must be a 32-bit integer"},
    {NULL, KUBELET "staticPodPath: 5\n", "staticPodPath: must be a string"},
    {NULL, KUBELET "clusterDNS: 10.96.0.10\n", "clusterDNS: must be a list of strings"},
    {NULL, KUBELET "clusterDNS: [10]\n", "clusterDNS[0]: must be a string"},
    {NULL, KUBELET "maxPods: 1\nmaxPods: 2\n", IN_KUBELET "line 4"},
};

static void names_configmap_and_key_of_odd_inputs(void **state) {
    struct scene *s = *state;
    struct held held[] = {{"/kubeadm-config", "ClusterConfiguration", CLUSTER},
                          {"/kubelet-config", "kubelet", KUBELET}};

    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        int result;

        held[0].value = odd[i].cluster ? odd[i].cluster : CLUSTER;
        held[1].value = odd[i].kubelet ? odd[i].kubelet : KUBELET;
        s->held = held;
        s->count = ARRAY_SIZE(held);
        cluster_config_free(&s->config);
        error_clear(&s->err);
        result = read_it(s);
        if (odd[i].why ? result == 0 || !strstr(s->err.message, odd[i].why) : result < 0)
            fail_msg("row %zu: '%s'", i, s->err.message);
        if (result < 0 && s->err.kind != ERROR_MALFORMED)
            assert_int_equal(s->err.kind, ERROR_UNSUPPORTED);
    }
}

static void refuses_absent_keys(void **state) {
    struct scene *s = *state;

    HOLD(s, {"/kubeadm-config", "ClusterConfiguration", CLUSTER},
         {"/kubelet-config", "other", "x"});
    assert_int_equal(read_it(s), -1);
    assert_string_equal(s->err.message,
                        "unexpected error when reading kubelet-config ConfigMap in "
                        "namespace \"kube-system\": kubelet key value pair missing");
    HOLD(s, {"/kubeadm-config", "ClusterConfiguration", CLUSTER},
         {"/kubelet-config", "kubelet", KUBELET}, {"/winjoin", "other", "x"});
    assert_int_equal(read_it(s), -1);
    assert_int_equal(s->err.kind, ERROR_MALFORMED);
    assert_non_null(strstr(s->err.message, "winjoin ConfigMap"));
    HOLD(s, {"/kubeadm-config", "ClusterConfiguration", CLUSTER},
         {"/kubelet-config", "kubelet", KUBELET}, {"/winjoin", "NodeConfiguration", "a: ["});
    assert_int_equal(read_it(s), -1);
    assert_int_equal(s->err.kind, ERROR_USAGE); /* as any other mistake in it */
}

/* A share of another machine, above all: opening it would log on there. */
static void refuses_paths_of_the_machine(void **state) {
    static const char *const fields[] = {"bundle", "catalog", "lock"};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        _cleanup_(freep) char *text =
            xasprintf("apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\n"
                      "artifacts: {%s: '\\\\evil.example\\share\\x'}\n",
                      fields[i]);

        const struct held held[] = {{"/kubeadm-config", "ClusterConfiguration", CLUSTER},
                                    {"/kubelet-config", "kubelet", KUBELET},
                                    {"/winjoin", "NodeConfiguration", text}};

        s->held = held;
        s->count = ARRAY_SIZE(held);
        assert_int_equal(read_it(s), -1);
        assert_int_equal(s->err.kind, ERROR_USAGE);
        assert_non_null(strstr(s->err.message, fields[i]));
        assert_non_null(strstr(s->err.message, "the cluster may not choose one"));
        error_clear(&s->err);
        cluster_config_free(&s->config);
    }
}

static void takes_the_servers_version(void **state) {
    struct scene *s = *state;

    s->version = "v1.36.2";
    HOLD(s,
         {"/kubeadm-config", "ClusterConfiguration",
          "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
          "kubernetesVersion: stable\n"},
         {"/kubelet-config", "kubelet", KUBELET});
    assert_int_equal(read_it(s), 0);
    assert_string_equal(s->config.kubernetes_version, "v1.36.2");
    assert_string_equal(s->config.server_version, "v1.36.2");
    assert_int_equal(s->config.warnings.count, 1);
}

/* One that is alone has the version that kubeadm wrote last. */
static void several_servers_are_asked_for_theirs(void **state) {
    struct scene *s = *state;

    s->version = "v1.36.2";
    HOLD(s,
         {"/kubeadm-config", "ClusterConfiguration",
          "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
          "kubernetesVersion: v1.37.1\ncontrolPlaneEndpoint: api:6443\n"},
         {"/kubelet-config", "kubelet", KUBELET});
    assert_int_equal(read_it(s), 0);
    assert_string_equal(s->config.kubernetes_version, "v1.37.1");
    assert_string_equal(s->config.server_version, "v1.36.2");
    HOLD(s, {"/kubeadm-config", "ClusterConfiguration", CLUSTER},
         {"/kubelet-config", "kubelet", KUBELET});
    assert_int_equal(read_it(s), 0);
    assert_null(s->config.server_version);
}

/* What was had before is not asked for again, unless it is no ConfigMap. */
static void a_known_object_is_taken(void **state) {
    struct scene *s = *state;
    static const char cluster[] = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: "
                                  "ClusterConfiguration\nkubernetesVersion: v1.36.1\n";
    _cleanup_json_ json_t *known = json_pack("{s:{s:s}}", "data", "ClusterConfiguration", cluster);

    HOLD(s, {"/kubeadm-config", "ClusterConfiguration", CLUSTER},
         {"/kubelet-config", "kubelet", KUBELET});
    assert_int_equal(cluster_config_read(&s->client, 3000, known, &s->config, &s->err), 0);
    assert_string_equal(s->config.kubernetes_version, "v1.36.1");
    cluster_config_free(&s->config);
    json_object_set_new(known, "kind", json_string("Status"));
    assert_int_equal(cluster_config_read(&s->client, 3000, known, &s->config, &s->err), 0);
    assert_string_equal(s->config.kubernetes_version, "v1.37.1");
}

static void image_repositories(void **state) {
    static const char *const rows[][2] = {{"", NULL},
                                          {"registry.k8s.io", NULL},
                                          {"k8s.gcr.io", NULL},
                                          {"r.example:5000/k8s", "r.example:5000/k8s"},
                                          {"\"[fd00::1]:443/a_b-c\"", "[fd00::1]:443/a_b-c"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *yaml = xasprintf(V4 "imageRepository: %s\n", rows[i][0]);
        struct cluster_config config = {0};

        assert_int_equal(cluster_config_parse(yaml, "test", &config, NULL), 0);
        if (!text_equal(config.image_repository, rows[i][1]))
            fail_msg("%s: %s", yaml, config.image_repository);
        cluster_config_free(&config);
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_repositories),
        CASE(reads_everything),
        CASE(tolerates_what_is_optional),
        CASE(takes_the_prefixes_of_flannel),
        CASE(names_a_broken_setting_of_flannel),
        CASE(finds_the_older_names),
        CASE(needs_the_two_of_kubeadm),
        CASE(names_configmap_and_key_of_odd_inputs),
        CASE(refuses_absent_keys),
        CASE(refuses_paths_of_the_machine),
        CASE(takes_the_servers_version),
        CASE(several_servers_are_asked_for_theirs),
        CASE(a_known_object_is_taken),
        cmocka_unit_test(refuses_damaged_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
