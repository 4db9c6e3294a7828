/* Reads versions of Kubernetes and containerd. */
#include "services/version.h"

#include "base/text.h"

unsigned containerd_major(const char *version) {
    const char *number = version + (*version == 'v');
    long long major = 0;
    _cleanup_(freep) char *digits = xstrndup(number, strspn(number, "0123456789"));

    if (number[strlen(digits)] != '.')
        return 0;
    return text_to_number(digits, 1, 99, &major) < 0 ? 0 : (unsigned)major;
}

size_t kubernetes_release_length(const char *version) {
    static const char *const prereleases[] = {"-alpha.", "-beta.", "-rc."};
    size_t len = strcspn(version, "+"), release = strcspn(version, "-+");

    for (size_t i = 0; i < ARRAY_SIZE(prereleases); i++)
        if (text_starts_with(version + release, prereleases[i]))
            return len;
    return release;
}

int kubernetes_minor(const char *version, const char *what, unsigned *ret, struct error *err) {
    if (!version)
        return error_set(err, ERROR_USAGE, "read version of %s: no version given", what);
    const char *text = version;
    size_t skip = text_starts_with(text, "v1.") ? 3 : text_starts_with(text, "1.") ? 2 : 0;
    size_t digits = strspn(text + skip, "0123456789");
    _cleanup_(freep) char *minor = xstrndup(text + skip, digits);
    bool ends = text[skip + digits] == '.' || text[skip + digits] == '\0';
    long long number = 0;
    if (!skip || !ends || text_to_number(minor, 0, 999, &number) < 0)
        return error_set(err, ERROR_USAGE, "read version of %s: '%s' is not a version", what, text);
    *ret = (unsigned)number;
    return 0;
}
