/* iphlpapi stand-in: the adapters of the node under their Windows names, with the origin of their
 * addresses and their DNS servers. Wine shows the host's device names, no DNS per adapter and no
 * origin; whoever reads the network settings before a virtual switch takes them needs all three. */
#include "tests/wine/iphlpapi_ask.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* Fills a caller's buffer from its front, or only counts when there is none. */
struct packing {
    BYTE *base;
    size_t used;
};

static void *take(struct packing *p, size_t size) {
    void *at = p->base + p->used;

    p->used += (size + 15) & ~(size_t)15;
    memset(at, 0, size);
    return at;
}

static WCHAR *take_wide(struct packing *p, const WCHAR *text) {
    size_t size = (wcslen(text) + 1) * sizeof(*text);

    return memcpy(take(p, size), text, size);
}

static SOCKET_ADDRESS take_sockaddr(struct packing *p, const SOCKADDR_INET *ip) {
    size_t size = ip->si_family == AF_INET6 ? sizeof(ip->Ipv6) : sizeof(ip->Ipv4);
    SOCKET_ADDRESS out = {memcpy(take(p, size), ip, size), (INT)size};

    return out;
}

static void add_unicast(struct packing *p, const struct net_view *view, ADDRESS_FAMILY family,
                        IP_ADAPTER_ADDRESSES *out) {
    IP_ADAPTER_UNICAST_ADDRESS **next = &out->FirstUnicastAddress;

    for (size_t i = 0; i < view->n_addresses; i++) {
        const struct net_address *a = &view->addresses[i];
        IP_ADAPTER_UNICAST_ADDRESS *u;

        if (a->index != out->IfIndex || !net_wanted(family, &a->ip))
            continue;
        u = take(p, sizeof(*u));
        u->Length = sizeof(*u);
        u->Address = take_sockaddr(p, &a->ip);
        u->PrefixOrigin = a->advertised   ? IpPrefixOriginRouterAdvertisement
                          : a->dhcp       ? IpPrefixOriginDhcp
                          : a->link_local ? IpPrefixOriginWellKnown
                                          : IpPrefixOriginManual;
        u->SuffixOrigin = a->dhcp         ? IpSuffixOriginDhcp
                          : a->link_local ? IpSuffixOriginLinkLayerAddress
                                          : IpSuffixOriginManual;
        u->DadState = IpDadStatePreferred;
        u->ValidLifetime = u->PreferredLifetime = u->LeaseLifetime = 0xffffffff;
        u->OnLinkPrefixLength = a->length;
        *next = u;
        next = &u->Next;
    }
}

static void add_dns(struct packing *p, const struct net_view *view, ADDRESS_FAMILY family,
                    IP_ADAPTER_ADDRESSES *out) {
    IP_ADAPTER_DNS_SERVER_ADDRESS **next = &out->FirstDnsServerAddress;

    for (size_t i = 0; i < view->n_dns; i++)
        if (view->dns[i].index == out->IfIndex && net_wanted(family, &view->dns[i].ip)) {
            IP_ADAPTER_DNS_SERVER_ADDRESS *d = take(p, sizeof(*d));

            d->Length = sizeof(*d);
            d->Address = take_sockaddr(p, &view->dns[i].ip);
            *next = d;
            next = &d->Next;
        }
}

static void add_gateways(struct packing *p, const struct net_view *view, ADDRESS_FAMILY family,
                         IP_ADAPTER_ADDRESSES *out) {
    IP_ADAPTER_GATEWAY_ADDRESS_LH **next = &out->FirstGatewayAddress;

    for (size_t i = 0; i < view->n_gateways; i++)
        if (view->gateways[i].index == out->IfIndex && net_wanted(family, &view->gateways[i].ip)) {
            IP_ADAPTER_GATEWAY_ADDRESS_LH *g = take(p, sizeof(*g));

            g->Length = sizeof(*g);
            g->Address = take_sockaddr(p, &view->gateways[i].ip);
            *next = g;
            next = &g->Next;
        }
}

static const WCHAR *description(const struct net_adapter *a) {
    if (a->type == IF_TYPE_SOFTWARE_LOOPBACK)
        return L"Software Loopback Interface 1";
    return wcsncmp(a->alias, L"vEthernet", 9) ? L"Microsoft Hyper-V Network Adapter"
                                              : L"Hyper-V Virtual Ethernet Adapter";
}

