/* The iphlpapi stand-in's side of the wire to the data plane: one line out, rows back. */
#include "tests/wine/iphlpapi_ask.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 17998, ANSWER_MAX = 64 * 1024, FIELDS = 15 };

static SOCKET dial(void) {
    WSADATA data;
    struct sockaddr_in to = {0};
    SOCKET s;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return INVALID_SOCKET;
    s = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(PORT);
    if (s != INVALID_SOCKET && connect(s, (struct sockaddr *)&to, sizeof(to))) {
        closesocket(s);
        s = INVALID_SOCKET;
    }
    if (s == INVALID_SOCKET)
        WSACleanup();
    return s;
}

/* The rows of the answer, NUL-terminated; NULL when nobody answers. The caller frees. */
static char *ask(const char *line) {
    char *text = NULL;
    size_t len = 0;
    int got = 1;
    SOCKET s = dial();

    if (s == INVALID_SOCKET)
        return NULL;
    text = calloc(1, ANSWER_MAX + 1);
    if (text && send(s, line, (int)strlen(line), 0) > 0)
        while (len < ANSWER_MAX && !strstr(text, "\n\n") && got > 0) {
            got = recv(s, text + len, (int)(ANSWER_MAX - len), 0);
            len += got > 0 ? (size_t)got : 0;
            if (text)
                text[len] = '\0';
        }
    closesocket(s);
    WSACleanup();
    return text;
}

DWORD net_do(const char *format, ...) {
    char line[512];
    const char *error;
    DWORD code = ERROR_NETWORK_UNREACHABLE;
    char *answer;
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    answer = ask(line);
    if (!answer)
        return code;
    error = strstr(answer, "error ");
    code = error ? strtoul(error + strlen("error "), NULL, 10) : ERROR_SUCCESS;
    free(answer);
    return code;
}

static size_t split(char *row, char *fields[FIELDS]) {
    size_t n = 0;

    while (row && n < FIELDS) {
        fields[n++] = row;
        row = strchr(row, '|');
        if (row)
            *row++ = '\0';
    }
    return n;
}

static ULONG number(const char *text) {
    return strtoul(text, NULL, 10);
}

static void wide(const char *text, WCHAR *out, int size) {
    if (!MultiByteToWideChar(CP_UTF8, 0, text, -1, out, size))
        out[0] = L'\0';
}

/* adapter|index|alias|mac|mtu|up|type|guid|metric|forwarding|dhcp|bound|forwarding6|metric6 */
static void take_adapter(struct net_view *view, char *f[FIELDS]) {
    struct net_adapter *a = &view->adapters[view->n_adapters];
    unsigned mac[6] = {0};

    a->index = number(f[1]);
    wide(f[2], a->alias, ARRAYSIZE(a->alias));
    sscanf(f[3], "%x:%x:%x:%x:%x:%x", mac, mac + 1, mac + 2, mac + 3, mac + 4, mac + 5);
    for (size_t i = 0; i < 6; i++)
        a->mac[i] = (BYTE)mac[i];
    a->mtu = number(f[4]);
    a->up = number(f[5]);
    a->type = number(f[6]);
    snprintf(a->guid, sizeof(a->guid), "%s", f[7]);
    a->metric = number(f[8]);
    a->forwarding = number(f[9]);
    a->dhcp = number(f[10]);
    a->bound = number(f[11]);
    a->forwarding6 = number(f[12]);
    a->metric6 = number(f[13]);
    view->n_adapters++;
}

static SOCKADDR_INET address_of(const char *text) {
    SOCKADDR_INET out = {0};

    out.si_family = strchr(text, ':') ? AF_INET6 : AF_INET;
    (void)inet_pton(out.si_family, text, /* the data plane's own words */
                    out.si_family == AF_INET ? (void *)&out.Ipv4.sin_addr
                                             : (void *)&out.Ipv6.sin6_addr);
    return out;
}

/* address|index|ip|length|origin, dns|index|ip, gateway|index|ip */
static void take_address(struct net_address *out, char *f[FIELDS], size_t n) {
    out->index = number(f[1]);
    out->ip = address_of(f[2]);
    if (n >= 5) {
        out->length = (UINT8)number(f[3]);
        out->dhcp = !strcmp(f[4], "dhcp");
        out->link_local = !strcmp(f[4], "linklayer");
        out->advertised = !strcmp(f[4], "router");
    }
}

