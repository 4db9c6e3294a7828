/* What of a kubelet's last words is about its configuration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/kubelet/kubelet_question.h"

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
        {"E1 run.go:72] \"command failed\" err=\"failed to load kubelet config file, path: "
         "C:\\\\x\\\\config.yaml, error: failed to load Kubelet config file "
         "C:\\\\x\\\\config.yaml, "
         "error failed to decode: json: cannot unmarshal string into Go struct field "
         "KubeletConfiguration.maxPods of type int32\"\n",
         "json: cannot unmarshal string into Go struct field KubeletConfiguration.maxPods of type "
         "int32"},
        {"E1 run.go:72] \"command failed\" err=\"failed to run Kubelet: cannot exit on lock file "
         "contention: no lock file specified\"\n",
         NULL},
        {"I1 server.go:1] \"x\"\npanic: non-positive interval for NewTicker\n\ngoroutine 1 "
         "[running]:",
         "non-positive interval for NewTicker"},
        {"E1 run.go:72] \"command failed\" err=\"failed to parse kubelet flag: unknown flag: "
         "--exit-on-lock-contention\"\n",
         NULL},
        {"E1 run.go:72] \"command failed\" err=\"failed to parse kubelet flag: unknown flag: "
         "--container-runtime\"\r\n",
         "unknown flag: --container-runtime"},
        {"Error: failed to parse kubelet flag: unknown shorthand flag: 'k' in -k\n",
         "unknown shorthand flag: 'k' in -k"},
        {"E1 run.go:72] \"command failed\" err=\"failed to validate kubelet flags: unknown "
         "'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [x.k8s.io/a]\"\n",
         "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [x.k8s.io/a]"},
        {"E1 run.go:72] \"command failed\" err=\"failed to merge kubelet configs: no such "
         "folder\"\n",
         "failed to merge kubelet configs: no such folder"},
        {"failed to validate kubelet configuration", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        bool of_arguments = false;
        _cleanup_(freep) char *objection = kubelet_question_objection(rows[i].said, &of_arguments);

        if (rows[i].objection)
            assert_string_equal(objection, rows[i].objection);
        else
            assert_null(objection);
    }
}

static void unknown_fields_are_heard(void **state) {
    _cleanup_(freep) char *unknown = kubelet_question_unknown(
        "I1122 05:02:49.1 32 codec.go:104] \"Using lenient decoding as strict decoding failed\" "
        "err=\"strict decoding error: unknown field \\\"maxPodz\\\", unknown field "
        "\\\"logging.x\\\"\"\r\nE1122 05:02:49.2 32 run.go:72] \"command failed\" err=\"failed "
        "to run Kubelet: cannot exit on lock file contention: no lock file specified\"\r\n");

    (void)state;
    assert_string_equal(unknown, "unknown field \"maxPodz\", unknown field \"logging.x\"");
    assert_null(kubelet_question_unknown("cannot exit on lock file contention"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_objection_is_heard),
        cmocka_unit_test(unknown_fields_are_heard),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
