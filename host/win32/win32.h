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

/* The operations, in the files of their subjects. */
HOST_OPS(HOST_OP_DECLARE, win32)
HOST_OPS_OF_WINDOWS(HOST_OP_DECLARE, win32)

/* ---- text.c ---- */
/* UTF-8 to UTF-16 and back; what cannot be converted becomes U+FFFD. The caller frees. */
wchar_t *win32_wide(const char *text);
char *win32_narrow(const wchar_t *text);
/* UTF-16 with '\\' for each '/'. */
wchar_t *win32_wide_plain(const char *text);
/* A normalized path in the form without a length limit (\\?\C:\..., \\?\UNC\...). */
wchar_t *win32_wide_path(const char *path);
void win32_wide_freep(wchar_t **text);
#define _cleanup_wide_ __attribute__((cleanup(win32_wide_freep)))
/* The same of several texts behind one another, as an environment is. */
void win32_block_freep(wchar_t **block);

/* ---- error.c ---- */
/* Fills err from a Win32 code, or an HRESULT (COM): its kind, "doing: reason (code)"; returns -1.
 */
int win32_fail(struct error *err, DWORD code, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));

/* ---- access.c ---- */
/* Security attributes that give a new file or folder its access; NULL for HOST_PUBLIC.
 * win32_access_free frees (NULL allowed). Fails when Windows does not take the SDDL. */
int win32_access_make(enum host_access access, bool folder, SECURITY_ATTRIBUTES **ret,
                      struct error *err);
void win32_access_free(SECURITY_ATTRIBUTES *attributes);
/* Takes from an open folder what `access` would not give to others. */
int win32_access_clip(HANDLE folder, enum host_access access, struct error *err);

/* ---- way.c ---- */
enum { WIN32_SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
/* Handles of a path's folders: while they are open, none of them can be renamed or removed. */
struct win32_way {
    HANDLE folders[64];
    size_t count;
};
/* Looks at each name of the path as host_stranger() says. win32_way_free(), after a failure too. */
int win32_way_look(const char *path, struct win32_way *ret, struct host_stranger *found,
                   struct error *err);
/* The same of the folders above the path; one that is a stranger's, or leads elsewhere, is
 * ERROR_DENIED. */
int win32_way_hold(const char *path, struct win32_way *ret, struct error *err);
void win32_way_free(struct win32_way *way);
/* true for a junction, a symbolic link and what else stands for another name. */
bool win32_is_link(HANDLE file);

/* ---- files.c ---- */
/* For _cleanup_: closes what is open, and leaves NULL. */
void win32_close(HANDLE *handle);

/* ---- library.c ---- */
/* A function of a DLL in System32, or NULL: Windows builds differ in what they have. */
void *win32_function(const wchar_t *dll, const char *name);

/* ---- host.c ---- */
/* Seconds since 1970. */
int64_t win32_seconds(const FILETIME *time);
/* Marks the process as asked to stop (a service's stop control). */
void win32_interrupt(void);

/* ---- folders.c ---- */
/* Makes the folders above a path, and holds them. */
int win32_make_parents(const char *path, struct win32_way *ret, struct error *err);

/* ---- services.c ---- */
/* true for the process of a service that runs, and for one that such a process started (nssm.exe,
 * rke2.exe): only an administrator registers a service. */
int win32_is_service(DWORD process, bool *ret, struct error *err);

int win32_open_manager(DWORD access, SC_HANDLE *ret, struct error *err);
/* For _cleanup_. */
void win32_close_service(SC_HANDLE *handle);
#define _cleanup_service_ _cleanup_(win32_close_service)

/* ---- service_config.c ---- */
/* Reads what the SCM keeps about an open service. */
int win32_service_config(SC_HANDLE service, const char *name, struct host_service *ret,
                         struct error *err);

/* ---- process.c ---- */
/* A whole command line from arguments; the caller frees. */
wchar_t *win32_command_line(const char *const *argv);
/* The environment of a program that is started, for CreateProcess: ours as child_variable() hands
 * it on, and additional items ("NAME=value", NULL-terminated, or NULL), which win. The caller
 * frees. */
wchar_t *win32_child_environment(const char *const *additional, bool talks);
/* A job whose processes end with its last handle; NULL when Windows gives none. */
HANDLE win32_make_job(void);
/* A pipe whose end for a child can be inherited; ours cannot, else the pipe would never end. */
int win32_make_pipe(bool child_reads, HANDLE *ret_child, HANDLE *ret_own, struct error *err);
/* A program to start: its standard handles, and what CreateProcessW gets; NULL: not given. */
struct win32_start {
    const wchar_t *program;
    wchar_t *line;
    DWORD flags;
    wchar_t *environment;
    const wchar_t *folder;
    HANDLE input, output, errors;
    DWORD_PTR attribute; /* one of the process's, whose value is this handle; NULL: none */
    HANDLE value;
};
/* The process is in a job of this kind from its first moment. */
enum { WIN32_IN_JOB = 0x0002000d }; /* PROC_THREAD_ATTRIBUTE_JOB_LIST, not in every winbase.h */
BOOL win32_create_process(const struct win32_start *start, PROCESS_INFORMATION *ret);
