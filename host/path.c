/* Windows paths as text. What is refused here reaches no implementation, so none has to guess. */
#include "host/path.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { PATH_LENGTH_MAX = 4096 };

static bool is_separator(char c) {
    return c == '\\' || c == '/';
}

static bool name_is_allowed(const char *name, size_t len) {
    if (len == 2 && memcmp(name, "..", 2) == 0)
        return false;
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)name[i] < 0x20 || strchr("<>:\"|?*", name[i]))
            return false;
    }
    return true;
}

/* How long the root is: "C:\" 3, "\\server\share" whole, 0 = relative. */
static size_t root_length(const char *path) {
    if (isalpha((unsigned char)path[0]) && path[1] == ':' && is_separator(path[2]))
        return 3;
    if (is_separator(path[0]) && is_separator(path[1]) && path[2] && !is_separator(path[2]))
        return path[2] == '.' && (!path[3] || is_separator(path[3])) ? 0 : 2; /* device: \\.\x */
    return 0;
}

int path_normalize(const char *path, char **ret, struct error *err) {
    _cleanup_(text_free) struct text out = {0};
    size_t root = root_length(path);

    if (!root || strlen(path) > PATH_LENGTH_MAX)
        return error_set(err, ERROR_USAGE, "use path '%s': it is no absolute path", path);
    if (root == 3)
        text_addf(&out, "%c:\\", toupper((unsigned char)path[0]));
    else
        text_add(&out, "\\\\");
    for (const char *name = path + root; *name;) {
        size_t len = strcspn(name, "\\/");

        if (!name_is_allowed(name, len))
            return error_set(err, ERROR_USAGE, "use path '%s': a name in it is not allowed", path);
        if (len && !(len == 1 && name[0] == '.')) {
            if (out.len > root)
                text_add_char(&out, '\\');
            text_add_bytes(&out, name, len);
        }
        name += len + (name[len] ? 1 : 0);
    }
    *ret = text_take(&out);
    return 0;
}

char *path_parent(const char *path) {
    const char *base = path_base(path);

    if (*base == '\0' || base - path < 3)
        return NULL;
    return xstrndup(path, (size_t)(base - path) - (base - path == 3 ? 0 : 1));
}

const char *path_base(const char *path) {
    const char *base = path;

    for (const char *p = path; *p; p++)
        if (is_separator(*p))
            base = p + 1;
    return base;
}
