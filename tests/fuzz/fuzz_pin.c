/* Pins from a command line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pki/pin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    char pin[PIN_TEXT_MAX], again[PIN_TEXT_MAX];

    if (pin_parse(text, pin, NULL) == 0 &&
        (strlen(pin) != PIN_TEXT_MAX - 1 || pin_parse(pin, again, NULL) < 0 ||
         strcmp(pin, again) != 0))
        abort();
    return 0;
}
