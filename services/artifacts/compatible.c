/* Has the table of versions that work together. */
#include "services/artifacts/catalog.h"

#include <stdio.h>

#include "services/version.h"

#define TESTED "containerd is tested with this Kubernetes"
#define CONTAINERD "containerd v2.4.2, RELEASES.md, Kubernetes Support"
#define CNI_SPEC "its configuration is of CNI 1.0.0"
#define CNI_PLUGINS "containernetworking/plugins v1.0.0"
#define PAUSE "kubernetes/kubernetes build/pause/CHANGELOG.md"

enum { SERVER_2025 = 26100, NUMBERS = 3 };

static const struct compatible rows[] = {
    {"containerd", 24, 25, 0, "1.6.4", TESTED, "containerd/containerd.io#213"},
    {"containerd", 26, 28, 0, "1.6.15", TESTED, "containerd/containerd.io#213"},
    {"containerd", 29, 29, 0, "1.7.11 1.6.27", TESTED, "containerd/containerd.io#213"},
    {"containerd", 30, 30, 0, "2.0.0 1.7.13 1.6.28", TESTED, CONTAINERD},
    {"containerd", 31, 31, 0, "2.0.0 1.7.20 1.6.34", TESTED, CONTAINERD},
    {"containerd", 32, 32, 0, "2.1.0 2.0.1 1.7.24 1.6.36", TESTED, CONTAINERD},
    {"containerd", 33, 33, 0, "2.1.0 2.0.4 1.7.24 1.6.36", TESTED, CONTAINERD},
    {"containerd", 34, 34, 0, "2.1.3 2.0.6 1.7.28 1.6.39", TESTED, CONTAINERD},
    {"containerd", 35, 35, 0, "2.2.0 2.1.5 1.7.28", TESTED, CONTAINERD},
    {"containerd", 36, 36, 0, "2.3.0 2.2.0", TESTED, CONTAINERD},
    {"containerd", 37, 0, 0, "2.4.0 2.3.0", TESTED, CONTAINERD},
    {"win-overlay", 0, 0, 0, "1.0.0", CNI_SPEC, CNI_PLUGINS},
    {"win-bridge", 0, 0, 0, "1.0.0", CNI_SPEC, CNI_PLUGINS},
    {"host-local", 0, 0, 0, "1.0.0", CNI_SPEC, CNI_PLUGINS},
    {"pause", 0, 0, 0, "3.10.1", "its base has the security fixes of 2025", PAUSE},
    {"pause", 36, 0, 0, "3.10.2", "kubeadm's image of this Kubernetes",
     "kubernetes/kubernetes cmd/kubeadm/app/constants/constants.go"},
    {"pause", 0, 0, SERVER_2025, "3.10.2", "older ones have no image for Server 2025", PAUSE},
};

/* Reads the three numbers of "v2.4.2", "2.4.2-rc.1" or "containerd github.com/... v2.4.2 ...". */
static bool numbers_of(const char *version, unsigned ret[NUMBERS]) {
    const char *at = version ? strstr(version, " v") : NULL;

    at = at ? at + 2 : version ? version + (*version == 'v') : "";
    /* NOLINTNEXTLINE(cert-err34-c): reading stops at a part that is no number. */
    return sscanf(at, "%4u.%4u.%4u", &ret[0], &ret[1], &ret[2]) == NUMBERS;
}

static int order(const unsigned a[NUMBERS], const unsigned b[NUMBERS]) {
    for (size_t i = 0; i < NUMBERS; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static bool counts(const struct compatible *row, const char *kubernetes, unsigned build) {
    unsigned minor = 0;

    if (row->from && (kubernetes_minor(kubernetes, "", &minor, NULL) < 0 || minor < row->from ||
                      (row->to && minor > row->to)))
        return false;
    return build >= row->build;
}

const struct compatible *compatible_breach(const char *program, const char *version,
                                           const char *kubernetes, unsigned build) {
    unsigned found[NUMBERS], wanted[NUMBERS];

    for (size_t i = 0; numbers_of(version, found) && i < ARRAY_SIZE(rows); i++) {
        bool good = !text_equal(rows[i].program, program) || !counts(&rows[i], kubernetes, build);

        /* All versions from the row's first one on are good. Each further version in the row makes
         * later versions of the same MAJOR.MINOR good. */
        for (const char *at = rows[i].versions; !good && at && numbers_of(at, wanted);
             at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
            good = order(found, wanted) >= 0 &&
                   (at == rows[i].versions || (found[0] == wanted[0] && found[1] == wanted[1]));
        if (!good)
            return &rows[i];
    }
    return NULL;
}

/* Describes the allowed versions, as "2.4.0 or newer, 2.3.0 or newer of 2.3". */
static char *versions_text(const char *versions) {
    struct text out = {0};
    unsigned v[NUMBERS];

    for (const char *at = versions; at && numbers_of(at, v);
         at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL) {
        text_addf(&out, "%s%u.%u.%u or newer", out.len ? ", " : "", v[0], v[1], v[2]);
        if (at != versions)
            text_addf(&out, " of %u.%u", v[0], v[1]);
    }
    return text_take(&out);
}

static char *kubernetes_text(const struct compatible *row) {
    if (!row->from)
        return NULL;
    return row->to == row->from ? xasprintf("1.%u", row->from)
           : row->to            ? xasprintf("1.%u to 1.%u", row->from, row->to)
                                : xasprintf("1.%u or newer", row->from);
}

char *compatible_message(const struct compatible *row, const char *version) {
    _cleanup_(freep) char *versions = versions_text(row->versions);
    _cleanup_(freep) char *kubernetes = kubernetes_text(row);
    unsigned v[NUMBERS] = {0};

    (void)numbers_of(version, v);
    return xasprintf("%s %u.%u.%u: use %s%s%s (%s)", row->program, v[0], v[1], v[2], versions,
                     kubernetes ? " with Kubernetes " : "", kubernetes ? kubernetes : "", row->why);
}

char *sandbox_image(const char *repository, const char *kubernetes, unsigned build) {
    const char *newest = NULL;
    unsigned best[NUMBERS] = {0}, found[NUMBERS];

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (text_equal(rows[i].program, "pause") && counts(&rows[i], kubernetes, build) &&
            numbers_of(rows[i].versions, found) && order(found, best) > 0) {
            newest = rows[i].versions;
            memcpy(best, found, sizeof best);
        }
    }
    return xasprintf("%s/pause:%s", repository ? repository : "registry.k8s.io", newest);
}

json_t *compatible_json(unsigned build) {
    json_t *list = json_array();

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct compatible *row = &rows[i];
        _cleanup_(freep) char *versions = versions_text(row->versions);
        _cleanup_(freep) char *kubernetes = kubernetes_text(row);

        if (build && build < row->build)
            continue;
        json_array_append_new(
            list, json_pack("{s:s, s:s*, s:o*, s:s, s:s, s:s}", "program", row->program,
                            "kubernetes", kubernetes, "windowsBuild",
                            row->build ? json_integer((json_int_t)row->build) : NULL, "versions",
                            versions, "why", row->why, "source", row->source));
    }
    return list;
}
