/* The phase that starts the kubelet and waits until it is healthy. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/phases/kubelet_bootstrap.h"
#include "join/phases/phases.h"
#include "join/programs/programs.h"
#include "join/services/service_start.h"

enum { HEALTH_TIMEOUT_MS = 240000 };

struct starting {
    struct join *join;
    struct http_request request; /* to the kubelet */
};

static enum wait_look look_healthy(void *context, struct wait *wait, struct error *err) {
    const struct starting *s = context;
    struct http_response response = {0};
    struct error why = {0};
    int result = http_perform(s->join->http, &s->request, &response, &why);
    long status = response.status;

    (void)wait;
    http_response_free(&response);
    if (result == 0 && status == 200)
        return LOOK_DONE;
    if (service_watch_look(&s->join->watch, NULL, err) < 0)
        return LOOK_FAILED;
    (void)error_set(err, ERROR_TIMED_OUT, "for a healthy kubelet: %s",
                    result < 0 ? why.message : "not yet");
    return LOOK_AGAIN;
}

/* kubeadm: waitForKubelet; every 500 ms until /healthz answers 200. */
static int wait_healthy(struct join *join, struct error *err) {
    long long given = join->found.options.timeouts.kubelet_health_check;
    _cleanup_(freep) char *url = join_kubelet_health_url(join);
    struct starting starting = {.join = join,
                                .request = {.url = url, .timeout_ms = 2000, .proxy = ""}};
    struct wait wait = {.limit_ms = given ? (unsigned)given : HEALTH_TIMEOUT_MS,
                        .pause_ms = 500,
                        .look = look_healthy,
                        .tell = join_tell_missing,
                        .context = &starting,
                        .tell_context = &join->progress};
    enum wait_look end;

    if (!url) {
        join_warn(&join->progress, "healthzPort is 0: whether the kubelet is healthy is not asked");
        return 0;
    }
    end = wait_until(join->host, &wait, err);
    if (end != LOOK_AGAIN)
        return end;
    (void)error_set(err, ERROR_TIMED_OUT, "wait for the kubelet: not healthy after %u s",
                    wait.limit_ms / 1000);
    return error_hint(err, "its log: %s", service_kubelet.log_folder);
}

int phase_kubelet(struct join *join, struct error *err) {
    struct service_settings settings;
    _cleanup_(freep) char *refused_before = NULL;
    bool bootstraps;

    programs_service_settings(join->host, &join->found, &settings);
    settings.bootstrap_kubeconfig = text_equal(join->found.options.tls_bootstrap, "kubelet");
    bootstraps = join_kubelet_bootstraps(join->host, &join->found);
    if (bootstraps)
        refused_before = kubelet_bootstrap_refused_before(join);
    if (service_start(&join->watch, &join->journal, &service_kubelet, &settings, err) < 0 ||
        (bootstraps && kubelet_bootstrap_wait(join, refused_before, err) < 0) ||
        wait_healthy(join, err) < 0) {
        kubelet_bootstrap_end(&join->journal, &join->progress);
        return -1;
    }
    kubelet_bootstrap_end(&join->journal, &join->progress);
    text_addf(&join->progress.detail, "%s, healthy%s", settings.kubelet_version,
              bootstraps ? ", got its certificate itself" : "");
    return 0;
}
