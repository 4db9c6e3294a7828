/* Prints the text of --help from the tables of verbs, flags and phases. */
#include "cmd/options.h"
#include "cmd/program.h"
#include "join/phases/phases.h"

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

/* Where a flag has many choices, they follow its help text, which is wrapped. */
void options_help(const struct option *table, struct text *out) {
    enum { HELP_COLUMN = 30, ARGUMENT_MAX = 26 };

    for (const struct option *o = table; o->name; o++) {
        _cleanup_(freep) char *argument = option_argument(o);
        bool long_choices = o->type == OPTION_CHOICE && strlen(argument) > ARGUMENT_MAX;
        _cleanup_(text_free) struct text help = {0};
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
        text_add(&help, o->help);
        if (long_choices)
            text_add(&help, ": ");
        for (const char *c = long_choices ? argument : ""; *c; c++)
            text_add(&help, *c == '|' ? ", " : (char[]){*c, '\0'});
        options_wrap(out, text_str(&help), HELP_COLUMN, HELP_COLUMN);
    }
}

static bool takes_phase(const struct verb *verb) {
    return verb->words && text_starts_with(verb->words, "[PHASE]");
}

static void add_shown(const char *name, const struct verb *shown, struct text *out) {
    text_addf(out, "%s\n", shown->help);
    text_add(out, "\nUsage:\n");
    if (shown->usage)
        text_addf(out, "  %s %s\n", name, shown->usage);
    for (const struct verb *sub = shown->subcommands; !shown->usage && sub && sub->name; sub++)
        text_addf(out, "  %s %s\n", name, sub->usage);
    if (shown->text) {
        text_add_char(out, '\n');
        options_wrap(out, shown->text, 0, 0);
    }
    if (shown->subcommands)
        text_add(out, "\nSubcommands (each has its own --help):\n");
    for (const struct verb *sub = shown->subcommands; sub && sub->name; sub++)
        text_addf(out, "  %-14s %s\n", sub->name, sub->help);
    if (takes_phase(shown)) {
        text_add(out, "\nPhases, in their order:\n");
        for (size_t i = 0; join_phases[i].id; i++) {
            text_addf(out, "  %-14s ", join_phases[i].id);
            options_wrap(out, join_phases[i].help, 17, 17);
        }
    }
    if (shown->examples[0].line)
        text_add(out, "\nExamples:\n");
    for (size_t i = 0; i < ARRAY_SIZE(shown->examples) && shown->examples[i].line; i++)
        text_addf(out, "  # %s\n  %s %s\n", shown->examples[i].what, name, shown->examples[i].line);
}

/* Adds the help for the phase if one is named, else for the subcommand, else for the verb. */
static void add_verb(const char *name, const struct verb *verb, const struct verb *sub,
                     const char *phase, struct text *out) {
    const struct verb *shown = sub ? sub : verb;
    const struct option *output = shown->output ? shown->output : verb->output;

    if (phase) {
        bool read_only = false;

        /* `phase` is the name of one of winjoin's phases, or kubeadm's name for a group of them. */
        for (size_t i = 0; join_phases[i].id; i++)
            if (text_equal(join_phases[i].id, phase)) {
                text_addf(out, "%s\n", join_phases[i].help);
                read_only = join_phases[i].read_only;
            }
        for (size_t i = 0; !out->len && phase_groups[i].name; i++)
            if (text_equal(phase_groups[i].name, phase))
                text_addf(out, "%s\n", phase_groups[i].help);
        text_addf(
            out,
            "\nUsage:\n  %s join phase %s [ENDPOINT] [flags]\n\n"
            "It runs this part of a join alone, and may run again.%s\n"
            "On a node that has joined, ENDPOINT and the flags of the cluster may be left out.\n",
            name, phase, read_only ? " It changes nothing on this machine." : "");
    } else
        add_shown(name, shown, out);
    for (size_t i = 0; i < ARRAY_SIZE(shown->groups) && shown->groups[i]; i++) {
        text_addf(out, "\n%s:\n", shown->groups[i]->title);
        options_help(shown->groups[i]->options, out);
    }
    text_addf(out, "\n%s:\n", global_group.title);
    options_help(output ? output : output_options, out);
    options_help(global_group.options, out);
    text_add(out, "\nEach flag can also be set as WINJOIN_<FLAG> in the environment.\n");
}

static const char overview[] =
    "winjoin: makes a bare Windows Server a Ready Kubernetes node whose pod network\n"
    "has been tested. A failed join keeps what it did: the same command continues,\n"
    "winjoin reset undoes it.\n"
    "\n"
    "  winjoin join <ip>:6443 --token T --discovery-token-ca-cert-hash sha256:H\n"
    "\n"
    "Commands:\n";
static const char overview_end[] =
    "\n"
    "Exit codes: 0 done, 1 failed, 2 preflight refused, 3 wrong call, 4 untrusted,\n"
    "5 joined but flows fail, 6 restart Windows first, 130 interrupted.\n"
    "winjoin COMMAND --help shows more.\n";
static const char kubectl_overview[] =
    "kubectl winjoin: what winjoin does from any machine with a cluster of Windows\n"
    "nodes; on the nodes themselves it is winjoin.\n"
    "\n"
    "Commands:\n";

int verb_help(struct program *program, struct error *err) {
    const struct text_list *words = &program->words;
    const char *name = words->count ? words->items[0] : NULL, *phase = NULL;
    const struct verb *verb = NULL, *sub = NULL;
    _cleanup_(text_list_free) struct text_list ids = {0};
    _cleanup_(text_free) struct text out = {0};

    if (name && !text_equal(name, "help"))
        verb = program_verb(program, name);
    if (name && !verb && !text_equal(name, "help"))
        return program_unknown(program, name, err);
    if (verb && words->count > 1 && !(sub = verb_find(verb->subcommands, words->items[1]))) {
        (void)verb_unknown_subcommand(verb, words->items[1], err);
        return error_hint(err, "%s help %s shows the command", program->name, verb->name);
    }
    if (sub && words->count > 2 && takes_phase(sub) && !text_equal(words->items[2], "list"))
        phase = words->items[2];
    else if (sub && words->count > 2 && !takes_phase(sub) && !program->options.help)
        return error_set(err, ERROR_USAGE, "unexpected argument \"%.60s\"", words->items[2]);
    if (phase && phase_names_resolve(phase, &ids, err) < 0)
        return -1;
    if (verb)
        add_verb(program->name, verb, sub, phase, &out);
    else if (program->as_kubeadm)
        kubeadm_overview(&out);
    else {
        bool kubectl = program->as_kubectl;

        text_add(&out, kubectl ? kubectl_overview : overview);
        for (size_t i = 0; verbs[i].name; i++)
            if (kubectl ? verbs[i].anywhere : !verbs[i].hidden)
                text_addf(&out, "  %-14s %s\n", verbs[i].name, verbs[i].help);
        text_add(&out, kubectl ? "\nkubectl winjoin COMMAND --help shows more.\n" : overview_end);
    }
    output_bytes(text_str(&out), out.len);
    return 0;
}
