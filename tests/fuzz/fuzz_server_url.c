/* The URL of a server: what is taken has one host, and joins to a URL that is shown whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/http.h"
#include "kube/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    _cleanup_(freep) char *shown = http_shown_url(text);
    _cleanup_(freep) char *joined = server_url_join(text, "/api");
    _cleanup_(freep) char *again = http_shown_url(joined);

    if (server_url_check(text, false, NULL) == 0 &&
        (strpbrk(text, "?#\\ \r\n") || strcmp(shown, text) != 0 || strcmp(again, joined) != 0))
        abort();
    return 0;
}
