/* Finds what an upgrade has to do: programs, files and services that are not as they should be. */
#include "base/build_info.h"
#include "join/found/need.h"
#include "join/kubelet/kubelet_files.h"
#include "join/programs/programs.h"
#include "join/undo/journal.h"
#include "join/upgrade/upgrade.h"
#include "join/wanted/wanted.h"
#include "services/artifacts/catalog.h"
#include "services/artifacts/program_image.h"
#include "services/program_flags.h"
#include "services/containerd_settings.h"
#include "services/runtime_files.h"
#include "services/hosted_service.h"
#include "services/version.h"

enum { DIFFERENCES_MAX = 20 };

/* ---- the kubelet's arguments ---- */

/* Keeps the kubelet's arguments that an administrator added by hand. */
static int keep_arguments(struct join *join, struct error *err) {
    _cleanup_(text_list_free) struct text_list own = {0};
    _cleanup_(freep) char *installed = programs_version(join->host, true, service_kubelet.program);
    const char *const versions[] = {installed, join->found.node.kubelet_version};
    _cleanup_(service_host_settings_free) struct service_host_settings now = {0};
    struct error why = {0};
    int result = 0;

    if (service_host_settings_load(join->host, service_kubelet.name, &now, &why) < 0)
        return error_damaged("the arguments of the kubelet", &why, err);
    /* These are the arguments that winjoin gives a kubelet of these versions. */
    for (size_t v = 0; v < ARRAY_SIZE(versions) && result == 0; v++) {
        _cleanup_(text_list_free) struct text_list given = {0};
        struct service_settings settings;

        if (!versions[v])
            continue;
        programs_service_settings(join->host, &join->found, &settings);
        settings.kubelet_version = versions[v];
        result = service_arguments(&service_kubelet, &settings, &given, NULL, err);
        for (size_t i = 0; i < given.count && result == 0; i++)
            text_list_add(&own, given.items[i]);
    }
    for (size_t i = 1; i < now.command.count && result == 0; i++)
        if (!text_list_has(&own, now.command.items[i]))
            text_list_add(&join->found.options.kubelet_service_args, now.command.items[i]);
    text_list_free(&join->found.kubelet_arguments); /* The list is made again from the options */
    return result;
}

/* ---- programs ---- */

/* Returns the version of an installed program; NULL when unknown. The caller frees it. */
static char *version_of(struct host *host, const char *path, const struct service *service) {
    _cleanup_(freep) char *data = NULL;
    char *version = service ? programs_version(host, true, service->program) : NULL;
    size_t len;

    if (!version && host_read(host, path, ARTIFACT_SIZE_MAX, &data, &len, NULL) == 0)
        version = program_image_version(data, len);
    return version;
}

/* Adds a program that the upgrade replaces. Takes over `from` and `to`. */
static void add_program(struct upgrade *u, const char *name, const char *target,
                        const struct service *service, char *from, char *to) {
    array_add(u->programs, u->program_count,
              (struct upgrade_program){.name = xstrdup(name),
                                       .target = xstrdup(target),
                                       .from = from,
                                       .to = to,
                                       .service = service});
}

/* Adds a program if it must be replaced. For upstream's programs only the version is known yet. A
 * program of the same version is still replaced when its bytes differ from upstream's (`unlike`) or
 * from the node's notes. */
