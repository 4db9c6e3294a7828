/* iphlpapi stand-in: addresses and routes of the node, read and changed. Wine 8 can read them but
 * has no CreateIpForwardEntry2 and no CreateUnicastIpAddressEntry, which a network agent needs. */
#include "tests/wine/iphlpapi_ask.h"

#include <string.h>

/* ---- addresses ---- */

static void show_address(const struct net_view *view, const struct net_address *a,
                         MIB_UNICASTIPADDRESS_ROW *row) {
    const struct net_adapter *adapter = net_adapter_of(view, NULL, a->index);

    memset(row, 0, sizeof(*row));
    row->Address = a->ip;
    row->InterfaceIndex = a->index;
    if (adapter)
        row->InterfaceLuid = net_luid(adapter);
    row->PrefixOrigin = a->advertised   ? IpPrefixOriginRouterAdvertisement
                        : a->dhcp       ? IpPrefixOriginDhcp
                        : a->link_local ? IpPrefixOriginWellKnown
                                        : IpPrefixOriginManual;
    row->SuffixOrigin = a->dhcp         ? IpSuffixOriginDhcp
                        : a->link_local ? IpSuffixOriginLinkLayerAddress
                                        : IpSuffixOriginManual;
    row->ValidLifetime = row->PreferredLifetime = 0xffffffff;
    row->OnLinkPrefixLength = a->length;
    row->DadState = IpDadStatePreferred;
}

DWORD WINAPI rig_GetUnicastIpAddressTable(ADDRESS_FAMILY family,
                                          MIB_UNICASTIPADDRESS_TABLE **table) {
    struct net_view view;

    if (!table)
        return ERROR_INVALID_PARAMETER;
    if (!net_look(&view)) {
        DWORD(WINAPI * wine)
        (ADDRESS_FAMILY, MIB_UNICASTIPADDRESS_TABLE **) =
            (void *)net_wine("GetUnicastIpAddressTable");

        return wine ? wine(family, table) : ERROR_NOT_SUPPORTED;
    }
    *table = net_table(sizeof(**table) + view.n_addresses * sizeof(MIB_UNICASTIPADDRESS_ROW));
    if (!*table)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < view.n_addresses; i++)
        if (net_wanted(family, &view.addresses[i].ip))
            show_address(&view, &view.addresses[i], &(*table)->Table[(*table)->NumEntries++]);
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_GetUnicastIpAddressEntry(MIB_UNICASTIPADDRESS_ROW *row) {
    struct net_view view;

    if (!row || !net_look(&view))
        return ERROR_INVALID_PARAMETER;
    for (size_t i = 0; i < view.n_addresses; i++)
        if (net_same(&view.addresses[i].ip, &row->Address)) {
            show_address(&view, &view.addresses[i], row);
            return ERROR_SUCCESS;
        }
    return ERROR_NOT_FOUND;
}

/* The index that a row names, by LUID first as Windows does; 0 = no such interface. */
static ULONG index_of(NET_LUID luid, NET_IFINDEX index) {
    struct net_view view;
    const struct net_adapter *a;

    if (!net_look(&view))
        return 0;
    a = net_adapter_of(&view, &luid, index);
    return a ? a->index : 0;
}

static bool is_ip(const SOCKADDR_INET *address) {
    return address->si_family == AF_INET || address->si_family == AF_INET6;
}

static unsigned longest(const SOCKADDR_INET *address) {
    return address->si_family == AF_INET6 ? 128 : 32;
}

void WINAPI rig_InitializeUnicastIpAddressEntry(MIB_UNICASTIPADDRESS_ROW *row) {
    memset(row, 0, sizeof(*row));
    row->PrefixOrigin = IpPrefixOriginUnchanged;
    row->SuffixOrigin = IpSuffixOriginUnchanged;
    row->OnLinkPrefixLength = 255;
    row->ValidLifetime = row->PreferredLifetime = 0xffffffff;
    row->DadState = IpDadStateInvalid;
}

