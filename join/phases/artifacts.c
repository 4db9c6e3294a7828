/* This phase verifies and installs the node's programs. */
#include "join/configuration/join_options.h"
#include "join/found/need.h"
#include "join/phases/phases.h"
#include "join/programs/programs.h"
#include "join/wanted/wanted.h"
#include "services/artifacts/artifacts.h"
#include "services/artifacts/program_image.h"
#include "services/version.h"

/* Records the folders of programs and restricts access to them. A containerd that came with the
 * machine's image may look for CNI programs in another folder. */
static int own_program_folders(struct join *join, struct error *err) {
    const char *const folders[] = {PROGRAM_FOLDER, containerd_cni_programs(&join->found.containerd),
                                   CONTAINERD_FOLDER};

    return journal_own_folders(&join->journal, folders, ARRAY_SIZE(folders), err);
}

/* Called before each artifact is installed, after all are verified. Records the earlier file. */
static int before_artifact(void *context, const struct artifact *artifact, bool,
                           struct error *err) {
    struct join *join = context;

    if (own_program_folders(join, err) < 0)
        return -1;
    return journal_file(&join->journal, artifact->target, err);
}

/* Copies winjoin.exe to the path at which the services start it as their host. */
int artifacts_own_winjoin(struct join *join, struct error *err) {
    _cleanup_(wanted_files_free) struct wanted_files files = {0};

    if (own_program_folders(join, err) < 0)
        return -1;
    if (wanted_files_make(join->host, &join->found, (struct wanted_choice){.phase = "artifacts"},
                          &files, err) < 0)
        return error_prefix(err, "copy winjoin to '%s'", WINJOIN_PROGRAM);
    if (!files.count || journal_write(&join->journal, files.items->path, files.items->text,
                                      files.items->len, files.items->row->access, err) == 0)
        return 0;
    if (host_file_type(join->host, WINJOIN_PROGRAM) != HOST_FILE ||
        (err->kind != ERROR_DENIED && err->kind != ERROR_CONFLICT))
        return -1;
    join_warn(&join->progress,
              "another winjoin.exe runs as the host of this node's services and is kept: %s",
              err->message);
    error_clear(err);
    return 0;
}

static int install_bundle(struct join *join, struct bundle *bundle, struct error *err) {
    const struct artifacts *all = bundle_artifacts(bundle);
    const struct mirror *mirror = bundle_mirror(bundle);
    _cleanup_(text_list_free) struct text_list services = {0};
    _cleanup_(freep) char *names = NULL;
    struct artifacts_result result = {0};

    if (programs_check_complete(join, all, err) < 0 ||
        programs_check_versions(join, all, err) < 0 ||
        artifacts_fetch(join->host, bundle, err) < 0 ||
        programs_check_kubelet(join, bundle, err) < 0)
        return -1;
    if (artifacts_ensure(join->host, bundle, NULL, before_artifact, join, &result, err) < 0) {
        if (err->kind != ERROR_DENIED && err->kind != ERROR_CONFLICT)
            return -1;
        /* Windows does not replace a program that is running. */
        for (const struct service *const *row = service_table; *row; row++)
            if ((*row)->artifact)
                text_list_add(&services, (*row)->name);
        names = text_list_join(&services, ", ");
        return error_hint(
            err,
            "if it is running, stop its service (sc.exe stop %s) and run the same command again",
            names);
    }
    if (programs_write_lock(join, bundle, err) < 0)
        return -1;
    for (size_t i = 0; i < all->count; i++)
        programs_note(join, all->items[i].target, all->items[i].sha256);
    /* A lock may lack versions. The installed programs know them. */
    if (!programs_versions_are_known(all) && programs_check_versions(join, NULL, err) < 0)
        return -1;
    join_fact(&join->progress, "present", json_integer((json_int_t)result.present));
    join_fact(&join->progress, "installed", json_integer((json_int_t)result.installed));
    join_fact(&join->progress, "bytes", json_integer((json_int_t)result.bytes));
    text_addf(&join->progress.detail, "%zu of %zu verified, %zu installed (%.0f MB) from %s",
              result.present + result.installed, all->count, result.installed,
              (double)result.bytes / 1e6,
              !mirror       ? join->found.options.bundle
              : mirror->url ? mirror->url
                            : "upstream");
    return 0;
}