static int compare_program(struct join *join, const struct artifact *artifact,
                           const struct text_list *unlike, struct error *err) {
    const char *to = text_equal(artifact->version, "unknown") ? NULL : artifact->version;
    const struct service *const *row = service_table;
    _cleanup_(freep) char *from = NULL;
    bool same = false;

    /* A program belongs to this node when its file exists or when a killed upgrade removed it. The
     * bundle's sandbox image is taken even when the node has it from a registry. */
    if (host_file_type(join->host, artifact->target) != HOST_FILE &&
        !journal_find(&join->upgrade->journal, JOURNAL_FILE_ENTRY, artifact->target) &&
        !text_equal(artifact->name, ARTIFACT_IMAGE))
        return 0;
    if (*artifact->sha256 && artifact_is_installed(join->host, artifact, &same, err) < 0)
        return -1;
    if (same)
        return 0;
    while (*row && !text_equal((*row)->artifact, artifact->name))
        row++;
    from = version_of(join->host, artifact->target, *row);
    if (!*artifact->sha256 && programs_same_version(from, artifact->version) &&
        !text_list_has(unlike, artifact->name) &&
        !written_file_differs(&join->journal, artifact->target))
        return 0;
    add_program(join->upgrade, artifact->name, artifact->target, *row, take_ptr(from),
                xstrdup_null(to));
    return 0;
}

static int compare_programs(struct join *join, struct error *err) {
    _cleanup_(wanted_files_free) struct wanted_files ours = {0};
    _cleanup_(text_list_free) struct text_list unlike = {0};
    struct bundle *bundle = NULL;
    const struct artifacts *lock;

    if (programs_bundle(join, &bundle, err) < 0)
        return -1;
    lock = bundle ? bundle_artifacts(bundle) : NULL;
    if (programs_check_versions(join, lock, err) < 0 ||
        (bundle && bundle_is_upstream(bundle) && programs_unlike(join, &unlike, err) < 0))
        return -1;
    for (size_t i = 0; lock && i < lock->count; i++)
        if (compare_program(join, &lock->items[i], &unlike, err) < 0)
            return error_prefix(err, "artifact '%s'", lock->items[i].name);

    /* The winjoin that runs this upgrade becomes the host of the services. */
    if (wanted_files_make(join->host, &join->found, (struct wanted_choice){.phase = "artifacts"},
                          &ours, err) < 0)
        return -1;
    if (!ours.count || host_has(join->host, WINJOIN_PROGRAM, ours.items->text, ours.items->len))
        return 0;
    join->upgrade->replaces_winjoin = true;
    add_program(join->upgrade, "winjoin", WINJOIN_PROGRAM, NULL,
                version_of(join->host, WINJOIN_PROGRAM, NULL), xstrdup(build_version));
    return 0;
}

static const struct upgrade_program *program_of(const struct upgrade *u,
                                                const struct service *service) {
    for (size_t i = 0; i < u->program_count; i++)
        if (u->programs[i].service == service)
            return &u->programs[i];
    return NULL;
}

/* ---- files ---- */

int upgrade_files(struct join *join, const struct service *service, struct wanted_files *ret,
                  struct error *err) {
    size_t kept = 0;

    if (wanted_files_make(join->host, &join->found,
                          (struct wanted_choice){.service = service, .upgrade = true}, ret,
                          err) < 0)
        return -1;
    for (size_t i = 0; i < ret->count; i++) {
        struct wanted_file file = ret->items[i];

        if ((file.row->upgrade == UPGRADE_WITH_PROGRAM &&
             !program_of(join->upgrade, file.row->service)) ||
            host_has(join->host, file.path, file.text, file.len))
            free_all(file.path, file.text);
        else
            ret->items[kept++] = file;
    }
    ret->count = kept;
    return 0;
}

/* Returns the differences of a YAML file as texts: "authentication.x509.clientCAFile: "a" -> "b"".
 * New reference. */
static json_t *differences(struct host *host, const struct wanted_file *file) {
    _cleanup_(yaml_forget) struct yaml yaml = {0};
    _cleanup_json_ json_t *before = NULL;
    _cleanup_(kubelet_changes_free) struct kubelet_changes changes = {0};
    json_t *rows = json_array();

    /* A file that cannot be read is written again, without a list of differences. */
    if (join_read_yaml(host, file->path, &before, NULL) < 0 ||
        yaml_read(file->text, file->len, "", &yaml, NULL) < 0)
        return rows;
    kubelet_changes_compare(&changes, "", before, json_array_get(yaml.documents, 0), "");
    for (size_t i = 0; i < changes.count && i < DIFFERENCES_MAX; i++) {
        const struct kubelet_change *c = &changes.items[i];
        _cleanup_(freep) char *from = c->from ? json_write(c->from) : xstrdup("absent");
        _cleanup_(freep) char *to = c->to ? json_write(c->to) : xstrdup("absent");
        _cleanup_(freep) char *row = xasprintf("%s: %s -> %s", c->path, from, to);

        json_array_append_new(rows, json_string(row));
    }
    return rows;
}

