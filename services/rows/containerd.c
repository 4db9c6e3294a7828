/* Describes the service containerd, which registers itself (--run-service). */
#include "services/rows/service_rows.h"
#include "services/containerd_settings.h"
#include "services/runtime_files.h"

static int arguments(const struct service_settings *, struct text_list *ret, struct error *) {
    /* containerd accepts "--flag value", too; "--flag=value" keeps each flag one word. */
    argument_add(ret, "--config", CONTAINERD_CONFIG_PATH);
    argument_add(ret, "--log-file", service_containerd.log_file);
    text_list_add(ret, "--run-service");
    return 0;
}

const struct service service_containerd = {
    SERVICE_NAMED("containerd", "containerd"),
    .display_name = "containerd",
    .description = "winjoin: runs the node's containers",
    .artifact = "containerd",
    .program = "C:\\Program Files\\containerd\\containerd.exe",
    .data_folder = CONTAINERD_DATA,
    /* The Pods' networks must exist before containerd starts Pods again. */
    .depends_on = {"hns", "winjoin-network"},
    .restart_delays_ms = {15000, 15000, 60000},
    .reset_seconds = 86400,
    .diagnosed = true,
    .proof = {.kind = SERVICE_OPENS_PIPE,
              .timeout_ms = 30000,
              .waiting = "for containerd's pipe",
              .failed = "wait for containerd: it did not open its pipe"},
    .arguments = arguments,
};
