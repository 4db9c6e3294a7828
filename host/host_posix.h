/* Opens a Windows-shaped host under a directory (rehearsal). */
#ifndef HOST_HOST_POSIX_H
#define HOST_HOST_POSIX_H
#include "host/host.h"
/* C:\x is <rootfs>/x on disk; services, registry, firewall, routes and HNS objects are JSON files
 * under <rootfs>/.winjoin-host, so that a rehearsal can be looked at. rootfs NULL: files are this
 * machine's own (for verbs that need no Windows) and Windows operations say ERROR_UNSUPPORTED. */
int host_posix_open(const char *rootfs, struct host **ret, struct error *err);
#endif
