/* The check of the images that the join is to pull: do their registries have them for this build?
 */
#include "join/preflight/preflight_checks.h"
#include "netsetup/windows_builds.h"
#include "services/artifacts/image.h"

enum { LIMIT_MS = 5000 };

struct asking {
    const struct mirror *from;
    unsigned build;
};

/* 1: it is for this build; 0: it is not, and *versions has what it is for; -1: not known (the
 * registry of docker.io has another name). */
static int fits(const struct asking *a, const char *image, struct text_list *versions,
                struct error *err) {
    _cleanup_(freep) char *wanted = xasprintf("10.0.%u.", a->build);

    if (text_starts_with(image, "docker.io/") ||
        image_versions(a->from, image, versions, err) < 0 || !versions->count)
        return -1;
    for (size_t i = 0; i < versions->count; i++)
        if (text_starts_with(versions->items[i], wanted))
            return 1;
    return 0;
}

/* The image for this build whose tag differs in the name of the build alone: "...:ltsc2022". NULL:
 * the registry has none. The caller frees. */
static char *other_tag(const struct asking *a, const char *image) {
    static const char mark[] = "ltsc";
    _cleanup_(text_list_free) struct text_list versions = {0};
    const char *name = windows_build_name(a->build), *at = strrchr(image, ':');
    _cleanup_(freep) char *other = NULL;

    at = at && !strchr(at, '/') ? strstr(at, mark) : NULL;
    if (!name || !at || strspn(at + strlen(mark), "0123456789") != 4 || strchr(image, '@'))
        return NULL;
    other = xasprintf("%.*s%s%s", (int)(at - image) + (int)strlen(mark), image,
                      strrchr(name, ' ') + 1, at + strlen(mark) + 4);
    return fits(a, other, &versions, ERROR_IGNORED) > 0 ? take_ptr(other) : NULL;
}

static enum verdict tell_unfit(const struct asking *a, const char *image,
                               const struct text_list *versions, struct finding *finding) {
    _cleanup_(freep) char *list = text_list_join(versions, ", "), *other = other_tag(a, image);

    if (other)
        check_hint(finding, "use %s", other);
    return check_bad(finding, "%s is not for build %u of Windows, but for %s", image, a->build,
                     list);
}

/* A registry that cannot be asked from here may be one that containerd reaches by a mirror. */
enum verdict check_images(struct join *join, struct finding *finding) {
    const struct join_options *o = &join->found.options;
    const struct mirror from = {.host = join->host,
                                .http = join->http,
                                .url = o->source_base,
                                .follows_redirects = true,
                                .limit_ms = LIMIT_MS};
    const struct asking asking = {&from, join->found.facts.build};
    const struct text_list *lists[] = {&o->images_required, &o->images};
    size_t unknown = 0;

    if (!o->images.count && !o->images_required.count)
        return CHECK_FINE;
    if (text_equal(o->source_base, JOIN_SOURCE_NONE))
        return check_not_run(finding, "--source-base none: no registry is asked");
    for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
        for (size_t i = 0; i < lists[l]->count && !unknown; i++) {
            _cleanup_(text_list_free) struct text_list versions = {0};
            int fit = fits(&asking, lists[l]->items[i], &versions, &finding->why);

            if (fit == 0)
                return tell_unfit(&asking, lists[l]->items[i], &versions, finding);
            if (fit < 0 && finding->why.kind == ERROR_ABSENT && !o->source_base)
                return check_bad(finding, "the registry has no image %s", lists[l]->items[i]);
            unknown += fit < 0;
        }
    error_clear(&finding->why);
    return unknown ? check_not_run(finding, "a registry did not say for which builds an image is")
                   : CHECK_FINE;
}
