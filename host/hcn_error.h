/* What an HRESULT and an ErrorRecord of the Host Networking Service mean. Pure. */
#pragma once

#include <stdint.h>

#include "base/error.h"

/* The symbolic name of a 0x803b00xx code ("HCN_E_INVALID_IP"), or NULL. */
const char *hcn_error_name(uint32_t hresult);
/* 0 when the call went well; otherwise fills err and returns -1. `record` is the ErrorRecord or
 * NULL; a non-empty one is a failure even with a success code, and its ErrorCode counts then. */
int hcn_check(const char *function, uint32_t hresult, const char *record, struct error *err);
