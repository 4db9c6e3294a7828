/* What the phase verify asks for, as the cluster has it. */
#include "tests/scene/played_pods_scene.h"

#define DNS_SERVICE(name, ip)                                                                      \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"dns\"},\"spec\":{\"clusterIP\":\"" ip    \
    "\"}}"

static const char *services; /* of a list by the address of clusterDNS; NULL: refused */

static int with_services(void *context, const struct http_request *request,
                         struct http_response *ret, struct error *err) {
    if (!strstr(request->url, "/api/v1/services?fieldSelector=spec.clusterIP%3D10.96.0.10"))
        return scene_answer(context, request, ret, err);
    ret->retry_after = -1;
    ret->status = services ? 200 : 403;
    ret->body = xasprintf("{\"kind\":\"ServiceList\",\"items\":[%s]}", services ? services : "");
    ret->body_len = strlen(ret->body);
    return 0;
}

/* The DNS Service is called as the cluster calls it: it is found by its address. */
static void asks_for(const char *given, const char *asked, const char *not_asked) {
    _cleanup_(freep) char *report = NULL;
    struct error err;

    services = given;
    program->options.output = (char *)"json";
    stage.last = 2; /* no Ctrl-C */
    http_free(r.http);
    program->http = r.http = http_memory_new(with_services, &r.scene);
    (void)verb(verb_diag, &err);
    assert_int_equal(stage.tests, 1);
    report = json_write(program->result);
    if (!strstr(report, asked) || strstr(report, not_asked))
        fail_msg("%s: not %s, or %s, in %s", err.message, asked, not_asked, report);
}

static void by_another_name(void **state) {
    (void)state;
    asks_for(DNS_SERVICE("coredns", "10.96.0.10"), "coredns.dns.svc.cluster.local",
             "kube-dns.kube-system");
}

static void among_others(void **state) {
    (void)state;
    asks_for(DNS_SERVICE("other", "10.96.0.9") "," DNS_SERVICE("dns-default", "10.96.0.10"),
             "dns-default.dns.svc.cluster.local", "other.dns");
}

/* Where it is not found, or Services may not be read, kubeadm's name is tried. */
static void nobody_has_that_address(void **state) {
    (void)state;
    asks_for(DNS_SERVICE("other", "10.96.0.9"), "kube-dns.kube-system.svc", ".dns.svc");
}

static void services_that_may_not_be_read(void **state) {
    (void)state;
    asks_for(NULL, "kube-dns.kube-system.svc", ".dns.svc");
}

#define DIAG_TEST(name) cmocka_unit_test_setup_teardown(name, open_diag, close_joining)

int main(void) {
    const struct CMUnitTest tests[] = {
        DIAG_TEST(by_another_name),
        DIAG_TEST(among_others),
        DIAG_TEST(nobody_has_that_address),
        DIAG_TEST(services_that_may_not_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, free_output);
}
