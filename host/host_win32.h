/* Opens the real Windows host. */
#ifndef HOST_HOST_WIN32_H
#define HOST_HOST_WIN32_H
#include "host/host.h"
/* The machine this program runs on. Never fails; host_free(). */
struct host *host_win32_open(void);
#endif
