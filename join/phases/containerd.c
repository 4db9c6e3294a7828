/* The phase that starts containerd and waits for its pipe. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/phases/phases.h"
#include "join/phases/service_proof.h"
#include "join/programs/programs.h"
#include "services/artifacts.h"

enum { IMPORT_MS = 300000 };

/* The sandbox image that a bundle brought, for a node that reaches no registry. */
static int import_image(struct join *join, const char *pipe, struct error *err) {
    struct artifact_target image, ctr;
    const char *argv[] = {NULL,     "--address", pipe, "--namespace", "k8s.io",
                          "images", "import",    NULL, NULL};
    const struct host_process process = {
        .argv = argv, .timeout_ms = IMPORT_MS, .with_errors = true};
    _cleanup_(freep) char *output = NULL;
    int code = 0;

    if (!artifact_target_find("pause", &image) || !artifact_target_find("ctr", &ctr) ||
        host_file_type(join->host, image.target) != HOST_FILE)
        return 0;
    argv[0] = ctr.target;
    argv[7] = image.target;
    if (host_file_type(join->host, ctr.target) != HOST_FILE) {
        join_warn(&join->progress, "'%s' is not imported: '%s' is missing", image.target,
                  ctr.target);
        return 0;
    }
    if (host_run(join->host, &process, &code, &output, err) < 0)
        return error_prefix(err, "import '%s'", image.target);
    output[strcspn(output, "\r\n")] = '\0';
    if (code)
        return error_set(err, ERROR_HOST, "import '%s': ctr ends with %d: %.200s", image.target,
                         code, output);
    text_add(&join->progress.detail, ", sandbox image imported");
    return 0;
}

int phase_containerd(struct join *join, struct error *err) {
    _cleanup_(freep) char *pipe = service_proof_pipe(join);
    struct service_settings settings;

    if (journal_own_folder(&join->journal, service_containerd.data_folder, err) < 0)
        return -1;
    programs_service_settings(join->host, &join->found, &settings);
    if (service_run(join, &service_containerd, &settings, err) < 0)
        return -1;
    text_addf(&join->progress.detail, "running, %s", pipe);
    return import_image(join, pipe, err);
}
