/* The host's routes and neighbors, and which local ports are taken. */
#include "host/win32/iphlpapi.h"

typedef void(WINAPI *free_table)(void *);

static void read_route(const MIB_IPFORWARD_ROW2 *from, struct host_route *ret) {
    char text[IP_TEXT_MAX] = "";
    struct ip ip;

    if (win32_ip((const SOCKADDR *)&from->DestinationPrefix.Prefix, &ip))
        ip_format(&ip, text);
    (void)text_format(ret->destination, sizeof ret->destination, "%s/%u", text,
                      from->DestinationPrefix.PrefixLength); /* fits: an address and a length */
    text[0] = '\0';
    if (win32_ip((const SOCKADDR *)&from->NextHop, &ip))
        ip_format(&ip, text);
    (void)text_format(ret->next_hop, sizeof ret->next_hop, "%s", text);
    ret->interface_index = from->InterfaceIndex;
    ret->metric = from->Metric;
}

int win32_routes(struct host *, struct host_routes *ret, struct error *err) {
    typedef DWORD(WINAPI * get_table)(ADDRESS_FAMILY, MIB_IPFORWARD_TABLE2 **);
    get_table get = (get_table)win32_iphlpapi("GetIpForwardTable2", err);
    free_table drop = (free_table)win32_iphlpapi("FreeMibTable", err);
    MIB_IPFORWARD_TABLE2 *table = NULL;
    DWORD code;

    if (!get || !drop)
        return error_prefix(err, "list routes");
    code = get(AF_UNSPEC, &table);
    if (code)
        return win32_fail(err, code, "list routes");
    ret->items = xcalloc(table->NumEntries + 1, sizeof *ret->items);
    for (ULONG i = 0; i < table->NumEntries; i++)
        read_route(&table->Table[i], &ret->items[ret->count++]);
    drop(table);
    return 0;
}

static bool is_silent(NL_NEIGHBOR_STATE state) {
    return state == NlnsUnreachable || state == NlnsIncomplete;
}

static void read_neighbor(const MIB_IPNET_ROW2 *from, struct host_neighbor *ret) {
    struct ip ip;

    if (win32_ip((const SOCKADDR *)&from->Address, &ip))
        ip_format(&ip, ret->address);
    if (!is_silent(from->State))
        win32_mac(from->PhysicalAddress, from->PhysicalAddressLength, ret->mac);
    ret->fixed = from->State == NlnsPermanent;
}

/* Not both families at once: a host without IPv6 refuses that. */
int win32_neighbors(struct host *, struct host_neighbors *ret, struct error *err) {
    typedef DWORD(WINAPI * get_table)(ADDRESS_FAMILY, MIB_IPNET_TABLE2 **);
    static const ADDRESS_FAMILY families[] = {AF_INET, AF_INET6};
    get_table get = (get_table)win32_iphlpapi("GetIpNetTable2", err);
    free_table drop = (free_table)win32_iphlpapi("FreeMibTable", err);

    if (!get || !drop)
        return error_prefix(err, "list neighbors");
    for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
        MIB_IPNET_TABLE2 *table = NULL;
        DWORD code = get(families[i], &table);

        if (code && families[i] == AF_INET)
            return win32_fail(err, code, "list neighbors");
        if (code)
            continue;
        ret->items =
            xrealloc(ret->items, (ret->count + table->NumEntries + 1) * sizeof *ret->items);
        for (ULONG k = 0; k < table->NumEntries; k++) {
            ret->items[ret->count] = (struct host_neighbor){0};
            read_neighbor(&table->Table[k], &ret->items[ret->count++]);
        }
        drop(table);
    }
    return 0;
}

static int make_row(const struct host_route *route, MIB_IPFORWARD_ROW2 *ret, struct error *err) {
    typedef void(WINAPI * initialize)(MIB_IPFORWARD_ROW2 *);
    initialize init = (initialize)win32_iphlpapi("InitializeIpForwardEntry", err);
    struct cidr destination;
    struct ip next_hop;

    if (cidr_parse(route->destination, &destination, err) < 0 ||
        ip_parse(route->next_hop, &next_hop, err) < 0)
        return -1;
    *ret = (MIB_IPFORWARD_ROW2){0};
    if (init)
        init(ret);
    ret->InterfaceIndex = route->interface_index;
    win32_sockaddr(&destination.base, &ret->DestinationPrefix.Prefix);
    ret->DestinationPrefix.PrefixLength = (UINT8)destination.length;
    win32_sockaddr(&next_hop, &ret->NextHop);
    ret->Metric = route->metric;
    ret->Protocol = MIB_IPPROTO_NETMGMT;
    return 0;
}

