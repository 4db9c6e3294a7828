/* The URL of an API server as a kubeconfig names it. */
#pragma once

#include "base/error.h"

/* "https://HOST[:PORT][/path]" and nothing more: a user would be sent as a password, a query or a
 * fragment changes what is asked, and letters of other alphabets lead to another host than is read.
 * ERROR_USAGE with the reason ("its server ..."). */
int server_url_check(const char *url, struct error *err);
/* The URL of `path` ("/api/v1/...") below the server. The caller frees. */
char *server_url_join(const char *server, const char *path);
