/* Writes new programs next to the old ones, then stops, replaces, starts and tests one service
 * after the other. */
#include "join/wanted/wanted.h"
#include "join/phases/steps.h"
#include "join/programs/programs.h"
#include "join/upgrade/upgrade.h"
#include "pki/digest.h"

enum { STOP_MS = 60000, START_MS = 30000, READY_MS = 180000, READY_STEP_MS = 1000 };

/* ---- writing of new programs next to the old ones ---- */

int upgrade_stage(struct join *join, struct error *err) {
    const struct upgrade *u = join->upgrade;
    const struct service *const *row = service_table;
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *self = host_program_path(join->host);
    struct bundle *bundle = NULL;
    const struct artifacts *lock;
    size_t bytes = 0;

    for (size_t i = 0; i < u->program_count; i++)
        text_list_add(&names, u->programs[i].name);
    if (programs_bundle(join, &bundle, err) < 0 || programs_check_kubelet(join, bundle, err) < 0 ||
        (bundle && bundle_verify(bundle, &names, err) < 0))
        return -1;
    lock = bundle ? bundle_artifacts(bundle) : &(struct artifacts){0};
    for (size_t i = 0; i < u->program_count; i++) {
        const char *target = u->programs[i].target;
        /* The artifact of the program; NULL for winjoin itself. */
        const struct artifact *artifact = NULL;
        _cleanup_(freep) char *beside = xasprintf("%s" UPGRADE_BESIDE, target), *data = NULL;
        char digest[DIGEST_TEXT_MAX];
        size_t len = 0;

        for (size_t k = 0; k < lock->count && !artifact; k++)
            if (text_equal(lock->items[k].target, target))
                artifact = &lock->items[k];
        /* Write the new program beside the old one, unless both are equal. */
        if ((artifact ? bundle_read(bundle, artifact, &data, &len, err)
                      : host_read(join->host, self, ARTIFACT_SIZE_MAX, &data, &len, err)) < 0 ||
            (!host_has(join->host, target, data, len) &&
             (journal_file(&join->journal, beside, err) < 0 ||
              host_write(join->host, beside, data, len, HOST_PUBLIC, err) < 0)))
            return error_prefix(err, "install '%s'", u->programs[i].name);
        /* winjoin.exe is not from a bundle or mirror. */
        if (!text_equal(target, WINJOIN_PROGRAM)) {
            digest_sha256(data, len, digest);
            programs_note(join, target, digest);
        }
        bytes += len;
    }
    if (bundle && programs_write_lock(join, bundle, err) < 0)
        return -1;
    programs_bundle_close(join);
    text_addf(&join->progress.detail, "%zu verified (%.0f MB)", u->program_count,
              (double)bytes / 1e6);

    /* The last recorded service starts first, so containerd starts before the kubelet. */
    while (*row)
        row++;
    while (row-- > service_table) {
        if (!text_list_has(&u->services, (*row)->name))
            continue;
        if (journal_service(&join->journal, (*row)->name, err) < 0 ||
            ((*row)->hosted &&
             journal_file(&join->upgrade->journal, (*row)->settings_file, err) < 0))
            return -1;
    }
    return 0;
}

/* ---- replacing of the old programs ---- */

static int exchange(struct join *join, const struct service *service, bool is_winjoin,
                    struct error *err) {
    const struct upgrade *u = join->upgrade;
    struct text *detail = &join->progress.detail;

    for (size_t i = 0; i < u->program_count; i++) {
        const struct upgrade_program *program = &u->programs[i];
        _cleanup_(freep) char *beside = xasprintf("%s" UPGRADE_BESIDE, program->target);
        _cleanup_(freep) char *data = NULL;
        struct error why = {0};
        size_t len;

        if (program->service != service ||
            text_equal(program->target, WINJOIN_PROGRAM) != is_winjoin)
            continue;
        if (host_read(join->host, beside, ARTIFACT_SIZE_MAX, &data, &len, &why) < 0) {
            /* The new program was equal to the old one, so it was not written. */
            if (why.kind == ERROR_ABSENT)
                continue;
            return error_pass(err, &why);
        }
        if (journal_file(&join->journal, program->target, err) < 0 ||
            program_write(join->host, program->target, data, len, HOST_PUBLIC, err) < 0)
            return error_prefix(err, "replace '%s'", program->name);
        if (program->to)
            text_addf(detail, "%s%s %s", detail->len ? ", " : "", program->name, program->to);
        if (host_remove(join->host, beside, err) < 0)
            return -1;
    }
    return 0;
}

