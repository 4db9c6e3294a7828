/* Makes the manual pages in roff's man macros (man(7)), from the same tables as --help: winjoin.1,
 * and winjoin-VERB.1 for each command that is not hidden. The first argument is their folder. */

#include "base/build_info.h"
#include "cmd/program.h"
#include "join/phases/phases.h"

static const struct {
    const char *code, *meaning;
} exits[] = {
    {"0", "Done. For diag: every required flow works."},
    {"1", "Failed: network, server, this machine or a timeout. Try again later."},
    {"2", "Preflight found errors. Correct them and run the same command again."},
    {"3", "A wrong flag, argument or setting. Nothing was changed."},
    {"4", "Not trusted: a signature, CA hash, certificate or checksum does not match. Find out why "
          "before you try again."},
    {"5", "The node is joined, but required flows fail. Read the report of winjoin diag."},
    {"6", "Restart Windows, then run the same command again."},
    {"130", "Interrupted. Run the same command again to continue, or winjoin reset to undo."},
};

static const struct {
    const char *path, *what;
} files[] = {
    {"C:\\k", "the programs of the services, and winjoin.exe"},
    {"C:\\etc\\kubernetes, C:\\var\\lib\\kubelet", "Kubernetes' files, as kubeadm writes them"},
    {"C:\\etc\\cni\\net.d", "the CNI configuration"},
    {"C:\\ProgramData\\winjoin", "journal, backup, reports and logs; only SYSTEM and "
                                 "Administrators have access"},
    {"C:\\var\\log\\SERVICE", "a service's log, rotated"},
};

/* Adds text that roff prints literally. A dot or quote at the start of a line needs an escape. */
static void add_literal(struct text *out, const char *s) {
    bool start = out->len == 0 || out->data[out->len - 1] == '\n';

    for (; *s; s++) {
        if (start && (*s == '.' || *s == '\''))
            text_add(out, "\\&");
        if (*s == '\\')
            text_add(out, "\\e");
        else if (*s == '-')
            text_add(out, "\\-");
        else if (*s == '|')
            text_add(out, "|\\:"); /* Lets roff break the line inside a list of values. */
        else
            text_add_char(out, *s);
        start = *s == '\n';
    }
}

static void heading(struct text *out, const char *title) {
    text_addf(out, ".SH %s\n", title);
}

static void paragraph(struct text *out, const char *text) {
    text_add(out, ".PP\n");
    add_literal(out, text);
    text_add_char(out, '\n');
}

/* Adds a list item: a term in bold and its meaning. */
static void item(struct text *out, const char *term, const char *meaning) {
    text_add(out, ".TP\n\\fB");
    add_literal(out, term);
    text_add(out, "\\fR\n");
    add_literal(out, meaning);
    text_add_char(out, '\n');
}

static void add_options(struct text *out, const struct option *table) {
    for (const struct option *o = table; o->name; o++) {
        _cleanup_(freep) char *argument = option_argument(o);

        if (!option_is_offered(o))
            continue;
        text_add(out, ".TP\n");
        if (o->letter)
            text_addf(out, "\\fB\\-%c\\fR, ", o->letter);
        text_add(out, "\\fB\\-\\-");
        add_literal(out, o->name);
        text_add(out, "\\fR");
        if (o->type != OPTION_BOOL) {
            text_add(out, " \\fI");
            add_literal(out, argument);
            text_add(out, "\\fR");
        }
        text_add_char(out, '\n');
        add_literal(out, o->help);
        text_add_char(out, '\n');
    }
}

/* Adds the lines of a usage. Each line after the first begins with "  winjoin ". */
static void usage_lines(struct text *out, const char *usage) {
    text_add(out, "winjoin ");
    for (const char *line = usage; line; line = strchr(line, '\n')) {
        _cleanup_(freep) char *one = NULL;

        line += strspn(line, "\n ");
        one = xstrndup(line, strcspn(line, "\n"));
        add_literal(out, one);
        text_add_char(out, '\n');
    }
}

static void synopsis(struct text *out, const struct verb *verb) {
    heading(out, "SYNOPSIS");
    text_add(out, ".nf\n");
    if (verb->usage)
        usage_lines(out, verb->usage);
    for (const struct verb *sub = verb->subcommands; !verb->usage && sub && sub->name; sub++)
        usage_lines(out, sub->usage);
    text_add(out, ".fi\n");
}

static void add_groups(struct text *out, const struct option_group *const *groups, size_t max) {
    for (size_t i = 0; i < max && groups[i]; i++) {
        text_add(out, ".SS ");
        add_literal(out, groups[i]->title);
        text_add_char(out, '\n');
        add_options(out, groups[i]->options);
    }
}

static void add_examples(struct text *out, const struct verb *verb) {
    for (size_t i = 0; i < ARRAY_SIZE(verb->examples) && verb->examples[i].line; i++) {
        _cleanup_(freep) char *line = xasprintf("winjoin %s", verb->examples[i].line);

        item(out, line, verb->examples[i].what);
    }
}

