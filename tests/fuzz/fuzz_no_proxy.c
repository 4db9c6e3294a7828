/* URL, proxy and NO_PROXY, a line each: the choice is a whole proxy URL, one that is refused before
 * it is used, or none; and a "*" excludes all. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "host/http_ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *url = xstrndup((const char *)data, size);
    char *proxy = url + strcspn(url, "\n");
    char *none;

    if (*proxy)
        *proxy++ = '\0';
    none = proxy + strcspn(proxy, "\n");
    if (*none)
        *none++ = '\0';
    _cleanup_(freep) char *chosen = http_proxy_for(url, proxy, none);
    _cleanup_(freep) char *excluded = http_proxy_for(url, proxy, "*");
    _cleanup_(freep) char *machine = http_machine_proxy_for(url, proxy, none);
    _cleanup_(freep) char *bypassed = http_machine_proxy_for(url, proxy, "*");
    if (bypassed || (machine && !*machine))
        abort();
    if ((chosen && !strstr(chosen, "://") && http_proxy_check(chosen, NULL) == 0) || excluded)
        abort();
    return 0;
}
