/* Lists the host's network adapters and their addresses with GetAdaptersAddresses. */
#include "host/win32/iphlpapi.h"

static void add_address(const SOCKADDR *address, int length, struct text_list *ret) {
    char text[IP_TEXT_MAX];
    struct ip ip;

    if (!win32_ip(address, &ip))
        return;
    ip_format(&ip, text);
    text_list_add_owned(ret, length < 0 ? xstrdup(text) : xasprintf("%s/%d", text, length));
}

void win32_mac(const BYTE *mac, ULONG length, char ret[18]) {
    if (length == 6)
        (void)text_format(ret, 18, "%02X-%02X-%02X-%02X-%02X-%02X", mac[0], mac[1], mac[2], mac[3],
                          mac[4], mac[5]); /* A MAC address always fits into 18 bytes. */
}

/* Returns the metric of the interface; 0 when Windows computes it or the interface is absent. */
static uint32_t metric_of(uint32_t index, int family) {
    MIB_IPINTERFACE_ROW row;

    return win32_interface_row(index, family, &row, NULL) == 0 && !row.UseAutomaticMetric
               ? row.Metric
               : 0;
}

/* Adds the physical adapters that are bound to virtual switches. Such an adapter has the same MAC
 * as the switch's adapter but no IP, so GetAdaptersAddresses does not list it. */
static void add_adapters_below(struct host_adapters *ret) {
    MIB_IF_TABLE2 *table = NULL;

    if (GetIfTable2(&table))
        return;
    for (ULONG i = 0; i < table->NumEntries; i++) {
        const MIB_IF_ROW2 *row = &table->Table[i];
        char mac[sizeof ret->items->mac] = "";
        bool known = false, below = false;

        if (!row->InterfaceAndOperStatusFlags.FilterInterface)
            win32_mac(row->PhysicalAddress, row->PhysicalAddressLength, mac);
        for (size_t k = 0; k < ret->count; k++) {
            known |= ret->items[k].index == row->InterfaceIndex;
            below |= *mac && text_equal(ret->items[k].mac, mac);
        }
        if (known || !below)
            continue;
        array_add(ret->items, ret->count,
                  (struct host_adapter){.alias = win32_narrow(row->Alias),
                                        .description = win32_narrow(row->Description),
                                        .index = row->InterfaceIndex,
                                        .mtu = row->Mtu});
        memcpy(ret->items[ret->count - 1].mac, mac, sizeof mac);
    }
    FreeMibTable(table);
}

int win32_adapters(struct host *, struct host_adapters *ret, struct error *err) {
    ULONG size = 64 * 1024, code;
    _cleanup_(freep) IP_ADAPTER_ADDRESSES *all = NULL;

    do {
        all = xrealloc(all, size);
        code = GetAdaptersAddresses(AF_UNSPEC, GAA_FLAG_INCLUDE_GATEWAYS, NULL, all, &size);
    } while (code == ERROR_BUFFER_OVERFLOW && size < 4 * 1024 * 1024);
    if (code == ERROR_NO_DATA)
        return 0;
    if (code)
        return win32_fail(err, code, "list adapters");
    for (const IP_ADAPTER_ADDRESSES *a = all; a; a = a->Next) {
        struct host_adapter *adapter;

        if (a->IfType == IF_TYPE_SOFTWARE_LOOPBACK)
            continue;
        array_add(ret->items, ret->count, (struct host_adapter){0});
        adapter = &ret->items[ret->count - 1];
        adapter->alias = win32_narrow(a->FriendlyName ? a->FriendlyName : L"");
        adapter->description = win32_narrow(a->Description ? a->Description : L"");
        win32_mac(a->PhysicalAddress, a->PhysicalAddressLength, adapter->mac);
        adapter->index = a->IfIndex ? a->IfIndex : a->Ipv6IfIndex;
        adapter->mtu = a->Mtu;
        adapter->up = a->OperStatus == IfOperStatusUp;
        adapter->dhcp = a->Dhcpv4Enabled;
        adapter->metric = a->IfIndex ? metric_of(a->IfIndex, 4) : 0;
        adapter->metric6 = a->Ipv6IfIndex ? metric_of(a->Ipv6IfIndex, 6) : 0;
        /* Skip an address that is a duplicate, or is being checked for one: it cannot be used. */
        for (const IP_ADAPTER_UNICAST_ADDRESS *u = a->FirstUnicastAddress; u; u = u->Next)
            if (u->DadState == IpDadStatePreferred || u->DadState == IpDadStateDeprecated) {
                add_address(u->Address.lpSockaddr, u->OnLinkPrefixLength, &adapter->addresses);
                if (u->PrefixOrigin == IpPrefixOriginRouterAdvertisement)
                    add_address(u->Address.lpSockaddr, u->OnLinkPrefixLength, &adapter->advertised);
            }
        for (const IP_ADAPTER_GATEWAY_ADDRESS_LH *g = a->FirstGatewayAddress; g; g = g->Next)
            add_address(g->Address.lpSockaddr, -1, &adapter->gateways);
        for (const IP_ADAPTER_DNS_SERVER_ADDRESS *d = a->FirstDnsServerAddress; d; d = d->Next)
            add_address(d->Address.lpSockaddr, -1, &adapter->dns_servers);
    }
    add_adapters_below(ret);
    return 0;
}
