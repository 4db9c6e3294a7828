/* The proxy that services get: whose, and what goes without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/programs/programs.h"
#include "tests/memory/host_memory.h"

#define MACHINE "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment"
#define CLUSTER "10.244.0.0/16,10.96.0.0/12,.svc,.cluster.local"

struct scene {
    const char *session, *excepted; /* HTTPS_PROXY and NO_PROXY of the call */
    const char *machine;            /* HTTPS_PROXY of the machine */
    const char *kept;               /* HTTPS_PROXY of service containerd */
    const char *server;
    const char *proxy, *no; /* what services get; NULL: nothing */
};

static void play(const struct scene *s) {
    struct host *host = host_memory_new();
    struct join_found found = {0};
    struct host_service containerd = {.name = (char *)"containerd", .command = (char *)"c.exe"};
    const struct text_list *got;

    host_memory_set_environment(host, "HTTPS_PROXY", s->session);
    host_memory_set_environment(host, "NO_PROXY", s->excepted);
    if (s->machine)
        host_memory_set_registry(host, MACHINE, "HTTPS_PROXY", s->machine);
    text_list_add_owned(&containerd.environment, xasprintf("OWN=1"));
    if (s->kept)
        text_list_add_owned(&containerd.environment, xasprintf("HTTPS_PROXY=%s", s->kept));
    assert_int_equal(host_service_put(host, &containerd, NULL), 0);
    text_list_free(&containerd.environment);
    text_list_add(&found.cluster.pod_subnets, "10.244.0.0/16");
    text_list_add(&found.cluster.service_subnets, "10.96.0.0/12");
    found.cluster.dns_domain = (char *)"cluster.local";
    found.client.server = (char *)s->server;
    got = service_proxy(host, &found);
    assert_int_equal(got->count, !s->proxy ? 0 : s->no ? 3 : 1);
    if (s->no) {
        assert_string_equal(got->items[0] + strlen("HTTP_PROXY="), s->proxy);
        assert_string_equal(got->items[1] + strlen("HTTPS_PROXY="), s->proxy);
        assert_string_equal(got->items[2] + strlen("NO_PROXY="), s->no);
    } else if (s->proxy) {
        assert_string_equal(got->items[0] + strlen("HTTPS_PROXY="), s->proxy);
    }
    text_list_free(&found.service_proxy);
    text_list_free(&found.cluster.pod_subnets);
    text_list_free(&found.cluster.service_subnets);
    host_free(host);
}

#define API "https://10.0.0.10:6443"
#define P "http://proxy.corp:3128"

static void the_session_s_is_given_with_what_goes_without_it(void **state) {
    static const struct scene rows[] = {
        {P, NULL, NULL, NULL, API, P, CLUSTER}, /* the API server, too, goes through it */
        {P, "10.0.0.0/8", NULL, NULL, API, P, "10.0.0.0/8," CLUSTER ",10.0.0.10"},
        {P, "10.96.0.0/12,.corp", NULL, NULL, "https://api.corp:6443", P,
         "10.96.0.0/12,.corp,10.244.0.0/16,.svc,.cluster.local,api.corp"},
        {P, "fd00::/8", NULL, NULL, "https://[fd00::1]:6443", P, "fd00::/8," CLUSTER ",fd00::1"},
        {NULL, NULL, NULL, NULL, API, NULL, NULL},
        {"", NULL, NULL, NULL, API, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        play(&rows[i]);
}

static void the_machine_s_own_is_enough(void **state) {
    (void)state;
    play(&(struct scene){.session = P, .machine = "http://other:1", .server = API});
    play(&(struct scene){.machine = "http://other:1", .kept = P, .server = API});
}

/* Every user may read a service's environment. */
static void a_password_is_not_written(void **state) {
    (void)state;
    play(&(struct scene){.session = "http://eve:s3cr3t@proxy.corp:3128", .server = API});
    play(&(struct scene){.session = "eve@proxy.corp:3128", .server = API});
}

/* A later run without the session's, and what the owner wrote there. */
static void what_containerd_has_is_kept(void **state) {
    (void)state;
    play(&(struct scene){.kept = P, .server = API, .proxy = P});
    play(&(struct scene){.session = "http://new:1",
                         .kept = P,
                         .server = API,
                         .proxy = "http://new:1",
                         .no = CLUSTER});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_session_s_is_given_with_what_goes_without_it),
        cmocka_unit_test(the_machine_s_own_is_enough),
        cmocka_unit_test(a_password_is_not_written),
        cmocka_unit_test(what_containerd_has_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
