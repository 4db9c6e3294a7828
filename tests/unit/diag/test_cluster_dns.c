/* NodeLocal DNS listens on Linux nodes alone: pods of a Windows node ask the DNS Service. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/configuration/cluster_config.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

#define CLUSTER                                                                                    \
    "{\"data\":{\"ClusterConfiguration\":\"apiVersion: kubeadm.k8s.io/v1beta4\\nkind: "            \
    "ClusterConfiguration\\nkubernetesVersion: v1.37.1\\nnetworking:\\n  serviceSubnet: "          \
    "fd00:96::/112,10.96.0.0/16\\n\"}}"
#define KUBELET(servers)                                                                           \
    "{\"data\":{\"kubelet\":\"apiVersion: kubelet.config.k8s.io/v1beta1\\nkind: "                  \
    "KubeletConfiguration\\nclusterDNS: [" servers "]\\n\"}}"
#define SERVICE(ip, port) "{\"spec\":{\"clusterIP\":\"" ip "\",\"ports\":[{\"port\":" port "}]}}"

static const struct answers {
    const char *kubelet, *services; /* NULL: 403 */
} answers[] = {
    {KUBELET("169.254.25.10"),
     "{\"kind\":\"ServiceList\",\"items\":[" SERVICE("None", "53") "," SERVICE(
         "10.233.0.9", "80") "," SERVICE("10.233.0.3", "53") "]}"},
    {KUBELET("'fe80::1', 10.96.0.10"), NULL},
    {KUBELET("169.254.25.10"), NULL},
    {KUBELET("'fd00:96::a'"),
     "{\"kind\":\"ServiceList\",\"items\":[" SERVICE(
         "10.96.0.9", "53") ",{\"spec\":{\"clusterIP\":"
                            "\"fd00:96::a\",\"clusterIPs\":[\"fd00:96::a\",\"10.96.0.10\"],"
                            "\"ports\":[{\"port\":53}]}}]}"},
    {KUBELET("'fd00:96::a'"), "{\"kind\":\"ServiceList\",\"items\":[" SERVICE(
                                  "10.96.0.9", "53") "," SERVICE("fd00:96::a", "53") "]}"},
    {KUBELET("kube-dns.kube-system"), NULL},
};

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    const struct answers *a = context;
    const char *text = strstr(request->url, "/kubeadm-config")   ? CLUSTER
                       : strstr(request->url, "/kubelet-config") ? a->kubelet
                       : strstr(request->url, "/services")       ? a->services
                                                                 : NULL;

    (void)err;
    ret->status = text ? 200 : 403;
    ret->body = xstrdup(text ? text : "{\"message\":\"no\"}");
    ret->body_len = strlen(ret->body);
    return 0;
}

static int read_cluster(const struct answers *a, struct cluster_config *ret, struct error *err) {
    struct kubeconfig config = {
        .server = (char *)"https://k", .ca_pem = (char *)"CA", .token = (char *)"t"};
    struct host *host = host_memory_new();
    struct http *http = http_memory_new(answer, (void *)a);
    struct kube_client client = {0};
    int result;

    assert_int_equal(kube_client_open(http, host, &config, &client, NULL), 0);
    result = cluster_config_read(&client, 3000, NULL, ret, err);
    kube_client_close(&client);
    http_free(http);
    host_free(host);
    return result;
}

/* The Service is asked, however it is called. */
static void the_service_takes_its_place(void **state) {
    struct cluster_config config = {0};

    (void)state;
    assert_int_equal(read_cluster(&answers[0], &config, NULL), 0);
    assert_int_equal(config.cluster_dns.count, 1);
    assert_string_equal(config.cluster_dns.items[0], "10.233.0.3");
    assert_string_equal(config.local_dns, "169.254.25.10");
    cluster_config_free(&config);
}

static void beside_the_service_it_is_left_out(void **state) {
    struct cluster_config config = {0};

    (void)state;
    assert_int_equal(read_cluster(&answers[1], &config, NULL), 0);
    assert_int_equal(config.cluster_dns.count, 1);
    assert_string_equal(config.cluster_dns.items[0], "10.96.0.10");
    cluster_config_free(&config);
}

static void without_a_service_it_is_refused(void **state) {
    struct cluster_config config = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(read_cluster(&answers[2], &config, &err), -1);
    assert_int_equal(err.kind, ERROR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "clusterDNS 169.254.25.10 is the address of a DNS cache"));
    assert_non_null(strstr(err.hints[1], "k8s-app=kube-dns"));
}

static void a_name_is_passed_over(void **state) {
    struct cluster_config config = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(read_cluster(&answers[5], &config, &err), 0);
    assert_int_equal(config.cluster_dns.count, 1);
    assert_string_equal(config.cluster_dns.items[0], "fd00:96::a");
    assert_string_equal(config.local_dns, "kube-dns.kube-system");
    cluster_config_free(&config);
}

/* A cluster that has IPv6 first: the Service's other address is asked first, where it has one. */
static void its_ipv4_address_comes_first(void **state) {
    (void)state;
    for (size_t both = 0; both < 2; both++) {
        struct cluster_config config = {0};

        assert_int_equal(read_cluster(&answers[both ? 3 : 4], &config, NULL), 0);
        assert_int_equal(config.cluster_dns.count, both ? 2 : 1);
        assert_string_equal(config.cluster_dns.items[0], both ? "10.96.0.10" : "fd00:96::a");
        if (both)
            assert_string_equal(config.local_dns, "fd00:96::a");
        else
            assert_null(config.local_dns);
        cluster_config_free(&config);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_service_takes_its_place),
        cmocka_unit_test(beside_the_service_it_is_left_out),
        cmocka_unit_test(a_name_is_passed_over),
        cmocka_unit_test(without_a_service_it_is_refused),
        cmocka_unit_test(its_ipv4_address_comes_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
