/* These phases start containerd, the kubelet and kube-proxy and wait until they work. */
#include "join/phases/steps.h"

#include "join/found/need.h"
#include "join/preflight/preflight.h"
#include "join/programs/programs.h"
#include "join/services/service_watch.h"
#include "join/wanted/wanted.h"
#include "netsetup/agents/agent.h"

int phase_containerd(struct join *join, struct error *err) {
    _cleanup_(freep) char *pipe = service_proof_pipe(join);

    if (features_install_hyper_v(join, err) < 0 ||
        journal_own_folder(&join->journal, service_containerd.data_folder, err) < 0)
        return -1;
    if (service_run(join, &service_containerd, err) < 0)
        return -1;
    text_addf(&join->progress.detail, "running, %s", pipe);
    if (bundle_images_import(join, err) < 0)
        return -1;
    programs_bundle_close(join);
    return images_begin(join, err);
}

int phase_kubelet(struct join *join, struct error *err) {
    struct service_settings settings;
    _cleanup_(freep) char *refused_before = NULL;
    _cleanup_(freep) char *manifests = join_manifest_folder(join);
    bool bootstraps;

    if (host_refuse_untrusted_in(join->host, manifests, err) < 0)
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

int phase_kube_proxy(struct join *join, struct error *err) {
    if (!programs_wanted(&join->found, &service_kube_proxy)) {
        text_addf(&join->progress.detail, "left to the cluster (%s)",
                  join->found.plan.agent->in_cluster ? "--network-plugin external"
                                                     : "--kube-proxy none");
        return 0;
    }
    return wanted_files_apply(join, (struct wanted_choice){.phase = "kube-proxy"}, err) < 0
               ? -1
               : service_run(join, &service_kube_proxy, err);
}
