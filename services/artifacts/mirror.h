/* Files fetched over HTTPS: of a mirror, which is a bundle unpacked on a web server, or of
 * upstream's own hosts (services/artifacts/catalog.h). */
#pragma once

#include "host/host.h"
#include "host/http.h"
#include "pki/digest.h"

/* Borrowed by whoever gets it, `url` checked by its maker: https, no user, query or fragment. */
struct mirror {
    struct host *host; /* clock and chance */
    struct http *http; /* trust is the machine's own store of roots */
    /* "https://mirror.example/winjoin": winjoin.lock is right below; NULL: each path begins with
     * its host */
    const char *url;
    bool follows_redirects; /* to https alone, five at most */
    unsigned limit_ms;      /* how long failures of a file that may pass are tolerated; at most a
                               minute, and 0 is a minute */
    const char *parts; /* folder for what has come of files with a SHA-256, so that a run that is
                          killed or interrupted is continued; gone at any other end. NULL: none */
    /* Told about once a second while files are fetched, and of each failure that is tolerated.
     * `percent` of all bytes have come; 0 = not known. */
    void (*tell)(void *context, unsigned waited_ms, unsigned percent, const char *message);
    void *context;
};

/* The URL of a file of the mirror, each byte that a URL cannot hold as %XX. The caller frees. */
char *mirror_url(const struct mirror *mirror, const char *path);
/* One of the files that are fetched together; borrowed but for `data`, which the caller frees. */
struct mirror_file {
    const char *name; /* of an artifact, for messages, or NULL */
    const char *path;
    const char *accept;       /* media types, or NULL */
    size_t max;               /* bytes */
    bool head;                /* what it has behind those is not wanted, and no failure */
    const char *bearer_token; /* sent to the server of the URL alone, or NULL */
    const char *sha256;       /* that the file must have, or NULL: then it is not resumed. */
    /* Or NULL: one too large for memory, with a SHA-256. It is written into this file from `at` on,
     * in place of `data`; what the file has there is taken for its beginning. */
    const char *into;
    uint64_t at;
    char *data; /* filled in; NUL-terminated */
    size_t len;
    char digest[DIGEST_TEXT_MAX]; /* filled in: its SHA-256, made while others still come */
    /* told when it has come whole, or NULL */
    void (*arrived)(void *context, const struct mirror_file *file);
    void *arrived_context;
    char *challenge; /* filled in: what a server that answered 401 asks for, or NULL; to be freed */
};
/* All of them at the same time, at most 1 GiB in memory. A file is asked for again within limit_ms
 * of its last progress after ERROR_NETWORK, ERROR_TIMED_OUT and the statuses 429, 500, 502, 503,
 * 504, as Retry-After asks: what follows the bytes that came (RFC 9110, 14.2), or everything when
 * the server does not send that part, or the parts do not make the SHA-256. Whether a whole file
 * has it is the caller's to look at. A server that sends less than 1 KiB a second for 30 s is asked
 * again; after half an hour, or six with a file `into`, all is given up. Kinds: ERROR_ABSENT (404,
 * 410), ERROR_DENIED (401, 403), ERROR_UNTRUSTED (the server's certificate; longer than max),
 * ERROR_MALFORMED (no HTTP), ERROR_NETWORK (also other statuses), ERROR_TIMED_OUT,
 * ERROR_INTERRUPTED. */
int mirror_fetch_all(const struct mirror *mirror, struct mirror_file *files, size_t count,
                     struct error *err);
