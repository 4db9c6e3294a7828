/* Declarations that the files of the Windows host share: Windows' headers in the required order,
 * conversion of text and errors, and functions of these files. Only this file includes <windows.h>.
 */
#pragma once

/* winsock2.h and ws2tcpip.h must precede <windows.h>. */
#include <winsock2.h>
#include <ws2tcpip.h>

#include <windows.h>

/* ERROR_ELEVATION_REQUIRED, which mingw's headers lack. */
enum { WIN32_ERROR_ELEVATION_REQUIRED = 740 };

#include "host/host_ops.h"

/* Declares the operations of struct host_ops. Each is in the file of its subject. */
HOST_OPS(HOST_OP_DECLARE, win32)
HOST_OPS_OF_WINDOWS(HOST_OP_DECLARE, win32)

/* ---- text.c ---- */
/* Convert UTF-8 to UTF-16 and back. What cannot be converted becomes U+FFFD. The caller frees the
 * result. */
wchar_t *win32_wide(const char *text);
char *win32_narrow(const wchar_t *text);
/* Converts to UTF-16 and replaces each '/' by '\\'. */
wchar_t *win32_wide_plain(const char *text);
/* Converts a normalized path to the form without a length limit (\\?\C:\..., \\?\UNC\...). */
wchar_t *win32_wide_path(const char *path);
void win32_wide_freep(wchar_t **text);
#define _cleanup_wide_ __attribute__((cleanup(win32_wide_freep)))
/* Overwrites and frees several strings behind one another, such as an environment block. */
void win32_block_freep(wchar_t **block);

/* ---- error.c ---- */
/* Fills err from a Win32 code or an HRESULT (COM), with the kind and the message "doing: reason
 * (code)". Returns -1. */
int win32_fail(struct error *err, DWORD code, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));

/* ---- access.c ---- */
/* Creates security attributes for a new file or folder; NULL for HOST_PUBLIC. win32_access_free()
 * frees them (NULL allowed). Fails when Windows rejects the SDDL. */
int win32_access_make(enum host_access access, bool folder, SECURITY_ATTRIBUTES **ret,
                      struct error *err);
void win32_access_free(SECURITY_ATTRIBUTES *attributes);
/* Removes the rights that `access` would not give to others from an open folder. */
int win32_access_clip(HANDLE folder, enum host_access access, struct error *err);

/* ---- held_path.c ---- */
enum { WIN32_SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
/* Open handles of a path's folders. While open, they keep these from being renamed or removed. */
struct win32_held_path {
    HANDLE folders[64];
    size_t count;
};
/* Checks each part of the path as host_find_untrusted() does and holds the parts. Call
 * win32_held_path_free() also after a failure. */
int win32_path_check(const char *path, struct win32_held_path *ret, struct host_untrusted *found,
                     struct error *err);
/* Checks and holds the path's parent folders. Fails with ERROR_DENIED if one is untrusted or a
 * link. */
int win32_path_hold(const char *path, struct win32_held_path *ret, struct error *err);
void win32_held_path_free(struct win32_held_path *way);
/* Is the file a junction, a symbolic link, or another reparse point that leads elsewhere? */
bool win32_is_link(HANDLE file);

/* ---- files.c ---- */
/* For _cleanup_: closes an open handle and sets it to NULL. */
void win32_close(HANDLE *handle);

/* ---- library.c ---- */
/* Returns a function of a DLL in System32, or NULL, because Windows versions have different
 * functions. */
void *win32_function(const wchar_t *dll, const char *name);

/* ---- host.c ---- */
/* Converts a FILETIME to seconds since 1970. */
int64_t win32_seconds(const FILETIME *time);
/* Marks the process as asked to stop; used for the stop request of a service. */
void win32_interrupt(void);

/* ---- folders.c ---- */
/* Creates the folders above a path and holds them open. */
int win32_make_parents(const char *path, struct win32_held_path *ret, struct error *err);

/* ---- services.c ---- */
/* *ret is true when the process is a running service or was started by one (nssm.exe, rke2.exe).
 * Only administrators can register services, so such a process can be trusted. */
int win32_is_service(DWORD process, bool *ret, struct error *err);

int win32_open_manager(DWORD access, SC_HANDLE *ret, struct error *err);
/* For _cleanup_: closes the handle of a service or of the SCM. */
void win32_close_service(SC_HANDLE *handle);
#define _cleanup_service_ _cleanup_(win32_close_service)

/* ---- service_config.c ---- */
/* Reads the SCM's configuration of an open service. */
int win32_service_config(SC_HANDLE service, const char *name, struct host_service *ret,
                         struct error *err);

/* ---- process.c ---- */
/* Joins arguments to a command line. The caller frees it. */
wchar_t *win32_command_line(const char *const *argv);
/* Returns the environment for a child program in the form of CreateProcess: this process's
 * variables as child_variable() passes them on, and additional ones ("NAME=value", terminated by
 * NULL; may be NULL), which have priority. The caller frees it with win32_block_freep(). */
wchar_t *win32_child_environment(const char *const *additional, bool talks);
/* Creates a job whose processes end when its last handle is closed; NULL on failure. */
HANDLE win32_make_job(void);
/* Creates a pipe. Only the child's end can be inherited; else the pipe would never close. */
int win32_make_pipe(bool child_reads, HANDLE *ret_child, HANDLE *ret_own, struct error *err);
/* A program to start: its standard handles and CreateProcessW's arguments. NULL means not set. */
struct win32_start {
    const wchar_t *program;
    wchar_t *line;
    DWORD flags;
    wchar_t *environment;
    const wchar_t *folder;
    HANDLE input, output, errors;
    DWORD_PTR attribute; /* A process attribute that gets `value`; ignored when `value` is NULL. */
    HANDLE value;
};
/* Puts the process into a job from its start. This is PROC_THREAD_ATTRIBUTE_JOB_LIST, which not
 * every winbase.h has. */
enum { WIN32_IN_JOB = 0x0002000d };
/* Returns 0, or the code of the failure. */
DWORD win32_create_process(const struct win32_start *start, PROCESS_INFORMATION *ret);
