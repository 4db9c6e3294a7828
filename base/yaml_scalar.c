/* What a plain scalar means to Kubernetes. */
#include <math.h>
#include <stdint.h>

#include "base/yaml.h"

/* 1 for true, 0 for false, by go-yaml's words; -1: the text is no boolean. */
static int boolean_of(const char *text) {
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "YES",
                                      "on",   "On",   "ON",   "y",   "Y"};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "NO",
                                     "off",   "Off",   "OFF",   "n",  "N"};

    for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
        if (text_equal(text, yes[i]))
            return 1;
        if (text_equal(text, no[i]))
            return 0;
    }
    return -1;
}

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

/* Go's ParseInt with base 0: 0x, 0o, 0b, and a leading 0 for octal. */
static int base_of(const char **digits) {
    static const struct {
        const char *prefix;
        int base;
    } bases[] = {{"0x", 16}, {"0X", 16}, {"0o", 8}, {"0O", 8}, {"0b", 2}, {"0B", 2}};

    for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
        if (text_starts_with(*digits, bases[i].prefix)) {
            *digits += 2;
            return bases[i].base;
        }
    }
    return **digits == '0' && (*digits)[1] ? 8 : 10;
}

static json_t *integer_of(const char *text) {
    bool negative = *text == '-';
    const char *digits = text + (negative || *text == '+');
    unsigned long long value = 0, limit = negative ? (unsigned long long)INT64_MAX + 1 : UINT64_MAX;
    int base = base_of(&digits);

    if (!*digits)
        return NULL;
    for (; *digits; digits++) {
        static const char all[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = strchr(all, *digits);
        unsigned digit = found ? (unsigned)(found - all) % 16 : 16;

        if (digit >= (unsigned)base || value > (limit - digit) / (unsigned)base)
            return NULL;
        value = value * (unsigned)base + digit;
    }
    if (!negative && value > INT64_MAX)
        return json_real((double)value);
    return json_integer(negative ? (json_int_t)(0 - value) : (json_int_t)value);
}

/* go-yaml takes "1_000" for a number, yet not ".5_". */
static json_t *number_of(const char *text) {
    _cleanup_(freep) char *plain = xstrdup(text);
    char *to = plain;
    json_t *number;

    for (const char *p = strchr(text, '_'); *text == '.' && p; p = strchr(p + 1, '_'))
        if (p[-1] < '0' || p[-1] > '9' || p[1] < '0' || p[1] > '9')
            return NULL;
    for (const char *from = text; *from; from++)
        if (*from != '_')
            *to++ = *from;
    *to = '\0';
    number = integer_of(plain);
    return !number && is_float(plain) && isfinite(strtod(plain, NULL))
               ? json_real(strtod(plain, NULL))
               : number;
}

json_t *yaml_plain_value(const char *text) {
    int boolean;

    if (!strchr("~nNtTfFyYoO+-.0123456789", *text)) /* what anything but a string begins with */
        return NULL;
    boolean = boolean_of(text);
    if (!*text || text_equal(text, "~") || text_equal(text, "null") || text_equal(text, "Null") ||
        text_equal(text, "NULL"))
        return json_null();
    if (boolean >= 0)
        return json_boolean(boolean);
    if (!strchr("+-.0123456789", *text))
        return NULL;
    return number_of(text);
}
