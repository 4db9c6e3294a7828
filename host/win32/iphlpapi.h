/* Helpers for network functions of iphlpapi: addresses, interfaces and netsh. */
#pragma once

#include "host/win32/win32.h"

#include <iphlpapi.h>
#include <netioapi.h>

#include "base/cidr.h"

/* Looks up a function of netioapi.h at run time, because Wine lacks some of them. Returns NULL with
 * ERROR_UNSUPPORTED when this Windows does not have the function. */
#define WIN32_IPHLPAPI(function, err) ((__typeof__(&(function)))win32_iphlpapi(#function, err))
void *win32_iphlpapi(const char *function, struct error *err);

/* Convert addresses between struct ip and Windows' structures. win32_ip() returns false when the
 * address is neither IPv4 nor IPv6. */
void win32_sockaddr(const struct ip *ip, SOCKADDR_INET *ret);
bool win32_ip(const SOCKADDR *address, struct ip *ret);
/* Writes a MAC address as "00-15-5D-01-02-03". An address that does not have six bytes leaves `ret`
 * unchanged. */
void win32_mac(const BYTE *mac, ULONG length, char ret[18]);
/* Reads Windows' settings of an interface for one address family (4 or 6). Fails with
 * ERROR_UNSUPPORTED as win32_iphlpapi(), or as win32_fail(). */
int win32_interface_row(uint32_t index, int family, MIB_IPINTERFACE_ROW *ret, struct error *err);
/* Runs netsh.exe, the only program that makes network settings permanent. `arguments` follow the
 * program's name and end with NULL. Failures are logged and not reported to the caller. */
void win32_netsh(const char *const *arguments);
