/* What is asked of a kubelet, and what of its last words is about its configuration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/phases/kubelet_question.h"

static void its_objection_is_heard(void **state) {
    static const struct {
        const char *said, *objection;
    } rows[] = {
        {"W1 x.go:36] ignored configuration option\r\n"
         "E1122 05:02:49.1 32 run.go:72] \"command failed\" err=\"failed to validate kubelet "
         "configuration, error: invalid configuration: option \\\"x\\\" specified for hairpinMode, "
         "path: &TypeMeta{Kind:,APIVersion:,}\"\r\n",
         "invalid configuration: option \"x\" specified for hairpinMode"},
        {"panic: failed to merge global and in-flight KubeletConfiguration while setting "
         "defaults, error: unrecognized feature gate: NoSuchGate\n\ngoroutine 1 [running]:\n",
         "unrecognized feature gate: NoSuchGate"},
        {"E1 run.go:72] \"command failed\" err=\"initialize logging: logging.vmodule[0]: Required "
         "value\"\n",
         "logging.vmodule[0]: Required value"},
        {"E1 run.go:72] \"command failed\" err=\"failed to run Kubelet: cannot exit on lock file "
         "contention: no lock file specified\"\n",
         NULL},
        {"E1 run.go:72] \"command failed\" err=\"failed to parse kubelet flag: unknown flag: "
         "--exit-on-lock-contention\"\n",
         NULL},
        {"failed to validate kubelet configuration", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(freep) char *objection = kubelet_question_objection(rows[i].said);

        if (rows[i].objection)
            assert_string_equal(objection, rows[i].objection);
        else
            assert_null(objection);
    }
}

static void only_what_somebody_chose_is_asked(void **state) {
    static const struct {
        const char *text;
        bool needed;
    } rows[] = {
        {"{}", false},
        {"{\"kind\":\"x\",\"maxPods\":5,\"crashLoopBackOff\":{},\"syncFrequency\":\"0s\"}", false},
        {"{\"logging\":{\"flushFrequency\":0,\"options\":{\"json\":{\"infoBufferSize\":\"0\"}}}}",
         false},
        {"{\"logging\":{\"verbosity\":1}}", true},
        {"{\"featureGates\":{\"A\":false}}", true},
        {"{\"featureGates\":{}}", false},
        {"{\"registerNode\":false}", true},
        {"{\"memoryThrottlingFactor\":0.5}", true},
        {"{\"tlsCurvePreferences\":[29]}", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *config = json_loads(rows[i].text, 0, NULL);

        assert_non_null(config);
        assert_int_equal(kubelet_question_is_needed(config), rows[i].needed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_objection_is_heard),
        cmocka_unit_test(only_what_somebody_chose_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
