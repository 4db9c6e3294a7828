/* What --help prints, from the tables of verbs, flags and phases. */
#include <string.h>

#include "base/memory.h"
#include "cmd/kubeadm.h"
#include "cmd/output.h"
#include "cmd/program.h"
#include "join/phases/phases.h"

static void overview(struct text *out) {
    size_t count;
    const struct verb *all = verbs(&count);

    text_add(out, "winjoin: makes a bare Windows Server a Ready Kubernetes node whose pod network\n"
                  "has been tested. A failed join keeps what it did: the same command continues,\n"
                  "winjoin reset undoes it.\n"
                  "\n"
                  "  winjoin join <ip>:6443 --token T --discovery-token-ca-cert-hash sha256:H\n"
                  "\n"
                  "Commands:\n");
    for (size_t i = 0; i < count; i++)
        if (!all[i].hidden)
            text_addf(out, "  %-14s %s\n", all[i].name, all[i].help);
    text_add(out, "\n"
                  "Exit codes: 0 done, 1 failed, 2 preflight refused, 3 wrong call, 4 untrusted,\n"
                  "5 joined but flows fail, 6 restart Windows first, 130 interrupted.\n"
                  "winjoin COMMAND --help shows more.\n");
}

static void add_usage(const char *name, const struct verb *verb, struct text *out) {
    text_add(out, "\nUsage:\n");
    if (verb->usage)
        text_addf(out, "  %s %s\n", name, verb->usage);
    for (const struct verb *sub = verb->subcommands; !verb->usage && sub && sub->name; sub++)
        text_addf(out, "  %s %s\n", name, sub->usage);
}

static void add_subcommands(const struct verb *verb, struct text *out) {
    if (verb->subcommands)
        text_add(out, "\nSubcommands (each has its own --help):\n");
    for (const struct verb *sub = verb->subcommands; sub && sub->name; sub++)
        text_addf(out, "  %-14s %s\n", sub->name, sub->help);
}

static void add_phases(struct text *out) {
    size_t count;
    const struct join_phase *phases = join_phases(&count);

    text_add(out, "\nPhases, in their order:\n");
    for (size_t i = 0; i < count; i++) {
        text_addf(out, "  %-14s ", phases[i].id);
        options_wrap(out, phases[i].help, 17, 17);
    }
}

static void add_examples(const struct verb *verb, struct text *out) {
    if (verb->examples[0].line)
        text_add(out, "\nExamples:\n");
    for (size_t i = 0; i < ARRAY_SIZE(verb->examples) && verb->examples[i].line; i++)
        text_addf(out, "  # %s\n  winjoin %s\n", verb->examples[i].what, verb->examples[i].line);
}

static void add_group(const struct option_group *group, const struct option *first,
                      struct text *out) {
    text_addf(out, "\n%s:\n", group->title);
    if (first)
        options_help(first, out);
    options_help(group->options, out);
}

/* Of the verb, or of its subcommand when the word names one. */
static void add_verb(const char *name, const struct verb *verb, const char *word,
                     struct text *out) {
    const struct verb *sub = word ? verb_subcommand(verb, word) : NULL;
    const struct verb *shown = sub ? sub : verb;

    text_addf(out, "%s\n", shown->help);
    add_usage(name, shown, out);
    if (shown->text) {
        text_add_char(out, '\n');
        options_wrap(out, shown->text, 0, 0);
    }
    add_subcommands(shown, out);
    if (shown->words && text_starts_with(shown->words, "[PHASE]"))
        add_phases(out);
    add_examples(shown, out);
    for (size_t i = 0; i < ARRAY_SIZE(shown->groups) && shown->groups[i]; i++)
        add_group(shown->groups[i], NULL, out);
    add_group(&global_group, verb->output ? verb->output : output_options, out);
    text_add(out, "\nEach flag can also be set as WINJOIN_<FLAG> in the environment.\n");
}

int verb_help(struct program *program, struct error *err) {
    const struct text_list *words = &program->words;
    const char *name = words->count ? words->items[0] : NULL;
    const struct verb *verb = NULL;
    struct text out = {0};

    if (name && !text_equal(name, "help"))
        verb = program->as_kubeadm ? kubeadm_verb(name) : verb_find(name);
    if (name && !verb && !text_equal(name, "help"))
        return program->as_kubeadm ? kubeadm_unknown(name, err) : verb_unknown(name, err);
    if (verb && words->count > 1 && !verb_subcommand(verb, words->items[1]))
        return verb_unknown_subcommand(verb, words->items[1], err);
    if (verb)
        add_verb(program_name(program), verb, words->count > 1 ? words->items[1] : NULL, &out);
    else if (program->as_kubeadm)
        kubeadm_overview(&out);
    else
        overview(&out);
    output_bytes(text_str(&out), out.len);
    text_free(&out);
    return 0;
}