DWORD WINAPI rig_CreateUnicastIpAddressEntry(const MIB_UNICASTIPADDRESS_ROW *row) {
    ULONG index = row ? index_of(row->InterfaceLuid, row->InterfaceIndex) : 0;
    unsigned length;

    if (!row || !is_ip(&row->Address))
        return ERROR_INVALID_PARAMETER;
    if (!index)
        return ERROR_NOT_FOUND;
    length = row->OnLinkPrefixLength == 255 ? longest(&row->Address) : row->OnLinkPrefixLength;
    return net_do("net address-add %lu %s %u\n", index, net_text(&row->Address), length);
}

DWORD WINAPI rig_DeleteUnicastIpAddressEntry(const MIB_UNICASTIPADDRESS_ROW *row) {
    ULONG index = row ? index_of(row->InterfaceLuid, row->InterfaceIndex) : 0;

    if (!row || !is_ip(&row->Address))
        return ERROR_INVALID_PARAMETER;
    if (!index)
        return ERROR_NOT_FOUND;
    return net_do("net address-del %lu %s\n", index, net_text(&row->Address));
}

/* ---- routes ---- */

static void show_route(const struct net_view *view, const struct net_route *r,
                       MIB_IPFORWARD_ROW2 *row) {
    const struct net_adapter *adapter = net_adapter_of(view, NULL, r->index);

    memset(row, 0, sizeof(*row));
    row->InterfaceIndex = r->index;
    if (adapter)
        row->InterfaceLuid = net_luid(adapter);
    row->DestinationPrefix.Prefix = r->prefix;
    row->DestinationPrefix.PrefixLength = r->length;
    row->NextHop = r->next_hop;
    row->Metric = r->metric;
    row->Protocol = r->local ? MIB_IPPROTO_LOCAL : MIB_IPPROTO_NETMGMT;
    row->ValidLifetime = row->PreferredLifetime = 0xffffffff;
    row->Origin = NlroManual;
}

DWORD WINAPI rig_GetIpForwardTable2(ADDRESS_FAMILY family, MIB_IPFORWARD_TABLE2 **table) {
    struct net_view view;

    if (!table)
        return ERROR_INVALID_PARAMETER;
    if (!net_look(&view)) {
        DWORD(WINAPI * wine)
        (ADDRESS_FAMILY, MIB_IPFORWARD_TABLE2 **) = (void *)net_wine("GetIpForwardTable2");

        return wine ? wine(family, table) : ERROR_NOT_SUPPORTED;
    }
    *table = net_table(sizeof(**table) + view.n_routes * sizeof(MIB_IPFORWARD_ROW2));
    if (!*table)
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < view.n_routes; i++)
        if (net_wanted(family, &view.routes[i].prefix))
            show_route(&view, &view.routes[i], &(*table)->Table[(*table)->NumEntries++]);
    return ERROR_SUCCESS;
}

static bool same_route(const struct net_route *r, ULONG index, const MIB_IPFORWARD_ROW2 *row) {
    return r->index == index && r->length == row->DestinationPrefix.PrefixLength &&
           net_same(&r->prefix, &row->DestinationPrefix.Prefix) &&
           net_same(&r->next_hop, &row->NextHop);
}

DWORD WINAPI rig_GetIpForwardEntry2(MIB_IPFORWARD_ROW2 *row) {
    struct net_view view;
    ULONG index = row ? index_of(row->InterfaceLuid, row->InterfaceIndex) : 0;

    if (!index || !net_look(&view))
        return ERROR_NOT_FOUND;
    for (size_t i = 0; i < view.n_routes; i++)
        if (same_route(&view.routes[i], index, row)) {
            show_route(&view, &view.routes[i], row);
            return ERROR_SUCCESS;
        }
    return ERROR_NOT_FOUND;
}

void WINAPI rig_InitializeIpForwardEntry(MIB_IPFORWARD_ROW2 *row) {
    memset(row, 0, sizeof(*row));
    row->ValidLifetime = row->PreferredLifetime = 0xffffffff;
    row->Metric = 0xffffffff;
    row->Protocol = MIB_IPPROTO_NETMGMT;
}

