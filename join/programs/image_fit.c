/* Compares the Windows builds of an image with this machine's build. */
#include "join/programs/programs.h"
#include "netsetup/windows_builds.h"
#include "services/artifacts/catalog.h"

enum image_fit image_fit(const struct image_facts *facts, unsigned build) {
    return !build || (!facts->runs && !facts->versions.count) ? IMAGE_UNKNOWN
           : facts->runs                                      ? IMAGE_FITS
                                                              : IMAGE_UNFIT;
}

enum image_fit image_fit_ask(const struct mirror *from, const char *image, unsigned build,
                             struct image_facts *ret, struct error *err) {
    return text_starts_with(image, "docker.io/") ||
                   image_facts_of_registry(from, image, build, ret, err) < 0
               ? IMAGE_UNKNOWN
               : image_fit(ret, build);
}

char *image_for_build(const char *image, unsigned build) {
    static const char mark[] = "ltsc";
    enum { YEAR = 4 };
    const char *name = windows_build_name(build), *at = strrchr(image, ':');
    const char *year = name ? strrchr(name, ' ') + 1 : "";

    at = at && !strchr(at, '/') && !strchr(image, '@') ? strstr(at, mark) : NULL;
    at = at ? at + strlen(mark) : NULL;
    if (!*year || !at || strspn(at, "0123456789") != YEAR || text_starts_with(at, year))
        return NULL;
    return xasprintf("%.*s%s%s", (int)(at - image), image, year, at + YEAR);
}

char *image_for_build_ask(const struct mirror *from, const char *image, unsigned build) {
    _cleanup_(image_facts_free) struct image_facts facts = {0};
    _cleanup_(freep) char *other = image_for_build(image, build);

    return other && image_fit_ask(from, other, build, &facts, ERROR_IGNORED) == IMAGE_FITS
               ? take_ptr(other)
               : NULL;
}

/* ---- images of a bundle ---- */

enum image_fit bundle_image_fit(struct join *join, const struct artifact *image,
                                struct image_facts *ret) {
    unsigned build = join->found.facts.build;
    _cleanup_(freep) char *head = NULL;
    size_t len;

    return bundle_head(join->found.bundle, image, &head, &len, ERROR_IGNORED) < 0 ||
                   image_facts_of_archive(head, len, build, ret, ERROR_IGNORED) < 0
               ? IMAGE_UNKNOWN
               : image_fit(ret, build);
}

int bundle_images_check(struct join *join, struct error *err) {
    const struct bundle *bundle = join->found.bundle;
    const struct artifacts *images = bundle_images(bundle);
    const struct artifact *sandbox =
        bundle ? artifact_find(bundle_artifacts(bundle), ARTIFACT_IMAGE) : NULL;

    for (size_t i = 0; i < images->count + !!sandbox; i++) {
        const struct artifact *image = i < images->count ? &images->items[i] : sandbox;
        bool is_sandbox = text_equal(image->name, ARTIFACT_IMAGE);
        unsigned build = join->found.facts.build;
        _cleanup_(image_facts_free) struct image_facts facts = {0};
        _cleanup_(freep) char *builds = NULL, *other = NULL;

        if (bundle_image_fit(join, image, &facts) != IMAGE_UNFIT)
            continue;
        builds = text_list_join(&facts.versions, ", ");
        other = image_for_build(image->name, build);
        (void)error_set(err, ERROR_PREFLIGHT,
                        "the bundle's image %s is not for build %u of Windows, but for %s",
                        image->name, build, builds);
        return error_hint(err,
                          "make the bundle again: winjoin bundle create --windows-build %u %s%s",
                          build, is_sandbox ? "--images" : "--image ",
                          is_sandbox ? ""
                          : other    ? other
                                     : image->name);
    }
    return 0;
}

/* ---- the sandbox image of this node's Pods ---- */

static bool image_is_brought(struct host *host, const struct join_found *found) {
    const struct artifacts *brought = found->bundle ? bundle_artifacts(found->bundle) : NULL;

    return artifact_find(brought, ARTIFACT_IMAGE) ||
           (host_file_type(host, ARTIFACT_IMAGE_FILE) == HOST_FILE &&
            host_refuse_untrusted(host, ARTIFACT_IMAGE_FILE, ERROR_IGNORED) == 0);
}

char *programs_sandbox_image(struct host *host, struct join_found *found) {
    if (found->options.sandbox_image)
        return xstrdup(found->options.sandbox_image);
    return sandbox_image(image_is_brought(host, found) ? NULL : found->cluster.image_repository,
                         programs_node_version(host, found, &service_kubelet), found->facts.build);
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
