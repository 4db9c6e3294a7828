/* Prints a page of docs/reference from the program's own tables. Called as reference-page NAME
 * (make docs). */
#include "cmd/program.h"
#include "diag/causes/causes.h"
#include "diag/cluster/cluster.h"
#include "join/preflight/preflight_checks.h"

/* Escapes characters of Markdown: "a|b" would become table cells, "<x>" a tag. */
static void print_words(const char *words) {
    for (; words && *words; words++) {
        if (strchr("<>|*_", *words))
            (void)putchar('\\');
        (void)putchar(*words);
    }
}

/* ---- page: causes ---- */

static const char cluster_head[] =
    "\n## Of a whole cluster\n\n"
    "What `winjoin diag --kubeconfig FILE` names from the pattern of red cells: no program runs on "
    "the nodes themselves.\n`confirmed` are those that the API server or an answer says.\n";

/* What the page says about each cause, in this order. */
static const struct {
    const char *label;
    size_t offset;
} parts[] = {{"What it is", offsetof(struct diag_cause_row, message)},
             {"What it breaks", offsetof(struct diag_cause_row, breaks)},
             {"What to do", offsetof(struct diag_cause_row, hint)},
             {"Seen in", offsetof(struct diag_cause_row, source)}};

static const char *part_of(const struct diag_cause_row *row, size_t part) {
    return *(const char *const *)((const char *)row + parts[part].offset);
}

/* Prints one part of all rows, from `row` on, that have the same id as that row. Equal texts are
 * printed once. */
static void print_part(size_t row, size_t part) {
    _cleanup_(text_list_free) struct text_list said = {0};
    const struct diag_cause_row *other;

    for (size_t i = row; (other = diag_cause_row(i)); i++) {
        const char *words =
            text_equal(other->id, diag_cause_row(row)->id) ? part_of(other, part) : NULL;

        if (!words || text_list_has(&said, words))
            continue;
        if (said.count)
            (void)fputs("; or: ", stdout);
        else
            (void)printf("- **%s:** ", parts[part].label);
        print_words(words);
        text_list_add(&said, words);
    }
    if (said.count)
        (void)printf("\n");
}

static void causes(bool) {
    _cleanup_(text_list_free) struct text_list named = {0}, named_of_cluster = {0};
    struct diag_cause_row row;

    for (size_t i = 0; diag_cause_row(i); i++) {
        if (text_list_has(&named, diag_cause_row(i)->id))
            continue;
        text_list_add(&named, diag_cause_row(i)->id);
        (void)printf("\n## %s\n\n", diag_cause_row(i)->id);
        for (size_t k = 0; k < ARRAY_SIZE(parts); k++)
            print_part(i, k);
    }
    (void)fputs(cluster_head, stdout);
    for (size_t i = 0; cluster_cause_row(i, &row); i++) {
        if (text_list_has(&named_of_cluster, row.id))
            continue;
        text_list_add(&named_of_cluster, row.id);
        (void)printf("\n### %s\n\n", row.id);
        for (size_t k = 0; k < ARRAY_SIZE(parts); k++) {
            if (!part_of(&row, k))
                continue;
            (void)printf("- **%s:** ", parts[k].label);
            print_words(part_of(&row, k));
            (void)printf("\n");
        }
    }
}

/* ---- page: flags ---- */

static void print_options(const struct option *table) {
    (void)fputs("\n| flag | meaning |\n|---|---|\n", stdout);
    for (const struct option *o = table; o->name; o++) {
        _cleanup_(freep) char *argument = option_argument(o);
        const char *choices = strchr(argument, '|') ? argument : NULL;

        if (!option_is_offered(o))
            continue;
        (void)printf("| `--%s%s%s`", o->name, *argument && !choices ? " " : "",
                     choices ? "" : argument);
        (void)printf(o->letter ? ", `-%c` | " : " | ", o->letter);
        print_words(o->help);
        for (const char *c = choices; c && *c; c += strcspn(c, "|"), c += *c == '|')
            (void)printf("%s`%.*s`", c == choices ? ": " : ", ", (int)strcspn(c, "|"), c);
        (void)fputs(" |\n", stdout);
    }
}

