/* Files fetched over HTTPS: of a mirror, which is a bundle unpacked on a web server, or of
 * upstream's own hosts (services/upstream.h). */
#ifndef SERVICES_MIRROR_H
#define SERVICES_MIRROR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "host/host.h"
#include "host/http.h"

/* Borrowed by whoever gets it, `url` checked by its maker: https, no user, query or fragment. */
struct mirror {
    struct host *host;      /* clock and chance */
    struct http *http;      /* trust is the machine's own store of roots */
    const char *url;        /* "https://mirror.example/winjoin": winjoin.lock is right below; NULL:
                               each path begins with its host */
    bool follows_redirects; /* to https alone, five at most */
    unsigned limit_ms;      /* how long failures that may pass are tolerated, a file */
    /* Told about once a second while a file is fetched, and of each failure that is tolerated. */
    void (*tell)(void *context, unsigned waited_ms, const char *message);
    void *context;
    uint64_t size; /* of the file that is fetched next, for the time left; 0 = not known */
};

/* The URL of a file of the mirror, each byte that a URL cannot hold as %XX. The caller frees. */
char *mirror_url(const struct mirror *mirror, const char *path);
/* One file, at most `max` bytes. *ret is NUL-terminated; the caller frees. Tried again within
 * limit_ms after ERROR_NETWORK, ERROR_TIMED_OUT and the statuses 429, 500, 502, 503, 504, as
 * Retry-After asks. A server that sends less than 1 KiB a second for 30 s,
 * or takes half an hour, is given up. Kinds: ERROR_ABSENT (404, 410), ERROR_DENIED (401, 403),
 * ERROR_UNTRUSTED (the server's certificate; longer than max), ERROR_MALFORMED (no HTTP),
 * ERROR_NETWORK (also other statuses), ERROR_TIMED_OUT, ERROR_INTERRUPTED. */
int mirror_fetch(const struct mirror *mirror, const char *path, size_t max, char **ret,
                 size_t *ret_len, struct error *err);

#endif
