/* The sandbox image of this node's pods: whose choice it is. */
#include "join/programs/programs.h"

#include "services/artifacts/compatible.h"

static bool image_is_brought(struct host *host, const struct join_found *found) {
    const struct artifacts *brought = found->bundle ? bundle_artifacts(found->bundle) : NULL;

    return artifact_find(brought, ARTIFACT_IMAGE) ||
           (host_file_type(host, ARTIFACT_IMAGE_FILE) == HOST_FILE &&
            host_refuse_stranger(host, ARTIFACT_IMAGE_FILE, ERROR_IGNORED) == 0);
}

char *programs_sandbox_image(struct host *host, struct join_found *found) {
    if (found->options.sandbox_image)
        return xstrdup(found->options.sandbox_image);
    return sandbox_image(image_is_brought(host, found) ? NULL : found->cluster.image_repository,
                         programs_kubelet_version(host, found), found->facts.build);
}

char *programs_image_warning(struct host *host, struct join_found *found) {
    _cleanup_(freep) char *image = NULL;

    if (found->options.sandbox_image || !found->cluster.image_repository ||
        image_is_brought(host, found))
        return NULL;
    image = programs_sandbox_image(host, found);
    return xasprintf("the sandbox image comes from the cluster's imageRepository: %s must be there "
                     "for Windows, or no pod starts (winjoin bundle create --images brings it)",
                     image);
}

void programs_warn_of_image(struct join *join) {
    _cleanup_(freep) char *image = programs_image_warning(join->host, &join->found);

    if (image)
        join_warn(&join->progress, "%s", image);
}
