/* An import by ctr, the client that comes with containerd: a node that reaches no registry has no
 * other image to start pods with. */
#include "join/phases/steps.h"

#include "services/artifacts/artifacts.h"

enum { IMPORT_MS = 300000 };

int sandbox_image_import(struct join *join, struct error *err) {
    _cleanup_(freep) char *pipe = service_proof_pipe(join), *output = NULL;
    struct artifact_target image, ctr;
    const char *argv[] = {NULL,     "--address", pipe, "--namespace", "k8s.io",
                          "images", "import",    NULL, NULL};
    const struct host_process process = {
        .argv = argv, .timeout_ms = IMPORT_MS, .with_errors = true};
    int code = 0;

    if (!artifact_target_find(ARTIFACT_IMAGE, &image) || !artifact_target_find("ctr", &ctr) ||
        host_file_type(join->host, image.target) != HOST_FILE)
        return 0;
    argv[0] = ctr.target;
    argv[7] = image.target;
    if (host_file_type(join->host, ctr.target) != HOST_FILE) {
        join_warn(&join->progress, "'%s' is not imported: '%s' is missing", image.target,
                  ctr.target);
        return 0;
    }
    if (host_refuse_stranger(join->host, image.target, err) < 0 ||
        host_refuse_stranger(join->host, ctr.target, err) < 0)
        return error_prefix(err, "import '%s'", image.target);
    if (host_run(join->host, &process, &code, &output, err) < 0)
        return error_prefix(err, "import '%s'", image.target);
    output[strcspn(output, "\r\n")] = '\0';
    if (code)
        return error_set(err, ERROR_HOST, "import '%s': ctr ends with %d: %.200s", image.target,
                         code, output);
    text_add(&join->progress.detail, ", sandbox image imported");
    return 0;
}