/* route|index|prefix|length|next hop|metric|origin */
static void take_route(struct net_route *out, char *f[FIELDS]) {
    out->index = number(f[1]);
    out->prefix = address_of(f[2]);
    out->length = (UINT8)number(f[3]);
    out->next_hop = address_of(f[4]);
    out->metric = number(f[5]);
    out->local = !strcmp(f[6], "local");
}

static void take(struct net_view *view, char *row) {
    char *f[FIELDS] = {NULL};
    size_t n = split(row, f);

    if (n >= 14 && !strcmp(f[0], "adapter") && view->n_adapters < NET_ADAPTERS)
        take_adapter(view, f);
    else if (n >= 5 && !strcmp(f[0], "address") && view->n_addresses < NET_ADDRESSES)
        take_address(&view->addresses[view->n_addresses++], f, n);
    else if (n >= 3 && !strcmp(f[0], "dns") && view->n_dns < NET_ADDRESSES)
        take_address(&view->dns[view->n_dns++], f, n);
    else if (n >= 3 && !strcmp(f[0], "gateway") && view->n_gateways < NET_ADDRESSES)
        take_address(&view->gateways[view->n_gateways++], f, n);
    else if (n >= 3 && !strcmp(f[0], "suffix") && view->n_adapters)
        wide(f[2], view->adapters[view->n_adapters - 1].suffix,
             ARRAYSIZE(view->adapters[0].suffix));
    else if (n >= 7 && !strcmp(f[0], "route") && view->n_routes < NET_ROUTES)
        take_route(&view->routes[view->n_routes++], f);
}

static bool gather(struct net_view *view, const char *line) {
    char *answer = ask(line), *row = answer;

    while (row && *row) {
        char *end = strchr(row, '\n');

        if (end)
            *end = '\0';
        take(view, row);
        row = end ? end + 1 : NULL;
    }
    free(answer);
    return answer != NULL;
}

bool net_look(struct net_view *ret) {
    memset(ret, 0, sizeof(*ret));
    return gather(ret, "net adapters\n") && gather(ret, "net routes\n");
}

NET_LUID net_luid(const struct net_adapter *adapter) {
    NET_LUID luid = {0};

    luid.Info.IfType = adapter->type;
    luid.Info.NetLuidIndex = adapter->index;
    return luid;
}

const struct net_adapter *net_adapter_of(const struct net_view *view, const NET_LUID *luid,
                                         NET_IFINDEX index) {
    for (size_t i = 0; i < view->n_adapters; i++) {
        const struct net_adapter *a = &view->adapters[i];

        if (luid && luid->Value ? net_luid(a).Value == luid->Value : a->index == index)
            return a;
    }
    return NULL;
}

const char *net_text(const SOCKADDR_INET *ip) {
    static __thread char ring[4][INET6_ADDRSTRLEN];
    static __thread unsigned at;
    char *out = ring[at++ % 4];
    const void *bytes = ip->si_family == AF_INET6 ? (const void *)&ip->Ipv6.sin6_addr
                                                  : (const void *)&ip->Ipv4.sin_addr;

    return inet_ntop(ip->si_family, bytes, out, sizeof(ring[0])) ? out : "";
}

bool net_same(const SOCKADDR_INET *a, const SOCKADDR_INET *b) {
    if (a->si_family != b->si_family)
        return false;
    return a->si_family == AF_INET6
               ? !memcmp(&a->Ipv6.sin6_addr, &b->Ipv6.sin6_addr, sizeof(a->Ipv6.sin6_addr))
               : a->Ipv4.sin_addr.s_addr == b->Ipv4.sin_addr.s_addr;
}

bool net_wanted(ADDRESS_FAMILY family, const SOCKADDR_INET *ip) {
    return family == AF_UNSPEC || family == ip->si_family;
}

FARPROC net_wine(const char *name) {
    return GetProcAddress(LoadLibraryW(L"wiphlpapi.dll"), name);
}

void *net_table(size_t size) {
    return HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, size);
}

GUID net_guid(const char *text) {
    GUID g = {0};
    unsigned d[11] = {0};

    if (sscanf(text, "{%8x-%4x-%4x-%2x%2x-%2x%2x%2x%2x%2x%2x}", d, d + 1, d + 2, d + 3, d + 4,
               d + 5, d + 6, d + 7, d + 8, d + 9, d + 10) != 11)
        return g;
    g.Data1 = d[0];
    g.Data2 = (USHORT)d[1];
    g.Data3 = (USHORT)d[2];
    for (size_t i = 0; i < 8; i++)
        g.Data4[i] = (BYTE)d[3 + i];
    return g;
}
