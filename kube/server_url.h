/* The URL of an API server as a kubeconfig names it. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* "https://HOST[:PORT][/path]" and nothing more: a user would be sent as a password, a query or a
 * fragment changes what is asked, and letters of other alphabets lead to another host than is read.
 * ERROR_USAGE with the reason ("its server ..."). */
int server_url_check(const char *url, struct error *err);
/* The URL of `path` ("/api/v1/...") below the server. The caller frees. */
char *server_url_join(const char *server, const char *path);
/* "10.0.0.10" of "https://10.0.0.10:6443/x", without brackets. The caller frees. */
char *server_url_host(const char *server);
/* Does it name the machine that asks: loopback, 0.0.0.0, localhost? */
bool server_url_is_here(const char *server);
