/* bcryptprimitives.dll for Wine 8, which has none: random bytes. Who needs it: every program built
 * with Go 1.22 or newer. Such a program loads this DLL before anything else, so what else Wine does
 * not do for upstream's programs is repaired from here: symbolic links, AF_UNIX sockets, named
 * pipes, services, the messages of HNS. */
#include "tests/wine/symlink.h"
#include "tests/wine/bcryptprimitives_messages.h"
#include "tests/wine/bcryptprimitives_named_pipe.h"
#include "tests/wine/bcryptprimitives_service.h"
#include "tests/wine/bcryptprimitives_unix_socket.h"

#include <windows.h>

#include <ntsecapi.h>

BOOL WINAPI rig_ProcessPrng(BYTE *data, SIZE_T size) {
    static const SIZE_T most = 0x40000000;

    while (size) {
        SIZE_T some = size < most ? size : most;

        if (!RtlGenRandom(data, (ULONG)some))
            return FALSE;
        data += some;
        size -= some;
    }
    return TRUE;
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void *reserved) {
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH) {
        DisableThreadLibraryCalls(self);
        symlink_repair();
        unix_socket_repair();
        named_pipe_repair();
        service_repair();
        messages_repair();
    }
    return TRUE;
}
