/* What a kubelet ends with after its runtime answered is refused before anything is changed. The
 * rows are those that upstream's kubelet.exe judges, too (tests/configuration/kubelet_cases.py). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/configuration/kubelet_arguments.h"

static int check(const char *text, const char *argument, struct error *err) {
    _cleanup_json_ json_t *config = NULL;
    _cleanup_(text_list_free) struct text_list arguments = {0};

    if (argument)
        text_list_add(&arguments, argument);
    assert_int_equal(json_read(text, strlen(text), "config", &config, NULL), 0);
    return kubelet_quantities_check(config, &arguments, err);
}

static void wrong_fields(void **state) {
    static const char *const rows[][2] = {
        {"{\"evictionHard\":{\"memory.available\":\"105%\"}}",
         "evictionHard: memory.available: \"105%\" is not a share from 0% to 100%"},
        {"{\"evictionHard\":{\"memory.available\":\"-5%\"}}", "a share from 0% to 100%"},
        {"{\"evictionHard\":{\"memory.available\":\"-5\"}}", "a quantity above 0"},
        {"{\"evictionHard\":{\"memory.available\":\"0\"}}", "a quantity above 0"},
        {"{\"evictionHard\":{\"memory.available\":\"\"}}", "a quantity above 0"},
        {"{\"evictionHard\":{\"nope.available\":\"5%\"}}",
         "evictionHard: \"nope.available\" is not known to the kubelet"},
        {"{\"evictionSoft\":{\"memory.available\":\"1Gi\"}}",
         "evictionSoft: memory.available has no grace period"},
        {"{\"evictionSoftGracePeriod\":{\"memory.available\":\"x\"}}", "a duration like 1m30s"},
        {"{\"evictionSoftGracePeriod\":{\"memory.available\":\"-1s\"}}", "a duration like 1m30s"},
        {"{\"evictionMinimumReclaim\":{\"memory.available\":\"-1Mi\"}}", "a quantity of 0 or more"},
        {"{\"evictionMinimumReclaim\":{\"memory.available\":\"0%\"}}", "a share above 0%"},
        {"{\"containerLogMaxSize\":\"10MB\"}", "containerLogMaxSize: \"10MB\" is not a size"},
        {"{\"containerLogMaxSize\":\"1.5Gi\"}", "a size in whole bytes"},
        {"{\"systemReserved\":{\"cpu\":\"nope\"}}",
         "systemReserved: cpu: \"nope\" is not a quantity"},
        {"{\"systemReserved\":{\"cpu\":\"-1\"}}", "a quantity of 0 or more"},
        {"{\"systemReserved\":{\"memory\":\"2GB\"}}", "a quantity"},
        {"{\"systemReserved\":{\"memory\":\"1.2.3\"}}", "a quantity"},
        {"{\"systemReserved\":{\"memory\":\"1e\"}}", "a quantity"},
        {"{\"systemReserved\":{\"hugepages-2Mi\":\"1Gi\"}}", "is not known to the kubelet"},
        {"{\"kubeReserved\":{\"memory\":\"\"}}", "kubeReserved: memory: \"\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};

        if (check(rows[i][0], NULL, &err) == 0)
            fail_msg("%s", rows[i][0]);
        assert_int_equal(err.kind, ERROR_USAGE);
        if (!strstr(err.message, rows[i][1]))
            fail_msg("'%s' does not say '%s'", err.message, rows[i][1]);
    }
}

static void right_fields(void **state) {
    static const char *const rows[] = {
        "{\"evictionHard\":{\"memory.available\":\"100Mi\",\"nodefs.available\":\"10%\"}}",
        "{\"evictionHard\":{\"memory.available\":\"0%\",\"imagefs.available\":\"12.5%\"}}",
        "{\"evictionSoft\":{\"memory.available\":\"1Gi\"},\"evictionSoftGracePeriod\":{"
        "\"memory.available\":\"1m30s\"},\"evictionMinimumReclaim\":{\"memory.available\":\"0\"}}",
        "{\"systemReserved\":{\"cpu\":\"500m\",\"memory\":\"1.5Gi\",\"ephemeral-storage\":\"1e9\","
        "\"pid\":\"+5\"},\"kubeReserved\":{\"memory\":\"1Ei\",\"cpu\":\"0.1\"}}",
        "{\"containerLogMaxSize\":\"10Mi\"}",
        "{\"containerLogMaxSize\":\"1.5G\"}",
        "{\"containerLogMaxSize\":\"\",\"systemReserved\":{},\"evictionHard\":null}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct error err = {0};

        if (check(rows[i], NULL, &err) < 0)
            fail_msg("%s: %s", rows[i], err.message);
    }
}

/* It wins over the field, and is judged itself. */
static void arguments(void **state) {
    static const char *const wrong[][2] = {{"system-reserved", "cpu=nope"},
                                           {"system-reserved", "cpu"},
                                           {"kube-reserved", "cpu=100m,memory=-1Gi"},
                                           {"eviction-hard", "memory.available<105%"},
                                           {"eviction-hard", "memory.free<1Gi"},
                                           {"system-reserved", "cpu=5m k"},
                                           {"eviction-minimum-reclaim", "memory.available=x"},
                                           {"container-log-max-size", "10MB"}};
    static const char *const right[][2] = {{"system-reserved", "cpu=100m,memory=1Gi"},
                                           {"eviction-hard", "memory.available<5%"},
                                           {"eviction-soft-grace-period", "memory.available=2m"},
                                           {"container-log-max-size", "10Mi"},
                                           {"max-pods", "x"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        assert_int_equal(kubelet_argument_check(wrong[i][0], wrong[i][1], NULL), -1);
    for (size_t i = 0; i < ARRAY_SIZE(right); i++)
        assert_int_equal(kubelet_argument_check(right[i][0], right[i][1], NULL), 0);
    assert_int_equal(
        check("{\"systemReserved\":{\"cpu\":\"nope\"}}", "system-reserved=cpu=1", NULL), 0);
    assert_int_equal(check("{\"evictionSoft\":{\"memory.available\":\"1Gi\"}}",
                           "eviction-soft-grace-period=memory.available=1m", NULL),
                     0);
    assert_int_equal(check("{\"systemReserved\":{\"cpu\":\"nope\"}}", "max-pods=1", NULL), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_fields),
        cmocka_unit_test(right_fields),
        cmocka_unit_test(arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
