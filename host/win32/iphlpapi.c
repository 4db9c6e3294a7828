/* Looks up functions of iphlpapi.dll, converts addresses from and to Windows' form, runs netsh. */
#include "host/win32/iphlpapi.h"

#include "base/log.h"

enum { NETSH_MS = 20000, NETSH_WORDS = 16 };

void *win32_iphlpapi(const char *function, struct error *err) {
    void *address = win32_function(L"iphlpapi.dll", function);

    if (!address)
        (void)error_set(err, ERROR_UNSUPPORTED, "call %s: not available on this Windows", function);
    return address;
}

void win32_sockaddr(const struct ip *ip, SOCKADDR_INET *ret) {
    *ret = (SOCKADDR_INET){0};
    if (ip->family == 4) {
        ret->Ipv4.sin_family = AF_INET;
        memcpy(&ret->Ipv4.sin_addr, ip->bytes, 4);
    } else {
        ret->Ipv6.sin6_family = AF_INET6;
        memcpy(&ret->Ipv6.sin6_addr, ip->bytes, 16);
    }
}

bool win32_ip(const SOCKADDR *address, struct ip *ret) {
    *ret = (struct ip){0};
    if (address->sa_family == AF_INET) {
        ret->family = 4;
        memcpy(ret->bytes, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        ret->family = 6;
        memcpy(ret->bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    }
    return ret->family != 0;
}

int win32_interface_row(uint32_t index, int family, MIB_IPINTERFACE_ROW *ret, struct error *err) {
    __auto_type init = WIN32_IPHLPAPI(InitializeIpInterfaceEntry, err);
    __auto_type get = WIN32_IPHLPAPI(GetIpInterfaceEntry, err);
    DWORD code;

    if (!get)
        return -1;
    *ret = (MIB_IPINTERFACE_ROW){0};
    if (init)
        init(ret);
    ret->Family = family == 6 ? AF_INET6 : AF_INET;
    ret->InterfaceIndex = index;
    code = get(ret);
    return code ? win32_fail(err, code, "read interface %u", index) : 0;
}

void win32_netsh(const char *const *arguments) {
    wchar_t folder[MAX_PATH] = L"";
    _cleanup_(freep) char *system = NULL, *program = NULL, *output = NULL;
    const char *argv[NETSH_WORDS] = {0};
    /* The settings give an adapter back what it had, so Ctrl-C does not end the program; then
     * win32_run() needs no host. */
    struct host_process process = {.argv = argv, .timeout_ms = NETSH_MS, .undoes = true};
    struct error err = {0};
    int code = -1;

    /* GetSystemDirectory cannot fail with a buffer of MAX_PATH. */
    (void)GetSystemDirectoryW(folder, MAX_PATH);
    system = win32_narrow(folder);
    program = xasprintf("%s\\netsh.exe", system);
    argv[0] = program;
    for (size_t i = 0; arguments[i] && i + 2 < NETSH_WORDS; i++)
        argv[i + 1] = arguments[i];
    if (win32_run(NULL, &process, &code, &output, &err) < 0)
        log_message(LOG_WARNING, "make a network setting persistent: %s", err.message);
    else if (code != 0)
        log_message(LOG_INFO, "netsh ended with %d: %s", code, output);
}