/* ---- services ---- */

static int compare_service(struct join *join, const struct service *service, struct error *err) {
    const struct upgrade *u = join->upgrade;
    _cleanup_(host_service_free) struct host_service found = {0};
    _cleanup_(text_list_free) struct text_list known = {0};
    _cleanup_(service_wanted_free) struct service_wanted wanted = {0};
    struct service_settings settings;
    bool switched;

    if (host_service_query(join->host, service->name, &found, err) < 0)
        return -1;
    if (!service_is_ours(&found) || !programs_wanted(&join->found, service))
        return 0;
    switched = u->replaces_winjoin || program_of(u, service) ||
               journal_find(&u->journal, JOURNAL_SERVICE, service->name);
    json_each(u->files, i, file)
        switched |= text_equal(json_text_at(file, "service"), service->name);
    /* Windows stops a service together with those that it depends on. */
    for (size_t i = 0; i < found.depends_on.count; i++)
        switched |= text_list_has(&u->services, found.depends_on.items[i]);
    /* A service whose program is not replaced knows the same flags as before. */
    if (!switched) {
        programs_service_settings(join->host, &join->found, &settings);
        if (service->kubernetes)
            (void)program_flags_read(join->host, service->program, &known, NULL);
        settings.known_flags = &known;
        if (service_want(join->host, service, &settings, &wanted, err) < 0)
            return -1;
        switched = wanted.differs || wanted.settings_differ;
    }
    if (switched)
        text_list_add(&join->upgrade->services, service->name);
    return 0;
}

/* ---- messages ---- */

/* Warns what the upgrade means for running Pods. Kubernetes' version skew policy: "In-place minor
 * version kubelet upgrades are not supported." */
static void warn_of_pods(struct join *join) {
    const struct upgrade *u = join->upgrade;
    const struct upgrade_program *kubelet = program_of(u, &service_kubelet);
    unsigned from, to;

    if (kubelet && kubelet->from && kubelet->to &&
        kubernetes_minor(kubelet->from, "", &from, NULL) == 0 &&
        kubernetes_minor(kubelet->to, "", &to, NULL) == 0) {
        if (from != to && !u->drain)
            join_warn(&join->progress,
                      "Kubernetes supports another minor version of the kubelet only on a drained "
                      "node: use --drain, or first: kubectl drain %s --ignore-daemonsets",
                      join->found.node_name);
        if (to < from)
            join_warn(&join->progress, "the kubelet becomes older: %s -> %s", kubelet->from,
                      kubelet->to);
    }
    if (text_list_has(&u->services, service_containerd.name))
        join_warn(&join->progress,
                  "containerd is restarted: pods that run go on under the shim that started them, "
                  "and get the new one when they are created again");
}

bool upgrade_has_image(const struct upgrade *u) {
    for (size_t i = 0; i < u->program_count; i++)
        if (text_equal(u->programs[i].name, ARTIFACT_IMAGE))
            return true;
    return false;
}

/* Warns about the sandbox image. containerd's configuration names the image of the version with
 * which the node joined, until containerd is replaced. After that, a node without internet needs
 * the new image. */
