/* Hides the secret half of bootstrap tokens in texts, because a mistyped command may contain a
 * token anywhere. */
#include "base/redact.h"

#include <stdbool.h>
#include <string.h>

enum { ID_LENGTH = 6, SECRET_LENGTH = 16, IDS_MAX = 16 };

/* Ids of the bootstrap tokens seen so far. If a text is cut inside a token, the known id still
 * shows that it is one. */
static char ids[IDS_MAX][ID_LENGTH];
static size_t id_count;

/* Returns how many characters from here on may belong to a token. '*' counts as one, because the
 * secret of another token may be hidden already. */
static size_t run_of(const char *text) {
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789*");
}

/* Returns the six characters before the dot when they can be a token's id, else NULL. Other letters
 * may come directly before the id. */
static const char *id_before(const char *text, const char *dot) {
    const char *id = dot - ID_LENGTH;

    return dot - text >= ID_LENGTH && run_of(id) >= ID_LENGTH ? id : NULL;
}

static bool is_known(const char *id) {
    for (size_t i = 0; i < id_count; i++)
        if (memcmp(ids[i], id, ID_LENGTH) == 0)
            return true;
    return false;
}

void redact_learn(const char *text) {
    for (const char *dot = text; (dot = strchr(dot, '.')); dot++) {
        const char *id = id_before(text, dot);

        if (id && run_of(dot + 1) >= SECRET_LENGTH && !is_known(id) && id_count < IDS_MAX)
            memcpy(ids[id_count++], id, ID_LENGTH);
    }
}

void redact_forget(void) {
    id_count = 0;
}

void redact_tokens(char *text) {
    for (char *dot = text; (dot = strchr(dot, '.')); dot++) {
        const char *id = id_before(text, dot);
        size_t len = run_of(dot + 1);

        if (id && (len >= SECRET_LENGTH || is_known(id)))
            memset(dot + 1, '*', len);
    }
}
