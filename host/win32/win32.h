/* What the files of the Windows host share: Windows' headers in the one order that works, text and
 * error conversion, and the operations that host.c puts into its table. The only place of
 * <windows.h>. */
#pragma once

/* These two before <windows.h>. */
#include <winsock2.h>
#include <ws2tcpip.h>

#include <windows.h>

/* mingw's headers lack it. */
enum { WIN32_ERROR_ELEVATION_REQUIRED = 740 };

#include "host/host_ops.h"

/* ---- text.c ---- */
/* UTF-8 to UTF-16 and back; what cannot be converted becomes U+FFFD. The caller frees. */
wchar_t *win32_wide(const char *text);
char *win32_narrow(const wchar_t *text);
/* A normalized path in the form without a length limit (\\?\C:\..., \\?\UNC\...). */
wchar_t *win32_wide_path(const char *path);
/* folder\name; the caller frees. */
wchar_t *win32_wide_join(const wchar_t *folder, const wchar_t *name);
void win32_wide_freep(wchar_t **text);
#define _cleanup_wide_ __attribute__((cleanup(win32_wide_freep)))

/* ---- error.c ---- */
/* Fills err from a Win32 code: its kind, "doing: reason (code)"; returns -1. */
int win32_fail(struct error *err, DWORD code, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));
/* The same from an HRESULT (COM). */
int win32_fail_hresult(struct error *err, HRESULT hresult, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));

/* ---- access.c ---- */
/* Security attributes that give a new file or folder its access; NULL for HOST_PUBLIC.
 * win32_access_free frees (NULL allowed). Fails when Windows does not take the SDDL. */
int win32_access_make(enum host_access access, bool folder, SECURITY_ATTRIBUTES **ret,
                      struct error *err);
void win32_access_free(SECURITY_ATTRIBUTES *attributes);
/* Gives a folder that exists the access. */
int win32_access_apply(const wchar_t *path, void *descriptor, struct error *err);
int win32_access_get(struct host *, const char *, char **, struct error *);
int win32_access_set(struct host *, const char *, const char *, struct error *);
int win32_is_admins(struct host *, const char *, bool *, struct error *);

/* ---- library.c ---- */
/* A function of a DLL in System32, or NULL: Windows builds differ in what they have. */
void *win32_function(const wchar_t *dll, const char *name);

/* ---- clock.c ---- */
/* Begins to listen for Ctrl-C, Ctrl-Break, console close, log-off and shutdown. */
void win32_interrupt_listen(void);
/* Marks the process as asked to stop (a service's stop control). */
void win32_interrupt(void);
int64_t win32_now(struct host *);
uint64_t win32_monotonic_ms(struct host *);
int win32_sleep(struct host *, unsigned milliseconds, struct error *);
bool win32_interrupted(struct host *);

/* ---- files.c, folders.c ---- */
/* clock.c: seconds since 1970. */
int64_t win32_seconds(const FILETIME *time);
int win32_read(struct host *, const char *, size_t, char **, size_t *, struct error *);
int win32_read_part(struct host *, const char *, uint64_t, size_t, char **, size_t *, uint64_t *,
                    struct error *);
int win32_write(struct host *, const char *, const void *, size_t, enum host_access,
                struct error *);
int win32_make_folder(struct host *, const char *, enum host_access, struct error *);
int win32_remove(struct host *, const char *, struct error *);
int win32_remove_tree(struct host *, const char *, struct error *);
int win32_rename(struct host *, const char *, const char *, struct error *);
int win32_link(struct host *, const char *, const char *, struct error *);
enum host_file_type win32_file_type(struct host *, const char *);
int win32_list(struct host *, const char *, struct text_list *, struct error *);
int win32_free_space(struct host *, const char *, uint64_t *, struct error *);
/* Makes the folders above a path. */
int win32_make_parents(const char *path, struct error *err);

/* ---- services.c, service_config.c ---- */
int win32_service_put(struct host *, const struct host_service *, struct error *);
int win32_service_query(struct host *, const char *, struct host_service *, struct error *);
int win32_service_start(struct host *, const char *, unsigned, struct error *);
int win32_service_stop(struct host *, const char *, unsigned, struct error *);
int win32_service_delete(struct host *, const char *, unsigned, struct error *);
/* Reads what the SCM keeps about an open service. */
int win32_service_config(SC_HANDLE service, const char *name, struct host_service *ret,
                         struct error *err);
/* Creates or changes the service; *ret is open for all access. */
int win32_service_configure(SC_HANDLE manager, const struct host_service *service, SC_HANDLE *ret,
                            struct error *err);

/* ---- hns.c ---- */
int win32_hns(struct host *, const char *, const char *const *, size_t, unsigned, char **, char **,
              uint32_t *, struct error *);

/* ---- adapters.c, interfaces.c, routes.c, ports.c, firewall.c ---- */
int win32_adapters(struct host *, struct host_adapters *, struct error *);
int win32_routes(struct host *, struct host_routes *, struct error *);
int win32_neighbors(struct host *, struct host_neighbors *, struct error *);
int win32_route_add(struct host *, const struct host_route *, struct error *);
int win32_route_remove(struct host *, const struct host_route *, struct error *);
int win32_address_add(struct host *, uint32_t, const char *, struct error *);
int win32_dns_set(struct host *, uint32_t, const struct text_list *, struct error *);
int win32_forwarding(struct host *, uint32_t, int, bool *, struct error *);
int win32_metric_set(struct host *, uint32_t, int, uint32_t, struct error *);
int win32_forwarding_set(struct host *, uint32_t, int, bool, struct error *);
int win32_port_in_use(struct host *, bool, unsigned, bool *, struct error *);
int win32_firewall_put(struct host *, const struct host_firewall_rule *, struct error *);
int win32_firewall_remove(struct host *, const char *, struct error *);
int win32_firewall_has(struct host *, const char *, bool *, struct error *);

/* ---- facts.c, features.c, registry.c, process.c, event.c ---- */
int win32_facts(struct host *, struct host_facts *, struct error *);
/* 1 installed, 0 not, -1 unknown. */
int win32_containers_feature(void);
int win32_registry_get(struct host *, const char *, const char *, char **, struct error *);
int win32_registry_get_raw(struct host *, const char *, const char *, char **, struct error *);
int win32_registry_set(struct host *, const char *, const char *, bool, const char *,
                       struct error *);
int win32_run(struct host *, const struct host_process *, int *, char **, struct error *);
int win32_pipe_talk(struct host *, const char *, const struct host_pipe_talk *, struct error *);
/* A whole command line from arguments; the caller frees. */
wchar_t *win32_command_line(const char *const *argv);
/* A job whose processes end with its last handle; NULL when Windows gives none. */
HANDLE win32_make_job(void);
/* CreateProcessW with inherited handles, the process in the job from its first moment; a NULL job
 * is left out. */
BOOL win32_create_process(HANDLE job, const wchar_t *program, wchar_t *line, DWORD flags,
                          wchar_t *environment, const wchar_t *folder, STARTUPINFOW *startup,
                          PROCESS_INFORMATION *ret);
int win32_watcher_start(struct host *, const char *const *, struct host_watcher **, struct error *);
void win32_watcher_end(struct host *, struct host_watcher *);
bool win32_watched_well(struct host *, unsigned);
int win32_event(struct host *, char, unsigned, const char *, struct error *);
int win32_event_source_set(struct host *, const char *, struct error *);