static void warn_of_image(struct join *join) {
    _cleanup_(containerd_settings_free) struct containerd_settings settings = {0};
    _cleanup_(freep) char *wanted = NULL, *why = NULL;
    const struct compatible *row;
    const char *now;

    if (containerd_settings_read(join->host, CONTAINERD_CONFIG_PATH, true, &settings,
                                 ERROR_IGNORED) < 0)
        return;
    now = settings.sandbox_image;
    wanted = programs_sandbox_image(join->host, &join->found);
    if (!now || text_equal(now, wanted) || !strrchr(now, ':'))
        return;
    if (program_of(join->upgrade, &service_containerd)) {
        if ((join->asked->bundle || join->asked->mirror) &&
            !(upgrade_has_image(join->upgrade) ||
              host_file_type(join->host, ARTIFACT_IMAGE_FILE) == HOST_FILE))
            join_warn(&join->progress,
                      "the sandbox image becomes %s, which containerd fetches from its registry: "
                      "bundle create --images packs it for a node without internet",
                      wanted);
        return;
    }
    row = text_starts_with(now, "registry.k8s.io/pause:")
              ? compatible_breach(ARTIFACT_IMAGE, strrchr(now, ':') + 1,
                                  join->found.kubelet_version, join->found.facts.build)
              : NULL;
    why = row ? compatible_message(row, strrchr(now, ':') + 1) : NULL;
    if (why)
        join_warn(&join->progress, "the sandbox image in '%s' stays: %s", CONTAINERD_CONFIG_PATH,
                  why);
}

/* Keeps the sandbox image of --sandbox-image, or of an administrator who wrote it into containerd's
 * configuration. An image with a name that winjoin uses itself becomes that of the new version. */
static void keep_image(struct join *join) {
    _cleanup_(containerd_settings_free) struct containerd_settings now = {0};
    const char *const repositories[] = {"registry.k8s.io", join->found.cluster.image_repository};
    char **image = &join->found.options.sandbox_image;

    if (!*image && containerd_settings_read(join->host, CONTAINERD_CONFIG_PATH, true, &now,
                                            ERROR_IGNORED) == 0)
        *image = take_ptr(now.sandbox_image);
    for (size_t i = 0; i < ARRAY_SIZE(repositories) && *image && repositories[i]; i++) {
        _cleanup_(freep) char *ours = xasprintf("%s/pause:", repositories[i]);

        if (text_starts_with(*image, ours))
            text_set(image, NULL);
    }
}

int upgrade_compare(struct join *join, struct error *err) {
    _cleanup_(wanted_files_free) struct wanted_files files = {0};
    const struct upgrade *u = join->upgrade;
    struct text *detail = &join->progress.detail;
    _cleanup_(freep) char *services = NULL;
    size_t count;

    keep_image(join);
    if (keep_arguments(join, err) < 0 || compare_programs(join, err) < 0 ||
        upgrade_files(join, NULL, &files, err) < 0)
        return -1;
    for (size_t i = 0; i < files.count; i++)
        json_array_append_new(u->files,
                              json_pack("{s:s, s:s, s:o}", "path", files.items[i].path, "service",
                                        files.items[i].row->service->name, "differences",
                                        differences(join->host, &files.items[i])));
    for (const struct service *const *row = service_table; *row; row++)
        if (compare_service(join, *row, err) < 0)
            return -1;
    warn_of_pods(join);
    warn_of_image(join);

    for (size_t i = 0; i < u->program_count; i++)
        text_addf(detail, "%s%s %s -> %s", i ? ", " : "", u->programs[i].name,
                  u->programs[i].from ? u->programs[i].from : "unknown",
                  u->programs[i].to ? u->programs[i].to : "unknown");
    count = json_array_size(u->files);
    if (count)
        text_addf(detail, "%s%zu file%s", detail->len ? "; " : "", count, PLURAL(count));
    services = text_list_join(&u->services, ", ");
    if (*services)
        text_addf(detail, "%srestarts %s", detail->len ? "; " : "", services);
    if (detail->len)
        return 0;
    text_add(detail, u->resumed ? "the rest of an earlier upgrade"
                                : "nothing to do: programs and configuration are up to date");
    join->finished = !u->resumed;
    return 0;
}
