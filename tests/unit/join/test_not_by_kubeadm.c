/* A cluster that kubeadm did not make: what is missing, and what winjoin prints for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/yaml.h"
#include "join/configuration/cluster_config.h"
#include "templates/templates.h"
#include "tests/memory/host_memory.h"
#include "tests/memory/http_memory.h"

struct scene {
    struct host *host;
    struct http *http;
    struct kube_client client;
    long status;  /* of what is not held */
    json_t *held; /* a ConfigMap's name -> it */
    struct cluster_config config;
    struct error err;
};

static int answer(void *context, const struct http_request *request, struct http_response *ret,
                  struct error *err) {
    struct scene *s = context;
    const json_t *map = json_object_get(s->held, strrchr(request->url, '/') + 1);

    (void)err;
    ret->status = map ? 200 : s->status;
    ret->body = map ? json_write(map) : xstrdup("{\"message\":\"no\"}");
    ret->body_len = strlen(ret->body);
    return 0;
}

static int setup(void **state) {
    struct scene *s = xcalloc(1, sizeof *s);
    struct kubeconfig config = {.server = (char *)"https://k", .token = (char *)"t"};

    s->host = host_memory_new();
    s->http = http_memory_new(answer, s);
    s->held = json_object();
    assert_int_equal(kube_client_open(s->http, s->host, &config, &s->client, NULL), 0);
    *state = s;
    return 0;
}

static int teardown(void **state) {
    struct scene *s = *state;

    cluster_config_free(&s->config);
    json_decref(s->held);
    kube_client_close(&s->client);
    http_free(s->http);
    host_free(s->host);
    free(s);
    return 0;
}

static int read_it(struct scene *s) {
    return cluster_config_read(&s->client, 3000, NULL, &s->config, &s->err);
}

/* One run tells of both that are missing, and what to do. */
static void tells_all_that_kubeadm_leaves(void **state) {
    static const struct {
        long status;
        enum error_kind kind;
        const char *end;
        unsigned groups; /* hints about the token's groups */
    } rows[] = {{404, ERROR_ABSENT, "; kubelet-config is not there, either", 0},
                {403, ERROR_DENIED, "; kubelet-config may not be read, either", 1}};
    struct scene *s = *state;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        s->status = rows[i].status;
        assert_int_equal(read_it(s), -1);
        assert_int_equal(s->err.kind, rows[i].kind);
        assert_true(text_starts_with(s->err.message, "get the kubeadm-config ConfigMap"));
        assert_true(text_ends_with(s->err.message, rows[i].end));
        assert_int_equal(strstr(s->err.hints[0], "default-node-token") != NULL, rows[i].groups);
        assert_non_null(strstr(s->err.hints[rows[i].groups], "upload-config all --config FILE"));
        assert_non_null(
            strstr(s->err.hints[rows[i].groups + 1], "winjoin config print kubeadm-objects"));
    }
}

/* Whom the API server does not know, no right and no ConfigMap helps. */
static void an_unknown_token_is_said(void **state) {
    struct scene *s = *state;

    s->status = 401;
    assert_int_equal(read_it(s), -1);
    assert_non_null(strstr(s->err.hints[0], "--enable-bootstrap-token-auth"));
    assert_string_equal(s->err.hints[1], "");
}

/* What that prints is what a join reads, and the right to read each. */
static void printed_objects_are_enough(void **state) {
    const struct template *file = template_find("kubeadm-objects.yaml");
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    _cleanup_json_ json_t *granted = json_object();
    struct scene *s = *state;

    assert_int_equal(yaml_read(file->data, file->len, file->name, &yaml, &s->err), 0);
    json_each(yaml.documents, i, object) {
        json_each(json_at(object, "rules"), n, rule)
            json_each(json_object_get(rule, "resourceNames"), k, name)
                json_object_set_new(granted, json_string_value(name), json_true());
        if (text_equal(json_text_at(object, "kind"), "ConfigMap"))
            json_object_set(s->held, json_text_at(object, "metadata.name"), object);
    }
    assert_int_equal(json_object_size(s->held), 3);
    json_each_member(s->held, key, map)
        assert_true(map && json_object_get(granted, key));
    s->status = 404;
    if (read_it(s) < 0)
        fail_msg("%s", s->err.message);
    assert_string_equal(s->config.pod_subnets.items[0], "10.244.0.0/16");
    assert_string_equal(s->config.cluster_dns.items[0], "10.96.0.10");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tells_all_that_kubeadm_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(an_unknown_token_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(printed_objects_are_enough, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
