/* Levenshtein's distance of short words. */
#include "base/nearest.h"

#include <string.h>

enum { WORD_MAX = 64, DISTANCE_MAX = 3 };

static size_t distance(const char *a, const char *b) {
    size_t n = strlen(b), row[WORD_MAX];

    if (n >= WORD_MAX)
        return n;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t cost = corner + (a[i - 1] != b[j - 1]);

            corner = row[j];
            if (row[j - 1] + 1 < cost)
                cost = row[j - 1] + 1;
            row[j] = row[j] + 1 < cost ? row[j] + 1 : cost;
        }
    }
    return row[n];
}

const char *nearest_name(const char *word, const char *const *names, size_t count) {
    const char *best = NULL;
    size_t best_distance = DISTANCE_MAX + 1;

    for (size_t i = 0; i < count && strlen(word) < WORD_MAX; i++) {
        size_t d = distance(word, names[i]);

        if (d < best_distance && d < strlen(names[i])) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}
