/* Services registered with the SCM, compared first. */
#include "services/service_table.h"

enum {
    START_TIMEOUT_MS = 30000,
    STOP_TIMEOUT_MS = 60000,
    DELETE_TIMEOUT_MS = 60000,
    SETTINGS_FILE_MAX = 256 * 1024
};

static bool same_list(const struct text_list *a, const struct text_list *b) {
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!text_equal(a->items[i], b->items[i]))
            return false;
    return true;
}

/* What a running service has read when it started. */
static bool runs_the_same(const struct host_service *a, const struct host_service *b) {
    return text_equal(a->command, b->command) && same_list(&a->environment, &b->environment);
}

/* Windows has a pre-shutdown timeout of its own for a service that sets none. */
static bool same_service(const struct host_service *found, const struct host_service *wanted) {
    return runs_the_same(found, wanted) && text_equal(found->display_name, wanted->display_name) &&
           text_equal(found->description, wanted->description) &&
           same_list(&found->depends_on, &wanted->depends_on) &&
           found->auto_start == wanted->auto_start &&
           memcmp(found->restart_delays_ms, wanted->restart_delays_ms,
                  sizeof(found->restart_delays_ms)) == 0 &&
           found->restart_on_error == wanted->restart_on_error &&
           found->reset_seconds == wanted->reset_seconds &&
           (!wanted->preshutdown_ms || found->preshutdown_ms == wanted->preshutdown_ms);
}

/* The text for its host, and whether the file says so already. *ret_wanted NULL: it has none. */
static int read_settings(struct host *host, const struct service *row,
                         const struct service_settings *settings, char **ret_wanted, bool *ret_same,
                         struct error *err) {
    _cleanup_(freep) char *wanted = NULL, *now = NULL;
    struct error read_err = {0};
    size_t len = 0;

    *ret_same = true;
    if (!row->hosted)
        return 0;
    if (service_host_file_make(row, settings, &wanted, err) < 0)
        return -1;
    if (host_read(host, row->settings_file, SETTINGS_FILE_MAX, &now, &len, &read_err) < 0 &&
        read_err.kind != ERROR_ABSENT && read_err.kind != ERROR_MALFORMED) {
        *err = read_err; /* MALFORMED: longer than ours ever is */
        return -1;
    }
    *ret_same = text_equal(now, wanted);
    *ret_wanted = take_ptr(wanted);
    return 0;
}

/* Writes the service host's file when it differs. */
static int ensure_settings(struct host *host, const struct service *row,
                           const struct service_settings *settings, bool *changed,
                           struct error *err) {
    _cleanup_(freep) char *wanted = NULL;
    bool same;

    if (read_settings(host, row, settings, &wanted, &same, err) < 0)
        return -1;
    *changed = !same;
    return same ? 0
                : host_write(host, row->settings_file, wanted, strlen(wanted), HOST_SECRET, err);
}

int service_compare(struct host *host, const struct service *row,
                    const struct service_settings *settings, bool *ret_same, struct error *err) {
    _cleanup_(host_service_free) struct host_service wanted = {0}, found = {0};
    _cleanup_(freep) char *text = NULL;
    bool same;

    if (service_make(row, settings, &wanted, err) < 0 ||
        host_service_query(host, wanted.name, &found, err) < 0 ||
        read_settings(host, row, settings, &text, &same, err) < 0)
        return -1;
    *ret_same = same && found.state != HOST_SERVICE_ABSENT && same_service(&found, &wanted);
    return 0;
}

static int refuse_foreign(const struct host_service *found, struct error *err) {
    (void)error_set(err, ERROR_CONFLICT, "service '%s' already exists and was not made by winjoin",
                    found->name);
    return error_hint(err, "it runs: %s", found->command ? found->command : "nothing");
}

int service_ensure(struct host *host, const struct service *row,
                   const struct service_settings *settings, bool *ret_changed, struct error *err) {
    _cleanup_(host_service_free) struct host_service wanted = {0}, found = {0};
    bool changed = false;
    if (service_make(row, settings, &wanted, err) < 0 ||
        host_service_query(host, wanted.name, &found, err) < 0)
        return -1;
    if (found.state != HOST_SERVICE_ABSENT && !service_is_ours(&found))
        return settings->adopt ? service_adopt(host, row, settings, &found,
                                               ret_changed ? ret_changed : &changed, err)
                               : refuse_foreign(&found, err);
    if (ensure_settings(host, row, settings, &changed, err) < 0)
        return error_prefix(err, "service '%s'", wanted.name);
    if (found.state == HOST_SERVICE_ABSENT || !same_service(&found, &wanted)) {
        if (host_service_put(host, &wanted, err) < 0)
            return error_prefix(err, "service '%s'", wanted.name);
        changed |= !runs_the_same(&found, &wanted);
    }
    if (ret_changed)
        *ret_changed = changed;
    return 0;
}

int service_restart(struct host *host, const struct service *row, bool *ret_restarted,
                    struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    if (host_service_query(host, row->name, &found, err) < 0)
        return -1;
    *ret_restarted = found.state != HOST_SERVICE_ABSENT && service_is_ours(&found);
    if (*ret_restarted && (host_service_stop(host, row->name, STOP_TIMEOUT_MS, err) < 0 ||
                           host_service_start(host, row->name, START_TIMEOUT_MS, err) < 0))
        return error_prefix(err, "restart service '%s'", row->name);
    return 0;
}

int service_remove(struct host *host, const struct service *row, struct error *err) {
    _cleanup_(host_service_free) struct host_service found = {0};
    if (host_service_query(host, row->name, &found, err) < 0)
        return -1;
    if (found.state != HOST_SERVICE_ABSENT) {
        if (!service_is_ours(&found))
            return 0;
        if (host_service_stop(host, row->name, STOP_TIMEOUT_MS, err) < 0 ||
            host_service_delete(host, row->name, DELETE_TIMEOUT_MS, err) < 0)
            return error_prefix(err, "remove service '%s'", row->name);
    }
    return row->hosted ? host_remove(host, row->settings_file, err) : 0;
}
