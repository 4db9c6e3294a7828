/* Reads command-line options. A verb's table of options is also the source of its help.
 *
 * The syntax is pflag's: --name=value, --name value, --flag, --flag=false, -v 2, -o json. Lists
 * repeat or use commas. Names cannot be abbreviated. "--" ends the options. Each option can also
 * come from the environment as WINJOIN_<NAME>, with underscores for dashes. */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "join/configuration/join_options.h" /* For enum option_type. */

enum option_flags {
    OPTION_KUBEADM = 1,     /* A flag of kubeadm join that must not be used with --config. */
    OPTION_HIDDEN = 2,      /* The help does not show the option. */
    OPTION_WITH_CONFIG = 4, /* A flag of kubeadm that is allowed with --config. */
    OPTION_POSITIVE = 8,    /* The number or duration must not be 0. */
    /* The option exists only in builds that can play a host (host_rehearses). */
    OPTION_REHEARSAL = 16,
    OPTION_EMPTY = 32, /* The text or list may be empty, as with OPTION_KUBEADM. */
};

struct option {
    const char *name; /* The flag's name without dashes. */
    char letter;      /* The one-letter form of the flag; 0 when it has none. */
    enum option_type type;
    unsigned flags;
    size_t offset; /* Offset of the option's field in the verb's struct of options. */
    /* The name of the value in the help, such as "TOKEN"; for OPTION_CHOICE its choices. */
    const char *argument;
    const char *help;
};

/* The option tables of one verb. Each table ends with a row without a name. */
struct option_set {
    const struct option *const *tables; /* The option tables of the verb, NULL-terminated. */
    /* The struct that each option's `offset` points into; all tables share it. */
    void *target;
    bool *given; /* One item for each option of all tables: true when it was given. */
};

/* Returns the number of options in all tables of the set. */
size_t options_count(const struct option_set *set);
/* Returns the i-th option of all tables, or NULL after the last. */
const struct option *options_at(const struct option_set *set, size_t i);

bool options_has(const struct option_set *set, const char *name);
/* Was the option given on the command line or in the environment? */
bool options_is_given(const struct option_set *set, const char *name);
/* Adds the names of the given options, in the order of the tables. */
void options_given(const struct option_set *set, struct text_list *ret);

/* Reads argv (without program and verb) into the target and adds words that are no options to
 * `words`. Fails with ERROR_USAGE and names the first wrong option, with "did you mean" where a
 * name is near; the options after it are still read. */
int options_parse(const struct option_set *set, int argc, char *const *argv,
                  struct text_list *words, struct error *err);
/* Adds the hint "did you mean --name?" where an option's name is near the word; returns -1. */
int options_hint_near(const struct option_set *set, const char *word, struct error *err);
/* Reads the options that argv did not give from the environment; fails as options_parse(). `get`
 * returns the value of a variable, which the caller frees, or NULL. */
int options_from_environment(const struct option_set *set,
                             char *(*get)(void *context, const char *name), void *context,
                             struct error *err);
/* Writes the given options as a new call: "--name=value" to `words`, secrets as
 * "WINJOIN_NAME=value" to `environment`. Skips options in `left_out` (NULL-terminated). */
void options_words(const struct option_set *set, const char *const *left_out,
                   struct text_list *words, struct text_list *environment);
/* Returns an option's environment variable: "WINJOIN_NODE_NAME" for "node-name"; free() it. */
char *option_variable(const char *option);
/* Returns the help's word for the option's value, such as "TOKEN" or "auto|on|off"; free() it. */
char *option_argument(const struct option *option);
/* Do help and completion show this option? */
bool option_is_offered(const struct option *option);
/* Frees every text and list of the target. */
void options_free(const struct option_set *set);
/* Adds the text, wrapped at 80 columns. The first line starts at `column`, others at `indent`. */
void options_wrap(struct text *out, const char *text, size_t indent, size_t column);
/* Adds the help lines of a table, such as "  --token TOKEN    bootstrap token", wrapped at 80
 * columns. */
void options_help(const struct option *table, struct text *out);
