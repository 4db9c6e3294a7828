/* hns: a service that runs until it is stopped. Who needs it: the service hns of a played host,
 * whose process winjoin-network looks at; what HNS answers is hnsd's. */
#include <windows.h>

static SERVICE_STATUS_HANDLE handle;
static HANDLE stop;

static void report(DWORD state) {
    SERVICE_STATUS status = {.dwServiceType = SERVICE_WIN32_OWN_PROCESS,
                             .dwCurrentState = state,
                             .dwControlsAccepted = SERVICE_ACCEPT_STOP};

    (void)SetServiceStatus(handle, &status);
}

static DWORD WINAPI on_control(DWORD control, DWORD type, void *data, void *context) {
    (void)type, (void)data, (void)context;
    if (control == SERVICE_CONTROL_STOP)
        SetEvent(stop);
    return NO_ERROR;
}

static void WINAPI service_main(DWORD argc, wchar_t **argv) {
    (void)argc, (void)argv;
    handle = RegisterServiceCtrlHandlerExW(L"hns", on_control, NULL);
    stop = CreateEventW(NULL, TRUE, FALSE, NULL);
    report(SERVICE_RUNNING);
    (void)WaitForSingleObject(stop, INFINITE);
    report(SERVICE_STOPPED);
}

int wmain(void) {
    static wchar_t name[] = L"hns";
    const SERVICE_TABLE_ENTRYW table[] = {{name, service_main}, {NULL, NULL}};

    return StartServiceCtrlDispatcherW(table) ? 0 : 1;
}
