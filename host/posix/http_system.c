/* What this system says about proxies and trust for everybody: only what Go reads on Linux. */
#include "host/host_ops.h"

bool http_system_proxy(char **, char **) {
    return false; /* the environment is all there is */
}

void http_machine_roots(void (*)(void *, const unsigned char *, size_t), void *) {
    /* libcurl reads the system's file, and a user has no other one */
}

char *http_system_roots(void) {
    const char *file = getenv("SSL_CERT_FILE");

    return file && *file ? xstrdup(file) : NULL;
}
