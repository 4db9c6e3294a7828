/* Changes interfaces: addresses, DNS servers, forwarding, metrics. What iphlpapi sets is lost at a
 * restart of Windows, so addresses and metrics are also set with netsh. */
#include "host/win32/iphlpapi.h"

/* Makes an IPv4 address permanent with netsh. IPv6 is not affected: Windows loses only IPv4
 * addresses when it creates a switch. The new virtual adapter then uses DHCP, and netsh cannot add
 * an address to such an adapter, so it is first set to static. */
static void keep_address(uint32_t index, const struct ip *ip, int length) {
    uint32_t bits = length ? 0xffffffffu << (32 - length) : 0;
    struct ip mask = {.family = 4,
                      .bytes = {(uint8_t)(bits >> 24), (uint8_t)(bits >> 16), (uint8_t)(bits >> 8),
                                (uint8_t)bits}};
    _cleanup_(freep) char *name = xasprintf("name=%u", index);
    _cleanup_(freep) char *address = NULL, *mask_word = NULL;
    _cleanup_(host_adapters_free) struct host_adapters adapters = {0};
    bool dhcp = false;

    if (win32_adapters(NULL, &adapters, NULL) == 0)
        for (size_t i = 0; i < adapters.count; i++)
            if (adapters.items[i].index == index)
                dhcp = adapters.items[i].dhcp;
    address = xasprintf("address=%s", IP_TEXT(ip));
    mask_word = xasprintf("mask=%s", IP_TEXT(&mask));
    if (dhcp)
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
    const char *slash = address + strcspn(address, "/");
    _cleanup_(freep) char *bare = xstrndup(address, (size_t)(slash - address));
    MIB_UNICASTIPADDRESS_ROW row = {0};
    long long length = 0;
    struct ip ip;
    DWORD code;

    if (ip_parse(bare, &ip, err) < 0)
        return -1;
    if (!*slash || text_to_number(slash + 1, 0, ip.family == 4 ? 32 : 128, &length) < 0)
        return error_set(err, ERROR_MALFORMED, "address '%s': wrong prefix length", address);
    if (!add)
        return error_prefix(err, "add address '%s'", address);
    if (ip.family == 4)
        keep_address(index, &ip, (int)length);
    if (init)
        init(&row);
    row.InterfaceIndex = index;
    win32_sockaddr(&ip, &row.Address);
    row.OnLinkPrefixLength = (UINT8)length;
    /* Skip Windows' check for duplicates, because the host had this address before. */
    row.DadState = IpDadStatePreferred;
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

/* Sets the DNS servers of one address family. `set` is NULL on Windows Server 2019, which has no
 * SetInterfaceDnsSettings; then netsh is used. */
static int set_dns_of_family(set_dns set, const GUID *adapter, uint32_t index,
                             const struct text_list *servers, bool v6, struct error *err) {
    _cleanup_(text_list_free) struct text_list some = {0};
    _cleanup_(freep) char *joined = NULL, *name = xasprintf("name=%u", index);
    struct dns_settings settings = {.version = DNS_SETTINGS_VERSION1,
                                    .flags =
                                        DNS_SETTINGS_NAMESERVER | (v6 ? DNS_SETTINGS_IPV6 : 0)};
    const char *family = v6 ? "ipv6" : "ipv4";

    for (size_t i = 0; i < servers->count; i++)
        if ((strchr(servers->items[i], ':') != NULL) == v6)
            text_list_add(&some, servers->items[i]);
    if (set) {
        _cleanup_wide_ wchar_t *wide = NULL;
        DWORD code;

        joined = text_list_join(&some, ",");
        settings.name_server = wide = win32_wide(joined);
        code = set(*adapter, &settings);
        return code ? win32_fail(err, code, "set DNS servers '%s'", joined) : 0;
    }
    /* The first server replaces all old ones; the others are added. */
    for (size_t i = 0; i < some.count; i++) {
        _cleanup_(freep) char *address = xasprintf("address=%s", some.items[i]);

        if (!i)
            win32_netsh((const char *const[]){"interface", family, "set", "dnsservers", name,
                                              "source=static", address, "validate=no", NULL});
        else
            win32_netsh((const char *const[]){"interface", family, "add", "dnsservers", name,
                                              address, "validate=no", NULL});
    }
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

int win32_interface_set(struct host *, uint32_t index, int family, enum host_interface_value what,
                        uint32_t value, struct error *err) {
    _cleanup_(freep) char *name = xasprintf("interface=%u", index);
    _cleanup_(freep) char *metric = xasprintf("metric=%u", value);
    __auto_type set = WIN32_IPHLPAPI(SetIpInterfaceEntry, err);
    bool is_metric = what == HOST_INTERFACE_METRIC;
    MIB_IPINTERFACE_ROW row;
    DWORD code;

    if (win32_interface_row(index, family, &row, err) < 0)
        return -1;
    /* What iphlpapi sets is lost at a restart of Windows, so set it with netsh too. */
    if (is_metric)
        win32_netsh((const char *const[]){"interface", family == 6 ? "ipv6" : "ipv4", "set",
                                          "interface", name, metric, "store=persistent", NULL});
    if (!set)
        return -1;
    if (is_metric) {
        row.UseAutomaticMetric = FALSE;
        row.Metric = value;
    } else {
        row.ForwardingEnabled = value != 0;
    }
    if (family == 4)
        row.SitePrefixLength = 0; /* Set refuses the value that Get fills in. */
    code = set(&row);
    return code ? win32_fail(err, code, "set %s of interface %u",
                             is_metric ? "the metric" : "forwarding", index)
                : 0;
}
