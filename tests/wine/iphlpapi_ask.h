/* How the iphlpapi stand-in asks the data plane of its node (tests/rig/dataplane.py, port 17998)
 * what adapters, addresses and routes there are, and has them changed. */
#pragma once

#include <stdbool.h>
#include <winsock2.h>

#include <ws2ipdef.h>
#include <ws2tcpip.h>

#include <windows.h>

#include <iphlpapi.h>
#include <netioapi.h>

enum { NET_ADAPTERS = 16, NET_ADDRESSES = 64, NET_ROUTES = 256 };

struct net_adapter {
    ULONG index;
    WCHAR alias[IF_MAX_STRING_SIZE + 1];
    WCHAR suffix[128];
    char guid[40];
    BYTE mac[6];
    ULONG mtu, type, metric, metric6;
    bool up, forwarding, forwarding6, dhcp;
    bool bound; /* IP is bound to it: not so for an adapter that a virtual switch took over */
};
struct net_address {
    ULONG index;
    SOCKADDR_INET ip;
    UINT8 length; /* of the prefix */
    bool dhcp, link_local, advertised;
};
struct net_route {
    ULONG index;
    SOCKADDR_INET prefix, next_hop;
    UINT8 length;
    ULONG metric;
    bool local; /* an address brought it */
};
struct net_view {
    struct net_adapter adapters[NET_ADAPTERS];
    struct net_address addresses[NET_ADDRESSES], dns[NET_ADDRESSES], gateways[NET_ADDRESSES];
    struct net_route routes[NET_ROUTES];
    size_t n_adapters, n_addresses, n_dns, n_gateways, n_routes;
};

/* Everything there is. False when no data plane answers: this program runs on no node of the rig.
 */
bool net_look(struct net_view *ret);
/* One change; answers a Win32 error code. */
DWORD net_do(const char *format, ...) __attribute__((format(gnu_printf, 1, 2)));
const struct net_adapter *net_adapter_of(const struct net_view *view, const NET_LUID *luid,
                                         NET_IFINDEX index);
NET_LUID net_luid(const struct net_adapter *adapter);
/* An address as text, in one of four buffers that are used in turn. */
const char *net_text(const SOCKADDR_INET *ip);
bool net_same(const SOCKADDR_INET *a, const SOCKADDR_INET *b);
/* Is an address of this family wanted? AF_UNSPEC: all are. */
bool net_wanted(ADDRESS_FAMILY family, const SOCKADDR_INET *ip);
/* Wine's own function of that name. */
FARPROC net_wine(const char *name);
/* Memory that FreeMibTable() frees. */
void *net_table(size_t size);
GUID net_guid(const char *text);
