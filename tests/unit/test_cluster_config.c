/* The cluster's ConfigMaps: what is read, what is tolerated, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "host/host_memory.h"
#include "join/cluster_config.h"

#define CLUSTER                                                                                    \
    "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: blue\n"          \
    "kubernetesVersion: v1.37.1\ncontrolPlaneEndpoint: api:6443\nimageRepository: r.example\n"     \
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
    return cluster_config_read(&s->client, 3000, &s->config, &s->err);
}

static void reads_everything(void **state) {
    struct scene *s = *state;
    const struct cluster_config *c = &s->config;

    HOLD(s, {"/kube-system/configmaps/kubeadm-config", "ClusterConfiguration", CLUSTER},
         {"/kube-system/configmaps/kubelet-config", "kubelet", KUBELET "clusterDNS: [10.96.0.77]"},
         {"/kube-system/configmaps/kube-proxy", "config.conf", "mode: iptables"},
         {"/kube-flannel/configmaps/kube-flannel-cfg", "net-conf.json",
          "{\"Network\":\"10.244.0.0/"
          "16\",\"Backend\":{\"Type\":\"vxlan\",\"VNI\":4096,\"Port\":4789}}"},
         {"/kube-system/configmaps/winjoin", "NodeConfiguration",
          "apiVersion: winjoin.io/v1alpha1\nkind: NodeConfiguration\nnetwork: {mode: overlay}"});
    assert_int_equal(read_it(s), 0);
    assert_string_equal(c->name, "blue");
    assert_string_equal(c->kubernetes_version, "v1.37.1");
    assert_string_equal(c->control_plane_endpoint, "api:6443");
    assert_string_equal(c->image_repository, "r.example");
    assert_string_equal(c->dns_domain, "c.example");
    assert_int_equal(c->pod_subnets.count, 2);
    assert_string_equal(c->pod_subnets.items[1], "fd00:1::/56");
    assert_string_equal(c->service_subnets.items[0], "10.96.0.0/12");
    assert_string_equal(c->cluster_dns.items[0], "10.96.0.77");
    assert_string_equal(json_text_at(c->kube_proxy, "mode"), "iptables");
    assert_true(c->flannel.present);
    assert_string_equal(c->flannel.name_space, "kube-flannel");
    assert_string_equal(c->flannel.network, "10.244.0.0/16");
    assert_int_equal(c->flannel.vni, 4096);
    assert_int_equal(c->flannel.port, 4789);
    assert_false(c->flannel.direct_routing);
    assert_string_equal(json_text_at(c->winjoin, "network.mode"), "overlay");
    assert_int_equal(c->warnings.count, 0);
}

static void tolerates_what_is_optional(void **state) {
    struct scene *s = *state;

    HOLD(s,
         {"/kubeadm-config", "ClusterConfiguration",
          "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\n"
          "networking: {serviceSubnet: 10.96.0.0/12}\n"},
         {"/kubelet-config", "kubelet", KUBELET});
    s->status = 403;
    assert_int_equal(read_it(s), 0);
    assert_string_equal(s->config.name, "kubernetes");
    assert_string_equal(s->config.dns_domain, "cluster.local");
    assert_string_equal(s->config.cluster_dns.items[0], "10.96.0.10");
    assert_int_equal(s->config.pod_subnets.count, 0);
    assert_null(s->config.kube_proxy);
    assert_null(s->config.winjoin);
    assert_false(s->config.flannel.present);
    assert_int_equal(s->config.warnings.count, 1);
    assert_non_null(strstr(s->config.warnings.items[0], "kube-proxy"));
}

static void finds_the_older_names(void **state) {
    struct scene *s = *state;

    HOLD(s,
         {"/kubeadm-config", "ClusterConfiguration",
          "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nkubernetesVersion: "
          "v1.23.17\n"},
         {"/kubelet-config-1.23", "kubelet", KUBELET},
         {"/kube-system/configmaps/kube-flannel-cfg", "net-conf.json",
          "{\"Backend\":{\"Type\":\"host-gw\"}}"});
    assert_int_equal(read_it(s), 0);
    assert_non_null(s->config.kubelet);
    assert_string_equal(s->config.flannel.name_space, "kube-system");
    assert_string_equal(s->config.flannel.backend_type, "host-gw");
    assert_int_equal(s->config.flannel.vni, 0);
}

static void needs_the_two_of_kubeadm(void **state) {
    struct scene *s = *state;

    HOLD(s, {"/kubelet-config", "kubelet", KUBELET});
    assert_int_equal(read_it(s), -1);
    assert_int_equal(s->err.kind, ERROR_NOT_FOUND);
    assert_non_null(strstr(s->err.message, "get the kubeadm-config ConfigMap"));
    s->status = 403;
    assert_int_equal(read_it(s), -1);
    assert_int_equal(s->err.kind, ERROR_DENIED);
    assert_non_null(strstr(s->err.hints[0], "default-node-token"));
    HOLD(s, {"/kubeadm-config", "ClusterConfiguration", CLUSTER});
    assert_int_equal(read_it(s), -1);
    assert_non_null(strstr(s->err.message, "get the kubelet-config ConfigMap"));
    HOLD(s, {"/kubeadm-config", "Other", CLUSTER});
    assert_int_equal(read_it(s), -1);
    assert_non_null(strstr(s->err.message, "ClusterConfiguration key value pair missing"));
    s->status = 500;
    HOLD(s, {"/kubeadm-config", "ClusterConfiguration", CLUSTER},
         {"/kubelet-config", "kubelet", KUBELET});
    assert_int_equal(read_it(s), -1); /* kube-proxy: neither there nor refused */
    assert_int_equal(s->err.kind, ERROR_NETWORK);
}

static void refuses_damaged_texts(void **state) {
    static const struct {
        const char *text;
        enum error_kind kind;
        const char *why;
    } rows[] = {
        {"", ERROR_MALFORMED, "no ClusterConfiguration"},
        {"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta2\n", ERROR_UNSUPPORTED,
         "\"kubeadm.k8s.io/v1beta2\" is not"},
        {"kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta4\nnetworking: {podSubnet: "
         "10.0.0.0/33}\n",
         ERROR_MALFORMED, "networking.podSubnet"},
        {"kind: [\n", ERROR_MALFORMED, "line 2"},
    };
    static const struct {
        const char *text, *why;
    } confs[] = {
        {"{", "decode net-conf.json"},
        {"{\"Network\":\"10.244.0.0\"}", "net-conf.json: Network"},
        {"{\"Backend\":{\"VNI\":\"x\"}}", "Backend.VNI must be a number"},
        {"{\"Backend\":{\"VNI\":16777216}}", "Backend.VNI must be a number"},
        {"{\"Backend\":{\"Port\":-1}}", "Backend.Port must be a number"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct cluster_config c = {0};
        struct error err = {0};

        assert_int_equal(cluster_config_parse(rows[i].text, &c, &err), -1);
        assert_int_equal(err.kind, rows[i].kind);
        assert_non_null(strstr(err.message, rows[i].why));
    }
    for (size_t i = 0; i < ARRAY_SIZE(confs); i++) {
        struct cluster_flannel f = {0};
        struct error err = {0};

        assert_int_equal(cluster_flannel_parse(confs[i].text, &f, &err), -1);
        assert_int_equal(err.kind, ERROR_MALFORMED);
        assert_non_null(strstr(err.message, confs[i].why));
    }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(reads_everything),
        CASE(tolerates_what_is_optional),
        CASE(finds_the_older_names),
        CASE(needs_the_two_of_kubeadm),
        cmocka_unit_test(refuses_damaged_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
