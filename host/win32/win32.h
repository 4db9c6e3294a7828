/* Windows' own headers in the order that they need. winerror.h and base/error.h both claim two
 * names; in this program the names are base/error.h's, Windows' numbers get the prefix WIN32_. */
#ifndef HOST_WIN32_WIN32_H
#define HOST_WIN32_WIN32_H

#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>

#undef ERROR_NOT_FOUND
#undef ERROR_TIMEOUT
enum { WIN32_ERROR_NOT_FOUND = 1168, WIN32_ERROR_TIMEOUT = 1460 };

#include "base/error.h"

#endif
