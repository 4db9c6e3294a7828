/* Parses image references by the grammar of distribution/reference (reference.go). */
#include <ctype.h>

#include "services/artifacts/image.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"
#define WORD LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
enum { REFERENCE_MAX = 255, TAG_MAX = 128 };

/* Is this the registry part, as "registry.local:5000", "[fd00::1]:5000" or "localhost"? */
static bool is_registry(const char *text, size_t len) {
    size_t host = text[0] == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":/");
    const char *letters = text[0] == '[' ? "0123456789abcdefABCDEF:[]" : WORD ".-";

    return host <= len && strspn(text, letters) >= host &&
           isalnum((unsigned char)text[*text == '[']) &&
           (host == len || (text[host] == ':' && host + 1 < len &&
                            strspn(text + host + 1, "0123456789") == len - host - 1));
}

/* Is this a repository name, as "team/windows-pause"? Each part begins and ends with a lower-case
 * letter or a digit. */
static bool is_repository(const char *text, size_t len) {
    for (size_t at = 0, part; at <= len; at += part + 1) {
        part = strcspn(text + at, "/");
        if (at + part > len)
            part = len - at;
        if (!part || strspn(text + at, LOWER "._-") < part || !isalnum((unsigned char)text[at]) ||
            !isalnum((unsigned char)text[at + part - 1]))
            return false;
    }
    return true;
}

bool image_is_reference(const char *text) {
    size_t len = strcspn(text, "@"), first = strcspn(text, "/@"), name = len, tag;

    if (strlen(text) > REFERENCE_MAX)
        return false;
    if (text[len]) { /* Checks a digest, as "@sha256:...". */
        const char *digest = text + len + 1;
        size_t kind = strcspn(digest, ":");
        size_t digits = digest[kind] ? strspn(digest + kind + 1, "0123456789abcdef") : 0;

        if (!kind || strspn(digest, LOWER "+._-") != kind || digits < 32 ||
            digest[kind + 1 + digits])
            return false;
    }
    while (name && text[name - 1] != ':' && text[name - 1] != '/')
        name--;
    if (name && text[name - 1] == ':') {
        tag = strspn(text + name, WORD ".-");
        if (name + tag != len || !tag || tag > TAG_MAX || strchr(".-", text[name]))
            return false;
        len = name - 1;
    }
    if (first >= len || (!memchr(text, '.', first) && !memchr(text, ':', first) &&
                         strncmp(text, "localhost/", strlen("localhost/")) != 0))
        return is_repository(text, len);
    return is_registry(text, first) && is_repository(text + first + 1, len - first - 1);
}
