/* How options are shown in a help: wrapped at 80 columns, with their values. */
#include "cmd/options.h"

enum { LINE_MAX_COLUMNS = 80 };

void options_wrap(struct text *out, const char *text, size_t indent, size_t column) {
    while (*text) {
        size_t len = strcspn(text, " ");

        if (column + 1 + len > LINE_MAX_COLUMNS && column > indent) {
            text_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            text_add_char(out, ' ');
            column++;
        }
        text_add_bytes(out, text, len);
        column += len;
        text += len + strspn(text + len, " ");
    }
    text_add_char(out, '\n');
}

/* Many choices stand behind the help, where they can be wrapped. */
static char *help_of(const struct option *o, const char *long_choices) {
    struct text t = {0};

    text_add(&t, o->help);
    if (long_choices) {
        text_add(&t, ": ");
        for (const char *c = long_choices; *c; c++)
            text_add(&t, *c == '|' ? ", " : (char[]){*c, '\0'});
    }
    return text_take(&t);
}

void options_help(const struct option *table, struct text *out) {
    enum { HELP_COLUMN = 30, ARGUMENT_MAX = 26 };

    for (const struct option *o = table; o->name; o++) {
        _cleanup_(freep) char *argument = option_argument(o);
        bool long_choices = o->type == OPTION_CHOICE && strlen(argument) > ARGUMENT_MAX;
        _cleanup_(freep) char *help = help_of(o, long_choices ? argument : NULL);
        size_t start = out->len, width;

        if (!option_is_offered(o))
            continue;
        if (o->letter)
            text_addf(out, "  -%c, --%s", o->letter, o->name);
        else
            text_addf(out, "      --%s", o->name);
        if (o->type != OPTION_BOOL)
            text_addf(out, " %s", long_choices ? "CHOICE" : argument);
        width = out->len - start;
        if (width + 2 > HELP_COLUMN)
            text_addf(out, "\n%*s", HELP_COLUMN, "");
        else
            text_addf(out, "%*s", (int)(HELP_COLUMN - width), "");
        options_wrap(out, help, HELP_COLUMN, HELP_COLUMN);
    }
}
