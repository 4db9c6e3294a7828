/* Holds the words of a call to what its verb takes: nothing is passed over. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "cmd/program.h"

int verb_unknown_subcommand(const struct verb *verb, const char *word, struct error *err) {
    _cleanup_(freep) char *before = xasprintf("winjoin %s ", verb->name);
    const char *names[SUBCOMMANDS_MAX];
    size_t n = 0;

    for (; verb->subcommands && verb->subcommands[n].name && n < SUBCOMMANDS_MAX; n++)
        names[n] = verb->subcommands[n].name;
    (void)error_set(err, ERROR_USAGE, "unknown command \"%s %.60s\"", verb->name, word);
    return nearest_hint(err, before, word, names, n);
}

/* What other tools call it. */
static const struct {
    const char *words, *hint;
} elsewhere[] = {
    {"uninstall|remove|delete|leave|undo|rollback|unjoin", "winjoin reset undoes a join"},
    {"test|check|verify|doctor|debug", "winjoin diag tests the pod network"},
    {"init|add|register", "winjoin join makes this machine a node of a cluster"},
};

int verb_unknown(const char *name, struct error *err) {
    size_t count;
    const struct verb *all = verbs(&count);
    _cleanup_(freep) const char **names = xcalloc(count, sizeof *names);

    for (size_t i = 0; i < count; i++)
        names[i] = all[i].name;
    (void)error_set(err, ERROR_USAGE, "unknown command \"%.60s\"", name);
    for (size_t i = 0; i < ARRAY_SIZE(elsewhere) && !*err->hints[0]; i++) {
        _cleanup_(text_list_free) struct text_list words = {0};

        text_list_split(&words, elsewhere[i].words, '|');
        if (text_list_has(&words, name))
            (void)error_hint(err, "%s", elsewhere[i].hint);
    }
    if (!*err->hints[0])
        (void)nearest_hint(err, "winjoin ", name, names, count);
    return error_hint(err, "winjoin help lists the commands");
}

/* The first word names none of the subcommands. Where none must be named, it may be something else.
 */
static int check_subcommand(const struct verb *verb, const char *word, struct error *err) {
    if (word && !(verb->usage && strpbrk(word, ":.")))
        (void)verb_unknown_subcommand(verb, word, err);
    if (verb->usage && !*err->hints[0]) {
        error_clear(err);
        return 0;
    }
    if (!word)
        (void)error_set(err, ERROR_USAGE, "winjoin %s: its command is missing", verb->name);
    return error_hint(err, "winjoin %s --help lists the commands", verb->name);
}

/* Flags of another subcommand mean nothing for this one. */
static int check_flags(const struct program *program, const struct verb *sub, struct error *err) {
    const struct option *own[VERB_TABLES_MAX];
    const struct option_set set = {.tables = own};

    verb_tables(sub, own);
    for (size_t i = 0; i < program->flags.count; i++)
        if (!options_has(&set, program->flags.items[i]))
            return error_set(err, ERROR_USAGE, "--%s is not a flag of %s %s %s",
                             program->flags.items[i], program_name(program), program->verb->name,
                             sub->name);
    return program->options.output &&
                   choice_check(own[0]->argument, program->options.output, err) < 0
               ? error_prefix(err, "invalid value \"%.80s\" for --output", program->options.output)
               : 0;
}

/* "FILE", "[ENDPOINT]" for one that may be left out, "a|b" for a choice. `usage`: the whole line.
 */
static int check_word(const char *kind, const char *word, const char *usage, struct error *err) {
    bool choice = kind[0] >= 'a' && kind[0] <= 'z';

    if (choice && choice_check(kind, word ? word : "", err) < 0)
        return word ? error_prefix(err, "unknown argument \"%.60s\"", word)
                    : error_prefix(err, "the argument is missing");
    if (!word && kind[0] != '[')
        return error_set(err, ERROR_USAGE, "%s is missing: winjoin %.*s", kind,
                         (int)strcspn(usage, "\n"), usage);
    return 0;
}

/* "v1.37.1", "1.37" */
static bool is_version(const char *word) {
    word += *word == 'v';
    return *word >= '0' && *word <= '9' && !word[strspn(word, "0123456789.")];
}

/* "--token" as an editor writes it, with a dash of its own, or as Windows' old programs: /token. */
static const char *behind_dashes(const char *word) {
    while (text_starts_with(word, "\xe2\x80\x93") || text_starts_with(word, "\xe2\x80\x94") ||
           *word == '-' || *word == '/')
        word += *word == '-' || *word == '/' ? 1 : 3;
    return word;
}

static int refuse_surplus(const struct program *program, const char *word, const char *usage,
                          struct error *err) {
    (void)error_set(err, ERROR_USAGE, "unexpected argument \"%.80s\"", word);
    if (is_version(word) && options_has(program->set, "kubernetes-version"))
        (void)error_hint(err, "did you mean --kubernetes-version %.40s?", word);
    else
        (void)options_hint_near(program->set, behind_dashes(word), err);
    if (!*err->hints[0] && program->flags.count)
        (void)error_hint(err, "is the flag before it missing its value?");
    return error_hint(err, "%s %s", program_name(program), usage);
}

int words_check(struct program *program, struct error *err) {
    const struct verb *verb = program->verb, *sub, *shown;
    struct text_list *words = &program->words, kinds = {0};
    _cleanup_(freep) char *usage = NULL;
    size_t first;
    int result = 0;

    join_drop_blank_words(words);
    sub = words->count ? verb_subcommand(verb, words->items[0]) : NULL;
    shown = sub ? sub : verb;
    first = sub != NULL;
    if (verb->subcommands && !sub &&
        check_subcommand(verb, words->count ? words->items[0] : NULL, err) < 0)
        return -1;
    if (sub && check_flags(program, sub, err) < 0)
        return -1;
    usage = xstrndup(shown->usage, strcspn(shown->usage, "\n"));
    text_list_split(&kinds, shown->words ? shown->words : "", ' ');
    for (size_t i = 0; i < kinds.count && result == 0; i++)
        result =
            check_word(kinds.items[i], first + i < words->count ? words->items[first + i] : NULL,
                       shown->usage, err);
    if (result == 0 && words->count > first + kinds.count)
        result = refuse_surplus(program, words->items[first + kinds.count], usage, err);
    text_list_free(&kinds);
    return result;
}
