/* How kubeadm reads a node's name and the path of a discovery file, whoever gave them. */
#include <ctype.h>

#include "join/configuration/join_configuration.h"
#include "kube/object.h"

/* kubeadm: GetHostname trims and lower-cases what the file or the flag says, too. */
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
        characters += ((unsigned char)*p & 0xc0) != 0x80; /* behind a character's first byte */
        bool usual = isalnum((unsigned char)*p) && !((unsigned char)*p & 0x80);
        bool after_usual = end > right && isalnum((unsigned char)end[-1]);

        if (usual || after_usual) /* one sign between two of them */
            *end++ = usual || *p == '.' ? *p : '-';
    }
    while (end > right && !isalnum((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return kube_name_is_valid(right) && 2 * strlen(right) >= characters ? xstrdup(right) : NULL;
}

/* RFC 8089, as Windows reads it: a host is the server of a share, unless it is this machine or a
 * drive. */
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
    skip += isalpha((unsigned char)lower[skip + 1]) && lower[skip + 2] == ':' ? 1 /* "/C:/x" */
                                                                              : 0;
    if (text_starts_with(lower + skip, "//") && isalpha((unsigned char)lower[skip + 2]) &&
        lower[skip + 3] == ':')
        skip += strlen("//"); /* "//C:/x" */

    /* "%41" to "A", in place; a NUL stays as it is */
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
