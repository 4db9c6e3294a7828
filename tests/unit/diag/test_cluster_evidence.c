/* What a cluster's API says of the pod network, packed: all that is there, without secrets and
 * without what nobody reads; what may not be read is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "diag/cluster/cluster.h"
#include "services/artifacts/bundle_archive.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

enum { PART_MAX = 1 << 20 };

static const struct {
    const char *path;
    long status;
    const char *body;
} answers[] = {
    {"/version", 200, "{\"gitVersion\":\"v1.37.1\"}"},
    {"/api/v1/nodes?limit=500", 200,
     "{\"items\":[{\"metadata\":{\"name\":\"w\",\"managedFields\":[1],\"annotations\":{"
     "\"kubectl.kubernetes.io/last-applied-configuration\":\"again\",\"kept\":\"x\"}}}]}"},
    {"/api/v1/services?limit=500", 200, "{\"metadata\":{\"continue\":\"more\"},\"items\":[{}]}"},
    {"/apis/discovery.k8s.io/v1/endpointslices?limit=500", 403, "{\"message\":\"no right\"}"},
    {"/api/v1/namespaces/kube-system/pods?limit=500", 200,
     "{\"metadata\":{\"continue\":\"\"},\"items\":[{\"env\":[{\"name\":\"PASSWORD\",\"value\":"
     "\"s3cr3t7q9\"},{\"name\":\"NODE\",\"valueFrom\":{\"fieldRef\":\"f\"}},{\"name\":\"EMPTY\"},"
     "{}]}]}"},
    {"/api/v1/namespaces/kube-system/events?limit=500", 200, "{\"items\":null}"},
    {"/apis/apps/v1/namespaces/kube-flannel/daemonsets?limit=500", 200, "{\"items\":[]}"},
    {"/api/v1/namespaces/kube-system/configmaps/coredns", 200, "no JSON"},
    {"/api/v1/namespaces/kube-system/configmaps/kube-proxy", 200, "{\"data\":{\"mode\":\"m\"}}"},
    {"/api/v1/namespaces/run/pods?limit=500", 200, "{\"items\":[{\"kind\":\"Pod\"}]}"},
};

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    (void)context, (void)err;
    ret->status = 404;
    ret->body = xstrdup("{}");
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
        if (text_equal(request->url + strlen("https://k"), answers[i].path)) {
            ret->status = answers[i].status;
            free(ret->body);
            ret->body = xstrdup(answers[i].body);
        }
    ret->body_len = strlen(ret->body);
    return 0;
}

/* NULL where a part is not there. */
static char *part(const char *zip, size_t len, const char *name) {
    char *text = NULL;
    size_t text_len;

    return bundle_archive_read(zip, len, name, PART_MAX, &text, &text_len, NULL) < 0 ? NULL : text;
}

static void what_is_packed(void **state) {
    static const struct {
        const char *name, *there, *not_there;
    } parts[] = {
        {"evidence/version.json", "v1.37.1", NULL},
        {"evidence/nodes.json", "\"kept\"", "managedFields"},
        {"evidence/nodes.json", "\"kept\"", "again"},
        {"evidence/services.json", "\"more\"", NULL},
        {"evidence/endpointslices.json", NULL, NULL},
        {"evidence/kube-system/pods.json", "\"PASSWORD\"", "s3cr3t7q9"},
        {"evidence/kube-system/pods.json", "\"fieldRef\": \"f\"", "valueFrom"},
        {"evidence/kube-system/pods.json", "\"EMPTY\": null", "\"name\""},
        {"evidence/kube-system/events.json", NULL, NULL},
        {"evidence/kube-flannel/daemonsets.json", NULL, NULL},
        {"evidence/kube-system/configmap-coredns.json", NULL, NULL},
        {"evidence/kube-system/configmap-kube-proxy.json", "\"mode\"", NULL},
        {"index.txt", "the cluster https://k, 2026-11-21T10:00:04Z, winjoin ", "events.json"},
        {"index.txt", "evidence/services.json", "calico"},
        {"index.txt", "it has more than the 500 that are packed", "daemonsets"},
        {"index.txt", "no right", NULL},
        {"index.txt", "configmap-coredns.json", NULL},
        {"index.txt", "not measured at all", NULL},
        {"report.json", NULL, NULL},
    };
    struct kubeconfig config = {.server = (char *)"https://k", .token = (char *)"t"};
    struct host *host = host_memory_new();
    struct http *http = http_memory_new(answer, NULL);
    struct kube_client client;

    (void)state;
    assert_int_equal(kube_client_open(http, host, &config, &client, NULL), 0);
    for (unsigned run = 0; run < 2; run++) { /* with a run's own namespace, and without one */
        struct collection *collection = collection_new();
        size_t before = http_memory_requests(http), len;
        _cleanup_(freep) char *zip = NULL, *own = NULL, *index = NULL;
        const char *at;

        cluster_evidence_add(&client, run ? "run" : NULL, collection);
        assert_int_equal(http_memory_requests(http) - before, 4 + 9 + 3 * (9 + run));
        assert_int_equal(cluster_collect(collection, "https://k", NULL, "not measured at all",
                                         1795255204, &zip, &len, NULL),
                         0);
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
            _cleanup_(freep) char *text = part(zip, len, parts[i].name);

            if (!parts[i].there)
                assert_null(text);
            else if (!text || !strstr(text, parts[i].there) ||
                     (parts[i].not_there && strstr(text, parts[i].not_there)))
                fail_msg("%s: %s", parts[i].name, text ? text : "");
        }
        index = part(zip, len, "index.txt");
        at = strstr(index, "that are packed");
        assert_true(at && !strstr(at + 1, "that are packed")); /* of one list alone */
        own = part(zip, len, "evidence/run/pods.json");
        assert_int_equal(own != NULL, run);
        collection_freep(&collection);
    }
    kube_client_close(&client);
    http_free(http);
    host_free(host);
}

/* With a report all of its forms are there, as it was when it was measured. */
static void with_a_report(void **state) {
    struct diag_report report = {.server = (char *)"https://k",
                                 .namespace_ = (char *)"n",
                                 .domain = (char *)"d",
                                 .time = 1795255204};
    static const char *const parts[] = {"report.json", "report.txt", "report.html"};
    struct collection *collection = collection_new();
    _cleanup_(freep) char *zip = NULL, *index = NULL;
    size_t len;

    (void)state;
    assert_int_equal(cluster_collect(collection, "https://k", &report, NULL, 0, &zip, &len, NULL),
                     0);
    index = part(zip, len, "index.txt");
    assert_non_null(strstr(index, ", 2026-11-21T10:00:04Z, "));
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        _cleanup_(freep) char *text = part(zip, len, parts[i]);

        if (!text || !strstr(text, "https://k"))
            fail_msg("%s: %s", parts[i], text ? text : "");
    }
    collection_freep(&collection);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed),
        cmocka_unit_test(with_a_report),
    };

    return cmocka_run_group_tests_name("a cluster's evidence", tests, NULL, NULL);
}
