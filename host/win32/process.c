/* Runs programs without a window and with time limits. Each program runs in a job that ends with
 * it; its output comes through a pipe. */
#include "host/win32/win32.h"

#include "host/command_line.h"

enum {
    OUTPUT_MAX = 1024 * 1024,
    POLL_MS = 200,
    PIPE_SIZE = 65536,
};

/* A running child program and winjoin's ends of its pipes. */
struct child {
    HANDLE job, process, thread, input, output;
    const char *text; /* Text for its standard input. */
    struct text collected;
};

static size_t name_length(const wchar_t *item) {
    /* Skip the first character: a name may begin with '=', as in "=C:=C:\x". */
    const wchar_t *equals = wcschr(item + 1, L'=');

    return equals ? (size_t)(equals - item) : wcslen(item);
}

/* Copies an item with its NUL into the block. Returns the position of the next item. */
static size_t put_item(wchar_t *block, size_t at, const wchar_t *item) {
    size_t units = wcslen(item) + 1;

    memcpy(block + at, item, units * sizeof *block);
    return at + units;
}

wchar_t *win32_child_environment(const char *const *additional, bool talks) {
    wchar_t *own = GetEnvironmentStringsW();
    wchar_t **added;
    wchar_t *block;
    size_t count = 0, units = 2, at = 0;

    for (; additional && additional[count]; count++)
        ;
    added = xcalloc(count + 1, sizeof *added);
    for (size_t i = 0; i < count; i++) {
        added[i] = win32_wide(additional[i]);
        units += wcslen(added[i]) + 1;
    }
    for (const wchar_t *item = own; item && *item; item += wcslen(item) + 1)
        units += wcslen(item) + 1; /* child_variable() never makes an item longer. */
    block = xcalloc(units, sizeof *block);
    for (const wchar_t *item = own; item && *item; item += wcslen(item) + 1) {
        _cleanup_(secret_freep) char *found = win32_narrow(item), *handed = NULL;
        _cleanup_wide_ wchar_t *wide = NULL;
        bool replaced = false;

        for (size_t i = 0; i < count; i++)
            replaced |= name_length(added[i]) == name_length(item) &&
                        _wcsnicmp(added[i], item, name_length(item)) == 0;
        if (!replaced)
            handed = child_variable(found, talks);
        if (!handed)
            continue;
        wide = win32_wide(handed);
        at = put_item(block, at, wide);
    }
    for (size_t i = 0; i < count; i++) {
        at = put_item(block, at, added[i]);
        win32_wide_freep(&added[i]);
    }
    free(added);
    FreeEnvironmentStringsW(own);
    return block;
}

static void child_clear(struct child *child) {
    win32_close(&child->input);
    win32_close(&child->output);
    win32_close(&child->thread);
    win32_close(&child->process);
    win32_close(&child->job); /* Closing the job terminates all programs that still run in it. */
    text_free(&child->collected);
}

int win32_make_pipe(bool child_reads, HANDLE *ret_child, HANDLE *ret_own, struct error *err) {
    SECURITY_ATTRIBUTES inherit = {.nLength = sizeof inherit, .bInheritHandle = TRUE};
    HANDLE read_end, write_end;

    if (!CreatePipe(&read_end, &write_end, &inherit, PIPE_SIZE))
        return win32_fail(err, GetLastError(), "make a pipe");
    *ret_child = child_reads ? read_end : write_end;
    *ret_own = child_reads ? write_end : read_end;
    (void)SetHandleInformation(*ret_own, HANDLE_FLAG_INHERIT, 0);
    return 0;
}

HANDLE win32_make_job(void) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    HANDLE job = CreateJobObjectW(NULL, NULL);

    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if (job) /* Without this limit, TerminateJobObject still ends the job at the deadline. */
        (void)SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits,
                                      sizeof limits);
    return job;
}

wchar_t *win32_command_line(const char *const *argv) {
    _cleanup_(freep) char *line = command_line_make(argv);

    return win32_wide(line);
}

/* Starts a process. The job is given as an attribute, so the process belongs to the job from its
 * start. When winjoin is killed at that moment, the job's last handle closes and ends the process.
 * If the process were added to the job later, it could be left half-made and keep its program file
 * in use. */
DWORD win32_create_process(const struct win32_start *start, PROCESS_INFORMATION *ret) {
    STARTUPINFOEXW startup = {.StartupInfo = {.cb = sizeof startup,
                                              .dwFlags = STARTF_USESTDHANDLES,
                                              .hStdInput = start->input,
                                              .hStdOutput = start->output,
                                              .hStdError = start->errors}};
    _cleanup_(freep) void *memory = NULL;
    HANDLE value = start->value;
    SIZE_T size = 0;
    DWORD code = 0;

    /* The first call always fails and returns the needed size. */
    (void)InitializeProcThreadAttributeList(NULL, 1, 0, &size);
    memory = xcalloc(1, size);
    startup.lpAttributeList = memory;
    if (!InitializeProcThreadAttributeList(memory, 1, 0, &size))
        return GetLastError();
    if ((value && !UpdateProcThreadAttribute(memory, 0, start->attribute, &value, sizeof value,
                                             NULL, NULL)) ||
        !CreateProcessW(start->program, start->line, NULL, NULL, TRUE,
                        start->flags | EXTENDED_STARTUPINFO_PRESENT, start->environment,
                        start->folder, &startup.StartupInfo, ret))
        code = GetLastError();
    DeleteProcThreadAttributeList(memory);
    return code;
}

