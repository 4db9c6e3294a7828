/* winjoin completion prints scripts for shells. A script calls winjoin __complete to learn what
 * words may come next. */
#include "cmd/program.h"
#include "join/phases/phases.h"
#include "join/preflight/preflight.h"
#include "services/service_table.h"
#include "templates/templates.h"

/* ---- candidates for a word ---- */

/* The word to complete and where its candidates go: one line for each, "word<tab>help". */
struct offer {
    const char *word; /* What the user has typed so far. */
    /* Length of the part of `word` that each candidate keeps, such as "--progress=" or
     * "preflight,". */
    size_t kept;
    struct text *out;
};

static void offer(const struct offer *o, const char *candidate, const char *help) {
    const char *typed = o->word + o->kept;

    if (strncmp(candidate, typed, strlen(typed)) != 0)
        return;
    text_addf(o->out, "%.*s%s", (int)o->kept, o->word, candidate);
    if (help && *help)
        text_addf(o->out, "\t%.*s", (int)strcspn(help, "\n"), help);
    text_add_char(o->out, '\n');
}

/* Offers the values that an argument may have; its name ("FILE", "PHASE", "a|b") says which. Lines
 * ":files" and ":folders" tell the shell to complete paths by itself. */
static void offer_argument(const struct offer *o, const char *argument, bool of_flag) {
    if (strchr(argument, '|') || (!of_flag && argument[0] >= 'a' && argument[0] <= 'z')) {
        struct text_list choices = {0};

        text_list_split(&choices, argument, '|');
        for (size_t i = 0; i < choices.count; i++)
            offer(o, choices.items[i], NULL);
        text_list_free(&choices);
    } else if (text_starts_with(argument, "FILE"))
        text_add(o->out, ":files\n");
    else if (text_equal(argument, "DIR"))
        text_add(o->out, ":folders\n");
    else if (text_equal(argument, "PHASE")) {
        if (!of_flag)
            offer(o, "list", "the phases in their order");
        for (size_t i = 0; join_phases[i].id; i++)
            offer(o, join_phases[i].id, join_phases[i].help);
        for (size_t i = 0; phase_groups[i].name; i++)
            if (phase_groups[i].phases[0])
                offer(o, phase_groups[i].name, phase_groups[i].help);
    } else if (text_equal(argument, "SERVICE")) {
        offer(o, "winjoin", "winjoin's own logs");
        for (const struct service *const *row = service_table; *row; row++)
            offer(o, (*row)->name, NULL);
    } else if (text_equal(argument, "CHECK")) {
        _cleanup_(text_list_free) struct text_list ids = {0};

        offer(o, "all", "every check");
        preflight_names(&ids);
        for (size_t i = 0; i < ids.count; i++)
            offer(o, ids.items[i], NULL);
    } else if (text_equal(argument, "COMMAND"))
        for (size_t i = 0; verbs[i].name; i++)
            if (!verbs[i].hidden)
                offer(o, verbs[i].name, verbs[i].help);
}

static void offer_value(const struct offer *given, const struct option *option) {
    _cleanup_(freep) char *argument = option_argument(option);
    const char *comma = strrchr(given->word + given->kept, ',');
    struct offer o = *given;

    if (option->type == OPTION_LIST && comma)
        o.kept = (size_t)(comma + 1 - o.word);
    if (option->type == OPTION_BOOL)
        offer_argument(&o, "true|false", true);
    else
        offer_argument(&o, argument, true);
}

/* Offers the flags of the subcommand if there is one, else those of the verb. */
static void offer_flags(const struct offer *o, const struct verb *verb, const struct verb *sub) {
    const struct option_group *const *groups = (sub ? sub : verb)->groups;
    const struct option *tables[ARRAY_SIZE(verb->groups) + 2];
    size_t n = 0;

    while (n < ARRAY_SIZE(verb->groups) && groups[n]) {
        tables[n] = groups[n]->options;
        n++;
    }
    tables[n++] = verb->output ? verb->output : output_options;
    tables[n++] = global_group.options;
    for (size_t i = 0; i < n; i++)
        for (const struct option *row = tables[i]; row->name; row++) {
            _cleanup_(freep) char *flag = xasprintf("--%s", row->name);

            if (option_is_offered(row))
                offer(o, flag, row->help);
        }
}

