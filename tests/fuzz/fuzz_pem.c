/* Bundles of certificates from outside. */
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "pki/certificate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct certificates all = {0};
    struct text_list none = {0};

    if (certificates_parse((const char *)data, size, &all, NULL) < 0)
        return 0;
    for (size_t i = 0; i < all.count; i++) {
        _cleanup_(freep) char *line = certificate_describe(&all.items[i]);
        _cleanup_(freep) char *names = certificate_names(&all.items[i]);

        if (!line[0] || !names[0])
            abort();
    }
    if (!all.count || certificates_find_pin(&all, &none) != -1)
        abort();
    certificates_free(&all);
    return 0;
}
