/* Bundles of certificates from outside; the same bytes also as the DER inside one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/memory.h"
#include "pki/certificate.h"

static void look(const struct certificate *c) {
    _cleanup_(freep) char *line = certificate_describe(c);
    _cleanup_(freep) char *names = certificate_names(c);

    if (!line[0] || !names[0])
        abort();
    (void)certificate_covers(c, "api.example.org"); /* yes or no */
    if (c->not_before <= c->not_after && certificate_check_dates(c, c->not_before, NULL) < 0)
        abort();
}

static void read_bundle(const char *pem, size_t len) {
    struct certificates all = {0}, again = {0};
    struct text_list none = {0};

    if (certificates_parse(pem, len, &all, NULL) < 0)
        return;
    for (size_t i = 0; i < all.count; i++)
        look(&all.items[i]);
    if (!all.count || certificates_find_pin(&all, &none) != -1)
        abort();
    _cleanup_(freep) char *plain = certificates_plain(pem, len);
    if (certificates_parse(plain, strlen(plain), &again, NULL) < 0 || again.count != all.count ||
        strcmp(again.items[0].pin, all.items[0].pin) != 0)
        abort();
    certificates_free(&all);
    certificates_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *body = base64_encode(data, size);
    _cleanup_(freep) char *wrapped =
        xasprintf("-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n", body);

    read_bundle((const char *)data, size);
    read_bundle(wrapped, strlen(wrapped));
    return 0;
}
