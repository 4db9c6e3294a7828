/* One command line from arguments, so that CommandLineToArgvW gives them back. */
#include <string.h>

#include "services/service_table.h"

/* A backslash is literal but before a quote, where it and the quote are escaped. */
static void add_quoted(struct text *line, const char *argument) {
    size_t backslashes = 0;
    text_add_char(line, '"');
    for (const char *p = argument; *p; p++) {
        if (*p == '"') {
            for (size_t i = 0; i <= backslashes; i++)
                text_add_char(line, '\\');
        }
        backslashes = *p == '\\' ? backslashes + 1 : 0;
        text_add_char(line, *p);
    }
    for (size_t i = 0; i < backslashes; i++)
        text_add_char(line, '\\');
    text_add_char(line, '"');
}

char *service_command_line(const struct text_list *arguments) {
    struct text line = {0};
    for (size_t i = 0; i < arguments->count; i++) {
        const char *argument = arguments->items[i];
        if (i)
            text_add_char(&line, ' ');
        if (*argument && !strpbrk(argument, " \t\""))
            text_add(&line, argument);
        else
            add_quoted(&line, argument);
    }
    return text_take(&line);
}
