/* What one kind of HTTP implements: the table behind http.h. Only files in host/ and the tests' own
 * HTTP include this. */
#pragma once

#include "host/http.h"

struct http_ops {
    /* All whose `err` is clear; http_exchange_end() of each when it has ended. `at_once`: of
     * http_perform_some(). */
    void (*perform)(struct http *, struct http_exchange *, size_t count, size_t at_once);
    void (*talk)(struct http *, struct http_talk *, size_t count); /* the same */
    void (*free)(struct http *);
};

/* First member of each implementation. */
struct http {
    const struct http_ops *ops;
};

/* Tells whoever asked that this one has ended. */
void http_exchange_end(struct http_exchange *exchange);

/* The proxy for a URL by this process's environment or, where that names none, the machine's own;
 * NULL: none. The caller frees. */
char *http_environment_proxy(const char *url);
/* A file of roots that this process was told to trust instead of the system's, or NULL. One for
 * each platform. The caller frees. */
char *http_system_roots(void);
/* Hands over each certificate (DER) that this whole machine trusts as a root of servers, not those
 * of one user; none where libcurl knows where they are. One for each platform. */
void http_machine_roots(void (*take)(void *context, const unsigned char *der, size_t len),
                        void *context);
/* What follows "//" in a URL, taken apart; the spans lie in its text. */
struct http_authority {
    const char *end;       /* behind it: a path, a query or nothing */
    const char *login_end; /* the last "@", or NULL */
    const char *host;
    const char *port; /* its colon, or NULL */
};
struct http_authority http_authority_split(const char *authority);
