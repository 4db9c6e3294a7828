/* An image's builds beside this machine's. */
#include "join/programs/image_fit.h"

#include "netsetup/windows_builds.h"

enum image_fit image_fit(const struct image_facts *facts, unsigned build) {
    return !build || (!facts->runs && !facts->versions.count) ? IMAGE_UNKNOWN
           : facts->runs                                      ? IMAGE_FITS
                                                              : IMAGE_UNFIT;
}

enum image_fit image_fit_ask(const struct mirror *from, const char *image, unsigned build,
                             struct image_facts *ret, struct error *err) {
    return text_starts_with(image, "docker.io/") || image_look(from, image, build, ret, err) < 0
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
