/* A program that outlives this one and learns by a pipe's end that this one is gone. */
#include "host/win32/win32.h"

enum { POLL_MS = 100, END_MS = 5000 };
static const char WELL = 'w'; /* all that is ever said */

struct host_watcher {
    HANDLE process, pipe;
};

/* The child gets this handle alone: with the others it would keep the pipes of whoever started us
 * open, and they would wait for it. */
static BOOL create(const wchar_t *program, wchar_t *line, HANDLE input, DWORD flags,
                   PROCESS_INFORMATION *ret) {
    STARTUPINFOEXW startup = {
        .StartupInfo = {.cb = sizeof startup, .dwFlags = STARTF_USESTDHANDLES, .hStdInput = input}};
    _cleanup_(freep) void *memory = NULL;
    SIZE_T size = 0;
    BOOL done;

    (void)InitializeProcThreadAttributeList(NULL, 1, 0, &size); /* fails, and says how large */
    memory = xcalloc(1, size);
    startup.lpAttributeList = memory;
    if (!InitializeProcThreadAttributeList(memory, 1, 0, &size))
        return FALSE;
    done = UpdateProcThreadAttribute(memory, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &input,
                                     sizeof input, NULL, NULL) &&
           CreateProcessW(program, line, NULL, NULL, TRUE,
                          flags | DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP |
                              EXTENDED_STARTUPINFO_PRESENT,
                          NULL, NULL, &startup.StartupInfo, ret);
    DeleteProcThreadAttributeList(memory);
    return done;
}

int win32_watcher_start(struct host *, const char *const *argv, struct host_watcher **ret,
                        struct error *err) {
    SECURITY_ATTRIBUTES inherit = {.nLength = sizeof inherit, .bInheritHandle = TRUE};
    _cleanup_wide_ wchar_t *program = win32_wide(argv[0]);
    _cleanup_wide_ wchar_t *line = win32_command_line(argv);
    PROCESS_INFORMATION made = {0};
    HANDLE theirs, ours;
    BOOL done;
    DWORD code;

    if (!CreatePipe(&theirs, &ours, &inherit, 0))
        return win32_fail(err, GetLastError(), "make a pipe");
    (void)SetHandleInformation(ours, HANDLE_FLAG_INHERIT, 0); /* else the pipe never ends */
    /* out of the job of a remote shell, where that allows it: its end would be the child's, too */
    done = create(program, line, theirs, CREATE_BREAKAWAY_FROM_JOB, &made) ||
           create(program, line, theirs, 0, &made);
    code = GetLastError();
    CloseHandle(theirs);
    if (!done) {
        CloseHandle(ours);
        return win32_fail(err, code, "run '%s'", argv[0]);
    }
    CloseHandle(made.hThread);
    *ret = xcalloc(1, sizeof **ret);
    **ret = (struct host_watcher){.process = made.hProcess, .pipe = ours};
    return 0;
}

void win32_watcher_end(struct host *, struct host_watcher *watcher) {
    DWORD n;

    (void)WriteFile(watcher->pipe, &WELL, 1, &n, NULL); /* or it has ended already */
    if (WaitForSingleObject(watcher->process, END_MS) != WAIT_OBJECT_0)
        (void)TerminateProcess(watcher->process, 1);
    CloseHandle(watcher->pipe);
    CloseHandle(watcher->process);
    free(watcher);
}

bool win32_watched_well(struct host *, unsigned timeout_ms) {
    HANDLE pipe = GetStdHandle(STD_INPUT_HANDLE);
    uint64_t end = GetTickCount64() + timeout_ms;
    DWORD there = 0;

    while (GetTickCount64() < end && PeekNamedPipe(pipe, NULL, 0, NULL, &there, NULL)) {
        if (there)
            return true;
        Sleep(POLL_MS);
    }
    return false;
}