/* Prints the flags of a verb or subcommand. `level` is the mark of its heading, such as "##". */
static void print_verb(const char *name, const struct verb *verb, const char *level) {
    (void)printf("\n%s winjoin %s\n\n%c%s.\n", level, name, verb->help[0] - 'a' + 'A',
                 verb->help + 1);
    for (size_t i = 0; i < ARRAY_SIZE(verb->groups) && verb->groups[i]; i++) {
        (void)printf("\n%s:\n", verb->groups[i]->title);
        print_options(verb->groups[i]->options);
    }
    for (const struct verb *sub = verb->subcommands; sub && sub->name; sub++) {
        _cleanup_(freep) char *whole = xasprintf("%s %s", name, sub->name);

        if (sub->groups[0] && sub->groups[0] != verb->groups[0])
            print_verb(whole, sub, "###");
    }
}

static void flags(bool) {
    print_options(output_options);
    print_options(global_group.options);
    for (size_t i = 0; verbs[i].name; i++)
        if (!verbs[i].hidden && (verbs[i].groups[0] || verbs[i].subcommands))
            print_verb(verbs[i].name, &verbs[i], "##");
}

/* ---- page: checks ---- */

static void checks(bool) {
    size_t count;
    _cleanup_(freep) struct preflight_check *rows = preflight_checks(&count);

    for (size_t i = 0; i < count; i++) {
        (void)printf("| `%s` | %s | ", rows[i].id, preflight_outcome_names[rows[i].level]);
        print_words(rows[i].help);
        (void)fputs(" | ", stdout);
        print_words(rows[i].hint);
        (void)fputs(" |\n", stdout);
    }
}

/* ---- pages: documents and configuration ---- */

static void print_type(const json_t *schema) {
    static const struct {
        const char *type, *word;
    } words[] = {{"string", "text"},
                 {"boolean", "bool"},
                 {"integer", "number"},
                 {"number", "decimal"},
                 {"object", "object"}};
    const json_t *type = json_object_get(schema, "type"), *items = json_object_get(schema, "items");
    const char *name = json_is_array(type) ? json_text_at(type, "0") : json_string_value(type);

    if (json_object_get(schema, "title")) {
        _cleanup_(freep) char *lower = text_lower(json_text_at(schema, "title"));

        (void)printf("[%s](#%s)", json_text_at(schema, "title"), lower);
    } else if (json_object_get(schema, "enum")) {
        json_each(json_object_get(schema, "enum"), i, value)
            if (json_is_string(value))
                (void)printf("%s`%s`", i ? ", " : "", json_string_value(value));
    } else if (items) {
        (void)fputs("list of ", stdout);
        print_type(items);
    } else if (json_text_at(schema, "format")) {
        (void)fputs("time", stdout);
    } else {
        const char *word = "any";

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
            if (text_equal(words[i].type, name))
                word = words[i].word;
        (void)fputs(word, stdout);
    }
    if (json_object_get(schema, "maximum"))
        (void)printf(", %lld to %lld", json_number_at(schema, "minimum", 0),
                     json_number_at(schema, "maximum", 0));
}

/* Prints the fields of an object, nested ones included. A named type is only linked and added to
 * `types`, since it gets a table of its own. */
static void print_fields(const json_t *schema, const char *path, json_t *types) {
    json_each_member(json_object_get(schema, "properties"), key, value) {
        const json_t *items = json_object_get(value, "items"), *inner = items ? items : value;
        const char *meaning = json_text_at(value, "description"),
                   *title = json_text_at(inner, "title");
        bool required = json_has_text(json_object_get(schema, "required"), key);
        _cleanup_(freep) char *at = xasprintf("%s%s%s", path, key, items ? "[]" : ""),
                              *below = xasprintf("%s.", at);

        if (json_object_get(value, "const"))
            continue;
        (void)printf("| `%s` | ", at);
        print_type(value);
        (void)fputs(required || json_object_get(schema, "additionalProperties")
                        ? " | "
                        : " | may be absent",
                    stdout);
        if (meaning || json_text_at(items, "description")) {
            (void)fputs(required || json_object_get(schema, "additionalProperties") ? "" : "; ",
                        stdout);
            print_words(meaning ? meaning : json_text_at(items, "description"));
        }
        (void)fputs(" |\n", stdout);
        if (title)
            json_object_set(types, title, (json_t *)inner);
        else
            print_fields(inner, below, types);
    }
}

