/* Opens a Windows-shaped host under a directory (rehearsal). */
#pragma once
#include "host/host.h"
/* C:\x is <rootfs>/x on disk, Z:\x is this machine's own /x; services, registry, firewall,
 * adapters, routes and HNS objects are kept in <rootfs>/.winjoin-host/state.json (host/model), so
 * that a rehearsal can be looked at. The folder is made when only it is absent (ERROR_USAGE when it
 * cannot be). rootfs NULL: only Z: (for verbs that need no Windows); Windows' operations say
 * ERROR_UNSUPPORTED. */
int host_posix_open(const char *rootfs, struct host **ret, struct error *err);
