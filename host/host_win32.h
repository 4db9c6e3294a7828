/* Opens the real Windows host. */
#pragma once
#include "host/host.h"
/* The machine this program runs on. Never fails; host_free(). */
struct host *host_win32_open(void);
