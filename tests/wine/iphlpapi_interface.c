/* iphlpapi stand-in: settings of an interface (forwarding, metric, MTU), its DNS servers, and the
 * compartment calls. Wine 8 has none of these. */
#include "tests/wine/iphlpapi_ask.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

static void show_interface(const struct net_adapter *a, ADDRESS_FAMILY family,
                           MIB_IPINTERFACE_ROW *row) {
    memset(row, 0, sizeof(*row));
    row->Family = family;
    row->InterfaceLuid = net_luid(a);
    row->InterfaceIndex = a->index;
    row->ForwardingEnabled = family == AF_INET6 ? a->forwarding6 : a->forwarding;
    row->Metric = family == AF_INET6 ? a->metric6 : a->metric;
    row->NlMtu = a->mtu;
    row->Connected = a->up;
    row->SitePrefixLength = 64;
}

static bool is_ip(ADDRESS_FAMILY family) {
    return family == AF_INET || family == AF_INET6;
}

void WINAPI rig_InitializeIpInterfaceEntry(MIB_IPINTERFACE_ROW *row) {
    memset(row, 0xff, sizeof(*row));
    row->Family = AF_UNSPEC;
    row->InterfaceLuid.Value = 0;
    row->InterfaceIndex = 0;
}

DWORD WINAPI rig_GetIpInterfaceEntry(MIB_IPINTERFACE_ROW *row) {
    struct net_view view;
    const struct net_adapter *a;

    if (!row || row->Family == AF_UNSPEC)
        return ERROR_INVALID_PARAMETER;
    if (!is_ip(row->Family) || !net_look(&view))
        return ERROR_NOT_FOUND;
    a = net_adapter_of(&view, &row->InterfaceLuid, row->InterfaceIndex);
    if (!a || !a->bound)
        return ERROR_NOT_FOUND;
    show_interface(a, row->Family, row);
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_SetIpInterfaceEntry(MIB_IPINTERFACE_ROW *row) {
    struct net_view view;
    const struct net_adapter *a;
    char metric[32] = "", mtu[32] = "", forwarding[32] = "";

    if (!row || !is_ip(row->Family))
        return ERROR_INVALID_PARAMETER;
    /* Windows refuses a row as GetIpInterfaceEntry left it unless this is cleared (IPv4). */
    if (row->Family == AF_INET && row->SitePrefixLength && row->SitePrefixLength != 0xffffffff)
        return ERROR_INVALID_PARAMETER;
    if (!net_look(&view) ||
        !(a = net_adapter_of(&view, &row->InterfaceLuid, row->InterfaceIndex)) || !a->bound)
        return ERROR_NOT_FOUND;
    if (row->ForwardingEnabled <= 1)
        snprintf(forwarding, sizeof(forwarding), " forwarding%s=%u",
                 row->Family == AF_INET6 ? "6" : "", row->ForwardingEnabled);
    if (row->Metric != 0xffffffff)
        snprintf(metric, sizeof(metric), " metric%s=%lu", row->Family == AF_INET6 ? "6" : "",
                 row->Metric);
    if (row->NlMtu != 0xffffffff && row->NlMtu != a->mtu)
        snprintf(mtu, sizeof(mtu), " mtu=%lu", row->NlMtu);
    return net_do("net interface %lu%s%s%s\n", a->index, forwarding, metric, mtu);
}

DWORD WINAPI rig_GetIpInterfaceTable(ADDRESS_FAMILY family, MIB_IPINTERFACE_TABLE **table) {
    struct net_view view;

    if (!table)
        return ERROR_INVALID_PARAMETER;
    if (!net_look(&view)) {
        DWORD(WINAPI * wine)
        (ADDRESS_FAMILY, MIB_IPINTERFACE_TABLE **) = (void *)net_wine("GetIpInterfaceTable");

        return wine ? wine(family, table) : ERROR_NOT_SUPPORTED;
    }
    *table = net_table(sizeof(**table) + view.n_adapters * sizeof(MIB_IPINTERFACE_ROW));
    if (!*table)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < view.n_adapters && family != AF_INET6; i++)
        if (view.adapters[i].bound)
            show_interface(&view.adapters[i], AF_INET, &(*table)->Table[(*table)->NumEntries++]);
    return ERROR_SUCCESS;
}