static IP_ADAPTER_ADDRESSES *add_adapter(struct packing *p, const struct net_view *view,
                                         const struct net_adapter *a, ADDRESS_FAMILY family,
                                         ULONG flags) {
    IP_ADAPTER_ADDRESSES *out = take(p, sizeof(*out));

    out->Length = sizeof(*out);
    out->IfIndex = a->index;
    out->AdapterName = memcpy(take(p, sizeof(a->guid)), a->guid, sizeof(a->guid));
    out->FriendlyName = take_wide(p, a->alias);
    out->Description = take_wide(p, description(a));
    out->DnsSuffix = take_wide(p, a->suffix);
    if (a->type != IF_TYPE_SOFTWARE_LOOPBACK) {
        memcpy(out->PhysicalAddress, a->mac, sizeof(a->mac));
        out->PhysicalAddressLength = sizeof(a->mac);
    }
    out->Ipv6IfIndex = a->index;
    out->Flags =
        IP_ADAPTER_IPV4_ENABLED | IP_ADAPTER_IPV6_ENABLED | (a->dhcp ? IP_ADAPTER_DHCP_ENABLED : 0);
    out->Mtu = a->mtu;
    out->IfType = a->type;
    out->OperStatus = a->up ? IfOperStatusUp : IfOperStatusDown;
    out->Luid = net_luid(a);
    out->Ipv4Metric = a->metric;
    out->Ipv6Metric = a->metric6;
    out->CompartmentId = 1;
    out->NetworkGuid = net_guid(a->guid);
    out->TransmitLinkSpeed = out->ReceiveLinkSpeed = 10000000000ull;
    out->ConnectionType = NET_IF_CONNECTION_DEDICATED;
    if (!(flags & GAA_FLAG_SKIP_UNICAST))
        add_unicast(p, view, family, out);
    if (!(flags & GAA_FLAG_SKIP_DNS_SERVER))
        add_dns(p, view, family, out);
    if (flags & GAA_FLAG_INCLUDE_GATEWAYS)
        add_gateways(p, view, family, out);
    return out;
}

static size_t fill(BYTE *base, const struct net_view *view, ADDRESS_FAMILY family, ULONG flags) {
    struct packing p = {base, 0};
    IP_ADAPTER_ADDRESSES *last = NULL;

    for (size_t i = 0; i < view->n_adapters; i++)
        if (view->adapters[i].bound) {
            IP_ADAPTER_ADDRESSES *a = add_adapter(&p, view, &view->adapters[i], family, flags);

            if (last)
                last->Next = a;
            last = a;
        }
    return p.used;
}

ULONG WINAPI rig_GetAdaptersAddresses(ULONG family, ULONG flags, void *reserved,
                                      IP_ADAPTER_ADDRESSES *out, ULONG *size) {
    static const size_t scratch_size = 256 * 1024;
    struct net_view view;
    BYTE *scratch;
    size_t need;

    if (!net_look(&view)) {
        ULONG(WINAPI * wine)
        (ULONG, ULONG, void *, IP_ADAPTER_ADDRESSES *, ULONG *) =
            (void *)net_wine("GetAdaptersAddresses");

        return wine ? wine(family, flags, reserved, out, size) : ERROR_NOT_SUPPORTED;
    }
    if (!size)
        return ERROR_INVALID_PARAMETER;
    scratch = HeapAlloc(GetProcessHeap(), 0, scratch_size);
    if (!scratch)
        return ERROR_NOT_ENOUGH_MEMORY;
    need = fill(scratch, &view, (ADDRESS_FAMILY)family, flags);
    HeapFree(GetProcessHeap(), 0, scratch);
    if (!out || *size < need) {
        *size = (ULONG)need;
        return ERROR_BUFFER_OVERFLOW;
    }
    (void)fill((BYTE *)out, &view, (ADDRESS_FAMILY)family, flags);
    return ERROR_SUCCESS;
}

/* ---- the names of an adapter ---- */

DWORD WINAPI rig_ConvertInterfaceAliasToLuid(const WCHAR *alias, NET_LUID *luid) {
    struct net_view view;

    if (!alias || !luid)
        return ERROR_INVALID_PARAMETER;
    if (!net_look(&view))
        return ERROR_INVALID_PARAMETER;
    for (size_t i = 0; i < view.n_adapters; i++)
        if (!_wcsicmp(view.adapters[i].alias, alias)) {
            *luid = net_luid(&view.adapters[i]);
            return ERROR_SUCCESS;
        }
    return ERROR_INVALID_PARAMETER;
}

