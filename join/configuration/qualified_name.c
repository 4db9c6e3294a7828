/* Names of labels and taints, read from the left. */
#include "join/configuration/qualified_name.h"

#include "kube/object.h"

enum { NAME_MAX_LENGTH = 63 };

static bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_name(const char *text, size_t len) {
    if (!len || len > NAME_MAX_LENGTH || !is_letter_or_digit(text[0]) ||
        !is_letter_or_digit(text[len - 1]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_letter_or_digit(text[i]) && text[i] != '-' && text[i] != '_' && text[i] != '.')
            return false;
    return true;
}

bool is_qualified_name(const char *text, size_t len) {
    const char *slash = memchr(text, '/', len);
    _cleanup_(freep) char *domain = slash ? xstrndup(text, (size_t)(slash - text)) : NULL;

    if (!slash)
        return is_name(text, len);
    return kube_name_is_valid(domain) && is_name(slash + 1, len - (size_t)(slash - text) - 1);
}

bool is_label_value(const char *text, size_t len) {
    return !len || is_name(text, len);
}