/* ---- DNS servers of an interface. The structure is Microsoft's documented one; mingw-w64 10 has
 * no declaration of it. ---- */

struct dns_settings {
    ULONG version;
    ULONG64 flags;
    WCHAR *domain, *name_server, *search_list;
    ULONG registration_enabled, register_adapter_name, enable_llmnr, query_adapter_name;
    WCHAR *profile_name_server;
};

enum { DNS_NAMESERVER = 0x0002, DNS_DOMAIN = 0x0020, DNS_IPV6 = 0x0001 };

static WCHAR *copy_wide(const WCHAR *text) {
    size_t size = (wcslen(text) + 1) * sizeof(*text);
    WCHAR *out = net_table(size);

    return out ? memcpy(out, text, size) : NULL;
}

static const struct net_adapter *by_guid(const struct net_view *view, const GUID *guid) {
    for (size_t i = 0; i < view->n_adapters; i++) {
        GUID mine = net_guid(view->adapters[i].guid);

        if (!memcmp(&mine, guid, sizeof(mine)))
            return &view->adapters[i];
    }
    return NULL;
}

DWORD WINAPI rig_GetInterfaceDnsSettings(GUID guid, struct dns_settings *settings) {
    struct net_view view;
    const struct net_adapter *a;
    WCHAR servers[512] = L"";
    size_t used = 0;

    if (!settings || settings->version < 1 || !net_look(&view))
        return ERROR_INVALID_PARAMETER;
    a = by_guid(&view, &guid);
    if (!a)
        return ERROR_FILE_NOT_FOUND;
    for (size_t i = 0; i < view.n_dns; i++)
        if (view.dns[i].index == a->index && used + 20 < ARRAYSIZE(servers))
            used += (size_t)swprintf(servers + used, ARRAYSIZE(servers) - used, L"%hs%hs",
                                     used ? "," : "", net_text(&view.dns[i].ip));
    settings->flags = DNS_NAMESERVER | (a->suffix[0] ? DNS_DOMAIN : 0);
    settings->name_server = copy_wide(servers);
    settings->domain = a->suffix[0] ? copy_wide(a->suffix) : NULL;
    settings->search_list = settings->profile_name_server = NULL;
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_SetInterfaceDnsSettings(GUID guid, const struct dns_settings *settings) {
    struct net_view view;
    const struct net_adapter *a;
    char servers[256] = "-", domain[256] = "-";

    if (!settings || settings->version < 1 || !net_look(&view))
        return ERROR_INVALID_PARAMETER;
    a = by_guid(&view, &guid);
    if (!a)
        return ERROR_FILE_NOT_FOUND;
    if (settings->flags & DNS_NAMESERVER)
        snprintf(servers, sizeof(servers), "%ls",
                 settings->name_server && *settings->name_server ? settings->name_server : L"none");
    if (settings->flags & DNS_DOMAIN)
        snprintf(domain, sizeof(domain), "%ls",
                 settings->domain && *settings->domain ? settings->domain : L"none");
    for (char *p = servers; *p; p++) /* Windows takes blanks between them as well */
        *p = *p == ' ' ? ',' : *p;
    return net_do("net dns %lu %s %s %d\n", a->index, servers, domain,
                  settings->flags & DNS_IPV6 ? 6 : 4);
}

void WINAPI rig_FreeInterfaceDnsSettings(struct dns_settings *settings) {
    WCHAR *owned[] = {settings->domain, settings->name_server, settings->search_list,
                      settings->profile_name_server};

    for (size_t i = 0; i < ARRAYSIZE(owned); i++)
        if (owned[i])
            HeapFree(GetProcessHeap(), 0, owned[i]);
    settings->domain = settings->name_server = NULL;
    settings->search_list = settings->profile_name_server = NULL;
}

/* ---- compartments: a thread cannot change its network under Wine, and is told so ---- */

ULONG WINAPI rig_GetCurrentThreadCompartmentId(void) {
    return 1;
}

DWORD WINAPI rig_SetCurrentThreadCompartmentId(ULONG id) {
    return id <= 1 ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED;
}
