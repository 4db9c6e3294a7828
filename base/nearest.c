/* Finds the known name that is most similar to a word, and checks names against tables. */
#include "base/nearest.h"

#include "base/text.h"

enum { WORD_MAX = 64, DISTANCE_MAX = 3, BEGINNING_MIN = 3 };

/* Converts a letter to lower case and '_' to '-', so that these differences do not count. */
static char folded(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c == '_' ? '-' : c;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Returns the edit distance of two words (optimal string alignment): an insertion, a deletion, a
 * replacement or a swap of two neighboring letters counts 1. */
static size_t distance(const char *a, const char *b) {
    size_t m = strlen(a), n = strlen(b), rows[3][WORD_MAX];
    size_t *above = rows[0], *row = rows[1], *next = rows[2];

    if (n >= WORD_MAX || m > n + DISTANCE_MAX || n > m + DISTANCE_MAX)
        /* The words differ by at least DISTANCE_MAX + 1 edits; the exact number is not needed. */
        return DISTANCE_MAX + 1;
    for (size_t j = 0; j <= n; j++)
        row[j] = above[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *spare = above;

        next[0] = i;
        for (size_t j = 1; j <= n; j++) {
            next[j] = least(row[j - 1] + (folded(a[i - 1]) != folded(b[j - 1])),
                            least(row[j], next[j - 1]) + 1);
            if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                folded(a[i - 2]) == folded(b[j - 1]))
                next[j] = least(next[j], above[j - 2] + 1);
        }
        above = row;
        row = next;
        next = spare;
    }
    return row[n];
}

const char *nearest_name(const char *word, const char *const *names, size_t count) {
    const char *best = NULL;
    size_t best_distance = DISTANCE_MAX + 1;

    for (size_t i = 0; i < count && strlen(word) < WORD_MAX; i++) {
        size_t d = distance(word, names[i]), len = strlen(names[i]);

        /* At most a third of the letters may be wrong. */
        if (d < best_distance && (d == 0 || (d < len && d * 3 <= len))) {
            best = names[i];
            best_distance = d;
        }
    }
    /* No similar name was found: look for the shortest name that begins with the word, e.g.
     * "directory" for "dir". */
    for (size_t i = 0; i < count && best_distance > DISTANCE_MAX; i++) {
        size_t len = 0;

        while (word[len] && folded(word[len]) == folded(names[i][len]))
            len++;
        if (!word[len] && len >= BEGINNING_MIN && (!best || strlen(names[i]) < strlen(best)))
            best = names[i];
    }
    return best;
}

int nearest_hint(struct error *err, const char *before, const char *word, const char *const *names,
                 size_t count) {
    const char *near = nearest_name(word, names, count);

    return near ? error_hint(err, "did you mean %s%s?", before, near) : -1;
}

int choice_check(const char *choices, const char *value, struct error *err) {
    _cleanup_(text_list_free) struct text_list names = {0};
    _cleanup_(freep) char *listed = NULL;

    text_list_split(&names, choices, '|');
    if (text_list_has(&names, value))
        return 0;
    listed = text_list_join(&names, ", ");
    (void)error_set(err, ERROR_USAGE, names.count > 1 ? "use one of %s" : "use %s", listed);
    return nearest_hint(err, "", value, (const char *const *)names.items, names.count);
}

/* ---- checking names against tables ---- */

const char *name_find(const char *const *names, const char *name) {
    for (; names && *names; names++)
        if (text_equal(*names, name))
            return *names;
    return NULL;
}

char *name_list(const struct text_list *names) {
    struct text t = {0};
    for (size_t i = 0; i < names->count; i++)
        text_addf(&t, "%s%s", i == 0 ? "" : i + 1 < names->count ? ", " : " or ", names->items[i]);
    return text_take(&t);
}

int name_check(const char *what, const char *name, const struct text_list *names,
               struct error *err) {
    _cleanup_(freep) char *list = name_list(names);
    if (text_list_has(names, name))
        return 0;
    (void)error_set(err, ERROR_USAGE, "unknown %s '%.60s': use %s", what, name, list);
    return nearest_hint(err, "", name, (const char *const *)names->items, names->count);
}
