/* Finds what looks like a bootstrap token: a mistyped call may hold one anywhere. */
#include "base/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { ID_LENGTH = 6, SECRET_LENGTH = 16 };

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '.' || c == '-';
}

static size_t run_of(const char *text) {
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
}

/* Does an id end before `dot`? A dash before it may be that of a flag. */
static bool has_id(const char *text, const char *dot) {
    const char *id = dot - ID_LENGTH;

    return dot - text >= ID_LENGTH && run_of(id) == ID_LENGTH &&
           (id == text || id[-1] == '-' || !is_word(id[-1]));
}

void redact_tokens(char *text) {
    for (char *dot = text; (dot = strchr(dot, '.')); dot++)
        if (has_id(text, dot) && run_of(dot + 1) == SECRET_LENGTH &&
            !is_word(dot[SECRET_LENGTH + 1]))
            memset(dot + 1, '*', SECRET_LENGTH);
}
