/* Changing an interface: addresses, DNS servers, forwarding. What iphlpapi sets is gone after a
 * restart of Windows; addresses and DNS servers are therefore given to netsh as well. */
#include "host/win32/iphlpapi.h"

static bool has_dhcp(uint32_t index) {
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};
    bool dhcp = false;

    if (win32_adapters(NULL, &adapters, NULL) == 0)
        for (size_t i = 0; i < adapters.count; i++)
            if (adapters.items[i].index == index)
                dhcp = adapters.items[i].dhcp;
    return dhcp;
}

/* IPv4 addresses alone: Windows loses these when a switch is made. The new vNIC asks DHCP then;
 * netsh adds nothing to such an interface, it must be told to be static. */
static void keep_address(uint32_t index, const struct ip *ip, int length) {
    uint32_t bits = length ? 0xffffffffu << (32 - length) : 0;
    struct ip mask = {.family = 4,
                      .bytes = {(uint8_t)(bits >> 24), (uint8_t)(bits >> 16), (uint8_t)(bits >> 8),
                                (uint8_t)bits}};
    _cleanup_(freep) char *name = xasprintf("name=%u", index);
    _cleanup_(freep) char *address = NULL, *mask_word = NULL;

    address = xasprintf("address=%s", IP_TEXT(ip));
    mask_word = xasprintf("mask=%s", IP_TEXT(&mask));
    if (has_dhcp(index))
        win32_netsh((const char *const[]){"interface", "ipv4", "set", "address", name,
                                          "source=static", address, mask_word, "store=persistent",
                                          NULL});
    else
        win32_netsh((const char *const[]){"interface", "ipv4", "add", "address", name, address,
                                          mask_word, "store=persistent", NULL});
}

int win32_address_add(struct host *, uint32_t index, const char *address, struct error *err) {
    __auto_type init = WIN32_IPHLPAPI(InitializeUnicastIpAddressEntry, err);
    __auto_type add = WIN32_IPHLPAPI(CreateUnicastIpAddressEntry, err);
    MIB_UNICASTIPADDRESS_ROW row = {0};
    struct ip ip;
    int length;
    DWORD code;

    if (win32_parse_address(address, &ip, &length, err) < 0)
        return -1;
    if (!add)
        return error_prefix(err, "add address '%s'", address);
    if (ip.family == 4)
        keep_address(index, &ip, length);
    if (init)
        init(&row);
    row.InterfaceIndex = index;
    win32_sockaddr(&ip, &row.Address);
    row.OnLinkPrefixLength = (UINT8)length;
    row.DadState =
        IpDadStatePreferred; /* no wait for the check: the host had this address before */
    code = add(&row);
    if (code && code != ERROR_OBJECT_ALREADY_EXISTS)
        return win32_fail(err, code, "add address '%s'", address);
    return 0;
}

/* DNS_INTERFACE_SETTINGS version 1 of netioapi.h, which mingw's header lacks. */
struct dns_settings {
    ULONG version;
    ULONG64 flags;
    PWSTR domain, name_server, search_list;
    ULONG registration_enabled, register_adapter_name, enable_llmnr, query_adapter_name;
    PWSTR profile_name_server;
};
enum { DNS_SETTINGS_VERSION1 = 1, DNS_SETTINGS_IPV6 = 1, DNS_SETTINGS_NAMESERVER = 2 };

typedef DWORD(WINAPI *set_dns)(GUID, const struct dns_settings *);

static int set_dns_by_iphlpapi(set_dns set, const GUID *adapter, const struct text_list *servers,
                               bool v6, struct error *err) {
    _cleanup_(freep) char *joined = text_list_join(servers, ",");
    _cleanup_wide_ wchar_t *wide = win32_wide(joined);
    const struct dns_settings settings = {.version = DNS_SETTINGS_VERSION1,
                                          .flags = DNS_SETTINGS_NAMESERVER |
                                                   (v6 ? DNS_SETTINGS_IPV6 : 0),
                                          .name_server = wide};
    DWORD code = set(*adapter, &settings);

    return code ? win32_fail(err, code, "set DNS servers '%s'", joined) : 0;
}