DWORD WINAPI rig_ConvertInterfaceLuidToAlias(const NET_LUID *luid, WCHAR *alias, SIZE_T len) {
    struct net_view view;
    const struct net_adapter *a;

    if (!luid || !alias || !net_look(&view) || !(a = net_adapter_of(&view, luid, 0)))
        return ERROR_INVALID_PARAMETER;
    if (wcslen(a->alias) >= len)
        return ERROR_NOT_ENOUGH_MEMORY;
    memcpy(alias, a->alias, (wcslen(a->alias) + 1) * sizeof(*alias));
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_ConvertInterfaceIndexToLuid(NET_IFINDEX index, NET_LUID *luid) {
    struct net_view view;
    const struct net_adapter *a;

    if (!luid || !net_look(&view) || !(a = net_adapter_of(&view, NULL, index)))
        return luid ? ERROR_FILE_NOT_FOUND : ERROR_INVALID_PARAMETER;
    *luid = net_luid(a);
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_ConvertInterfaceLuidToIndex(const NET_LUID *luid, NET_IFINDEX *index) {
    struct net_view view;
    const struct net_adapter *a;

    if (!luid || !index || !net_look(&view) || !(a = net_adapter_of(&view, luid, 0)))
        return ERROR_INVALID_PARAMETER;
    *index = a->index;
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_ConvertInterfaceLuidToGuid(const NET_LUID *luid, GUID *guid) {
    struct net_view view;
    const struct net_adapter *a;

    if (!luid || !guid || !net_look(&view) || !(a = net_adapter_of(&view, luid, 0)))
        return ERROR_INVALID_PARAMETER;
    *guid = net_guid(a->guid);
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_ConvertInterfaceGuidToLuid(const GUID *guid, NET_LUID *luid) {
    struct net_view view;

    if (!luid || !guid || !net_look(&view))
        return ERROR_INVALID_PARAMETER;
    for (size_t i = 0; i < view.n_adapters; i++) {
        GUID mine = net_guid(view.adapters[i].guid);

        if (!memcmp(&mine, guid, sizeof(mine))) {
            *luid = net_luid(&view.adapters[i]);
            return ERROR_SUCCESS;
        }
    }
    return ERROR_INVALID_PARAMETER;
}

static void describe(const struct net_adapter *a, MIB_IF_ROW2 *row) {
    memset(row, 0, sizeof(*row));
    row->InterfaceLuid = net_luid(a);
    row->InterfaceIndex = a->index;
    row->InterfaceGuid = net_guid(a->guid);
    memcpy(row->Alias, a->alias, sizeof(row->Alias));
    memcpy(row->Description, description(a), (wcslen(description(a)) + 1) * sizeof(WCHAR));
    memcpy(row->PhysicalAddress, a->mac, sizeof(a->mac));
    memcpy(row->PermanentPhysicalAddress, a->mac, sizeof(a->mac));
    row->PhysicalAddressLength = sizeof(a->mac);
    row->Mtu = a->mtu;
    row->Type = a->type;
    row->InterfaceAndOperStatusFlags.HardwareInterface =
        a->type != IF_TYPE_SOFTWARE_LOOPBACK && wcsncmp(a->alias, L"vEthernet", 9);
    row->OperStatus = a->up ? IfOperStatusUp : IfOperStatusDown;
    row->AdminStatus = NET_IF_ADMIN_STATUS_UP;
    row->MediaConnectState = a->up ? MediaConnectStateConnected : MediaConnectStateDisconnected;
    row->TransmitLinkSpeed = row->ReceiveLinkSpeed = 10000000000ull;
}

DWORD WINAPI rig_GetIfEntry2(MIB_IF_ROW2 *row) {
    struct net_view view;
    const struct net_adapter *a;

    if (!row || !net_look(&view))
        return ERROR_INVALID_PARAMETER;
    a = net_adapter_of(&view, &row->InterfaceLuid, row->InterfaceIndex);
    if (!a)
        return ERROR_FILE_NOT_FOUND;
    describe(a, row);
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_GetIfTable2Ex(MIB_IF_TABLE_LEVEL level, MIB_IF_TABLE2 **table) {
    struct net_view view;

    if (!table)
        return ERROR_INVALID_PARAMETER;
    if (!net_look(&view)) {
        DWORD(WINAPI * wine)
        (MIB_IF_TABLE_LEVEL, MIB_IF_TABLE2 **) = (void *)net_wine("GetIfTable2Ex");

        return wine ? wine(level, table) : ERROR_NOT_SUPPORTED;
    }
    *table = net_table(sizeof(**table) + view.n_adapters * sizeof(MIB_IF_ROW2));
    if (!*table)
        return ERROR_NOT_ENOUGH_MEMORY;
    (*table)->NumEntries = (ULONG)view.n_adapters;
    for (size_t i = 0; i < view.n_adapters; i++)
        describe(&view.adapters[i], &(*table)->Table[i]);
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_GetIfTable2(MIB_IF_TABLE2 **table) {
    return rig_GetIfTable2Ex(MibIfTableNormal, table);
}
