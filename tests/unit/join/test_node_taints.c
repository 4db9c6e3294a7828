/* Taints as the kubelet reads them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "join/configuration/kubelet_arguments.h"

static void taken(void **state) {
    static const char *const good[] = {
        NULL,
        "",
        "a:NoSchedule",
        "a=b:NoSchedule",
        "example.com/a=:PreferNoSchedule",
        "a=b:NoSchedule,a=c:NoExecute,b:NoSchedule",
        "os=windows:NoSchedule",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        assert_int_equal(node_taints_check(good[i], NULL), 0);
}

static void refused(void **state) {
    static const struct {
        const char *taints, *says;
    } bad[] = {
        {"a", "key=value:effect"},
        {"a=b", "key=value:effect"},
        {":NoSchedule", "needs a key"},
        {"=b:NoSchedule", "needs a key"},
        {"a b:NoSchedule", "key is at most"},
        {"a/b/c:NoSchedule", "key is at most"},
        {"a=b c:NoSchedule", "value is at most"},
        {"a=b:", "effect must be"},
        {"a:noschedule", "effect must be"},
        {"a:NoSchedule:NoExecute", "effect must be"},
        {"a:NoSchedule-", "effect must be"},
        {"a=b:NoSchedule,a=c:NoSchedule", "two taints"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct error err = {0};

        assert_int_equal(node_taints_check(bad[i].taints, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        if (!strstr(err.message, bad[i].says))
            fail_msg("%s: %s", bad[i].taints, err.message);
    }
}

static void not_without_end(void **state) {
    struct text all = {0};
    struct error err = {0};

    (void)state;
    for (int i = 0; i <= 1000; i++)
        text_addf(&all, "k%d:NoSchedule,", i);
    assert_int_equal(node_taints_check(text_str(&all), &err), -1);
    assert_non_null(strstr(err.message, "at most 1000"));
    text_free(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken),
        cmocka_unit_test(refused),
        cmocka_unit_test(not_without_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
