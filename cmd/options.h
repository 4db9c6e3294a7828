/* Command-line options: one table a verb, which also prints the help.
 *
 * pflag's habits: --name=value, --name value, --flag, --flag=false, -v 2, -o json; lists repeat or
 * use commas; no abbreviations; "--" ends the options. Each option can also come from the
 * environment as WINJOIN_<NAME> (dashes become underscores). */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "join/configuration/join_options.h" /* enum option_type */

enum option_flags {
    OPTION_KUBEADM = 1,     /* a flag of kubeadm join: not to be mixed with --config */
    OPTION_HIDDEN = 2,      /* not in the help */
    OPTION_WITH_CONFIG = 4, /* kubeadm allows it beside --config */
    OPTION_POSITIVE = 8,    /* a number or duration that cannot be 0 */
    OPTION_REHEARSAL = 16,  /* only where a host can be played (host_rehearses) */
    OPTION_EMPTY = 32,      /* a text or list that may be empty, as with OPTION_KUBEADM */
};

struct option {
    const char *name; /* without dashes */
    char letter;      /* short form or 0 */
    enum option_type type;
    unsigned flags;
    size_t offset;        /* of the field in the verb's options struct */
    const char *argument; /* "TOKEN" in the help; the choices of OPTION_CHOICE */
    const char *help;
};

/* The tables of one verb, ended by a row without a name. */
struct option_set {
    const struct option *const *tables; /* NULL-terminated */
    void *target;                       /* struct that `offset` points into, one for all tables */
    bool *given;                        /* per option over all tables, in order */
};

/* Number of options in all tables of the set. */
size_t options_count(const struct option_set *set);
/* The i-th option; NULL behind the end. */
const struct option *options_at(const struct option_set *set, size_t i);

bool options_has(const struct option_set *set, const char *name);
/* Is the option of this name given (argv, environment)? */
bool options_is_given(const struct option_set *set, const char *name);
/* The names of those that are given, in the tables' order. */
void options_given(const struct option_set *set, struct text_list *ret);

/* Reads argv (without program and verb) into the target; words that are no options go to `words`.
 * Fails with ERROR_USAGE and names the first wrong option, an unknown one with "did you mean"; the
 * others are read all the same. */
int options_parse(const struct option_set *set, int argc, char *const *argv,
                  struct text_list *words, struct error *err);
/* Adds the hint "did you mean --name?" where a word is near one; returns -1. */
int options_hint_near(const struct option_set *set, const char *word, struct error *err);
/* Fills what argv did not give from the environment, likewise. `get` answers a fresh string or
 * NULL. */
int options_from_environment(const struct option_set *set,
                             char *(*get)(void *context, const char *name), void *context,
                             struct error *err);
/* The given options again: as "--name=value", secrets as "WINJOIN_NAME=value" to `environment`.
 * Those of `left_out` (NULL-terminated) are not told. */
void options_words(const struct option_set *set, const char *const *left_out,
                   struct text_list *words, struct text_list *environment);
/* The variable that gives an option: "WINJOIN_NODE_NAME" for "node-name". The caller frees. */
char *option_variable(const char *option);
/* "TOKEN", "auto|on|off". The caller frees. */
char *option_argument(const struct option *option);
/* Is it one that help and completion show? */
bool option_is_offered(const struct option *option);
/* Frees every text and list of the target. */
void options_free(const struct option_set *set);
/* Adds the text word by word in lines of at most 80 columns; `column` is where the first line
 * begins, the others begin at `indent`. */
void options_wrap(struct text *out, const char *text, size_t indent, size_t column);
/* "  --token TOKEN    bootstrap token ..." wrapped at 80 columns. */
void options_help(const struct option *table, struct text *out);
