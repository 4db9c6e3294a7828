/* Prints docs/causes.md, a section for each cause of diag's table: make causes. */
#include <stdio.h>

#include "diag/causes/causes.h"
#include "diag/cluster/causes/causes.h"

static const char head[] =
    "# Why pods cannot talk: the causes\n"
    "\n"
    "What `winjoin diag` names, a section each, the widest first. A report says `confirmed` where "
    "evidence was read that shows\nit, `likely` where only the pattern of red cells speaks for it; "
    "[diag.md](diag.md) tells how it is judged. The ids stay as\nthey are, so links to a section "
    "do, too. Made from the program's own table by `make causes`.\n";

static const char cluster_head[] =
    "\n## Of a whole cluster\n\n"
    "What `winjoin diag --kubeconfig FILE` names from the pattern of red cells: no program runs on "
    "the nodes themselves.\n`confirmed` are those that the API server or an answer says.\n";

/* Is it the first row of this id? */
static bool is_first(size_t row) {
    for (size_t i = 0; i < row; i++)
        if (text_equal(diag_cause_row(i)->id, diag_cause_row(row)->id))
            return false;
    return true;
}

/* "a|b" would be cells of a table, "<x>" a tag, to some readers. */
static void print_words(const char *words) {
    for (; *words; words++) {
        if (strchr("<>|*_", *words))
            (void)putchar('\\');
        (void)putchar(*words);
    }
}

/* The part of each row with this id, once. */
static void print_all(size_t row, const char *label,
                      const char *(*part)(const struct diag_cause_row *)) {
    _cleanup_(text_list_free) struct text_list said = {0};
    const struct diag_cause_row *other;

    for (size_t i = row; (other = diag_cause_row(i)); i++) {
        const char *words = text_equal(other->id, diag_cause_row(row)->id) ? part(other) : NULL;

        if (!words || text_list_has(&said, words))
            continue;
        (void)printf("%s", said.count ? "; or: " : label);
        print_words(words);
        text_list_add(&said, words);
    }
    if (said.count)
        (void)printf("\n");
}

static const char *message_of(const struct diag_cause_row *row) {
    return row->message;
}

static const char *breaks_of(const struct diag_cause_row *row) {
    return row->breaks;
}

static const char *hint_of(const struct diag_cause_row *row) {
    return row->hint;
}

static const char *source_of(const struct diag_cause_row *row) {
    return row->source;
}

static void print_row(const struct diag_cause_row *row) {
    const struct {
        const char *label, *words;
    } parts[] = {{"What it is", row->message},
                 {"What it breaks", row->breaks},
                 {"What to do", row->hint},
                 {"Seen in", row->source}};

    (void)printf("\n### %s\n\n", row->id);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        if (!parts[i].words)
            continue;
        (void)printf("- **%s:** ", parts[i].label);
        print_words(parts[i].words);
        (void)printf("\n");
    }
}

int main(void) {
    _cleanup_(text_list_free) struct text_list told = {0};
    struct diag_cause_row row;

    (void)fputs(head, stdout);
    for (size_t i = 0; diag_cause_row(i); i++) {
        if (!is_first(i))
            continue;
        (void)printf("\n## %s\n\n", diag_cause_row(i)->id);
        print_all(i, "- **What it is:** ", message_of);
        print_all(i, "- **What it breaks:** ", breaks_of);
        print_all(i, "- **What to do:** ", hint_of);
        print_all(i, "- **Seen in:** ", source_of);
    }
    (void)fputs(cluster_head, stdout);
    for (size_t i = 0; cluster_cause_row(i, &row); i++) {
        if (!text_list_has(&told, row.id))
            print_row(&row);
        text_list_add(&told, row.id);
    }
    return 0;
}
