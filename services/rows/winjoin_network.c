/* Describes the service winjoin-network, which runs winjoin itself. */
#include "services/rows/service_rows.h"

static int arguments(const struct service_settings *, struct text_list *ret, struct error *) {
    text_list_add(ret, "service");
    text_list_add(ret, "run");
    text_list_add(ret, service_network.name);
    return 0;
}

const struct service service_network = {
    SERVICE_NAMED("winjoin-network", "winjoin-network"),
    .display_name = "winjoin network",
    .description = "winjoin: restores the pod network when Windows or HNS starts again",
    .program = WINJOIN_PROGRAM,
    .depends_on = {"hns"},
    .restart_delays_ms = {5000, 15000, 60000},
    .reset_seconds = 600,
    .phase = "pod-network",
    .arguments = arguments,
};
