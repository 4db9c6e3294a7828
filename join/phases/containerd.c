/* The phase that starts containerd and waits for its pipe. */
#include "join/phases/phases.h"
#include "join/phases/steps.h"
#include "join/preflight/preflight.h"
#include "join/programs/programs.h"

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
