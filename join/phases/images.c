/* Images that pods will need, pulled before the kubelet can start one. */
#include "join/phases/steps.h"

#include "services/artifacts/artifacts.h"
#include "services/cri.h"

enum { PULL_MS = 1800000 };

/* What is pulled in part stays in containerd's content store: the next try goes on with it. */
static int pull(struct join *join, const char *pipe, const char *image, bool required,
                size_t *pulled, struct error *err) {
    struct error why = {0};
    bool is_new = false;

    if (cri_image_pull(join->host, pipe, image, PULL_MS, &is_new, &why) == 0) {
        *pulled += is_new;
        return 0;
    }
    if (required || why.kind == ERROR_INTERRUPTED || host_deadline_passed(join->host))
        return error_pass(err, &why);
    join_warn(&join->progress, "%s; the first pod that needs it waits for it", why.message);
    return 0;
}

int images_pull(struct join *join, struct error *err) {
    const struct text_list *lists[] = {&join->found.options.images_required,
                                       &join->found.options.images};
    _cleanup_(freep) char *pipe = service_proof_pipe(join);
    size_t count = lists[0]->count + lists[1]->count, at = 0, pulled = 0;

    for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
        for (size_t i = 0; i < lists[l]->count; i++) {
            join_tell_waiting(&join->progress, 0, PULL_MS, "", "pulling image %s (%zu of %zu)",
                              lists[l]->items[i], ++at, count);
            if (pull(join, pipe, lists[l]->items[i], l == 0, &pulled, err) < 0)
                return -1;
        }
    if (count) {
        join_fact(&join->progress, "pulled", json_integer((json_int_t)pulled));
        text_addf(&join->progress.detail, ", %zu of %zu image%s pulled", pulled, count,
                  PLURAL(count));
    }
    return 0;
}

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
