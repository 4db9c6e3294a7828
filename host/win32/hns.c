/* Calls the Host Networking Service. Each call of computenetwork.dll or vmcompute.dll runs on its
 * own thread, because HNS can hang. A call that does not return in time is abandoned with its
 * thread. */
#include "host/win32/win32.h"

#include <objbase.h>

enum { ARGUMENTS_MAX = 3 };

/* The parameters of the functions whose names begin with `begins` (ComputeNetwork.h). Inputs: g
 * GUID, s text, h handle. Outputs: S text, H handle, E ErrorRecord (last). */
struct shape {
    const char *begins, *dll, *inputs, *outputs;
};

static const struct shape shapes[] = {
    {"HcnEnumerate", "computenetwork.dll", "s", "SE"},
    {"HcnCreateEndpoint", "computenetwork.dll", "hgs", "HE"},
    {"HcnCreate", "computenetwork.dll", "gs", "HE"},
    {"HcnOpen", "computenetwork.dll", "g", "HE"},
    {"HcnQuery", "computenetwork.dll", "hs", "SE"},
    {"HcnModify", "computenetwork.dll", "hs", "E"},
    {"HcnDelete", "computenetwork.dll", "g", "E"},
    {"HcnClose", "computenetwork.dll", "h", ""},
    {"HNSCall", "vmcompute.dll", "sss", "S"},
};

/* One call. The caller and the thread share it; the last one frees it. */
struct call {
    LONG holders;
    const struct shape *shape;
    void *function;
    void *inputs[ARGUMENTS_MAX]; /* Text or GUID (both owned), or the handle value itself. */
    void *outputs[2];
    HRESULT hresult;
};

static void release(struct call *call) {
    if (InterlockedDecrement(&call->holders) > 0)
        return;
    for (size_t i = 0; call->shape->inputs[i]; i++)
        if (call->shape->inputs[i] != 'h')
            free(call->inputs[i]);
    for (size_t i = 0; call->shape->outputs[i]; i++)
        if (call->shape->outputs[i] != 'H')
            CoTaskMemFree(call->outputs[i]);
    free(call);
}

/* Calls the function with five pointer arguments. On 64-bit Windows, pointers and handles are
 * passed in the same manner, and the caller cleans up. A function with fewer parameters ignores the
 * additional arguments. */
static DWORD WINAPI run_call(void *context) {
    typedef HRESULT(WINAPI * export)(void *, void *, void *, void *, void *);
    struct call *call = context;
    void *a[ARGUMENTS_MAX + 2] = {0};
    size_t n = 0;

    for (size_t i = 0; call->shape->inputs[i]; i++)
        a[n++] = call->inputs[i];
    for (size_t i = 0; call->shape->outputs[i]; i++)
        a[n++] = &call->outputs[i];
    call->hresult = ((export)call->function)(a[0], a[1], a[2], a[3], a[4]);
    release(call);
    return 0;
}

static void *make_input(char type, const char *text) {
    _cleanup_(freep) char *braced = NULL;
    _cleanup_wide_ wchar_t *wide = NULL;
    GUID *guid;

    if (type == 'h')
        return (void *)(uintptr_t)strtoull(text ? text : "0", NULL, 16);
    if (type != 'g')
        return win32_wide(text ? text : "");
    braced = xasprintf("{%s}", text ? text : "");
    wide = win32_wide(braced);
    guid = xcalloc(1, sizeof *guid);
    /* hcn.c has checked the GUID. If it were invalid, the zero GUID would match no object. */
    (void)CLSIDFromString(wide, guid);
    return guid;
}

int win32_hns(struct host *, const char *function, const char *const *arguments, size_t count,
              unsigned timeout_ms, char **ret_result, char **ret_error_record,
              uint32_t *ret_hresult, struct error *err) {
    const struct shape *shape = NULL;
    _cleanup_wide_ wchar_t *dll = NULL;
    void *address = NULL;
    struct call *call;
    HANDLE thread;
    int result = 0;

    for (size_t i = 0; i < ARRAY_SIZE(shapes) && !shape; i++)
        shape = text_starts_with(function, shapes[i].begins) ? &shapes[i] : NULL;
    if (shape) {
        dll = win32_wide(shape->dll);
        address = win32_function(dll, function);
    }
    if (!address || strlen(shape->inputs) != count)
        return error_set(
            err, ERROR_UNSUPPORTED,
            "call %s: not available on this Windows (%s belongs to the Containers feature)",
            function, shape ? shape->dll : "no DLL");
    call = xcalloc(1, sizeof *call);
    call->holders = 2;
    call->shape = shape;
    call->function = address;
    for (size_t i = 0; i < count; i++)
        call->inputs[i] = make_input(shape->inputs[i], arguments[i]);
    thread = CreateThread(NULL, 0, run_call, call, 0, NULL);
    if (!thread) {
        call->holders = 1;
        release(call);
        return win32_fail(err, GetLastError(), "call %s", function);
    }
    if (WaitForSingleObject(thread, timeout_ms) != WAIT_OBJECT_0)
        result = error_set(err, ERROR_TIMED_OUT,
                           "call %s: no answer within %.0f s; the result is unknown", function,
                           timeout_ms / 1000.0);
    CloseHandle(thread);
    if (result == 0) {
        *ret_hresult = (uint32_t)call->hresult;
        for (size_t i = 0; shape->outputs[i]; i++) {
            const wchar_t *text = call->outputs[i];

            if (shape->outputs[i] == 'H')
                *ret_result = text ? xasprintf("%llx", (unsigned long long)(uintptr_t)text) : NULL;
            else if (text && shape->outputs[i] == 'S')
                *ret_result = win32_narrow(text);
            else if (text && *text)
                *ret_error_record = win32_narrow(text);
        }
    }
    release(call);
    return result;
}
