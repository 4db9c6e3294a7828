/* The phase that starts the kubelet and waits until it is healthy. */
#include "join/found/need.h"
#include "join/phases/phases.h"
#include "join/phases/steps.h"
#include "join/programs/programs.h"
#include "join/services/service_watch.h"

int phase_kubelet(struct join *join, struct error *err) {
    struct service_settings settings;
    _cleanup_(freep) char *refused_before = NULL;
    _cleanup_(freep) char *manifests = join_manifest_folder(join);
    bool bootstraps;

    if (host_refuse_stranger_in(join->host, manifests, err) < 0)
        return error_prefix(err, "start the kubelet, which runs the pods of '%s'", manifests);
    programs_service_settings(join->host, &join->found, &settings);
    settings.bootstrap_kubeconfig = text_equal(join->found.options.tls_bootstrap, "kubelet");
    bootstraps = join_kubelet_bootstraps(join->host, &join->found);
    if (bootstraps)
        refused_before = kubelet_bootstrap_refused_before(join);
    if (service_start(&join->watch, &join->journal, &service_kubelet, &settings, err) < 0 ||
        (bootstraps && kubelet_bootstrap_wait(join, refused_before, err) < 0) ||
        service_prove(join, err) < 0) {
        kubelet_bootstrap_end(&join->journal, &join->progress);
        return -1;
    }
    kubelet_bootstrap_end(&join->journal, &join->progress);
    text_addf(&join->progress.detail, "%s, healthy%s", settings.kubelet_version,
              bootstraps ? ", has its own certificate" : "");
    return 0;
}
