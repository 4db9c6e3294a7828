/* How a stand-in lives: under the SCM, or at the console. */
#include "tests/standins/lib/lifetime.h"

#include "base/memory.h"
#include "tests/standins/lib/klog.h"

#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static HANDLE over;
static int (*body)(void);
static int exit_code;
static char service_name[64];
static SERVICE_STATUS_HANDLE status_handle;

static void report(DWORD state) {
    SERVICE_STATUS status = {
        .dwServiceType = SERVICE_WIN32_OWN_PROCESS,
        .dwCurrentState = state,
        .dwControlsAccepted =
            state == SERVICE_RUNNING ? SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_SHUTDOWN : 0,
        .dwWin32ExitCode = exit_code ? ERROR_SERVICE_SPECIFIC_ERROR : NO_ERROR,
        .dwServiceSpecificExitCode = (DWORD)exit_code,
        .dwWaitHint = state == SERVICE_STOP_PENDING ? 10000 : 0,
    };
    (void)SetServiceStatus(status_handle, &status); /* nobody to tell when the SCM is gone */
}

static DWORD WINAPI control(DWORD code, DWORD type, void *data, void *context) {
    (void)type, (void)data, (void)context;
    if (code == SERVICE_CONTROL_STOP || code == SERVICE_CONTROL_SHUTDOWN) {
        report(SERVICE_STOP_PENDING);
        (void)SetEvent(over);
        return NO_ERROR;
    }
    return code == SERVICE_CONTROL_INTERROGATE ? NO_ERROR : ERROR_CALL_NOT_IMPLEMENTED;
}

static void WINAPI service_main(DWORD argc, char **argv) {
    (void)argc, (void)argv;
    status_handle = RegisterServiceCtrlHandlerExA(service_name, control, NULL);
    report(SERVICE_RUNNING);
    exit_code = body();
    report(SERVICE_STOPPED);
}

static BOOL WINAPI console_event(DWORD event) {
    (void)event;
    (void)SetEvent(over);
    return TRUE;
}

int lifetime_run(const char *service, int (*run)(void)) {
    over = CreateEventA(NULL, TRUE, FALSE, NULL);
    body = run;
    if (!service) {
        (void)SetConsoleCtrlHandler(console_event, TRUE); /* without a console nobody can press */
        return run();
    }
    (void)lstrcpynA(service_name, service, sizeof(service_name));
    SERVICE_TABLE_ENTRYA table[] = {{service_name, service_main}, {NULL, NULL}};
    if (!StartServiceCtrlDispatcherA(table)) {
        klog('F', "cannot connect to the service controller (%lu)", GetLastError());
        return 1;
    }
    /* Its threads are in the middle of things: an orderly end could wait for one of them for ever.
     */
    (void)fflush(NULL);
    (void)TerminateProcess(GetCurrentProcess(), (UINT)exit_code);
    return exit_code;
}

bool lifetime_over(void) {
    return lifetime_wait(0);
}

bool lifetime_wait(unsigned milliseconds) {
    return WaitForSingleObject(over, milliseconds) == WAIT_OBJECT_0;
}

struct start {
    void (*run)(void *);
    void *context;
};

static unsigned __stdcall enter(void *given) {
    struct start start = *(struct start *)given;
    free(given);
    start.run(start.context);
    return 0;
}

void lifetime_thread(void (*run)(void *), void *context) {
    struct start *start = xmalloc(sizeof(*start));
    *start = (struct start){run, context};
    uintptr_t thread = _beginthreadex(NULL, 0, enter, start, 0, NULL);
    if (thread)
        CloseHandle((HANDLE)thread);
}
