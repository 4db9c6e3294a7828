/* Reads a node's name and the path of a discovery file as kubeadm does, from flags and files. */
#include <ctype.h>

#include "join/configuration/join_configuration.h"
#include "kube/object.h"

/* Reads a node's name as kubeadm's GetHostname does: without surrounding blanks and in lower case,
 * from a file or a flag. */
char *join_node_name_read(const char *name) {
    size_t start = strspn(name, " \t\r\n\v\f"), len = strlen(name + start);
    _cleanup_(freep) char *trimmed = NULL;

    while (len && strchr(" \t\r\n\v\f", name[start + len - 1]))
        len--;
    trimmed = xstrndup(name + start, len);
    return text_lower(trimmed);
}

char *join_node_name_near(const char *name) {
    _cleanup_(freep) char *right = join_node_name_read(name);
    size_t characters = 0;
    char *end = right;

    for (const char *p = right; *p; p++) {
        /* Counts characters of UTF-8 text: all bytes but those that continue a character. */
        characters += ((unsigned char)*p & 0xc0) != 0x80;
        bool usual = isalnum((unsigned char)*p) && !((unsigned char)*p & 0x80);
        bool after_usual = end > right && isalnum((unsigned char)end[-1]);

        /* A letter or digit is kept. Other characters between two of them become one '-' or '.'. */
        if (usual || after_usual)
            *end++ = usual || *p == '.' ? *p : '-';
    }
    while (end > right && !isalnum((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return kube_name_is_valid(right) && 2 * strlen(right) >= characters ? xstrdup(right) : NULL;
}

/* Reads a file URL (RFC 8089) as Windows does: its host is the server of a share, unless it is
 * localhost or a drive. */
char *join_discovery_file_path(const char *given) {
    _cleanup_(freep) char *lower = text_lower(given);
    size_t skip = strlen("file:");
    char *path, *out;

    if (text_starts_with(lower, "https:"))
        return xasprintf("https:%s", given + strlen("https:"));
    if (!text_starts_with(lower, "file:/"))
        return xstrdup(given);
    if (text_starts_with(lower, "file:///"))
        skip += strlen("//");
    else if (text_starts_with(lower, "file://localhost/"))
        skip += strlen("//localhost");
    /* Skips the slash before the drive in "/C:/x". */
    skip += isalpha((unsigned char)lower[skip + 1]) && lower[skip + 2] == ':' ? 1 : 0;
    if (text_starts_with(lower + skip, "//") && isalpha((unsigned char)lower[skip + 2]) &&
        lower[skip + 3] == ':')
        /* Skips both slashes before the drive in "//C:/x". */
        skip += strlen("//");

    /* Decodes "%41" to "A", in place. "%00" stays as it is. */
    out = path = xstrndup(given + skip, strcspn(given + skip, "?#"));
    for (const char *p = path; *p; p++) {
        bool escaped = *p == '%' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2]);
        char hex[] = {escaped ? p[1] : '0', escaped ? p[2] : '0', '\0'};
        char c = (char)strtol(hex, NULL, 16);

        *out++ = c ? c : *p;
        p += c ? 2 : 0;
    }
    *out = '\0';
    return path;
}
