/* What a program prints for --help: names without dashes, and none that the text has not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/programs/programs.h"
#include "services/program_flags.h"
#include "services/version.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *help = xstrndup((const char *)data, size);
    struct text_list names = {0};
    unsigned minor;

    program_flags_parse(help, &names);
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_(freep) char *dashed = xasprintf("--%s", names.items[i]);

        if (!*names.items[i] || strpbrk(names.items[i], "= \r\n") || !strstr(help, dashed))
            abort();
    }
    text_list_free(&names);
    (void)containerd_major(help); /* only that they end */
    (void)kubernetes_minor(help, "fuzz", &minor, NULL);
    (void)version_skew_check(&(struct version_skew){help, "v1.37.1", NULL, NULL}, NULL);
    (void)version_skew_check(&(struct version_skew){"v1.36.0", "v1.37.1", help, NULL}, NULL);
    return 0;
}
