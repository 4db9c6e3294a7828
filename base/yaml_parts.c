/* Parts a text into its documents, as Kubernetes' programs do before any YAML is read. */
#include <string.h>

#include "base/memory.h"
#include "base/yaml.h"

/* Only blanks or a comment may stand behind "---". */
static int check_separator(const char *line, size_t len, size_t number, const char *what,
                           struct error *err) {
    size_t at = 3;

    while (at < len && line[at] && strchr(" \t\r\n", line[at]))
        at++;
    if (at == len || line[at] == '#')
        return 0;
    return error_set(err, ERROR_MALFORMED,
                     "%s: line %zu column %zu: only a comment may follow \"---\"", what, number,
                     at + 1);
}

int yaml_parts_next(struct yaml_parts *parts, const char *what, struct yaml_part *ret,
                    struct error *err) {
    struct yaml_part part = {.text = parts->at, .line = parts->line};
    bool ended = false;

    if (parts->at >= parts->end)
        return 0;
    while (parts->at < parts->end && !ended) {
        const char *line = parts->at;
        const char *newline = memchr(line, '\n', (size_t)(parts->end - line));
        size_t len = (size_t)((newline ? newline + 1 : parts->end) - line);
        bool separates = len >= 3 && memcmp(line, "---", 3) == 0;

        if (separates && check_separator(line, len, parts->line, what, err) < 0)
            return -1;
        ended = separates && line > part.text;
        if (!ended)
            part.len += len;
        parts->at += len;
        parts->line++;
    }
    *ret = part;
    return 1;
}

char *yaml_part_text(const struct yaml_part *part, size_t *ret_len) {
    size_t before = part->line - 1;
    char *text = xmalloc(before + part->len + 1);

    memset(text, '\n', before);
    memcpy(text + before, part->text, part->len);
    text[before + part->len] = '\0';
    *ret_len = before + part->len;
    return text;
}
