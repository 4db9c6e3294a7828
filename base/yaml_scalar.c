/* Decides, as Kubernetes does, whether a plain YAML scalar is a boolean, number, null or string. */
#include <math.h>
#include <stdint.h>

#include "base/yaml.h"

static bool is_float(const char *text) {
    const char *p = text + (*text == '-' || *text == '+');
    size_t whole = strspn(p, "0123456789"), part = 0;

    p += whole;
    if (*p == '.') {
        part = strspn(p + 1, "0123456789");
        p += 1 + part;
    }
    if (whole + part == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '-' || p[1] == '+');
        if (!strspn(p, "0123456789"))
            return false;
        p += strspn(p, "0123456789");
    }
    return *p == '\0';
}

/* Reads an integer as Go's ParseInt with base 0: 0x, 0o, 0b, and a leading 0 for octal. NULL when
 * the text is not one. */
static json_t *integer_of(const char *text) {
    static const struct {
        const char *prefix;
        unsigned base;
    } bases[] = {{"0x", 16}, {"0X", 16}, {"0o", 8}, {"0O", 8}, {"0b", 2}, {"0B", 2}};
    bool negative = *text == '-';
    const char *digits = text + (negative || *text == '+');
    unsigned long long value = 0, limit = negative ? (unsigned long long)INT64_MAX + 1 : UINT64_MAX;
    unsigned base = *digits == '0' && digits[1] ? 8 : 10;

    for (size_t i = 0; i < ARRAY_SIZE(bases); i++)
        if (text_starts_with(digits, bases[i].prefix)) {
            base = bases[i].base;
            digits += 2;
            break;
        }
    if (!*digits)
        return NULL;
    for (; *digits; digits++) {
        static const char all[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = strchr(all, *digits);
        unsigned digit = found ? (unsigned)(found - all) % 16 : 16;

        if (digit >= base || value > (limit - digit) / base)
            return NULL;
        value = value * base + digit;
    }
    if (!negative && value > INT64_MAX)
        return json_real((double)value);
    return json_integer(negative ? (json_int_t)(0 - value) : (json_int_t)value);
}

json_t *yaml_plain_value(const char *text) {
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES",
                                      "on",   "On",   "ON",   "y",   "Y"};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO",
                                     "off",   "Off",   "OFF",   "n",  "N"};
    static const char *const nothing[] = {"", "~", "null", "Null", "NULL"};
    _cleanup_(freep) char *plain = NULL;
    json_t *number;
    char *to;

    if (!strchr("~nNtTfFyYoO+-.0123456789", *text)) /* Only texts that begin with one of these
                                                       characters can be anything but a string. */
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(nothing); i++)
        if (text_equal(text, nothing[i]))
            return json_null();
    for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
        if (text_equal(text, yes[i]) || text_equal(text, no[i])) /* go-yaml knows these words. */
            return json_boolean(text_equal(text, yes[i]));
    if (!strchr("+-.0123456789", *text))
        return NULL;

    /* go-yaml accepts "1_000" as a number but not ".5_". */
    for (const char *p = strchr(text, '_'); *text == '.' && p; p = strchr(p + 1, '_'))
        if (p[-1] < '0' || p[-1] > '9' || p[1] < '0' || p[1] > '9')
            return NULL;
    plain = to = xstrdup(text);
    for (const char *from = text; *from; from++)
        if (*from != '_')
            *to++ = *from;
    *to = '\0';
    number = integer_of(plain);
    return !number && is_float(plain) && isfinite(strtod(plain, NULL))
               ? json_real(strtod(plain, NULL))
               : number;
}