static void verb_sections(struct text *out, const struct verb *verb) {
    const struct verb *subs = verb->subcommands;

    synopsis(out, verb);
    if (verb->text) {
        heading(out, "DESCRIPTION");
        paragraph(out, verb->text);
    }
    if (subs)
        heading(out, "SUBCOMMANDS");
    for (const struct verb *sub = subs; sub && sub->name; sub++)
        item(out, sub->name, sub->help);
    if (verb->run == verb_join)
        heading(out, "PHASES");
    for (size_t i = 0; verb->run == verb_join && join_phases[i].id; i++)
        item(out, join_phases[i].id, join_phases[i].help);
    heading(out, "OPTIONS");
    add_groups(out, verb->groups, ARRAY_SIZE(verb->groups));
    for (const struct verb *sub = subs; sub && sub->name && !verb->groups[0]; sub++) {
        if (sub->groups[0]) {
            text_addf(out, ".PP\nOf \\fB%s %s\\fR:\n", verb->name, sub->name);
            add_groups(out, sub->groups, ARRAY_SIZE(sub->groups));
            if (sub->output)
                add_options(out, sub->output);
        }
    }
    text_addf(out, ".SS %s\n", global_group.title);
    add_options(out, verb->output ? verb->output : output_options);
    text_add(out, ".PP\nThe flags of every command, for the log and for progress, are in "
                  "\\fBwinjoin\\fR(1).\n");
    heading(out, "EXAMPLES");
    add_examples(out, verb);
    for (const struct verb *sub = subs; sub && sub->name; sub++)
        add_examples(out, sub);
}

static void overview_sections(struct text *out) {
    synopsis(out, &(struct verb){.usage = "COMMAND [flags]"});
    heading(out, "DESCRIPTION");
    paragraph(out, "winjoin turns a bare Windows Server into a Ready Kubernetes node whose pod "
                   "network has been proved to work, or leaves the machine exactly as it was "
                   "found.");
    heading(out, "COMMANDS");
    for (size_t i = 0; verbs[i].name; i++)
        if (!verbs[i].hidden)
            item(out, verbs[i].name, verbs[i].help);
    heading(out, "OPTIONS");
    add_options(out, output_options);
    add_options(out, global_group.options);
    heading(out, "FILES");
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        item(out, files[i].path, files[i].what);
    heading(out, "ENVIRONMENT");
    paragraph(out, "Each flag can also be set by a variable: WINJOIN_ and the flag's name in "
                   "capitals with underscores, such as WINJOIN_NODE_NAME for --node-name. The "
                   "flag itself wins. NO_COLOR turns color off.");
}

/* Writes the page of one verb, or the page of winjoin itself when `verb` is NULL. */
static int write_page(const char *folder, const struct verb *verb) {
    _cleanup_(freep) char *name = verb ? xasprintf("winjoin-%s", verb->name) : xstrdup("winjoin");
    _cleanup_(freep) char *path = xasprintf("%s/%s.1", folder, name);
    _cleanup_(text_free) struct text out = {0};
    FILE *file = fopen(path, "wb");
    size_t written;

    if (!file)
        return -1;
    text_addf(&out, ".TH %s 1 \"\" \"winjoin %s\" \"winjoin\"\n", name, build_version);
    /* Disables hyphenation, which would cut flag names, and justification, which would widen
     * spaces. */
    text_add(&out, ".nh\n.ad l\n");
    heading(&out, "NAME");
    add_literal(&out, name);
    text_add(&out, " \\- ");
    add_literal(&out, verb ? verb->help : "make a Windows Server a proved Kubernetes node");
    text_add_char(&out, '\n');
    if (verb)
        verb_sections(&out, verb);
    else
        overview_sections(&out);
    heading(&out, "EXIT STATUS");
    for (size_t i = 0; i < ARRAY_SIZE(exits); i++)
        item(&out, exits[i].code, exits[i].meaning);
    heading(&out, "SEE ALSO");
    text_add(&out, verb ? "\\fBwinjoin\\fR(1)\n"
                        : "\\fBwinjoin\\-join\\fR(1), "
                          "\\fBwinjoin\\-diag\\fR(1), "
                          "\\fBwinjoin\\-reset\\fR(1)\n");
    written = fwrite(text_str(&out), 1, out.len, file);
    return fclose(file) == 0 && written == out.len ? 0 : -1;
}

int main(int argc, char **argv) {
    int result = argc == 2 ? write_page(argv[1], NULL) : -1;

    for (size_t i = 0; verbs[i].name && result == 0; i++)
        if (!verbs[i].hidden)
            result = write_page(argv[1], &verbs[i]);
    if (result < 0)
        (void)fprintf(stderr, "usage: man-pages FOLDER\n");
    return result < 0;
}
