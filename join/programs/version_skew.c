/* Checks Kubernetes' version skew policy. */
#include "join/programs/programs.h"

#include "base/text.h"
#include "services/version.h"

enum { OLDER_BY = 3, OLDER_BY_BEFORE_1_25 = 2 };

static bool minor_of(const char *version, unsigned *ret) {
    return version && *version && kubernetes_minor(version, "", ret, NULL) == 0;
}

int version_skew_check(const struct version_skew *skew, struct error *err) {
    const char *program = skew->program ? skew->program : "kubelet";
    const char *kubelet = skew->kubelet, *oldest = NULL, *newest = NULL;
    unsigned minor, low = 0, high = 0, by, found;
    const char *const others[] = {skew->cluster, skew->server};

    if (kubelet && text_starts_with(kubelet, "Kubernetes "))
        kubelet += strlen("Kubernetes ");
    if (!minor_of(kubelet, &minor))
        return error_set(err, ERROR_PREFLIGHT,
                         "[KubeletVersion] couldn't get %s version: '%s' is not a version", program,
                         kubelet ? kubelet : "");
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        if (!minor_of(others[i], &found))
            continue;
        if (!oldest || found < low) {
            oldest = others[i];
            low = found;
        }
        if (!newest || found > high) {
            newest = others[i];
            high = found;
        }
    }
    if (!oldest)
        return 0;
    by = minor < 25 ? OLDER_BY_BEFORE_1_25 : OLDER_BY;
    if (minor > low) {
        (void)error_set(err, ERROR_PREFLIGHT,
                        "[KubeletVersion] the %s version is higher than the control plane version: "
                        "%s %s, control plane %s",
                        program, program, kubelet, oldest);
        return error_hint(err,
                          "upgrade the control plane first, or use a %s of its minor version or up "
                          "to three older",
                          program);
    }
    if (high <= minor + by)
        return 0;
    (void)error_set(err, ERROR_PREFLIGHT,
                    "[KubeletVersion] the %s version is more than %u minor versions older than the "
                    "control plane: %s %s, control plane %s",
                    program, by, program, kubelet, newest);
    return error_hint(err, "use a newer %s, preferably of the control plane's own version",
                      program);
}
