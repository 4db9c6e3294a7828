/* A server's chain, the CA bundle and a key, with a line "==" between them, and behind the next one
 * the server's name: what is trusted, for whom, until when. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pki/certificate.h"

enum { CHAIN, CA, KEY, NAME, PARTS };

/* The dates do not count, so that the seeds stay good. */
static void judge(char *const part[PARTS]) {
    struct certificates none = {0};
    struct error err = {0};

    if (certificate_check_chain(part[CHAIN], part[CA], true, -1, &err) == 0) {
        if (certificates_parse(part[CHAIN], strlen(part[CHAIN]), &none, NULL) < 0 || !none.count)
            abort(); /* trusted, but unreadable */
    } else if (err.kind == ERROR_NONE || !err.message[0]) {
        abort();
    }
    certificates_free(&none);
    (void)certificate_check_chain(part[CHAIN], part[CA], false, 1800000000, NULL);
    if (certificate_check_key(part[CHAIN], part[KEY], NULL) == 0 && key_check(part[KEY], NULL) < 0)
        abort();
}

static void look(const char *pem, const char *name) {
    _cleanup_(freep) char *plain = certificates_plain(pem, strlen(pem), NULL, NULL);
    struct certificates all = {0};

    (void)certificate_covers(pem, name); /* yes or no */
    if (certificates_parse(pem, strlen(pem), &all, NULL) < 0) {
        if (plain)
            abort(); /* trusted, but unreadable */
        return;
    }
    for (size_t i = 0; i < all.count; i++) {
        const struct certificate *c = &all.items[i];
        _cleanup_(freep) char *line = certificate_describe(c), *names = certificate_names(c);
        char *pins_items[] = {all.items[i].pin, NULL};
        const struct text_list pins = {.items = pins_items, .count = 1};

        if (certificates_find_pin(&all, &pins) < 0 || !line[0] || !names[0])
            abort();
        if (certificate_check_dates(c, c->not_before, NULL) < 0 && c->not_before <= c->not_after)
            abort();
    }
    certificates_free(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char separator[] = "\n==\n";
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    char *part[PARTS], *rest = text;

    for (int i = 0; i < PARTS; i++) {
        char *end = strstr(rest, separator);

        part[i] = rest;
        rest = end ? end + strlen(separator) : rest + strlen(rest);
        if (end)
            *end = '\0';
    }
    judge(part);
    look(part[CHAIN], part[NAME]);
    return 0;
}
