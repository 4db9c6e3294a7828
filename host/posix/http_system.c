/* Provides Linux' proxy and trust settings: only the environment variables that Go reads. */
#include "host/host_ops.h"

bool http_system_proxy(char **, char **) {
    return false; /* Linux has no settings besides the environment. */
}

void http_machine_roots(void (*)(void *, const unsigned char *, size_t), void *) {
    /* libcurl reads the system's file of roots itself, and users have no files of their own. */
}

char *http_system_roots(void) {
    const char *file = getenv("SSL_CERT_FILE");

    return file && *file ? xstrdup(file) : NULL;
}
