/* Downloads files over HTTPS from a mirror, which is a bundle unpacked on a web server, or from
 * upstream's own hosts (services/artifacts/catalog.h). */
#pragma once

#include "host/host.h"
#include "host/http.h"
#include "pki/digest.h"

/* Says where files come from. Borrowed by its users. Its maker has checked `url`: https, no user,
 * query or fragment. */
struct mirror {
    struct host *host; /* The host, for its clock and random numbers. */
    struct http *http; /* The HTTP client, which trusts the machine's root certificates. */
    /* E.g. "https://mirror.example/winjoin", which has winjoin.lock directly below. NULL means that
     * each path begins with its host. */
    const char *url;
    bool follows_redirects; /* Redirects are followed, to https only, at most five. */
    /* How long temporary failures are retried; 0 means the longest time, a minute. */
    unsigned limit_ms;
    /* Folder for received parts of files with a SHA-256, so that a later run can continue after a
     * kill or interruption. It is removed after any other end. NULL when parts are not kept. */
    const char *parts;
    /* Called about once a second during downloads, and after each failure that is retried.
     * `percent` is the received part of all bytes; 0 = not known. */
    void (*tell)(void *context, unsigned waited_ms, unsigned percent, const char *message);
    void *context;
};

/* Returns the URL of a file of the mirror, with %XX where bytes need it; free() it. */
char *mirror_url(const struct mirror *mirror, const char *path);
/* One of the files to download together. All is borrowed except `data` and `challenge`, which the
 * caller frees. */
struct mirror_file {
    const char *name; /* Name of the artifact for messages, or NULL. */
    const char *path;
    const char *accept;       /* Accepted media types, or NULL. */
    size_t max;               /* Limit of the size in bytes. */
    bool head;                /* Only the first `max` bytes are wanted; more is no failure. */
    const char *bearer_token; /* Token that only the server of the URL gets; or NULL. */
    const char *sha256;       /* Required digest; without it, a partial file cannot be continued. */
    /* NULL, or the path of a file for content that is too large for memory and has a SHA-256. It is
     * written there from offset `at` on instead of to `data`. Bytes that the file already has there
     * count as received. */
    const char *into;
    uint64_t at;
    char *data; /* Result: the content, NUL-terminated. */
    size_t len;
    char digest[DIGEST_TEXT_MAX]; /* Result: the SHA-256 of the content. */
    /* Called when the file is complete, while others are still being downloaded; or NULL. */
    void (*arrived)(void *context, const struct mirror_file *file);
    void *arrived_context;
    /* Result: the challenge of a server that answered 401, or NULL; the caller frees it. */
    char *challenge;
};
/* Downloads all files at the same time, at most 1 GiB in memory. After ERROR_NETWORK,
 * ERROR_TIMED_OUT and the statuses 429, 500, 502, 503, 504 a file is requested again, until
 * limit_ms after its last progress, and as Retry-After says. The request asks for the missing bytes
 * (RFC 9110, 14.2), or for all when the server does not send that part or the parts do not have the
 * SHA-256. The caller must compare the SHA-256 of a whole file. A server that sends less than 1 KiB
 * a second for 30 s is asked again. After half an hour, or six hours with a file `into`, the
 * download fails. Fails with ERROR_ABSENT (404, 410), ERROR_DENIED (401, 403), ERROR_UNTRUSTED (the
 * server's certificate; longer than max), ERROR_MALFORMED (no HTTP), ERROR_NETWORK (also other
 * statuses), ERROR_TIMED_OUT, ERROR_INTERRUPTED. */
int mirror_fetch_all(const struct mirror *mirror, struct mirror_file *files, size_t count,
                     struct error *err);
