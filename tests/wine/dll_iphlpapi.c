/* iphlpapi.dll for Wine: what Wine's own one lacks or shows otherwise than Windows does, answered
 * from the node's data plane; everything else is handed on to Wine's (wiphlpapi.dll, see the .def
 * file). Who needs it: winjoin (adapters, addresses, routes, DNS servers, forwarding), flanneld,
 * kubelet. */
#include "tests/wine/recovery.h"
#include "tests/wine/symlink.h"
#include "tests/wine/udp_bind.h"

#include <windows.h>

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void *reserved) {
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH) {
        DisableThreadLibraryCalls(self);
        symlink_repair();
        udp_bind_repair();
        recovery_repair();
    }
    return TRUE;
}