/* What CreateIpForwardEntry2 makes is gone after a restart; without its default route the machine
 * would be, too. */
static void keep_route(const struct host_route *route) {
    bool v6 = strchr(route->destination, ':') != NULL;
    _cleanup_(freep) char *on = xasprintf("interface=%u", route->interface_index);
    _cleanup_(freep) char *next_hop = xasprintf("nexthop=%s", route->next_hop);
    _cleanup_(freep) char *prefix = xasprintf("prefix=%s", route->destination);

    if (route->persistent || text_ends_with(route->destination, "/0"))
        win32_netsh((const char *const[]){"interface", v6 ? "ipv6" : "ipv4", "add", "route", prefix,
                                          on, next_hop, "store=persistent", NULL});
}

typedef DWORD(WINAPI *forward_entry)(const MIB_IPFORWARD_ROW2 *);

static int change_route(const struct host_route *route, bool add, struct error *err) {
    forward_entry change =
        (forward_entry)win32_iphlpapi(add ? "CreateIpForwardEntry2" : "DeleteIpForwardEntry2", err);
    const char *doing = add ? "add" : "remove";
    MIB_IPFORWARD_ROW2 row;
    DWORD code;

    if (!change || make_row(route, &row, err) < 0)
        return error_prefix(err, "%s route to '%s'", doing, route->destination);
    if (add)
        keep_route(route);
    code = change(&row);
    if (!code || (add ? code == ERROR_OBJECT_ALREADY_EXISTS
                      : code == ERROR_NOT_FOUND || code == ERROR_FILE_NOT_FOUND))
        return 0;
    return win32_fail(err, code, "%s route to '%s'", doing, route->destination);
}

int win32_route_add(struct host *, const struct host_route *route, struct error *err) {
    return change_route(route, true, err);
}

int win32_route_remove(struct host *, const struct host_route *route, struct error *err) {
    return change_route(route, false, err);
}

/* One of the four tables of taken ports; NULL when Windows has none of that family. */
static void *port_table(bool udp, ULONG family) {
    DWORD size = 64 * 1024, code;
    void *table = NULL;

    do {
        table = xrealloc(table, size);
        code =
            udp ? GetExtendedUdpTable(table, &size, FALSE, family, UDP_TABLE_OWNER_PID, 0)
                : GetExtendedTcpTable(table, &size, FALSE, family, TCP_TABLE_OWNER_PID_LISTENER, 0);
    } while (code == ERROR_INSUFFICIENT_BUFFER && size < 16 * 1024 * 1024);
    if (code == 0)
        return table;
    free(table);
    return NULL;
}

static bool tcp_taken(ULONG family, DWORD port) {
    _cleanup_(freep) void *table = port_table(false, family);
    const MIB_TCPTABLE_OWNER_PID *v4 = table;
    const MIB_TCP6TABLE_OWNER_PID *v6 = table;

    for (DWORD i = 0; table && i < v4->dwNumEntries; i++)
        if ((family == AF_INET ? v4->table[i].dwLocalPort : v6->table[i].dwLocalPort) == port)
            return true;
    return false;
}

static bool udp_taken(ULONG family, DWORD port) {
    _cleanup_(freep) void *table = port_table(true, family);
    const MIB_UDPTABLE_OWNER_PID *v4 = table;
    const MIB_UDP6TABLE_OWNER_PID *v6 = table;

    for (DWORD i = 0; table && i < v4->dwNumEntries; i++)
        if ((family == AF_INET ? v4->table[i].dwLocalPort : v6->table[i].dwLocalPort) == port)
            return true;
    return false;
}

int win32_port_in_use(struct host *, bool udp, unsigned port, bool *ret, struct error *) {
    DWORD wanted = htons((u_short)port); /* the tables have network order in the low half */

    *ret = udp ? udp_taken(AF_INET, wanted) || udp_taken(AF_INET6, wanted)
               : tcp_taken(AF_INET, wanted) || tcp_taken(AF_INET6, wanted);
    return 0;
}
