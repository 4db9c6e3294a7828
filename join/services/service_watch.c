/* Starts services again when they end. If that does not help, fails with exit code and log. */
#include "join/services/service_watch.h"

#include "base/log.h"
#include "join/undo/journal.h"
#include "services/program_flags.h"
#include "services/service_status.h"

/* AGAIN_TIMEOUT_MS is longer than all starts with the pauses between them, because the number of
 * ends limits this wait. */
enum {
    START_TIMEOUT_MS = 30000,
    AGAIN_TIMEOUT_MS = 300000,
    STEP_MS = 250,
    LOG_MAX = 256 * 1024,
    WORDS = 2
};
enum { RIGHTS_MS = 4000 };

/* ---- the end of a service ---- */

int service_watch_hint(struct service_watch *watch, struct error *err) {
    const struct service *service = watch->service;
    _cleanup_(text_list_free) struct text_list words = {0};
    _cleanup_(freep) char *log = NULL;

    log = service_log_tail(watch->host, service->log_file, LOG_MAX);
    if (log)
        service_log_words(log, WORDS, &words);
    (void)error_hint(err, "its log: %s%s", service->log_file,
                     words.count ? "" : " (nothing to read there)");
    for (size_t i = 0; i < words.count; i++)
        (void)error_hint(err, "its last message: %s", words.items[i]);
    return -1;
}

int service_watch_check(struct service_watch *watch, bool *ret_runs, struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    const char *name = watch->service->name;
    const unsigned *delays = watch->service->restart_delays_ms;
    size_t last = ARRAY_SIZE(watch->service->restart_delays_ms) - 1;
    struct error why = {0};
    unsigned pause;

    if (host_service_query(watch->host, name, &found, err) < 0)
        return -1;
    if (found.state == HOST_SERVICE_ABSENT) {
        (void)error_set(err, ERROR_HOST, "keep %s running: somebody removed the service", name);
        return error_hint(err, "the same command registers it again");
    }
    if (ret_runs)
        *ret_runs = found.state == HOST_SERVICE_RUNNING;
    if (found.state != HOST_SERVICE_STOPPED) {
        watch->again_ms = 0;
        return 0;
    }
    if (!watch->again_ms && watch->ends++ == SERVICE_RESTARTS_MAX) {
        (void)error_set(err, ERROR_HOST,
                        "keep %s running: it ended %u times, the last time with exit code %u", name,
                        watch->ends, (unsigned)found.exit_code);
        (void)service_watch_hint(watch, err);
        return error_hint(
            err, "fix that and run the same command again; winjoin reset undoes what was done");
    }
    /* Use winjoin's own table of delays, because some SCMs (Wine's) do not keep theirs. */
    if (!watch->again_ms) {
        pause = delays[watch->ends - 1 < last ? watch->ends - 1 : last];
        if (pause > SERVICE_PAUSE_MAX_MS)
            pause = SERVICE_PAUSE_MAX_MS;
        watch->again_ms = host_monotonic_ms(watch->host) + pause;
        join_warn(watch->progress,
                  "%s ended with exit code %u: restarted after %.0f s (its log: %s)", name,
                  (unsigned)found.exit_code, pause / 1000.0, watch->service->log_folder);
        return 0;
    }
    if (host_monotonic_ms(watch->host) < watch->again_ms)
        return 0;

    watch->again_ms = 0;
    /* Windows restarts the service, too; the second start then finds it running. ERROR_HOST means
     * that the service has ended again, which the next check counts. */
    if (host_service_start(watch->host, name, START_TIMEOUT_MS, &why) < 0 && why.kind != ERROR_HOST)
        return error_pass(err, &why);
    return 0;
}

/* ---- the rights of a service ---- */

/* Checks whether the API server lets the service read `path`. One refusal does not count, because a
 * starting API server refuses everybody at first. */
int service_watch_rights(struct service_watch *watch, const char *path, struct error *err) {
    struct kube_client client; /* A copy that borrows the texts and tries each request only once. */
    struct error why = {0};

    if (!watch->client || host_monotonic_ms(watch->host) < watch->rights_ms)
        return 0;
    client = *watch->client;
    watch->rights_ms = host_monotonic_ms(watch->host) + RIGHTS_MS;
    client.patience_ms = 0;
    /* Only a refusal matters; other failures do not. */
    (void)kube_get(&client, path, NULL, &why);
    if (!kube_is_forbidden(&why))
        watch->refused = 0;
    else if (++watch->refused == 2) {
        (void)error_set(err, ERROR_DENIED, "wait for %s: %s", watch->service->name, why.message);
        return error_hint(err, "it needs rights that a cluster administrator grants once: winjoin "
                               "config cluster --kubeconfig admin.conf | kubectl apply -f -");
    }
    return 0;
}

/* ---- the start of a service that is watched ---- */

