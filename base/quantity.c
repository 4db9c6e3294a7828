/* Kubernetes' quantities, as far as a reader must tell right ones from wrong ones. */
#include "base/quantity.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static const char digits[] = "0123456789";

static const char *number_of(const char *text) {
    return text + (*text == '-' || *text == '+');
}

/* Decimal or binary SI, or an exponent. */
static bool is_suffix(const char *text) {
    static const char *const suffixes[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                           "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
        if (text_equal(text, suffixes[i]))
            return true;
    if (*text != 'e' && *text != 'E')
        return false;
    text = number_of(text + 1);
    return *text && strspn(text, digits) == strlen(text);
}

bool quantity_is(const char *text) {
    const char *number = number_of(text);
    size_t whole = strspn(number, digits), part = 0;

    if (number[whole] == '.')
        part = 1 + strspn(number + whole + 1, digits);
    return whole + part > (part ? 1 : 0) && is_suffix(number + whole + part);
}

bool quantity_is_zero(const char *text) {
    const char *number = number_of(text);

    return !strpbrk(number, "123456789") || strcspn(number, "123456789") > strcspn(number, "eE");
}

bool quantity_is_negative(const char *text) {
    return *text == '-' && !quantity_is_zero(text);
}