static int create(const struct host_process *process, HANDLE input, HANDLE output,
                  struct child *child, struct error *err) {
    _cleanup_wide_ wchar_t *line = win32_command_line(process->argv);
    _cleanup_wide_ wchar_t *program = win32_wide_plain(process->argv[0]);
    _cleanup_(win32_block_freep) wchar_t *environment =
        win32_child_environment(process->environment, false);
    struct win32_start start = {.program = program,
                                .line = line,
                                .flags = CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT,
                                .environment = environment,
                                .input = input,
                                .output = output,
                                .errors = process->with_errors ? output : NULL,
                                .attribute = WIN32_IN_JOB};
    PROCESS_INFORMATION made = {0};
    DWORD code;

    child->job = start.value = win32_make_job();
    code = win32_create_process(&start, &made);
    if (code)
        return win32_fail(err, code, "run '%s'", process->argv[0]);
    child->process = made.hProcess;
    CloseHandle(made.hThread);
    return 0;
}

/* Writes the input on its own thread, so that writing does not block reading the output. */
static DWORD WINAPI feed(void *context) {
    struct child *child = context;
    size_t left = child->text ? strlen(child->text) : 0;
    const char *from = child->text;
    DWORD n;

    while (left && WriteFile(child->input, from, left > 65536 ? 65536 : (DWORD)left, &n, NULL)) {
        from += n;
        left -= n;
    }
    win32_close(&child->input);
    return 0;
}

static void end_child(struct child *child) {
    if (!child->job || !TerminateJobObject(child->job, 1))
        (void)TerminateProcess(child->process, 1);
}

static int wait_for_child(struct host *host, struct child *child,
                          const struct host_process *process, struct error *err) {
    uint64_t end = GetTickCount64() + process->timeout_ms;
    DWORD pause = 1, available = 0, n = 0;
    char piece[8192];

    for (;;) {
        DWORD waited = WaitForSingleObject(child->process, pause);
        size_t had = child->collected.len;

        /* Read all output that is available. The end of the process is checked separately, not by
         * the end of the pipe. */
        while (PeekNamedPipe(child->output, NULL, 0, NULL, &available, NULL) && available &&
               ReadFile(child->output, piece, sizeof piece, &n, NULL) && n)
            text_add_bytes(&child->collected, piece, n);
        if (waited == WAIT_OBJECT_0 && !child->collected.overflow)
            return 0;
        /* While output arrives, poll often, because the pipe holds only 64 KiB and the program
         * waits when the pipe is full. */
        pause = child->collected.len > had ? 1 : pause < POLL_MS ? pause * 2 : POLL_MS;
        if (child->collected.overflow || GetTickCount64() >= end ||
            (!process->undoes && host_interrupted(host)))
            break;
    }
    end_child(child);
    if (child->collected.overflow)
        return error_set(err, ERROR_MALFORMED, "run '%s': its output is longer than %d bytes",
                         process->argv[0], OUTPUT_MAX);
    if (!process->undoes && host_interrupted(host))
        return error_set(err, ERROR_INTERRUPTED, "run '%s': interrupted", process->argv[0]);
    return error_set(err, ERROR_TIMED_OUT, "run '%s': it did not finish within %u ms",
                     process->argv[0], process->timeout_ms);
}

int win32_run(struct host *host, const struct host_process *process, int *ret_exit_code,
              char **ret_output, struct error *err) {
    _cleanup_(child_clear) struct child child = {.text = process->input};
    HANDLE input = NULL, output = NULL;
    DWORD code = 0;
    int result = -1;

    child.collected.cap = OUTPUT_MAX;
    if (win32_make_pipe(true, &input, &child.input, err) == 0 &&
        win32_make_pipe(false, &output, &child.output, err) == 0)
        result = create(process, input, output, &child, err);
    win32_close(&input); /* The child process has its own copies of both handles now. */
    win32_close(&output);
    if (result < 0)
        return -1;
    child.thread = CreateThread(NULL, 0, feed, &child, 0, NULL);
    if (!child.thread) {
        end_child(&child);
        return win32_fail(err, GetLastError(), "run '%s'", process->argv[0]);
    }
    result = wait_for_child(host, &child, process, err);
    /* Terminate the programs that the child left running, so that they release its pipes. */
    end_child(&child);
    while (WaitForSingleObject(child.thread, POLL_MS) == WAIT_TIMEOUT)
        /* A process outside of the job holds the pipe's other end, so cancel the blocked write. */
        (void)CancelSynchronousIo(child.thread);
    if (result < 0)
        return -1;
    if (!GetExitCodeProcess(child.process, &code))
        return win32_fail(err, GetLastError(), "run '%s'", process->argv[0]);
    *ret_exit_code = (int)code;
    *ret_output = text_take(&child.collected);
    return 0;
}
