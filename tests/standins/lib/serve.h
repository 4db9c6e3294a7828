/* Small servers of the stand-ins: a health page, and the kubelet's TLS port. */
#pragma once

#include "base/error.h"

/* Answers every GET on address:port with 200 "ok", in a thread; -1 when the port is taken. */
int serve_health(const char *address, unsigned port, struct error *err);
/* Answers every request on 0.0.0.0:port by TLS with 401 "Unauthorized"; the certificate is made
 * for `name` on the spot. */
int serve_unauthorized(unsigned port, const char *name, struct error *err);
