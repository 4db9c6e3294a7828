/* iphlpapi: addresses, interfaces and netsh. */
#pragma once

#include "host/win32/win32.h"

#include <iphlpapi.h>
#include <netioapi.h>

#include "base/cidr.h"

/* A function of netioapi.h that Wine lacks, looked up when it is needed; NULL when it is not there
 * (err is filled). */
#define WIN32_IPHLPAPI(function, err) ((__typeof__(&(function)))win32_iphlpapi(#function, err))
void *win32_iphlpapi(const char *function, struct error *err);

/* Addresses between the base's form and Windows'. */
void win32_sockaddr(const struct ip *ip, SOCKADDR_INET *ret);
bool win32_ip(const SOCKADDR *address, struct ip *ret);
/* "00-15-5D-01-02-03"; "" where the address is not one of Ethernet. */
void win32_mac(const BYTE *mac, ULONG length, char ret[18]);
/* What Windows knows of an interface. */
int win32_interface_row(uint32_t index, int family, MIB_IPINTERFACE_ROW *ret, struct error *err);
/* Runs netsh.exe, which alone writes what must outlive a restart of Windows. *argv behind the
 * program's name, NULL at the end. What it says is logged, its failure is not the caller's. */
void win32_netsh(const char *const *arguments);
