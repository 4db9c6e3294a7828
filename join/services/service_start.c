/* Registers a service and starts it, with the flags that its program knows. */
#include "join/services/service_start.h"

#include "base/log.h"
#include "join/undo/written.h"
#include "services/program_flags.h"

enum { STOP_TIMEOUT_MS = 30000 };

/* Flags of ours that the program does not know are left out; those that were asked for are told. */
static void take_known_flags(struct service_watch *watch, const struct service *service,
                             const struct text_list *known, struct service_settings *settings) {
    _cleanup_(text_list_free) struct text_list dropped = {0};

    settings->known_flags = known;
    service_dropped_arguments(service, settings, &dropped);
    for (size_t i = 0; i < dropped.count; i++)
        join_warn(watch->progress, "%s does not know '%s': left out", service->name,
                  dropped.items[i]);
}

/* What an earlier life of the program has left would be taken for this one's. */
static int forget_ready(struct journal *journal, const struct service *service, struct error *err) {
    const char *path = service->ready_file;
    _cleanup_(host_service_free) struct host_service found = {0};

    if (!path)
        return 0;
    if (journal_file(journal, path, err) < 0 ||
        host_service_query(journal->host, service->name, &found, err) < 0)
        return -1;
    return found.state == HOST_SERVICE_RUNNING ? 0 : host_remove(journal->host, path, err);
}

int service_register(struct journal *journal, const struct service *service,
                     const struct service_settings *settings, bool *ret_changed,
                     struct error *err) {
    if (journal_own_folder(journal, service->log_folder, err) < 0 ||
        journal_service(journal, service->name, err) < 0)
        return -1;
    return service_ensure(journal->host, service, settings, ret_changed, err) < 0
               ? -1
               : written_service(journal, service, err);
}

/* What winjoin itself does at boot has no phase that starts it. */
static int register_needed(struct journal *journal, const struct service *service,
                           const struct service_settings *settings, struct error *err) {
    for (size_t i = 0; i < ARRAY_SIZE(service->depends_on) && service->depends_on[i]; i++) {
        const struct service *needed = service_by_name(service->depends_on[i]);

        if (needed && !needed->artifact &&
            service_register(journal, needed, settings, NULL, err) < 0)
            return -1;
    }
    return 0;
}

static int start(struct service_watch *watch, struct journal *journal,
                 const struct service *service, const struct service_settings *settings,
                 struct error *err) {
    bool changed = false, adopted = false;

    if (settings->adopt && service_is_foreign(journal->host, service, &adopted, err) < 0)
        return -1;
    if (adopted && !service->extra_args) /* nothing of it changes: nothing to take back */
        return service_watch_start(watch, service, err);
    if ((!adopted && register_needed(journal, service, settings, err) < 0) ||
        service_register(journal, service, settings, &changed, err) < 0 ||
        (changed && host_service_stop(watch->host, service->name, STOP_TIMEOUT_MS, err) < 0) ||
        forget_ready(journal, service, err) < 0)
        return -1;
    return service_watch_start(watch, service, err);
}

int service_start(struct service_watch *watch, struct journal *journal,
                  const struct service *service, const struct service_settings *settings,
                  struct error *err) {
    struct service_settings own = *settings;
    _cleanup_(text_list_free) struct text_list known = {0};
    struct error why = {0};

    if (host_refuse_stranger(watch->host, service->program, err) < 0)
        return error_prefix(err, "start '%s'", service->name);
    /* flanneld prints its help to nowhere that is read, containerd's is another form */
    if (service->kubernetes) {
        if (program_flags_read(watch->host, service->program, &known, &why) < 0)
            log_message(LOG_INFO, "%s", why.message); /* it cannot be asked: it gets them all */
        take_known_flags(watch, service, &known, &own);
    }
    return start(watch, journal, service, &own, err);
}
