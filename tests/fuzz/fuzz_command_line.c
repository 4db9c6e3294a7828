/* What a person types or pastes behind `winjoin join`, an argument a line; any arguments written as
 * one Windows command line, which must come apart into the same; and any such line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cmd/program.h"
#include "host/command_line.h"
#include "join/configuration/kubelet_arguments.h"

static void parse_join(const struct text_list *given) {
    const struct option *tables[VERB_TABLES_MAX];
    struct program_options options = {0};
    struct option_set set = {.tables = tables, .target = &options};
    struct text_list expanded = {0}, words = {0}, names = {0};
    struct error err = {0};

    verb_tables(verb_find(verbs, "join"), tables);
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

static void quote(const struct text_list *arguments) {
    _cleanup_(freep) char *line = command_line_make((const char *const *)arguments->items);
    struct text_list words = {0};

    command_line_words(line, &words);
    if (words.count != arguments->count)
        abort();
    for (size_t i = 0; i < words.count; i++)
        if (!text_equal(words.items[i], arguments->items[i]))
            abort();
    text_list_free(&words);
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
    command_line_words(text, &arguments); /* as a service of others has it */
    quote(&arguments);
    text_list_free(&arguments);
    return 0;
}
