/* Checks the words of a call against what its verb takes. No word is silently ignored. */
#include "base/nearest.h"
#include "cmd/program.h"
#include "join/phases/phases.h"

#include <ctype.h>

/* Command names of other tools, with a hint where winjoin has the same. */
static const struct {
    const char *words, *hint;
} elsewhere[] = {
    {"uninstall|remove|delete|leave|undo|rollback|unjoin|cleanup|clean|destroy|down",
     "winjoin reset undoes a join"},
    {"test|check|verify|doctor|debug|diagnose|diagnostics|diagnosis",
     "winjoin diag tests the pod network"},
    {"init|add|register|up", "winjoin join makes this machine a node of a cluster"},
    {"info|state|list|ls|node|nodes|get|describe", "winjoin status shows the state of this node"},
    {"update|patch", "winjoin upgrade replaces the programs of this node with newer ones"},
    {"start|stop|restart|service|services",
     "its services are Windows' own: Restart-Service kubelet; winjoin status shows them"},
    {"drain|cordon|uncordon", "winjoin upgrade --drain, or for other reasons kubectl drain NODE"},
    {"apply|create|edit|exec|run|kubectl|helm", "that is kubectl's or helm's own, not winjoin's"},
    {"phase", "winjoin join phase NAME runs one phase of a join"},
    {"token", "run it on a control plane node: kubeadm token create --print-join-command"},
    {"kubeadm|kubeadm.exe|sudo",
     "a whole line may follow winjoin join: winjoin join kubeadm join ..."},
    {"certs check-expiration", "winjoin certs shows until when the certificates are valid"},
    {"certs renew all", "winjoin certs renew renews all that this node has"},
    {"config images", "a node pulls the sandbox image alone: winjoin join --dry-run shows which"},
    {"config view",
     "the ConfigMap of kubeadm: kubectl -n kube-system get cm kubeadm-config -o yaml"},
    {"upgrade plan|upgrade diff", "winjoin upgrade --dry-run shows what would be replaced"},
    {"upgrade apply|upgrade node",
     "winjoin upgrade alone does it; --kubernetes-version VERSION for another one than the "
     "cluster's"},
};

/* Adds the hint for what the user typed, such as "uninstall" or "upgrade plan". */
static void hint_elsewhere(const char *said, struct error *err) {
    for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++) {
        _cleanup_(text_list_free) struct text_list words = {0};

        text_list_split(&words, elsewhere[i].words, '|');
        if (text_list_has(&words, said))
            (void)error_hint(err, "%s", elsewhere[i].hint);
    }
}

int program_unknown(const struct program *program, const char *name, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};

    if (program->as_kubeadm) { /* Use kubeadm's own texts. */
        (void)error_set(err, ERROR_USAGE, "unknown command \"%.60s\" for \"kubeadm\"", name);
        return error_hint(err, "kubeadm help lists the commands");
    }
    if (program->as_kubectl && verb_find(verbs, name)) {
        (void)error_set(err, ERROR_USAGE, "kubectl winjoin %.60s: it acts on the node it runs on",
                        name);
        return error_hint(err, "on that node: winjoin %s", name);
    }
    for (size_t i = 0; verbs[i].name; i++)
        text_list_add(&names, verbs[i].name);
    (void)error_set(err, ERROR_USAGE, "unknown command \"%.60s\"", name);
    hint_elsewhere(name, err);
    if (strchr(name, ' '))
        (void)error_hint(err, "leave out the quotes, which make one word of the line");
    if (!*err->hints[0])
        (void)nearest_hint(err, "winjoin ", name, (const char *const *)names.items, names.count);
    return error_hint(err, "winjoin help lists the commands");
}

int verb_unknown_subcommand(const struct verb *verb, const char *word, struct error *err) {
    _cleanup_(freep) char *before = xasprintf("winjoin %s ", verb->name);
    _cleanup_(freep) char *said = xasprintf("%s %s", verb->name, word);
    const char *names[SUBCOMMANDS_MAX];
    size_t n = 0;

    for (; verb->subcommands && verb->subcommands[n].name && n < SUBCOMMANDS_MAX; n++)
        names[n] = verb->subcommands[n].name;
    (void)error_set(err, ERROR_USAGE, "unknown command \"%s %.60s\"", verb->name, word);
    hint_elsewhere(said, err);
    return *err->hints[0] ? -1 : nearest_hint(err, before, word, names, n);
}

/* Fails where the first word names no subcommand. For a verb that also works without subcommand (it
 * has a usage) the word may be an argument. */
