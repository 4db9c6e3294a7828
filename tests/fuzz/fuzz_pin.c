/* Pins from a command line, one alone and a line each. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pki/digest.h"

static void one(const char *text) {
    char pin[PIN_TEXT_MAX], again[PIN_TEXT_MAX];

    if (pin_parse(text, pin, NULL) == 0 &&
        (strlen(pin) != PIN_TEXT_MAX - 1 || pin_parse(pin, again, NULL) < 0 ||
         strcmp(pin, again) != 0))
        abort();
}

static void many(const char *text) {
    struct text_list texts = {0}, pins = {0}, again = {0};
    struct error err = {0};

    text_list_split(&texts, text, '\n');
    if (pins_parse(&texts, &pins, &err) == 0) {
        if (pins.count > texts.count || pins_parse(&pins, &again, NULL) < 0 ||
            again.count != pins.count)
            abort(); /* what was made has no doubles and is good */
    } else if (err.kind != ERROR_USAGE || pins.count) {
        abort();
    }
    text_list_free(&texts);
    text_list_free(&pins);
    text_list_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    char pin[PIN_TEXT_MAX];

    one(text);
    many(text);
    pin_of_key(data, size, pin);
    one(pin);
    return 0;
}
