/* Values with which a kubelet for Windows does not start; tests/configuration/kubelet.py has many
 * more, and asks the kubelet itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "join/kubelet/kubelet_checks.h"

/* JSON, and the field that is named; NULL: nothing is wrong. */
static const struct {
    const char *text, *path;
} rows[] = {
    {"{}", NULL},
    {"{\"maxPods\":-1}", "maxPods"},
    {"{\"maxPods\":0,\"port\":0,\"healthzPort\":65535}", NULL},
    {"{\"port\":65536}", "port"},
    {"{\"maxPods\":null,\"logging\":null,\"evictionHard\":null}", NULL},
    {"{\"containerLogMonitorInterval\":\"2999ms\"}", "containerLogMonitorInterval"},
    {"{\"containerLogMonitorInterval\":\"3s\"}", NULL},
    {"{\"logging\":{\"flushFrequency\":-1}}", "logging.flushFrequency"},
    {"{\"hairpinMode\":\"\",\"tlsMinVersion\":\"VersionTLS13\"}", NULL},
    {"{\"tlsMinVersion\":\"versionTLS13\"}", "tlsMinVersion"},
    {"{\"imageGCHighThresholdPercent\":80}", "imageGCHighThresholdPercent"},
    {"{\"imageGCHighThresholdPercent\":50,\"imageGCLowThresholdPercent\":49}", NULL},
    {"{\"imageMaximumGCAge\":\"2m\"}", "imageMaximumGCAge"},
    {"{\"imageMaximumGCAge\":\"2m\",\"imageMinimumGCAge\":\"1m59s\"}", NULL},
    {"{\"shutdownGracePeriodCriticalPods\":\"2s\"}", "shutdownGracePeriodCriticalPods"},
    {"{\"userNamespaces\":{}}", "userNamespaces"},
    {"{\"userNamespaces\":null,\"defaultPodSysctls\":{}}", NULL},
    {"{\"tlsCipherSuites\":[\"TLS_AES_128_GCM_SHA256\"]}", "tlsCipherSuites"},
    {"{\"tlsCipherSuites\":[\"x\"],\"tlsMinVersion\":\"VersionTLS13\"}", NULL},
    {"{\"registerWithTaints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"},null]}",
     "registerWithTaints[1]"},
    {"{\"address\":\"::\",\"podLogsDir\":\"C:/var/log/pods\"}", NULL},
    {"{\"address\":\"localhost\"}", "address"},
    {"{\"podLogsDir\":\"C:\\\\a\\\\..\\\\b\"}", "podLogsDir"},
    {"{\"podLogsDir\":\"C:\\\\a\\\\\\\\b\"}", "podLogsDir"},
    {"{\"imageServiceEndpoint\":\"x\"}", "imageServiceEndpoint"},
    {"{\"evictionHard\":{\"memory.available\":\"100.1%\"}}", "evictionHard[memory.available]"},
    {"{\"evictionHard\":{\"memory.available\":\"0%\",\"nodefs.available\":\"1e3\"}}", NULL},
    {"{\"evictionHard\":{\"memory.available\":\"0Mi\"}}", "evictionHard[memory.available]"},
    {"{\"evictionHard\":{\"memory.available\":null}}", "evictionHard[memory.available]"},
    {"{\"evictionHard\":{\"memory.available\":\" 5%\"}}", "evictionHard[memory.available]"},
    {"{\"evictionHard\":{\"memory.available\":\"nan%\"}}", "evictionHard[memory.available]"},
    {"{\"evictionSoft\":{\"memory.available\":\"1Gi\"}}", "evictionSoft[memory.available]"},
    {"{\"evictionSoft\":{\"memory.available\":\"100%\"}}", NULL},
    {"{\"evictionMinimumReclaim\":{\"memory.available\":\"0%\"}}",
     "evictionMinimumReclaim[memory.available]"},
    {"{\"kubeReserved\":{\"cpu\":\"500m\",\"pid\":\"5\"},\"systemReserved\":{\"cpu\":\"-0\"}}",
     NULL},
    {"{\"kubeReserved\":{\"gpu\":\"1\"}}", "kubeReserved[gpu]"},
    {"{\"systemReserved\":{\"cpu\":\"-1n\"}}", "systemReserved[cpu]"},
    {"{\"containerLogMaxSize\":\"1.5Gi\"}", "containerLogMaxSize"},
    {"{\"containerLogMaxSize\":\"-1\"}", NULL},
};

static void each_is_named(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_json_ json_t *config = json_loads(rows[i].text, 0, NULL);
        _cleanup_(freep) char *path = NULL, *wanted = NULL;

        assert_non_null(config);
        assert_int_equal(kubelet_config_problem(config, &path, &wanted), rows[i].path != NULL);
        if (rows[i].path) {
            assert_string_equal(path, rows[i].path);
            assert_true(*wanted);
        } else {
            assert_null(path);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