static void print_table(const char *title, const json_t *schema, json_t *types) {
    (void)printf("\n## %s\n\n", title);
    if (json_text_at(schema, "description") && json_object_get(schema, "$schema"))
        (void)printf("Of: %s. [JSON Schema](schema/%s.json)\n\n",
                     json_text_at(schema, "description"), title);
    (void)fputs("| field | type | |\n|---|---|---|\n", stdout);
    print_fields(schema, "", types);
}

/* Prints the documents that winjoin reads, or with `read` false those that it prints. */
static void documents(bool read) {
    _cleanup_(text_list_free) struct text_list names = {0}, of = {0}, named = {0};
    _cleanup_json_ json_t *types = json_object();
    size_t before;

    schema_names(&names, &of);
    for (size_t i = 0; i < names.count; i++) {
        _cleanup_json_ json_t *schema = schema_make(names.items[i]);

        if ((json_object_get(schema, "additionalProperties") != NULL) == read)
            print_table(names.items[i], schema, types);
    }
    do {
        _cleanup_json_ json_t *now = json_copy(types);

        before = named.count;
        json_each_member(now, title, schema) {
            if (text_list_has(&named, title))
                continue;
            text_list_add(&named, title);
            print_table(title, schema, types);
        }
    } while (named.count > before);
}

/* ---- the table of pages ---- */

static const struct {
    const char *name;
    void (*print)(bool read); /* Prints the page's content after its head. */
    bool read;
    const char *head;
} pages[] = {
    {"causes", causes, false,
     "# Why pods cannot talk: the causes\n\nWhat `winjoin diag` names, a section each, the widest "
     "first. A report says `confirmed` where evidence was read that shows\nit, `likely` where only "
     "the pattern of red cells speaks for it; [diag.md](../design/diag.md) tells how it is judged. "
     "The ids stay\nas they are, so links to a section do, too.\n"},
    {"checks", checks, false,
     "# Preflight checks\n\nIn their order. Ids and levels are kubeadm's where it has "
     "the check. [preflight.md](../preflight.md) says when they run,\nand how one is "
     "ignored.\n\n| id | level | what is so when it passes | otherwise |\n"
     "|---|---|---|---|\n"},
    {"configuration", documents, true,
     "# Configuration fields\n\nWhat `--config` and `--catalog` may hold. Any other "
     "field is refused, with its line; `null` is a field that is not\ngiven. "
     "[configuration.md](../configuration.md) says what the settings do; kubeadm's own "
     "are explained in\n[kubeadm's reference]"
     "(https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/).\n"},
    {"documents", documents, false,
     "# Documents\n\nWhat winjoin prints with `-o json` or `-o yaml`, or publishes. Each "
     "begins with `apiVersion: winjoin.io/v1alpha1` and\n`kind`, the name of its "
     "section, but for those that are a line among others. Later versions may add "
     "fields: pass over\nwhat you do not know. "
     "The same as JSON Schemas, linked below: `winjoin config print schema NAME`.\n"},
    {"flags", flags, false,
     "# Flags\n\n`winjoin COMMAND --help` shows the same. Each flag can also be set by "
     "a variable: `WINJOIN_` and its name in\ncapitals with underscores, such as "
     "`WINJOIN_NODE_NAME`; the flag itself wins. Which value counts where there are "
     "more:\n[configuration.md](../configuration.md).\n\n## Of every command\n"},
};

int main(int argc, char **argv) {
    for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
        if (argc == 1)
            (void)puts(pages[i].name);
        if (argc != 2 || !text_equal(pages[i].name, argv[1]))
            continue;
        (void)fputs(pages[i].head, stdout);
        pages[i].print(pages[i].read);
        return 0;
    }
    return argc != 1;
}
