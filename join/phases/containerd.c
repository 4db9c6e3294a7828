/* The phase that starts containerd and waits for its pipe. */
#include "join/phases/phases.h"
#include "join/phases/sandbox_image.h"
#include "join/phases/service_proof.h"
#include "join/preflight/features.h"
#include "join/programs/programs.h"

int phase_containerd(struct join *join, struct error *err) {
    _cleanup_(freep) char *pipe = service_proof_pipe(join);
    struct service_settings settings;

    if (features_install_hyper_v(join, err) < 0 ||
        journal_own_folder(&join->journal, service_containerd.data_folder, err) < 0)
        return -1;
    programs_service_settings(join->host, &join->found, &settings);
    if (service_run(join, &service_containerd, &settings, err) < 0)
        return -1;
    text_addf(&join->progress.detail, "running, %s", pipe);
    return sandbox_image_import(join, err);
}