int upgrade_plugins(struct join *join, struct error *err) {
    if (exchange(join, NULL, false, err) < 0)
        return -1;
    if (!join->progress.detail.len)
        text_add(&join->progress.detail, "unchanged");
    return 0;
}

/* Stopping winjoin-network also stops all services that depend on it, so that no service keeps
 * winjoin.exe open. */
int upgrade_winjoin(struct join *join, struct error *err) {
    const struct upgrade *u = join->upgrade;

    if (!text_list_has(&u->services, service_network.name)) {
        text_add(&join->progress.detail, "unchanged");
        return 0;
    }
    for (const struct service *const *row = service_table; u->replaces_winjoin && *row; row++)
        if (text_list_has(&u->services, (*row)->name) &&
            host_service_stop(join->host, (*row)->name, STOP_MS, err) < 0)
            return -1;
    if (exchange(join, NULL, true, err) < 0)
        return -1;
    text_addf(&join->progress.detail, "%s%s started", join->progress.detail.len ? ", " : "",
              service_network.name);
    return host_service_start(join->host, service_network.name, START_MS, err);
}

int upgrade_replace(struct join *join, struct error *err) {
    const struct service *service = service_by_name(join->progress.phase->id);
    _cleanup_(wanted_files_free) struct wanted_files files = {0};
    struct text *detail = &join->progress.detail;

    if (!text_list_has(&join->upgrade->services, service->name))
        text_add(detail, programs_wanted(&join->found, service) ? "unchanged" : "not on this node");
    else if (host_service_stop(join->host, service->name, STOP_MS, err) < 0 ||
             exchange(join, service, false, err) < 0 ||
             upgrade_files(join, service, &files, err) < 0 ||
             wanted_files_write(&join->journal, &files, err) < 0 ||
             service_run(join, service, err) < 0)
        return -1;
    if (!detail->len)
        text_add(detail, "running");
    /* The image may also be from an upgrade that was killed before containerd had imported it. */
    return service == &service_containerd &&
                   (upgrade_has_image(join->upgrade) || join->upgrade->resumed)
               ? bundle_images_import(join, err)
               : 0;
}

/* ---- the test of the new kubelet ---- */

/* The control plane reports a stopped kubelet as Ready for 40 s. The version in the Node shows
 * whether the new kubelet has reported. */
static enum wait_poll poll_ready(void *context, struct wait *, struct error *err) {
    struct join *join = context;
    const char *version = join->found.kubelet_version;
    _cleanup_(kube_node_free) struct kube_node node = {0};
    bool reported;

    if (kube_node_get(&join->found.client, join->found.node_name, &node, err) < 0)
        return err->kind == ERROR_NETWORK || err->kind == ERROR_TIMED_OUT ? POLL_AGAIN
                                                                          : POLL_FAILED;
    reported = !version || !node.kubelet_version || text_equal(version, node.kubelet_version);
    if (!reported)
        (void)error_set(err, ERROR_TIMED_OUT, "for kubelet %s: the Node still reports %s", version,
                        node.kubelet_version);
    else if (!node.ready)
        (void)error_set(err, ERROR_TIMED_OUT, "Ready is False: %s",
                        node.ready_message ? node.ready_message : "no reason given");
    return err->kind ? POLL_AGAIN : POLL_DONE;
}

int upgrade_ready(struct join *join, struct error *err) {
    struct wait wait = {
        .limit_ms = READY_MS, .pause_ms = READY_STEP_MS, .poll = poll_ready, .context = join};
    enum wait_poll end = join_wait(join->host, &join->progress, &wait, err);

    if (end == POLL_AGAIN)
        return error_prefix(err, "the node did not become Ready within %u s", wait.limit_ms / 1000);
    if (end == POLL_DONE)
        text_addf(&join->progress.detail, "after %.1f s", wait.waited_ms / 1000.0);
    return end;
}
