/* The Windows host's table, and the few operations that are one call each. */
#include "host/host_win32.h"

#include "host/win32/win32.h"

#include <bcrypt.h>

const bool host_rehearses = false;

static int random_bytes(struct host *, void *data, size_t len, struct error *err) {
    NTSTATUS status = BCryptGenRandom(NULL, data, (ULONG)len, BCRYPT_USE_SYSTEM_PREFERRED_RNG);

    return status ? error_set_os(err, ERROR_HOST, (unsigned long)status, "get random bytes") : 0;
}

static char *environment(struct host *, const char *name) {
    _cleanup_wide_ wchar_t *wide = win32_wide(name);
    DWORD units = GetEnvironmentVariableW(wide, NULL, 0);
    _cleanup_wide_ wchar_t *value = xcalloc((size_t)units + 1, sizeof *value);

    if (!units)
        return NULL;
    (void)GetEnvironmentVariableW(wide, value, units); /* its size was just asked for */
    return win32_narrow(value);
}

static void environment_names(struct host *, const char *prefix, struct text_list *ret) {
    wchar_t *all = GetEnvironmentStringsW();

    for (const wchar_t *item = all; item && *item; item += wcslen(item) + 1) {
        _cleanup_(freep) char *name = win32_narrow(item);

        name[strcspn(name, "=")] = '\0';
        for (char *p = name; *p; p++)
            if (*p >= 'a' && *p <= 'z')
                *p = (char)(*p - 'a' + 'A');
        if (text_starts_with(name, prefix))
            text_list_add(ret, name);
    }
    FreeEnvironmentStringsW(all);
}

static char *program_path(struct host *) {
    DWORD size = 32768; /* the longest path there is */
    _cleanup_wide_ wchar_t *path = xcalloc(size, sizeof *path);

    (void)GetModuleFileNameW(NULL, path, size - 1);
    return win32_narrow(path);
}

static bool pipe_exists(struct host *, const char *path) {
    _cleanup_wide_ wchar_t *wide = win32_wide(path);

    for (wchar_t *c = wide; *c; c++)
        if (*c == L'/')
            *c = L'\\';
    /* All instances busy is a pipe, too. */
    return WaitNamedPipeW(wide, 1) || GetLastError() == ERROR_SEM_TIMEOUT;
}

static void free_host(struct host *host) {
    free(host);
}

static const struct host_ops win32_ops = {
    .read = win32_read,
    .read_part = win32_read_part,
    .write = win32_write,
    .make_folder = win32_make_folder,
    .access_get = win32_access_get,
    .access_set = win32_access_set,
    .is_admins = win32_is_admins,
    .remove = win32_remove,
    .remove_tree = win32_remove_tree,
    .rename = win32_rename,
    .link = win32_link,
    .file_type = win32_file_type,
    .list = win32_list,
    .free_space = win32_free_space,
    .service_put = win32_service_put,
    .service_query = win32_service_query,
    .service_start = win32_service_start,
    .service_stop = win32_service_stop,
    .service_delete = win32_service_delete,
    .hns = win32_hns,
    .adapters = win32_adapters,
    .routes = win32_routes,
    .neighbors = win32_neighbors,
    .route_add = win32_route_add,
    .route_remove = win32_route_remove,
    .address_add = win32_address_add,
    .dns_set = win32_dns_set,
    .forwarding = win32_forwarding,
    .forwarding_set = win32_forwarding_set,
    .metric_set = win32_metric_set,
    .port_in_use = win32_port_in_use,
    .firewall_put = win32_firewall_put,
    .firewall_remove = win32_firewall_remove,
    .firewall_has = win32_firewall_has,
    .facts = win32_facts,
    .registry_get = win32_registry_get,
    .registry_get_raw = win32_registry_get_raw,
    .registry_set = win32_registry_set,
    .run = win32_run,
    .watcher_start = win32_watcher_start,
    .watcher_end = win32_watcher_end,
    .watched_well = win32_watched_well,
    .event = win32_event,
    .event_source_set = win32_event_source_set,
    .pipe_exists = pipe_exists,
    .pipe_talk = win32_pipe_talk,
    .now = win32_now,
    .monotonic_ms = win32_monotonic_ms,
    .sleep = win32_sleep,
    .interrupted = win32_interrupted,
    .random = random_bytes,
    .environment = environment,
    .environment_names = environment_names,
    .program_path = program_path,
    .free = free_host,
};

struct host *host_win32_open(void) {
    struct host *host = xcalloc(1, sizeof *host);

    host->ops = &win32_ops;
    win32_interrupt_listen();
    return host;
}

int host_open(const char *rootfs, struct host **ret, struct error *err) {
    if (rootfs)
        return error_set(
            err, ERROR_UNSUPPORTED,
            "--rootfs is not supported by the Windows build, which works on the machine itself");
    *ret = host_win32_open();
    return 0;
}
