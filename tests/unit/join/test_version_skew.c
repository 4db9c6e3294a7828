/* Which kubelets a control plane bears. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/programs/programs.h"

static void follows_the_policy(void **state) {
    static const struct {
        const char *kubelet, *cluster, *server;
        const char *why; /* NULL: taken */
    } rows[] = {
        {"v1.37.1", "v1.37.1", "v1.37.1", NULL},
        {"v1.37.9", "v1.37.1", "v1.37.1", NULL}, /* only minors count */
        {"Kubernetes v1.36.2", "v1.37.1", NULL, NULL},
        {"1.35.0-rc.1+build", "v1.37.1", NULL, NULL},
        {"v1.34.0", "v1.37.1", "v1.37.1", NULL},
        {"v1.33.9", "v1.37.1", "v1.37.1", "more than 3 minor versions older"},
        {"v1.38.0", "v1.37.1", "v1.37.1",
         "is higher than the control plane version: kubelet "
         "v1.38.0, control plane v1.37.1"},
        {"v1.38.0-alpha.1", "v1.37.9", NULL, "higher"},
        /* an upgrade has begun: neither too new for the one nor too old for the other */
        {"v1.37.0", "v1.37.1", "v1.36.5", "control plane v1.36.5"},
        {"v1.37.0", "v1.36.5", "v1.37.1", "control plane v1.36.5"},
        {"v1.36.0", "v1.36.5", "v1.37.1", NULL},
        {"v1.33.0", "v1.36.5", "v1.37.1", "control plane v1.37.1"},
        {"v1.24.9", "v1.26.0", NULL, NULL},
        {"v1.24.9", "v1.27.0", NULL, "more than 2 minor versions older"},
        {"v1.25.0", "v1.28.0", NULL, NULL},
        {"v1.9.0", "v1.37.1", NULL, "older"}, /* numbers, not texts */
        /* what is not known decides nothing */
        {"v1.37.1", "", NULL, NULL},
        {"v1.37.1", "stable", "garbage", NULL},
        {"v1.38.1", "stable", "v1.37.0", "higher"},
        {"", "v1.37.1", NULL, "couldn't get kubelet version"},
        {"kubelet", "v1.37.1", NULL, "couldn't get kubelet version: 'kubelet' is not a version"},
        {NULL, "v1.37.1", NULL, "couldn't get kubelet version"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct version_skew skew = {rows[i].kubelet, rows[i].cluster, rows[i].server, NULL};
        struct error err = {0};
        int result = version_skew_check(&skew, &err);

        if (!rows[i].why ? result < 0 : result == 0 || !strstr(err.message, rows[i].why))
            fail_msg("%s, %s: '%s'", rows[i].kubelet, rows[i].cluster, err.message);
        if (result < 0) {
            assert_int_equal(err.kind, ERROR_PREFLIGHT);
            assert_int_equal(strncmp(err.message, "[KubeletVersion] ", 17), 0);
        }
    }
}

static void kube_proxy_is_held_to_it(void **state) {
    struct version_skew skew = {
        .program = "kube-proxy", .kubelet = "v1.38.0", .cluster = "v1.37.1"};
    struct error err = {0};

    (void)state;
    assert_int_equal(version_skew_check(&skew, &err), -1);
    assert_string_equal(err.message, "[KubeletVersion] the kube-proxy version is higher than the "
                                     "control plane version: kube-proxy v1.38.0, control plane "
                                     "v1.37.1");
    skew.kubelet = "v1.33.1";
    assert_int_equal(version_skew_check(&skew, &err), -1);
    assert_non_null(strstr(err.message, "kube-proxy version is more than 3 minor versions older"));
    skew.kubelet = "v1.34.1";
    assert_int_equal(version_skew_check(&skew, &err), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(follows_the_policy),
                                       cmocka_unit_test(kube_proxy_is_held_to_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
