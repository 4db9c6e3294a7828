/* Labels that a kubelet may set, and those that it may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/configuration/kubelet_arguments.h"

static void allowed(void **state) {
    static const char *const good[] = {
        NULL,
        "",
        "a=b",
        "a=b,example.com/zone=c,flag",
        " a = b ,c=",
        "notkubernetes.io/a=b",
        "node.kubernetes.io/windows-build=10.0.20348",
        "gpu.kubelet.kubernetes.io/a=b",
        "topology.kubernetes.io/zone=z1,kubernetes.io/os=windows",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        assert_int_equal(node_labels_check(good[i], NULL), 0);
}

static void refused(void **state) {
    static const struct {
        const char *labels, *named;
    } bad[] = {
        {"kubernetes.io/role=node", "kubernetes.io/role"},
        {"a=b,node-role.kubernetes.io/worker=", "node-role.kubernetes.io/worker"},
        {"a=b, node-restriction.kubernetes.io/zone=a", "node-restriction.kubernetes.io/zone"},
        {"k8s.io/x", "k8s.io/x"},
        {"sub.k8s.io/x=1", "sub.k8s.io/x"},
        {"topology.kubernetes.io/rack=1", "topology.kubernetes.io/rack"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct error err = {0};
        assert_int_equal(node_labels_check(bad[i].labels, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_non_null(strstr(err.message, bad[i].named));
        assert_non_null(strstr(err.hints[0], bad[i].named));
    }
}

static void malformed(void **state) {
    static const char *const bad[] = {
        "a b=c", "=b",    "-a=b",       "a=b c", "a=-b", "a/b/c=d", "/a=b",
        "A/b=c", "a=b=c", "\xc3\xa4=b", "a,b c", " ",    "a:b=c",   "a=\"b\"",
    };
    char longest[64 + 1];

    (void)state;
    memset(longest, 'a', 64);
    longest[64] = '\0';
    assert_int_equal(node_labels_check(longest, NULL), -1);
    assert_int_equal(node_labels_check(longest + 1, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        if (node_labels_check(bad[i], NULL) == 0)
            fail_msg("'%s' was taken", bad[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allowed),
        cmocka_unit_test(refused),
        cmocka_unit_test(malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
