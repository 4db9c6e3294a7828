/* Builds one command line from arguments and splits it again by CommandLineToArgvW's rules, and
 * selects the environment variables of child programs. */
#include "host/command_line.h"

#include "base/redact.h"
#include "base/text.h"
#include "host/http.h"

char *command_line_make(const char *const *words) {
    struct text line = {0};
    for (const char *const *word = words; word && *word; word++) {
        if (word > words)
            text_add_char(&line, ' ');
        if (**word && !strpbrk(*word, " \t\n\v\""))
            text_add(&line, *word);
        else {
            size_t backslashes = 0;

            /* Backslashes are literal, except before a quote: there each backslash and the quote
             * itself must be escaped. */
            text_add_char(&line, '"');
            for (const char *p = *word; *p; p++) {
                if (*p == '"')
                    for (size_t i = 0; i <= backslashes; i++)
                        text_add_char(&line, '\\');
                backslashes = *p == '\\' ? backslashes + 1 : 0;
                text_add_char(&line, *p);
            }
            for (size_t i = 0; i < backslashes; i++)
                text_add_char(&line, '\\');
            text_add_char(&line, '"');
        }
    }
    return text_take(&line);
}

void command_line_words(const char *line, struct text_list *ret) {
    const char *p = line + strspn(line, " \t");

    while (*p) {
        struct text word = {0};
        bool quoted = false;

        /* Before a quote, two backslashes mean one. An odd backslash makes the quote an ordinary
         * character. */
        for (; *p && (quoted || (*p != ' ' && *p != '\t')); p++) {
            size_t backslashes = strspn(p, "\\");

            if (p[backslashes] != '"') {
                text_add_char(&word, *p);
                continue;
            }
            for (size_t i = 0; i < backslashes / 2; i++)
                text_add_char(&word, '\\');
            p += backslashes;
            if (backslashes % 2)
                text_add_char(&word, '"');
            else
                quoted = !quoted;
        }
        p += strspn(p, " \t");
        text_list_add(ret, text_str(&word));
        text_free(&word);
    }
}

/* ---- environment variables of child programs ---- */

#define OURS "winjoin_"

static bool begins_ours(const char *name) {
    return redact_ends_in(name, strnlen(name, strlen(OURS)), OURS);
}

bool child_variable_is_ours(const char *name) {
    return begins_ours(name) && redact_is_secret_name(name, strlen(name));
}

char *child_variable(const char *item, bool talks) {
    size_t name_len = strcspn(item, "=");
    bool proxy =
        redact_ends_in(item, name_len, "_proxy") && !redact_ends_in(item, name_len, "no_proxy");
    _cleanup_(freep) char *shown = NULL;

    if (begins_ours(item))
        return NULL;
    if (talks || !proxy || !item[name_len])
        return xstrdup(item);
    shown = http_shown_proxy(item + name_len + 1);
    return xasprintf("%.*s=%s", (int)name_len, item, shown);
}
