/* Media types: the type, and whether its parameters are well-formed. */
#include "kube/media_type.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define BLANKS " \t\r\n\v\f"
/* RFC 2045 section 5.1: all but blanks, control characters and these. */
#define SPECIALS "()<>@,;:\\\"/[]?="

static size_t token_length(const char *text) {
    size_t len = 0;

    while (text[len] > ' ' && text[len] < 0x7f && !strchr(SPECIALS, text[len]))
        len++;
    return len;
}

/* What follows the quoted text; NULL when it does not end. */
static const char *skip_quoted(const char *text) {
    for (text++; *text && *text != '"'; text++) {
        if (*text == '\\' && text[1])
            text++;
        if (*text == '\r' || *text == '\n')
            return NULL;
    }
    return *text ? text + 1 : NULL;
}

/* What follows one "; name=value"; NULL when it is none. Its name is added to the list. */
static const char *skip_parameter(const char *text, struct text_list *names) {
    size_t len;

    text += 1 + strspn(text + 1, BLANKS);
    len = token_length(text);
    if (!len)
        return NULL;
    text_list_add_owned(names, xstrndup(text, len));
    text += len + strspn(text + len, BLANKS);
    if (*text != '=')
        return NULL;
    text += 1 + strspn(text + 1, BLANKS);
    if (*text == '"')
        return skip_quoted(text);
    len = token_length(text);
    return len ? text + len : NULL;
}

static bool has_double(const struct text_list *names) {
    for (size_t i = 0; i < names->count; i++)
        for (size_t k = 0; k < i; k++)
            if (text_equal_nocase(names->items[i], names->items[k]))
                return true;
    return false;
}

static bool parameters_are_good(const char *text) {
    enum { PARAMETERS_MAX = 32 };
    struct text_list names = {0};
    bool good;

    for (text += strspn(text, BLANKS); text && *text; text += text ? strspn(text, BLANKS) : 0) {
        if (*text != ';' || names.count >= PARAMETERS_MAX)
            text = NULL;
        else if (!text[1 + strspn(text + 1, BLANKS)]) /* one semicolon too many is none */
            break;
        else
            text = skip_parameter(text, &names);
        if (!text)
            break;
    }
    good = text && !has_double(&names);
    text_list_free(&names);
    return good;
}

bool media_type_is(const char *text, const char *type) {
    const char *begin = text ? text + strspn(text, BLANKS) : "";
    size_t len = strcspn(begin, ";");
    size_t end = len;
    _cleanup_(freep) char *base = NULL;

    while (end && strchr(BLANKS, begin[end - 1]))
        end--;
    base = xstrndup(begin, end);
    return text_equal_nocase(base, type) && parameters_are_good(begin + len);
}