/* Without a bundle, all programs must be installed, and match the lock if there is one. */
static int check_installed(struct join *join, struct error *err) {
    _cleanup_(text_list_free) struct text_list unlike = {0};
    _cleanup_(freep) char *version = NULL, *names = NULL;
    struct error why = {0};
    unsigned minor;

    if (programs_check_complete(join, NULL, err) < 0 ||
        (join->found.options.lock && programs_unlike(join, &unlike, err) < 0))
        return -1;
    names = text_list_join(&unlike, ", ");
    if (unlike.count)
        return error_set(err, ERROR_UNTRUSTED,
                         "programs are not those of lock '%s', and may not be downloaded: %s",
                         join->found.options.lock, names);
    /* Check KubeletVersion of preflight runs no program, so the version is read here. */
    if (!ignored_checks_have(&join->found.options.ignore_preflight_errors, "KubeletVersion") &&
        host_file_type(join->host, service_kubelet.program) != HOST_ABSENT) {
        bool read =
            program_version_read(join->host, service_kubelet.program, true, &version, &why) >= 0;

        /* A simulated server starts no programs. */
        if (!read && why.kind != ERROR_ABSENT) {
            (void)error_pass(err, &why);
            return error_prefix(err, "couldn't get kubelet version");
        }
        if (read && kubernetes_minor(version, "kubelet --version", &minor, err) < 0)
            return error_prefix(err, "couldn't get kubelet version");
    }
    return programs_check_versions(join, NULL, err) < 0 ? -1
                                                        : programs_check_kubelet(join, NULL, err);
}

int phase_artifacts(struct join *join, struct error *err) {
    _cleanup_(freep) char *warning = NULL, *texts = NULL;
    struct bundle *bundle = NULL;
    struct error absent = {0};

    if (find_containerd(join->host, &join->found, err) < 0)
        return -1;
    /* Check this before anything is fetched. A program loads DLLs from its own folder, so a single
     * file of an untrusted user there is enough to attack it. */
    const char *const folders[] = {PROGRAM_FOLDER, containerd_cni_programs(&join->found.containerd),
                                   CONTAINERD_FOLDER};
    for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
        if (host_refuse_untrusted_in(join->host, folders[i], err) < 0)
            return -1;
    if (programs_bundle(join, &bundle, err) < 0)
        return -1;
    /* A join opens a mirror only here, so its images are checked here, too. */
    if (!ignored_checks_have(&join->found.options.ignore_preflight_errors, "BundleImages") &&
        bundle_images_check(join, err) < 0)
        return -1;
    if ((bundle ? install_bundle(join, bundle, err) : check_installed(join, err)) < 0)
        return -1;
    if (!bundle)
        text_add(&join->progress.detail, "all installed already, by administrators");
    if (programs_say_uncompared(join, bundle ? bundle_artifacts(bundle) : NULL, err) < 0)
        return -1;
    warning = programs_image_warning(join->host, &join->found);
    if (warning)
        join_warn(&join->progress, "%s", warning);
    /* Otherwise, phase containerd imports the bundle's images and closes it. */
    if (!bundle_images(bundle)->count)
        programs_bundle_close(join);
    if (artifacts_own_winjoin(join, err) < 0 || machine_path_apply(join, err) < 0)
        return -1;

    /* With this registry value, Event Viewer shows winjoin's texts instead of an error about a
     * missing description. */
    if (host_registry_get(join->host, HOST_EVENT_SOURCE_KEY, "EventMessageFile", &texts, &absent) <
            0 &&
        absent.kind != ERROR_ABSENT)
        return error_pass(err, &absent);
    if (text_equal(texts, WINJOIN_PROGRAM))
        return 0;
    if (journal_record(&join->journal, JOURNAL_EVENT_SOURCE, "winjoin",
                       texts ? json_pack("{s:s}", "file", texts) : NULL, err) < 0)
        return -1;
    return host_event_source_set(join->host, WINJOIN_PROGRAM, err);
}
