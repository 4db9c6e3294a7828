/* Reads and changes the host's routes, and reads its neighbors and used ports. */
#include "host/win32/iphlpapi.h"

int win32_routes(struct host *, struct host_routes *ret, struct error *err) {
    MIB_IPFORWARD_TABLE2 *table = NULL;
    DWORD code = GetIpForwardTable2(AF_UNSPEC, &table);

    if (code)
        return win32_fail(err, code, "list routes");
    ret->items = xcalloc(table->NumEntries + 1, sizeof *ret->items);
    for (ULONG i = 0; i < table->NumEntries; i++) {
        const MIB_IPFORWARD_ROW2 *row = &table->Table[i];
        struct host_route *route = &ret->items[ret->count++];
        char text[IP_TEXT_MAX] = "";
        struct ip ip;

        if (win32_ip((const SOCKADDR *)&row->DestinationPrefix.Prefix, &ip))
            ip_format(&ip, text);
        (void)text_format(route->destination, sizeof route->destination, "%s/%u", text,
                          /* An address and a prefix length always fit. */
                          row->DestinationPrefix.PrefixLength);
        if (win32_ip((const SOCKADDR *)&row->NextHop, &ip))
            ip_format(&ip, route->next_hop);
        route->interface_index = row->InterfaceIndex;
        route->metric = row->Metric;
    }
    FreeMibTable(table);
    return 0;
}

/* Reads the neighbor tables, one address family at a time, because a host without IPv6 refuses a
 * query for both. */
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
            const MIB_IPNET_ROW2 *row = &table->Table[k];
            struct host_neighbor found = {.fixed = row->State == NlnsPermanent};
            struct ip ip;

            if (win32_ip((const SOCKADDR *)&row->Address, &ip))
                ip_format(&ip, found.address);
            if (row->State != NlnsUnreachable && row->State != NlnsIncomplete)
                win32_mac(row->PhysicalAddress, row->PhysicalAddressLength, found.mac);
            array_add(ret->items, ret->count, found);
        }
        FreeMibTable(table);
    }
    return 0;
}

int win32_route_set(struct host *, const struct host_route *route, bool add, struct error *err) {
    __auto_type change = add ? WIN32_IPHLPAPI(CreateIpForwardEntry2, err)
                             : WIN32_IPHLPAPI(DeleteIpForwardEntry2, err);
    __auto_type init = WIN32_IPHLPAPI(InitializeIpForwardEntry, NULL);
    const char *doing = add ? "add" : "remove";
    MIB_IPFORWARD_ROW2 row = {0};
    struct cidr destination;
    struct ip next_hop;
    DWORD code;

    if (!change || cidr_parse(route->destination, &destination, err) < 0 ||
        ip_parse(route->next_hop, &next_hop, err) < 0)
        return error_prefix(err, "%s route to '%s'", doing, route->destination);
    if (init)
        init(&row);
    row.InterfaceIndex = route->interface_index;
    win32_sockaddr(&destination.base, &row.DestinationPrefix.Prefix);
    row.DestinationPrefix.PrefixLength = (UINT8)destination.length;
    win32_sockaddr(&next_hop, &row.NextHop);
    row.Metric = route->metric;
    row.Protocol = MIB_IPPROTO_NETMGMT;
    /* A route of CreateIpForwardEntry2 is lost at a restart. So persistent routes are also added
     * with netsh, and default routes always, because without one the machine would be unreachable.
     */
    if (add && (route->persistent || text_ends_with(route->destination, "/0"))) {
        bool v6 = strchr(route->destination, ':') != NULL;
        _cleanup_(freep) char *on = xasprintf("interface=%u", route->interface_index);
        _cleanup_(freep) char *through = xasprintf("nexthop=%s", route->next_hop);
        _cleanup_(freep) char *prefix = xasprintf("prefix=%s", route->destination);

        win32_netsh((const char *const[]){"interface", v6 ? "ipv6" : "ipv4", "add", "route", prefix,
                                          on, through, "store=persistent", NULL});
    }
    code = change(&row);
    if (!code || (add ? code == ERROR_OBJECT_ALREADY_EXISTS
                      : code == ERROR_NOT_FOUND || code == ERROR_FILE_NOT_FOUND))
        return 0;
    return win32_fail(err, code, "%s route to '%s'", doing, route->destination);
}

/* Returns one of Windows' four tables of used ports (TCP or UDP, IPv4 or IPv6); NULL when it is not
 * available. The caller frees it. */
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
    /* The tables have ports in network byte order in the lower 16 bits. */
    DWORD wanted = htons((u_short)port);
    _cleanup_(freep) void *four = port_table(udp, AF_INET), *six = port_table(udp, AF_INET6);
    const MIB_TCPTABLE_OWNER_PID *tcp = four;
    const MIB_TCP6TABLE_OWNER_PID *tcp6 = six;
    const MIB_UDPTABLE_OWNER_PID *udps = four;
    const MIB_UDP6TABLE_OWNER_PID *udp6 = six;

    *ret = false; /* All four tables begin with the number of their rows. */
    for (DWORD i = 0; four && i < tcp->dwNumEntries; i++)
        *ret |= (udp ? udps->table[i].dwLocalPort : tcp->table[i].dwLocalPort) == wanted;
    for (DWORD i = 0; six && i < tcp6->dwNumEntries; i++)
        *ret |= (udp ? udp6->table[i].dwLocalPort : tcp6->table[i].dwLocalPort) == wanted;
    return 0;
}
