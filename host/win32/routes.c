/* The host's routes and neighbors, and which local ports are taken. */
#include "host/win32/iphlpapi.h"

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
    MIB_IPFORWARD_TABLE2 *table = NULL;
    DWORD code = GetIpForwardTable2(AF_UNSPEC, &table);

    if (code)
        return win32_fail(err, code, "list routes");
    ret->items = xcalloc(table->NumEntries + 1, sizeof *ret->items);
    for (ULONG i = 0; i < table->NumEntries; i++)
        read_route(&table->Table[i], &ret->items[ret->count++]);
    FreeMibTable(table);
    return 0;
}

static void read_neighbor(const MIB_IPNET_ROW2 *from, struct host_neighbor *ret) {
    struct ip ip;

    if (win32_ip((const SOCKADDR *)&from->Address, &ip))
        ip_format(&ip, ret->address);
    if (from->State != NlnsUnreachable && from->State != NlnsIncomplete)
        win32_mac(from->PhysicalAddress, from->PhysicalAddressLength, ret->mac);
    ret->fixed = from->State == NlnsPermanent;
}

/* Not both families at once: a host without IPv6 refuses that. */
int win32_neighbors(struct host *, struct host_neighbors *ret, struct error *err) {
    static const ADDRESS_FAMILY families[] = {AF_INET, AF_INET6};

    for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
        MIB_IPNET_TABLE2 *table = NULL;
        DWORD code = GetIpNetTable2(families[i], &table);

        if (code && families[i] == AF_INET)
            return win32_fail(err, code, "list neighbors");
        if (code)
            continue;
        for (ULONG k = 0; k < table->NumEntries; k++) {
            array_add(ret->items, ret->count, (struct host_neighbor){0});
            read_neighbor(&table->Table[k], &ret->items[ret->count - 1]);
        }
        FreeMibTable(table);
    }
    return 0;
}

static int make_row(const struct host_route *route, MIB_IPFORWARD_ROW2 *ret, struct error *err) {
    __auto_type init = WIN32_IPHLPAPI(InitializeIpForwardEntry, err);
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

static int change_route(const struct host_route *route, bool add, struct error *err) {
    __auto_type change = add ? WIN32_IPHLPAPI(CreateIpForwardEntry2, err)
                             : WIN32_IPHLPAPI(DeleteIpForwardEntry2, err);
    const char *doing = add ? "add" : "remove";
    MIB_IPFORWARD_ROW2 row;
    DWORD code;

    if (!change || make_row(route, &row, err) < 0)
        return error_prefix(err, "%s route to '%s'", doing, route->destination);
    if (add) {
        bool v6 = strchr(route->destination, ':') != NULL;
        _cleanup_(freep) char *on = xasprintf("interface=%u", route->interface_index);
        _cleanup_(freep) char *next_hop = xasprintf("nexthop=%s", route->next_hop);
        _cleanup_(freep) char *prefix = xasprintf("prefix=%s", route->destination);

        /* What CreateIpForwardEntry2 makes is gone after a restart; without its default route the
         * machine would be, too. */
        if (route->persistent || text_ends_with(route->destination, "/0"))
            win32_netsh((const char *const[]){"interface", v6 ? "ipv6" : "ipv4", "add", "route",
                                              prefix, on, next_hop, "store=persistent", NULL});
    }
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

int win32_port_in_use(struct host *, bool udp, unsigned port, bool *ret, struct error *) {
    DWORD wanted = htons((u_short)port); /* the tables have network order in the low half */
    _cleanup_(freep) void *four = port_table(udp, AF_INET), *six = port_table(udp, AF_INET6);
    const MIB_TCPTABLE_OWNER_PID *tcp = four;
    const MIB_TCP6TABLE_OWNER_PID *tcp6 = six;
    const MIB_UDPTABLE_OWNER_PID *udps = four;
    const MIB_UDP6TABLE_OWNER_PID *udp6 = six;

    *ret = false; /* all four begin with the number of their rows */
    for (DWORD i = 0; four && i < tcp->dwNumEntries; i++)
        *ret |= (udp ? udps->table[i].dwLocalPort : tcp->table[i].dwLocalPort) == wanted;
    for (DWORD i = 0; six && i < tcp6->dwNumEntries; i++)
        *ret |= (udp ? udp6->table[i].dwLocalPort : tcp6->table[i].dwLocalPort) == wanted;
    return 0;
}
