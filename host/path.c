/* Normalizes and splits Windows paths as text. Every host implementation receives only paths that
 * passed these checks. */
#include "host/path.h"

#include "host/http.h"

#include <ctype.h>

#include "base/text.h"

enum { PATH_LENGTH_MAX = 4096 };

static bool is_separator(char c) {
    return c == '\\' || c == '/';
}

/* Returns the length of a prefix \\?\ or \\.\, which names a device; 0 when there is none. */
static size_t device_length(const char *path) {
    return is_separator(path[0]) && is_separator(path[1]) && (path[2] == '?' || path[2] == '.') &&
                   is_separator(path[3])
               ? 4
               : 0;
}

/* Returns the length of the root: 3 for "C:\", 2 for "\\server\share", 0 for a relative path. */
static size_t root_length(const char *path) {
    if (isalpha((unsigned char)path[0]) && path[1] == ':' && is_separator(path[2]))
        return 3;
    /* In a path such as \\.\x, "." names a device and not a server. */
    if (is_separator(path[0]) && is_separator(path[1]) && path[2] && !is_separator(path[2]))
        return path[2] == '.' && (!path[3] || is_separator(path[3])) ? 0 : 2;
    return 0;
}

int path_normalize(const char *path, char **ret, struct error *err) {
    _cleanup_(text_free) struct text out = {0};
    _cleanup_(freep) char *shown = NULL;
    size_t root = root_length(path);

    if (device_length(path))
        return error_set(err, ERROR_USAGE, "path '%s': it names a device, not a file", path);
    if (strlen(path) > PATH_LENGTH_MAX)
        return error_set(err, ERROR_USAGE, "path '%.80s...': it is longer than %d bytes", path,
                         PATH_LENGTH_MAX);
    if (!root && strstr(path, "://")) {
        shown = http_shown_url(path);
        (void)error_set(err, ERROR_USAGE,
                        "'%s' is a URL, not a file of this machine: it is not fetched", shown);
        return text_starts_with(path, "file:")
                   ? error_hint(err, "write it as a path, like C:\\folder\\file")
                   : error_hint(err, "download it, look at it, and give the file: "
                                     "Invoke-WebRequest -UseBasicParsing -Uri URL -OutFile FILE");
    }
    if (!root)
        return error_set(err, ERROR_USAGE, "path '%s': not an absolute path", path);
    if (root == 3)
        text_addf(&out, "%c:\\", toupper((unsigned char)path[0]));
    else
        text_add(&out, "\\\\");
    for (const char *name = path + root; *name;) {
        size_t len = strcspn(name, "\\/");
        const char *bad = NULL;

        for (size_t i = 0; i < len && !bad; i++)
            if ((unsigned char)name[i] < 0x20 || strchr("<>:\"|?*", name[i]))
                bad = name + i;
        if (len == 2 && memcmp(name, "..", 2) == 0)
            return error_set(err, ERROR_USAGE, "path '%s': '..' is not allowed in it", path);
        if (bad) {
            (void)error_set(err, ERROR_USAGE, "path '%s': a file name cannot contain '%c'", path,
                            *bad);
            if (*bad == '"')
                return error_hint(err,
                                  "a backslash before a closing quote escapes the quote: write "
                                  "\"C:\\folder\" without the last backslash");
            return -1;
        }
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

char *path_plain(const char *path) {
    const char *rest = path + device_length(path);
    _cleanup_(freep) char *head = xstrndup(rest, 3), *whole = NULL;
    size_t root, depth = 0;
    char *begin, *out;

    /* Remove the device prefix when a drive or a server follows, as in "\\?\UNC\server\share"; else
     * keep the path. */
    if (rest > path && text_equal_nocase(head, "UNC") && is_separator(rest[3]) && rest[4] &&
        !is_separator(rest[4]))
        whole = xasprintf("\\\\%s", rest + strlen("UNC\\"));
    if (!whole || device_length(whole))
        text_set(&whole, xstrdup(root_length(rest) == 3 ? rest : path));
    root = device_length(whole) ? 0 : root_length(whole);
    begin = out = whole + root;

    for (const char *name = out; root && *name;) {
        size_t len = strcspn(name, "\\/"), whole_len = len + (name[len] ? 1 : 0);

        bool up = len == 2 && memcmp(name, "..", 2) == 0;

        if (!up || (root == 2 && depth < 2)) {
            depth += len > 0;
            memmove(out, name, whole_len);
            out += whole_len;
        } else if (depth > (root == 2 ? 2 : 0)) { /* A server with its share counts as the root. */
            depth--;
            while (out > begin && is_separator(out[-1]))
                out--;
            while (out > begin && !is_separator(out[-1]))
                out--;
        }
        name += whole_len;
    }
    if (root)
        *out = '\0';
    return take_ptr(whole);
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
