/* The phase that starts kube-proxy and waits for the first Service in HNS. */
#include "base/memory.h"
#include "join/files/node_files.h"
#include "join/found/need.h"
#include "join/phases/phases.h"
#include "join/programs/programs.h"
#include "join/services/service_start.h"
#include "netsetup/hcn_network.h"

enum { PROGRAMMED_TIMEOUT_MS = 60000 };

/* kube-proxy says nothing of its own; what it programmed stands in HNS. */
static enum wait_look look_programmed(void *context, struct wait *wait, struct error *err) {
    static const char slices[] = "/apis/discovery.k8s.io/v1/endpointslices?limit=1";
    struct join *join = context;
    _cleanup_json_ json_t *balancers = NULL;

    if (hcn_list(join->host, HCN_LOAD_BALANCER, NULL, NULL, &balancers, err) < 0)
        return LOOK_FAILED;
    if (json_array_size(balancers)) {
        text_addf(&join->progress.detail, "running, %zu load balancers programmed",
                  json_array_size(balancers));
        return LOOK_DONE;
    }
    if (service_watch_rights(&join->watch, slices, err) < 0 ||
        service_watch_look(&join->watch, NULL, err) < 0)
        return LOOK_FAILED;
    wait->limit_ms = service_watch_limit(&join->watch, PROGRAMMED_TIMEOUT_MS);
    (void)error_set(err, ERROR_TIMED_OUT, "for kube-proxy to program the first Service");
    return LOOK_AGAIN;
}

static int wait_programmed(struct join *join, struct error *err) {
    struct wait wait = {.limit_ms = PROGRAMMED_TIMEOUT_MS,
                        .pause_ms = 500,
                        .look = look_programmed,
                        .tell = join_tell_missing,
                        .context = join,
                        .tell_context = &join->progress};
    enum wait_look end = wait_until(join->host, &wait, err);

    if (end != LOOK_AGAIN)
        return end;
    (void)error_set(err, ERROR_TIMED_OUT, "wait for kube-proxy: no Service programmed after %u s",
                    wait.limit_ms / 1000);
    return error_hint(err, "its log: %s", service_kube_proxy.log_folder);
}

int phase_kube_proxy(struct join *join, struct error *err) {
    _cleanup_(node_files_free) struct node_files files = {0};
    struct service_settings settings;

    if (text_equal(join->found.options.kube_proxy, "none")) {
        text_add(&join->progress.detail, "left to the cluster (--kube-proxy none)");
        return 0;
    }
    if (node_files_kube_proxy(join->host, &join->found, &files, err) < 0 ||
        node_files_lay(&join->journal, &files, err) < 0)
        return -1;
    programs_service_settings(join->host, &join->found, &settings);
    if (service_start(&join->watch, &join->journal, &service_kube_proxy, &settings, err) < 0)
        return -1;
    return wait_programmed(join, err);
}
