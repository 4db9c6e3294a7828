/* Runs the process of a service on Windows: reports to the SCM, and starts the program in a job
 * with a pipe for its output. */
#include "host/win32/win32.h"

#include "host/service_host.h"

enum {
    START_HINT_MS = 30000,
    STOP_MARGIN_MS = 5000,
    WORK_HINT_MS = 300000, /* Longer than HNS needs for all networks. */
};

/* The state of the service. It is static, because the dispatcher calls back without a
 * context and a process hosts one service. */
static struct {
    const char *name;
    const struct service_program *program;
    const struct service_work *work;
    SERVICE_STATUS_HANDLE status;
    HANDLE stop; /* Event that is set by a stop or shutdown request. */
    struct error *err;
    int result;
} hosted;

static void report(DWORD state, DWORD exit_code, DWORD hint_ms) {
    SERVICE_STATUS status = {
        .dwServiceType = SERVICE_WIN32_OWN_PROCESS,
        .dwCurrentState = state,
        .dwControlsAccepted =
            state == SERVICE_RUNNING ? SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_SHUTDOWN : 0,
        .dwWin32ExitCode = exit_code ? ERROR_SERVICE_SPECIFIC_ERROR : NO_ERROR,
        .dwServiceSpecificExitCode = exit_code,
        .dwWaitHint = hint_ms,
    };

    /* A failure to report is ignored, because nobody could receive the status then. */
    (void)SetServiceStatus(hosted.status, &status);
}

static DWORD WINAPI on_control(DWORD control, DWORD, void *, void *) {
    if (control == SERVICE_CONTROL_INTERROGATE)
        return NO_ERROR;
    if (control != SERVICE_CONTROL_STOP && control != SERVICE_CONTROL_SHUTDOWN)
        return ERROR_CALL_NOT_IMPLEMENTED;
    report(SERVICE_STOP_PENDING, 0,
           (hosted.program ? hosted.program->stop_timeout_ms : 0) + STOP_MARGIN_MS);
    SetEvent(hosted.stop);
    /* Work inside this process checks host_interrupted(), so set its event too. */
    win32_interrupt();
    return NO_ERROR;
}

static int start(const struct service_program *program, HANDLE job, HANDLE output,
                 PROCESS_INFORMATION *ret, struct error *err) {
    _cleanup_(freep) wchar_t *line = win32_command_line(program->argv);
    _cleanup_(freep) wchar_t *folder =
        program->working_folder ? win32_wide(program->working_folder) : NULL;
    /* Keep the proxy's password: the node's programs reach images and the API server with it. */
    _cleanup_(win32_block_freep) wchar_t *environment =
        win32_child_environment(program->environment, true);
    const struct win32_start start = {.line = line,
                                      .flags =
                                          CREATE_NEW_PROCESS_GROUP | CREATE_UNICODE_ENVIRONMENT,
                                      .environment = environment,
                                      .folder = folder,
                                      .output = output,
                                      .errors = output,
                                      .attribute = WIN32_IN_JOB,
                                      .value = job};
    DWORD code = win32_create_process(&start, ret);

    if (code)
        return win32_fail(err, code, "start '%s'", program->argv[0]);
    (void)CloseHandle(ret->hThread);
    return 0;
}

struct reader {
    const struct service_program *program;
    HANDLE pipe;
};

static DWORD WINAPI read_output(void *context) {
    const struct reader *reader = context;
    char buffer[4096];
    DWORD n;

    while (ReadFile(reader->pipe, buffer, sizeof buffer, &n, NULL) && n)
        reader->program->on_output(reader->program->context, buffer, n);
    return 0;
}

/* Runs the program until it ends or is stopped. *ret_code is its exit code, 0 after a stop. */
static int run_program(DWORD *ret_code, struct error *err) {
    const struct service_program *program = hosted.program;
    struct reader reader = {.program = program};
    HANDLE job = win32_make_job(), output, thread, either[2];
    PROCESS_INFORMATION process;
    DWORD code = 1;

    (void)AllocConsole(); /* Ctrl-Break reaches the program only through a shared console. */
    if (win32_make_pipe(false, &output, &reader.pipe, err) < 0)
        return -1;
    if (start(program, job, output, &process, err) < 0) {
        (void)CloseHandle(output);
        (void)CloseHandle(reader.pipe);
        return -1;
    }
    (void)CloseHandle(output);
    report(SERVICE_RUNNING, 0, 0);
    thread = CreateThread(NULL, 0, read_output, &reader, 0, NULL);

    either[0] = process.hProcess;
    either[1] = hosted.stop;
    if (WaitForMultipleObjects(2, either, FALSE, INFINITE) == WAIT_OBJECT_0) {
        /* When the exit code cannot be read, `code` remains 1. */
        (void)GetExitCodeProcess(process.hProcess, &code);
        /* A service that ends without a request has failed, so report an error code. */
        code = code ? code : 1;
    } else {
        code = 0;
        /* Ask the program to stop with Ctrl-Break. If it cannot be asked (no console; Wine has no
         * Ctrl-Break) or does not end in time, terminate it. */
        if (!GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, process.dwProcessId) ||
            WaitForSingleObject(process.hProcess, program->stop_timeout_ms) != WAIT_OBJECT_0) {
            (void)TerminateJobObject(job, 1);
            (void)TerminateProcess(process.hProcess, 1);
            (void)WaitForSingleObject(process.hProcess, STOP_MARGIN_MS);
        }
    }
    *ret_code = code;
    if (program->on_end)
        program->on_end(program->context, code == 0, code);
    (void)CloseHandle(process.hProcess);
    /* Closing the job ends programs that the service left running, and so closes the pipe. */
    (void)CloseHandle(job);
    (void)WaitForSingleObject(thread, STOP_MARGIN_MS);
    (void)CloseHandle(thread);
    (void)CloseHandle(reader.pipe);
    return 0;
}

static void WINAPI service_main(DWORD, wchar_t **) {
    _cleanup_(freep) wchar_t *name = win32_wide(hosted.name);
    const struct service_work *work = hosted.work;
    DWORD code = 1;

    hosted.status = RegisterServiceCtrlHandlerExW(name, on_control, NULL);
    report(SERVICE_START_PENDING, 0, START_HINT_MS);
    if (hosted.program) {
        hosted.result = run_program(&code, hosted.err);
    } else {
        report(SERVICE_START_PENDING, 0, WORK_HINT_MS);
        hosted.result = work->begin(work->context, hosted.err);
        if (hosted.result == 0) {
            report(SERVICE_RUNNING, 0, 0);
            hosted.result = work->go_on(work->context, hosted.err);
        }
        code = hosted.result < 0 ? 1 : 0;
    }
    report(SERVICE_STOPPED, code, 0);
}

int service_host_run(const char *name, const struct service_program *program,
                     const struct service_work *work, struct error *err) {
    _cleanup_(freep) wchar_t *wide = win32_wide(name);
    SERVICE_TABLE_ENTRYW table[] = {{wide, service_main}, {NULL, NULL}};

    hosted.name = name;
    hosted.program = program;
    hosted.work = work;
    hosted.err = err;
    hosted.stop = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (!StartServiceCtrlDispatcherW(table)) {
        (void)error_set_os(err, ERROR_USAGE, GetLastError(), "run as service '%s'", name);
        return error_hint(err, "the Service Control Manager starts it: sc.exe start %s", name);
    }
    return hosted.result;
}
