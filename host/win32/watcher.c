/* Starts a program that outlives this one. The started program notices by the end of a pipe that
 * this program is gone. */
#include "host/win32/win32.h"

enum { POLL_MS = 100, END_MS = 5000 };
static const char WELL = 'w'; /* The byte that tells the watcher program that all went well. */

struct host_watcher {
    HANDLE process, pipe;
};

int win32_watcher_start(struct host *, const char *const *argv, struct host_watcher **ret,
                        struct error *err) {
    _cleanup_wide_ wchar_t *program = win32_wide(argv[0]);
    _cleanup_wide_ wchar_t *line = win32_command_line(argv);
    _cleanup_(win32_block_freep) wchar_t *environment = win32_child_environment(NULL, false);
    /* The child inherits only its input pipe. With other handles it would keep the pipes of our
     * caller open, and the caller would wait for it. It also leaves the job of a remote shell when
     * that is allowed; otherwise the end of the shell would end it. */
    struct win32_start start = {.program = program,
                                .line = line,
                                .flags = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP |
                                         CREATE_BREAKAWAY_FROM_JOB | CREATE_UNICODE_ENVIRONMENT,
                                .environment = environment,
                                .attribute = PROC_THREAD_ATTRIBUTE_HANDLE_LIST};
    PROCESS_INFORMATION made = {0};
    HANDLE ours;
    DWORD code;

    if (win32_make_pipe(true, &start.input, &ours, err) < 0)
        return -1;
    start.value = start.input;
    code = win32_create_process(&start, &made);
    if (code) {
        start.flags &= ~(DWORD)CREATE_BREAKAWAY_FROM_JOB;
        code = win32_create_process(&start, &made);
    }
    CloseHandle(start.input);
    if (code) {
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

    /* A failure to write is ignored: the watcher program may have ended already. */
    (void)WriteFile(watcher->pipe, &WELL, 1, &n, NULL);
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
