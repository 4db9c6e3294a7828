/* What a person types or pastes behind `winjoin join`, an argument a line; and any arguments
 * written as one Windows command line, which must come apart into the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cmd/program.h"
#include "join/configuration/node_labels.h"
#include "services/service_table.h"

static void parse_join(const struct text_list *given) {
    const struct option *tables[VERB_TABLES_MAX];
    struct program_options options = {0};
    struct option_set set = {.tables = tables, .target = &options};
    struct text_list expanded = {0}, words = {0}, names = {0};
    struct error err = {0};

    verb_tables(verb_find("join"), tables);
    set.given = xcalloc(options_count(&set), sizeof *set.given);
    join_expand_pasted((int)given->count, given->items, &expanded);
    if (options_parse(&set, (int)expanded.count, expanded.items, &words, &err) < 0) {
        if (err.kind != ERROR_USAGE || !err.message[0])
            abort();
    } else {
        options_given(&set, &names);
        join_drop_blank_words(&words);
        (void)join_options_check(&options.join, NULL); /* whatever it says */
        (void)node_labels_check(options.join.node_labels, NULL);
    }
    free(set.given);
    options_free(&set);
    text_list_free(&expanded);
    text_list_free(&words);
    text_list_free(&names);
    log_forget_secrets();
}

/* CommandLineToArgvW's rules behind the program's name. */
static const char *next_argument(const char *p, struct text *out) {
    bool quoted = false;

    for (; *p && (quoted || (*p != ' ' && *p != '\t')); p++) {
        size_t backslashes = strspn(p, "\\");

        if (p[backslashes] == '"') {
            for (size_t i = 0; i < backslashes / 2; i++)
                text_add_char(out, '\\');
            p += backslashes;
            if (backslashes % 2)
                text_add_char(out, '"');
            else
                quoted = !quoted;
        } else {
            text_add_char(out, *p);
        }
    }
    return p + strspn(p, " \t");
}

static void quote(const struct text_list *arguments) {
    _cleanup_(freep) char *line = service_command_line(arguments);
    const char *p = line;

    for (size_t i = 0; i < arguments->count; i++) {
        struct text one = {0};

        p = next_argument(p, &one);
        if (!text_equal(text_str(&one), arguments->items[i]))
            abort();
        text_free(&one);
    }
    if (*p)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    _cleanup_(freep) char *text = xstrndup((const char *)data, size);
    struct text_list arguments = {0};

    for (const char *p = text;; p++) {
        size_t len = strcspn(p, "\n");

        text_list_add_owned(&arguments, xstrndup(p, len));
        p += len;
        if (!*p)
            break;
    }
    parse_join(&arguments);
    quote(&arguments);
    text_list_free(&arguments);
    return 0;
}