DWORD WINAPI rig_CreateIpForwardEntry2(const MIB_IPFORWARD_ROW2 *row) {
    ULONG index = row ? index_of(row->InterfaceLuid, row->InterfaceIndex) : 0;

    if (!row || !is_ip(&row->DestinationPrefix.Prefix) ||
        row->DestinationPrefix.PrefixLength > longest(&row->DestinationPrefix.Prefix))
        return ERROR_INVALID_PARAMETER;
    if (!index)
        return ERROR_NOT_FOUND;
    return net_do("net route-add %lu %s %u %s %lu\n", index,
                  net_text(&row->DestinationPrefix.Prefix), row->DestinationPrefix.PrefixLength,
                  net_text(&row->NextHop), row->Metric == 0xffffffff ? 0 : row->Metric);
}

DWORD WINAPI rig_DeleteIpForwardEntry2(const MIB_IPFORWARD_ROW2 *row) {
    ULONG index = row ? index_of(row->InterfaceLuid, row->InterfaceIndex) : 0;

    if (!row || !is_ip(&row->DestinationPrefix.Prefix))
        return ERROR_INVALID_PARAMETER;
    if (!index)
        return ERROR_NOT_FOUND;
    return net_do("net route-del %lu %s %u %s\n", index, net_text(&row->DestinationPrefix.Prefix),
                  row->DestinationPrefix.PrefixLength, net_text(&row->NextHop));
}

static bool covers(const struct net_route *r, IN_ADDR to) {
    ULONG mask = r->length ? htonl(0xffffffffu << (32 - r->length)) : 0;

    return r->prefix.si_family == AF_INET &&
           ((r->prefix.Ipv4.sin_addr.s_addr ^ to.s_addr) & mask) == 0;
}

static const struct net_route *best(const struct net_view *view, IN_ADDR to) {
    const struct net_route *found = NULL;

    for (size_t i = 0; i < view->n_routes; i++) {
        const struct net_route *r = &view->routes[i];

        if (covers(r, to) && (!found || r->length > found->length ||
                              (r->length == found->length && r->metric < found->metric)))
            found = r;
    }
    return found;
}

DWORD WINAPI rig_GetBestRoute2(NET_LUID *luid, NET_IFINDEX index, const SOCKADDR_INET *source,
                               const SOCKADDR_INET *target, ULONG options, MIB_IPFORWARD_ROW2 *row,
                               SOCKADDR_INET *best_source) {
    struct net_view view;
    const struct net_route *r;

    (void)luid, (void)index, (void)source, (void)options;
    if (!target || !row || !best_source || target->si_family != AF_INET || !net_look(&view))
        return ERROR_INVALID_PARAMETER;
    r = best(&view, target->Ipv4.sin_addr);
    if (!r)
        return ERROR_NETWORK_UNREACHABLE;
    show_route(&view, r, row);
    memset(best_source, 0, sizeof(*best_source));
    best_source->Ipv4.sin_family = AF_INET;
    for (size_t i = 0; i < view.n_addresses && !best_source->Ipv4.sin_addr.s_addr; i++)
        if (view.addresses[i].index == r->index && view.addresses[i].ip.si_family == AF_INET)
            best_source->Ipv4.sin_addr = view.addresses[i].ip.Ipv4.sin_addr;
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_GetBestInterfaceEx(struct sockaddr *to, DWORD *index) {
    struct net_view view;
    const struct net_route *r;

    if (!to || !index || to->sa_family != AF_INET || !net_look(&view))
        return ERROR_INVALID_PARAMETER;
    r = best(&view, ((struct sockaddr_in *)to)->sin_addr);
    if (!r)
        return ERROR_NETWORK_UNREACHABLE;
    *index = r->index;
    return ERROR_SUCCESS;
}

DWORD WINAPI rig_GetBestInterface(ULONG to, DWORD *index) {
    struct sockaddr_in sin = {0};

    sin.sin_family = AF_INET;
    sin.sin_addr.s_addr = to;
    return rig_GetBestInterfaceEx((struct sockaddr *)&sin, index);
}