static enum wait_poll poll_started(void *context, struct wait *, struct error *err) {
    struct service_watch *watch = context;
    bool runs;

    if (service_watch_check(watch, &runs, err) < 0)
        return POLL_FAILED;
    (void)error_set(err, ERROR_TIMED_OUT, "to start %s again", watch->service->name);
    return runs ? POLL_DONE : POLL_AGAIN;
}

int service_watch_start(struct service_watch *watch, const struct service *service,
                        struct error *err) {
    struct wait wait = {
        .limit_ms = AGAIN_TIMEOUT_MS, .pause_ms = STEP_MS, .poll = poll_started, .context = watch};
    struct error why = {0};
    bool ended;

    *watch = (struct service_watch){.host = watch->host,
                                    .progress = watch->progress,
                                    .client = watch->client,
                                    .service = service,
                                    .rights_ms = host_monotonic_ms(watch->host) + RIGHTS_MS};
    if (host_service_start(watch->host, service->name, START_TIMEOUT_MS, &why) == 0)
        return 0;
    /* These codes mean that the program ran and ended. Otherwise Windows could not start it, and
     * another try does not help. */
    ended = why.kind == ERROR_HOST &&
            (why.os == HOST_SERVICE_SPECIFIC_ERROR || why.os == HOST_PROCESS_ABORTED);
    if (!ended) {
        if (err)
            *err = why;
        return error_hint(err, "its log: %s", service->log_folder);
    }
    return join_wait(watch->host, watch->progress, &wait, err) == POLL_DONE ? 0 : -1;
}

/* ---- registration and start ---- */

enum { STOP_TIMEOUT_MS = 30000 };

int service_register(struct journal *journal, const struct service *service,
                     const struct service_settings *settings, bool *ret_changed,
                     struct error *err) {
    const char *phase = journal->phase;
    int result;

    if (journal_own_folder(journal, service->log_folder, err) < 0 ||
        journal_service(journal, service->name, err) < 0 ||
        service_ensure(journal->host, service, settings, ret_changed, err) < 0)
        return -1;
    if (service->phase)
        journal->phase = service->phase;
    result = written_service(journal, service, err);
    journal->phase = phase;
    return result;
}

int service_start(struct service_watch *watch, struct journal *journal,
                  const struct service *service, const struct service_settings *settings,
                  struct error *err) {
    struct service_settings own = *settings;
    _cleanup_(text_list_free) struct text_list known = {0}, dropped = {0}, arguments = {0};
    _cleanup_(host_service_free) struct host_service before = {0}, found = {0};
    bool changed = false, adopted;
    struct error why = {0};

    if (host_refuse_untrusted(watch->host, service->program, err) < 0)
        return error_prefix(err, "start '%s'", service->name);
    /* Only programs of Kubernetes are asked for their flags. flanneld's help cannot be read, and
     * containerd's has another form. */
    if (service->kubernetes) {
        if (program_flags_read(watch->host, service->program, &known, &why) < 0)
            /* When the program's flags cannot be read, it gets all arguments. */
            log_message(LOG_INFO, "%s", why.message);
        /* Own flags that the program does not know are left out; flags from the user are
         * reported. */
        own.known_flags = &known;
        (void)service_arguments(service, &own, &arguments, &dropped, ERROR_IGNORED);
        for (size_t i = 0; i < dropped.count; i++)
            join_warn(watch->progress, "%s does not know '%s': left out", service->name,
                      dropped.items[i]);
    }
    if (own.adopt && host_service_query(journal->host, service->name, &before, err) < 0)
        return -1;
    adopted = own.adopt && before.state != HOST_SERVICE_ABSENT && !service_is_ours(&before);
    /* An adopted service without extra arguments is not changed, so nothing is recorded. */
    if (adopted && !service->extra_args)
        return service_watch_start(watch, service, err);
    /* A service of winjoin itself, such as winjoin-network, has no phase. It is registered here
     * when another service depends on it. */
    for (size_t i = 0; !adopted && i < ARRAY_SIZE(service->depends_on) && service->depends_on[i];
         i++) {
        const struct service *needed = service_by_name(service->depends_on[i]);

        if (needed && !needed->artifact && service_register(journal, needed, &own, NULL, err) < 0)
            return -1;
    }
    if (service_register(journal, service, &own, &changed, err) < 0 ||
        (changed && host_service_stop(watch->host, service->name, STOP_TIMEOUT_MS, err) < 0))
        return -1;
    /* A ready file that an earlier run of the program left could be mistaken for a new one. */
    if (service->ready_file && (journal_file(journal, service->ready_file, err) < 0 ||
                                host_service_query(journal->host, service->name, &found, err) < 0 ||
                                (found.state != HOST_SERVICE_RUNNING &&
                                 host_remove(journal->host, service->ready_file, err) < 0)))
        return -1;
    return service_watch_start(watch, service, err);
}