static int check_subcommand(const struct verb *verb, const char *word, struct error *err) {
    const struct verb *phase = verb_find(verb->subcommands, "phase");
    _cleanup_(text_list_free) struct text_list ids = {0};

    /* Finds "winjoin join kubelet" for "winjoin join phase kubelet". */
    if (word && phase &&
        (text_equal(word, "list") || phase_names_resolve(word, &ids, ERROR_IGNORED) == 0)) {
        (void)error_set(err, ERROR_USAGE, "unexpected argument \"%.60s\"", word);
        return error_hint(err, "did you mean winjoin %s phase %.60s?", verb->name, word);
    }
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

/* UTF-8 ranges of characters that formatted pages use for quotes, dashes and blanks. */
enum page_kind { PAGE_QUOTE, PAGE_DASH, PAGE_HIDDEN };
static const struct {
    const char *first, *last;
    enum page_kind kind;
} page[] = {
    {"\xe2\x80\x90", "\xe2\x80\x95", PAGE_DASH}, /* Hyphens and dashes. */
    {"\xe2\x88\x92", "\xe2\x88\x92", PAGE_DASH}, /* The minus sign. */
    {"\xe2\x80\x96", "\xe2\x80\x9f", PAGE_QUOTE},
    {"\xe2\x80\xb9", "\xe2\x80\xba", PAGE_QUOTE}, /* Quotes of other languages. */
    {"\xc2\xab", "\xc2\xab", PAGE_QUOTE},
    {"\xc2\xbb", "\xc2\xbb", PAGE_QUOTE},
    {"\xc2\xa0", "\xc2\xa0", PAGE_HIDDEN}, /* No-break spaces. */
    {"\xe2\x80\xaf", "\xe2\x80\xaf", PAGE_HIDDEN},
    {"\xe2\x80\x8b", "\xe2\x80\x8d", PAGE_HIDDEN}, /* Characters without width. */
    {"\xef\xbb\xbf", "\xef\xbb\xbf", PAGE_HIDDEN},
};

/* Returns the row of the character at p, or ARRAY_SIZE(page) for any other. */
static size_t page_row(const char *p) {
    size_t i = 0;

    for (; i < ARRAY_SIZE(page); i++) {
        size_t len = strlen(page[i].first);

        if (strncmp(p, page[i].first, len - 1) == 0 &&
            (unsigned char)p[len - 1] >= (unsigned char)page[i].first[len - 1] &&
            (unsigned char)p[len - 1] <= (unsigned char)page[i].last[len - 1])
            break;
    }
    return i;
}

/* Says whether the value is a placeholder that nobody replaced, such as "<token>", "$TOKEN",
 * "%TOKEN%", "{{ token }}", "[token]", "YOUR_TOKEN" and "sha256:xxxx". */
static bool is_unfilled(const char *value) {
    const char *open = strchr(value, '<');
    size_t capitals = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

    return (*value == '[' && text_ends_with(value, "]") && !strchr(value, ':')) ||
           (capitals > 3 && !value[capitals] && strchr(value, '_')) || strstr(value, "xxxx") ||
           (open && isalpha((unsigned char)open[1]) && strchr(open, '>')) ||
           (*value == '$' &&
            (isalpha((unsigned char)value[1]) || value[1] == '{' || value[1] == '(')) ||
           (*value == '%' && strchr(value + 1, '%')) || strstr(value, "{{");
}

/* Adds a hint for the first character of a formatted page in the text: a word of the call, or an
 * error message that quotes a file. */
static bool name_page_character(const char *text, struct error *err) {
    for (const char *p = text; *p; p++) {
        size_t row = page_row(p);

        if (row == ARRAY_SIZE(page))
            continue;
        if (page[row].kind == PAGE_HIDDEN)
            (void)error_hint(err,
                             "type \"%.60s\" again by hand: it was copied from a formatted page, "
                             "with an invisible character",
                             text);
        else
            (void)error_hint(err, "type %.*s by hand: it was copied from a formatted page",
                             (int)strlen(page[row].first), p);
        return true;
    }
    return false;
}

void words_name_pasted(int argc, char **argv, struct error *err) {
    bool unfilled = false, named = false;

    /* Adds a hint for the first word that a shell or a person should have replaced. */
    for (int i = 1; i < argc && !unfilled; i++) {
        const char *value = argv[i] + (*argv[i] == '-' ? strcspn(argv[i], "=") : 0);

        value += *value == '=';
        unfilled = true;
        if (is_unfilled(value))
            (void)error_hint(err, "\"%.60s\" is only a name: put its value there", value);
        else if (text_starts_with(value, "~/") || text_starts_with(value, "~\\"))
            (void)error_hint(err, "\"%.60s\": write the whole path in place of ~", value);
        else if (*value == '\'' && text_ends_with(value + 1, "'"))
            (void)error_hint(err, "leave out the single quotes: cmd.exe passes them on");
        else
            unfilled = false;
    }
    for (int i = 1; i < argc && !named; i++)
        named = name_page_character(argv[i], err);
    if (!named)
        (void)name_page_character(err->message, err);
}

/* Returns the length of the dash at p, 0 for any other character. A dash is one of a keyboard or a
 * formatted page, or the slash of old Windows programs. */
static size_t dash_length(const char *p) {
    size_t row = page_row(p);

    if (*p == '-' || *p == '/')
        return 1;
    return row < ARRAY_SIZE(page) && page[row].kind == PAGE_DASH ? strlen(page[row].first) : 0;
}

/* Returns the flag name that a word was meant to be, such as "token" for "/token" and "/token:T";
 * free() it. A word without a dash stays as it is. */
static char *flag_meant(const char *word) {
    const char *p = word;

    while (dash_length(p))
        p += dash_length(p);
    return p == word ? xstrdup(word) : xstrndup(p, strcspn(p, ":="));
}

/* Fails for a word that the verb does not take; hints guess from this word and those before it what
 * was meant. sub is NULL for the verb itself. */
static int refuse_surplus(const struct program *program, const struct verb *sub, const char *word,
                          struct error *err) {
    const struct text_list *words = &program->words;
    const char *usage = (sub ? sub : program->verb)->usage, *first = words->items[0];
    const char *digits = word + (*word == 'v');
    bool number = *word && !word[strspn(word, "0123456789")];
    /* Matches "v1.37.1" and "1.37", but not a plain number. */
    bool version = (*word == 'v' || strchr(word, '.')) && *digits >= '0' && *digits <= '9' &&
                   !digits[strspn(digits, "0123456789.")];
    _cleanup_(secret_freep) char *meant = flag_meant(word);
    _cleanup_(freep) char *said =
        xasprintf("%s%s%s %s", program->verb->name, sub ? " " : "", sub ? sub->name : "", word);

    (void)error_set(err, ERROR_USAGE, "unexpected argument \"%.80s\"", word);
    hint_elsewhere(said, err);
    if (version && options_has(program->set, "kubernetes-version"))
        (void)error_hint(err, "did you mean --kubernetes-version %.40s?", word);
    else if (text_list_has(words, "true") || text_list_has(words, "false"))
        (void)error_hint(err, "true and false stand behind an equals sign: --dry-run=true");
    else if (number && words->count == 2 && text_equal(words->items[1], word))
        (void)error_hint(err, "write address and port as one word: %.60s%s%.20s", first,
                         strchr(first, ':') ? "" : ":", word);
    if (!*err->hints[0])
        (void)options_hint_near(program->set, meant, err);
    if (!*err->hints[0] && program->flags.count)
        (void)error_hint(
            err, "is the flag before it missing its value, or a blank too many in a value?");
    return error_hint(err, "%s %.*s", program->name, (int)strcspn(usage, "\n"), usage);
}

/* Says whether the word was meant as a flag: it begins with a dash and is the name of one. */
static bool is_flag(const struct program *program, const char *word) {
    _cleanup_(secret_freep) char *meant = flag_meant(word);
    struct error near = {0};

    return dash_length(word) && (options_has(program->set, meant) || !meant[1]) &&
           options_hint_near(program->set, meant, &near) < 0 && *near.hints[0];
}

int words_check(struct program *program, struct error *err) {
    const struct verb *verb = program->verb, *sub, *shown;
    _cleanup_(text_list_free) struct text_list kinds = {0};
    const struct option *own[VERB_TABLES_MAX];
    const struct option_set set = {.tables = own};
    struct text_list *words = &program->words;
    const char *other;
    size_t first;

    join_drop_blank_words(words);
    if (join_check_pasted(program, err) < 0)
        return -1;
    sub = words->count ? verb_find(verb->subcommands, words->items[0]) : NULL;
    shown = sub ? sub : verb;
    first = sub != NULL;
    if (verb->subcommands && !sub &&
        check_subcommand(verb, words->count ? words->items[0] : NULL, err) < 0)
        return -1;
    if (sub) {
        /* Fails for flags that belong to another subcommand of the verb. */
        verb_tables(sub, own);
        for (size_t i = 0; i < program->flags.count; i++)
            if (!options_has(&set, program->flags.items[i]))
                return error_set(err, ERROR_USAGE, "--%s is not a flag of %s %s %s",
                                 program->flags.items[i], program->name, verb->name, sub->name);
        if (program->options.output &&
            choice_check(own[0]->argument, program->options.output, err) < 0)
            return error_prefix(err, "invalid value \"%.80s\" for --output",
                                program->options.output);
    }

    /* A kind is "FILE", "[ENDPOINT]" for an optional word, or "a|b" for a choice. */
    text_list_split(&kinds, shown->words ? shown->words : "", ' ');
    for (size_t i = 0; i < kinds.count; i++) {
        const char *word = first + i < words->count ? words->items[first + i] : NULL;
        const char *kind = kinds.items[i];

        if (word && is_flag(program, word))
            return refuse_surplus(program, sub, word, err);
        if (kind[0] >= 'a' && kind[0] <= 'z' && choice_check(kind, word ? word : "", err) < 0)
            return word ? error_prefix(err, "unknown argument \"%.60s\"", word)
                        : error_prefix(err, "the argument is missing");
        if (word || kind[0] == '[')
            continue;
        (void)error_set(err, ERROR_USAGE, "%s is missing: winjoin %.*s", kind,
                        (int)strcspn(shown->usage, "\n"), shown->usage);
        other = strchr(shown->usage, '\n'); /* The second usage line begins with two blanks. */
        return other ? error_hint(err, "or%.*s", (int)strcspn(other + 2, "\n"), other + 2) : -1;
    }
    return words->count > first + kinds.count
               ? refuse_surplus(program, sub, words->items[first + kinds.count], err)
               : 0;
}