/* Windows Server 2019 has no SetInterfaceDnsSettings. The first server takes the others' place. */
static void set_dns_by_netsh(uint32_t index, const struct text_list *servers, bool v6) {
    const char *family = v6 ? "ipv6" : "ipv4";
    _cleanup_(freep) char *name = xasprintf("name=%u", index);

    for (size_t i = 0; i < servers->count; i++) {
        _cleanup_(freep) char *address = xasprintf("address=%s", servers->items[i]);

        if (!i)
            win32_netsh((const char *const[]){"interface", family, "set", "dnsservers", name,
                                              "source=static", address, "validate=no", NULL});
        else
            win32_netsh((const char *const[]){"interface", family, "add", "dnsservers", name,
                                              address, "validate=no", NULL});
    }
}

static int set_dns_of_family(set_dns set, const GUID *adapter, uint32_t index,
                             const struct text_list *servers, bool v6, struct error *err) {
    _cleanup_(text_list_free) struct text_list some = {0};

    for (size_t i = 0; i < servers->count; i++)
        if ((strchr(servers->items[i], ':') != NULL) == v6)
            text_list_add(&some, servers->items[i]);
    if (set)
        return set_dns_by_iphlpapi(set, adapter, &some, v6, err);
    set_dns_by_netsh(index, &some, v6);
    return 0;
}

int win32_dns_set(struct host *, uint32_t index, const struct text_list *servers,
                  struct error *err) {
    set_dns set = (set_dns)win32_function(L"iphlpapi.dll", "SetInterfaceDnsSettings");
    NET_LUID luid;
    GUID adapter;
    DWORD code;

    code = ConvertInterfaceIndexToLuid(index, &luid);
    if (!code)
        code = ConvertInterfaceLuidToGuid(&luid, &adapter);
    if (code)
        return win32_fail(err, code, "set DNS servers of interface %u", index);
    if (set_dns_of_family(set, &adapter, index, servers, false, err) < 0)
        return -1;
    return set_dns_of_family(set, &adapter, index, servers, true, err);
}

int win32_forwarding(struct host *, uint32_t index, int family, bool *ret, struct error *err) {
    MIB_IPINTERFACE_ROW row;

    if (win32_interface_row(index, family, &row, err) < 0)
        return -1;
    *ret = row.ForwardingEnabled;
    return 0;
}

/* `what`: "forwarding", for the error. */
static int set_row(MIB_IPINTERFACE_ROW *row, int family, const char *what, uint32_t index,
                   struct error *err) {
    __auto_type set = WIN32_IPHLPAPI(SetIpInterfaceEntry, err);
    DWORD code;

    if (!set)
        return -1;
    if (family == 4)
        row->SitePrefixLength = 0; /* what Get fills in Set refuses */
    code = set(row);
    return code ? win32_fail(err, code, "set %s of interface %u", what, index) : 0;
}

int win32_forwarding_set(struct host *, uint32_t index, int family, bool on, struct error *err) {
    MIB_IPINTERFACE_ROW row;

    if (win32_interface_row(index, family, &row, err) < 0)
        return -1;
    row.ForwardingEnabled = on;
    return set_row(&row, family, "forwarding", index, err);
}

/* What iphlpapi sets is gone after a restart. */
static void keep_metric(uint32_t index, int family, uint32_t metric) {
    _cleanup_(freep) char *name = xasprintf("interface=%u", index);
    _cleanup_(freep) char *value = xasprintf("metric=%u", metric);

    win32_netsh((const char *const[]){"interface", family == 6 ? "ipv6" : "ipv4", "set",
                                      "interface", name, value, "store=persistent", NULL});
}

int win32_metric_set(struct host *, uint32_t index, int family, uint32_t metric,
                     struct error *err) {
    MIB_IPINTERFACE_ROW row;

    if (win32_interface_row(index, family, &row, err) < 0)
        return -1;
    keep_metric(index, family, metric);
    row.UseAutomaticMetric = FALSE;
    row.Metric = metric;
    return set_row(&row, family, "the metric", index, err);
}
