/* Reads a node's name and the path of a discovery file as kubeadm does, from flags and files. */
#include <ctype.h>

#include "join/configuration/join_configuration.h"
#include "kube/object.h"

/* As kubeadm's GetHostname, which trims and lower-cases also a name from a file or a flag. */
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
        /* Counts UTF-8 characters: bytes that do not continue one. */
        characters += ((unsigned char)*p & 0xc0) != 0x80;
        bool usual = isalnum((unsigned char)*p) && !((unsigned char)*p & 0x80);
        bool after_usual = end > right && isalnum((unsigned char)end[-1]);

        /* Any run of other characters between letters or digits becomes one sign. */
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
    /* In "/C:/x", the slash is skipped. */
    skip += isalpha((unsigned char)lower[skip + 1]) && lower[skip + 2] == ':' ? 1 : 0;
    if (text_starts_with(lower + skip, "//") && isalpha((unsigned char)lower[skip + 2]) &&
        lower[skip + 3] == ':')
        skip += strlen("//"); /* In "//C:/x", both slashes are skipped. */

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
