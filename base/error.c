/* Implements errors as values: a kind, which decides retry and exit code, and one line of text. */
#include "base/error.h"

#include <stdio.h>

#include "base/redact.h"
#include "base/text.h"

/* For each kind of error: its name in documents, its exit code, and whether a retry may help. */
static const struct {
    const char *name;
    int exit_code;
    bool retryable;
} kinds[] = {
    [ERROR_NONE] = {"none", 0, false},
    [ERROR_USAGE] = {"usage", 3, false},
    [ERROR_PREFLIGHT] = {"preflight", 2, false},
    [ERROR_NETWORK] = {"network", 1, true},
    [ERROR_TIMED_OUT] = {"timeout", 1, true},
    [ERROR_DENIED] = {"denied", 1, false},
    [ERROR_ABSENT] = {"not-found", 1, false},
    [ERROR_CONFLICT] = {"conflict", 1, true},
    [ERROR_UNTRUSTED] = {"untrusted", 4, false},
    [ERROR_MALFORMED] = {"malformed", 1, false},
    [ERROR_HOST] = {"host", 1, false},
    [ERROR_UNSUPPORTED] = {"unsupported", 3, false},
    [ERROR_FLOWS] = {"flows", 5, false},
    [ERROR_RESTART] = {"restart", 6, false},
    [ERROR_INTERRUPTED] = {"interrupted", 130, false},
};

/* Formats the text, adds `end`, and writes the result into `out`. The arguments may point into
 * `out`, because the text is built elsewhere first. */
static void put(char *out, size_t size, const char *end, const char *format, va_list args) {
    _cleanup_(text_free) struct text t = {0}, clean = {0};
    size_t len;

    text_addv(&t, format, args);
    text_add(&t, end);
    text_add_escaped(&clean, text_str(&t), t.len);
    /* Adding "" allocates the string, so that it is not NULL when the text is empty. */
    text_add(&clean, "");
    len = clean.len < size - 1 ? clean.len : size - 1;
    while (len && len < clean.len && ((unsigned char)clean.data[len] & 0xc0) == 0x80)
        len--; /* Cut only between characters, so that no half UTF-8 character remains. */
    redact_tokens(clean.data);
    memcpy(out, text_str(&clean), len);
    out[len] = '\0';
}

static void set(struct error *err, enum error_kind kind, unsigned long os, const char *end,
                const char *format, va_list args) {
    if (!err)
        return;
    put(err->message, sizeof err->message, end, format, args);
    memset(err->hints, 0, sizeof err->hints);
    err->kind = kind;
    err->os = os;
}

int error_set(struct error *err, enum error_kind kind, const char *format, ...) {
    va_list args;

    va_start(args, format);
    set(err, kind, 0, "", format, args);
    va_end(args);
    return -1;
}

int error_set_os(struct error *err, enum error_kind kind, unsigned long os, const char *format,
                 ...) {
    char number[32];
    va_list args;

    snprintf(number, sizeof number, os > 0xffff ? " (0x%08lx)" : " (%lu)", os);
    va_start(args, format);
    set(err, kind, os, number, format, args);
    va_end(args);
    return -1;
}

int error_prefix(struct error *err, const char *format, ...) {
    char rest[ERROR_MESSAGE_MAX + 2];
    va_list args;

    if (!err)
        return -1;
    snprintf(rest, sizeof rest, ": %s", err->message);
    va_start(args, format);
    put(err->message, sizeof err->message, rest, format, args);
    va_end(args);
    return -1;
}

int error_hint(struct error *err, const char *format, ...) {
    va_list args;
    size_t i = 0;

    while (err && i < ERROR_HINTS_MAX && err->hints[i][0])
        i++;
    if (!err || i == ERROR_HINTS_MAX)
        return -1;
    va_start(args, format);
    put(err->hints[i], sizeof err->hints[i], "", format, args);
    va_end(args);
    return -1;
}

int error_as(struct error *err, enum error_kind kind) {
    if (err)
        err->kind = kind;
    return -1;
}

int error_pass(struct error *err, const struct error *why) {
    if (err)
        *err = *why;
    return -1;
}

int error_forgive(struct error *err, enum error_kind kind) {
    if (err->kind != kind)
        return -1;
    error_clear(err);
    return 0;
}

void error_clear(struct error *err) {
    if (err)
        memset(err, 0, sizeof *err);
}

const char *error_kind_name(enum error_kind kind) {
    return (size_t)kind < ARRAY_SIZE(kinds) ? kinds[kind].name : "unknown";
}

int error_exit_code(enum error_kind kind) {
    return (size_t)kind < ARRAY_SIZE(kinds) ? kinds[kind].exit_code : 1;
}

int error_is_retryable(const struct error *err) {
    return (size_t)err->kind < ARRAY_SIZE(kinds) && kinds[err->kind].retryable;
}