/* ---- reading the line before the word ---- */

struct line {
    /* The verb and subcommand of the line; NULL until it names one. */
    const struct verb *verb, *sub;
    size_t words;                 /* Count of words on the line after verb and subcommand. */
    const struct option *pending; /* The option whose value is the next word, or NULL. */
};

static const struct option *find_option(const struct verb *verb, const char *word, size_t len) {
    const struct option *tables[VERB_TABLES_MAX];
    bool is_long = text_starts_with(word, "--");

    verb_tables(verb, tables);
    for (size_t t = 0; tables[t]; t++)
        for (const struct option *o = tables[t]; o->name; o++)
            if (is_long ? strlen(o->name) + 2 == len && strncmp(word + 2, o->name, len - 2) == 0
                        : len == 2 && o->letter == word[1])
                return o;
    return NULL;
}

static void read_word(struct line *line, const char *word) {
    const struct option *option;

    if (line->pending) {
        line->pending = NULL;
        return;
    }
    if (word[0] == '-') {
        option = line->verb && !strchr(word, '=')
                     ? find_option(line->sub ? line->sub : line->verb, word, strlen(word))
                     : NULL;
        line->pending = option && option->type != OPTION_BOOL ? option : NULL;
    } else if (!line->verb) {
        line->verb = verb_find(verbs, word);
        line->words += !line->verb; /* Nothing is offered after a word that is no verb. */
    } else if (!line->words && !line->sub && verb_find(line->verb->subcommands, word)) {
        line->sub = verb_find(line->verb->subcommands, word);
    } else {
        line->words++;
    }
}

/* Completes the last word. Its caller writes "=" before it, since shells drop empty words. */
int verb_complete(struct program *program, struct error *err) {
    const struct text_list *words = &program->words;
    _cleanup_(text_free) struct text out = {0};
    struct offer o = {.out = &out};
    struct line line = {0};
    const char *equals;

    if (!words->count || words->items[words->count - 1][0] != '=')
        return error_set(err, ERROR_USAGE, "winjoin __complete WORD ... =BEGINNING");
    o.word = words->items[words->count - 1] + 1;
    for (size_t i = 0; i + 1 < words->count; i++)
        read_word(&line, words->items[i]);
    equals = o.word[0] == '-' ? strchr(o.word, '=') : NULL;
    if (!line.verb) {
        if (!line.words)
            offer_argument(&o, "COMMAND", false);
    } else if (equals) {
        line.pending = find_option(line.verb, o.word, (size_t)(equals - o.word));
        o.kept = (size_t)(equals + 1 - o.word);
        if (line.pending)
            offer_value(&o, line.pending);
    } else if (line.pending) {
        offer_value(&o, line.pending);
    } else {
        if (o.word[0] != '-') {
            const struct verb *verb = line.sub ? line.sub : line.verb;
            _cleanup_(text_list_free) struct text_list kinds = {0};

            /* The kinds of words that the verb takes, in order, such as "DIR [FILE]". */
            if (!line.sub && !line.words)
                for (const struct verb *sub = verb->subcommands; sub && sub->name; sub++)
                    offer(&o, sub->name, sub->help);
            text_list_split(&kinds, verb->words ? verb->words : "", ' ');
            if (line.words < kinds.count) {
                _cleanup_(freep) char *kind = xstrdup(kinds.items[line.words]);

                kind[strcspn(kind, "]")] = '\0';
                offer_argument(&o, kind + (*kind == '['), false);
            }
        }
        if (!out.len)
            offer_flags(&o, line.verb, line.sub);
    }
    output_bytes(text_str(&out), out.len);
    return 0;
}

int verb_completion(struct program *program, struct error *err) {
    const char *shell = program->words.count == 1 ? program->words.items[0] : "";
    _cleanup_(freep) char *name = xasprintf("completion.%s", shell);
    const struct template *script = template_find(name);

    if (!script->name)
        return error_set(err, ERROR_USAGE, "winjoin completion %s", program->verb->words);
    output_bytes(script->data, script->len);
    return 0;
}
